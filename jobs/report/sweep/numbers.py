"""The numbers of a report, computed once: the tables, the plot and the files all read the same `Numbers`."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from core.analysis import (
    LEAD,
    Comparison,
    Curve,
    MagicNumber,
    Metric,
    Point,
    Points,
    SameText,
    Uncut,
    compare_by_metric,
    kinds_of,
    magic_numbers,
    same_texts,
    sweep_curves,
    uncut_scores,
)
from core.analysis.intervals import CONFIDENCE
from core.analysis.paired import ALPHA
from core.errors import StoreError
from core.metrics.specs import F1S
from jobs.report.run_facts import Short, kind_flags, run_json, short_by_length, short_json
from jobs.store import RunInfo
from jobs.terminal.metrics import metric_signature

VS_LEAD: tuple[Metric, ...] = F1S
"""The metrics in which systems are compared with `lead`."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A run's curves, magic numbers and uncut scores in `metric`, and what else tells its systems apart.

    Attributes:
        vs_lead: the comparisons of `nws compare RUN`, every system minus `lead`, by metric (`metric` and others). Empty
            in a run without `lead`.
        same_texts: how often two systems wrote the same text.
        short: by dataset and n the ids of the articles that have fewer words, which are left out at that n.
    """

    run: RunInfo
    metric: Metric
    curves: tuple[Curve, ...]
    magic_numbers: tuple[MagicNumber, ...]
    uncut: tuple[Uncut, ...]
    vs_lead: Mapping[Metric, tuple[Comparison, ...]]
    same_texts: tuple[SameText, ...]
    short: Short

    @property
    def datasets(self) -> tuple[str, ...]:
        """Every dataset of the run, in alphabetical order."""
        on_curves = {curve.dataset for curve in self.curves}
        others = {uncut.dataset for uncut in self.uncut} | {dataset for dataset, _ in self.short}
        return tuple(sorted(on_curves | others))

    def curves_of(self, dataset: str) -> tuple[Curve, ...]:
        return tuple(curve for curve in self.curves if curve.dataset == dataset)

    def other_lengths_of(self, dataset: str) -> dict[str, dict[int, float]]:
        """By system and n the mean number of words, of those systems that do not always write n."""
        words = {curve.system: {at.n: at.words for at in curve.lengths} for curve in self.curves_of(dataset)}
        return {system: by_n for system, by_n in words.items() if any(mean != n for n, mean in by_n.items())}

    def vs_lead_of(self, dataset: str) -> dict[str, dict[Metric, Comparison]]:
        """By system and metric."""
        by_system: dict[str, dict[Metric, Comparison]] = {}
        for metric, comparisons in self.vs_lead.items():
            for comparison in comparisons:
                if comparison.dataset == dataset:
                    by_system.setdefault(comparison.a, {})[metric] = comparison
        return by_system

    def magic_numbers_of(self, dataset: str) -> tuple[MagicNumber, ...]:
        return tuple(number for number in self.magic_numbers if number.dataset == dataset)


def highest_means(curves: tuple[Curve, ...], places: int) -> dict[int, float]:
    """The highest mean at each n, to the decimals that are shown. Upper bounds take no part: they saw the reference."""
    best: dict[int, float] = {}
    for curve in curves:
        for point in curve.lengths if curve.kind != "upper bound" else ():
            if point.comparable:
                best[point.n] = max(best.get(point.n, -inf), round(point.mean, places))
    return best


def metrics_read(metric: Metric) -> tuple[Metric, ...]:
    """The metrics that the report about `metric` needs of every point."""
    return VS_LEAD if metric in VS_LEAD else (metric, *VS_LEAD)


def analyse(run: RunInfo, points: Points | Iterable[Point], metric: Metric = "bertscore_f1") -> Numbers:
    """The numbers of a report.

    Args:
        run: what made the numbers.
        points: its summaries, with the scores of `metrics_read`.
        metric: what the report is about.

    Raises:
        StoreError: the run has no summaries yet, or the points are not those of one run.
    """
    points = Points.of(points)
    require_summaries(run, points)
    pairs = [(system, LEAD) for system, kind in kinds_of(points).items() if kind == "system"]
    return Numbers(
        run=run,
        metric=metric,
        curves=sweep_curves(points, metric),
        magic_numbers=magic_numbers(points, metric),
        uncut=uncut_scores(points, metric),
        vs_lead=compare_by_metric(points, points, pairs, metrics_read(metric)),
        same_texts=same_texts(points),
        short=short_by_length(points),
    )


def require_summaries(run: RunInfo, points: Points) -> None:
    """Refuse a run without summaries.

    Raises:
        StoreError: there are no points.
    """
    if not len(points):
        raise StoreError(
            f"Run {run.id!r} ({run.state}) has no summaries to report: {run.articles_done} articles finished, "
            f"{run.failures} failed. See `nws status {run.id}`; continue it with `nws resume {run.id}`."
        )


def report_json(numbers: Numbers) -> dict[str, Any]:
    """The report as plain JSON values. Intervals are 95 % Student's t intervals over articles."""
    return {
        "run": run_json(numbers.run),
        "metric": numbers.metric,
        "signature": metric_signature(numbers.run, numbers.metric),
        "confidence": CONFIDENCE,
        "alpha": ALPHA,
        "curves": [_with_flags(curve) for curve in numbers.curves],
        "magic_numbers": [_magic_json(number) for number in numbers.magic_numbers],
        "uncut": [_with_flags(uncut) for uncut in numbers.uncut],
        "vs_lead": [
            _vs_lead_json(metric, comparison)
            for metric, comparisons in numbers.vs_lead.items()
            for comparison in comparisons
        ],
        "same_texts": [asdict(pair) | {"share": pair.share} for pair in numbers.same_texts],
        "short_articles": short_json(numbers.short),
    }


def _vs_lead_json(metric: Metric, comparison: Comparison) -> dict[str, Any]:
    return {
        "dataset": comparison.dataset,
        "system": comparison.a,
        "metric": metric,
        "better": [at.n for at in comparison.lengths if at.better],
        "worse": [at.n for at in comparison.lengths if at.worse],
        "lengths": [asdict(at) | {"too_skewed": at.too_skewed} for at in comparison.lengths],
    }


def _with_flags(curve_or_uncut: Curve | Uncut) -> dict[str, Any]:
    values = asdict(curve_or_uncut)
    kind = values.pop("kind")
    return values | kind_flags(kind)


def _magic_json(number: MagicNumber) -> dict[str, Any]:
    largest = number.largest_gain
    return {
        "dataset": number.dataset,
        "system": number.system,
        **kind_flags(number.kind),
        "articles": number.articles,
        "dropped": number.dropped,
        "best_per_article": {
            "shares": {str(n): share for n, share in number.best_per_article.items()},
            "median": number.median,
            "most_frequent": number.most_frequent,
        },
        "best_by_mean": number.best_by_mean,
        "gains_over_random": [
            asdict(gain) | {"above_random": gain.above_random, "may_be_largest": gain.may_be_largest}
            for gain in number.gains
        ],
        "largest_gain_at": None if largest is None else largest.n,
        "recommended": list(number.recommended),
        "verdict": number.verdict,
    }
