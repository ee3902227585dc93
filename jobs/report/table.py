"""A sweep in the terminal: F1 by n, and which n to choose. Made for 80 columns, with or without colour."""

import re

from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.analysis import RANDOM, Curve, CurvePoint, MagicNumber, Uncut, lengths_text
from jobs.report.numbers import FEW_ARTICLES, Numbers

_NAME = 24
"""Columns for a system's name, which leaves eleven n of five columns each on a line of 80."""


def print_tables(numbers: Numbers, console: Console) -> None:
    """Print every dataset's tables to `console`."""
    run = numbers.run
    _line(console, f"Run {run.id}: {run.state}, {run.articles} articles, {run.failures} failed, seed {run.seed}")
    _line(console, f"Metric: BERTScore F1, {run.bertscore}", style="dim")
    for dataset in numbers.datasets:
        curves, magic = numbers.curves_of(dataset), numbers.magic_numbers_of(dataset)
        if curves:
            _print_curves(dataset, curves, console)
            _print_magic_numbers(dataset, magic, console)
            _print_notes(magic, console)
        uncut = [found for found in numbers.uncut if found.dataset == dataset]
        if uncut:
            _print_uncut(dataset, uncut, console)


def _line(console: Console, text: str, style: str = "") -> None:
    # Text, not str: a system or dataset name may hold [brackets], which rich would read as markup.
    console.print(Text(text, style=style))


def _title(console: Console, text: str) -> None:
    console.print()
    _line(console, text, style="bold underline")


def _table() -> Table:
    return Table(box=None, padding=0, pad_edge=False, header_style="bold")


def _print_curves(dataset: str, curves: tuple[Curve, ...], console: Console) -> None:
    cells = {(curve.system, point.n): point for curve in curves for point in curve.lengths}
    lengths = sorted({n for _, n in cells})
    best = {n: max(round(point.mean, 3) for (_, at), point in cells.items() if at == n) for n in lengths}
    width = 1 + max(len(_decimals(point.mean)) for point in cells.values())
    per_table = max(1, (console.width - _NAME) // width)
    _title(console, f"{dataset}: mean F1 by n")
    for start in range(0, len(lengths), per_table):
        block = lengths[start : start + per_table]
        table = _table()
        table.add_column("n", width=_NAME, overflow="fold")
        for n in block:
            table.add_column(f"{n:>{width - 1}}", width=width)
        for curve in curves:
            found = [cells.get((curve.system, n)) for n in block]
            row = [_cell(point, best[point.n], width - 1) if point else Text("–".rjust(width - 1)) for point in found]
            table.add_row(_name(curve.system, is_control=curve.is_control), *row)
        console.print(table)
    _line(console, "* highest at that n    ± half of the 95 % interval, in thousandths", style="dim")


def _cell(point: CurvePoint, best: float, width: int) -> Text:
    # Padded here: rich would strip the blank that stands where others have a star.
    is_best = round(point.mean, 3) == best
    cell = Text(f"{_decimals(point.mean):>{width}}{'*' if is_best else ''}", style="bold" if is_best else "")
    return cell.append("\n" + f"±{1000 * point.half_width:.0f}".rjust(width), style="not bold dim")


def _decimals(value: float) -> str:
    """Three decimals without the leading zero: ".432"."""
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.3f}"


def _name(system: str, *, is_control: bool) -> Text:
    """The name, broken after a "|" where it is too long for its column, and after "-" or "/" where a part still is."""
    lines = [""]
    for part in re.findall(r"[^|]*\|?", system):
        for piece in [part] if len(part) < _NAME else re.findall(r"[^/-]*[/-]?", part):
            if lines[-1] and len(lines[-1]) + len(piece) >= _NAME:
                lines.append(" ")
            lines[-1] += piece
    name = Text("\n".join(lines))
    return name.append(" (control)", style="dim") if is_control else name


