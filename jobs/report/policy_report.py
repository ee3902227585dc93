"""What a report says about trained policies: sentences, tables and charts that compare them with other systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from nws.core.findings.policy_findings import (
    COMPARISON_SYSTEMS,
    LEAD_SEARCH,
    TEXTRANK,
    WINDOWS,
    Band,
    LearningLine,
    SystemScore,
    compared_with,
    split_seed,
)
from nws.core.metrics.specs import SPECS
from nws.core.types import LEAD, POLICY, UNTRAINED
from nws.jobs.report.charts import (
    BASELINE_DASHES,
    GREYS,
    Chart,
    ChartPoint,
    GainAt,
    Look,
    Series,
    Sheet,
    difference_chart,
    made_by,
    mean_chart,
    scores_notes,
)
from nws.jobs.report.metric_names import metric_name
from nws.jobs.report.numerals import (
    counted,
    decimals,
    in_brackets,
    interval_text,
    length_text,
    listed,
    percent,
    printed,
    signed,
)
from nws.jobs.report.printed_lines import role
from nws.jobs.report.result_tables import means_table
from nws.jobs.report.run_report import RunReport
from nws.jobs.report.sweep_charts import run_looks
from nws.jobs.report.table import MISSING, Cell, Mark, Table
from nws.jobs.report.wording import small_sample_caution, unequal_lengths_caution
from nws.jobs.store import ArticleTexts, Store

EXAMPLES = 5
"""Articles of a dataset whose summaries stand beside the scores."""
_AT_ONCE = 50


def sentences(report: RunReport, dataset: str) -> tuple[str, ...]:
    """Compare each policy evaluated on a dataset with other systems at the longest n: a text of some sentences each.

    The comparison is in content kept where the run has it, else in the report's metric, and of means over seeds.
    Fluency, where the run has it, is compared with that of `lead`.
    """
    return tuple(_policy_text(report, system, at) for system, at in report.trained.policies_of(dataset).items())


def _policy_text(report: RunReport, system: str, at: Mapping[int, SystemScore]) -> str:
    dataset = next(iter(at.values())).dataset
    kept = _at_longest(report.trained.kept, dataset, system)
    score = kept or at[max(at)]
    name = report.names[system]
    who = f"{name} (trained policy, {counted(len(score.seeds), 'seed')})"
    rivals = [rival for rival in (LEAD, LEAD_SEARCH, TEXTRANK, UNTRAINED) if rival in score.versus]
    comparisons = [_rival_comparison(score, rival, is_share=kept is not None) for rival in rivals]
    length = length_text(score.n, report.document.unit)
    more = [text for is_more, text in comparisons if is_more]
    others = [text for is_more, text in comparisons if not is_more]
    metric = metric_name(report.metric)
    verb, more_of = ("score", f"higher in {metric}") if kept is None else ("keep", "more content")
    texts = [f"There is no other system to compare {name} with."] if not comparisons else []
    if more:
        texts.append(f"At {length}, {who} {verb}s significantly {more_of} than {listed(more)}.")
    if others:
        subject = "It" if more else f"At {length}, {who}"
        texts.append(f"{subject} does not {verb} significantly {more_of} than {listed(others, 'or')}.")
    return " ".join(filter(None, (*texts, _gap(at, metric), _fluency(report, dataset, system))))


def _rival_comparison(score: SystemScore, rival: str, *, is_share: bool) -> tuple[bool, str]:
    """Whether a policy scores significantly higher than another system, and the difference in words."""
    at = score.versus[rival]
    shown = printed(at.difference, at.articles)
    difference = f"{100 * shown.mean:+.1f} points" if is_share else signed(shown.mean)
    ends = [end for end in (shown.low, shown.high) if end is not None]
    span = " to ".join(f"{100 * end:.1f}" if is_share else decimals(end) for end in ends)
    called = "the same policy before training" if rival == UNTRAINED else rival
    return at.better, called + in_brackets(difference, span and f"95 % CI {span}")


def headline(report: RunReport, dataset: str) -> str:
    """Count the policies that score significantly higher than each rival at some n, in one sentence."""
    policies = report.trained.policies_of(dataset).values()
    counts = []
    for rival in COMPARISON_SYSTEMS:
        versus = [[score.versus[rival] for score in at.values() if rival in score.versus] for at in policies]
        if any(versus):
            better = sum(any(at.better for at in tested) for tested in versus)
            counts.append(f"than {rival} {better} of {len(policies)}")
    if not counts:
        return "There is no other system to compare the policies with."
    return f"Policies that score significantly higher at some length: {', '.join(counts)}."


def _gap(at: Mapping[int, SystemScore], metric: str) -> str:
    closed = [score.gap_closed for score in at.values() if score.gap_closed is not None]
    if not closed:
        return ""
    least, most = (percent(extreme(closed)) for extreme in (min, max))
    return (
        f"In {metric}, it closes {least if least == most else f'{least} to {most}'} of the gap from textrank to oracle."
    )


def _at_longest(scores: Sequence[SystemScore], dataset: str, system: str) -> SystemScore | None:
    at = [score for score in scores if (score.dataset, score.system) == (dataset, system)]
    return max(at, key=lambda score: score.n, default=None)


def _fluency(report: RunReport, dataset: str, system: str) -> str:
    score = _at_longest(report.trained.fluency, dataset, system)
    if score is None or LEAD not in score.versus:
        return ""
    difference = score.versus[LEAD].difference
    beside = f"{signed(difference.mean)} (95 % CI {interval_text(difference)}) compared with {LEAD}"
    return f"Its fluency is {decimals(score.score.mean)}, {beside}."


def basis_sentences(report: RunReport, dataset: str) -> Iterator[str]:
    """Name the articles, lengths and metric that the answer for a dataset is based on, in sentences."""
    curves = report.trained.curves(dataset)
    points = [at for curve in curves for at in curve.lengths]
    counts, lengths = [at.articles for at in points], sorted({at.n for at in points})
    fewest, most = min(counts), max(counts)
    size = counted(most, "test article") if fewest == most else f"{fewest} to {counted(most, 'test article')}"
    span = f"n = {lengths[0]}" if len(lengths) == 1 else f"{len(lengths)} lengths from {lengths[0]} to {lengths[-1]}"
    yield f"The tables below are of {size} at {span}, in {metric_name(report.metric)}."
    if caution := small_sample_caution(fewest):
        yield caution
    if report.document.other_lengths(curves):
        yield unequal_lengths_caution(report.document.unit)


def learned_name(report: RunReport, system: str) -> str:
    """Return the name of a learning line's system, which has no decoding."""
    return report.names.shown.get(system, system.removeprefix(POLICY))


