"""One of the places of an actor pool: the actor that has it now, and its calls. It imports ray: see `actor_pool`."""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ray

from cluster.dispatcher import Task
from cluster.resources import ActorResources
from cluster.worker_info import WorkerInfo

# How long the calls of an actor that was killed are waited for: what it had done may still be on its way.
_SETTLE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Call:
    """A task that is sent: to which method, and the ObjectRef of what makes its argument, if a Ray task does."""

    task: Task
    method: str
    before: Any


@dataclass(eq=False, slots=True)
class Slot:
    """One actor, asked for at the time `since`.

    `worker` is None until its models are loaded. `calls` are in order of sending, by the ObjectRefs of their answers.
    The actor has been at the first of them since `turn`, and was at earlier ones for `worked` seconds.
    """

    number: int
    actor: Any
    since: float
    worker: WorkerInfo | None = None
    calls: dict[Any, Call] = field(default_factory=dict)
    turn: float = 0.0
    worked: float = 0.0

    def send(self, call: Call) -> Any:
        """Make a call. Returns the ObjectRef of its answer."""
        if not self.calls:
            self.turn = time.monotonic()
        method = getattr(self.actor, call.method).options(name=call.method)
        ref = method.remote(call.task.argument if call.before is None else call.before)
        self.calls[ref] = call
        return ref

    def came_back(self, ref: Any) -> tuple[Call, float]:
        """A call that has an answer, and how long the actor was at it."""
        now = time.monotonic()
        seconds, self.turn = now - self.turn, now
        self.worked += seconds
        return self.calls.pop(ref), seconds

    @property
    def at_work(self) -> tuple[Call, float] | None:
        """The call that the actor is at, and for how long."""
        first = next(iter(self.calls.values()), None)
        return (first, time.monotonic() - self.turn) if first else None

    @property
    def busy_seconds(self) -> float:
        """For how long the actor has had a call, or its driver an answer to take."""
        return self.worked + (self.at_work[1] if self.at_work else 0.0)

    def kill(self) -> None:
        """Kill the actor, which may only be unavailable or stopped."""
        ray.kill(self.actor, no_restart=True)

    def end_calls(self) -> set[Any]:
        """Once it is killed, wait for the answers on their way, and end the Ray tasks before the other calls.

        Returns the calls that had begun.
        """
        tasks = [call.before for call in self.calls.values() if call.before is not None]
        done = set(ray.wait(tasks, num_returns=len(tasks), timeout=0, fetch_local=False)[0]) if tasks else set()
        begun = [ref for ref, call in self.calls.items() if call.before is None or call.before in done]
        for task in set(tasks) - done:  # their calls will be made again, each with a Ray task of its own
            ray.cancel(task, force=True)
        if begun:
            ray.wait(begun, num_returns=len(begun), timeout=_SETTLE_SECONDS)
        return set(begun)


def pinning(actor_class: type, resources: ActorResources) -> Callable[..., Any]:
    """Ray's `options` of a class whose actors pin these resources. They are not restarted: a pool replaces them."""
    accelerator = {"accelerator_type": resources.accelerator_type} if resources.accelerator_type else {}
    return functools.partial(
        ray.remote(actor_class).options,
        num_gpus=resources.num_gpus,
        num_cpus=resources.num_cpus,
        max_restarts=0,
        max_task_retries=0,
        enable_task_events=False,
        **accelerator,
    )
