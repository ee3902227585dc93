"""How good trained policies are on articles they were not trained on: over seeds, and beside other systems.

A training is repeated with other seeds, and each policy that comes out is a system of the run:
`policy|reinforce|seed=0`, `policy|reinforce|seed=1`, … Here they are one system, `policy|reinforce`: its score on an
article is the mean over its seeds. The paired intervals resample articles, so the luck of the seed is not in them.
"""

import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nws.core.analysis.curves import comparable_articles
from nws.core.analysis.grids import build_axes
from nws.core.analysis.intervals import Interval, mean_interval
from nws.core.analysis.paired import PairedLength, compare_systems
from nws.core.analysis.points import LEAD, NO_TEXT, POLICY, Metric, Points, elsewhere, short_articles
from nws.core.metrics.specs import METRICS
from nws.core.types import UNTRAINED, SystemKind

TEXTRANK = "textrank"
ORACLE = "oracle"
LEAD_SEARCH = "lead3-search"
COMPARED = (UNTRAINED, "lead2+chunks", LEAD_SEARCH, TEXTRANK, LEAD)
"""The systems that others are compared with. Policies alone are with `UNTRAINED`, which writes as they do."""

_SEED = re.compile(r"(policy\|.+)\|seed=(-?\d+)(?:\|n=\d+)?")


def split_seed(name: str) -> tuple[str, int | None]:
    """A policy's system without its seed, and the seed: `policy|reinforce|seed=0` is (`policy|reinforce`, 0).

    A final `|n=7`, which marks one of several parts, is left out. Any other name is returned as it is, without a seed.
    """
    match = _SEED.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, None)


