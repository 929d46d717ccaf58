# SPDX-License-Identifier: MIT
"""Performance counters of Arm Mali GPUs with the panthor driver, by libpanthor-perf.

    import panthor_perf

    with panthor_perf.open() as gpu:
        with gpu.session(["MaliGPUActiveCy", "MaliTexUtil"], period=0.01) as session:
            for sample in session:
                print(sample.end_ns, sample.values)

Times of samples are those of CLOCK_MONOTONIC_RAW, in nanoseconds; periods are in seconds. What fails is an
Error, whose text says what to do. All but a Sample, which is plain data, is for one thread at a time.
"""

import contextlib
import ctypes
import os
from ctypes import (POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint8, c_uint32,
                    c_uint64, c_void_p, sizeof)

__all__ = ["Counter", "Error", "Gpu", "Load", "Sample", "Session", "gpus", "mark", "open", "region", "version"]

_lib = ctypes.CDLL("libpanthor-perf.so.0")

_OK, _NO_VALUE, _INTERRUPTED = 0, 14, 17
_OVERFLOW, _FAILED, _STRETCHED = 1, 2, 4
_CLOCKS = ("toplevel", "coregroup", "shader")
_TYPES = 7

# The structs of version 0.3. Later ones are longer: the library is told how much of them is known here.


class _Masks(Structure):
    _fields_ = [("bits", c_uint64 * 2 * _TYPES)]


class _Info(Structure):
    _fields_ = [("size", c_size_t), ("node", c_char_p), ("sysfs", c_char_p), ("name", c_char_p), ("layout", c_char_p),
                ("gpu_id", c_uint32), ("driver_major", c_int), ("driver_minor", c_int), ("shader_present", c_uint64),
                ("cores", c_uint), ("slices", c_uint), ("bus_bytes", c_uint), ("blocks", c_uint * _TYPES),
                ("values_per_block", c_uint), ("sample_header_size", c_uint32), ("block_header_size", c_uint32),
                ("sample_size", c_uint32), ("has_states", c_bool), ("clocks", c_uint32), ("sets", c_uint32),
                ("min_period_ns", c_uint64), ("max_slots", c_uint32), ("toplevel_hz", c_uint64),
                ("interface_known", c_bool)]


class _Counter(Structure):
    _fields_ = [("name", c_char_p), ("source", c_char_p), ("title", c_char_p), ("group", c_char_p), ("unit", c_char_p),
                ("equation", c_char_p), ("kind", c_int), ("type", c_uint), ("index", c_uint), ("described", c_bool)]


class _Sample(Structure):
    _fields_ = [("size", c_size_t), ("block_size", c_size_t), ("start_ns", c_uint64), ("end_ns", c_uint64),
                ("set", c_uint8), ("flags", c_uint32), ("user_data", c_uint64), ("cycles", c_uint64 * len(_CLOCKS)),
                ("num_blocks", c_uint), ("num_values", c_uint), ("blocks", c_void_p), ("last", c_bool)]


class _Options(Structure):
    _fields_ = [("size", c_size_t), ("masks", _Masks), ("period_ns", c_uint64), ("slots", c_uint32), ("set", c_uint8),
                ("flags", c_uint32)]


class _Load(Structure):
    _fields_ = [("seconds", c_double), ("active_seconds", c_double), ("cycles", c_uint64), ("active_cycles", c_uint64),
                ("of_time", c_double), ("of_cycles", c_double)]


def _function(name, result, *arguments):
    function = getattr(_lib, "pperf_" + name)
    function.restype = result
    function.argtypes = arguments
    return function


