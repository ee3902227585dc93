"""Trained policies in the terminal: F1 by n, beside other systems, and other qualities. Made for 80 columns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf

from rich.console import Console
from rich.text import Text

from core.analysis import COMPARED, PairedLength, SystemScore
from core.types import SystemKind
from jobs.report.policies.learning_curves import LearningLine
from jobs.report.policies.numbers import PolicyNumbers
from jobs.report.run_facts import bertscore_signature, short_note
from jobs.terminal.caution import few
from jobs.terminal.table_style import (
    NAME_WIDTH,
    UPPER_BOUND_NOTE,
    decimals,
    interval_text,
    make_table,
    print_line,
    print_title,
    system_name,
)

_Scores = Mapping[str, Mapping[int, SystemScore]]
_Cells = Mapping[int, Text]

_ROW_NAME_WIDTH = 20
_APART = "°"
_PAD = "\N{NO-BREAK SPACE}"  # where other cells have a star; rich would strip a blank
_QUALITIES: Mapping[str, Callable[[SystemScore], str]] = {
    "ROUGE-1": lambda score: decimals(score.rouge1_f1),
    "ROUGE-2": lambda score: decimals(score.rouge2_f1),
    "ROUGE-L": lambda score: decimals(score.rougel_f1),
    "F1/word": lambda score: decimals(score.efficiency, 4),
    "density": lambda score: decimals(score.density),
    "repeated\nwords": lambda score: f"{score.repeated_words:.1%}",
}


def print_policies(numbers: PolicyNumbers, console: Console) -> None:
    """Print how the policies learned, then every dataset's tables, and how to read them."""
    run = numbers.run
    seeds = f"policies of seed {_listed(numbers.seeds)}" if numbers.seeds else "no policies"
    print_line(console, f"Run {run.id}: {run.state}, {run.articles_done} articles, {run.failures} failed, {seeds}")
    print_line(console, f"Metric: BERTScore F1, {bertscore_signature(run)}", style="dim")
    print_line(console, f"Reward: {'the same' if numbers.reward_is_f1 else numbers.reward}", style="dim")
    if numbers.learning:
        _print_learning(numbers.learning, console)
    for dataset in numbers.datasets:
        scores = numbers.of(dataset)
        _print_f1(dataset, scores, console)
        for system, at in scores.items():
            if any(score.is_policy for score in at.values()):
                _print_policy(dataset, system, at, console)
        _print_qualities(dataset, scores, console)
        _print_few_articles(scores, console)
    for dataset in dict.fromkeys(of for of, _ in numbers.short):
        print_line(console, f"{dataset}: {short_note(dataset, numbers.short)}", style="yellow")
    _print_notes(numbers, console)


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


def _print_f1(dataset: str, scores: _Scores, console: Console) -> None:
    print_title(console, f"{dataset}: mean F1 by n on {_articles(scores)}")
    best: dict[int, float] = {}
    for score in _all(scores):
        if score.kind != "upper bound" and score.comparable:
            best[score.n] = max(best.get(score.n, -inf), round(score.bertscore_f1, 3))
    rows = [
        (system_name(system, _kind(at)), {n: _f1_cell(at[n], best.get(n)) for n in at}) for system, at in scores.items()
    ]
    _print_by_n(rows, console, NAME_WIDTH)
    print_line(console, "* highest at that n, upper bounds aside", style="dim")
    if any(not score.comparable for score in _all(scores)):
        print_line(
            console, f"{_APART} lacks articles that others have: this mean is not held against theirs", style="dim"
        )
    if any(len(score.seeds) > 1 for score in _all(scores)):
        print_line(console, "A policy is the mean of its seeds. Below it: lowest–highest seed.", style="dim")
    if any(score.kind == "upper bound" for score in _all(scores)):
        print_line(console, UPPER_BOUND_NOTE, style="dim")


