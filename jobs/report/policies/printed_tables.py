"""Trained policies in the terminal: are they better, scores by n, other qualities. Made for any width."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from core.analysis import COMPARED, PairedLength, SystemScore
from core.metrics.specs import SPECS
from core.types import SystemKind
from jobs.report.policies.answer import sentences, what_is_known
from jobs.report.policies.learning_curves import LearningLine
from jobs.report.policies.numbers import PolicyNumbers, highest_means
from jobs.report.run_facts import short_note
from jobs.terminal.metrics import metric_name, metric_places, metric_signature, short_signature
from jobs.terminal.numerals import counted, decimals, interval_text, percent, signed
from jobs.terminal.parted_table import Column, print_table
from jobs.terminal.table_style import (
    NAME_WIDTH,
    UPPER_BOUND_NOTE,
    print_line,
    print_metric,
    print_sentence,
    print_title,
    system_name,
)

_Scores = Mapping[str, Mapping[int, SystemScore]]
_Cells = Mapping[int, Text]

_ROW_NAME_WIDTH = 20
_QUALITY_WIDTH = 8
_APART = "°"
_PAD = "\N{NO-BREAK SPACE}"  # where other cells have a star; rich would strip a blank
_QUALITIES = tuple(spec for spec in SPECS if spec.is_quality)


def print_policies(numbers: PolicyNumbers, console: Console, where: str = "") -> None:
    """Print the answer for every dataset, how the policies learned, every dataset's tables, and how to read them.

    `where` is appended to the commands it names, so that they find the run: such as ` --store URL`.
    """
    run = numbers.run
    seeds = f"policies of seed {_listed(numbers.seeds)}" if numbers.seeds else "no policies"
    print_line(
        console, f"Run {run.id}: {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed, {seeds}"
    )
    print_metric(numbers.metric, metric_signature(run, numbers.metric), run.id, console, where)
    is_metric = numbers.reward_is_f1 and numbers.metric == "bertscore_f1"
    print_line(console, f"Reward: {'the same' if is_metric else short_signature(numbers.reward)}", style="dim")
    for dataset in numbers.datasets:
        _print_answer(dataset, numbers, console)
    if numbers.learning:
        _print_learning(numbers.learning, console)
    for dataset in numbers.datasets:
        scores = numbers.of(dataset)
        _print_scores(dataset, numbers, console)
        for system, at in scores.items():
            if any(score.is_policy for score in at.values()):
                _print_policy(dataset, system, numbers, console)
        _print_qualities(dataset, scores, console)
    for dataset in dict.fromkeys(dataset for dataset, _ in numbers.short):
        print_line(console, f"{dataset}: {short_note(dataset, numbers.short)}", style="yellow")
    _print_notes(numbers, console, where)


def _print_answer(dataset: str, numbers: PolicyNumbers, console: Console) -> None:
    print_title(console, f"{dataset}: are the policies better?")
    for system, sentence in sentences(numbers, dataset):
        print_sentence(console, system, sentence)
    for sentence in what_is_known(numbers, dataset):
        print_line(console, sentence, style="dim")


def _print_learning(lines: Sequence[LearningLine], console: Console) -> None:
    print_title(console, "Mean reward while learning, first → last tenth of the updates")
    by_system: dict[str, dict[int, LearningLine]] = {}
    for line in lines:
        by_system.setdefault(line.system, {})[line.n] = line
    rows = []
    for system, at in by_system.items():
        updates = max(line.updates for line in at.values())
        name = system_name(system, "system").append(f"\n {updates:,} update{'' if updates == 1 else 's'}", style="dim")
        rows.append((name, {n: _learning_cell(line) for n, line in at.items()}))
    _print_by_n(rows, console, NAME_WIDTH)


def _learning_cell(line: LearningLine) -> Text:
    return Text(f"{decimals(line.first_reward)} → {decimals(line.last_reward)}{_PAD}")


def _print_scores(dataset: str, numbers: PolicyNumbers, console: Console) -> None:
    scores, places = numbers.of(dataset), metric_places(numbers.metric)
    print_title(console, f"{dataset}: mean {metric_name(numbers.metric)} by n on {_articles(scores)}")
    best = highest_means(scores, places)
    rows = [
        (system_name(system, _kind(at)), {n: _score_cell(at[n], best.get(n), places) for n in at})
        for system, at in scores.items()
    ]
    _print_by_n(rows, console, NAME_WIDTH)
    print_line(console, "* highest at that n, upper bounds aside", style="dim")
    if any(not score.comparable for score in _all(scores)):
        print_line(
            console, f"{_APART} lacks articles that others have: this mean is not compared with theirs", style="dim"
        )
    if any(len(score.seeds) > 1 for score in _all(scores)):
        print_line(console, "A policy is the mean of its seeds. Below it: lowest–highest seed.", style="dim")
    if any(score.kind == "upper bound" for score in _all(scores)):
        print_line(console, UPPER_BOUND_NOTE, style="dim")


def _score_cell(score: SystemScore, best: float | None, places: int) -> Text:
    is_best = round(score.score.mean, places) == best and score.kind != "upper bound" and score.comparable
    mark = "*" if is_best else _PAD if score.comparable else _APART
    cell = Text(decimals(score.score.mean, places) + mark, "bold" if is_best else "")
    if len(score.seeds) > 1:
        low, high = (decimals(extreme(score.seeds.values()), places) for extreme in (min, max))
        cell.append(f"\n{low}–{high}{_PAD}", style="not bold dim")
    return cell


def _print_policy(dataset: str, system: str, numbers: PolicyNumbers, console: Console) -> None:
    """A policy compared with other systems at equal n, with the oracle, and with its training articles."""
    at, places = numbers.of(dataset)[system], metric_places(numbers.metric)
    rows: list[tuple[Text, _Cells]] = []
    for rival in COMPARED:
        versus = {n: _difference_cell(score.versus[rival], places) for n, score in at.items() if rival in score.versus}
        rows.append((Text(f"vs. {rival} (Δ)"), versus))
    further_rows: Mapping[str, Mapping[int, str | None]] = {
        "gap closed": {n: None if score.gap_closed is None else percent(score.gap_closed) for n, score in at.items()},
        "training F1": {n: _optional(score.training_f1, decimals) for n, score in at.items()},
        "vs. training F1 (Δ)": {n: _optional(score.test_vs_training, signed) for n, score in at.items()},
    }
    for name, by_n in further_rows.items():
        rows.append((Text(name), {n: Text(text + _PAD) for n, text in by_n.items() if text is not None}))
    rows = [(name, cells) for name, cells in rows if cells]
    if not rows:
        return
    print_title(console, f"{dataset}: {system}, beside others at equal n")
    _print_by_n(rows, console, _ROW_NAME_WIDTH)
    if any(score.versus for score in at.values()):
        print_line(console, "* significant: sign-flip test, corrected over the n (Holm), 5 % error", style="dim")
    if any(score.gap_closed is not None for score in at.values()):
        print_line(console, "gap closed: share of the way from textrank to the oracle", style="dim")


def _optional(value: float | None, shown: Callable[[float], str]) -> str | None:
    return None if value is None else shown(value)


def _difference_cell(at: PairedLength, places: int) -> Text:
    style = "bold" if at.significant else ""
    cell = Text(signed(at.difference.mean, places) + ("*" if at.significant else _PAD), style)
    return cell.append(f"\n{interval_text(at.difference, places)}{_PAD}", style="not bold dim")


def _print_qualities(dataset: str, scores: _Scores, console: Console) -> None:
    print_title(console, f"{dataset}: other qualities")
    for n in sorted({score.n for score in _all(scores)}):
        at_n = {system: at[n] for system, at in scores.items() if n in at}
        shown = {
            # As narrow as the column.
            (spec.short or spec.label).replace(" per ", "/"): [
                decimals(score.means[spec.column], spec.decimals) for score in at_n.values()
            ]
            for spec in _QUALITIES
        }
        shown["repeated\nwords"] = [f"{score.repeated_words:.1%}" for score in at_n.values()]
        columns = [Column(heading, [*map(Text, cells)], _QUALITY_WIDTH) for heading, cells in shown.items()]
        names = [system_name(system, score.kind) for system, score in at_n.items()]
        print_table(Column(f"n = {n}", names, NAME_WIDTH, "left"), columns, console)
    for spec in _QUALITIES:
        if spec.explained:
            print_line(console, f"{spec.label}: {spec.explained}", style="dim")


def _print_by_n(rows: Sequence[tuple[Text, _Cells]], console: Console, name_width: int) -> None:
    """A row's cells under their n."""
    lengths = sorted({n for _, cells in rows for n in cells})
    widest = max(len(line) for _, cells in rows for cell in cells.values() for line in cell.plain.split("\n"))
    columns = [
        Column(f"{n}{_PAD}", [cells.get(n, Text("–" + _PAD)) for _, cells in rows], max(widest, 4) + 1) for n in lengths
    ]
    print_table(Column("n", [name for name, _ in rows], name_width, "left"), columns, console, gap=0)


