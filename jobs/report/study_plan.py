"""`nws plan`: how many articles would make the answers of a run sure, and those of a study to be planned."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from core.analysis import LEAD, Metric, kinds_of
from core.analysis.content_kept import KEPT, Ceiling, ContentKept, content_kept
from core.analysis.sample_size import MOST_ARTICLES, Needed, NeededByPair, articles_needed
from core.errors import RecipeError
from core.types import SystemKind
from jobs.report.kept_answer import sure_text
from jobs.report.metric_names import find_metric, metric_signature
from jobs.report.numerals import counted, decimals, percent
from jobs.report.printed_lines import (
    print_line,
    print_metric,
    print_shared,
    print_unit,
    role,
)
from jobs.report.system_names import SystemNames, names_of
from jobs.report.table import MISSING, Cell, Table
from jobs.store import RunInfo, Store

METHOD = (
    "articles are taken to vary as those of this run: others may vary more. For the interval of n, studies are drawn; "
    "for two systems, the power of the paired t-test, which that of sign flips is close to"
)


@dataclass(frozen=True, slots=True)
class PlanGoal:
    """The goal of a study.

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
class StudyPlan:
    """The number of articles that a study would take.

    Attributes:
        answers: the smallest n of every system, where the metric is content kept.
        pairs: every system against `lead`.
        kinds: what each system is.
        names: what systems are called where people read.
    """

    run: RunInfo
    metric: Metric
    asked: PlanGoal
    answers: tuple[ContentKept, ...]
    pairs: tuple[NeededByPair, ...]
    kinds: Mapping[str, SystemKind]
    names: SystemNames

    def as_dict(self) -> dict[str, Any]:
        """Every number, and what it was made for, as plain JSON values."""
        return {
            "run": self.run.id,
            "metric": self.metric,
            "signature": metric_signature(self.run, self.metric),
            **asdict(self.asked),
            "method": METHOD,
            "unit": self.run.length_unit,
            "smallest_n": [row for answer in self.answers for row in _answer_json(answer)],
            "comparisons": [_pair_json(pair) for pair in self.pairs],
        }


def plan_run(
    store: Store, run_id: str, metric: str, asked: PlanGoal, labels: Mapping[str, str] | None = None
) -> StudyPlan:
    """The plan of a study like a run; `labels` of systems go over those of the recipe.

    Raises:
        RecipeError: the run has no such metric or no `lead`.
        StoreError: there is no such run, or it has no summaries.
    """
    run = store.run_info(run_id)
    checked = find_metric(metric, "plan by", run)
    points = store.points(run.id, [checked])
    if LEAD not in points.systems:
        raise RecipeError(f"Run {run.id} has no {LEAD!r}, which every system is compared with.")
    pairs = [(system, LEAD) for system in points.systems if system != LEAD]
    needed = articles_needed(points, pairs, checked, difference=asked.difference, power=asked.power, alpha=asked.alpha)
    answers = content_kept(points, power=asked.power) if checked == KEPT else ()
    return StudyPlan(
        run=run,
        metric=checked,
        asked=asked,
        answers=tuple(answer for answer in answers if answer.of == asked.of),
        pairs=needed,
        kinds=kinds_of(points),
        names=names_of([run], points.systems, labels),
    )


def _answer_json(answer: ContentKept) -> list[dict[str, Any]]:
    names = ("dataset", "system", "of", "longest", "articles")
    return [{name: getattr(answer, name) for name in names} | asdict(smallest) for smallest in answer.smallest]


def _pair_json(pair: NeededByPair) -> dict[str, Any]:
    lengths = [
        {"n": at.n, "articles_seen": at.seen, "difference": at.difference.mean}
        | {"low": at.difference.low, "high": at.difference.high, "spread": at.spread}
        | {"articles": at.articles, "articles_at_all_n": at.articles_at_all}
        for at in pair.lengths
    ]
    return {"dataset": pair.dataset, "a": pair.a, "b": pair.b, "lengths": lengths}


