"""How good trained policies are on articles they did not learn from: over seeds, and beside other systems.

A training is repeated with other seeds, and each policy that comes out is a system of the run:
`policy|reinforce|seed=0`, `policy|reinforce|seed=1`, … Here they are one system, `policy|reinforce`: its score on an
article is the mean over its seeds. The paired intervals resample articles, so the luck of the seed is not in them.
"""

import re
import statistics
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.analysis.curves import comparable_articles
from core.analysis.paired import PairedLength, compare_systems
from core.analysis.points import LEAD, POLICY, Metric, Point, build_grids, without_short
from core.metrics.repeated_words import repeated_word_share
from core.types import SystemKind

TEXTRANK = "textrank"
ORACLE = "oracle"
COMPARED = ("lead2+chunks", "lead3-search", TEXTRANK, LEAD)
"""The systems that others are compared with."""

_METRICS: tuple[Metric, ...] = ("bertscore_f1", "rouge1_f1", "rouge2_f1", "rougel_f1", "efficiency", "density")
_SEED = re.compile(r"(policy\|.+)\|seed=(-?\d+)(?:\|n=\d+)?")


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system on the `articles` test articles of a dataset at n words: means over articles.

    Attributes:
        seeds: of a policy: the mean F1 of each of its seeds. Empty for any other system. Only articles that all seeds
            have a summary of count, here and in every other number.
        repeated_words: share of words that occurred earlier in the summary (`repeated_word_share`).
        comparable: whether it may be held against the others at this n: all that may are judged on the same articles
            (`comparable_articles`), any other on all that it has.
        versus: this system minus others of `COMPARED`, by name, paired over the articles that both have; an upper bound
            is compared with none.
        gap_closed: share of the way from `textrank` to `oracle`, (F1 - textrank's) / (oracle's - textrank's), over the
            articles that all three have. None for these two, without one of them, and where the oracle is not above.
        training_f1: mean F1 on the articles the policy learned from, where it is known.
    """

    dataset: str
    system: str
    kind: SystemKind
    n: int
    articles: int
    seeds: Mapping[int, float]
    bertscore_f1: float
    rouge1_f1: float
    rouge2_f1: float
    rougel_f1: float
    efficiency: float
    density: float
    repeated_words: float
    comparable: bool
    versus: Mapping[str, PairedLength]
    gap_closed: float | None
    training_f1: float | None

    @property
    def is_policy(self) -> bool:
        return bool(self.seeds)

    @property
    def seed_sd(self) -> float | None:
        """Standard deviation of the seeds' means (n - 1); None for fewer than two seeds."""
        return statistics.stdev(self.seeds.values()) if len(self.seeds) > 1 else None

    @property
    def test_vs_training(self) -> float | None:
        return None if self.training_f1 is None else self.bertscore_f1 - self.training_f1


def split_seed(name: str) -> tuple[str, int | None]:
    """A policy's system without its seed, and the seed: `policy|reinforce|seed=0` is (`policy|reinforce`, 0).

    A final `|n=7`, of one of several parts, is left out. All other systems are themselves, without seed.
    """
    found = _SEED.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, None)


def mean_over_seeds(points: Iterable[Point], method: str) -> list[Point]:
    """The policies of a method as one system: each metric's mean over its seeds, where all of them have a summary.

    Args:
        points: of one run.
        method: such as `policy|reinforce`.
    """
    of_method = [point for point in points if split_seed(point.system)[0] == method]
    seeds = {point.system for point in of_method}
    places: dict[tuple[str, str, int], list[Point]] = {}
    for point in sorted(of_method, key=lambda point: point.system):
        places.setdefault((point.dataset, point.article_id, point.n), []).append(point)
    return [
        _averaged(found[0], method, [_mean(found, metric) for metric in _METRICS])
        for found in places.values()
        if len(found) == len(seeds)
    ]


def _mean(points: Sequence[Point], metric: Metric) -> float:
    return statistics.fmean(getattr(point, metric) for point in points)


def _averaged(point: Point, system: str, means: Sequence[float]) -> Point:
    """The point of a method: that of one of its seeds, with the means over all, in the order of `_METRICS`."""
    f1, rouge1, rouge2, rougel, efficiency, density = means
    return replace(
        point,
        system=system,
        text=None,
        bertscore_f1=f1,
        rouge1_f1=rouge1,
        rouge2_f1=rouge2,
        rougel_f1=rougel,
        efficiency=efficiency,
        density=density,
    )


