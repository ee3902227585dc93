"""A sweep in the terminal: F1 by n, and which n to choose. Made for 80 columns, with or without colour."""

from collections.abc import Iterator, Mapping
from math import inf

from rich.console import Console
from rich.text import Text

from core.analysis import LEAD, RANDOM, Comparison, Curve, CurvePoint, MagicNumber, Metric, Uncut, lengths_text
from jobs.report.run_facts import bertscore_signature, short_note
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.caution import few
from jobs.terminal.table_style import (
    NAME_WIDTH,
    UPPER_BOUND_NOTE,
    decimals,
    interval_text,
    make_table,
    print_line,
    print_title,
    role,
    system_name,
)

_APART = "°"
_NEARLY_ONE = 0.5
"""Two systems that write the same text in as large a share of summaries are said to."""
_MOST_PAIRS = 4
_METRIC_NAMES: Mapping[Metric, str] = {
    "bertscore_f1": "BERTScore F1",
    "rouge1_f1": "ROUGE-1 F1",
    "rouge2_f1": "ROUGE-2 F1",
    "rougel_f1": "ROUGE-L F1",
}


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
            _print_how_to_read(magic, console)
            _print_vs_lead(dataset, numbers, console)
        for note in _cautions(dataset, numbers):
            print_line(console, note, style="yellow")
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
    if any(not point.comparable for point in points):
        print_line(
            console, f"{_APART} lacks articles that others have: this mean is not held against theirs", style="dim"
        )
    if any(curve.kind == "upper bound" for curve in curves):
        print_line(console, UPPER_BOUND_NOTE, style="dim")


def _best(curves: tuple[Curve, ...]) -> dict[int, float]:
    """The highest mean at each n, as it is shown. Upper bounds take no part: they saw the reference."""
    best: dict[int, float] = {}
    for curve in curves:
        for point in curve.lengths if curve.kind != "upper bound" else ():
            if point.comparable:
                best[point.n] = max(best.get(point.n, -inf), round(point.mean, 3))
    return best


def _cell(point: CurvePoint | None, best: float | None, width: int) -> Text:
    # Padded here: rich would strip the blank that stands where others have a star.
    if point is None:
        return Text("–".rjust(width))
    is_best = point.comparable and round(point.mean, 3) == best
    mark = "*" if is_best else "" if point.comparable else _APART
    cell = Text(f"{decimals(point.mean):>{width}}{mark}", style="bold" if is_best else "")
    half = "–" if point.half_width is None else f"±{1000 * point.half_width:.0f}"
    return cell.append("\n" + half.rjust(width), style="not bold dim")


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
        sign = "+" if largest.gain.mean >= 0 else ""
        gain = Text(f"{sign}{decimals(largest.gain.mean)} at {largest.n}")
        gain.append(f"\n{interval_text(largest.gain)}", style="dim")
    return [
        Text("–" if number.median is None else f"{number.median:g}"),
        Text("–" if often is None else f"{often} ({number.best_per_article[often]:.0%})"),
        Text("–" if number.best_by_mean is None else str(number.best_by_mean)),
        gain,
    ]


def _print_how_to_read(magic: tuple[MagicNumber, ...], console: Console) -> None:
    if all(number.kind == "control" for number in magic):
        return
    random = next((number for number in magic if number.system == RANDOM), None)
    if random and random.best_by_mean is not None:
        told = f"{RANDOM} alone does best at n = {random.best_by_mean}."
    else:
        told = f"no {RANDOM} here to tell how much."
    print_line(console, f"Best n by F1 is partly an effect of length: {told}")
    if random:
        print_line(console, "Recommended: one of these n has the largest gain over random (95 % confidence).")
        print_line(console, f"None, if the system is not shown to beat {RANDOM} (5 % error over its n).")


def _print_vs_lead(dataset: str, numbers: Numbers, console: Console) -> None:
    """Where each system is better or worse than `lead`, which a system has to beat to be worth running."""
    found = numbers.vs_lead_of(dataset)
    if not found:
        return
    print_title(console, f"{dataset}: vs. {LEAD} at equal n")
    table = make_table(gap=1)
    table.add_column("system", width=NAME_WIDTH - 1, overflow="fold")
    for heading in _METRIC_NAMES.values():
        table.add_column(heading, width=13, overflow="fold")
    for system, by_metric in found.items():
        table.add_row(system_name(system, "system"), *(_verdicts(by_metric.get(metric)) for metric in _METRIC_NAMES))
    console.print(table)
    print_line(console, "–: no difference shown. Sign-flip test, corrected over the n (Holm): 5 % error", style="dim")
    print_line(console, "in each column of each system. The numbers: nws compare.", style="dim")


def _verdicts(found: Comparison | None) -> Text:
    if found is None:
        return Text("–")
    tested = tuple(at.n for at in found.lengths)
    better = lengths_text(tested, tuple(at.n for at in found.lengths if at.better))
    worse = lengths_text(tested, tuple(at.n for at in found.lengths if at.worse))
    told = [f"better {better}"] * bool(better) + [f"worse {worse}"] * bool(worse)
    return Text("\n".join(told) or "–", style="bold" if worse else "")


def _cautions(dataset: str, numbers: Numbers) -> Iterator[str]:
    """What the reader must know about these articles and systems."""
    magic, curves = numbers.magic_numbers_of(dataset), numbers.curves_of(dataset)
    points = [point for curve in curves for point in curve.lengths]
    if points and (caution := few(min(point.articles for point in points))):
        yield caution
    for curve in curves:
        apart = [point for point in curve.lengths if not point.comparable]
        if apart:
            fewest = min(apart, key=lambda point: point.articles / point.of_articles)
            yield f"{curve.system} has {fewest.articles} of {_count(fewest.of_articles)} at n = {fewest.n}."
    left_out = max((point.of_articles - point.articles for point in points if point.comparable), default=0)
    if left_out:
        yield f"{_count(left_out)} left out of the means for lacking a summary by some system (the most at any n)."
    dropped = max((number.dropped for number in magic), default=0)
    if dropped:
        yield f"{_count(dropped)} left out of the best n of each article for lacking some n (the most of any system)."
    if any(of == dataset for of, _ in numbers.short):
        yield short_note(dataset, numbers.short)
    same = [pair for pair in numbers.same_texts if pair.dataset == dataset and pair.share >= _NEARLY_ONE]
    for pair in same[:_MOST_PAIRS]:
        yield f"{pair.a} and {pair.b} wrote the same text in {pair.share:.0%} of summaries."
    if len(same) > _MOST_PAIRS:
        yield f"{len(same) - _MOST_PAIRS} more pairs wrote the same in half of them or more (report.json)."


def _count(articles: int) -> str:
    return f"{articles} article" if articles == 1 else f"{articles} articles"


def _print_uncut(dataset: str, uncut: list[Uncut], console: Console) -> None:
    print_title(console, f"{dataset}: summaries of their own length")
    table = make_table(gap=2)
    table.add_column("system", max_width=40, overflow="fold")
    for heading in ("articles", "mean words", "mean F1", "95 % interval"):
        table.add_column(heading, justify="right")
    for found in uncut:
        table.add_row(
            Text(found.system + role(found.kind)),
            str(found.articles),
            f"{found.words:.1f}",
            decimals(found.score.mean),
            interval_text(found.score),
        )
    console.print(table)
