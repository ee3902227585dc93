"""Sends tasks to actors and takes what becomes of them: one loop for sweeps and episodes, on Ray or in this process.

An actor is a worker: a process that holds models, which a run records. Which task goes to which actor, and what a lost
one means, is decided by the backlog that it comes from.
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
"""Seconds that any task may take, unless a recipe says otherwise."""


@dataclass(eq=False, slots=True)
class Task:
    """The work of one call of an actor.

    Attributes:
        argument: of the call.
        size: characters of the articles that it is about.
        home: the number of the actor to which it belongs; None if any may do it.
        deaths: how often an actor has died of it.
    """

    argument: Any
    size: int
    home: int | None = None
    deaths: int = 0


@dataclass(frozen=True, slots=True)
class LostTask:
    """The loss of a task with its process or machine.

    `charged` is False for a task that only waited behind the one the actor was working on.
    """

    error_class: str
    message: str
    node: str
    charged: bool

    def failure(self, article: Article, attempts: int) -> Failure:
        """The failure of an article that is given up."""
        return Failure(article.id, self.error_class, self.message, attempts=attempts, node=self.node)


@dataclass(frozen=True, slots=True, order=True)
class WorkerInfo:
    """A worker: the name of its machine, the model of its CPU or GPU, and how that multiplies.

    Workers of one `arithmetic` and `software` give the same numbers, so far as is known; the first is empty where
    nothing needed torch.
    """

    device: str
    node: str
    arithmetic: str = ""
    software: Software = ()

    def __str__(self) -> str:
        return f"{self.device} on {self.node}"


def rows_warning(ways: Iterable[str]) -> str:
    """What it means for a run's numbers where a way to multiply does not keep rows apart; empty if all of them do.

    It advises only what may help: MKL's own mode where that is not set.

    Args:
        ways: the `arithmetic` of the run's workers.
    """
    depending = [way for way in ways if ROWS_DEPEND in way]
    if not depending:
        return ""
    may_help = any("MKL" in way and "MKL AUTO,STRICT" not in way and "without MKL" not in way for way in depending)
    return (
        f"{ROWS_DEPEND}: scores agree to about 1e-6 only with those of another batch, and a training with another "
        f"number of workers becomes another one.{' Unset MKL_CBWR to keep rows apart.' if may_help else ''}"
    )


def this_worker() -> WorkerInfo:
    """This process, once its models are loaded."""
    # Not imported for this: where nothing needed torch, no model is on a GPU. The first one initialises CUDA.
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
    """The actors that carry out tasks: of a `nws.cluster.actor_pool.ActorPool`, or this process. Their number is `len`.

    `device` says in words what each of them has to compute on.
    """

    device: str

    def __len__(self) -> int: ...

    @property
    def workers(self) -> tuple[WorkerInfo, ...]:
        """The processes that have loaded their models: sorted, equal ones once."""

    @property
    def tasks(self) -> Mapping[int, Sequence[Task]]:
        """The actors whose models are loaded, by number from 0, each with its tasks in order of sending."""

    @property
    def missing(self) -> Sequence[int]:
        """The numbers of the actors that should have been ready for some time."""

    def start(self) -> None:
        """Start the actors, unless they have been started."""

    def send(self, number: int, method: str, task: Task) -> None:
        """Call a method of an actor whose models are loaded."""

    def wait(self) -> list[tuple[Task, Any]]:
        """Wait until something happens: tasks with their answers, or a `LostTask` where an actor died.

        The list is empty if an actor only got ready, or if nothing happens for a few seconds.

        Raises:
            DeviceError: devices failed again and again, and new actors did not help.
            NwsError: a factory or the work itself failed (its own error, where it is an NwsError), actors keep dying
                before their models are loaded, or Ray itself has died.
        """

    def close(self) -> None:
        """End the actors with what they still run, and nothing else. They can be started again."""


class InlineActor(Actors):
    """This process as the only actor: for tests, debugging, and machines without Ray. Errors come as they are.

    A task is carried out while it is waited for.

    Args:
        methods: by name, what is called with the argument of a task.
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
        """Nothing is to be started."""

    def send(self, number: int, method: str, task: Task) -> None:
        self._calls.append((method, task))

    def wait(self) -> list[tuple[Task, Any]]:
        method, task = self._calls.pop(0)
        return [(task, self._methods[method](task.argument))]

    def close(self) -> None:
        self._calls.clear()


class Backlog(Protocol):
    """Tasks that wait, and a policy: who gets them, and which of them are tried again."""

    def __bool__(self) -> bool: ...

    def choose(self, actors: Actors) -> tuple[int, Task] | None:
        """Take out the next task, with the number of the actor to send it to; None if all have to wait."""

    def settle(self, task: Task, outcome: Any) -> bool:
        """Whether this outcome is the last of its task. If not, the task is put back, or those it is divided into."""


def dispatch(
    actors: Actors, method: str, backlog: Backlog, look_around: Callable[[], None] = lambda: None
) -> Generator[list[tuple[Task, Any]], None, None]:
    """Call `method` with every task of a backlog. Yields tasks with their last outcomes as they land, in any order.

    All that landed while the caller was busy come together; now and then an empty list comes. `look_around` is called
    before each wait. Ended early, by closing it or by an error, it ends the actors: what still runs must not be taken
    for an answer to something else. Without a task it starts none.
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
            finally:  # an error of the source must not cost what has landed
                yield landed  # now that the actors have something to do meanwhile
        if_cut_short.pop_all()


def _fill(actors: Actors, method: str, backlog: Backlog) -> None:
    while (chosen := backlog.choose(actors)) is not None:
        number, task = chosen
        actors.send(number, method, task)
