"""`nws plan`: how many articles would make the answers of a run sure, and those of a study to be planned."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.analysis import LEAD, Metric, kinds_of
from core.analysis.content_kept import KEPT, Ceiling, ContentKept, content_kept
from core.analysis.sample_size import NeededByPair, articles_needed
from core.errors import RecipeError
from core.types import SystemKind
from jobs.store import RunInfo, Store
from jobs.terminal.metrics import find_metric, metric_signature
from jobs.terminal.system_names import SystemNames, names_of

METHOD = (
    "articles are taken to vary as those of this run: others may vary more. For the interval of n, studies are drawn; "
    "for two systems, the power of the paired t-test, which that of sign flips is close to"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a study is to show.

    Attributes:
        power: how often, between 0 and 1.
        alpha: how often two equal systems may be called different.
        difference: by how much systems differ; None for the differences that the run has seen.
        of: what the shares are of whose smallest n is looked for.
    """

    power: float
    alpha: float
    difference: float | None
    of: Ceiling


@dataclass(frozen=True, slots=True)
class Plan:
    """How many articles it would take.

    Attributes:
        answers: the smallest n of every system, where the metric is content kept.
        pairs: every system against `lead`.
        kinds: what each system is.
        names: what systems are called where people read.
    """

    run: RunInfo
    metric: Metric
    signature: str
    asked: Asked
    answers: tuple[ContentKept, ...]
    pairs: tuple[NeededByPair, ...]
    kinds: Mapping[str, SystemKind]
    names: SystemNames

    def as_dict(self) -> dict[str, Any]:
        """Every number, and what it was made for, as plain JSON values."""
        return {
            "run": self.run.id,
            "metric": self.metric,
            "signature": self.signature,
            "power": self.asked.power,
            "alpha": self.asked.alpha,
            "difference": self.asked.difference,
            "method": METHOD,
            "unit": self.run.length_unit,
            "smallest_n": [row for answer in self.answers for row in _answer_json(answer)],
            "comparisons": [_pair_json(pair) for pair in self.pairs],
        }


def plan_run(store: Store, run_id: str, metric: str, asked: Asked, labels: Mapping[str, str] | None = None) -> Plan:
    """What a study like a run would need; `labels` of systems go over those of the recipe.

    Raises:
        RecipeError: the run has no such metric or no `lead`, or what is asked for makes no sense.
        StoreError: there is no such run, or it has no summaries.
    """
    for name, share in (("power", asked.power), ("alpha", asked.alpha)):
        if not 0 < share < 1:
            raise RecipeError(f"{name} is {share:g}: give a share between 0 and 1, such as .9", settings=(name,))
    if asked.difference is not None and asked.difference <= 0:
        raise RecipeError(
            f"difference is {asked.difference:g}: give the least that matters, such as .01", settings=("difference",)
        )
    run = store.run_info(run_id)
    if metric == KEPT and KEPT not in run.signatures:
        raise RecipeError(
            f"Run {run.id} does not say how much content its summaries keep. Measure it with: nws add-metric {run.id} "
            f"kept. Or plan by another metric, such as bertscore_f1, with --metric."
        )
    checked = find_metric(metric, "plan by", run)
    points = store.points(run.id, [checked])
    if LEAD not in points.systems:
        raise RecipeError(f"Run {run.id} has no {LEAD!r}, which every system is compared with.")
    pairs = [(system, LEAD) for system in points.systems if system != LEAD]
    needed = articles_needed(points, pairs, checked, difference=asked.difference, power=asked.power, alpha=asked.alpha)
    answers = content_kept(points, power=asked.power) if checked == KEPT else ()
    return Plan(
        run=run,
        metric=checked,
        signature=metric_signature(run, checked),
        asked=asked,
        answers=tuple(answer for answer in answers if answer.of == asked.of),
        pairs=needed,
        kinds=kinds_of(points),
        names=names_of([run], points.systems, labels),
    )


def _answer_json(answer: ContentKept) -> list[dict[str, Any]]:
    return [
        {
            "dataset": answer.dataset,
            "system": answer.system,
            "of": answer.of,
            "longest": answer.longest,
            "articles": answer.articles,
            "x": smallest.x,
            "n": smallest.n,
            "low": smallest.low,
            "high": smallest.high,
            "articles_for_one_step": smallest.articles_for_one_step,
        }
        for smallest in answer.smallest
    ]


def _pair_json(pair: NeededByPair) -> dict[str, Any]:
    return {
        "dataset": pair.dataset,
        "a": pair.a,
        "b": pair.b,
        "lengths": [
            {
                "n": at.n,
                "articles_seen": at.seen,
                "difference": at.difference.mean,
                "low": at.difference.low,
                "high": at.difference.high,
                "spread": at.spread,
                "articles": at.articles,
                "articles_at_all_n": at.articles_at_all,
            }
            for at in pair.lengths
        ],
    }
