"""A sweep in the terminal: which n to choose, then scores by n. Made for any width, with or without colour."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from core.analysis import LEAD, Comparison, CurvePoint, MagicNumber, Uncut, lengths_text
from jobs.report.run_facts import short_note
from jobs.report.sweep.answer import headline, sentences, what_is_known
from jobs.report.sweep.numbers import Numbers, highest_means
from jobs.terminal.caution import NOT_EQUAL
from jobs.terminal.metrics import metric_name, metric_places, metric_signature
from jobs.terminal.numerals import counted, decimals, interval_text, signed
from jobs.terminal.parted_table import Column, print_table
from jobs.terminal.table_style import (
    NAME_WIDTH,
    UPPER_BOUND_NOTE,
    names_column,
    print_line,
    print_metric,
    print_sentence,
    print_title,
    role,
    system_name,
)

_APART = "°"
_NEARLY_ONE = 0.5
"""A note names two systems that write the same text in at least this share of summaries."""
_MOST_PAIRS = 4
_VERDICT_WIDTH = 13
_STRETCHED = {3: "thousandths", 4: "ten-thousandths"}


def print_tables(numbers: Numbers, console: Console, where: str = "") -> None:
    """Print the answer for every dataset, then every dataset's tables, to `console`.

    `where` is appended to the commands it names, so that they find the run: such as ` --store URL`.
    """
    run = numbers.run
    print_line(
        console,
        f"Run {run.id}: {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed, seed {run.seed}",
    )
    print_metric(numbers.metric, metric_signature(run, numbers.metric), run.id, console, where)
    for dataset in numbers.datasets:
        if numbers.curves_of(dataset):
            _print_answer(dataset, numbers, console)
    for dataset in numbers.datasets:
        curves = numbers.curves_of(dataset)
        if curves:
            _print_curves(dataset, numbers, console)
            _print_best_n(dataset, numbers, console)
            _print_vs_lead(dataset, numbers, console, where)
            _print_other_lengths(dataset, numbers, console)
        notes = tuple(_cautions(dataset, numbers))
        if notes:
            print_title(console, f"{dataset}: to keep in mind")
        for note in notes:
            print_line(console, note, style="yellow")
        uncut = [score for score in numbers.uncut if score.dataset == dataset]
        if uncut:
            _print_uncut(dataset, uncut, numbers, console)


def _print_answer(dataset: str, numbers: Numbers, console: Console) -> None:
    print_title(console, f"{dataset}: which n?")
    print_line(console, headline(numbers, dataset), style="bold")
    for system, sentence in sentences(numbers, dataset):
        print_sentence(console, system, sentence)
    for sentence in what_is_known(numbers, dataset):
        print_line(console, sentence, style="dim")


def _print_curves(dataset: str, numbers: Numbers, console: Console) -> None:
    curves, places = numbers.curves_of(dataset), metric_places(numbers.metric)
    points = [point for curve in curves for point in curve.lengths]
    best = highest_means(curves, places)
    stretched = _STRETCHED[places] if all(_within_one(point) for point in points) else None
    shown = [point.mean for point in points]
    if stretched is None:  # the half-intervals have as many decimals, and the sign ± in front
        shown += [-point.half_width for point in points if point.half_width is not None]
    width = max(len(decimals(value, places)) for value in shown)
    print_title(console, f"{dataset}: mean {metric_name(numbers.metric)} by n")
    columns = []
    for n in sorted({point.n for point in points}):
        cells = []
        for curve in curves:
            at = next((point for point in curve.lengths if point.n == n), None)
            highest = None if curve.kind == "upper bound" else best.get(n)
            cells.append(_cell(at, highest, width, places, is_stretched=stretched is not None))
        columns.append(Column(f"{n:>{width}}", cells, width + 1, "left"))
    names = [system_name(curve.system, curve.kind) for curve in curves]
    print_table(Column("n", names, NAME_WIDTH, "left"), columns, console, gap=0)
    unit = f"in {stretched}" if stretched else "in the unit of the mean"
    print_line(console, f"* highest at that n    ± half of the 95 % interval, {unit}", style="dim")
    if any(not point.comparable for point in points):
        print_line(
            console, f"{_APART} lacks articles that others have: this mean is not compared with theirs", style="dim"
        )
    if any(curve.kind == "upper bound" for curve in curves):
        print_line(console, UPPER_BOUND_NOTE, style="dim")


def _within_one(point: CurvePoint) -> bool:
    return abs(point.mean) < 1 and (point.half_width is None or point.half_width < 1)


def _cell(point: CurvePoint | None, best: float | None, width: int, places: int, *, is_stretched: bool) -> Text:
    # Padded here: rich would strip the blank that stands where others have a star.
    if point is None:
        return Text("–".rjust(width))
    is_best = point.comparable and round(point.mean, places) == best
    mark = "*" if is_best else "" if point.comparable else _APART
    cell = Text(f"{decimals(point.mean, places):>{width}}{mark}", style="bold" if is_best else "")
    return cell.append(
        "\n" + _half(point.half_width, places, is_stretched=is_stretched).rjust(width), style="not bold dim"
    )


def _half(half_width: float | None, places: int, *, is_stretched: bool) -> str:
    if half_width is None:
        return "–"
    return f"±{10**places * half_width:.0f}" if is_stretched else f"±{decimals(half_width, places)}"


def _print_best_n(dataset: str, numbers: Numbers, console: Console) -> None:
    systems = [number for number in numbers.magic_numbers_of(dataset) if number.kind != "control"]
    if not systems:
        return
    print_title(console, f"{dataset}: the best n")
    print_line(console, "Of each article (median, most frequent), by mean, and by gain over random", style="dim")
    places = metric_places(numbers.metric)
    cells = [_best_cells(number, places) for number in systems]
    headings = ("median\nbest n", "most often\nbest", "best by\nmean", "largest gain\nover random")
    columns = [Column(heading, column) for heading, column in zip(headings, zip(*cells, strict=True), strict=True)]
    names = [system_name(number.system, number.kind) for number in systems]
    print_table(Column("system", names, NAME_WIDTH, "left"), columns, console)


def _best_cells(number: MagicNumber, places: int) -> list[Text]:
    often, largest = number.most_frequent, number.largest_gain
    gain = Text("–")
    if largest:
        gain = Text(f"{signed(largest.gain.mean, places)} at {largest.n}")
        gain.append(f"\n{interval_text(largest.gain, places)}", style="dim")
    return [
        Text("–" if number.median is None else f"{number.median:g}"),
        Text("–" if often is None else f"{often} ({number.best_per_article[often]:.0%})"),
        Text("–" if number.best_by_mean is None else str(number.best_by_mean)),
        gain,
    ]


def _print_vs_lead(dataset: str, numbers: Numbers, console: Console, where: str) -> None:
    """Where each system is better or worse than `lead`. A system that does not beat `lead` is not worth running."""
    by_system = numbers.vs_lead_of(dataset)
    if not by_system:
        return
    print_title(console, f"{dataset}: vs. {LEAD} at equal n")
    columns = [
        Column(
            metric_name(metric),
            [_verdicts(by_metric.get(metric)) for by_metric in by_system.values()],
            _VERDICT_WIDTH,
            "left",
        )
        for metric in numbers.vs_lead
    ]
    names = [system_name(system, "system") for system in by_system]
    print_table(Column("system", names, NAME_WIDTH - 1, "left"), columns, console)
    key = (
        "–: no difference shown. Sign-flip test, corrected over the n (Holm): 5 % error in each column of each system."
    )
    print_line(console, f"{key} The numbers: nws compare {numbers.run.id}{where}", style="dim")


def _print_other_lengths(dataset: str, numbers: Numbers, console: Console) -> None:
    """Mean words by n of the systems that do not write n."""
    by_system = numbers.other_lengths_of(dataset)
    if not by_system:
        return
    print_title(console, f"{dataset}: mean words, of systems that do not always write n")
    lengths = sorted({n for words in by_system.values() for n in words})
    columns = [
        Column(str(n), [Text(f"{words[n]:.1f}" if n in words else "–") for words in by_system.values()])
        for n in lengths
    ]
    kinds = {curve.system: curve.kind for curve in numbers.curves_of(dataset)}
    names = [system_name(system, kinds[system]) for system in by_system]
    print_table(Column("n", names, NAME_WIDTH, "left"), columns, console)
    print_line(console, NOT_EQUAL, style="yellow")


def _verdicts(comparison: Comparison | None) -> Text:
    if comparison is None:
        return Text("–")
    tested = tuple(at.n for at in comparison.lengths)
    better = lengths_text(tested, tuple(at.n for at in comparison.lengths if at.better))
    worse = lengths_text(tested, tuple(at.n for at in comparison.lengths if at.worse))
    parts = [f"better {better}"] * bool(better) + [f"worse {worse}"] * bool(worse)
    return Text("\n".join(parts) or "–", style="bold" if worse else "")


def _cautions(dataset: str, numbers: Numbers) -> Iterator[str]:
    """What the reader must know about these articles and systems."""
    magic, curves = numbers.magic_numbers_of(dataset), numbers.curves_of(dataset)
    points = [point for curve in curves for point in curve.lengths]
    for curve in curves:
        apart = [point for point in curve.lengths if not point.comparable]
        if apart:
            fewest = min(apart, key=lambda point: point.articles / point.of_articles)
            yield f"{curve.system} has {fewest.articles} of {counted(fewest.of_articles, 'article')} at n = {fewest.n}."
    left_out = max((point.of_articles - point.articles for point in points if point.comparable), default=0)
    if left_out:
        articles = counted(left_out, "article")
        yield f"Left out of the means: articles that lack a summary by some system, at most {articles} at any n."
    dropped = max((number.dropped for number in magic), default=0)
    if dropped:
        articles = counted(dropped, "article")
        yield f"Left out of the best n of each article: articles that lack some n, at most {articles} for any system."
    if any(short_dataset == dataset for short_dataset, _ in numbers.short):
        yield short_note(dataset, numbers.short)
    same = [pair for pair in numbers.same_texts if pair.dataset == dataset and pair.share >= _NEARLY_ONE]
    for pair in same[:_MOST_PAIRS]:
        yield f"{pair.a} and {pair.b} wrote the same text in {pair.share:.0%} of summaries."
    if len(same) > _MOST_PAIRS:
        pairs = counted(len(same) - _MOST_PAIRS, "more pair")
        yield f"{pairs} wrote the same text in at least half of the summaries (report.json)."


def _print_uncut(dataset: str, uncut: list[Uncut], numbers: Numbers, console: Console) -> None:
    print_title(console, f"{dataset}: summaries of their own length")
    places = metric_places(numbers.metric)
    by_heading = {
        "articles": [str(score.articles) for score in uncut],
        "mean\nwords": [f"{score.words:.1f}" for score in uncut],
        f"mean\n{metric_name(numbers.metric)}": [decimals(score.score.mean, places) for score in uncut],
        "95 % interval": [interval_text(score.score, places) for score in uncut],
    }
    columns = [Column(heading, list(map(Text, cells))) for heading, cells in by_heading.items()]
    names = [Text(score.system + role(score.kind)) for score in uncut]
    print_table(names_column("system", names), columns, console)