def _print_notes(numbers: PolicyNumbers, console: Console, where: str) -> None:
    console.print()
    if not numbers.has_policies and numbers.short:
        return
    if not numbers.has_policies:
        print_line(console, f"No policy is evaluated yet: the run is {numbers.run.state}.", style="yellow")
        print_line(console, f"If it stopped, resume it with `nws resume {numbers.run.id}{where}`.", style="yellow")
        return
    notes = ["Intervals are over articles: they do not include the variation between seeds."]
    if numbers.reward_is_f1 and numbers.metric == "bertscore_f1":
        notes.append("Vs. training F1 below 0: the policies fit their training articles better.")
    else:
        notes.append("The reward is not this metric: training and test articles cannot be compared in it.")
    notes.append("F1 does not measure fluency: a list of names can score high. Read some.")
    for note in notes:
        print_line(console, note)


def _kind(at: Mapping[int, SystemScore]) -> SystemKind:
    return next(iter(at.values())).kind


def _all(scores: _Scores) -> Iterable[SystemScore]:
    return (score for at in scores.values() for score in at.values())


def _lengths(scores: _Scores) -> set[int]:
    return {score.n for score in _all(scores)}


def _articles(scores: _Scores) -> str:
    counts = sorted({score.articles for score in _all(scores)})
    many = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{many} test article{'' if counts == [1] else 's'}"


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))
