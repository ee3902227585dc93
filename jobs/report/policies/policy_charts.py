"""The charts of a training: how its policies learned, and what they score on test articles."""

from collections.abc import Sequence

from core.analysis import TEXTRANK
from core.analysis.paired import PairedLength
from jobs.report.charts import (
    DASHED,
    GREYS,
    At,
    Chart,
    Look,
    Series,
    Sheet,
    coloured,
    difference_chart,
    made_by,
    mean_chart,
    scores_notes,
)
from jobs.report.metric_names import metric_name
from jobs.report.numerals import decimals
from jobs.report.policies.policy_numbers import WINDOWS, Band, LearningLine, PolicyNumbers

_FAR_APART = 1.5


def policies_sheet(numbers: PolicyNumbers) -> Sheet:
    """Scores on test articles by n, and below them differences to TextRank; a ring where one is significant."""
    above = tuple(mean_chart(numbers, dataset, noun="test article") for dataset in numbers.scored)
    differences = {dataset: _over_textrank(numbers, dataset) for dataset in numbers.scored}
    ring = "ring: differs (sign-flip test, Holm over the n, 5 % error)"
    below = tuple(
        difference_chart(numbers, dataset, TEXTRANK, by_system, note=ring) for dataset, by_system in differences.items()
    )
    return Sheet(
        title="Policies on test articles",
        rows=(above, below) if any(differences.values()) else (above,),
        notes=("bars: 95 % intervals over articles, not over seeds", *scores_notes(numbers)),
        made_by=made_by(numbers.run, f"{metric_name(numbers.metric)}: {numbers.signature}", numbers.seeds),
    )


def _over_textrank(numbers: PolicyNumbers, dataset: str) -> dict[str, list[PairedLength]]:
    by_system = {
        system: [score.versus[TEXTRANK] for score in scores.values() if TEXTRANK in score.versus]
        for system, scores in numbers.of(dataset).items()
    }
    return {system: by_n for system, by_n in by_system.items() if by_n}


def learning_charts(numbers: PolicyNumbers, section: str = "") -> tuple[tuple[Chart, ...], tuple[Chart, ...]]:
    """For each n the mean reward by update, and the mean entropy."""
    lengths = sorted({line.n for line in numbers.learning})
    rewards = tuple(_chart(numbers, n, "reward", "mean reward", f"{section}-reward-{n}") for n in lengths)
    entropies = tuple(_chart(numbers, n, "entropy", "mean entropy (nats)", f"{section}-entropy-{n}") for n in lengths)
    return rewards, entropies


def _chart(numbers: PolicyNumbers, n: int, quantity: str, label: str, chart_id: str) -> Chart:
    is_share = counts_shares(numbers.learning)
    systems = list(dict.fromkeys(line.system for line in numbers.learning))
    lines, baselines = [], []
    for line in numbers.learning:
        if line.n != n:
            continue
        place, name = systems.index(line.system), numbers.learned(line.system)
        x = [100 * (x + 0.5) / line.updates for x in line.x] if is_share else line.x
        look = Look(coloured(place).colour, "", "-", coloured(place).css)
        seeds = f" (mean of {len(line.seeds)} seeds)" * (len(line.seeds) > 1)
        lines.append(Series(name + seeds, look, _points(x, getattr(line, quantity)), is_band=True))
        if line.has_baseline and quantity == "reward":
            grey = Look(GREYS[place % len(GREYS)], "", DASHED, "control")
            of_name = f" of {name}" * (len(systems) > 1)
            means = line.advantage_baseline.mean
            points = tuple(At(at, mean, told=decimals(mean)) for at, mean in zip(x, means, strict=True))
            baselines.append(Series(f"advantage baseline{of_name}", grey, points))
    return Chart(
        id=chart_id,
        title=f"{label.capitalize()} at n = {n}",
        heading=f"n = {n}" if quantity == "reward" else "",
        x_label="updates done (%)" if is_share else "update",
        y_label=label,
        series=(*lines, *baselines),
        description=f"{label.capitalize()} of sampled summaries of n = {n}, by update.",
    )


def counts_shares(lines: Sequence[LearningLine]) -> bool:
    """Whether x is percent of each method's updates, since methods differ much in their number."""
    updates = [line.updates for line in lines]
    return max(updates) > _FAR_APART * min(updates)


def _points(x: Sequence[float], band: Band) -> tuple[At, ...]:
    return tuple(
        At(at, mean, low, high, told=decimals(mean) + f" ({decimals(low)} to {decimals(high)})" * (low < high))
        for at, mean, low, high in zip(x, band.mean, band.low, band.high, strict=True)
    )


def learning_sheet(numbers: PolicyNumbers) -> Sheet:
    """Rewards above, entropies below, a column for each n."""
    lines = numbers.learning
    updates = {line.system: f"{numbers.learned(line.system)} {line.updates:,}" for line in lines}
    notes = [f"updates done: {', '.join(updates.values())}" + " (100 %)" * counts_shares(lines)]
    if any(line.has_baseline for line in lines):
        notes.append("a leave-one-out baseline lies on the reward")
    if max(line.updates for line in lines) > WINDOWS:
        notes.append(f"averaged over {WINDOWS} equal windows of updates")
    if any(len(line.seeds) > 1 for line in lines):
        notes.append("band: lowest to highest seed")
    return Sheet(
        title="How the policies learned",
        rows=learning_charts(numbers),
        notes=tuple(notes),
        made_by=made_by(numbers.run, f"reward: {numbers.reward}", numbers.seeds),
        is_shared=True,
    )
