"""What a report of a sweep knows of content kept: shares by n, the smallest n for a share, and as JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.analysis import (
    Comparison,
    Point,
    Points,
    Uncut,
    compare_all_pairs,
    compare_systems,
    pairs_with_lead,
    uncut_scores,
)
from core.analysis.content_kept import KEPT, Ceiling, ContentKept, SmallestN, content_kept
from core.text.length import LengthUnit
from jobs.report.numbers import kind_flags
from jobs.report.sweep.edges import edge_of
from jobs.terminal.system_names import FULL_NAMES, SystemNames


@dataclass(frozen=True, slots=True)
class KeptNumbers:
    """What the systems of a run keep.

    Attributes:
        is_scored: whether the run has the metric at all. A summary may lack it even then (see `core.metrics.specs`).
        of_systems: by dataset, system and ceiling.
        uncut: what summaries of their own length keep, such as another person's whole one.
        vs_lead: every system minus `lead` in content kept, at equal n; empty in a run without `lead`.
        all_pairs: every two systems at one n (see `core.analysis.compare_all_pairs`).
        names: what systems are called where people read.
    """

    is_scored: bool
    of_systems: tuple[ContentKept, ...] = ()
    uncut: tuple[Uncut, ...] = ()
    vs_lead: tuple[Comparison, ...] = ()
    all_pairs: tuple[Comparison, ...] = ()
    names: SystemNames = FULL_NAMES

    @property
    def length_unit(self) -> LengthUnit:
        """What n counts."""
        return self.of_systems[0].length_unit if self.of_systems else "words"

    @property
    def datasets(self) -> tuple[str, ...]:
        """Those with shares by n, in alphabetical order."""
        return tuple(sorted({kept.dataset for kept in self.of_systems}))

    def of(self, dataset: str) -> dict[str, dict[Ceiling, ContentKept]]:
        """By system and ceiling."""
        by_system: dict[str, dict[Ceiling, ContentKept]] = {}
        for kept in self.of_systems:
            if kept.dataset == dataset:
                by_system.setdefault(kept.system, {})[kept.of] = kept
        return by_system

    def vs_lead_of(self, dataset: str, system: str) -> Comparison | None:
        """A system minus `lead`; None where there is no `lead`, or it is one of those that nobody compares with it."""
        found = (one for one in self.vs_lead if (one.dataset, one.a) == (dataset, system))
        return next(found, None)

    def compared(self, dataset: str, system: str) -> tuple[int | None, dict[str, bool | None]]:
        """At which n a system was compared with the others, and whether it keeps more than each; None: unclear."""
        n, found = None, dict[str, bool | None]()
        for one in self.all_pairs:
            if one.dataset == dataset and system in (one.a, one.b):
                at = one.lengths[0]
                other, is_above = (one.b, at.better) if one.a == system else (one.a, at.worse)
                n, found[other] = at.n, is_above if at.significant else None
        return n, found

    def uncut_of(self, dataset: str) -> dict[str, Uncut]:
        """By system."""
        return {uncut.system: uncut for uncut in self.uncut if uncut.dataset == dataset}


NOT_SCORED = KeptNumbers(is_scored=False)
"""Of a run without the metric."""


def kept_numbers(points: Points | Iterable[Point], names: SystemNames = FULL_NAMES) -> KeptNumbers:
    """What there is to say of points, with or without the metric.

    Raises:
        StoreError: the points are not those of one run.
    """
    points = Points.of(points)
    if KEPT not in points.scores:
        return NOT_SCORED
    scored = points.take(~np.isnan(points.scores[KEPT]))
    vs_lead = compare_systems(scored, scored, pairs_with_lead(scored), KEPT)
    all_pairs = compare_all_pairs(scored, KEPT)
    return KeptNumbers(True, content_kept(scored), uncut_scores(scored, KEPT), vs_lead, all_pairs, names)


def smallest_of(kept: ContentKept) -> dict[float, SmallestN]:
    """By share."""
    return {smallest.x: smallest for smallest in kept.smallest}


def kept_json(numbers: KeptNumbers) -> list[dict[str, Any]]:
    """For each dataset, system and ceiling, as plain JSON values. Shares are of the ceiling: 1 is all of it."""
    return [
        {
            "dataset": kept.dataset,
            "system": kept.system,
            **kind_flags(kept.kind),
            "of": kept.of,
            "unit": kept.length_unit,
            "longest": kept.longest,
            "articles": kept.articles,
            "dropped": kept.dropped,
            "lengths": [
                {"n": at.n, "share": at.share.mean, "low": at.share.low, "high": at.share.high, "articles": at.articles}
                for at in kept.lengths
            ],
            "smallest_n": {f"{smallest.x:g}": _smallest_json(kept, smallest) for smallest in kept.smallest},
        }
        for kept in numbers.of_systems
    ]


def _smallest_json(kept: ContentKept, smallest: SmallestN) -> Mapping[str, Any]:
    return {
        "n": smallest.n,
        "low": smallest.low,
        "high": smallest.high,
        "claimed": smallest.claimed,
        "at": edge_of(kept, smallest.n),
        "articles_for_one_step": smallest.articles_for_one_step,
    }
