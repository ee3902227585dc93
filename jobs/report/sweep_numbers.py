"""The numbers of a report, computed once: the tables, the plot and the files all read the same `Numbers`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nws.core.analysis import Points, compare_by_metric, magic_numbers, pairs_with_lead, sweep_curves, uncut_scores
from nws.core.analysis.answer import Answer, answer_of
from nws.core.analysis.own_words import metrics_of_answer
from nws.core.errors import StoreError
from nws.core.findings.comparisons import Comparison
from nws.core.findings.content import KEPT, ContentKept, SmallestN
from nws.core.findings.lengths import MagicNumber
from nws.core.findings.scores import Curve, Interval, Metric, Uncut
from nws.core.metrics.specs import F1S
from nws.core.types import LEAD, RANDOM
from nws.jobs.report import kept_limits
from nws.jobs.report.metric_names import SKEWED, few, metric_signature
from nws.jobs.report.numerals import listed
from nws.jobs.report.run_numbers import (
    RunNumbers,
    SweepScore,
    interval_values,
    kind_flags,
    short_by_length,
    short_json,
    short_note,
)
from nws.jobs.report.system_names import names_of
from nws.jobs.store import RunInfo

VS_LEAD: tuple[Metric, ...] = F1S
"""The metrics in which systems are compared with `lead`."""
MAY_BE_LARGEST = "not significantly below another n (sign-flip tests of all pairs of n, Holm, 95 % confidence)."
"""How the n are found that may have the largest gain over `random`."""
MOST_FOR_ALL_METRICS = 2_000_000
"""Summaries of which the magic numbers are told in every metric: a metric of ten million takes some five seconds."""


@dataclass(frozen=True, slots=True)
class Numbers(RunNumbers[SweepScore]):
    """A run's curves, magic numbers and uncut scores in `metric`, and what else tells its systems apart.

    Attributes:
        curves: of which each point is one of `scores`.
        magic_numbers: in `metric`.
        by_metric: the same in every metric in which systems are compared, or in `metric` alone where there are more
            than `MOST_FOR_ALL_METRICS` summaries; efficiency has none, since it falls with n.
        vs_lead: the comparisons of `nws compare RUN`, every system minus `lead`, by metric: content kept where the
            run has it, `metric`, and others. Empty in a run without `lead`.
        kept: how much of the content is kept.
    """

    curves: tuple[Curve, ...]
    magic_numbers: tuple[MagicNumber, ...]
    by_metric: Mapping[Metric, tuple[MagicNumber, ...]]
    uncut: tuple[Uncut, ...]
    vs_lead: Mapping[Metric, tuple[Comparison, ...]]
    kept: Answer

    @property
    def datasets(self) -> tuple[str, ...]:
        """Every dataset of the run, in alphabetical order."""
        others = {uncut.dataset for uncut in self.uncut} | {dataset for dataset, _ in self.short}
        return tuple(sorted({*self.scored, *others}))

    def vs_lead_of(self, dataset: str) -> dict[str, dict[Metric, Comparison]]:
        """The comparisons with `lead` on a dataset, by system and metric."""
        by_system: dict[str, dict[Metric, Comparison]] = {}
        for metric, comparisons in self.vs_lead.items():
            for comparison in comparisons:
                if comparison.dataset == dataset:
                    by_system.setdefault(comparison.a, {})[metric] = comparison
        return by_system

    def magic_numbers_of(self, dataset: str) -> tuple[MagicNumber, ...]:
        return tuple(number for number in self.magic_numbers if number.dataset == dataset)

    def best_n_of(self, dataset: str) -> list[tuple[Metric, MagicNumber]]:
        """The magic numbers of systems that can be chosen and were compared with `random`, by system and metric."""
        chosen = [
            (metric, number)
            for metric, numbers in self.by_metric.items()
            for number in numbers
            if number.dataset == dataset and number.kind == "system" and number.gains
        ]
        systems = list(dict.fromkeys(number.system for _, number in chosen))
        return sorted(chosen, key=lambda one: systems.index(one[1].system))


def curve_rows(numbers: Numbers) -> list[dict[str, Any]]:
    """A sweep's scores, a row each: the same in `curves.csv` and in frames."""
    shares = {
        (of.dataset, of.system, at.n): at.share
        for of in numbers.kept.of_systems
        if of.of == "reference"
        for at in of.lengths
    }
    return [
        numbers.head(score)
        | {"of_articles": score.of_articles, "comparable": int(score.comparable), "words": score.words}
        | interval_values("", score.score)
        | interval_values("gain_", score.gain)
        | (_kept_values(shares.get((score.dataset, score.system, score.n))) if shares else {})
        for score in numbers.scores
    ]


def _kept_values(share: Interval | None) -> dict[str, float | None]:
    """The share of the reference that a system keeps at n, with its interval."""
    mean, *ends = interval_values("kept_", share).items()
    return {"kept": mean[1], **dict(ends)}


def kept_rows(numbers: Numbers) -> list[dict[str, Any]]:
    """The rows of `kept.csv`: content kept for each dataset, system, ceiling and n."""
    made_by = {"run": numbers.run.id, "metric": KEPT, "signature": metric_signature(numbers.run, KEPT)}
    return [
        made_by
        | {"dataset": kept.dataset, "system": kept.system}
        | {name: int(flag) for name, flag in kind_flags(kept.kind).items()}
        | {"of": kept.of, "n": at.n, "articles": at.articles, "words": at.words}
        | interval_values("", at.share)
        for kept in numbers.kept.of_systems
        for at in kept.lengths
    ]


