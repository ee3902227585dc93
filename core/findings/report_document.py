"""The report document: all findings of a run, which every output renders. It has no texts and no rows of articles."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.dataclasses import dataclass

from nws.core.findings.comparisons import Comparison
from nws.core.findings.content import Abstractive, Ceiling, ContentKept, KeptByKind, LateGain, WordsSaved
from nws.core.findings.lengths import ClaimedLengths, MagicNumber, Obedience
from nws.core.findings.policy_findings import PolicyFindings
from nws.core.findings.scores import Curve, CurvePoint, Uncut
from nws.core.findings.statements import CutTexts, Headline, Statement
from nws.core.metrics.specs import Metric
from nws.core.text.checks.all_checks import Finding
from nws.core.text.length import LengthUnit
from nws.core.types import SystemKind


@dataclass(frozen=True, slots=True)
class MetricFindings:
    """What the systems of a run score in one metric.

    Attributes:
        curves: the means by n.
        uncut: the means of uncut summaries.
        magic_numbers: what each system gains over `random` at equal n; empty for metrics that are not compared.
        vs_lead: every system minus `lead` at equal n; empty for metrics that are not compared.
    """

    metric: Metric
    curves: tuple[Curve, ...] = ()
    uncut: tuple[Uncut, ...] = ()
    magic_numbers: tuple[MagicNumber, ...] = ()
    vs_lead: tuple[Comparison, ...] = ()

    def curves_of(self, dataset: str) -> tuple[Curve, ...]:
        """Return the curves of a dataset."""
        return tuple(curve for curve in self.curves if curve.dataset == dataset)

    def vs_lead_of(self, dataset: str) -> dict[str, Comparison]:
        """Return the comparisons with `lead` on a dataset, by system."""
        return {pair.a: pair for pair in self.vs_lead if pair.dataset == dataset}


@dataclass(frozen=True, slots=True)
class ShortArticles:
    """The number of articles of a dataset with fewer than n words, which are left out at that n."""

    dataset: str
    n: int
    articles: int


class ReportDocument(BaseModel, frozen=True):
    """What a run found: numbers and decisions, from which every output is made.

    Attributes:
        version: of this format.
        metric: the metric of tables and comparisons, beside content kept.
        unit: what n counts.
        metrics: the findings in `metric`, then those in other metrics.
        kept: content kept, by dataset, system and ceiling; empty where it is not known.
        kept_uncut: the content that uncut summaries keep.
        kept_by_kind: what systems keep of each kind of word, by dataset, system and n; empty where it is not known.
        word_kinds: the signature of the kinds.
        words_saved: the words with which the best system keeps as much as `lead` at the longest n, by dataset.
        all_pairs: all pairs of systems at one n, in content kept (`nws.core.analysis.paired.compare_all_pairs`).
        length_matched: length-matched pairs, in content kept (`nws.core.analysis.length_matched`).
        lead_vs_random: `lead` minus `random`, in content kept.
        between_runs: systems of one run minus those of another, in `metric`, where several runs are reported together.
        ranking: by dataset, the systems that one can choose (else the controls), the one that keeps most first.
        statements: by dataset, the findings, the most important first.
        warnings: by dataset, what limits the numbers.
        reference_lengths: by dataset, the median length of the references; empty where it is not known.
        obedience: how well the generators keep to n, by system and n.
        policies: the findings on trained policies; None for a run that trains none.
        findings: what checks found in the texts of all runs.
        sources: by run, the name that each system of the run has here.
    """

    version: Literal[1] = 1
    metric: Metric
    unit: LengthUnit = "words"
    metrics: tuple[MetricFindings, ...] = ()
    kept: tuple[ContentKept, ...] = ()
    kept_uncut: tuple[Uncut, ...] = ()
    kept_by_kind: tuple[KeptByKind, ...] = ()
    word_kinds: str = ""
    words_saved: tuple[WordsSaved, ...] = ()
    all_pairs: tuple[Comparison, ...] = ()
    length_matched: tuple[Comparison, ...] = ()
    lead_vs_random: tuple[Comparison, ...] = ()
    between_runs: tuple[Comparison, ...] = ()
    late_gains: tuple[LateGain, ...] = ()
    abstractive: tuple[Abstractive, ...] = ()
    short_articles: tuple[ShortArticles, ...] = ()
    ranking: Mapping[str, tuple[str, ...]] = {}
    statements: Mapping[str, tuple[Statement, ...]] = {}
    warnings: Mapping[str, tuple[Statement, ...]] = {}
    reference_lengths: Mapping[str, float] = {}
    claims: tuple[ClaimedLengths, ...] = ()
    obedience: tuple[Obedience, ...] = ()
    policies: PolicyFindings | None = None
    findings: tuple[Finding, ...] = ()
    sources: Mapping[str, Mapping[str, str]] = {}

    def of_metric(self, metric: Metric | None = None) -> MetricFindings:
        """Return the findings in a metric, by default that of the document; empty where there are none."""
        metric = metric or self.metric
        return next((found for found in self.metrics if found.metric == metric), MetricFindings(metric))

    @property
    def scored(self) -> tuple[str, ...]:
        """Datasets with means by n, in alphabetical order."""
        return tuple(sorted({curve.dataset for curve in self.of_metric().curves}))

    @property
    def datasets(self) -> tuple[str, ...]:
        """Every dataset of the run, in alphabetical order."""
        others = {uncut.dataset for uncut in self.of_metric().uncut} | {short.dataset for short in self.short_articles}
        return tuple(sorted({*self.scored, *others, *(kept.dataset for kept in self.kept)}))

    @property
    def kinds(self) -> dict[str, SystemKind]:
        """The kind of each system."""
        found = self.of_metric()
        kinds = {curve.system: curve.kind for curve in found.curves}
        kinds |= {uncut.system: uncut.kind for uncut in (*found.uncut, *self.kept_uncut)}
        return kinds | {kept.system: kept.kind for kept in self.kept}

    def has_cut_references(self, dataset: str | None = None) -> bool:
        """Return whether references of a dataset, by default of any, were too long for BERTScore's backbone."""
        warned = self.warnings.values() if dataset is None else [self.warnings.get(dataset, ())]
        return any(isinstance(one, CutTexts) and one.references > 0 for said in warned for one in said)

    def kept_of(self, dataset: str) -> dict[str, dict[Ceiling, ContentKept]]:
        """Return content kept on a dataset, by system and ceiling."""
        by_system: dict[str, dict[Ceiling, ContentKept]] = {}
        for kept in self.kept:
            if kept.dataset == dataset:
                by_system.setdefault(kept.system, {})[kept.ceiling] = kept
        return by_system

    def headline(self, dataset: str) -> Headline | None:
        """Return the headline of a dataset; None where content kept is not known."""
        return next((one for one in self.statements.get(dataset, ()) if isinstance(one, Headline)), None)

    def best_lengths(self, dataset: str) -> list[tuple[Metric, MagicNumber]]:
        """List the magic numbers of systems that one can choose and that were compared with `random`, with the metric.

        Efficiency has none, since it falls with n.
        """
        chosen = [
            (found.metric, number)
            for found in self.metrics
            for number in (found.magic_numbers if found.metric != "efficiency" else ())
            if number.dataset == dataset and number.kind == "system" and number.gains
        ]
        systems = list(dict.fromkeys(number.system for _, number in chosen))
        return sorted(chosen, key=lambda one: systems.index(one[1].system))

    def other_lengths(self, curves: Sequence[Curve]) -> dict[str, tuple[CurvePoint, ...]]:
        """Return the points of systems that do not always write n words; of all systems where n counts characters."""
        return {
            curve.system: curve.lengths
            for curve in curves
            if self.unit != "words" or any(at.words != at.n for at in curve.lengths)
        }

    def share_rows(self) -> list[dict[str, Any]]:
        """Return a row for each dataset, system, ceiling and n; `n` is 0 for uncut summaries."""
        shares = [
            (kept, kept.ceiling, at.n, at.share, at.articles, at.words) for kept in self.kept for at in kept.lengths
        ]
        whole = [(of, "reference", 0, of.score, of.articles, of.words) for of in self.kept_uncut]
        return [
            {"dataset": whose.dataset, "system": whose.system, "kind": whose.kind, "ceiling": ceiling, "n": n}
            | {"share": share.mean, "low": share.low, "high": share.high, "articles": articles, "words": words}
            for whose, ceiling, n, share, articles, words in shares + whole
        ]

    def kind_rows(self) -> list[dict[str, Any]]:
        """Return a row for each dataset, system, n (0: uncut) and kind of word."""
        return [
            {"dataset": of.dataset, "system": of.system, "n": of.n, "kind": at.kind, "share": at.share.mean}
            | {"low": at.share.low, "high": at.share.high, "articles": at.articles}
            for of in self.kept_by_kind
            for at in of.kinds
        ]

    def by_kind(self, dataset: str) -> dict[str, list[KeptByKind]]:
        """Return what systems keep of each kind of word on a dataset, by system; without uncut summaries."""
        by_system: dict[str, list[KeptByKind]] = {}
        for of in self.kept_by_kind:
            if of.dataset == dataset and of.n:
                by_system.setdefault(of.system, []).append(of)
        return by_system

    def smallest_rows(self) -> list[dict[str, Any]]:
        """Return a row for each dataset, system, ceiling and share, with the smallest n that keeps it."""
        return [
            {"dataset": kept.dataset, "system": kept.system, "kind": kept.kind}
            | {"ceiling": kept.ceiling, "longest": kept.longest}
            | asdict(smallest)
            for kept in self.kept
            for smallest in kept.smallest
        ]
