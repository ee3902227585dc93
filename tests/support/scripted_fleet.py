"""A fleet of actors in this process, whose deaths are written beforehand: for the pools without Ray."""

import itertools
import random
from collections.abc import Callable
from typing import Any

from cluster.loss import Loss
from cluster.resources import ActorResources

# A method and its argument.
Call = tuple[str, Any]


class ScriptedFleet:
    """Behaves as `cluster.fleet.Fleet`.

    Args:
        actors: how many.
        answer: of a call.
        dies: says of a call whether its actor dies of it, and None: its machine does.
        wants_it_alone: says of an argument whether its call may neither wait behind another nor have one behind it.
        seed: decides who answers when, and when an actor is ready.
    """

    def __init__(
        self,
        actors: int,
        answer: Callable[[str, Any], Any],
        dies: Callable[[str, Any], bool | None] = lambda *_: False,
        wants_it_alone: Callable[[Any], bool] = lambda _: False,
        seed: int = 0,
    ) -> None:
        self.actors = actors
        self.resources = ActorResources(num_gpus=0, num_cpus=1, accelerator_type=None)
        self.workers = ()
        self.busy = ()
        self.ready = set(range(actors))
        self.missing: list[int] = []  # those of whom nobody hears again
        self.sent: list[tuple[int, Any]] = []  # to whom, and what
        self.deaths = 0
        self.closed = False
        self._answer = answer
        self._dies = dies
        self._wants_it_alone = wants_it_alone
        self._random = random.Random(seed)
        self._tickets = itertools.count()
        self._calls: list[dict[int, Call]] = [{} for _ in range(actors)]

    def start(self) -> None:
        self.closed = False

    @property
    def loads(self) -> dict[int, int]:
        return {number: len(self._calls[number]) for number in sorted(self.ready)}

    def send(self, number: int, method: str, argument: Any, size: int) -> int:
        assert number in self.ready
        assert size > 0
        calls = self._calls[number]
        assert not calls or not any(map(self._wants_it_alone, [argument, *(other for _, other in calls.values())]))
        self.sent.append((number, argument))
        ticket = next(self._tickets)
        calls[ticket] = method, argument
        return ticket

    def wait(self) -> list[tuple[int, Any]]:
        busy = [number for number, calls in enumerate(self._calls) if calls]
        unready = set(range(self.actors)) - self.ready - set(self.missing)
        assert busy or unready, "nobody would ever answer"
        answering = self._random.sample(busy, self._random.randint(0, len(busy)))
        outcomes = [outcome for number in answering for outcome in self._outcomes(number)]
        self.ready |= {number for number in unready if self._random.random() < 0.5}
        return outcomes

    def _outcomes(self, number: int) -> list[tuple[int, Any]]:
        """Of the call that an actor is at, and where it dies of it, of those behind it, too."""
        calls = self._calls[number]
        first = next(iter(calls))
        dies = self._dies(*calls[first])
        if dies is False:
            return [(first, self._answer(*calls.pop(first)))]
        self.deaths += 1
        self.ready.remove(number)
        self._calls[number] = {}
        charged = {first} if dies else set()
        return [(ticket, Loss("ActorDiedError", "it died", "node", ticket in charged)) for ticket in calls]

    def close(self) -> None:
        self.closed = True
        self._calls = [{} for _ in range(self.actors)]
