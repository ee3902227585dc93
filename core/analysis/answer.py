"""The answer of a run: how much of the content its systems keep with how many words, and which keep more than others.

The smallest n and its claims are decided in `nws.core.analysis.content_kept`, and gathered here. The answer is computed
once, when the run ends, and stored. Of a run in work, and of several runs together, it is computed from their points by
the same function.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from nws.core.analysis.content_kept import content_kept
from nws.core.analysis.curves import uncut_scores
from nws.core.analysis.late_gains import late_gains
from nws.core.analysis.own_length import compare_at_own_length, pairs_at_own_length
from nws.core.analysis.own_words import own_words
from nws.core.analysis.paired import compare_all_pairs, compare_systems
from nws.core.analysis.points import Points, pairs_with_lead
from nws.core.findings.comparisons import Comparison, Overtaking
from nws.core.findings.content import KEPT, Ceiling, ContentKept, LateGain, OwnWords
from nws.core.findings.scores import Uncut
from nws.core.text.length import LengthUnit
from nws.core.types import LEAD, RANDOM


@dataclass(frozen=True, slots=True)
class Answer:
    """The content that the systems of a run keep, and which of them keep more than others.

    Attributes:
        of_systems: by dataset, system and ceiling.
        uncut: what summaries of their own length keep, such as another person's whole one.
        vs_lead: every system minus `lead` in content kept, at equal n; empty in a run without `lead`.
        all_pairs: every two systems at one n (see `compare_all_pairs`).
        reference_lengths: see `Points`.

    Answers of older stores lack the others:
        own_length: systems at their own length, minus others with as many words (see `compare_at_own_length`).
        lead_vs_random: `lead` minus `random`, at equal n.
        late_gains: what more words still add (see `late_gains`).
        own_words: systems that write words which are not the article's.
    """

    of_systems: tuple[ContentKept, ...] = ()
    uncut: tuple[Uncut, ...] = ()
    vs_lead: tuple[Comparison, ...] = ()
    all_pairs: tuple[Comparison, ...] = ()
    reference_lengths: Mapping[str, float] = field(default_factory=dict)
    own_length: tuple[Comparison, ...] = ()
    lead_vs_random: tuple[Comparison, ...] = ()
    late_gains: tuple[LateGain, ...] = ()
    own_words: tuple[OwnWords, ...] = ()

    @property
    def length_unit(self) -> LengthUnit:
        """The unit of n."""
        return self.of_systems[0].length_unit if self.of_systems else "words"

    @property
    def datasets(self) -> tuple[str, ...]:
        """Datasets with shares by n, in alphabetical order."""
        return tuple(sorted({kept.dataset for kept in self.of_systems}))

    @property
    def systems(self) -> tuple[str, ...]:
        """Every system with a score, in alphabetical order."""
        return tuple(sorted({kept.system for kept in self.of_systems} | {uncut.system for uncut in self.uncut}))

    def of(self, dataset: str) -> dict[str, dict[Ceiling, ContentKept]]:
        """By system and ceiling."""
        by_system: dict[str, dict[Ceiling, ContentKept]] = {}
        for kept in self.of_systems:
            if kept.dataset == dataset:
                by_system.setdefault(kept.system, {})[kept.of] = kept
        return by_system

    def vs_lead_of(self, dataset: str, system: str) -> Comparison | None:
        """A system minus `lead`; None where there is no `lead`, or it is one of those that nobody compares with it."""
        return next((pair for pair in self.vs_lead if (pair.dataset, pair.a) == (dataset, system)), None)

    def compared(self, dataset: str, system: str) -> tuple[int | None, dict[str, bool | None]]:
        """At which n a system was compared with the others, and whether it keeps more than each; None: unclear."""
        n, keeps_more = None, dict[str, bool | None]()
        for pair in self.all_pairs:
            if pair.dataset == dataset and system in (pair.a, pair.b):
                length = pair.lengths[0]
                other, is_above = (pair.b, length.better) if pair.a == system else (pair.a, length.worse)
                n, keeps_more[other] = length.n, is_above if length.significant else None
        return n, keeps_more

    def overtakings(self, dataset: str) -> list[Overtaking]:
        """Where `lead` overtakes systems, shown or not, in alphabetical order of the systems."""
        of_dataset = [pair for pair in self.vs_lead if pair.dataset == dataset]
        found = (pair.overtaking for pair in sorted(of_dataset, key=lambda pair: pair.a))
        return [overtaking for overtaking in found if overtaking is not None]

    def uncut_of(self, dataset: str) -> dict[str, Uncut]:
        """By system."""
        return {uncut.system: uncut for uncut in self.uncut if uncut.dataset == dataset}

    def share_rows(self) -> list[dict[str, Any]]:
        """A row for each dataset, system, ceiling (`of`) and n; `n` is 0 for summaries of a system's own length."""
        shares = (
            (kept, kept.of, length.n, length.share, length.articles, length.words)
            for kept in self.of_systems
            for length in kept.lengths
        )
        uncut = ((uncut, "reference", 0, uncut.score, uncut.articles, uncut.words) for uncut in self.uncut)
        return [
            {"dataset": whose.dataset, "system": whose.system, "kind": whose.kind, "of": ceiling, "n": n}
            | {"share": share.mean, "low": share.low, "high": share.high, "articles": articles, "words": words}
            for whose, ceiling, n, share, articles, words in chain[Any](shares, uncut)
        ]

    def own_length_rows(self) -> list[dict[str, Any]]:
        """A row for each dataset, system `a` at its own length, and system `b` with as many words; `n` is 0.

        `only_a` counts the articles of which no summary by b is as long.
        """
        return [row for pair in self.own_length for row in pair.rows()]

    def smallest_rows(self) -> list[dict[str, Any]]:
        """A row for each dataset, system, ceiling (`of`) and share `x`: the smallest n from which on it is kept."""
        return [
            {"dataset": kept.dataset, "system": kept.system, "kind": kept.kind, "of": kept.of, "longest": kept.longest}
            | asdict(smallest)
            for kept in self.of_systems
            for smallest in kept.smallest
        ]


def answer_of(points: Points) -> Answer:
    """The answer that is in points; an empty one where they lack the metric.

    Raises:
        StoreError: the points are not those of one run.
    """
    if KEPT not in points.scores:
        return Answer()
    scored = points.take(~np.isnan(points.scores[KEPT]))
    vs_lead = compare_systems(scored, scored, pairs_with_lead(scored), KEPT)
    all_pairs = compare_all_pairs(scored, KEPT)
    return Answer(
        of_systems=content_kept(scored),
        uncut=uncut_scores(scored, KEPT),
        vs_lead=vs_lead,
        all_pairs=all_pairs,
        reference_lengths=points.reference_lengths,
        own_length=compare_at_own_length(scored, scored, pairs_at_own_length(scored), KEPT),
        lead_vs_random=compare_systems(scored, scored, [(LEAD, RANDOM)], KEPT),
        late_gains=late_gains(scored),
        own_words=own_words(scored),
    )
