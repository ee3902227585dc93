"""All chance of a simulation, drawn from its seed: how long calls take, how they end, and what befalls the fleet."""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nws.core.article import Article

if TYPE_CHECKING:
    from simulation.fleet import ActorProcess

End = Literal["done", "dies", "dies after", "hangs", "unavailable", "device"]
_ENDS: tuple[End, ...] = ("dies", "dies after", "hangs", "unavailable", "device")


@dataclass(frozen=True, slots=True)
class Fate:
    """How a call ends, and after how many seconds."""

    seconds: float
    end: End


class Hazards:
    """The fates of calls and tasks.

    Args:
        draw: the source of all chance.
        seconds: that a bundle takes on a machine of speed 1, more or less.
        load_seconds: that models take, more or less.
        chance: of each call to end badly, while there are `misfortunes` left.
        misfortunes: so many calls end badly at most, so that a run has an end.
        poison: keys of articles that kill every process that sweeps them.
        spread: of the logarithm of the seconds.
    """

    def __init__(
        self,
        draw: random.Random,
        seconds: float,
        load_seconds: float,
        chance: float,
        misfortunes: int,
        poison: Collection[str] = (),
        spread: float = 0.3,
    ) -> None:
        self._draw = draw
        self._seconds = seconds
        self._load_seconds = load_seconds
        self._chance = chance
        self._misfortunes = misfortunes
        self._poison = frozenset(poison)
        self._spread = spread

    def fate(self, method: str, articles: Sequence[Article], actor: "ActorProcess") -> Fate:
        usual = self._load_seconds if method == "build" else self._seconds
        assert actor.node is not None
        seconds = usual * self._draw.lognormvariate(0.0, self._spread) / actor.node.speed
        if any(article.key in self._poison for article in articles):
            return Fate(seconds * self._draw.random(), "dies")
        if not self._is_bad():
            return Fate(seconds, "done")
        if method == "build":  # the start of an actor has no limit of time: a hanging one is missed, and shown
            return Fate(seconds * self._draw.random(), "dies")
        end = self._draw.choice(_ENDS)
        return Fate(seconds if end == "dies after" else seconds * self._draw.random(), end)

    def segmenting_seconds(self) -> float:
        return self._draw.uniform(0.01, 0.5)

    def segmenting_end(self, bundle: Sequence[Article]) -> str:
        return self._draw.choice(("dies", "lost")) if bundle and self._is_bad() else "done"

    def _is_bad(self) -> bool:
        if self._misfortunes <= 0 or self._draw.random() >= self._chance:
            return False
        self._misfortunes -= 1
        return True
