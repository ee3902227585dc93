"""What a seed draws: a run, the machines it is on, and what befalls it."""

import random
from collections.abc import Sequence
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
        articles: of the run, in bundles of `bundle_size`.
        bundle_size: see there.
        actors: that each driver asks for.
        machines: the number of actors that each has room for, and its speed.
        seconds: that a bundle takes, more or less, and `load_seconds` the models.
        load_seconds: see there.
        store_seconds: that a transaction waits at most while the store is well.
        stuck_seconds: see `StuckTaskDetector`.
        chance: of a call to end badly.
        misfortunes: how many calls do at most.
        poison: keys of articles that kill whoever sweeps them.
        blows: what else happens.
        most_seconds: by then all is over.
        look_seconds: between two looks at who is idle.
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
    most_seconds: float = 24 * 3600.0
    look_seconds: float = 1.0

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


def draw_large(seed: int, actors: int, hours: float) -> Case:
    """A run that keeps so many actors busy for so long, while ten things an hour happen to their machines and store.

    Drivers are not what is tried here: they die seldom.
    """
    draw = random.Random(seed)
    seconds = 800.0
    bundles = int(actors * hours * 3600 / seconds)
    case = Case(
        seed=seed,
        articles=bundles,
        bundle_size=1,
        actors=actors,
        machines=tuple((8, draw.uniform(0.8, 1.2)) for _ in range(actors // 8 + 2)),
        seconds=seconds,
        load_seconds=60.0,
        store_seconds=0.02,
        stuck_seconds=600.0,
        chance=0.01,
        misfortunes=bundles // 100,
        poison=frozenset(map(str, draw.sample(range(bundles), 3))),
        blows=(),
        most_seconds=3 * hours * 3600,
        look_seconds=10.0,
    )
    often: tuple[Kind, ...] = ("actor killed", "machine dies", "machine drained", "store away", "store slow")
    case = _with_blows(case, draw, round(10 * hours), often)
    return replace(case, blows=(*case.blows, *_with_blows(case, draw, 4).blows))


def _machines(draw: random.Random, actors: int, most_slots: int) -> tuple[tuple[int, float], ...]:
    """Room for all actors, and for some more."""
    machines: list[tuple[int, float]] = []
    while sum(slots for slots, _ in machines) < actors + draw.randint(0, most_slots):
        machines.append((draw.randint(1, most_slots), draw.choice((0.3, 1.0, 1.0, 3.0))))
    return tuple(machines)


def _with_blows(case: Case, draw: random.Random, count: int, kinds: Sequence[Kind] = KINDS) -> Case:
    span = 1.5 * case.usual_seconds
    blows = (
        Blow(draw.uniform(0.0, span), draw.choice(kinds), draw.choice((2.0, 20.0, 90.0, 200.0))) for _ in range(count)
    )
    return replace(case, blows=tuple(sorted(blows, key=lambda blow: blow.at)))