def learning_table(report: RunReport) -> Table:
    """Make the table of each policy's mean reward by n, over the first and the last tenth of its updates."""
    by_system: dict[str, dict[int, LearningLine]] = {}
    for line in report.trained.learning:
        by_system.setdefault(line.system, {})[line.n] = line
    lengths = sorted({line.n for line in report.trained.learning})
    rows = [
        (
            learned_name(report, system),
            max(line.updates for line in at.values()),
            *(
                Cell(f"{decimals(at[n].first_reward)} → {decimals(at[n].last_reward)}") if n in at else MISSING
                for n in lengths
            ),
        )
        for system, at in by_system.items()
    ]
    title = "Mean reward while learning, first → last tenth of the updates"
    return Table(("n", "updates", *map(str, lengths)), rows, title)


def beside_others_table(report: RunReport, dataset: str, system: str) -> Table | None:
    """Make the table of a policy by n: its seeds, other systems, the oracle, training articles; None without any."""
    at = report.trained.of(dataset)[system]
    rows = {name: cells for name, cells in _other_rows(report, at) if any(cell is not MISSING for cell in cells)}
    if not rows:
        return None
    test = "* significant (sign-flip test, Holm-corrected over n, 5 %). Below each difference: its 95 % CI"
    notes = [test] * any(score.versus for score in at.values())
    notes += ["gap closed: share of the way from textrank to the oracle"] * ("gap closed" in rows)
    title = f"{dataset}: {report.names[system]}, beside others at equal n"
    return Table(("n", *map(str, at)), [(name, *cells) for name, cells in rows.items()], title, notes)


