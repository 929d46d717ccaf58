# SPDX-License-Identifier: MIT
"""What panthor-perf record has written."""

from __future__ import annotations

import array
import os
from collections.abc import Iterable, Iterator
from ctypes import POINTER, byref, c_size_t, c_void_p, sizeof
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _library as lib
from ._values import Counter, Handle, Sample, Selection, Sums

if TYPE_CHECKING:
    import pandas

_ENDS = ("cut", "command ended", "interrupted", "GPU gone", "failed", "continued")
_END_OF_TIME = 2**64 - 1

# Samples that the library decodes at once: handlers of signals run in between.
_BATCH = 65536

# By name: the types of array and of numpy.
_TYPES = {"start_ns": "Q", "end_ns": "Q", "flags": "I", "region": "I"}


@dataclass(frozen=True)
class Device:
    """The GPU of a recording: layout is None if this library does not know its counters."""

    name: str
    layout: str | None
    gpu_id: int
    cores: int
    slices: int


@dataclass(frozen=True)
class Region:
    """A region: marks of one name, how many they are, and how long it lasts in all. That without a name is the rest."""

    name: str
    times: int
    seconds: float


@dataclass(frozen=True)
class Mark:
    """A mark: when, CLOCK_MONOTONIC_RAW, and the name of the region that begins."""

    time_ns: int
    name: str


@dataclass(frozen=True)
class Frame:
    """A frame of a process, CLOCK_MONOTONIC_RAW. program is "" and pid 0 where not known.

    lost: so many more frames ended in between, but were lost: this is all of them together.
    """

    start_ns: int
    end_ns: int
    program: str
    pid: int
    lost: int

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / 1e9


@dataclass(frozen=True)
class Part:
    """A part of the top-down tree: cycles, their share of the whole, 0 to 1, and what to look at next if it is large."""

    name: str
    title: str
    cycles: float
    share: float
    next: str


class Total(Sample):
    """What many samples come to; samples: how many they are.

    seconds is the time that they cover: gaps between them are left out. overflow, failed and stretched are those of any.
    topdown: by level, from 1 on, an estimate of what held the work up: parts that make up the whole. It is empty if the
    layout has none, and where counters that it needs were not recorded.
    """

    samples: int
    topdown: dict[int, list[Part]]

    def __init__(self, start_ns: int, end_ns: int, flags: int, samples: int, seconds: float) -> None:
        super().__init__(start_ns, end_ns, flags)
        self.samples, self._seconds, self.topdown = samples, seconds, {}

    @property
    def seconds(self) -> float:
        return self._seconds


class _Adding:
    """Samples of a recording that are added up."""

    def __init__(self, selection: Selection, per_block: bool) -> None:
        self._selection, self._sums, self._topdown = selection, Sums(selection, per_block), c_void_p()
        # Of a layout that has a tree.
        lib.topdown_new(selection.db, selection.info, byref(self._topdown))

    def __del__(self) -> None:
        lib.topdown_free(self._topdown)

    def add(self, sample: Any) -> None:
        self._sums.add(sample)
        if self._topdown and lib.topdown_add(self._topdown, sample) != lib.OK:
            lib.topdown_free(self._topdown)
            self._topdown = c_void_p()

    def total(self) -> Total:
        total: Total = self._sums.total(Total)
        if self._topdown and lib.topdown_samples(self._topdown):
            for level in range(1, lib.db_topdown_levels(self._selection.db) + 1):
                nodes = (POINTER(lib.TopdownNode) * lib.db_topdown_level(self._selection.db, level, None, 0))()
                lib.db_topdown_level(self._selection.db, level, nodes, len(nodes))
                total.topdown[level] = [
                    Part(lib.text(node.contents.name), lib.text(node.contents.title),
                         lib.topdown_cycles(self._topdown, node), lib.topdown_share(self._topdown, node),
                         lib.text(node.contents.next)) for node in nodes]
        return total


