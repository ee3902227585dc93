"""Virtual time, and processes that take turns in it.

All of them run in one thread, one at a time: a strand of a process, a greenlet, runs until it waits for something. So a
seed repeats a simulation exactly, and seven hours pass as fast as their events are worked off.
"""

import contextlib
import heapq
import itertools
import math
import random
from collections.abc import Callable

import greenlet

_MOST_AT_ONCE = 1_000_000


class Gone(BaseException):
    """Raised in a process that was killed: whatever it does then has no effect."""


class Process:
    """What can be killed or frozen as one: the strands of a driver, or of somebody who watches it.

    Attributes:
        name: for messages; the name of its machine, too.
        pid: of no other process.
        skew: by how many seconds its machine's wall clock is ahead.
        frozen_until: none of its strands runs before, as under SIGSTOP.
    """

    def __init__(self, name: str, pid: int, skew: float = 0.0) -> None:
        self.name = name
        self.pid = pid
        self.skew = skew
        self.is_alive = True
        self.frozen_until = 0.0
        self.strands: list[Strand] = []
        self.at_end: list[Callable[[], None]] = []

    def is_frozen(self, now: float) -> bool:
        """Whether it, or its main thread alone, does nothing."""
        return now < max(self.frozen_until, self.strands[0].frozen_until)


class Strand:
    """A thread of a process."""

    def __init__(self, process: Process, work: Callable[[], object], hub: greenlet.greenlet) -> None:
        self.process = process
        self.greenlet = greenlet.greenlet(work, parent=hub)
        self.turn = 0  # a pause that is over must not be ended by what was to end it
        self.frozen_until = 0.0

    @property
    def has_ended(self) -> bool:
        return bool(self.greenlet.dead)


class World:
    """Events in the order of their time, and the strand that runs now."""

    def __init__(self, seed: int) -> None:
        self.now = 0.0
        self.random = random.Random(seed)
        self.strand: Strand | None = None
        self._hub = greenlet.getcurrent()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._pids = itertools.count(1000)

    @property
    def process(self) -> Process:
        """Whose code runs now."""
        assert self.strand is not None, "no process runs: this is code of the simulation itself"
        return self.strand.process

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        """Have something happen then; it must not wait."""
        assert seconds >= 0
        heapq.heappush(self._events, (self.now + seconds, next(self._numbers), call))

    def spawn(self, name: str, work: Callable[[], object], skew: float = 0.0) -> Process:
        """Start a process."""
        process = Process(name, next(self._pids), skew)

        def main() -> None:
            try:
                work()
            finally:
                self.kill(process)  # its other threads are daemons

        self.fork(process, main)
        return process

    def fork(self, process: Process, work: Callable[[], object]) -> Strand:
        """Start a thread of a process."""

        def guarded() -> None:
            with contextlib.suppress(Gone):
                work()

        strand = Strand(process, guarded, self._hub)
        process.strands.append(strand)
        self.after(0, lambda: self._resume(strand, 0))
        return strand

    def run(self, until: Callable[[], bool], most_seconds: float) -> None:
        """Work off events until it is over.

        Raises:
            AssertionError: that takes longer than it may, nothing would ever happen again, or time stands still.
        """
        at_once = 0
        while not until():
            assert self._events, f"nothing would happen any more after {self.now:.1f} s"
            at, _, call = heapq.heappop(self._events)
            at_once = at_once + 1 if at == self.now else 0
            assert at_once < _MOST_AT_ONCE, f"time stands still at {self.now:.1f} s"
            assert at <= most_seconds, f"it is not over after {most_seconds:.0f} s"
            self.now = at
            call()

    def pause(self, seconds: float = math.inf) -> None:
        """Let others run until this strand is woken, or for so long at most.

        Raises:
            Gone: its process was killed meanwhile.
        """
        self.require_alive()
        strand = self.strand
        assert strand is not None
        strand.turn += 1
        turn = strand.turn
        if seconds < math.inf:
            self.after(max(seconds, 0.0), lambda: self._resume(strand, turn))
        self._hub.switch()
        self.require_alive()

    def require_alive(self) -> None:
        """Stop what runs, if its process was killed.

        Raises:
            Gone: it was.
        """
        if not self.process.is_alive:
            raise Gone

    def wake(self, strand: Strand) -> None:
        """End its pause."""
        turn = strand.turn
        self.after(0, lambda: self._resume(strand, turn))

    def kill(self, process: Process) -> None:
        """End a process as SIGKILL does."""
        if not process.is_alive:
            return
        process.is_alive = False
        for strand in process.strands:
            if strand is not self.strand:
                self.after(0, lambda strand=strand: self._end(strand))
        for call in process.at_end:
            self.after(0, call)

    def freeze(self, what: Process | Strand, seconds: float) -> None:
        """Stop it for so long; then it resumes as if nothing had happened."""
        what.frozen_until = max(what.frozen_until, self.now + seconds)

    def _resume(self, strand: Strand, turn: int) -> None:
        if strand.has_ended or strand.turn != turn or not strand.process.is_alive:
            return
        frozen = max(strand.process.frozen_until, strand.frozen_until) - self.now
        if frozen > 0:
            self.after(frozen, lambda: self._resume(strand, turn))
            return
        strand.turn += 1
        self.strand = strand
        strand.greenlet.switch()
        self.strand = None

    def _end(self, strand: Strand) -> None:
        if strand.has_ended:
            return
        self.strand = strand
        with contextlib.suppress(Gone):  # one that has not begun raises it at once
            strand.greenlet.throw(Gone)
        self.strand = None
