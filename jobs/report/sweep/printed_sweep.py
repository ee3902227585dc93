"""A sweep in the terminal: how many words keep how much, scores by n, and the best n.

Made for any width, with or without colour.
"""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from core.analysis import LEAD, Comparison, MagicNumber, PairedLength, Uncut
from core.analysis.answer import Answer
from jobs.report.means_latex import mean_cell, print_key, print_run
from jobs.report.run_numbers import SweepScore
from jobs.report.sweep import kept_answer
from jobs.report.sweep.numbers import MAY_BE_LARGEST, Numbers, cautions, verdict_lengths
from jobs.store import RunInfo, Store
from jobs.terminal.columns import Column, ColumnSpec, print_table
from jobs.terminal.metrics import metric_name, not_equal
from jobs.terminal.numerals import counted, decimals, interval_text, p_text, signed
from jobs.terminal.system_names import FULL_NAMES, SystemNames, names_of
from jobs.terminal.table_style import (
    NAME_WIDTH,
    WIDTH,
    names_column,
    print_line,
    print_sentence,
    print_title,
    role,
    system_name,
)

_NEARLY_ONE = 0.5
"""A note names two systems that write the same text in at least this share of summaries."""
_MOST_PAIRS = 4
_VERDICT_WIDTH = 13
_CANDIDATES_WIDTH = 24
_LEAST_NAME = 14
"""Columns for a name beside means by n: eleven of them, each of five columns and a blank, are on a line of 80."""


def print_tables(numbers: Numbers, console: Console, where: str = "") -> None:
    """Print the answer for every dataset, then every dataset's tables, to `console`.

    `where` is appended to the commands it names, so that they find the run: such as ` --store URL`.
    """
    print_kept(numbers.kept, numbers.scored, numbers.run, console, where, numbers.names)
    print_kept_notes(numbers.kept, console, numbers.names)
    console.print()
    print_run(numbers, f"seed {numbers.run.seed}", console, where)
    for dataset in numbers.datasets:
        if dataset in numbers.scored:
            _print_curves(dataset, numbers, console)
            _print_best_n(dataset, numbers, console)
            _print_vs_lead(dataset, numbers, console, where)
            _print_vs_cut(dataset, numbers, console)
            _print_other_lengths(dataset, numbers, console)
        notes = (*_left_out(dataset, numbers), *cautions(numbers, dataset), *_same_texts(dataset, numbers))
        if notes:
            print_title(console, f"{dataset}: to keep in mind")
        for note in notes:
            print_line(console, note, style="yellow")
        uncut = [score for score in numbers.uncut if score.dataset == dataset]
        if uncut:
            _print_uncut(dataset, uncut, numbers, console)


def _print_curves(dataset: str, numbers: Numbers, console: Console) -> None:
    by_system, places, best = numbers.of(dataset), numbers.places, numbers.highest(dataset)
    scores = [score for at in by_system.values() for score in at.values()]
    means = [decimals(score.score.mean, places) for score in scores]
    halves = [_half(score.score.half_width, places) for score in scores]
    width = max(*(len(mean) + 1 for mean in means), *map(len, halves))  # a star stands behind a mean
    print_title(console, f"{dataset}: mean {metric_name(numbers.metric)} by n")
    columns = []
    for n in sorted({score.n for score in scores}):
        cells = [_cell(at.get(n), best.get(n), width, places) for at in by_system.values()]
        columns.append(Column(f"{n:>{width - 1}}", cells, width, "left"))
    name_width = min(NAME_WIDTH, max(_LEAST_NAME, WIDTH - (width + 1) * len(columns)))
    names = [system_name(numbers.names[system], numbers.kinds[system], name_width) for system in by_system]
    print_table(names_column("n", names, name_width), columns, console)
    print_line(console, "* highest at that n    ± half of the 95 % interval", style="dim")
    print_key(scores, console)


def _cell(score: SweepScore | None, best: float | None, width: int, places: int) -> Text:
    # Padded here: rich would strip the blank that stands where others have a star.
    if score is None:
        return Text("–".rjust(width - 1))
    cell = mean_cell(score, best, places, width=width - 1)
    half = _half(score.score.half_width, places)
    return cell.append("\n" + half.rjust(width), style="not bold dim")


def _half(half_width: float | None, places: int) -> str:
    return "–" if half_width is None else f"±{decimals(half_width, places)}"