def metrics_read(run: RunInfo, metric: Metric, answer: Answer | None) -> tuple[Metric, ...]:
    """The metrics that the report of a run about `metric` needs of every point, if its `answer` is known or not."""
    of_answer = metrics_of_answer(run.signatures) if answer is None else ()
    return tuple(dict.fromkeys((*compared_metrics(metric), *of_answer)))


def compared_metrics(metric: Metric) -> tuple[Metric, ...]:
    """The metrics in which the report about `metric` compares systems with `lead`."""
    return VS_LEAD if metric in VS_LEAD else (metric, *VS_LEAD)


def analyse(
    run: RunInfo,
    points: Points,
    metric: Metric = "bertscore_f1",
    labels: Mapping[str, str] | None = None,
    others: Sequence[RunInfo] = (),
    answer: Answer | None = None,
) -> Numbers:
    """The numbers of a report.

    Args:
        run: what made the numbers.
        points: its summaries, with the scores of `metrics_read`.
        metric: what the report is about.
        labels: of systems, over those of the recipe.
        others: further runs whose summaries are among the points.
        answer: of the run, where it is stored; else it is computed from the points.

    Raises:
        RecipeError: a label is of no system, or another system is called so.
        StoreError: the run has no summaries yet, or the points are not those of one run.
    """
    require_summaries(run, points)
    names = names_of((run, *others), points.systems, labels)
    curves = sweep_curves(points, metric)
    metrics = compared_metrics(metric) if len(points) <= MOST_FOR_ALL_METRICS else (metric,)
    by_metric = {name: magic_numbers(points, name) for name in metrics}
    magic = by_metric[metric]
    kept = answer_of(points) if answer is None else answer
    vs_lead = compare_by_metric(points, points, pairs_with_lead(points), compared_metrics(metric))
    return Numbers(
        run=run,
        metric=metric,
        scores=tuple(sweep_scores(curves, magic)),
        curves=curves,
        magic_numbers=magic,
        by_metric={name: numbers for name, numbers in by_metric.items() if name != "efficiency"},
        uncut=uncut_scores(points, metric),
        vs_lead={KEPT: kept.vs_lead, **vs_lead} if kept.vs_lead else vs_lead,
        kept=kept,
        short=short_by_length(points),
        names=names,
    )


def cautions(numbers: Numbers, dataset: str) -> Iterator[str]:
    """Cautions for readers of a dataset's tables: few or short articles, and skewed differences."""
    articles = [score.articles for score in numbers.scores if score.dataset == dataset]
    if told := few(min(articles, default=0)):
        yield told
    if any(short_dataset == dataset for short_dataset, _ in numbers.short):
        yield short_note(dataset, numbers.short, numbers.run.length_unit)
    if skewed := _skewed(numbers, dataset):
        yield f"{SKEWED}: some verdicts on {listed(skewed)} (report.json: too_skewed)."


def _skewed(numbers: Numbers, dataset: str) -> list[str]:
    """The verdicts that rest in part on differences that are too skewed for the test."""
    over_random = [
        f"{numbers.names[number.system]} over {RANDOM}"
        for number in numbers.magic_numbers_of(dataset)
        if number.kind == "system" and any(gain.above_random and gain.too_skewed for gain in number.gains)
    ]
    over_lead = [
        f"{numbers.names[system]} vs. {LEAD}"
        for system, by_metric in numbers.vs_lead_of(dataset).items()
        if any(at.significant and at.too_skewed for comparison in by_metric.values() for at in comparison.lengths)
    ]
    return over_random + over_lead


def sweep_scores(curves: Iterable[Curve], magic: Iterable[MagicNumber]) -> Iterator[SweepScore]:
    """The points of curves, each with what it gains over `random` by these magic numbers."""
    gains = {(number.dataset, number.system, gain.n): gain.gain for number in magic for gain in number.gains}
    for curve in curves:
        of = curve.dataset, curve.system
        for at in curve.lengths:
            counts = at.n, at.articles, at.of_articles
            yield SweepScore(*of, curve.kind, *counts, at.comparable, at.words, at, gains.get((*of, at.n)))


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
        **numbers.head_json(),
        "kept": kept_json(numbers.kept),
        "curves": [_with_flags(curve) for curve in numbers.curves],
        "magic_numbers": [_magic_json(number) for number in numbers.magic_numbers],
        "uncut": [_with_flags(uncut) for uncut in numbers.uncut],
        "vs_lead": [
            _comparison_json(metric, comparison)
            for metric, comparisons in numbers.vs_lead.items()
            for comparison in comparisons
        ],
        "own_length": numbers.kept.own_length_rows(),
        "late_gains": [asdict(gain) | {"has_stopped": gain.has_stopped} for gain in numbers.kept.late_gains],
        "lead_overtakes": [asdict(one) for name in numbers.kept.datasets for one in numbers.kept.overtakings(name)],
        "own_words": [asdict(words) for words in numbers.kept.own_words],
        "notes": {name: kept_limits.notes(numbers.kept, name, numbers.names) for name in numbers.kept.datasets},
        "short_articles": short_json(numbers.short),
    }


def _comparison_json(metric: Metric, comparison: Comparison) -> dict[str, Any]:
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
        "at": number.edge,
        "verdict": number.verdict,
    }


def kept_json(answer: Answer) -> list[dict[str, Any]]:
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
                | {"words": at.words}
                for at in kept.lengths
            ],
            "smallest_n": {f"{smallest.x:g}": _smallest_json(kept, smallest) for smallest in kept.smallest},
        }
        for kept in answer.of_systems
    ]


def _smallest_json(kept: ContentKept, smallest: SmallestN) -> Mapping[str, Any]:
    return {
        "n": smallest.n,
        "low": smallest.low,
        "high": smallest.high,
        "claimed": smallest.claimed,
        "at": kept.edge(smallest.n),
        "articles_for_one_step": smallest.articles_for_one_step,
    }
