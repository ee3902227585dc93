"""A report in the terminal: the answer first, then the tables. Made for any width, with or without colour."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console

from nws.core.analysis.answer import Answer
from nws.core.text.length import LengthUnit
from nws.jobs.report import kept_answer
from nws.jobs.report.metric_names import metric_name, short_signature
from nws.jobs.report.numerals import counted, percent
from nws.jobs.report.policy_numbers import PolicyNumbers
from nws.jobs.report.policy_report import learning_table, policy_tables, qualities_table, sentences, what_is_known
from nws.jobs.report.printed_lines import (
    print_line,
    print_metric,
    print_sentence,
    print_shared,
    print_title,
    print_unit,
)
from nws.jobs.report.result_tables import (
    best_n_table,
    means_table,
    other_lengths_table,
    uncut_tables,
    vs_lead_table,
)
from nws.jobs.report.run_numbers import RunNumbers, Score, short_note
from nws.jobs.report.sweep_numbers import Numbers, cautions
from nws.jobs.report.system_names import FULL_NAMES, SystemNames, names_of
from nws.jobs.report.table import Cell, Table
from nws.jobs.store import AskedWords, EndpointUse, RunInfo, Store


def print_sweep(numbers: Numbers, console: Console, where: str = "") -> None:
    """Print the answer for every dataset, then every dataset's tables.

    `where` is appended to the commands it names, so that they find the run: such as ` --store URL`.
    """
    print_kept(numbers.kept, numbers.scored, console, numbers.names)
    print_kept_notes(numbers.kept, console)
    console.print()
    _print_run(numbers, f"seed {numbers.run.seed}", console, where)
    for dataset in numbers.datasets:
        if dataset in numbers.scored:
            _print_tables(_sweep_tables(numbers, dataset), console)
            print_line(console, f"All comparisons in numbers: nws compare {numbers.run.id}{where}", style="dim")
        notes = (*_left_out(dataset, numbers), *cautions(numbers, dataset))
        if notes:
            print_title(console, f"{dataset}: to keep in mind")
        for note in notes:
            print_line(console, note, style="yellow")
        _print_tables(uncut_tables(numbers, dataset), console)


def _sweep_tables(numbers: Numbers, dataset: str) -> Iterator[Table | None]:
    title = f"{dataset}: mean {metric_name(numbers.metric)} by n"
    yield means_table(numbers.scores_of(dataset), numbers.metric, numbers.names, title)
    for table in (best_n_table, vs_lead_table, other_lengths_table):
        yield table(numbers, dataset)


def print_policies(numbers: PolicyNumbers, console: Console, where: str = "") -> None:
    """Print the answer for every dataset, how the policies learned, every dataset's tables, and how to read them."""
    seeds = f"policies of seed {', '.join(map(str, numbers.seeds))}" if numbers.seeds else "no policies"
    _print_run(numbers, seeds, console, where)
    is_metric = numbers.reward_is_f1 and numbers.metric == "bertscore_f1"
    reward = " + ".join(map(short_signature, numbers.reward.split(" + ")))
    print_line(console, f"Reward: {'the same' if is_metric else reward}", style="dim")
    for dataset in numbers.scored:
        print_title(console, f"{dataset}: are the policies better?")
        for system, sentence in sentences(numbers, dataset):
            print_sentence(console, system, sentence)
        for known_fact in what_is_known(numbers, dataset):
            print_line(console, known_fact, style="dim")
    if numbers.learning:
        learning_table(numbers).print(console)
    for dataset in numbers.scored:
        _print_tables([*policy_tables(numbers, dataset), qualities_table(numbers, dataset)], console)
    for dataset in dict.fromkeys(dataset for dataset, _ in numbers.short):
        note = short_note(dataset, numbers.short, numbers.run.length_unit)
        print_line(console, f"{dataset}: {note}", style="yellow")
    console.print()
    for note in _policy_notes(numbers, where):
        print_line(console, note)


def _policy_notes(numbers: PolicyNumbers, where: str) -> Iterator[str]:
    if not numbers.has_policies:
        if not numbers.short:
            yield f"No policy is evaluated yet: the run is {numbers.run.state}."
            yield f"If it stopped, resume it with `nws resume {numbers.run.id}{where}`."
        return
    yield "Intervals are over articles: they do not include the variation between seeds."
    if numbers.reward_is_f1 and numbers.metric == "bertscore_f1":
        yield "Vs. training F1 below 0: the policies fit their training articles better."
    else:
        yield "The reward is not this metric: training and test articles cannot be compared in it."
    if numbers.metric != "fluency":
        yield "This metric does not measure fluency: a list of names can score high. Read some."


def _print_tables(tables: Iterable[Table | None], console: Console) -> None:
    for table in tables:
        if table is not None:
            table.print(console)


def _print_run(numbers: RunNumbers[Score], seeds: str, console: Console, where: str) -> None:
    """Print which run it is, and in which metric. `where` is what `nws` needs to find the run."""
    run = numbers.run
    print_line(
        console, f"Run {run.id}: {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed, {seeds}"
    )
    print_unit(run.length_unit, console)
    print_metric(numbers.metric, numbers.signature, run.id, console, where)
    print_shared(numbers.names, console)


