"""What a report says of trained policies: whether they are better than others in sentences, tables and charts."""

from collections.abc import Iterator, Mapping, Sequence

from nws.core.findings.comparisons import PairedLength
from nws.core.findings.lengths import lengths_text
from nws.core.findings.policies import COMPARED, LEAD_SEARCH, TEXTRANK, SystemScore, compared_with, split_seed
from nws.core.metrics.specs import SPECS
from nws.core.types import LEAD, UNTRAINED
from nws.jobs.report.charts import (
    DASHED,
    GREYS,
    Chart,
    ChartPoint,
    Look,
    Series,
    Sheet,
    coloured,
    difference_chart,
    made_by,
    mean_chart,
    scores_notes,
)
from nws.jobs.report.metric_names import few, metric_name, not_equal
from nws.jobs.report.numerals import counted, decimals, interval_text, listed, of_length, percent, signed
from nws.jobs.report.policy_numbers import WINDOWS, Band, LearningLine, PolicyNumbers
from nws.jobs.report.printed_lines import role
from nws.jobs.report.result_tables import means_table
from nws.jobs.report.table import MISSING, Cell, Mark, Table


def sentences(numbers: PolicyNumbers, dataset: str) -> tuple[tuple[str, str], ...]:
    """For each policy evaluated on a dataset its name, and how it compares with other systems at equal n.

    Of content kept, it is compared at the longest n with what training began with, and with the search; of fluency with
    the article's own words.
    """
    return tuple(
        (
            numbers.names[system],
            f"{_beside_others(at)}{_gap(at)}.{_kept(numbers, dataset, system)}{_fluency(numbers, dataset, system)}",
        )
        for system, at in numbers.of(dataset).items()
        if any(score.is_policy for score in at.values())
    )


def headline(numbers: PolicyNumbers, dataset: str) -> str:
    """The answer in one sentence: the number of policies that are shown to be better than each other system."""
    policies = [at for at in numbers.of(dataset).values() if any(score.is_policy for score in at.values())]
    versus = [[score.versus for score in at.values()] for at in policies]
    rivals = [rival for rival in COMPARED if any(rival in tested for at_n in versus for tested in at_n)]
    if not rivals:
        return "There is no other system to compare the policies with."
    better = {
        rival: sum(any(rival in tested and tested[rival].better for tested in at_n) for at_n in versus)
        for rival in rivals
    }
    counts = [f"{better[rival] or 'none'} of {len(policies)} than {rival}" for rival in rivals]
    return f"Policies that are shown to be better at some n: {listed(counts)}."


def what_is_known(numbers: PolicyNumbers, dataset: str) -> tuple[str, ...]:
    """The basis of the answer for a dataset, in sentences."""
    return tuple(_known(numbers, dataset))


def _beside_others(at: Mapping[int, SystemScore]) -> str:
    better, worse, alike = [], [], []
    for rival in COMPARED:
        versus = {n: score.versus[rival] for n, score in at.items() if rival in score.versus}
        tested = tuple(versus)
        above = tuple(n for n in tested if versus[n].better)
        below = tuple(n for n in tested if versus[n].worse)
        if above:
            better.append(f"{rival} at n = {lengths_text(tested, above)}")
        if below:
            worse.append(f"{rival} at n = {lengths_text(tested, below)}")
        if tested and not above and not below:
            alike.append(rival)
    verdicts = [f"{word} than {listed(others)}" for word, others in (("better", better), ("worse", worse)) if others]
    shown = [f"shown to be {' and '.join(verdicts)}"] if verdicts else []
    if alike:
        shown.append(f"not shown to differ from {listed(alike)} at any n")
    return "; ".join(shown) or "there is no other system to compare it with"


def _gap(at: Mapping[int, SystemScore]) -> str:
    closed = [score.gap_closed for score in at.values() if score.gap_closed is not None]
    if not closed:
        return ""
    least, most = (percent(extreme(closed)) for extreme in (min, max))
    span = most if least == most else f"{least} to {most}"
    return f"; it closes {span} of the gap between textrank and the oracle"


