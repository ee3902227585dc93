"""Sends tasks to actors and collects their outcomes: one loop for sweeps and episodes, on Ray or in this process.

An actor is a worker: a process that holds models, and that a run records. The backlog decides which task goes to which
actor, and what happens to a lost task.
"""

import contextlib
import functools
import platform
import re
import socket
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nws.core.article import Article
from nws.core.provenance import Software, software
from nws.core.types import ROWS_DEPEND, Failure

STUCK_SECONDS = 600.0
"""The seconds that any task may take, unless a recipe says otherwise."""


@dataclass(eq=False, slots=True)
class Task:
    """The work of one call of an actor.

    Attributes:
        argument: the argument of the call.
        size: the number of characters of its articles.
        home: the number of the actor to which it belongs; None if any actor may do it.
        deaths: the number of actors that have died of it.
    """

    argument: Any
    size: int
    home: int | None = None
    deaths: int = 0


@dataclass(frozen=True, slots=True)
class LostTask:
    """The loss of a task with its process or machine.

    `charged` is False for a task that only waited while the actor worked on another one.
    """

    error_class: str
    message: str
    node: str
    charged: bool

    def failure(self, article: Article, attempts: int) -> Failure:
        """Return the failure of an article that is given up."""
        return Failure(article.id, self.error_class, self.message, attempts=attempts, node=self.node)


@dataclass(frozen=True, slots=True, order=True)
class WorkerInfo:
    """A worker: its CPU or GPU, the name of its machine, and how the device multiplies.

    As far as is known, workers with equal `arithmetic` and `software` give equal numbers. `arithmetic` is empty if
    nothing needed torch.
    """

    device: str
    node: str
    arithmetic: str = ""
    software: Software = ()

    def __str__(self) -> str:
        return f"{self.device} on {self.node}"


def rows_warning(ways: Iterable[str]) -> str:
    """Say what it means for a run's numbers if a way to multiply does not keep rows apart; "" if all ways do.

    It gives advice only where it may help: MKL's own mode, where that is not set.

    Args:
        ways: the ways in which the run's workers multiply.
    """
    depending = [way for way in ways if ROWS_DEPEND in way]
    if not depending:
        return ""
    may_help = any("MKL" in way and "MKL AUTO,STRICT" not in way and "without MKL" not in way for way in depending)
    return (
        f"{ROWS_DEPEND}. So scores agree only to about 1e-6 with those of another batch, and a training with another "
        f"number of workers gives other policies.{' Unset MKL_CBWR to keep rows apart.' if may_help else ''}"
    )


def this_worker() -> WorkerInfo:
    """Describe this process as a worker, once its models are loaded."""
    # torch is not imported for this: if nothing needed it, no model is on a GPU. The first model initialises CUDA.
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        from nws.core.arithmetic import describe_gpu_arithmetic

        return WorkerInfo(torch.cuda.get_device_name(), socket.gethostname(), describe_gpu_arithmetic(), software())
    arithmetic = sys.modules.get("nws.core.arithmetic")
    described = "" if arithmetic is None else arithmetic.describe_arithmetic()
    return WorkerInfo(_cpu(), socket.gethostname(), described, software())


@functools.cache
def _cpu() -> str:
    try:
        match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        match = None
    return match[1].strip() if match else platform.processor() or "CPU"


class Actors(Protocol):
    """The actors that carry out tasks: those of a `nws.cluster.actor_pool.ActorPool`, or this process.

    `len` is their number. `device` describes the device of each.
    """

    device: str

    def __len__(self) -> int: ...

    @property
    def workers(self) -> tuple[WorkerInfo, ...]:
        """The processes that have loaded their models, sorted and without duplicates."""

    @property
    def tasks(self) -> Mapping[int, Sequence[Task]]:
        """The tasks of each actor whose models are loaded, in the order of sending, by its number, from 0."""

    @property
    def missing(self) -> Sequence[int]:
        """The numbers of the actors that should have been ready long ago."""

    def start(self) -> None:
        """Start the actors, unless they are started already."""

    def send(self, number: int, method: str, task: Task) -> None:
        """Call a method of an actor whose models are loaded."""

    def wait(self) -> list[tuple[Task, Any]]:
        """Wait until something happens. Returns tasks with their answers, or with a `LostTask` if an actor died.

        The list is empty if an actor only became ready, or if nothing happens for a few seconds.

        Raises:
            DeviceError: devices failed repeatedly, and new actors did not help.
            NwsError: a factory or the work itself failed (with its own error, if that is an NwsError), actors keep
                dying before their models are loaded, or Ray itself has died.
        """

    def close(self) -> None:
        """End the actors and their tasks, and nothing else. They can be started again."""


class InlineActor(Actors):
    """This process as the only actor: for tests, debugging, and machines without Ray. Errors are passed on unchanged.

    A task is carried out in `wait`.

    Args:
        methods: functions by name, which are called with the argument of a task.
    """

    device = "this process"
    missing = ()

    def __init__(self, methods: Mapping[str, Callable[[Any], Any]]) -> None:
        self._methods = methods
        self._calls: list[tuple[str, Task]] = []

    def __len__(self) -> int:
        return 1

    @property
    def workers(self) -> tuple[WorkerInfo, ...]:
        return (this_worker(),)

    @property
    def tasks(self) -> Mapping[int, Sequence[Task]]:
        return {0: [task for _, task in self._calls]}

    def start(self) -> None:
        """Do nothing, since this process runs already."""

    def send(self, number: int, method: str, task: Task) -> None:
        self._calls.append((method, task))

    def wait(self) -> list[tuple[Task, Any]]:
        method, task = self._calls.pop(0)
        return [(task, self._methods[method](task.argument))]

    def close(self) -> None:
        self._calls.clear()


class Backlog(Protocol):
    """Waiting tasks, and the rules for which actor gets them and which are tried again."""

    def __bool__(self) -> bool: ...

    def choose(self, actors: Actors) -> tuple[int, Task] | None:
        """Take out the next task, with the number of the actor that gets it; None if all tasks have to wait."""

    def settle(self, task: Task, outcome: Any) -> bool:
        """Return whether an outcome is the last of its task. If not, put back the task, or the parts of it."""


def dispatch(
    actors: Actors, method: str, backlog: Backlog, look_around: Callable[[], None] = lambda: None
) -> Generator[list[tuple[Task, Any]], None, None]:
    """Call `method` with every task of a backlog. Yields tasks with their last outcomes as they land, in any order.

    Outcomes that landed while the caller was busy come together, and sometimes an empty list comes. `look_around` is
    called before each wait. If the generator ends early, by closing it or by an error, it ends the actors, so that a
    late answer is not mistaken for that of another call. Without tasks, it starts no actor.
    """
    if not backlog:
        return
    with contextlib.ExitStack() as if_cut_short:
        if_cut_short.callback(actors.close)
        actors.start()
        _fill(actors, method, backlog)
        while any(actors.tasks.values()) or backlog:
            look_around()
            landed = [(task, outcome) for task, outcome in actors.wait() if backlog.settle(task, outcome)]
            try:
                _fill(actors, method, backlog)
            finally:  # even if the source raises an error, landed outcomes are yielded
                yield landed  # only now, so that the actors have work meanwhile
        if_cut_short.pop_all()


def _fill(actors: Actors, method: str, backlog: Backlog) -> None:
    while (chosen := backlog.choose(actors)) is not None:
        number, task = chosen
        actors.send(number, method, task)
