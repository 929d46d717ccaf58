# SPDX-License-Identifier: MIT
"""What counting and recordings share: counters, samples, and values over them."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from ctypes import byref, c_double, c_size_t, c_void_p, sizeof
from typing import Any

from . import _library as lib


class Handle:
    """Something of the library, which is freed once: when it is closed, or by itself behind its owner's end.

    A process that was forked frees nothing: it would end what its parent counts.
    """

    def __init__(self, owner: object, pointer: c_void_p, free: Any) -> None:
        self._pointer = pointer
        self.close = weakref.finalize(owner, self._free, pointer, free, os.getpid())

    @staticmethod
    def _free(pointer: c_void_p, free: Any, pid: int) -> None:
        if os.getpid() == pid:
            free(pointer)

    def __bool__(self) -> bool:
        return self.close.alive

    @property
    def pointer(self) -> c_void_p:
        """For functions of the library, while it is open."""
        return self._pointer


class Counter:
    """A counter: its name in equations, title, group, unit and, if it is derived, equation."""

    name: str
    title: str
    group: str
    unit: str
    equation: str | None

    def __init__(self, counter: Any) -> None:
        self.name = lib.text(counter.name)
        self.title = lib.text(counter.title)
        self.group = lib.text(counter.group)
        self.unit = lib.text(counter.unit)
        self.equation = lib.text(counter.equation) or None

    def __repr__(self) -> str:
        return f"<Counter {self.name}: {self.title}, in {self.unit}>"


class Load:
    """How busy a GPU was: parts, 0 to 1, of the time and of the cycles; active_seconds and active_cycles."""

    of_time: float
    of_cycles: float
    seconds: float
    active_seconds: float
    cycles: int
    active_cycles: int

    def __init__(self, load: Any) -> None:
        self.of_time, self.of_cycles = load.of_time, load.of_cycles
        self.seconds, self.active_seconds = load.seconds, load.active_seconds
        self.cycles, self.active_cycles = load.cycles, load.active_cycles

    def __repr__(self) -> str:
        return f"<Load {100 * self.of_time:.1f} % of the time, {100 * self.of_cycles:.1f} % of the cycles>"


class Sample:
    """What was counted from start_ns to end_ns.

    values: by name, an int of a counter of hardware, a float of a derived one, None where an equation has no
    value, such as a ratio of nothing. blocks: by name, a list of the values of each block (core, slice), of
    counters that blocks have values of; empty unless asked for. cycles: by clock. load: a Load, or None if the
    GPU's layout is not known. Counts may be missing if overflow or failed; stretched is a sample of several
    periods, in which none is. last: the one of stop().
    """

    start_ns: int
    end_ns: int
    last: bool
    overflow: bool
    failed: bool
    stretched: bool
    cycles: dict[str, int]
    values: dict[str, int | float | None]
    blocks: dict[str, list[int | float | None]]
    load: Load | None

    def __init__(self, start_ns: int, end_ns: int, flags: int, last: bool = False) -> None:
        self.start_ns, self.end_ns, self.last = start_ns, end_ns, last
        self.overflow = bool(flags & lib.OVERFLOW)
        self.failed = bool(flags & lib.FAILED)
        self.stretched = bool(flags & lib.STRETCHED)
        self.cycles, self.values, self.blocks, self.load = {}, {}, {}, None

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.end_ns - self.start_ns) / 1e9

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.seconds:.6f} s: {self.values!r}>"


class Selection:
    """Counters that somebody has chosen."""

    def __init__(self, db: Any, info: Any) -> None:
        self.db, self.info, self._selection = db, info, c_void_p()
        lib.check(lib.selection_new(db, info, byref(self._selection)))

    def __del__(self) -> None:
        lib.selection_free(self._selection)

    def add(self, counters: Iterable[str]) -> None:
        """Names, titles, patterns, places."""
        if isinstance(counters, str):
            raise TypeError("counters must be a list of names")
        for name in counters:
            lib.check(lib.selection_add(self._selection, name.encode()))

    def add_default(self) -> None:
        """What most people want."""
        lib.check(lib.selection_add_default(self._selection))

    def add_counter(self, counter: Any) -> None:
        """One of the database."""
        lib.check(lib.selection_add_counter(self._selection, counter))

    def masks(self) -> Any:
        """What has to be enabled for them and for loads."""
        lib.selection_need_load(self._selection)
        return lib.selection_masks(self._selection).contents

    def counters(self) -> list[Any]:
        """In the order in which they were added."""
        count = c_size_t()
        chosen = lib.selection_counters(self._selection, byref(count))
        return [chosen[n] for n in range(count.value)]

    @property
    def pointer(self) -> c_void_p:
        """For functions of the library."""
        return self._selection


class Sums:
    """Samples added up, and values of chosen counters; with per_block, of each block as well."""

    def __init__(self, selection: Selection, per_block: bool = False) -> None:
        self._selection, self._sums = selection, c_void_p()
        self._info = selection.info.contents
        self._counters = [
            (lib.text(counter.contents.name), counter,
             self._info.blocks[lib.counter_block_type(selection.db, counter)] if per_block else 0)
            for counter in selection.counters()]
        lib.check(lib.sums_new(selection.db, selection.info, byref(self._sums)))

    def __del__(self) -> None:
        lib.sums_free(self._sums)

    def reset(self) -> None:
        """Back to nothing."""
        lib.sums_reset(self._sums)

    def add(self, sample: Any) -> None:
        """A sample of the library."""
        lib.check(lib.sums_add(self._sums, sample))

    def fill(self, sample: Sample) -> Sample:
        """Stores what all samples come to."""
        value, load = c_double(), lib.Load()
        sample.cycles = {clock: lib.sums_cycles(self._sums, number) for number, clock in enumerate(lib.CLOCKS)
                         if self._info.clocks >> number & 1}
        for name, counter, blocks in self._counters:
            if counter.contents.type:
                sample.values[name] = lib.sums_total(self._sums, counter)
                if blocks:
                    sample.blocks[name] = [lib.sums_block(self._sums, counter, n) for n in range(blocks)]
                continue
            sample.values[name] = self._value(lib.sums_value(self._sums, counter, byref(value)), value)
            if blocks:
                sample.blocks[name] = [self._value(lib.sums_block_value(self._sums, counter, n, byref(value)), value)
                                       for n in range(blocks)]
        if lib.sums_load(self._sums, byref(load), sizeof(load)) == lib.OK:
            sample.load = Load(load)
        return sample

    def total(self, make: Any) -> Any:
        """What they come to, of a class that is made of times, flags, number of samples and seconds."""
        total = make(lib.sums_start_ns(self._sums), lib.sums_end_ns(self._sums), lib.sums_flags(self._sums),
                     lib.sums_samples(self._sums), lib.sums_seconds(self._sums))
        return self.fill(total)

    def _value(self, code: int, value: c_double) -> float | None:
        # Over no samples an equation has none, either.
        if code == lib.NO_VALUE or not lib.sums_samples(self._sums):
            return None
        lib.check(code)
        return value.value