OF: dict[Ceiling, str] = {
    "reference": "the reference's content",
    "person": "what another person's summary keeps",
    "longest": "what the longest n keeps",
}


def print_plan(plan: StudyPlan, console: Console, where: str = "") -> None:
    """Print how many articles it takes, and how to read that.

    `where` is appended to the commands it names, so that they find the run: such as ` --store URL`.
    """
    run = plan.run
    print_line(console, f"Run {run.id}: {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed")
    print_unit(run.length_unit, console)
    print_metric(plan.metric, metric_signature(run, plan.metric), run.id, console, where)
    print_shared(plan.names, console)
    for dataset in sorted({answer.dataset for answer in plan.answers} | {pair.dataset for pair in plan.pairs}):
        for table in (_answers_table(plan, dataset), _pairs_table(plan, dataset)):
            if table.rows:
                table.print(console)
    _print_how_to_read(plan, console)


def _answers_table(plan: StudyPlan, dataset: str) -> Table:
    """The smallest n that keeps each share, and how many articles would tell it to one step."""
    rows = [
        (
            *(plan.names[answer.system] + role(answer.kind), percent(smallest.x)),
            Cell(str(smallest.n), sure_text(answer, smallest)),
            Cell(_count(smallest.articles_for_one_step)),
        )
        for answer in plan.answers
        for smallest in answer.smallest
        if answer.dataset == dataset and smallest.n is not None
    ]
    title = f"{dataset}: articles for an interval of one step of n"
    note = "Below the smallest n: its 95 % interval."
    return Table(("system", "share", "smallest n", "articles"), rows, title, (note,))


def _pairs_table(plan: StudyPlan, dataset: str) -> Table:
    """The number of articles that tell each system from `lead`."""
    pairs = [pair for pair in plan.pairs if pair.dataset == dataset]
    lengths = sorted({at.n for pair in pairs for at in pair.lengths})
    rows = []
    for pair in pairs:
        by_n = {at.n: at for at in pair.lengths}
        cells = (_cell(plan, by_n[n]) if n in by_n else MISSING for n in lengths)
        rows.append((plan.names[pair.a] + role(plan.kinds[pair.a]), *cells))
    least = plan.asked.difference
    difference = "the observed difference" if least is None else f"a difference of {least:g}"
    title = f"{dataset}: articles to detect {difference} from {plan.names[LEAD]}, at each n"
    return Table(("n", *map(str, lengths)), rows, title)


def _cell(plan: StudyPlan, at: Needed) -> Cell:
    """A number of articles: with a star where the run has as many, in brackets where the system scored lower."""
    count = _count(at.articles)
    has_enough = at.articles is not None and at.articles <= at.seen
    is_lower = plan.asked.difference is None and at.difference.mean < 0
    return Cell(f"({count})" if is_lower else count, mark="*" if has_enough else "")


def _count(articles: int | None) -> str:
    return MISSING.text if articles is None else f"{articles:,}"


def _print_how_to_read(plan: StudyPlan, console: Console) -> None:
    console.print()
    alpha, lead = decimals(plan.asked.alpha, 2), plan.names[LEAD]
    lines = [
        f"With so many articles, {percent(plan.asked.power)} of studies reach this. It assumes that articles vary as "
        "in this run: if others vary more, more of them are needed.",
        f"*: this run has as many. In brackets: the system scored lower than {lead}. {MISSING.text}: "
        f"more than {MOST_ARTICLES:,}.",
        f"For the test of `nws compare` at one n alone, p below {alpha}. For all n together see --json.",
    ]
    if plan.answers:
        lines.append(f"share: of {OF[plan.asked.of]}. All longer n keep it, too.")
    if plan.asked.difference is None:
        lines.append("An observed difference may be chance. Set the least that matters to you with --difference.")
    for line in lines:
        print_line(console, line, style="dim")