def _at_longest(scores: Sequence[SystemScore], dataset: str, system: str) -> SystemScore | None:
    at = [score for score in scores if (score.dataset, score.system) == (dataset, system)]
    return max(at, key=lambda score: score.n, default=None)


def _kept(numbers: PolicyNumbers, dataset: str, system: str) -> str:
    score = _at_longest(numbers.kept, dataset, system)
    if score is None:
        return ""
    beside = [_points_over(score, rival) for rival in (UNTRAINED, LEAD_SEARCH) if rival in score.versus]
    length, share = of_length(score.n, numbers.run.length_unit), percent(score.score.mean)
    keeps = f" With {length} it keeps {share} of the reference's content"
    return f"{keeps}: {listed(beside)}." if beside else f"{keeps}."


def _fluency(numbers: PolicyNumbers, dataset: str, system: str) -> str:
    score = _at_longest(numbers.fluency, dataset, system)
    if score is None or LEAD not in score.versus:
        return ""
    difference = score.versus[LEAD].difference
    beside = f"{signed(difference.mean)} ({interval_text(difference)}) beside {LEAD}"
    return f" Its fluency then is {decimals(score.score.mean)}: {beside}."


def _points_over(score: SystemScore, rival: str) -> str:
    difference = score.versus[rival].difference
    low, high = difference.low, difference.high
    sure = "" if low is None or high is None else f" ({100 * low:.1f} to {100 * high:.1f})"
    return f"{100 * difference.mean:+.1f} points{sure} over {rival}"


def _known(numbers: PolicyNumbers, dataset: str) -> Iterator[str]:
    scores = [score for at in numbers.of(dataset).values() for score in at.values()]
    counts, lengths = [score.articles for score in scores], sorted({score.n for score in scores})
    fewest, most = min(counts), max(counts)
    size = counted(most, "test article") if fewest == most else f"{fewest} to {counted(most, 'test article')}"
    span = f"n = {lengths[0]}" if len(lengths) == 1 else f"{len(lengths)} lengths from {lengths[0]} to {lengths[-1]}"
    yield f"It rests on {size} at {span}, in {metric_name(numbers.metric)}."
    if caution := few(fewest):
        yield caution
    if numbers.other_lengths_of(dataset):
        yield not_equal(numbers.run.length_unit)


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
    rows = [(name, *cells) for name, cells in _other_rows(numbers, at) if any(cell is not MISSING for cell in cells)]
    if not rows:
        return None
    notes = ["* significant: sign-flip test, corrected over the n (Holm), 5 % error. Below it: its 95 % interval"]
    notes = notes if any(score.versus for score in at.values()) else []
    notes += ["gap closed: share of the way from textrank to the oracle"] * any(
        score.gap_closed is not None for score in at.values()
    )
    title = f"{dataset}: {numbers.names[system]}, beside others at equal n"
    return Table(("n", *map(str, at)), rows, title, notes)


def _other_rows(numbers: PolicyNumbers, at: Mapping[int, SystemScore]) -> Iterator[tuple[str, list[Cell]]]:
    places = numbers.places
    yield "lowest–highest seed", [_seeds_cell(score, places) for score in at.values()]
    for rival in COMPARED:
        yield f"vs. {numbers.names[rival]} (Δ)", [_versus_cell(score, rival, places) for score in at.values()]
    gaps = [score.gap_closed for score in at.values()]
    yield "gap closed", [_cell(None if gap is None else percent(gap)) for gap in gaps]
    trained = [score.training_f1 for score in at.values()]
    yield "training F1", [_cell(None if f1 is None else decimals(f1)) for f1 in trained]
    differences = [score.test_vs_training for score in at.values()]
    yield "vs. training F1 (Δ)", [_cell(None if mean is None else signed(mean)) for mean in differences]


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
    """Some summaries of a dataset's test articles, the means of all, and each policy beside others."""
    scores = numbers.scores_of(dataset)
    counts = sorted({score.articles for score in scores})
    many = counted(counts[0], "test article") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} test articles"
    title = f"{dataset}: mean {metric_name(numbers.metric)} by n on {many}"
    if examples := examples_table(numbers, dataset):
        yield examples
    yield means_table(scores, numbers.metric, numbers.names, title)
    for system, at in numbers.of(dataset).items():
        table = beside_others_table(numbers, dataset, system)
        if table is not None and any(score.is_policy for score in at.values()):
            yield table