def _other_rows(report: RunReport, at: Mapping[int, SystemScore]) -> Iterator[tuple[str, list[Cell]]]:
    places = report.places
    yield "lowest–highest seed", [_seeds_cell(score, places) for score in at.values()]
    for rival in COMPARISON_SYSTEMS:
        yield f"vs. {report.names[rival]} (Δ)", [_versus_cell(score, rival, places) for score in at.values()]
    for name, text, values in (
        ("gap closed", percent, [score.gap_closed for score in at.values()]),
        ("training F1", decimals, [score.training_f1 for score in at.values()]),
        ("vs. training F1 (Δ)", signed, [score.test_vs_training for score in at.values()]),
    ):
        yield name, [MISSING if value is None else Cell(text(value)) for value in values]


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
    return Cell(signed(at.difference.mean, places), interval_text(printed(at.difference, at.articles), places), mark)


def policy_tables(report: RunReport, dataset: str, examples: Sequence[ArticleTexts] = ()) -> Iterator[Table]:
    """Yield some summaries of a dataset's test articles, the means of all, and each policy beside others."""
    trained = report.trained
    counts = sorted({score.articles for score in trained.scores if score.dataset == dataset})
    many = counted(counts[0], "test article") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} test articles"
    title = f"{dataset}: mean {metric_name(report.metric)} by n on {many}"
    if table := examples_table(report, dataset, examples):
        yield table
    yield means_table(trained.curves(dataset), report.metric, report.names, title)
    for system in trained.policies_of(dataset):
        if beside := beside_others_table(report, dataset, system):
            yield beside


def read_examples(store: Store, report: RunReport) -> list[ArticleTexts]:
    """Read the first `EXAMPLES` test articles of each dataset by their ids, which say nothing of what they tell."""
    if report.document.policies is None:
        return []
    by_dataset: dict[str, list[ArticleTexts]] = {dataset: [] for dataset in report.document.policies.scored}
    ids = iter(sorted(store.content_hashes(report.run.id)))
    while min(map(len, by_dataset.values()), default=EXAMPLES) < EXAMPLES and (some := list(islice(ids, _AT_ONCE))):
        for article in store.article_texts(report.run.id, some):
            by_dataset[article.dataset].append(article)
    return [article for articles in by_dataset.values() for article in articles[:EXAMPLES]]


def examples_table(report: RunReport, dataset: str, examples: Sequence[ArticleTexts]) -> Table | None:
    """Show what the best policy and others wrote for some articles, with the reference; None without a policy."""
    best = report.trained.best_policy(dataset)
    if best is None:
        return None
    rivals = compared_with(best.system)
    shown = [name for name in rivals if name in (LEAD_SEARCH, LEAD) or name.startswith(UNTRAINED)]
    rows: list[tuple[str, str]] = []
    for article in (article for article in examples if article.dataset == dataset):
        at_n = sorted((row for row in article.summaries if row["n"] == best.n), key=lambda row: str(row["system"]))
        texts = {split_seed(row["system"])[0]: row["text"] for row in reversed(at_n)}  # of seeds the first
        written = [(report.names[system], texts[system]) for system in (best.system, *shown) if system in texts]
        reference = [("reference", " ".join(article.references[0].split()))] if article.references else []
        rows += [(article.key, ""), *written, *reference]
    title = f"{dataset}: summaries at n = {best.n}, of the first articles by id"
    return Table(("article, system", "summary"), rows, title) if rows else None


def qualities_table(report: RunReport, dataset: str) -> Table:
    """Make the table of further metrics of quality beside the metric of the report."""
    qualities = [spec for spec in SPECS if spec.is_quality]
    scores = sorted((s for s in report.trained.scores if s.dataset == dataset), key=lambda score: score.n)
    rows = [
        (
            *(report.names[score.system] + role(score.kind), score.n),
            *(Cell(decimals(score.means[spec.column], spec.decimals)) for spec in qualities),
            Cell(percent(score.repeated_words, 1)),
        )
        for score in scores
    ]
    columns = ("system", "n", *(spec.short or spec.label for spec in qualities), "repeated words")
    notes = [f"{spec.label}: {spec.explained}" for spec in qualities if spec.explained]
    return Table(columns, rows, f"{dataset}: other metrics of quality", notes)