def _print_best_n(dataset: str, numbers: Numbers, console: Console) -> None:
    """The magic number of each system: by mean, and by gain over `random` with all n that may have the largest one."""
    systems = numbers.best_n_of(dataset)
    if not systems:
        return
    print_title(console, f"{dataset}: the best n in {metric_name(numbers.metric)}")
    columns = [column.column(systems) for column in _best_columns(numbers.places)]
    names = [system_name(numbers.names[number.system], number.kind) for number in systems]
    print_table(Column("system", names, NAME_WIDTH, "left"), columns, console)
    print_line(console, f"n that may have the largest gain: {MAY_BE_LARGEST}", style="dim")


def _best_columns(places: int) -> tuple[ColumnSpec[MagicNumber], ...]:
    def gain(number: MagicNumber) -> Text:
        largest = number.largest_gain
        if not largest:
            return Text("–")
        cell = Text(f"{signed(largest.gain.mean, places)} at {largest.n}")
        return cell.append(f"\n{interval_text(largest.gain, places)}", style="dim")

    return (
        ColumnSpec("best_by_mean", lambda number: number.best_by_mean, "best by\nmean"),
        ColumnSpec("largest_gain", lambda number: number.largest_gain, "largest gain\nover random", gain),
        ColumnSpec(
            *("verdict", lambda number: number.verdict, "n that may have\nthe largest gain"),
            align="left",
            width=_CANDIDATES_WIDTH,
        ),
    )


def _print_vs_lead(dataset: str, numbers: Numbers, console: Console, where: str) -> None:
    """Where each system is better or worse than `lead`. A system that does not beat `lead` is not worth running."""
    by_system = numbers.vs_lead_of(dataset)
    if not by_system:
        return
    print_title(console, f"{dataset}: vs. {numbers.names[LEAD]} at equal n")
    columns = []
    for metric in numbers.vs_lead:
        cells = [_verdicts(by_metric.get(metric)) for by_metric in by_system.values()]
        columns.append(Column(metric_name(metric), cells, _VERDICT_WIDTH, "left"))
    names = [system_name(numbers.names[system], "system", NAME_WIDTH - 1) for system in by_system]
    print_table(Column("system", names, NAME_WIDTH - 1, "left"), columns, console)
    key = (
        "–: no difference shown. Sign-flip test, corrected over the n (Holm): 5 % error in each column of each system."
    )
    print_line(console, f"{key} The numbers: nws compare {numbers.run.id}{where}", style="dim")


def _print_vs_cut(dataset: str, numbers: Numbers, console: Console) -> None:
    """What it does to the scores that a text is kept to n words, and not cut to them."""
    comparisons = [comparison for comparison in numbers.vs_cut if comparison.dataset == dataset]
    if not comparisons:
        return
    print_title(console, f"{dataset}: {metric_name(numbers.metric)} of texts kept to n words, minus texts cut to n")
    columns = []
    for n in sorted({at.n for comparison in comparisons for at in comparison.lengths}):
        at_n = [next((at for at in one.lengths if at.n == n), None) for one in comparisons]
        columns.append(Column(str(n), [_difference(at, numbers.places) for at in at_n]))
    names = [system_name(numbers.names[comparison.a], "system") for comparison in comparisons]
    print_table(names_column("n", names), columns, console)
    cells = "In a cell: mean difference of an article, and p of the sign-flip test, corrected over the n (Holm)."
    print_line(console, f"{cells} * below 0.05", style="dim")


def _difference(at: PairedLength | None, places: int) -> Text:
    if at is None:
        return Text("–")
    mark = "*" if at.significant else ""
    return Text(f"{signed(at.difference.mean, places)}{mark}\n{p_text(at.p_holm, 3)}", "bold" if mark else "")


def _print_other_lengths(dataset: str, numbers: Numbers, console: Console) -> None:
    """Mean words by n of the systems that do not write n."""
    by_system = numbers.other_lengths_of(dataset)
    if not by_system:
        return
    unit = numbers.run.length_unit
    which = "of systems that do not always write n" if unit == "words" else f"of summaries of at most n {unit}"
    print_title(console, f"{dataset}: mean words, {which}")
    lengths = sorted({n for words in by_system.values() for n in words})
    columns = [
        Column(str(n), [Text(f"{words[n]:.1f}" if n in words else "–") for words in by_system.values()])
        for n in lengths
    ]
    names = [system_name(numbers.names[system], numbers.kinds[system]) for system in by_system]
    print_table(Column("n", names, NAME_WIDTH, "left"), columns, console)
    print_line(console, not_equal(unit), style="yellow")


