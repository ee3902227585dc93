"""What a report says, computed once: the tables, the plot and the files all read the same `Numbers`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core.analysis import (
    Curve,
    MagicNumber,
    Point,
    Uncut,
    magic_numbers,
    sweep_curves,
    uncut_scores,
)
from core.errors import StoreError
from jobs.report.run_facts import METRIC, kind_flags, run_json
from jobs.store import RunInfo


@dataclass(frozen=True, slots=True)
class Numbers:
    """A run's curves, magic numbers and uncut scores, all in BERTScore F1."""

    run: RunInfo
    curves: tuple[Curve, ...]
    magic_numbers: tuple[MagicNumber, ...]
    uncut: tuple[Uncut, ...]

    @property
    def datasets(self) -> tuple[str, ...]:
        """Every dataset of the run, in alphabetical order."""
        on_curves = {curve.dataset for curve in self.curves}
        return tuple(sorted(on_curves | {found.dataset for found in self.uncut}))

    def curves_of(self, dataset: str) -> tuple[Curve, ...]:
        return tuple(curve for curve in self.curves if curve.dataset == dataset)

    def magic_numbers_of(self, dataset: str) -> tuple[MagicNumber, ...]:
        return tuple(number for number in self.magic_numbers if number.dataset == dataset)


def analyse(run: RunInfo, points: Sequence[Point]) -> Numbers:
    """The numbers of a report; the run's seed also seeds every bootstrap.

    Raises:
        StoreError: the run has no summaries yet, or the points are not those of one run.
    """
    if not points:
        raise StoreError(
            f"Run {run.id!r} ({run.state}) has no summaries to report: {run.articles_done} articles finished, "
            f"{run.failures} failed. See `nws status {run.id}`; continue it with `nws resume {run.id}`."
        )
    return Numbers(
        run=run,
        curves=sweep_curves(points, METRIC, seed=run.seed),
        magic_numbers=magic_numbers(points, METRIC, seed=run.seed),
        uncut=uncut_scores(points, METRIC, seed=run.seed),
    )


def report_json(numbers: Numbers) -> dict[str, Any]:
    """The report as plain JSON values. Intervals are 95 % percentile bootstrap intervals over articles."""
    return {
        "run": run_json(numbers.run),
        "metric": METRIC,
        "confidence": 0.95,
        "curves": [_with_flags(curve) for curve in numbers.curves],
        "magic_numbers": [_magic_json(number) for number in numbers.magic_numbers],
        "uncut": [_with_flags(uncut) for uncut in numbers.uncut],
    }


def _with_flags(found: Curve | Uncut) -> dict[str, Any]:
    values = asdict(found)
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
        "short": list(number.short),
        "best_per_article": {
            "shares": {str(n): share for n, share in number.best_per_article.items()},
            "median": number.median,
            "most_frequent": number.most_frequent,
        },
        "best_by_mean": number.best_by_mean,
        "gains_over_random": [asdict(gain) for gain in number.gains],
        "largest_gain_at": None if largest is None else largest.n,
        "recommended": list(number.recommended),
        "better_than_lead": list(number.better_than_lead),
        "worse_than_lead": list(number.worse_than_lead),
        "verdict": number.verdict,
    }
