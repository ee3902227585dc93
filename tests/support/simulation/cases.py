"""What a seed draws: a run, the machines it is on, and what befalls it."""

import random
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal[
    "actor killed",
    "machine dies",
    "machine drained",
    "driver killed",
    "driver frozen",
    "driver stalls",
    "taken over",
    "cancelled",
    "store away",
    "store slow",
    "answer lost",
    "gcs silent",
]
KINDS: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Blow:
    """Something that happens at a moment, for so many seconds where it lasts."""

    at: float
    kind: Kind
    seconds: float


@dataclass(frozen=True, slots=True)
class Case:
    """One simulation. Times in seconds.

    Attributes:
        seed: of all chance.
        articles, bundle_size: of the run, and of each bundle.
        actors: that each driver asks for.
        machines: the number of actors that each has room for, and its speed.
        seconds, load_seconds: that a bundle takes, more or less, and the models.
        store_seconds: that a transaction waits at most while the store is well.
        stuck_seconds: see `StuckTaskDetector`.
        chance: of a call to end badly.
        misfortunes: how many calls do at most.
        poison: keys of articles that kill whoever sweeps them.
        blows: what else happens.
    """

    seed: int
    articles: int
    bundle_size: int
    actors: int
    machines: tuple[tuple[int, float], ...]
    seconds: float
    load_seconds: float
    store_seconds: float
    stuck_seconds: float
    chance: float
    misfortunes: int
    poison: frozenset[str]
    blows: tuple[Blow, ...]

    @property
    def usual_seconds(self) -> float:
        """That the run takes where nothing happens, more or less."""
        rounds = -(-self.articles // (self.bundle_size * self.actors))
        return self.load_seconds + rounds * self.seconds


BUNDLE_SIZES = (1, 2, 3)
MOST_ARTICLES = 12


def draw_small(seed: int) -> Case:
    """A run of a dozen bundles on a few actors, with up to six blows."""
    draw = random.Random(seed)
    actors = draw.randint(1, 6)
    articles = draw.choice((4, 8, MOST_ARTICLES))
    case = Case(
        seed=seed,
        articles=articles,
        bundle_size=draw.choice(BUNDLE_SIZES),
        actors=actors,
        machines=_machines(draw, actors, 3),
        seconds=draw.uniform(0.5, 8.0),
        load_seconds=draw.uniform(0.5, 8.0),
        store_seconds=draw.choice((0.0, 0.05, 1.0)),
        stuck_seconds=draw.choice((10.0, 30.0)),
        chance=draw.choice((0.0, 0.05, 0.3)),
        misfortunes=draw.randint(0, 8),
        poison=frozenset(map(str, draw.sample(range(articles), draw.choice((0, 0, 0, 1, 2))))),
        blows=(),
    )
    return _with_blows(case, draw, draw.randint(0, 6))


def _machines(draw: random.Random, actors: int, most_slots: int) -> tuple[tuple[int, float], ...]:
    """Room for all actors, and for some more."""
    machines: list[tuple[int, float]] = []
    while sum(slots for slots, _ in machines) < actors + draw.randint(0, most_slots):
        machines.append((draw.randint(1, most_slots), draw.choice((0.3, 1.0, 1.0, 3.0))))
    return tuple(machines)


def _with_blows(case: Case, draw: random.Random, count: int) -> Case:
    span = 1.5 * case.usual_seconds
    blows = (
        Blow(draw.uniform(0.0, span), draw.choice(KINDS), draw.choice((2.0, 20.0, 90.0, 200.0))) for _ in range(count)
    )
    return replace(case, blows=tuple(sorted(blows, key=lambda blow: blow.at)))
