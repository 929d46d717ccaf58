# SPDX-License-Identifier: MIT
"""What libpanthor-perf.h declares, as ctypes sees it. NULL is no error for functions that free."""

from __future__ import annotations

import ctypes
from ctypes import (POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint8, c_uint32, c_uint64,
                    c_void_p)
from typing import Any

_lib = ctypes.CDLL("libpanthor-perf.so.0")

OK, NO_VALUE, INTERRUPTED = 0, 14, 17
OVERFLOW, FAILED, STRETCHED = 1, 2, 4
CLOCKS = ("toplevel", "coregroup", "shader")
TYPES = 7

# The structs of version 0.3. Later ones are longer: the library is told how much of them is known here.


class Masks(Structure):
    _fields_ = [("bits", c_uint64 * 2 * TYPES)]


class Info(Structure):
    _fields_ = [("size", c_size_t), ("node", c_char_p), ("sysfs", c_char_p), ("name", c_char_p), ("layout", c_char_p),
                ("gpu_id", c_uint32), ("driver_major", c_int), ("driver_minor", c_int), ("shader_present", c_uint64),
                ("cores", c_uint), ("slices", c_uint), ("bus_bytes", c_uint), ("blocks", c_uint * TYPES),
                ("values_per_block", c_uint), ("sample_header_size", c_uint32), ("block_header_size", c_uint32),
                ("sample_size", c_uint32), ("has_states", c_bool), ("clocks", c_uint32), ("sets", c_uint32),
                ("min_period_ns", c_uint64), ("max_slots", c_uint32), ("toplevel_hz", c_uint64),
                ("interface_known", c_bool)]


class Counter(Structure):
    _fields_ = [("name", c_char_p), ("source", c_char_p), ("title", c_char_p), ("group", c_char_p), ("unit", c_char_p),
                ("equation", c_char_p), ("kind", c_int), ("type", c_uint), ("index", c_uint), ("described", c_bool)]


class Sample(Structure):
    _fields_ = [("size", c_size_t), ("block_size", c_size_t), ("start_ns", c_uint64), ("end_ns", c_uint64),
                ("set", c_uint8), ("flags", c_uint32), ("user_data", c_uint64), ("cycles", c_uint64 * len(CLOCKS)),
                ("num_blocks", c_uint), ("num_values", c_uint), ("blocks", c_void_p), ("last", c_bool)]


class Options(Structure):
    _fields_ = [("size", c_size_t), ("masks", Masks), ("period_ns", c_uint64), ("slots", c_uint32), ("set", c_uint8),
                ("flags", c_uint32)]


class Load(Structure):
    _fields_ = [("seconds", c_double), ("active_seconds", c_double), ("cycles", c_uint64), ("active_cycles", c_uint64),
                ("of_time", c_double), ("of_cycles", c_double)]


class TopdownNode(Structure):
    pass


TopdownNode._fields_ = [("name", c_char_p), ("title", c_char_p), ("next", c_char_p), ("equation", c_char_p),
                        ("level", c_uint), ("parent", POINTER(TopdownNode)), ("children", c_uint)]


class RecordingInfo(Structure):
    _fields_ = [("size", c_size_t), ("tool", c_char_p), ("host", c_char_p), ("kernel", c_char_p), ("machine", c_char_p),
                ("command", POINTER(c_char_p)), ("gpu", POINTER(Info)), ("masks", Masks), ("set", c_uint8),
                ("period_ns", c_uint64), ("samples", c_uint64), ("start_ns", c_uint64), ("end_ns", c_uint64),
                ("start_realtime_ns", c_uint64), ("end", c_int), ("status", c_int), ("overflowed", c_uint64),
                ("failed", c_uint64), ("stretched", c_uint64), ("lost_samples", c_uint64), ("lost_marks", c_uint64),
                ("measured_hz", c_uint64), ("nominal_hz", c_uint64), ("lost_frames", c_uint64)]


class Region(Structure):
    _fields_ = [("name", c_char_p), ("times", c_uint64), ("lasts_ns", c_uint64)]


class Mark(Structure):
    _fields_ = [("time_ns", c_uint64), ("region", c_uint32)]


class Frame(Structure):
    _fields_ = [("start_ns", c_uint64), ("end_ns", c_uint64), ("program", c_char_p), ("pid", c_uint32), ("lost", c_uint32)]


class Columns(Structure):
    _fields_ = [("size", c_size_t), ("room", c_size_t), ("start_ns", c_void_p), ("end_ns", c_void_p),
                ("flags", c_void_p), ("regions", c_void_p), ("cycles", c_void_p * len(CLOCKS)),
                ("values", POINTER(c_void_p))]