def _left_out(dataset: str, numbers: Numbers) -> Iterator[str]:
    """The number of articles left out of the means. Systems that lack more have a mark in the table."""
    scores = [score for score in numbers.scores_of(dataset) if score.comparable]
    left_out = max((score.of_articles - score.articles for score in scores), default=0)
    if left_out:
        articles = counted(left_out, "article")
        yield f"Left out of the means: articles that lack a summary by some system, at most {articles} at any n."


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests to a run's generators: kept lengths, and use of endpoints.

    Attributes:
        words: how well they keep to n.
        use: what those behind endpoints took.
        endpoint: the recipe's part about endpoints, with prices; {} without one.
        names: what systems are called.
        length_unit: what n counts.
    """

    words: Sequence[AskedWords] = ()
    use: Sequence[EndpointUse] = ()
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    names: SystemNames = FULL_NAMES
    length_unit: LengthUnit = "words"


def read_asked(store: Store, run: RunInfo, names: SystemNames = FULL_NAMES) -> Asked:
    """Read it from the summaries of a run, whose systems have these names."""
    systems = run.revisions.get("generators", {})
    if not systems:
        return Asked()
    endpoint = run.recipe.get("endpoint") or {}
    words, use = store.asked_words(run.id, systems), store.endpoint_use(run.id, systems)
    return Asked(words, use, endpoint, names, run.length_unit)


def asked_json(asked: Asked) -> dict[str, Any]:
    """Requests to generators as plain JSON values."""
    return {
        f"asked_{asked.length_unit}": [asdict(words) for words in asked.words],
        "endpoint_use": [asdict(use) | {"cost": _cost(use, asked.endpoint)} for use in asked.use],
    }


def print_asked(asked: Asked, console: Console) -> None:
    """Print both; nothing if no generator was asked for n words and none is behind an endpoint."""
    if asked.words:
        _words_table(asked).print(console)
    if asked.use:
        print_title(console, "Requests and tokens for 1,000 articles, at all n together")
        for line in _costs(asked):
            print_line(console, line)


def _words_table(asked: Asked) -> Table:
    """Lengths that generators wrote, a row for each generator and n."""
    unit = asked.length_unit
    rows = [
        (
            *(asked.names[row.system], row.n, Cell(f"{row.written:.1f}")),
            *(Cell(percent(row.exactly)), Cell(percent(row.over)), Cell(f"{row.off:.1f}")),
        )
        for row in sorted(asked.words, key=lambda row: (row.system, row.n))
    ]
    columns = ("system", "n", f"mean {unit}", "exactly n", "more than n", f"{unit} off n")
    title = f"{unit.capitalize()} written, where n were asked for"
    return Table(columns, rows, title, ("All before a summary is cut to n.",))


def _costs(asked: Asked) -> Iterator[str]:
    endpoint = asked.endpoint
    for use in asked.use:
        requests, read, written = (1000 * count / use.articles for count in (use.requests, use.read, use.written))
        line = f"{asked.names[use.system]}: {requests:,.0f} requests, {read:,.0f} tokens read, {written:,.0f} written"
        cost = _cost(use, endpoint)
        if cost is not None:
            prices = f"{endpoint['input_price']:g} and {endpoint['output_price']:g} for a million tokens"
            line += f"; cost {1000 * cost / use.articles:,.2f} at {prices}"
        yield line
        if use.models > 1:
            yield (
                f"{asked.names[use.system]}: {use.models} models have answered under this name, so its means mix them. "
                "Each row names its model (answered_by in extra)."
            )


def _cost(use: EndpointUse, endpoint: Mapping[str, Any]) -> float | None:
    """The cost of all articles of the run, in the currency of the prices; None without prices."""
    input_price, output_price = endpoint.get("input_price"), endpoint.get("output_price")
    if input_price is None or output_price is None:
        return None
    return float(use.read * input_price + use.written * output_price) / 1e6


def print_kept(answer: Answer, datasets: Sequence[str], console: Console, names: SystemNames = FULL_NAMES) -> None:
    """Print the answer of each dataset, in at most six lines."""
    for i, dataset in enumerate(datasets):
        if i > 0:
            console.print()
        print_line(console, kept_answer.heading(answer, dataset), style="bold underline")
        print_line(console, kept_answer.headline(answer, dataset, names), style="bold")
        for name, sentence in kept_answer.sentences(answer, dataset, names):
            print_sentence(console, name, sentence)


def print_kept_notes(answer: Answer, console: Console) -> None:
    """Print how to read these answers."""
    if answer.of_systems:
        console.print()
        for note in (kept_answer.HOW_SURE, kept_answer.WHAT_IT_IS):
            print_line(console, note, style="dim")


def print_kept_of_run(store: Store, run: RunInfo, console: Console) -> None:
    """Print the answers of a run; nothing if it has no summaries."""
    if run.summaries:
        answer = store.answer(run.id)
        print_kept(answer, answer.datasets, console, names_of([run], answer.systems))
        console.print()
