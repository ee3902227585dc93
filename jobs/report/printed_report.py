"""A report in the terminal: the answer first, then the tables. Made for any width, with or without colour."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console

from core.analysis.answer import Answer
from jobs.report.metric_names import metric_name, short_signature
from jobs.report.numerals import counted
from jobs.report.policies.policy_answer import sentences, what_is_known
from jobs.report.policies.policy_numbers import PolicyNumbers
from jobs.report.policies.policy_tables import learning_table, policy_tables, qualities_table
from jobs.report.printed_lines import (
    print_line,
    print_metric,
    print_sentence,
    print_shared,
    print_title,
    print_unit,
)
from jobs.report.result_tables import (
    best_n_table,
    means_table,
    other_lengths_table,
    uncut_table,
    vs_cut_table,
    vs_lead_table,
)
from jobs.report.run_numbers import RunNumbers, Score, short_note
from jobs.report.sweep import kept_answer
from jobs.report.sweep.numbers import Numbers, cautions
from jobs.report.system_names import FULL_NAMES, SystemNames, names_of
from jobs.report.table import Table
from jobs.store import RunInfo, Store


def print_sweep(numbers: Numbers, console: Console, where: str = "") -> None:
    """Print the answer for every dataset, then every dataset's tables.

    `where` is appended to the commands it names, so that they find the run: such as ` --store URL`.
    """
    print_kept(numbers.kept, numbers.scored, numbers.run, console, where, numbers.names)
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
        _print_tables([uncut_table(numbers, dataset)], console)


def _sweep_tables(numbers: Numbers, dataset: str) -> Iterator[Table | None]:
    title = f"{dataset}: mean {metric_name(numbers.metric)} by n"
    yield means_table(numbers.scores_of(dataset), numbers.metric, numbers.names, title)
    for table in (best_n_table, vs_lead_table, vs_cut_table, other_lengths_table):
        yield table(numbers, dataset)


def print_policies(numbers: PolicyNumbers, console: Console, where: str = "") -> None:
    """Print the answer for every dataset, how the policies learned, every dataset's tables, and how to read them."""
    seeds = f"policies of seed {', '.join(map(str, numbers.seeds))}" if numbers.seeds else "no policies"
    _print_run(numbers, seeds, console, where)
    is_metric = numbers.reward_is_f1 and numbers.metric == "bertscore_f1"
    print_line(console, f"Reward: {'the same' if is_metric else short_signature(numbers.reward)}", style="dim")
    for dataset in numbers.scored:
        print_title(console, f"{dataset}: are the policies better?")
        for system, sentence in sentences(numbers, dataset):
            print_sentence(console, system, sentence)
        for known in what_is_known(numbers, dataset):
            print_line(console, known, style="dim")
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
    yield "F1 does not measure fluency: a list of names can score high. Read some."


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
    """Which articles are not among those of the means."""
    by_system = numbers.of(dataset)
    points = [score for at in by_system.values() for score in at.values()]
    for system, at in by_system.items():
        apart = [score for score in at.values() if not score.comparable]
        if apart:
            fewest = min(apart, key=lambda score: score.articles / score.of_articles)
            articles = f"{fewest.articles} of {counted(fewest.of_articles, 'article')}"
            yield f"{numbers.names[system]} has {articles} at n = {fewest.n}."
    left_out = max((point.of_articles - point.articles for point in points if point.comparable), default=0)
    if left_out:
        articles = counted(left_out, "article")
        yield f"Left out of the means: articles that lack a summary by some system, at most {articles} at any n."


def print_kept(
    answer: Answer,
    datasets: Sequence[str],
    run: RunInfo,
    console: Console,
    where: str,
    names: SystemNames = FULL_NAMES,
) -> None:
    """Print the answer of each dataset, in at most six lines. `where` is what `nws` needs to find the run."""
    for i, dataset in enumerate(datasets):
        if i > 0:
            console.print()
        print_line(console, kept_answer.heading(answer, dataset), style="bold underline")
        print_line(console, kept_answer.headline(answer, dataset, names), style="bold")
        for name, sentence in kept_answer.sentences(answer, dataset, names):
            more = (
                f" Articles needed for narrower intervals: nws plan {run.id}{where}" if name == kept_answer.NEXT else ""
            )
            print_sentence(console, name, sentence + more)


def print_kept_notes(answer: Answer, console: Console) -> None:
    """Print how to read these answers."""
    if answer.of_systems:
        console.print()
        for note in (kept_answer.HOW_SURE, kept_answer.WHAT_IT_IS):
            print_line(console, note, style="dim")


def print_kept_of_run(store: Store, run: RunInfo, console: Console, where: str) -> None:
    """Print the answers of a run; nothing if it has no summaries."""
    if run.summaries:
        answer = store.answer(run.id)
        print_kept(answer, answer.datasets, run, console, where, names_of([run], answer.systems))
        console.print()
