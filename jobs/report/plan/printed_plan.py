"""A plan in the terminal: two tables for each dataset. Made for any width, with or without colour."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from core.analysis.content_kept import Ceiling, ContentKept, SmallestN
from core.analysis.sample_size import MOST_ARTICLES, Needed, NeededByPair
from jobs.report.plan.plan import Plan
from jobs.terminal.columns import Column, print_table
from jobs.terminal.numerals import counted, decimals, percent
from jobs.terminal.table_style import names_column, print_line, print_metric, print_shared, print_title, system_name

OF: dict[Ceiling, str] = {
    "reference": "the reference's content",
    "person": "what another person's summary keeps",
    "longest": "what the longest n keeps",
}
NONE = "–"


def print_plan(plan: Plan, console: Console, where: str = "") -> None:
    """Print how many articles it takes, and how to read that.

    `where` is appended to the commands it names, so that they find the run: such as ` --store URL`.
    """
    run = plan.run
    print_line(console, f"Run {run.id}: {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed")
    print_metric(plan.metric, plan.signature, run.id, console, where)
    print_shared(plan.names, console)
    for dataset in dict.fromkeys(
        (*(answer.dataset for answer in plan.answers), *(pair.dataset for pair in plan.pairs))
    ):
        _print_answers(plan, [answer for answer in plan.answers if answer.dataset == dataset], console)
        _print_pairs(plan, [pair for pair in plan.pairs if pair.dataset == dataset], console)
    _print_how_to_read(plan, console)


def _print_answers(plan: Plan, answers: Sequence[ContentKept], console: Console) -> None:
    rows = [(answer, smallest) for answer in answers for smallest in answer.smallest if smallest.n is not None]
    if not rows:
        return
    print_title(console, f"{answers[0].dataset}: articles for an interval of one step of n")
    columns = [
        Column("share", [Text(percent(smallest.x)) for _, smallest in rows]),
        Column("smallest n", [Text(str(smallest.n)) for _, smallest in rows]),
        Column("95 % interval", [Text(_interval(answer, smallest)) for answer, smallest in rows]),
        Column("articles", [Text(_count(smallest.articles_for_one_step), style="bold") for _, smallest in rows]),
    ]
    names = names_column("system", [system_name(plan.names[answer.system], answer.kind) for answer, _ in rows])
    print_table(names, columns, console, gap=2)


def _interval(answer: ContentKept, smallest: SmallestN) -> str:
    return f"{smallest.low} to {'beyond ' + str(answer.longest) if smallest.high is None else smallest.high}"


def _print_pairs(plan: Plan, pairs: Sequence[NeededByPair], console: Console) -> None:
    if not pairs:
        return
    of = "the observed difference" if plan.asked.difference is None else f"a difference of {plan.asked.difference:g}"
    print_title(console, f"{pairs[0].dataset}: articles to detect {of} from {plan.names[pairs[0].b]}, at each n")
    lengths = sorted({at.n for pair in pairs for at in pair.lengths})
    by_n = [{at.n: at for at in pair.lengths} for pair in pairs]
    cells = {n: [_cell(plan, at.get(n)) for at in by_n] for n in lengths}
    columns = [Column(f"n = {n}" if n == lengths[0] else str(n), cells[n]) for n in lengths]
    names = names_column("system", [system_name(plan.names[pair.a], plan.kinds[pair.a]) for pair in pairs])
    print_table(names, columns, console, gap=2)


def _cell(plan: Plan, at: Needed | None) -> Text:
    """With a star where the run has as many, in brackets where the system scored lower."""
    if at is None:
        return Text("")
    has_enough = at.articles is not None and at.articles <= at.seen
    count = f"{_count(at.articles)}{'*' * has_enough}"
    return Text(f"({count})" if _is_lower(plan, at) else count, style="bold" if has_enough else "")


def _is_lower(plan: Plan, at: Needed) -> bool:
    return plan.asked.difference is None and at.difference.mean < 0


def _count(articles: int | None) -> str:
    return NONE if articles is None else f"{articles:,}"


def _print_how_to_read(plan: Plan, console: Console) -> None:
    console.print()
    alpha = decimals(plan.asked.alpha, 2)
    lines = [
        f"With so many articles, {percent(plan.asked.power)} of studies reach this. It assumes that articles vary as "
        "in this run: if others vary more, more of them are needed.",
    ]
    if plan.answers:
        lines.append(f"share: of {OF[plan.asked.of]}. All longer n keep it, too.")
    if any(at.articles is not None and at.articles <= at.seen for pair in plan.pairs for at in pair.lengths):
        lines.append("*: this run has as many.")
    if any(_is_lower(plan, at) for pair in plan.pairs for at in pair.lengths):
        lines.append(f"In brackets: the system scored lower than {plan.names[plan.pairs[0].b]}.")
    lines.append(f"For the test of `nws compare` at one n alone, p below {alpha}. For all n together see --json.")
    if plan.asked.difference is None:
        lines.append("An observed difference may be chance. Set the least that matters to you with --difference.")
    if any(at.articles is None for pair in plan.pairs for at in pair.lengths):
        lines.append(f"{NONE}: more than {MOST_ARTICLES:,}.")
    for line in lines:
        print_line(console, line, style="dim")