class Recording:
    """A recording: an iterator over its samples, columns of values, and sums. len() is the number of its samples.

    Where functions take start and end, these are seconds from the recording's begin, and choose the samples whose
    middle is at start or behind it, and before end. Counters are names, titles, patterns and places, as for a session;
    without them, all that have values.

    tool, host, kernel, machine: version of panthor-perf, and where it ran ("": not known). command: its words, or None.
    gpu: a Device. set: of counters. period: in seconds, which samples may exceed. start_ns, end_ns: begin of the first
    sample and end of the last, CLOCK_MONOTONIC_RAW; start_realtime_ns: the begin as nanoseconds since 1970. ended: how:
    "cut" (what is behind its last whole sample is missing), "command ended", "interrupted", "GPU gone", "failed",
    "continued" (in another file). status: exit status of the command. overflowed, failed, stretched: samples with each
    flag; lost_samples, lost_marks, lost_frames: what came and was not recorded; these are 0 if it was cut. measured_hz,
    nominal_hz: rates of the top level clock, 0 if not known.
    """

    tool: str
    host: str
    kernel: str
    machine: str
    command: list[str] | None
    gpu: Device
    set: str
    period: float
    start_ns: int
    end_ns: int
    start_realtime_ns: int
    ended: str
    status: int
    overflowed: int
    failed: int
    stretched: int
    lost_samples: int
    lost_marks: int
    lost_frames: int
    measured_hz: int
    nominal_hz: int

    def __init__(self, path: str | os.PathLike[str] | None = None, fd: int | None = None) -> None:
        """Opens a file, by its path or by a file descriptor, which stays the caller's."""
        recording = c_void_p()
        if (path is None) == (fd is None):
            raise TypeError("a recording is opened by a path or by a file descriptor")
        if path is not None:
            lib.check(lib.recording_open(os.fsencode(path), byref(recording)))
        else:
            lib.check(lib.recording_open_fd(fd, byref(recording)))
        self._recording = Handle(self, recording, lib.recording_close)
        # Counts whoever has moved where the library reads.
        self._moves = 0
        info = lib.recording_info(recording).contents
        gpu = info.gpu.contents
        self._info, self._db, self._length = info.gpu, lib.recording_db(recording), info.samples
        self.gpu = Device(lib.text(gpu.name), lib.text(gpu.layout) or None, gpu.gpu_id, gpu.cores, gpu.slices)
        self.tool, self.host = lib.text(info.tool), lib.text(info.host)
        self.kernel, self.machine = lib.text(info.kernel), lib.text(info.machine)
        self.command = None
        if info.command:
            self.command = []
            while word := info.command[len(self.command)]:
                self.command.append(lib.text(word))
        self.set = lib.text(lib.set_name(info.set))
        self.period = info.period_ns / 1e9
        self.ended = _ENDS[info.end] if info.end < len(_ENDS) else "unknown"
        for name in ("start_ns", "end_ns", "start_realtime_ns", "status", "overflowed", "failed", "stretched",
                     "lost_samples", "lost_marks", "lost_frames", "measured_hz", "nominal_hz"):
            setattr(self, name, getattr(info, name))
        self._clocks = [n for n in range(len(lib.CLOCKS)) if gpu.clocks >> n & 1]

    def close(self) -> None:
        """Closes it; what it has given stays."""
        self._recording.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        length: int = self._length
        return length

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Recording of {self.gpu.name}: {len(self)} samples in {(self.end_ns - self.start_ns) / 1e9:.6f} s>"

    def counters(self) -> list[Counter]:
        """The counters that have values in it: those of hardware, then those derived from them."""
        return [Counter(counter.contents) for counter in self._list(lib.recording_counters)]

    def regions(self) -> list[Region]:
        """That without a name, which is the time in no other one, then the others in the order of their first marks."""
        return [Region(lib.text(region.contents.name), region.contents.times, region.contents.lasts_ns / 1e9)
                for region in self._list(lib.recording_regions)]

    def marks(self) -> list[Mark]:
        """In the order of their times."""
        names = [region.name for region in self.regions()]
        return [Mark(mark.contents.time_ns, names[mark.contents.region]) for mark in self._list(lib.recording_marks)]

    def frames(self) -> list[Frame]:
        """Frames of all processes, in the order of their ends: each from a call of frame() to the next of its process."""
        return [Frame(frame.contents.start_ns, frame.contents.end_ns, lib.text(frame.contents.program), frame.contents.pid,
                      frame.contents.lost) for frame in self._list(lib.recording_frames)]

    def samples(self, counters: Iterable[str] | None = None, start: float | None = None, end: float | None = None,
                per_block: bool = False) -> Iterator[Sample]:
        """Sample after sample; with per_block, they have values of each block."""
        sums = Sums(self._select(counters), per_block)
        for found in self._found(start, end):
            sample = found.contents
            sums.reset()
            sums.add(found)
            yield sums.fill(Sample(sample.start_ns, sample.end_ns, sample.flags, sample.last))

    def __iter__(self) -> Iterator[Sample]:
        return self.samples()

    def total(self, counters: Iterable[str] | None = None, start: float | None = None, end: float | None = None,
              per_block: bool = False) -> Total:
        """What all samples come to: sums, and what derived counters are of these."""
        adding = _Adding(self._select(counters), per_block)
        for found in self._found(start, end):
            adding.add(found)
        return adding.total()

    def by_region(self, counters: Iterable[str] | None = None, start: float | None = None, end: float | None = None,
                  per_block: bool = False) -> dict[str, Total]:
        """The same of each region, by its name. A sample belongs where its middle is."""
        selection = self._select(counters)
        regions = [(region.name, _Adding(selection, per_block)) for region in self.regions()]
        for found in self._found(start, end):
            regions[lib.recording_region(self._open(), _middle(found.contents))][1].add(found)
        return {name: adding.total() for name, adding in regions}

    def columns(self, counters: Iterable[str] | None = None, start: float | None = None,
                end: float | None = None) -> dict[str, Any]:
        """Arrays with an element a sample, by name: of numpy, or of array if that is not installed.

        start_ns and end_ns; flags; region: an index in regions(); toplevel_cycles and the like; and for each counter
        its values, in its unit, as floats: NAN where an equation has no value, exact up to 2**53.
        """
        selection = self._select(counters)
        names = [lib.text(counter.contents.name) for counter in selection.counters()]
        columns = {name: _new_array(type, self._length) for name, type in self._types(names).items()}
        arrays = lib.Columns(size=sizeof(lib.Columns))
        values = (c_void_p * len(names))()
        count, filled = c_size_t(), 0
        since, until = self._span(start, end)
        self._seek(since)
        while filled < self._length:
            arrays.room = min(self._length - filled, _BATCH)
            at = {name: _address(column) + filled * column.itemsize for name, column in columns.items()}
            arrays.start_ns, arrays.end_ns = at["start_ns"], at["end_ns"]
            arrays.flags, arrays.regions = at["flags"], at["region"]
            for clock in self._clocks:
                arrays.cycles[clock] = at[lib.CLOCKS[clock] + "_cycles"]
            values[:] = [at[name] for name in names]
            arrays.values = values
            lib.check(lib.recording_columns(self._open(), selection.pointer, until, byref(arrays), byref(count)))
            if not count.value:
                break
            filled += count.value
        for column in columns.values():
            _cut(column, filled)
        return columns

    def dataframe(self, counters: Iterable[str] | None = None, start: float | None = None,
                  end: float | None = None) -> pandas.DataFrame:
        """The same for pandas: its index is each sample's begin, in seconds from the recording's; regions have names."""
        import pandas

        columns = self.columns(counters, start, end)
        columns["region"] = pandas.Categorical.from_codes(columns["region"], [region.name for region in self.regions()])
        index = pandas.Index((columns["start_ns"] - self.start_ns) / 1e9, name="seconds")
        return pandas.DataFrame(columns, index=index)

    def _open(self) -> c_void_p:
        if not self._recording:
            raise ValueError("the recording is closed")
        return self._recording.pointer

    def _list(self, function: Any) -> list[Any]:
        count = c_size_t()
        found = function(self._open(), byref(count))
        return [found[n] for n in range(count.value)]

    def _select(self, counters: Iterable[str] | None) -> Selection:
        self._open()
        selection = Selection(self._db, self._info)
        if counters is None:
            for counter in self._list(lib.recording_counters):
                selection.add_counter(counter)
        else:
            selection.add(counters)
        return selection

    def _types(self, names: Iterable[str]) -> dict[str, str]:
        cycles = {lib.CLOCKS[clock] + "_cycles": "Q" for clock in self._clocks}
        return {**_TYPES, **cycles, **{name: "d" for name in names}}

    def _span(self, start: float | None, end: float | None) -> tuple[int, int]:
        """As the library takes it: times, of which 0 stands for the first sample."""
        for value in start, end:
            if value is not None and not 0 <= value <= 2**62 / 1e9:
                raise ValueError(f"invalid time in seconds: {value!r}")
        return (self.start_ns + round(start * 1e9) if start else 0,
                _END_OF_TIME if end is None else self.start_ns + round(end * 1e9))

    def _seek(self, time_ns: int) -> int:
        lib.check(lib.recording_seek(self._open(), time_ns))
        self._moves += 1
        return self._moves

    def _found(self, start: float | None, end: float | None) -> Iterator[Any]:
        """The library's samples of a time. The next one is asked for when this one is done with."""
        since, until = self._span(start, end)
        found, move = POINTER(lib.Sample)(), None
        while True:
            # Somebody may have read elsewhere since the last one.
            if move != self._moves:
                move = self._seek(since)
            lib.check(lib.recording_next(self._open(), byref(found)))
            if not found:
                return
            middle = _middle(found.contents)
            if middle >= until:
                return
            since = middle + 1
            yield found


def _middle(sample: Any) -> int:
    middle: int = sample.start_ns + (sample.end_ns - sample.start_ns) // 2
    return middle


def _new_array(type: str, length: int) -> Any:
    try:
        import numpy
    except ImportError:
        return array.array(type, bytes(array.array(type).itemsize)) * length
    return numpy.empty(length, type)


def _address(column: Any) -> int:
    address: int = column.buffer_info()[0] if isinstance(column, array.array) else column.ctypes.data
    return address


def _cut(column: Any, length: int) -> None:
    if isinstance(column, array.array):
        del column[length:]
    else:
        column.resize(length, refcheck=False)