def _f1_cell(score: SystemScore, best: float | None) -> Text:
    is_best = round(score.bertscore_f1, 3) == best and score.kind != "upper bound" and score.comparable
    mark = "*" if is_best else _PAD if score.comparable else _APART
    cell = Text(decimals(score.bertscore_f1) + mark, "bold" if is_best else "")
    if len(score.seeds) > 1:
        low, high = (decimals(of(score.seeds.values())) for of in (min, max))
        cell.append(f"\n{low}–{high}{_PAD}", style="not bold dim")
    return cell


def _print_policy(dataset: str, system: str, at: Mapping[int, SystemScore], console: Console) -> None:
    """What a policy has over other systems at equal n, how near it comes to the oracle, and over its training."""
    rows: list[tuple[Text, _Cells]] = []
    for other in COMPARED:
        versus = {n: _difference_cell(score.versus[other]) for n, score in at.items() if other in score.versus}
        rows.append((Text(f"vs. {other} (Δ)"), versus))
    numbers: Mapping[str, Mapping[int, str | None]] = {
        "gap closed": {n: None if score.gap_closed is None else f"{score.gap_closed:.0%}" for n, score in at.items()},
        "training F1": {n: _optional(score.training_f1, decimals) for n, score in at.items()},
        "vs. training F1 (Δ)": {n: _optional(score.test_vs_training, _signed) for n, score in at.items()},
    }
    for name, by_n in numbers.items():
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


def _difference_cell(at: PairedLength) -> Text:
    style = "bold" if at.significant else ""
    cell = Text(_signed(at.difference.mean) + ("*" if at.significant else _PAD), style)
    return cell.append(f"\n{interval_text(at.difference)}{_PAD}", style="not bold dim")


def _print_qualities(dataset: str, scores: _Scores, console: Console) -> None:
    print_title(console, f"{dataset}: other qualities")
    for n in sorted({score.n for score in _all(scores)}):
        table = make_table(gap=1)
        table.add_column(f"n = {n}", width=NAME_WIDTH, overflow="fold")
        for heading in _QUALITIES:
            table.add_column(heading if n == min(_lengths(scores)) else "", justify="right", width=8)
        for system, at in scores.items():
            if n in at:
                table.add_row(system_name(system, at[n].kind), *(shown(at[n]) for shown in _QUALITIES.values()))
        console.print(table)
    print_line(console, "density: share of words found in the article    repeated: in the summary", style="dim")


def _print_by_n(rows: Sequence[tuple[Text, _Cells]], console: Console, name_width: int) -> None:
    """A row's cells under their n, in as many tables as the width asks for."""
    lengths = sorted({n for _, cells in rows for n in cells})
    widest = max(len(line) for _, cells in rows for cell in cells.values() for line in cell.plain.split("\n"))
    width = max(widest, 4) + 1
    per_table = max(1, (console.width - name_width) // width)
    for start in range(0, len(lengths), per_table):
        block = lengths[start : start + per_table]
        table = make_table()
        table.add_column("n", width=name_width, overflow="fold")
        for n in block:
            table.add_column(f"{n}{_PAD}", justify="right", width=width)
        for name, cells in rows:
            table.add_row(name, *(cells.get(n, Text("–" + _PAD)) for n in block))
        console.print(table)


def _print_few_articles(scores: _Scores, console: Console) -> None:
    fewest = min(score.articles for score in _all(scores))
    if caution := few(fewest):
        print_line(console, caution, style="yellow")


def _print_notes(numbers: PolicyNumbers, console: Console) -> None:
    console.print()
    if not numbers.has_policies and numbers.short:
        return
    if not numbers.has_policies:
        print_line(console, f"No policy is evaluated yet: the run is {numbers.run.state}.", style="yellow")
        print_line(console, f"If it stopped, go on with `nws resume {numbers.run.id}`.", style="yellow")
        return
    notes = ["Intervals are over articles: they do not include the luck of the seed."]
    if numbers.reward_is_f1:
        notes.append("Vs. training F1 below 0: the policies fit their training articles better.")
    else:
        notes.append("The reward is not this F1: training and test articles cannot be compared.")
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


def _signed(value: float) -> str:
    text = decimals(value)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))
