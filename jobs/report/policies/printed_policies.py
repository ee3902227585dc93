"""Trained policies in the terminal: are they better, scores by n, other qualities. Made for any width."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from core.analysis import COMPARED, PairedLength, SystemScore
from jobs.report.means_latex import mean_cell, print_answer, print_key, print_run
from jobs.report.policies.learning_curves import LearningLine
from jobs.report.policies.policy_answer import sentences, what_is_known
from jobs.report.policies.policy_numbers import QUALITIES, PolicyNumbers
from jobs.report.run_numbers import short_note
from jobs.terminal.columns import Column, print_table
from jobs.terminal.metrics import metric_name, short_signature
from jobs.terminal.numerals import decimals, interval_text, percent, signed
from jobs.terminal.table_style import NAME_WIDTH, print_line, print_title, system_name

_Cells = Mapping[int, Text]

_ROW_NAME_WIDTH = 20
_PAD = "\N{NO-BREAK SPACE}"  # where other cells have a star; rich would strip a blank


def print_policies(numbers: PolicyNumbers, console: Console, where: str = "") -> None:
    """Print the answer for every dataset, how the policies learned, every dataset's tables, and how to read them.

    `where` is appended to the commands it names, so that they find the run: such as ` --store URL`.
    """
    seeds = f"policies of seed {_listed(numbers.seeds)}" if numbers.seeds else "no policies"
    print_run(numbers, seeds, console, where)
    is_metric = numbers.reward_is_f1 and numbers.metric == "bertscore_f1"
    print_line(console, f"Reward: {'the same' if is_metric else short_signature(numbers.reward)}", style="dim")
    for dataset in numbers.scored:
        answer = sentences(numbers, dataset), what_is_known(numbers, dataset)
        print_answer(console, f"{dataset}: are the policies better?", "", *answer)
    if numbers.learning:
        _print_learning(numbers, console)
    for dataset in numbers.scored:
        scores = numbers.of(dataset)
        _print_scores(dataset, numbers, console)
        for system, at in scores.items():
            if any(score.is_policy for score in at.values()):
                _print_policy(dataset, system, numbers, console)
        _print_qualities(dataset, numbers, console)
    for dataset in dict.fromkeys(dataset for dataset, _ in numbers.short):
        note = short_note(dataset, numbers.short, numbers.run.length_unit)
        print_line(console, f"{dataset}: {note}", style="yellow")
    _print_notes(numbers, console, where)


def _print_learning(numbers: PolicyNumbers, console: Console) -> None:
    print_title(console, "Mean reward while learning, first → last tenth of the updates")
    by_system: dict[str, dict[int, LearningLine]] = {}
    for line in numbers.learning:
        by_system.setdefault(line.system, {})[line.n] = line
    rows = []
    for system, at in by_system.items():
        updates = max(line.updates for line in at.values())
        name = system_name(numbers.learned(system), "system")
        name.append(f"\n {updates:,} update{'' if updates == 1 else 's'}", style="dim")
        rows.append((name, {n: _learning_cell(line) for n, line in at.items()}))
    _print_by_n(rows, console, NAME_WIDTH)


def _learning_cell(line: LearningLine) -> Text:
    return Text(f"{decimals(line.first_reward)} → {decimals(line.last_reward)}{_PAD}")


def _print_scores(dataset: str, numbers: PolicyNumbers, console: Console) -> None:
    by_system, best, places = numbers.of(dataset), numbers.highest(dataset), numbers.places
    scores = [score for at in by_system.values() for score in at.values()]
    print_title(console, f"{dataset}: mean {metric_name(numbers.metric)} by n on {_articles(scores)}")
    rows = [
        (
            system_name(numbers.names[system], numbers.kinds[system]),
            {n: _score_cell(at[n], best.get(n), places) for n in at},
        )
        for system, at in by_system.items()
    ]
    _print_by_n(rows, console, NAME_WIDTH)
    print_line(console, "* highest at that n, upper bounds aside", style="dim")
    has_seeds = any(len(score.seeds) > 1 for score in scores)
    print_key(scores, console, *["A policy is the mean of its seeds. Below it: lowest–highest seed."] * has_seeds)


def _score_cell(score: SystemScore, best: float | None, places: int) -> Text:
    cell = mean_cell(score, best, places, blank=_PAD)
    if len(score.seeds) > 1:
        low, high = (decimals(extreme(score.seeds.values()), places) for extreme in (min, max))
        cell.append(f"\n{low}–{high}{_PAD}", style="not bold dim")
    return cell


def _print_policy(dataset: str, system: str, numbers: PolicyNumbers, console: Console) -> None:
    """A policy compared with other systems at equal n, with the oracle, and with its training articles."""
    at, places = numbers.of(dataset)[system], numbers.places
    rows: list[tuple[Text, _Cells]] = []
    for rival in COMPARED:
        versus = {n: _difference_cell(score.versus[rival], places) for n, score in at.items() if rival in score.versus}
        rows.append((Text(f"vs. {numbers.names[rival]} (Δ)"), versus))
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
    print_title(console, f"{dataset}: {numbers.names[system]}, beside others at equal n")
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


def _print_qualities(dataset: str, numbers: PolicyNumbers, console: Console) -> None:
    by_system = numbers.of(dataset)
    print_title(console, f"{dataset}: other qualities")
    for n in sorted({n for at in by_system.values() for n in at}):
        at_n = [at[n] for at in by_system.values() if n in at]
        names = [system_name(numbers.names[score.system], score.kind) for score in at_n]
        columns = [column.column(at_n) for column in QUALITIES]
        print_table(Column(f"n = {n}", names, NAME_WIDTH, "left"), columns, console)
    for column in QUALITIES:
        if column.explained:
            print_line(console, column.explained, style="dim")


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


def _articles(scores: Iterable[SystemScore]) -> str:
    counts = sorted({score.articles for score in scores})
    many = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{many} test article{'' if counts == [1] else 's'}"


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))