def _function(name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(_lib, "pperf_" + name)
    function.restype = result
    function.argtypes = arguments
    return function


counter_list = POINTER(POINTER(Counter))
version = _function("version", c_char_p)
message = _function("message", c_char_p)
set_name = _function("set_name", c_char_p, c_uint)
mark = _function("mark", c_int, c_char_p)
frame = _function("frame", None)
gpu_nodes = _function("gpu_nodes", c_int, POINTER(POINTER(c_char_p)), POINTER(c_size_t))
gpu_nodes_free = _function("gpu_nodes_free", None, POINTER(c_char_p), c_size_t)
gpu_open = _function("gpu_open", c_int, c_char_p, POINTER(c_void_p))
gpu_open_fd = _function("gpu_open_fd", c_int, c_int, POINTER(c_void_p))
gpu_close = _function("gpu_close", None, c_void_p)
gpu_info = _function("gpu_info", POINTER(Info), c_void_p)
gpu_frequency = _function("gpu_frequency", c_int, c_void_p, POINTER(c_uint64))
db_open = _function("db_open", c_int, c_char_p, POINTER(c_void_p))
db_close = _function("db_close", None, c_void_p)
db_counters = _function("db_counters", counter_list, c_void_p, POINTER(c_size_t))
counter_exists = _function("counter_exists", c_bool, c_void_p, POINTER(Counter), POINTER(Info))
counter_block_type = _function("counter_block_type", c_uint, c_void_p, POINTER(Counter))
selection_new = _function("selection_new", c_int, c_void_p, POINTER(Info), POINTER(c_void_p))
selection_free = _function("selection_free", None, c_void_p)
selection_add = _function("selection_add", c_int, c_void_p, c_char_p)
selection_add_default = _function("selection_add_default", c_int, c_void_p)
selection_add_counter = _function("selection_add_counter", c_int, c_void_p, POINTER(Counter))
selection_need_load = _function("selection_need_load", None, c_void_p)
selection_counters = _function("selection_counters", counter_list, c_void_p, POINTER(c_size_t))
selection_masks = _function("selection_masks", POINTER(Masks), c_void_p)
session_open = _function("session_open", c_int, c_void_p, POINTER(Options), POINTER(c_void_p))
session_close = _function("session_close", None, c_void_p)
session_start = _function("session_start", c_int, c_void_p, c_uint64)
session_sample = _function("session_sample", c_int, c_void_p, c_uint64)
session_stop = _function("session_stop", c_int, c_void_p, c_uint64)
session_next = _function("session_next", c_int, c_void_p, POINTER(POINTER(Sample)))
session_wait = _function("session_wait", c_int, c_void_p, c_int, POINTER(c_bool))
session_fd = _function("session_fd", c_int, c_void_p)
session_period = _function("session_period", c_uint64, c_void_p)
sums_new = _function("sums_new", c_int, c_void_p, POINTER(Info), POINTER(c_void_p))
sums_free = _function("sums_free", None, c_void_p)
sums_reset = _function("sums_reset", None, c_void_p)
sums_add = _function("sums_add", c_int, c_void_p, POINTER(Sample))
sums_cycles = _function("sums_cycles", c_uint64, c_void_p, c_int)
sums_flags = _function("sums_flags", c_uint32, c_void_p)
sums_samples = _function("sums_samples", c_uint64, c_void_p)
sums_seconds = _function("sums_seconds", c_double, c_void_p)
sums_start_ns = _function("sums_start_ns", c_uint64, c_void_p)
sums_end_ns = _function("sums_end_ns", c_uint64, c_void_p)
sums_total = _function("sums_total", c_uint64, c_void_p, POINTER(Counter))
sums_block = _function("sums_block", c_uint64, c_void_p, POINTER(Counter), c_uint)
sums_value = _function("sums_value", c_int, c_void_p, POINTER(Counter), POINTER(c_double))
sums_block_value = _function("sums_block_value", c_int, c_void_p, POINTER(Counter), c_uint, POINTER(c_double))
sums_load = _function("sums_load", c_int, c_void_p, POINTER(Load), c_size_t)
db_topdown_levels = _function("db_topdown_levels", c_uint, c_void_p)
db_topdown_level = _function("db_topdown_level", c_size_t, c_void_p, c_uint, POINTER(POINTER(TopdownNode)), c_size_t)
topdown_new = _function("topdown_new", c_int, c_void_p, POINTER(Info), POINTER(c_void_p))
topdown_free = _function("topdown_free", None, c_void_p)
topdown_add = _function("topdown_add", c_int, c_void_p, POINTER(Sample))
topdown_samples = _function("topdown_samples", c_uint64, c_void_p)
topdown_cycles = _function("topdown_cycles", c_double, c_void_p, POINTER(TopdownNode))
topdown_share = _function("topdown_share", c_double, c_void_p, POINTER(TopdownNode))
recording_open = _function("recording_open", c_int, c_char_p, POINTER(c_void_p))
recording_open_fd = _function("recording_open_fd", c_int, c_int, POINTER(c_void_p))
recording_close = _function("recording_close", None, c_void_p)
recording_info = _function("recording_info", POINTER(RecordingInfo), c_void_p)
recording_db = _function("recording_db", c_void_p, c_void_p)
recording_counters = _function("recording_counters", counter_list, c_void_p, POINTER(c_size_t))
recording_regions = _function("recording_regions", POINTER(POINTER(Region)), c_void_p, POINTER(c_size_t))
recording_marks = _function("recording_marks", POINTER(POINTER(Mark)), c_void_p, POINTER(c_size_t))
recording_frames = _function("recording_frames", POINTER(POINTER(Frame)), c_void_p, POINTER(c_size_t))
recording_region = _function("recording_region", c_uint32, c_void_p, c_uint64)
recording_seek = _function("recording_seek", c_int, c_void_p, c_uint64)
recording_next = _function("recording_next", c_int, c_void_p, POINTER(POINTER(Sample)))
recording_columns = _function("recording_columns", c_int, c_void_p, c_void_p, c_uint64, POINTER(Columns),
                              POINTER(c_size_t))


class Error(Exception):
    """What went wrong, and what to do about it; code is a number of enum pperf_error."""

    def __init__(self, code: int) -> None:
        super().__init__(text(message()))
        self.code = code


def text(string: bytes | None) -> str:
    """A string of the library; "" if there is none."""
    return (string or b"").decode(errors="replace")


def check(code: int) -> None:
    """Raises what a function has returned, unless it is OK."""
    if code != OK:
        raise Error(code)