def policies_sheet(report: RunReport) -> Sheet:
    """Chart scores on test articles by n, and below them differences to TextRank, with a ring if significant."""
    trained = report.trained
    curves = {dataset: trained.curves(dataset) for dataset in trained.scored}
    looks = run_looks(report)
    above = tuple(mean_chart(report, report.metric, of, looks, noun="test article") for of in curves.values())
    differences = {dataset: _over_textrank(report, dataset) for dataset in trained.scored}
    ring = "ring: significant difference (sign-flip test, Holm-corrected over n, 5 %)"
    below = tuple(
        difference_chart(report, curves[dataset], TEXTRANK, by_system, looks, note=ring)
        for dataset, by_system in differences.items()
    )
    every = [curve for of_dataset in curves.values() for curve in of_dataset]
    return Sheet(
        title="Policies on test articles",
        rows=(above, below) if any(differences.values()) else (above,),
        notes=("bars: 95 % CIs over articles, not over seeds", *scores_notes(report, every)),
        made_by=made_by(report.run, f"{metric_name(report.metric)}: {report.signature}", trained.seeds),
    )


def _over_textrank(report: RunReport, dataset: str) -> dict[str, Sequence[GainAt]]:
    by_system: dict[str, Sequence[GainAt]] = {
        system: [score.versus[TEXTRANK] for score in scores.values() if TEXTRANK in score.versus]
        for system, scores in report.trained.of(dataset).items()
    }
    return {system: by_n for system, by_n in by_system.items() if by_n}


def learning_charts(report: RunReport, section: str = "") -> tuple[tuple[Chart, ...], tuple[Chart, ...]]:
    """Chart for each n the mean reward by update, and the mean entropy."""
    lengths = sorted({line.n for line in report.trained.learning})
    rewards = tuple(_chart(report, n, "reward", "mean reward", f"{section}-reward-{n}") for n in lengths)
    entropies = tuple(_chart(report, n, "entropy", "mean entropy (nats)", f"{section}-entropy-{n}") for n in lengths)
    return rewards, entropies


def _chart(report: RunReport, n: int, quantity: str, label: str, chart_id: str) -> Chart:
    systems = list(dict.fromkeys(line.system for line in report.trained.learning))
    looks, lines, baselines = run_looks(report), [], []
    for line in report.trained.learning:
        if line.n != n:
            continue
        place, name = systems.index(line.system), learned_name(report, line.system)
        look = replace(looks[line.system], marker="")
        seeds = f" (mean of {len(line.seeds)} seeds)" * (len(line.seeds) > 1)
        lines.append(Series(name + seeds, look, _points(line.x, getattr(line, quantity)), is_band=True))
        if line.has_baseline and quantity == "reward":
            grey = Look(GREYS[place % len(GREYS)], "", BASELINE_DASHES, "control")
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


def learning_sheet(report: RunReport) -> Sheet:
    """Chart rewards above and entropies below, with a column for each n."""
    lines = report.trained.learning
    updates = {line.system: f"{learned_name(report, line.system)} {line.updates:,}" for line in lines}
    notes = [f"updates done: {', '.join(updates.values())}"]
    if any(line.has_baseline for line in lines):
        notes.append("the mean of a leave-one-out baseline equals that of the reward, so both lines coincide")
    if max(line.updates for line in lines) > WINDOWS:
        notes.append(f"averaged over {WINDOWS} equal windows of updates")
    if any(len(line.seeds) > 1 for line in lines):
        notes.append("band: lowest to highest seed")
    return Sheet(
        title="How the policies learned",
        rows=learning_charts(report),
        notes=tuple(notes),
        made_by=made_by(report.run, f"reward: {report.trained.reward}", report.trained.seeds),
        is_shared=True,
    )