def mean_over_seeds(points: Points, method: str) -> Points:
    """The policies of a method as one system: the mean of each metric over its seeds, where all have a summary.

    Args:
        points: of one run.
        method: such as `policy|reinforce`.
    """
    policies = points.take(np.array([split_seed(name)[0] == method for name in points.systems])[points.system])
    means = Points.together([_means(key, cell) for key, cell in _cells(policies).items()])
    if points.article_characters is None:
        return means
    characters = dict(zip(points.articles, points.article_characters.tolist(), strict=True))
    of_articles = np.array([characters[article] for article in means.articles], dtype=np.int32)
    return replace(means, article_characters=of_articles)


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system on the `articles` test articles of a dataset at n words: means over articles.

    Attributes:
        score: the mean of the metric that `policy_scores` was asked for, with its 95 % interval over articles.
        seeds: for a policy, the mean of each of its seeds. Empty for any other system. Here and in every other number,
            only articles count for which all seeds have a summary.
        means: over its seeds and articles, by each of `METRICS`.
        words: mean number of words of the summaries. Most systems write n.
        repeated_words: share of words that occurred earlier in the summary (`repeated_word_share`).
        comparable: whether it may be compared with the others at this n. All comparable systems are judged on the same
            articles (`comparable_articles`), any other system on all that it has.
        versus: this system minus others of `COMPARED`, by name, paired over the articles that both have. Empty for an
            upper bound.
        gap_closed: share of the way from `textrank` to `oracle`, (score - textrank's) / (oracle's - textrank's), over
            the articles that all three have. None for these two systems, if one of them is missing, and if the oracle
            is not above textrank.
        training_f1: mean F1 on the articles the policy learned from, where it is known.
    """

    dataset: str
    system: str
    kind: SystemKind
    n: int
    articles: int
    score: Interval
    seeds: Mapping[int, float]
    means: Mapping[Metric, float]
    words: float
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
        return None if self.training_f1 is None else self.means["bertscore_f1"] - self.training_f1


def policy_scores(
    points: Points,
    training_f1: Mapping[tuple[str, int], float],
    metric: Metric = "bertscore_f1",
) -> tuple[SystemScore, ...]:
    """A score for every dataset, system and n; datasets by name, policies first, upper bounds last, n rising.

    Args:
        points: of one run, with every metric and their shares of repeated words. Uncut summaries (n = 0) are left out,
            and so are articles of fewer than n words.
        training_f1: mean F1 on training articles, by system (without seed) and n.
        metric: what seeds, differences and gaps are in.

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    # Of an article with fewer words than n every system has to write the whole.
    points = points.take((points.n > 0) & elsewhere(points, short_articles(points)))
    all_cells = _cells(points)
    cells = _on_equal_articles(all_cells)
    scores = {
        key: dict(zip(cell.articles, cell.scores(metric).mean(axis=0), strict=True)) for key, cell in cells.items()
    }
    versus = _comparisons(all_cells, metric)
    return tuple(
        _score(key, cells[key], metric, versus.get(key, {}), _gap_closed(key, scores), training_f1.get(key[1:]))
        for key in sorted(cells, key=lambda key: _order(key, cells[key].kind))
    )


_Key: TypeAlias = tuple[str, str, int]
"""Dataset, system without its seed, n."""


@dataclass(frozen=True, slots=True, eq=False)
class _OnTest:
    """A system at one n: `numbers` are float64 of shape (seeds, articles, columns).

    The columns are `metrics`, words, and the share of repeated words if there is one. `seeds` is empty for a system
    without seeds; its numbers then have a first axis of length 1.
    """

    articles: tuple[str, ...]
    seeds: tuple[int, ...]
    kind: SystemKind
    numbers: NDArray[np.float64]
    metrics: tuple[Metric, ...]
    comparable: bool = False

    def scores(self, metric: Metric) -> NDArray[np.float64]:
        """The scores by one metric, (seeds, articles)."""
        return np.asarray(self.numbers[:, :, self.metrics.index(metric)])


def _order(key: _Key, kind: SystemKind) -> tuple[str, int, str, int]:
    dataset, system, n = key
    place = {"upper bound": 3, "control": 2, "system": 0 if system.startswith(POLICY) else 1}
    return dataset, place[kind], system, n


def _score(
    key: _Key,
    cell: _OnTest,
    metric: Metric,
    versus: Mapping[str, PairedLength],
    gap_closed: float | None,
    training_f1: float | None,
) -> SystemScore:
    dataset, system, n = key
    *means, words, repeated_words = cell.numbers.mean(axis=(0, 1)).tolist()
    return SystemScore(
        dataset=dataset,
        system=system,
        kind=cell.kind,
        n=n,
        articles=len(cell.articles),
        score=mean_interval(cell.scores(metric).mean(axis=0)),
        seeds=dict(zip(cell.seeds, cell.scores(metric).mean(axis=1).tolist(), strict=True)) if cell.seeds else {},
        means={name: mean for name, mean in zip(cell.metrics, means, strict=True) if name in METRICS},
        words=words,
        repeated_words=repeated_words,
        comparable=cell.comparable,
        versus=versus,
        gap_closed=gap_closed,
        training_f1=training_f1,
    )


def _cells(points: Points) -> dict[_Key, _OnTest]:
    cells = {}
    metrics = tuple(points.scores)
    columns = [*points.scores.values(), points.words.astype(np.float64)]
    if points.repeated_words is not None:
        columns.append(points.repeated_words)
    for axes in build_axes(points):
        present = axes.present
        values = np.stack([axes.placed(column, np.float64(np.nan)) for column in columns], axis=-1)
        methods: dict[str, list[int]] = {}
        for s, name in enumerate(axes.systems):
            methods.setdefault(split_seed(name)[0], []).append(s)
        for system, policies in methods.items():
            for k, n in enumerate(axes.lengths):
                with_summaries = [(split_seed(axes.systems[s])[1], s) for s in policies if present[s, k].any()]
                rows = [s for _, s in sorted(with_summaries, key=lambda seed_and_row: seed_and_row[0] or 0)]
                common = np.flatnonzero(present[rows, k].all(axis=0)) if rows else np.array([], dtype=np.intp)
                if common.size:
                    articles = tuple(axes.articles[i] for i in common.tolist())
                    seeds = tuple(sorted(seed for seed, _ in with_summaries if seed is not None))
                    numbers = np.ascontiguousarray(values[rows, k][:, common])
                    cells[axes.dataset, system, n] = _OnTest(articles, seeds, axes.kinds[rows[0]], numbers, metrics)
    return cells


def _means(key: _Key, cell: _OnTest) -> Points:
    """The means over seeds as points."""
    dataset, system, n = key
    count, means = len(cell.articles), cell.numbers.mean(axis=0)
    return Points(
        systems=(system,),
        kinds=(cell.kind,),
        articles=tuple((dataset, article) for article in cell.articles),
        system=np.zeros(count, dtype=np.int32),
        article=np.arange(count, dtype=np.int32),
        n=np.full(count, n, dtype=np.int32),
        words=np.rint(means[:, len(cell.metrics)]).astype(np.int32),
        text=np.full(count, NO_TEXT, dtype=np.int64),
        scores={name: means[:, i] for i, name in enumerate(cell.metrics)},
    )


def _on_equal_articles(cells: Mapping[_Key, _OnTest]) -> dict[_Key, _OnTest]:
    """The cells, cut to the articles that all cells of one dataset and n have. Cells that lack too many stay whole."""
    cut = {}
    for place in {(dataset, n) for dataset, _, n in cells}:
        group = {key: cell for key, cell in cells.items() if (key[0], key[2]) == place}
        articles = sorted({article for cell in group.values() for article in cell.articles})
        present = np.array([np.isin(articles, cell.articles) for cell in group.values()])
        comparable, common = comparable_articles(present)
        for (key, cell), fits in zip(group.items(), comparable, strict=True):
            chosen = np.isin(cell.articles, np.array(articles)[common])
            kept = tuple(np.array(cell.articles)[chosen].tolist())
            numbers = cell.numbers[:, chosen]
            cut[key] = replace(cell, articles=kept, numbers=numbers, comparable=True) if fits else cell
    return cut


def _comparisons(cells: Mapping[_Key, _OnTest], metric: Metric) -> dict[_Key, dict[str, PairedLength]]:
    """The results of `compare_systems` when the seeds of a policy are one system."""
    points = Points.together([_means(key, cell) for key, cell in cells.items()])
    systems = sorted({system for (_, system, _), cell in cells.items() if cell.kind != "upper bound"})
    pairs = [(system, compared) for system in systems for compared in compared_with(system) if system != compared]
    versus: dict[_Key, dict[str, PairedLength]] = {}
    for comparison in compare_systems(points, points, pairs, metric):
        for length in comparison.lengths:
            name = comparison.b.partition("|")[0]
            versus.setdefault((comparison.dataset, comparison.a, length.n), {})[name] = length
    return versus


def compared_with(system: str) -> Iterator[str]:
    """The signatures of the systems of `COMPARED` that one is compared with."""
    for name in COMPARED:
        if name != UNTRAINED:
            yield name
        elif system.startswith(POLICY):
            _, _, *decoding = system.split("|")
            yield "|".join((UNTRAINED, *(decoding or ["greedy"])))  # the names of greedy policies have none


def _gap_closed(key: _Key, scores: Mapping[_Key, Mapping[str, float]]) -> float | None:
    dataset, system, n = key
    textrank, oracle = (scores.get((dataset, name, n), {}) for name in (TEXTRANK, ORACLE))
    common = sorted(scores[key].keys() & textrank.keys() & oracle.keys())
    if not common or system in (TEXTRANK, ORACLE):
        return None
    mean, lowest, highest = (
        float(np.mean([by_article[article] for article in common])) for by_article in (scores[key], textrank, oracle)
    )
    return (mean - lowest) / (highest - lowest) if highest > lowest else None