_counter_list = POINTER(POINTER(_Counter))
_version = _function("version", c_char_p)
_message = _function("message", c_char_p)
_set_name = _function("set_name", c_char_p, c_uint)
_mark = _function("mark", c_int, c_char_p)
_gpu_nodes = _function("gpu_nodes", c_int, POINTER(POINTER(c_char_p)), POINTER(c_size_t))
_gpu_nodes_free = _function("gpu_nodes_free", None, POINTER(c_char_p), c_size_t)
_gpu_open = _function("gpu_open", c_int, c_char_p, POINTER(c_void_p))
_gpu_open_fd = _function("gpu_open_fd", c_int, c_int, POINTER(c_void_p))
_gpu_close = _function("gpu_close", None, c_void_p)
_gpu_info = _function("gpu_info", POINTER(_Info), c_void_p)
_gpu_frequency = _function("gpu_frequency", c_int, c_void_p, POINTER(c_uint64))
_db_open = _function("db_open", c_int, c_char_p, POINTER(c_void_p))
_db_close = _function("db_close", None, c_void_p)
_db_counters = _function("db_counters", _counter_list, c_void_p, POINTER(c_size_t))
_counter_exists = _function("counter_exists", c_bool, c_void_p, POINTER(_Counter), POINTER(_Info))
_counter_block_type = _function("counter_block_type", c_uint, c_void_p, POINTER(_Counter))
_selection_new = _function("selection_new", c_int, c_void_p, POINTER(_Info), POINTER(c_void_p))
_selection_free = _function("selection_free", None, c_void_p)
_selection_add = _function("selection_add", c_int, c_void_p, c_char_p)
_selection_add_default = _function("selection_add_default", c_int, c_void_p)
_selection_need_load = _function("selection_need_load", None, c_void_p)
_selection_counters = _function("selection_counters", _counter_list, c_void_p, POINTER(c_size_t))
_selection_masks = _function("selection_masks", POINTER(_Masks), c_void_p)
_session_open = _function("session_open", c_int, c_void_p, POINTER(_Options), POINTER(c_void_p))
_session_close = _function("session_close", None, c_void_p)
_session_start = _function("session_start", c_int, c_void_p, c_uint64)
_session_sample = _function("session_sample", c_int, c_void_p, c_uint64)
_session_stop = _function("session_stop", c_int, c_void_p, c_uint64)
_session_next = _function("session_next", c_int, c_void_p, POINTER(POINTER(_Sample)))
_session_wait = _function("session_wait", c_int, c_void_p, c_int, POINTER(c_bool))
_session_fd = _function("session_fd", c_int, c_void_p)
_session_period = _function("session_period", c_uint64, c_void_p)
_sums_new = _function("sums_new", c_int, c_void_p, POINTER(_Info), POINTER(c_void_p))
_sums_free = _function("sums_free", None, c_void_p)
_sums_reset = _function("sums_reset", None, c_void_p)
_sums_add = _function("sums_add", c_int, c_void_p, POINTER(_Sample))
_sums_total = _function("sums_total", c_uint64, c_void_p, POINTER(_Counter))
_sums_block = _function("sums_block", c_uint64, c_void_p, POINTER(_Counter), c_uint)
_sums_value = _function("sums_value", c_int, c_void_p, POINTER(_Counter), POINTER(c_double))
_sums_block_value = _function("sums_block_value", c_int, c_void_p, POINTER(_Counter), c_uint, POINTER(c_double))
_sums_load = _function("sums_load", c_int, c_void_p, POINTER(_Load), c_size_t)


class Error(Exception):
    """What went wrong, and what to do about it; code is a number of enum pperf_error."""

    def __init__(self, code):
        super().__init__(_text(_message()))
        self.code = code


def _text(text):
    return None if text is None else text.decode(errors="replace")


def _check(code):
    if code != _OK:
        raise Error(code)


def version():
    """The version of the library, such as "0.3"."""
    return _text(_version())


def gpus():
    """The render nodes of all GPUs with panthor that can be opened."""
    nodes, count = POINTER(c_char_p)(), c_size_t()
    _check(_gpu_nodes(byref(nodes), byref(count)))
    try:
        return [_text(nodes[i]) for i in range(count.value)]
    finally:
        _gpu_nodes_free(nodes, count)


def mark(name=None):
    """Begins a region of what others record now, until the next mark of any program; without a name, ends it."""
    _check(_mark(None if name is None else name.encode()))


@contextlib.contextmanager
def region(name):
    """A region of what others record, which lasts as long as the block, and is none within another."""
    mark(name)
    try:
        yield
    finally:
        mark()


def open(node=None, fd=None):
    """Opens a GPU: by its render node, by a file descriptor that stays the caller's, or the first there is."""
    return Gpu(node, fd)


class Counter:
    """A counter: its name in equations, title, group, unit and, if it is derived, equation."""

    def __init__(self, counter):
        self.name = _text(counter.name)
        self.title = _text(counter.title)
        self.group = _text(counter.group)
        self.unit = _text(counter.unit)
        self.equation = _text(counter.equation)

    def __repr__(self):
        return "<Counter %s: %s, in %s>" % (self.name, self.title, self.unit)


