"""Mean scores and content kept by n as tables in LaTeX, for papers; content kept also as rows of a file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from core.analysis import Interval, SystemScore
from core.analysis.content_kept import KEPT, ContentKept, Share
from core.text.length import LengthUnit
from jobs.report.formats import latex_cell, tabular
from jobs.report.run_numbers import RunNumbers, Score, SweepScore, interval_columns
from jobs.report.sweep.kept_answer import basis
from jobs.report.sweep.numbers import Numbers
from jobs.store import RunInfo
from jobs.terminal.columns import ColumnSpec
from jobs.terminal.console import printable
from jobs.terminal.metrics import metric_name, metric_signature, not_equal
from jobs.terminal.numerals import counted, decimals
from jobs.terminal.table_style import (
    UPPER_BOUND_NOTE,
    print_line,
    print_metric,
    print_sentence,
    print_shared,
    print_title,
    print_unit,
    role,
)


def means_latex(numbers: RunNumbers[Score], articles: str = "", *notes: str) -> str:
    """A table for each dataset: systems by n, each mean with half of its 95 % interval, the highest in bold.

    Comments say what made the numbers. It needs the package booktabs.

    Args:
        numbers: of a sweep, or of trained policies.
        articles: said after "by n" in what a table shows.
        notes: further comments on how to read the numbers.
    """
    return _comments(numbers, *notes) + "".join(_table(numbers, dataset, articles) for dataset in numbers.scored)


def _comments(numbers: RunNumbers[Score], *notes: str) -> str:
    """What made the numbers, and how to read them."""
    run = numbers.run
    lines = [
        f"Run {run.id}, {run.state}, seed {run.seed}, code {run.code_version}.",
        f"{metric_name(numbers.metric)}: {numbers.signature}",
        r"Needs \usepackage{booktabs}. Subscripts: half of the 95 % interval.",
        "Bold: the highest at that n, upper bounds aside.",
        "A degree sign: the system lacks articles that others have, so its mean is not compared with theirs.",
        *notes,
        *(f"Systems: {shared}." for shared in numbers.names.shared),
    ]
    return "".join(f"% {printable(line)}\n" for line in lines)


def _table(numbers: RunNumbers[Score], dataset: str, articles: str) -> str:
    heading = f"{dataset}: mean {metric_name(numbers.metric)} by n{articles}"
    if words := _words_comment(numbers.other_lengths_named(dataset), numbers.run.length_unit):
        heading = f"{heading}. {words}"
    scores, best, places = numbers.of(dataset), numbers.highest(dataset), numbers.places
    lengths = sorted({n for at in scores.values() for n in at})
    lines = []
    for system, at in scores.items():
        highest = {} if numbers.kinds[system] == "upper bound" else best
        cells = [_cell(at.get(n), highest.get(n), places) for n in lengths]
        lines.append([latex_cell(numbers.names[system] + role(numbers.kinds[system])), *cells])
    table = tabular("l" + "r" * len(lengths), ["$n$", *map(str, lengths)], lines)
    return f"\n% {printable(heading)}\n{table}"


def _words_comment(other_lengths: Mapping[str, Mapping[int, float]], unit: LengthUnit) -> str:
    """Who wrote how many words instead of n, and what that means; "" if all wrote n."""
    told = [
        f"{system} wrote {', '.join(f'{words:.1f} words at n = {n}' for n, words in by_n.items() if words != n)}."
        for system, by_n in other_lengths.items()
    ]
    return " ".join((*told, not_equal(unit))) if told else ""


def _cell(at: Score | None, best: float | None, places: int) -> str:
    if at is None:
        return "--"
    mean = at.score
    shown = decimals(mean.mean, places).replace("-", "$-$")
    if not at.comparable:
        shown += r"$^{\circ}$"
    elif round(mean.mean, places) == best:
        shown = rf"\textbf{{{shown}}}"
    half = "" if mean.half_width is None else rf"$_{{\pm{decimals(mean.half_width, places)}}}$"
    return shown + half


_HALF = 0.5


@dataclass(frozen=True, slots=True)
class ShareRow:
    """What a system keeps of a ceiling at n words."""

    kept: ContentKept
    at: Share


def share_rows(numbers: Numbers) -> list[ShareRow]:
    """A row for each dataset, system, ceiling and n."""
    return [ShareRow(kept, at) for kept in numbers.kept.of_systems for at in kept.lengths]


def share_columns(run: RunInfo) -> tuple[ColumnSpec[ShareRow], ...]:
    """The columns of these rows in a file."""
    return (
        ColumnSpec("run", lambda row: run.id),
        ColumnSpec("metric", lambda row: KEPT),
        ColumnSpec("signature", lambda row: metric_signature(run, KEPT)),
        ColumnSpec("dataset", lambda row: row.kept.dataset),
        ColumnSpec("system", lambda row: row.kept.system),
        ColumnSpec("is_control", lambda row: int(row.kept.kind == "control")),
        ColumnSpec("is_upper_bound", lambda row: int(row.kept.kind == "upper bound")),
        ColumnSpec("of", lambda row: row.kept.of),
        ColumnSpec("n", lambda row: row.at.n),
        ColumnSpec("articles", lambda row: row.at.articles),
        *interval_columns("", lambda row: row.at.share),
    )


def kept_latex(numbers: Numbers) -> str:
    """A table for each dataset: systems by n, their shares in per cent, and from which n on half is kept.

    Comments say what made the numbers. It needs the package booktabs.
    """
    run = numbers.run
    notes = (
        f"Run {run.id}, {run.state}, seed {run.seed}, code {run.code_version}.",
        f"content kept: {metric_signature(run, KEPT)}",
        "Per cent of the reference's content. Subscripts: half of the 95 % interval.",
        r"Needs \usepackage{booktabs}. half: the smallest n from which on half is kept, and its 95 % interval.",
        *(f"Systems: {shared}." for shared in numbers.names.shared),
    )
    tables = (_kept_table(numbers, dataset) for dataset in numbers.kept.datasets)
    return "".join(f"% {printable(note)}\n" for note in notes) + "".join(tables)


def _kept_table(numbers: Numbers, dataset: str) -> str:
    of_reference = [held["reference"] for held in numbers.kept.of(dataset).values()]
    lengths = sorted({at.n for kept in of_reference for at in kept.lengths})
    names = numbers.names
    lines = [[latex_cell(names[kept.system] + role(kept.kind)), *_kept_cells(kept, lengths)] for kept in of_reference]
    heading = printable(f"{dataset}: content kept by n, {basis(numbers.kept, dataset)}")
    return f"\n% {heading}\n{tabular('l' + 'r' * (len(lengths) + 1), ['$n$', *map(str, lengths), 'half'], lines)}"


def _kept_cells(kept: ContentKept, lengths: Sequence[int]) -> Iterator[str]:
    by_n = {at.n: at.share for at in kept.lengths}
    yield from (_share_cell(by_n.get(n)) for n in lengths)
    half = kept.by_share[_HALF]
    low, high = (f"$>${kept.longest}" if end is None else str(end) for end in (half.low, half.high))
    yield f"$>${kept.longest}" if half.n is None else f"{half.n} ({low}--{high})"


def _share_cell(share: Interval | None) -> str:
    if share is None:
        return "--"
    mean = f"{100 * share.mean + 0.0:.0f}".replace("-", "$-$")
    return mean if share.half_width is None else rf"{mean}$_{{\pm{100 * share.half_width:.0f}}}$"


_APART = "°"


def print_run(numbers: RunNumbers[Score], seeds: str, console: Console, where: str) -> None:
    """Print which run it is, and in which metric. `where` is what `nws` needs to find the run."""
    run = numbers.run
    print_line(
        console, f"Run {run.id}: {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed, {seeds}"
    )
    print_unit(run.length_unit, console)
    print_metric(numbers.metric, numbers.signature, run.id, console, where)
    print_shared(numbers.names, console)


def print_answer(
    console: Console, title: str, headline: str, sentences: Iterable[tuple[str, str]], known: Iterable[str]
) -> None:
    """Print an answer: in one sentence, in one for each system, and what it rests on."""
    print_title(console, title)
    if headline:
        print_line(console, headline, style="bold")
    for system, sentence in sentences:
        print_sentence(console, system, sentence)
    for sentence in known:
        print_line(console, sentence, style="dim")


def mean_cell(
    score: SweepScore | SystemScore, best: float | None, places: int, *, width: int = 0, blank: str = ""
) -> Text:
    """A mean, with a star if it is the `best` at its n; `blank` stands where others have the star."""
    is_best = score.comparable and score.kind != "upper bound" and round(score.score.mean, places) == best
    mark = "*" if is_best else blank if score.comparable else _APART
    return Text(f"{decimals(score.score.mean, places):>{width}}{mark}", style="bold" if is_best else "")


def print_key(scores: Sequence[SweepScore | SystemScore], console: Console, *notes: str) -> None:
    """Print how to read marks and systems of a table of means, with further notes."""
    if any(not score.comparable for score in scores):
        print_line(
            console, f"{_APART} lacks articles that others have: this mean is not compared with theirs", style="dim"
        )
    for note in notes:
        print_line(console, note, style="dim")
    if any(score.kind == "upper bound" for score in scores):
        print_line(console, UPPER_BOUND_NOTE, style="dim")