def policy_scores(
    points: Iterable[Point], training_f1: Mapping[tuple[str, int], float], *, seed: int
) -> tuple[SystemScore, ...]:
    """A score for every dataset, system and n; datasets by name, policies first, upper bounds last, n rising.

    Args:
        points: of one run, with their texts. Uncut summaries (n = 0) are left out, and so are articles of fewer than n
            words.
        training_f1: mean F1 on training articles, by system (without seed) and n.
        seed: of every drawn sign.

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    points = without_short(point for point in points if point.n > 0)
    build_grids(points, "bertscore_f1")  # for its checks: what comes next would average over two equal points
    all_cells = _cells(points)
    cells = _on_equal_articles(all_cells)
    f1 = {key: dict(zip(cell.articles, cell.numbers[:, :, 0].mean(axis=0), strict=True)) for key, cell in cells.items()}
    versus = _comparisons(all_cells, seed)
    return tuple(
        _score(key, cells[key], versus.get(key, {}), _gap_closed(key, f1), training_f1.get(key[1:]))
        for key in sorted(cells, key=lambda key: _order(key, cells[key].kind))
    )


_Key: TypeAlias = tuple[str, str, int]
"""Dataset, system without its seed, n."""


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """A system at one n: `numbers` are float64 of shape (seeds, articles, metrics and repeated words).

    `seeds` is empty for a system without seeds, whose numbers stand as if it had one. `points` are of the first seed.
    """

    articles: tuple[str, ...]
    seeds: tuple[int, ...]
    points: tuple[Point, ...]
    numbers: NDArray[np.float64]
    comparable: bool = False

    @property
    def kind(self) -> SystemKind:
        return self.points[0].kind


def _order(key: _Key, kind: SystemKind) -> tuple[str, int, str, int]:
    dataset, system, n = key
    place = {"upper bound": 3, "control": 2, "system": 0 if system.startswith(POLICY) else 1}
    return dataset, place[kind], system, n


def _score(
    key: _Key, cell: _Cell, versus: Mapping[str, PairedLength], gap_closed: float | None, training_f1: float | None
) -> SystemScore:
    dataset, system, n = key
    f1, rouge1, rouge2, rougel, efficiency, density, repeated_words = cell.numbers.mean(axis=(0, 1)).tolist()
    return SystemScore(
        dataset=dataset,
        system=system,
        kind=cell.kind,
        n=n,
        articles=len(cell.articles),
        seeds=dict(zip(cell.seeds, cell.numbers[:, :, 0].mean(axis=1).tolist(), strict=True)) if cell.seeds else {},
        bertscore_f1=f1,
        rouge1_f1=rouge1,
        rouge2_f1=rouge2,
        rougel_f1=rougel,
        efficiency=efficiency,
        density=density,
        repeated_words=repeated_words,
        comparable=cell.comparable,
        versus=versus,
        gap_closed=gap_closed,
        training_f1=training_f1,
    )


def _cells(points: Sequence[Point]) -> dict[_Key, _Cell]:
    found: dict[_Key, dict[int | None, dict[str, Point]]] = {}
    for point in points:
        system, seed = split_seed(point.system)
        found.setdefault((point.dataset, system, point.n), {}).setdefault(seed, {})[point.article_id] = point
    cells = {}
    for key, by_seed in found.items():
        articles = tuple(sorted(set.intersection(*(set(of_seed) for of_seed in by_seed.values()))))
        if articles:
            rows = [[by_seed[seed][article] for article in articles] for seed in sorted(by_seed, key=lambda s: s or 0)]
            numbers = np.array([[_numbers(point) for point in row] for row in rows], dtype=np.float64)
            seeds = tuple(sorted(seed for seed in by_seed if seed is not None))
            cells[key] = _Cell(articles, seeds, tuple(rows[0]), numbers)
    return cells


def _numbers(point: Point) -> list[float]:
    return [*(getattr(point, metric) for metric in _METRICS), repeated_word_share(point.text or "")]


def _on_equal_articles(cells: Mapping[_Key, _Cell]) -> dict[_Key, _Cell]:
    """The cells of one dataset and n cut to the articles that all of them have, but for those that lack too many."""
    cut = {}
    for place in {(dataset, n) for dataset, _, n in cells}:
        here = {key: cell for key, cell in cells.items() if (key[0], key[2]) == place}
        articles = sorted({article for cell in here.values() for article in cell.articles})
        present = np.array([np.isin(articles, cell.articles) for cell in here.values()])
        comparable, common = comparable_articles(present)
        chosen = {article for article, is_common in zip(articles, common, strict=True) if is_common}
        for (key, cell), fits in zip(here.items(), comparable, strict=True):
            cut[key] = _only(cell, chosen) if fits else cell
    return cut


def _only(cell: _Cell, articles: Container[str]) -> _Cell:
    kept = [i for i, article in enumerate(cell.articles) if article in articles]
    return replace(
        cell,
        articles=tuple(cell.articles[i] for i in kept),
        points=tuple(cell.points[i] for i in kept),
        numbers=cell.numbers[:, kept],
        comparable=True,
    )


def _comparisons(cells: Mapping[_Key, _Cell], seed: int) -> dict[_Key, dict[str, PairedLength]]:
    """What `compare_systems` finds when the seeds of a policy are one system."""
    points = [
        _averaged(point, system, means[: len(_METRICS)].tolist())
        for (_, system, _), cell in cells.items()
        for point, means in zip(cell.points, cell.numbers.mean(axis=0), strict=True)
    ]
    systems = sorted({system for (_, system, _), cell in cells.items() if cell.kind != "upper bound"})
    pairs = [(system, other) for system in systems for other in COMPARED if system != other]
    versus: dict[_Key, dict[str, PairedLength]] = {}
    for comparison in compare_systems(points, points, pairs, seed=seed):
        for at in comparison.lengths:
            versus.setdefault((comparison.dataset, comparison.a, at.n), {})[comparison.b] = at
    return versus


def _gap_closed(key: _Key, f1: Mapping[_Key, Mapping[str, float]]) -> float | None:
    dataset, system, n = key
    textrank, oracle = (f1.get((dataset, other, n), {}) for other in (TEXTRANK, ORACLE))
    common = sorted(f1[key].keys() & textrank.keys() & oracle.keys())
    if not common or system in (TEXTRANK, ORACLE):
        return None
    mean, lowest, highest = (float(np.mean([of[article] for article in common])) for of in (f1[key], textrank, oracle))
    return (mean - lowest) / (highest - lowest) if highest > lowest else None
