# SPDX-License-Identifier: MIT
"""Counting: GPUs and their sessions."""

from __future__ import annotations

import contextlib
import math
import os
import time
import weakref
from collections.abc import Iterable, Iterator
from ctypes import POINTER, byref, c_bool, c_char_p, c_size_t, c_uint64, c_void_p, sizeof
from typing import Any

from . import _library as lib
from ._values import Counter, Handle, Sample, Selection, Sums

# Milliseconds, which have to be an int of the library.
_LONGEST_WAIT = 1000 * 1000


def version() -> str:
    """The version of the library, such as "0.3"."""
    return lib.text(lib.version())


def gpus() -> list[str]:
    """The render nodes of all GPUs with panthor that can be opened."""
    nodes, count = POINTER(c_char_p)(), c_size_t()
    lib.check(lib.gpu_nodes(byref(nodes), byref(count)))
    try:
        return [lib.text(nodes[i]) for i in range(count.value)]
    finally:
        lib.gpu_nodes_free(nodes, count)


def mark(name: str | None = None) -> None:
    """Begins a region of what others record now, until the next mark of any program; without a name, ends it."""
    lib.check(lib.mark(None if name is None else name.encode()))


def frame() -> None:
    """Ends a frame of this process in what others record now, and begins the next one."""
    lib.frame()


@contextlib.contextmanager
def region(name: str) -> Iterator[None]:
    """A region of what others record, which lasts as long as the block, and is none within another."""
    mark(name)
    try:
        yield
    finally:
        mark()


def open(node: str | os.PathLike[str] | None = None, fd: int | None = None) -> Gpu:
    """Opens a GPU: by its render node, by a file descriptor that stays the caller's, or the first there is."""
    return Gpu(node, fd)


def _set_numbers() -> dict[str, int]:
    return {lib.text(lib.set_name(n)): n for n in range(32) if lib.set_name(n)}


class Gpu:
    """An open GPU: node, name, layout (of its counters), gpu_id, cores, slices, sets, and min_period in seconds."""

    node: str
    name: str
    layout: str | None
    gpu_id: int
    cores: int
    slices: int
    sets: list[str]
    min_period: float

    def __init__(self, node: str | os.PathLike[str] | None = None, fd: int | None = None) -> None:
        gpu, db = c_void_p(), c_void_p()
        if fd is None:
            lib.check(lib.gpu_open(None if node is None else os.fsencode(node), byref(gpu)))
        else:
            lib.check(lib.gpu_open_fd(fd, byref(gpu)))
        self._gpu = Handle(self, gpu, lib.gpu_close)
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._info = lib.gpu_info(gpu)
        info = self._info.contents
        self.node, self.name, self.layout = lib.text(info.node), lib.text(info.name), lib.text(info.layout) or None
        self.gpu_id, self.cores, self.slices = info.gpu_id, info.cores, info.slices
        self.min_period = info.min_period_ns / 1e9
        self.sets = [name for name, number in _set_numbers().items() if info.sets >> number & 1]
        lib.check(lib.db_open(info.layout, byref(db)))
        self._db = Handle(self, db, lib.db_close)

    def close(self) -> None:
        """Closes the GPU and all its sessions."""
        for session in list(self._sessions):
            session.close()
        self._db.close()
        self._gpu.close()

    def __enter__(self) -> Gpu:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Gpu {self.name} at {self.node}>"

    def _open(self) -> c_void_p:
        if not self._gpu:
            raise ValueError("the GPU is closed")
        return self._gpu.pointer

    def counters(self) -> list[Counter]:
        """All counters with a name that this GPU has."""
        self._open()
        count = c_size_t()
        counters = lib.db_counters(self._db.pointer, byref(count))
        return [Counter(counters[i].contents) for i in range(count.value)
                if lib.counter_exists(self._db.pointer, counters[i], self._info)]

    def frequency(self) -> int:
        """The rate of its top level clock now, in Hz."""
        hz = c_uint64()
        lib.check(lib.gpu_frequency(self._open(), byref(hz)))
        return hz.value

    def session(self, counters: Iterable[str] | None = None, period: float | None = None, set: str = "primary",
                per_block: bool = False) -> Session:
        """Counts what counters says: a list of names, titles, patterns and places (SHADER.32), or what most want.

        A sample comes each period, in seconds, or, without one, when it is asked for. Counters of another set
        than the primary one have no names, only places. With per_block, samples have values of each block.
        """
        return Session(self, counters, period, set, per_block)


