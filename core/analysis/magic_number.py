"""Which n? Three answers a sweep can give, from the naive to the one that discounts length.

Best n per article and best n by mean are bare arg-max over n. As F1 rises with n even for words drawn at
random, both are partly a length artefact. The gain over `random` at equal n is not: every article is
compared with a control of the same length, and the recommendation comes from that alone.

The largest gain is picked from the articles it is then compared on, and nothing corrects for the number of
n: take the recommended set as "these articles cannot tell it from the best", not as a test of each n.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.analysis.bootstrap import Interval, mean_intervals
from core.analysis.points import LEAD, RANDOM, Grid, Metric, Point, build_grids
from core.types import SystemKind


@dataclass(frozen=True, slots=True)
class Gain:
    """What a system has over `random` at equal n: the mean of the per-article differences, and its interval.

    `behind` is how far that is below the system's largest mean gain, paired by article as well. `over_lead` is the
    same difference from `lead`, None where the run has no `lead` at that n.
    """

    n: int
    gain: Interval
    behind: Interval
    over_lead: Interval | None = None

    @property
    def recommended(self) -> bool:
        """Above 0, and not significantly below the largest gain."""
        return self.gain.above_zero and not self.behind.above_zero


@dataclass(frozen=True, slots=True)
class MagicNumber:
    """Which n suits one system on one dataset.

    All numbers are over the same `articles`: those with a summary at every n by the system and by `random`
    (where the run has it). `dropped` others have only some. `short` names the articles with a summary of
    fewer words than n; they stay in, as what the system could do.

    Bare arg-max: `best_per_article` (n to the share of articles whose F1 is highest there, ties to the
    smaller n), its `median`, and `best_by_mean`; empty or None without articles. `recommended` holds every
    n that beats `random` and is not significantly below the largest gain; `verdict` says it, or why there
    is none. An upper bound saw the reference: it is never recommended, and not compared with `lead`.
    """

    dataset: str
    system: str
    kind: SystemKind
    articles: int
    dropped: int
    short: tuple[str, ...]
    best_per_article: Mapping[int, float]
    median: float | None
    best_by_mean: int | None
    gains: tuple[Gain, ...]
    recommended: tuple[int, ...]
    verdict: str

    @property
    def better_than_lead(self) -> tuple[int, ...]:
        """The n at which the system is above `lead`, its paired interval excluding 0."""
        return tuple(gain.n for gain in self.gains if gain.over_lead and gain.over_lead.low > 0)

    @property
    def worse_than_lead(self) -> tuple[int, ...]:
        """The n at which the system is below `lead`, its paired interval excluding 0."""
        return tuple(gain.n for gain in self.gains if gain.over_lead and gain.over_lead.high < 0)

    @property
    def most_frequent(self) -> int | None:
        """The n that is best for most articles; the smallest of equals."""
        return max(self.best_per_article, key=lambda n: (self.best_per_article[n], -n), default=None)

    @property
    def largest_gain(self) -> Gain | None:
        """The n with the largest mean gain; the smallest of equals."""
        return max(self.gains, key=lambda gain: (gain.gain.mean, -gain.n), default=None)


def magic_numbers(points: Iterable[Point], metric: Metric = "bertscore_f1", *, seed: int) -> tuple[MagicNumber, ...]:
    """A `MagicNumber` per dataset and system, in the order of `system_order`; uncut summaries are left out.

    Raises:
        StoreError: the points are not those of one run (see `build_grids`).
    """
    return tuple(
        number
        for grid in build_grids((point for point in points if point.n > 0), metric)
        for number in _magic_numbers(grid, seed)
    )


def lengths_text(tested: tuple[int, ...], chosen: tuple[int, ...]) -> str:
    """`chosen` as ranges over the `tested` lengths: of 1, 3, 5, 7, 9, the lengths 1, 3, 5 and 9 are "1–5, 9"."""
    runs: list[list[int]] = []
    for n in tested:
        if n not in chosen:
            runs.append([])
        elif runs and runs[-1]:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs if run)


@dataclass(frozen=True, slots=True, eq=False)
class _Pairing:
    """One system beside `random`: which lengths and articles take part."""

    system: int
    lengths: NDArray[np.intp]
    compared: NDArray[np.intp]
    articles: NDArray[np.bool_]
    dropped: int


def _magic_numbers(grid: Grid, seed: int) -> list[MagicNumber]:
    pairings = [_pair(grid, system) for system in range(len(grid.systems))]
    # One bootstrap for all systems: the same resampled articles for each, and most of the time saved.
    columns = [_gain_columns(grid, pairing) for pairing in pairings]
    intervals = iter(mean_intervals(np.concatenate(columns, axis=1), seed))
    over_lead = _over_lead(grid, seed)
    numbers = []
    for pairing, block in zip(pairings, columns, strict=True):
        found = [next(intervals) for _ in range(block.shape[1])]
        half = len(found) // 2
        gains = tuple(
            Gain(grid.lengths[k], gain, behind, over_lead.get((pairing.system, int(k))))
            for k, gain, behind in zip(pairing.compared[:half], found[:half], found[half:], strict=True)
        )
        numbers.append(_magic_number(grid, pairing, gains))
    return numbers


def _over_lead(grid: Grid, seed: int) -> dict[tuple[int, int], Interval]:
    """By system and length, what the system has over `lead`, over the articles that have both."""
    if LEAD not in grid.systems:
        return {}
    differences = grid.values - grid.values[grid.systems.index(LEAD)]
    cells = [(s, k) for s, k in np.argwhere(~np.isnan(differences).all(axis=2)) if grid.kinds[s] == "system"]
    if not cells:
        return {}
    columns = differences[[s for s, _ in cells], [k for _, k in cells]].T
    return {(int(s), int(k)): found for (s, k), found in zip(cells, mean_intervals(columns, seed), strict=True)}


def _pair(grid: Grid, system: int) -> _Pairing:
    present = grid.present
    lengths = np.flatnonzero(present[system].any(axis=1))
    compared = np.array([], dtype=np.intp)
    complete, some = present[system, lengths].all(axis=0), present[system].any(axis=0)
    if RANDOM in grid.systems and grid.systems[system] != RANDOM:
        control = present[grid.systems.index(RANDOM)]
        compared = lengths[control[lengths].any(axis=1)]
        complete = complete & control[compared].all(axis=0)
        some = some | control[compared].any(axis=0)
    return _Pairing(system, lengths, compared, complete, int(some.sum() - complete.sum()))


def _gain_columns(grid: Grid, pairing: _Pairing) -> NDArray[np.float64]:
    """Shape (articles, 2 x compared lengths): gains over `random`, then how far behind the largest."""
    if not pairing.compared.size or not pairing.articles.any():
        return np.empty((len(grid.articles), 0))
    random = grid.values[grid.systems.index(RANDOM), pairing.compared]
    gains = np.where(pairing.articles, grid.values[pairing.system, pairing.compared] - random, np.nan).T
    largest = int(np.argmax(gains[pairing.articles].mean(axis=0)))
    return np.concatenate([gains, gains[:, [largest]] - gains], axis=1)


def _magic_number(grid: Grid, pairing: _Pairing, gains: tuple[Gain, ...]) -> MagicNumber:
    system, kind = grid.systems[pairing.system], grid.kinds[pairing.system]
    lengths = np.array(grid.lengths)[pairing.lengths]
    articles = int(pairing.articles.sum())
    shares: dict[int, float] = {}
    median = best_by_mean = None
    if articles:
        scores = grid.values[pairing.system, pairing.lengths][:, pairing.articles]
        best = lengths[np.argmax(scores, axis=0)]
        shares = {int(n): float(np.mean(best == n)) for n in lengths}
        median = float(np.median(best))
        best_by_mean = int(lengths[np.argmax(scores.mean(axis=1))])
    short = (grid.words[pairing.system] < np.array(grid.lengths)[:, None]) & grid.present[pairing.system]
    # One article has no spread to resample: its interval would call any gain certain.
    is_candidate = articles > 1 and kind != "upper bound"
    recommended = tuple(gain.n for gain in gains if gain.recommended and is_candidate)
    return MagicNumber(
        dataset=grid.dataset,
        system=system,
        kind=kind,
        articles=articles,
        dropped=pairing.dropped,
        short=tuple(grid.articles[i] for i in np.flatnonzero(short.any(axis=0))),
        best_per_article=shares,
        median=median,
        best_by_mean=best_by_mean,
        gains=gains,
        recommended=recommended,
        verdict=_verdict(grid, system, kind, articles, gains, recommended),
    )


def _verdict(
    grid: Grid, system: str, kind: SystemKind, articles: int, gains: tuple[Gain, ...], recommended: tuple[int, ...]
) -> str:
    if kind == "upper bound":
        return "is an upper bound: it saw the reference"
    if recommended:
        return lengths_text(tuple(gain.n for gain in gains), recommended)
    if system == RANDOM:
        return "is the control"
    if RANDOM not in grid.systems:
        return f"unknown: the run has no {RANDOM}"
    if not articles:
        return f"unknown: no article has every n here and in {RANDOM}"
    if not gains:
        return f"unknown: {RANDOM} was run at other n"
    if articles == 1:
        return "unknown: one article"
    if any(gain.gain.above_zero for gain in gains):
        return f"unclear: no n is above {RANDOM} and near the largest gain"
    return f"none: does not beat {RANDOM} at any n"
