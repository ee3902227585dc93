"""Actors in this process whose deaths are written beforehand: for the pools without Ray."""

import random
from collections.abc import Callable
from typing import Any

from nws.cluster.dispatcher import LostTask, Task

# A method and the task that it is called with.
Call = tuple[str, Task]


class ScriptedActors:
    """As `nws.cluster.dispatcher.Actors`.

    Args:
        actors: how many.
        answer: of a call, by its method and argument.
        dies: says of a call whether its actor dies of it, and None: its machine does.
        wants_it_alone: says of an argument whether its call may neither wait behind another nor have one behind it.
        seed: decides who answers when, and when an actor is ready.
    """

    device = "1 CPU"
    workers = ()

    def __init__(
        self,
        actors: int,
        answer: Callable[[str, Any], Any],
        dies: Callable[[str, Any], bool | None] = lambda *_: False,
        wants_it_alone: Callable[[Any], bool] = lambda _: False,
        seed: int = 0,
    ) -> None:
        self.ready = set(range(actors))
        self.missing: list[int] = []  # those of whom nobody hears again
        self.sent: list[tuple[int, Any]] = []  # to whom, and what
        self.deaths = 0
        self.closed = False
        self._answer = answer
        self._dies = dies
        self._wants_it_alone = wants_it_alone
        self._random = random.Random(seed)
        self._calls: list[list[Call]] = [[] for _ in range(actors)]

    def __len__(self) -> int:
        return len(self._calls)

    def start(self) -> None:
        self.closed = False

    @property
    def tasks(self) -> dict[int, list[Task]]:
        return {number: [task for _, task in self._calls[number]] for number in sorted(self.ready)}

    def send(self, number: int, method: str, task: Task) -> None:
        assert number in self.ready
        assert task.size > 0
        before = [other.argument for other in self.tasks[number]]
        assert not before or not any(map(self._wants_it_alone, [task.argument, *before]))
        self.sent.append((number, task.argument))
        self._calls[number].append((method, task))

    def wait(self) -> list[tuple[Task, Any]]:
        busy = [number for number, calls in enumerate(self._calls) if calls]
        unready = set(range(len(self))) - self.ready - set(self.missing)
        assert busy or unready, "nobody would ever answer"
        answering = self._random.sample(busy, self._random.randint(0, len(busy)))
        outcomes = [outcome for number in answering for outcome in self._outcomes(number)]
        self.ready |= {number for number in unready if self._random.random() < 0.5}
        return outcomes

    def _outcomes(self, number: int) -> list[tuple[Task, Any]]:
        """Of the call that an actor is at, and where it dies of it, of those behind it, too."""
        (method, first), *behind = self._calls[number]
        dies = self._dies(method, first.argument)
        if dies is False:
            self._calls[number] = behind
            return [(first, self._answer(method, first.argument))]
        self.deaths += 1
        return [(task, _loss(bool(dies) and task is first)) for task in self._replace(number)]

    def _replace(self, number: int) -> list[Task]:
        """Another actor gets this number, and is ready some time. Returns the tasks of the one that had it."""
        lost = [task for _, task in self._calls[number]]
        self._calls[number] = []
        self.ready.discard(number)
        return lost

    def close(self) -> None:
        self.closed = True
        self._calls = [[] for _ in self._calls]


def _loss(charged: bool) -> LostTask:
    return LostTask("ActorDiedError", "it died", "node", charged)