def _verdicts(comparison: Comparison | None) -> Text:
    if comparison is None:
        return Text("–")
    better, worse = verdict_lengths(comparison)
    parts = [f"better {better}"] * bool(better) + [f"worse {worse}"] * bool(worse)
    return Text("\n".join(parts) or "–", style="bold" if worse else "")


def _left_out(dataset: str, numbers: Numbers) -> Iterator[str]:
    """Which articles are not among those of the means."""
    by_system = numbers.of(dataset)
    points = [score for at in by_system.values() for score in at.values()]
    for system, at in by_system.items():
        apart = [score for score in at.values() if not score.comparable]
        if apart:
            fewest = min(apart, key=lambda score: score.articles / score.of_articles)
            articles = f"{fewest.articles} of {counted(fewest.of_articles, 'article')}"
            yield f"{numbers.names[system]} has {articles} at n = {fewest.n}."
    left_out = max((point.of_articles - point.articles for point in points if point.comparable), default=0)
    if left_out:
        articles = counted(left_out, "article")
        yield f"Left out of the means: articles that lack a summary by some system, at most {articles} at any n."


def _same_texts(dataset: str, numbers: Numbers) -> Iterator[str]:
    same = [pair for pair in numbers.same_texts if pair.dataset == dataset and pair.share >= _NEARLY_ONE]
    for pair in same[:_MOST_PAIRS]:
        a, b = numbers.names[pair.a], numbers.names[pair.b]
        yield f"{a} and {b} wrote the same text in {100 * pair.share:.0f} % of summaries."
    if len(same) > _MOST_PAIRS:
        pairs = counted(len(same) - _MOST_PAIRS, "more pair")
        yield f"{pairs} wrote the same text in at least half of the summaries (report.json)."


def _print_uncut(dataset: str, uncut: list[Uncut], numbers: Numbers, console: Console) -> None:
    print_title(console, f"{dataset}: summaries of their own length")
    name, places = metric_name(numbers.metric), numbers.places
    columns: tuple[ColumnSpec[Uncut], ...] = (
        ColumnSpec("articles", lambda uncut: uncut.articles),
        ColumnSpec("words", lambda uncut: uncut.words, "mean\nwords", lambda uncut: f"{uncut.words:.1f}"),
        ColumnSpec(
            *("mean", lambda uncut: uncut.score.mean, f"mean\n{name}"),
            shown=lambda uncut: decimals(uncut.score.mean, places),
        ),
        ColumnSpec(
            *("interval", lambda uncut: uncut.score, "95 % interval"),
            shown=lambda uncut: interval_text(uncut.score, places),
        ),
    )
    names = [Text(numbers.names[score.system] + role(score.kind)) for score in uncut]
    print_table(names_column("system", names), [column.column(uncut) for column in columns], console)


def print_kept(
    answer: Answer,
    datasets: tuple[str, ...],
    run: RunInfo,
    console: Console,
    where: str,
    names: SystemNames = FULL_NAMES,
) -> None:
    """Print the answer of each dataset, in at most five lines. `where` is what `nws` needs to find the run."""
    for i, dataset in enumerate(datasets):
        if i > 0:
            console.print()
        print_line(console, kept_answer.heading(answer, dataset), style="bold underline")
        for name, sentence in kept_answer.sentences(answer, dataset, names):
            more = (
                f" Articles needed for narrower intervals: nws plan {run.id}{where}" if name == kept_answer.NEXT else ""
            )
            print_sentence(console, name, sentence + more)


def print_kept_notes(answer: Answer, console: Console, names: SystemNames = FULL_NAMES) -> None:
    """Print how to read these answers."""
    if answer.of_systems:
        console.print()
        shared = [f"Systems: {shared}." for shared in names.shared]
        for note in (*shared, kept_answer.HOW_SURE, kept_answer.WHAT_IT_IS):
            print_line(console, note, style="dim")


def print_kept_of_run(store: Store, run: RunInfo, console: Console, where: str) -> None:
    """Print the answers of a run; nothing if it has no summaries."""
    if run.summaries:
        answer = store.answer(run.id)
        print_kept(answer, answer.datasets, run, console, where, names_of([run], answer.systems))
        console.print()