class Session:
    """Counting, from start() to stop(); an iterator over samples, which ends behind the last. See Gpu.session().

    period: that of samples in seconds, 0 of a session without one. A session that is dropped ends.
    """

    period: float

    def __init__(self, gpu: Gpu, counters: Iterable[str] | None, period: float | None, set: str,
                 per_block: bool) -> None:
        self._gpu, self._done = gpu, True
        gpu._open()
        if period and not 1e-9 <= period < 2**62 / 1e9:
            raise ValueError(f"invalid period in seconds: {period!r}")
        numbers = _set_numbers()
        if set not in numbers:
            raise ValueError(f"unknown counter set {set!r}; use one of {', '.join(numbers)}")
        db = gpu._db
        # Names are those of the primary set.
        if numbers[set]:
            no_names = c_void_p()
            lib.check(lib.db_open(None, byref(no_names)))
            db = self._db = Handle(self, no_names, lib.db_close)
        selection = Selection(db.pointer, gpu._info)
        if counters is None:
            selection.add_default()
        else:
            selection.add(counters)
        self._sums = Sums(selection, per_block)
        options = lib.Options(size=sizeof(lib.Options), period_ns=round((period or 0) * 1e9), set=numbers[set],
                              masks=selection.masks())
        session = c_void_p()
        lib.check(lib.session_open(gpu._open(), byref(options), byref(session)))
        self._session = Handle(self, session, lib.session_close)
        self.period = lib.session_period(session) / 1e9
        gpu._sessions.add(self)

    def close(self) -> None:
        """Ends it in any state; what was not read is dropped."""
        self._done = True
        self._session.close()

    def start(self) -> None:
        """Begins to count."""
        code = lib.INTERRUPTED
        # Python's handlers of signals run in between, and may raise an exception.
        while code == lib.INTERRUPTED:
            code = lib.session_start(self._open(), 0)
        lib.check(code)
        self._done = False

    def stop(self) -> None:
        """Asks for the last sample, behind which an iteration ends."""
        lib.check(lib.session_stop(self._open(), 0))

    def sample(self) -> Sample:
        """Takes a sample now, of a session without a period, and waits for it."""
        lib.check(lib.session_sample(self._open(), 0))
        return next(self)

    def collect(self, seconds: float) -> list[Sample]:
        """Counts for so many seconds, from now on, and stops: all samples, of which the last is that of stop()."""
        if not 0 <= seconds < math.inf:
            raise ValueError(f"invalid time in seconds: {seconds!r}")
        if self._done:
            self.start()
        samples, end = [], time.monotonic() + seconds
        while not self._done and (left := end - time.monotonic()) > 0:
            if sample := self.poll():
                samples.append(sample)
            else:
                self._wait(min(math.ceil(left * 1000), _LONGEST_WAIT))
        if not self._done:
            self.stop()
        return samples + list(self)

    def fileno(self) -> int:
        """For select(): readable when there is a sample."""
        fd: int = lib.session_fd(self._open())
        return fd

    def poll(self) -> Sample | None:
        """The next sample if there is one, or None."""
        found = POINTER(lib.Sample)()
        lib.check(lib.session_next(self._open(), byref(found)))
        if not found:
            return None
        sample = found.contents
        self._done = sample.last
        self._sums.reset()
        self._sums.add(found)
        return self._sums.fill(Sample(sample.start_ns, sample.end_ns, sample.flags, sample.last))

    def _open(self) -> c_void_p:
        if not self._session:
            raise ValueError("the session is closed")
        return self._session.pointer

    def _wait(self, milliseconds: int) -> None:
        # A signal ends it, too.
        lib.check(lib.session_wait(self._open(), milliseconds, byref(c_bool())))

    def __iter__(self) -> Session:
        return self

    def __next__(self) -> Sample:
        while not self._done:
            if sample := self.poll():
                return sample
            self._wait(-1)
        raise StopIteration

    def __enter__(self) -> Session:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
