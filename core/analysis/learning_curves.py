"""How policies learned: means over windows of updates, and over seeds."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from nws.core.findings.policy_findings import WINDOWS, Band, LearningLine, split_seed
from nws.core.types import POLICY, CurveRow

_TENTHS = 10


def learning_lines(curve: Sequence[CurveRow]) -> tuple[LearningLine, ...]:
    """A line for each method and n, methods by name, n rising. The order of the rows does not matter."""
    updates: dict[str, int] = {}
    for row in curve:
        system = _system(row)
        updates[system] = max(updates.get(system, 0), row.update_number + 1)
    rows = sorted(curve, key=lambda row: (_system(row), row.n, row.seed, row.update_number))
    return tuple(
        _line(system, n, list(line_rows), updates[system])
        for (system, n), line_rows in groupby(rows, key=lambda row: (_system(row), row.n))
    )


def _system(row: CurveRow) -> str:
    return split_seed(POLICY + row.policy)[0]


def _line(system: str, n: int, rows: list[CurveRow], updates: int) -> LearningLine:
    count = min(WINDOWS, updates)
    reward, baseline, entropy = (
        _windows(rows, [getattr(row, name) for row in rows], updates, count)
        for name in ("reward", "advantage_baseline", "entropy")
    )
    seen = ~np.isnan(reward).all(axis=0)
    middles = (np.arange(count) + 0.5) * updates / count - 0.5
    tenths = _windows(rows, [row.reward for row in rows], updates, min(_TENTHS, updates))
    by_tenth = _band(tenths[:, ~np.isnan(tenths).all(axis=0)]).mean
    return LearningLine(
        system=system,
        n=n,
        seeds=tuple(sorted({row.seed for row in rows})),
        updates=updates,
        x=tuple(middles[seen].tolist()),
        reward=_band(reward[:, seen]),
        advantage_baseline=_band(baseline[:, seen]),
        entropy=_band(entropy[:, seen]),
        first_reward=by_tenth[0],
        last_reward=by_tenth[-1],
    )


def _windows(rows: Sequence[CurveRow], values: Sequence[float], updates: int, count: int) -> NDArray[np.float64]:
    """Means over the episodes of each of `count` equal windows: float64, (seeds, windows), NaN where there are none."""
    seeds = sorted({row.seed for row in rows})
    at = [seeds.index(row.seed) for row in rows], [row.update_number * count // updates for row in rows]
    episodes = np.array([row.episodes for row in rows], dtype=np.float64)
    sums, weights = np.zeros((2, len(seeds), count))
    np.add.at(sums, at, episodes * values)
    np.add.at(weights, at, episodes)
    return np.divide(sums, weights, out=np.full_like(sums, np.nan), where=weights > 0)


def _band(values: NDArray[np.float64]) -> Band:
    """Over seeds, those that have the window; every window has one."""
    return Band(*(tuple(over(values, axis=0).tolist()) for over in (np.nanmean, np.nanmin, np.nanmax)))
