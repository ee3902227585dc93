"""What stands in for `time`, `threading`, `datetime` and the like in NWS's modules while a simulation runs."""

import contextlib
import logging
import math
import sys
import threading
import types
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from unittest import mock

from simulation.world import Strand, World

_BEGIN = datetime(2030, 1, 1, tzinfo=UTC)
# Modules with a clock, threads or a process id of their own, by the start of their name.
_VIRTUAL = ("nws.cluster.", "nws.jobs.drive.", "nws.jobs.store.", "tenacity")
_NOT_VIRTUAL = ("nws.cluster.session",)  # it has threads of its own, where other tests of this process use Ray
_SINGLE = {"nws.jobs.drive.driver": ("os", "socket"), "nws.jobs.drive.run": ("os", "socket")}


class VirtualThread:
    """As `threading.Thread`: a strand of the process that starts it."""

    def __init__(self, world: World, target: Callable[..., object], name: str, daemon: bool) -> None:
        assert daemon, f"the thread {name!r} would keep its process alive"
        self._world = world
        self._target = target
        self._strand: Strand | None = None

    def start(self) -> None:
        self._world.require_alive()
        assert self._strand is None, "threads can only be started once"
        self._strand = self._world.fork(self._world.process, self._target)

    def join(self) -> None:
        while self._strand is not None and not self._strand.has_ended:
            self._world.pause(0.01)


class VirtualEvent:
    """As `threading.Event`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._is_set = False
        self._waiting: list[Strand] = []

    def set(self) -> None:
        self._is_set = True
        for strand in self._waiting:
            self._world.wake(strand)
        self._waiting.clear()

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, timeout: float = math.inf) -> bool:
        if not self._is_set:
            assert self._world.strand is not None
            self._waiting.append(self._world.strand)
            self._world.pause(timeout)
            with contextlib.suppress(ValueError):
                self._waiting.remove(self._world.strand)
        return self._is_set


def _modules(world: World) -> dict[str, object]:
    """What is put in the place of each module, or class, of this name. What is not here is refused."""

    class VirtualDatetime(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            assert tz is UTC
            skew = world.process.skew if world.strand else 0.0
            return _BEGIN + timedelta(seconds=world.now + skew)

    def monotonic() -> float:
        return world.now

    return {
        "time": types.SimpleNamespace(monotonic=monotonic, perf_counter=monotonic, sleep=world.pause),
        "threading": types.SimpleNamespace(
            Thread=lambda target, name, daemon: VirtualThread(world, target, name, daemon),
            Event=lambda: VirtualEvent(world),
            Lock=threading.Lock,
            local=threading.local,
        ),
        "datetime": VirtualDatetime,
        "random": world.random,
        "os": types.SimpleNamespace(getpid=lambda: world.process.pid),
        "socket": types.SimpleNamespace(gethostname=lambda: world.process.name),
    }


@contextlib.contextmanager
def virtual(world: World, ray: Any) -> Iterator[None]:
    """Let NWS's modules, and the library that waits for a store, see this world and this Ray while the block runs."""
    stands_in = _modules(world) | {"ray": ray}
    with contextlib.ExitStack() as stack:
        for name, module in list(sys.modules.items()):
            if name in _NOT_VIRTUAL or not name.startswith(_VIRTUAL) or not isinstance(module, types.ModuleType):
                continue
            for what in ("time", "threading", "datetime", "random", "ray", *_SINGLE.get(name, ())):
                found = vars(module).get(what)
                if isinstance(found, types.ModuleType) or found is datetime:
                    stack.enter_context(mock.patch.object(module, what, stands_in[what]))
        logger = logging.getLogger("nws.cluster")
        propagates, logger.propagate = logger.propagate, False
        stack.callback(setattr, logger, "propagate", propagates)
        yield
