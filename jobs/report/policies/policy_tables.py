"""The tables of a training: how its policies learned, and what they score beside others on test articles."""

from collections.abc import Iterator, Mapping

from core.analysis import COMPARED, SystemScore
from core.metrics.specs import SPECS
from jobs.report.metric_names import metric_name
from jobs.report.numerals import counted, decimals, interval_text, percent, signed
from jobs.report.policies.policy_numbers import LearningLine, PolicyNumbers
from jobs.report.printed_lines import role
from jobs.report.result_tables import means_table
from jobs.report.table import MISSING, Cell, Mark, Table


def learning_table(numbers: PolicyNumbers) -> Table:
    """Mean reward of each policy by n, over the first and the last tenth of its updates."""
    by_system: dict[str, dict[int, LearningLine]] = {}
    for line in numbers.learning:
        by_system.setdefault(line.system, {})[line.n] = line
    lengths = sorted({line.n for line in numbers.learning})
    rows = [
        (
            numbers.learned(system),
            max(line.updates for line in at.values()),
            *(_learning_cell(at[n]) if n in at else MISSING for n in lengths),
        )
        for system, at in by_system.items()
    ]
    title = "Mean reward while learning, first → last tenth of the updates"
    return Table(("n", "updates", *map(str, lengths)), rows, title)


def _learning_cell(line: LearningLine) -> Cell:
    return Cell(f"{decimals(line.first_reward)} → {decimals(line.last_reward)}")


def beside_others_table(numbers: PolicyNumbers, dataset: str, system: str) -> Table | None:
    """A policy by n: its seeds, other systems, the oracle, and the articles it learned from; None without any."""
    at = numbers.of(dataset)[system]
    rows = [(name, *cells) for name, cells in _beside_others(numbers, at) if any(cell is not MISSING for cell in cells)]
    if not rows:
        return None
    notes = ["* significant: sign-flip test, corrected over the n (Holm), 5 % error. Below it: its 95 % interval"]
    notes = notes if any(score.versus for score in at.values()) else []
    notes += ["gap closed: share of the way from textrank to the oracle"] * any(
        score.gap_closed is not None for score in at.values()
    )
    title = f"{dataset}: {numbers.names[system]}, beside others at equal n"
    return Table(("n", *map(str, at)), rows, title, notes)


def _beside_others(numbers: PolicyNumbers, at: Mapping[int, SystemScore]) -> Iterator[tuple[str, list[Cell]]]:
    places = numbers.places
    yield "lowest–highest seed", [_seeds_cell(score, places) for score in at.values()]
    for rival in COMPARED:
        yield f"vs. {numbers.names[rival]} (Δ)", [_versus_cell(score, rival, places) for score in at.values()]
    yield "gap closed", [_cell(None if one.gap_closed is None else percent(one.gap_closed)) for one in at.values()]
    yield "training F1", [_cell(None if one.training_f1 is None else decimals(one.training_f1)) for one in at.values()]
    differences = [score.test_vs_training for score in at.values()]
    yield "vs. training F1 (Δ)", [_cell(None if one is None else signed(one)) for one in differences]


def _cell(text: str | None) -> Cell:
    return MISSING if text is None else Cell(text)


def _seeds_cell(score: SystemScore, places: int) -> Cell:
    if len(score.seeds) < 2:
        return MISSING
    low, high = (decimals(extreme(score.seeds.values()), places) for extreme in (min, max))
    return Cell(f"{low}–{high}")


def _versus_cell(score: SystemScore, rival: str, places: int) -> Cell:
    if rival not in score.versus:
        return MISSING
    at = score.versus[rival]
    mark: Mark = "*" if at.significant else ""
    return Cell(signed(at.difference.mean, places), interval_text(at.difference, places), mark)


def policy_tables(numbers: PolicyNumbers, dataset: str) -> Iterator[Table]:
    """The means of a dataset's test articles, and each policy beside others."""
    scores = numbers.scores_of(dataset)
    counts = sorted({score.articles for score in scores})
    many = counted(counts[0], "test article") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} test articles"
    title = f"{dataset}: mean {metric_name(numbers.metric)} by n on {many}"
    yield means_table(scores, numbers.metric, numbers.names, title)
    for system, at in numbers.of(dataset).items():
        table = beside_others_table(numbers, dataset, system)
        if table is not None and any(score.is_policy for score in at.values()):
            yield table


def qualities_table(numbers: PolicyNumbers, dataset: str) -> Table:
    """What tells how good summaries are beside the metric of the report."""
    qualities = [spec for spec in SPECS if spec.is_quality]
    scores = sorted((score for score in numbers.scores if score.dataset == dataset), key=lambda score: score.n)
    rows = [
        (
            *(numbers.names[score.system] + role(score.kind), score.n),
            *(Cell(decimals(score.means[spec.column], spec.decimals)) for spec in qualities),
            Cell(percent(score.repeated_words, 1)),
        )
        for score in scores
    ]
    columns = ("system", "n", *(spec.short or spec.label for spec in qualities), "repeated words")
    notes = [f"{spec.label}: {spec.explained}" for spec in qualities if spec.explained]
    return Table(columns, rows, f"{dataset}: other qualities", notes)