def examples_table(numbers: PolicyNumbers, dataset: str) -> Table | None:
    """What the best policy and others wrote for some articles, beside the reference; None without a policy."""
    policies = [score for score in numbers.scores if score.is_policy and score.dataset == dataset]
    lengths = sorted({score.n for score in policies})
    if not lengths:
        return None
    n = lengths[len(lengths) // 2]
    best = max((score for score in policies if score.n == n), key=lambda score: score.score.mean).system
    rivals = [name for name in compared_with(best) if name in (LEAD_SEARCH, LEAD) or name.startswith(UNTRAINED)]
    rows: list[tuple[str, str]] = []
    for article in (article for article in numbers.examples if article.dataset == dataset):
        at_n = sorted((row for row in article.summaries if row["n"] == n), key=lambda row: str(row["system"]))
        texts = {split_seed(row["system"])[0]: row["text"] for row in reversed(at_n)}  # of seeds the first
        written = [(numbers.names[system], texts[system]) for system in (best, *rivals) if system in texts]
        reference = [("reference", " ".join(article.references[0].split()))] if article.references else []
        rows += [(article.key, ""), *written, *reference]
    title = f"{dataset}: summaries at n = {n}, of the first articles by id"
    return Table(("article, system", "summary"), rows, title) if rows else None


def qualities_table(numbers: PolicyNumbers, dataset: str) -> Table:
    """Further metrics of quality beside the metric of the report."""
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
    systems = list(dict.fromkeys(line.system for line in numbers.learning))
    lines, baselines = [], []
    for line in numbers.learning:
        if line.n != n:
            continue
        place, name = systems.index(line.system), numbers.learned(line.system)
        look = Look(coloured(place).colour, "", "-", coloured(place).css)
        seeds = f" (mean of {len(line.seeds)} seeds)" * (len(line.seeds) > 1)
        lines.append(Series(name + seeds, look, _points(line.x, getattr(line, quantity)), is_band=True))
        if line.has_baseline and quantity == "reward":
            grey = Look(GREYS[place % len(GREYS)], "", DASHED, "control")
            of_name = f" of {name}" * (len(systems) > 1)
            means = line.advantage_baseline.mean
            points = tuple(ChartPoint(at, mean, text=decimals(mean)) for at, mean in zip(line.x, means, strict=True))
            baselines.append(Series(f"advantage baseline{of_name}", grey, points))
    return Chart(
        id=chart_id,
        title=f"{label.capitalize()} at n = {n}",
        heading=f"n = {n}" if quantity == "reward" else "",
        x_label="update",
        y_label=label,
        series=(*lines, *baselines),
        description=f"{label.capitalize()} of sampled summaries of n = {n}, by update.",
    )


def _points(x: Sequence[float], band: Band) -> tuple[ChartPoint, ...]:
    return tuple(
        ChartPoint(at, mean, low, high, text=decimals(mean) + f" ({decimals(low)} to {decimals(high)})" * (low < high))
        for at, mean, low, high in zip(x, band.mean, band.low, band.high, strict=True)
    )


def learning_sheet(numbers: PolicyNumbers) -> Sheet:
    """Rewards above, entropies below, a column for each n."""
    lines = numbers.learning
    updates = {line.system: f"{numbers.learned(line.system)} {line.updates:,}" for line in lines}
    notes = [f"updates done: {', '.join(updates.values())}"]
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