class Gpu:
    """An open GPU: node, name, layout (of its counters), gpu_id, cores, slices, sets, and min_period in seconds."""

    def __init__(self, node=None, fd=None):
        self._gpu, self._db, self._sessions = c_void_p(), c_void_p(), []
        if fd is None:
            _check(_gpu_open(None if node is None else os.fsencode(node), byref(self._gpu)))
        else:
            _check(_gpu_open_fd(fd, byref(self._gpu)))
        self._info = _gpu_info(self._gpu)
        info = self._info.contents
        self.node, self.name, self.layout = _text(info.node), _text(info.name), _text(info.layout)
        self.gpu_id, self.cores, self.slices = info.gpu_id, info.cores, info.slices
        self.min_period = info.min_period_ns / 1e9
        self.sets = [_text(_set_name(n)) for n in range(32) if info.sets >> n & 1 and _set_name(n)]
        code = _db_open(info.layout, byref(self._db))
        if code != _OK:
            error = Error(code)
            self.close()
            raise error

    def close(self):
        """Closes the GPU and all its sessions."""
        for session in list(self._sessions):
            session.close()
        _db_close(self._db)
        _gpu_close(self._gpu)
        self._db, self._gpu = c_void_p(), c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return "<Gpu %s at %s>" % (self.name, self.node)

    def _open(self):
        if not self._gpu:
            raise ValueError("the GPU is closed")

    def counters(self):
        """All counters with a name that this GPU has."""
        self._open()
        count = c_size_t()
        counters = _db_counters(self._db, byref(count))
        return [Counter(counters[i].contents) for i in range(count.value)
                if _counter_exists(self._db, counters[i], self._info)]

    def frequency(self):
        """The rate of its top level clock now, in Hz."""
        self._open()
        hz = c_uint64()
        _check(_gpu_frequency(self._gpu, byref(hz)))
        return hz.value

    def session(self, counters=None, period=None, set="primary", per_block=False):
        """Counts what counters says: a list of names, titles, patterns and places (SHADER.32), or what most want.

        A sample comes each period, in seconds, or, without one, when it is asked for. Counters of another set
        than the primary one have no names, only places. With per_block, samples have values of each block.
        """
        return Session(self, counters, period, set, per_block)


class Load:
    """How busy a GPU was: parts, 0 to 1, of the time and of the cycles; active_seconds and active_cycles."""

    def __init__(self, load):
        self.of_time, self.of_cycles = load.of_time, load.of_cycles
        self.seconds, self.active_seconds = load.seconds, load.active_seconds
        self.cycles, self.active_cycles = load.cycles, load.active_cycles

    def __repr__(self):
        return "<Load %.1f %% of the time, %.1f %% of the cycles>" % (100 * self.of_time, 100 * self.of_cycles)


class Sample:
    """What was counted from start_ns to end_ns.

    values: by name, an int of a counter of hardware, a float of a derived one, None where an equation has no
    value, such as a ratio of nothing. blocks: by name, a list of the values of each block (core, slice), of
    counters that blocks have values of; empty unless asked for. cycles: by clock. load: a Load, or None if the
    GPU's layout is not known. Counts may be missing if overflow or failed; stretched is a sample of several
    periods, in which none is. last: the one of stop().
    """

    def __init__(self, sample, info):
        self.start_ns, self.end_ns, self.last = sample.start_ns, sample.end_ns, bool(sample.last)
        self.overflow = bool(sample.flags & _OVERFLOW)
        self.failed = bool(sample.flags & _FAILED)
        self.stretched = bool(sample.flags & _STRETCHED)
        self.cycles = {clock: sample.cycles[n] for n, clock in enumerate(_CLOCKS) if info.clocks >> n & 1}
        self.values, self.blocks, self.load = {}, {}, None

    @property
    def seconds(self):
        """Its length."""
        return (self.end_ns - self.start_ns) / 1e9

    def __repr__(self):
        return "<Sample of %.6f s: %r>" % (self.seconds, self.values)


