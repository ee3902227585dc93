"""Mean scores by n as tables in LaTeX, for papers."""

from collections.abc import Mapping

from core.text.length import LengthUnit
from jobs.report.formats import latex_cell, tabular
from jobs.report.numbers import RunNumbers, Score
from jobs.terminal.caution import not_equal
from jobs.terminal.console import printable
from jobs.terminal.metrics import metric_name
from jobs.terminal.numerals import decimals
from jobs.terminal.table_style import role


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