def _print_magic_numbers(dataset: str, magic: tuple[MagicNumber, ...], console: Console) -> None:
    systems = [number for number in magic if not number.is_control]
    if not systems:
        return
    _title(console, f"{dataset}: which n?")
    _line(console, "Best n of each article (median, most frequent), then by mean F1", style="dim")
    table = _table()
    table.padding = (0, 1, 0, 0)
    table.add_column("system", width=_NAME, overflow="fold")
    table.add_column("median\nbest n", justify="right", width=6)
    table.add_column("most often\nbest", justify="right", width=10)
    table.add_column("best by\nmean F1", justify="right", width=7)
    table.add_column("largest gain\nover random", justify="right", width=13)
    table.add_column("recommended\nn", overflow="fold", min_width=11)
    for number in systems:
        table.add_row(_name(number.system, is_control=False), *_answers(number), Text(number.verdict, "bold"))
    console.print(table)


def _answers(number: MagicNumber) -> list[Text]:
    often, largest = number.most_frequent, number.largest_gain
    gain = Text("–")
    if largest:
        low, high = (_decimals(end) for end in (largest.gain.low, largest.gain.high))
        sign = "+" if largest.gain.mean >= 0 else ""
        gain = Text(f"{sign}{_decimals(largest.gain.mean)} at {largest.n}")
        gain.append(f"\n{low} to {high}", style="dim")
    return [
        Text("–" if number.median is None else f"{number.median:g}"),
        Text("–" if often is None else f"{often} ({number.best_per_article[often]:.0%})"),
        Text("–" if number.best_by_mean is None else str(number.best_by_mean)),
        gain,
    ]


def _print_notes(magic: tuple[MagicNumber, ...], console: Console) -> None:
    """How to read the tables, in two lines, and what the reader must know about these articles."""
    random = next((number for number in magic if number.system == RANDOM), None)
    if random and random.best_by_mean is not None:
        told = f"{RANDOM} alone does best at n = {random.best_by_mean}."
    else:
        told = f"no {RANDOM} here to tell how much."
    _line(console, f"Best n by F1 is partly an effect of length: {told}")
    if random:
        _line(console, "Recommended: gain over random above 0, and not clearly below the largest (95 %).")
    _print_beside_lead(magic, console)
    for note in _cautions(magic):
        _line(console, note, style="yellow")


def _print_beside_lead(magic: tuple[MagicNumber, ...], console: Console) -> None:
    """Where each system is better or worse than `lead`, which a system has to beat to be worth running."""
    compared = [number for number in magic if not number.is_control and any(gain.over_lead for gain in number.gains)]
    if not compared:
        return
    _line(console, "Beside lead at equal n (paired, 95 %):")
    for number in compared:
        tested = tuple(gain.n for gain in number.gains)
        better = lengths_text(tested, number.better_than_lead) or "no n"
        worse = lengths_text(tested, number.worse_than_lead)
        _line(console, f"  {number.system}: better at {better}" + (f", WORSE at {worse}" if worse else ""))


def _cautions(magic: tuple[MagicNumber, ...]) -> list[str]:
    cautions = []
    fewest = min(number.articles for number in magic)
    if fewest < FEW_ARTICLES:
        cautions.append(f"Few articles ({fewest}): the intervals are too narrow, take n as a hint.")
    dropped = max(number.dropped for number in magic)
    if dropped:
        cautions.append(f"{_count(dropped)} left out of this table for lacking some n (the most of any system).")
    short = {article for number in magic for article in number.short}
    if short:
        cautions.append(f"{_count(len(short))} with summaries of fewer words than n (named in report.json).")
    return cautions


def _count(articles: int) -> str:
    return f"{articles} article" if articles == 1 else f"{articles} articles"


def _print_uncut(dataset: str, uncut: list[Uncut], console: Console) -> None:
    _title(console, f"{dataset}: summaries of their own length")
    table = _table()
    table.padding = (0, 2, 0, 0)
    table.add_column("system", max_width=40, overflow="fold")
    for heading in ("articles", "mean words", "mean F1", "95 % interval"):
        table.add_column(heading, justify="right")
    for found in uncut:
        low, high = _decimals(found.score.low), _decimals(found.score.high)
        table.add_row(
            Text(found.system),
            str(found.articles),
            f"{found.words:.1f}",
            _decimals(found.score.mean),
            f"{low} to {high}",
        )
    console.print(table)
