"""A sweep in the terminal: F1 by n, and which n to choose. Made for 80 columns, with or without colour."""

from math import inf

from rich.console import Console
from rich.text import Text

from core.analysis import RANDOM, Curve, CurvePoint, MagicNumber, Uncut, lengths_text
from jobs.report.run_facts import FEW_ARTICLES, bertscore_signature
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.table_style import (
    NAME_WIDTH,
    UPPER_BOUND_NOTE,
    decimals,
    make_table,
    print_line,
    print_title,
    role,
    system_name,
)


def print_tables(numbers: Numbers, console: Console) -> None:
    """Print every dataset's tables to `console`."""
    run = numbers.run
    print_line(
        console, f"Run {run.id}: {run.state}, {run.articles_done} articles, {run.failures} failed, seed {run.seed}"
    )
    print_line(console, f"Metric: BERTScore F1, {bertscore_signature(run)}", style="dim")
    for dataset in numbers.datasets:
        curves, magic = numbers.curves_of(dataset), numbers.magic_numbers_of(dataset)
        if curves:
            _print_curves(dataset, curves, console)
            _print_magic_numbers(dataset, magic, console)
            _print_notes(magic, console)
        uncut = [found for found in numbers.uncut if found.dataset == dataset]
        if uncut:
            _print_uncut(dataset, uncut, console)


def _print_curves(dataset: str, curves: tuple[Curve, ...], console: Console) -> None:
    points = [point for curve in curves for point in curve.lengths]
    lengths = sorted({point.n for point in points})
    best = _best(curves)
    width = 1 + max(len(decimals(point.mean)) for point in points)
    per_table = max(1, (console.width - NAME_WIDTH) // width)
    print_title(console, f"{dataset}: mean F1 by n")
    for start in range(0, len(lengths), per_table):
        block = lengths[start : start + per_table]
        table = make_table()
        table.add_column("n", width=NAME_WIDTH, overflow="fold")
        for n in block:
            table.add_column(f"{n:>{width - 1}}", width=width)
        for curve in curves:
            at = {point.n: point for point in curve.lengths}
            stars = {} if curve.kind == "upper bound" else best
            table.add_row(
                system_name(curve.system, curve.kind), *(_cell(at.get(n), stars.get(n), width - 1) for n in block)
            )
        console.print(table)
    print_line(console, "* highest at that n    ± half of the 95 % interval, in thousandths", style="dim")
    if any(curve.kind == "upper bound" for curve in curves):
        print_line(console, UPPER_BOUND_NOTE, style="dim")


def _best(curves: tuple[Curve, ...]) -> dict[int, float]:
    """The highest mean at each n, as it is shown. Upper bounds take no part: they saw the reference."""
    best: dict[int, float] = {}
    for curve in curves:
        for point in curve.lengths if curve.kind != "upper bound" else ():
            best[point.n] = max(best.get(point.n, -inf), round(point.mean, 3))
    return best


def _cell(point: CurvePoint | None, best: float | None, width: int) -> Text:
    # Padded here: rich would strip the blank that stands where others have a star.
    if point is None:
        return Text("–".rjust(width))
    is_best = round(point.mean, 3) == best
    cell = Text(f"{decimals(point.mean):>{width}}{'*' if is_best else ''}", style="bold" if is_best else "")
    return cell.append("\n" + f"±{1000 * point.half_width:.0f}".rjust(width), style="not bold dim")


def _print_magic_numbers(dataset: str, magic: tuple[MagicNumber, ...], console: Console) -> None:
    systems = [number for number in magic if number.kind != "control"]
    if not systems:
        return
    print_title(console, f"{dataset}: which n?")
    print_line(console, "Best n of each article (median, most frequent), then by mean F1", style="dim")
    table = make_table(gap=1)
    table.add_column("system", width=NAME_WIDTH, overflow="fold")
    table.add_column("median\nbest n", justify="right", width=6)
    table.add_column("most often\nbest", justify="right", width=10)
    table.add_column("best by\nmean F1", justify="right", width=7)
    table.add_column("largest gain\nover random", justify="right", width=13)
    table.add_column("recommended\nn", overflow="fold", min_width=11)
    for number in systems:
        table.add_row(system_name(number.system, number.kind), *_answers(number), Text(number.verdict, "bold"))
    console.print(table)


def _answers(number: MagicNumber) -> list[Text]:
    often, largest = number.most_frequent, number.largest_gain
    gain = Text("–")
    if largest:
        low, high = (decimals(end) for end in (largest.gain.low, largest.gain.high))
        sign = "+" if largest.gain.mean >= 0 else ""
        gain = Text(f"{sign}{decimals(largest.gain.mean)} at {largest.n}")
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
    print_line(console, f"Best n by F1 is partly an effect of length: {told}")
    if random:
        print_line(console, "Recommended: gain over random above 0, and not clearly below the largest (95 %).")
    _print_beside_lead(magic, console)
    for note in _cautions(magic):
        print_line(console, note, style="yellow")


def _print_beside_lead(magic: tuple[MagicNumber, ...], console: Console) -> None:
    """Where each system is better or worse than `lead`, which a system has to beat to be worth running."""
    compared = [number for number in magic if number.kind != "control" and any(gain.over_lead for gain in number.gains)]
    if not compared:
        return
    print_line(console, "Beside lead at equal n (paired, 95 %):")
    for number in compared:
        tested = tuple(gain.n for gain in number.gains)
        better = lengths_text(tested, number.better_than_lead) or "no n"
        worse = lengths_text(tested, number.worse_than_lead)
        print_line(console, f"  {number.system}: better at {better}" + (f", WORSE at {worse}" if worse else ""))


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
    print_title(console, f"{dataset}: summaries of their own length")
    table = make_table(gap=2)
    table.add_column("system", max_width=40, overflow="fold")
    for heading in ("articles", "mean words", "mean F1", "95 % interval"):
        table.add_column(heading, justify="right")
    for found in uncut:
        low, high = decimals(found.score.low), decimals(found.score.high)
        table.add_row(
            Text(found.system + role(found.kind)),
            str(found.articles),
            f"{found.words:.1f}",
            decimals(found.score.mean),
            f"{low} to {high}",
        )
    console.print(table)