class Session:
    """Counting, from start() to stop(); an iterator over samples, which ends behind the last. See Gpu.session()."""

    def __init__(self, gpu, counters, period, set, per_block):
        self._gpu, self._per_block, self._done = gpu, per_block, True
        self._session, self._selection, self._sums = c_void_p(), c_void_p(), c_void_p()
        gpu._open()
        if period and not 1e-9 <= period < 2**62 / 1e9:
            raise ValueError("invalid period in seconds: %r" % period)
        options = _Options(size=sizeof(_Options), period_ns=round((period or 0) * 1e9))
        if isinstance(counters, str):
            raise TypeError("counters must be a list of names")
        numbers = {_text(_set_name(n)): n for n in range(32) if _set_name(n)}
        if set not in numbers:
            raise ValueError("unknown counter set %r; use one of %s" % (set, ", ".join(numbers)))
        options.set = numbers[set]
        # Names are those of the primary set.
        self._db, self._own_db = gpu._db, c_void_p()
        try:
            if options.set:
                _check(_db_open(None, byref(self._own_db)))
                self._db = self._own_db
            _check(_selection_new(self._db, gpu._info, byref(self._selection)))
            for name in counters or ():
                _check(_selection_add(self._selection, name.encode()))
            if counters is None:
                _check(_selection_add_default(self._selection))
            count = c_size_t()
            chosen = _selection_counters(self._selection, byref(count))
            self._counters = [(_text(chosen[i].contents.name), chosen[i], self._blocks_of(chosen[i]))
                              for i in range(count.value)]
            _selection_need_load(self._selection)
            options.masks = _selection_masks(self._selection).contents
            _check(_sums_new(self._db, gpu._info, byref(self._sums)))
            _check(_session_open(gpu._gpu, byref(options), byref(self._session)))
        except BaseException:
            self._free()
            raise
        self.period = _session_period(self._session) / 1e9
        gpu._sessions.append(self)

    def _blocks_of(self, counter):
        return self._gpu._info.contents.blocks[_counter_block_type(self._db, counter)] if self._per_block else 0

    def _free(self):
        _session_close(self._session)
        _sums_free(self._sums)
        _selection_free(self._selection)
        _db_close(self._own_db)
        self._session = self._sums = self._selection = self._own_db = c_void_p()

    def close(self):
        """Ends it in any state; what was not read is dropped."""
        if self in self._gpu._sessions:
            self._gpu._sessions.remove(self)
        self._done = True
        self._free()

    def start(self):
        """Begins to count."""
        self._open()
        code = _INTERRUPTED
        # Python's handlers of signals run in between, and may raise an exception.
        while code == _INTERRUPTED:
            code = _session_start(self._session, 0)
        _check(code)
        self._done = False

    def stop(self):
        """Asks for the last sample, behind which an iteration ends."""
        self._open()
        _check(_session_stop(self._session, 0))

    def sample(self):
        """Takes a sample now, of a session without a period, and waits for it."""
        self._open()
        _check(_session_sample(self._session, 0))
        return next(self)

    def fileno(self):
        """For select(): readable when there is a sample."""
        self._open()
        return _session_fd(self._session)

    def poll(self):
        """The next sample if there is one, or None."""
        self._open()
        found = POINTER(_Sample)()
        _check(_session_next(self._session, byref(found)))
        if not found:
            return None
        self._done = bool(found.contents.last)
        return self._make(found)

    def _open(self):
        if not self._session:
            raise ValueError("the session is closed")

    def _make(self, found):
        _sums_reset(self._sums)
        _check(_sums_add(self._sums, found))
        sample = Sample(found.contents, self._gpu._info.contents)
        value, load = c_double(), _Load()
        for name, counter, blocks in self._counters:
            if counter.contents.type:
                sample.values[name] = _sums_total(self._sums, counter)
            else:
                sample.values[name] = self._value(_sums_value(self._sums, counter, byref(value)), value)
            if not blocks:
                continue
            if counter.contents.type:
                sample.blocks[name] = [_sums_block(self._sums, counter, n) for n in range(blocks)]
            else:
                sample.blocks[name] = [
                    self._value(_sums_block_value(self._sums, counter, n, byref(value)), value) for n in range(blocks)]
        if _sums_load(self._sums, byref(load), sizeof(load)) == _OK:
            sample.load = Load(load)
        return sample

    @staticmethod
    def _value(code, value):
        if code == _NO_VALUE:
            return None
        _check(code)
        return value.value

    def __iter__(self):
        return self

    def __next__(self):
        ready = c_bool()
        while not self._done:
            sample = self.poll()
            if sample:
                return sample
            # A signal ends a wait too.
            _check(_session_wait(self._session, -1, byref(ready)))
        raise StopIteration

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.close()
