"""A full report in the terminal: the answer first, then every table. Made for any width, with or without colour."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from nws.core.text.checks.all_checks import finding_lines
from nws.jobs.report.brief import print_brief
from nws.jobs.report.metric_names import metric_name, short_signature
from nws.jobs.report.numerals import counted
from nws.jobs.report.policy_report import basis_sentences, learning_table, policy_tables, qualities_table, sentences
from nws.jobs.report.printed_lines import print_line, print_shortened, print_signature, print_title, print_unit
from nws.jobs.report.result_tables import (
    best_n_table,
    kept_table,
    kinds_table,
    means_table,
    obedience_table,
    other_lengths_table,
    smallest_tables,
    uncut_tables,
    vs_lead_table,
)
from nws.jobs.report.run_report import RunReport
from nws.jobs.report.system_names import FULL_NAMES, SystemNames
from nws.jobs.report.table import Table
from nws.jobs.report.wording import INTERVALS_EXPLAINED, content_kept_explained, warning_sentences, worded
from nws.jobs.store import ArticleTexts, EndpointUse, RunInfo, Store


def print_report(report: RunReport, console: Console, where: str = "", metric: str | None = None) -> None:
    """Print the short report: for each dataset a table and some sentences, and where to find more.

    Args:
        report: the report of a run.
        console: the console to print to.
        where: the option with which printed commands find the run, such as ` --store URL`.
        metric: the metric of the tables; None for content kept if the run has it.
    """
    trained = report.document.policies
    for dataset in trained.scored if trained is not None and trained.has_policies else ():
        print_title(console, f"{dataset}: are the policies better?")
        for sentence in sentences(report, dataset):
            print_line(console, sentence)
    print_brief(report, console, metric)
    run = report.run
    if run.state != "done":
        print_line(console, f"The run is {run.state}: these numbers will change.", style="yellow")
    console.print()
    of_metric = f" --metric {metric}" if metric else ""
    for name, command in (("All tables", f"--full{of_metric}"), ("Page", f"-o report.html{of_metric}")):
        console.print(f"{name:<11} nws report {run.id} {command}{where}", style="dim", markup=False, soft_wrap=True)


def print_full(report: RunReport, console: Console, where: str = "", examples: Sequence[ArticleTexts] = ()) -> None:
    """Print everything that a run found: the short report, all statements, and all tables.

    `examples` are articles with summaries of a run that trains policies.
    """
    document, run = report.document, report.run
    print_report(report, console, where)
    for dataset, statements in document.statements.items():
        print_title(console, f"{dataset}: all findings")
        for statement in statements:
            print_line(console, worded(statement, report.names, document.unit))
    if document.kept:
        console.print()
        for note in (INTERVALS_EXPLAINED, content_kept_explained(document)):
            print_line(console, note, style="dim")
    console.print()
    seeds = f"seed {run.seed}" if document.policies is None else f"seeds {', '.join(map(str, document.policies.seeds))}"
    print_line(
        console, f"Run {run.id}: {run.state}, {counted(run.articles_done, 'article')}, {run.failures} failed, {seeds}"
    )
    print_unit(document.unit, console)
    print_shortened(report.names, console)
    if document.policies is not None:
        _print_training(report, console, examples)
    for dataset in document.datasets:
        _print_tables(_tables(report, dataset), console)
        if cautions := list(warning_sentences(document, dataset, report.names)):
            print_title(console, f"{dataset}: cautions")
            for warning in cautions:
                print_line(console, warning, style="yellow")
    if document.obedience:
        obedience_table(document, report.names).print(console)
    if document.findings:
        print_title(console, "What checks found in the texts")
        for line in finding_lines(document.findings):
            print_line(console, line, style="yellow")
    print_line(console, f"All comparisons in numbers: nws compare {run.id}{where}", style="dim")
    print_signature(report.metric, report.signature, run.id, console, where)


def _tables(report: RunReport, dataset: str) -> Iterator[Table | None]:
    document = report.document
    if document.ranking.get(dataset):
        yield kept_table(document, dataset, report.names)
        yield from smallest_tables(document, dataset, report.names)
        best = document.ranking[dataset][0]
        yield kinds_table(document, dataset, best, report.names) if best in document.by_kind(dataset) else None
    if curves := document.of_metric().curves_of(dataset):
        title = f"{dataset}: mean {metric_name(report.metric)} by n"
        yield means_table(curves, report.metric, report.names, title)
        for table in (best_n_table, vs_lead_table, other_lengths_table):
            yield table(report, dataset)
    yield from uncut_tables(report, dataset)


def _print_training(report: RunReport, console: Console, examples: Sequence[ArticleTexts]) -> None:
    trained = report.trained
    is_metric = trained.reward_is_f1 and report.metric == "bertscore_f1"
    reward = " + ".join(map(short_signature, trained.reward.split(" + ")))
    print_line(console, f"Reward: {'this metric' if is_metric else reward}", style="dim")
    if trained.learning:
        learning_table(report).print(console)
    for dataset in trained.scored:
        for known_fact in basis_sentences(report, dataset):
            print_line(console, known_fact, style="dim")
        _print_tables([*policy_tables(report, dataset, examples), qualities_table(report, dataset)], console)
    console.print()
    for note in _policy_notes(report):
        print_line(console, note)


def _policy_notes(report: RunReport) -> Iterator[str]:
    trained, run = report.trained, report.run
    if not trained.has_policies:
        if not report.document.short_articles:
            yield f"No policy is evaluated yet: the run is {run.state}. If it stopped, resume it: nws resume {run.id}"
        return
    yield "Intervals are over articles: they do not include the variation between seeds."
    if trained.reward_is_f1 and report.metric == "bertscore_f1":
        yield "“vs. training F1” below 0: the policies score higher on their training articles than on test articles."
    else:
        yield "The reward is not this metric, so training and test articles are not compared."
    if report.metric != "fluency":
        yield "This metric does not measure fluency: a list of names can score high. Read some summaries."


def _print_tables(tables: Iterable[Table | None], console: Console) -> None:
    for table in tables:
        if table is not None:
            table.print(console)


@dataclass(frozen=True, slots=True)
class EndpointCosts:
    """The requests of a run to its endpoints.

    Attributes:
        use: the requests and tokens of each system.
        prices: the prices of a million tokens read, written, and read from a cache; None if the recipe has none.
        names: the names of systems.
    """

    use: Sequence[EndpointUse] = ()
    prices: tuple[float, float, float] | None = None
    names: SystemNames = FULL_NAMES

    def cost(self, use: EndpointUse) -> float | None:
        """Return the cost of all articles of the run, in the currency of the prices; None without prices, or tokens."""
        if self.prices is None or not use.read:
            return None
        read, written, cached = self.prices
        return ((use.read - use.cached) * read + use.written * written + use.cached * cached) / 1e6

    def as_dict(self) -> dict[str, Any]:
        """Return what each endpoint took as plain JSON values."""
        return {"endpoint_use": [asdict(use) | {"cost": self.cost(use)} for use in self.use]}


def read_costs(store: Store, run: RunInfo, names: SystemNames = FULL_NAMES) -> EndpointCosts:
    """Read them from the summaries of a run, whose systems have these names."""
    systems = run.revisions.get("generators", {})
    if not systems:
        return EndpointCosts()
    prices = (run.recipe.get("endpoint") or {}).get
    read, written = prices("input_price"), prices("output_price")
    known = None if read is None or written is None else (read, written, prices("cached_input_price", read))
    return EndpointCosts(store.endpoint_use(run.id, systems), known, names)


def print_costs(costs: EndpointCosts, console: Console) -> None:
    """Print them; nothing if no generator is behind an endpoint."""
    if costs.use:
        print_title(console, "Requests and tokens for 1,000 articles, at all n together")
        for line in _cost_lines(costs):
            print_line(console, line)


def _cost_lines(costs: EndpointCosts) -> Iterator[str]:
    for use in costs.use:
        counts = (1000 * count / use.articles for count in (use.requests, use.read, use.cached, use.written))
        requests, read, cached, written = (f"{count:,.0f}" for count in counts)
        of_cache = f" ({cached} of them from its cache)" if use.cached else ""
        tokens = f", {read} tokens read{of_cache}, {written} written"
        tokens = tokens if use.read else "; the endpoint does not state its tokens"
        line = f"{costs.names[use.system]}: {requests} requests{tokens}"
        if costs.prices is not None and (cost := costs.cost(use)) is not None:
            line += f"; cost {1000 * cost / use.articles:,.2f}, at these prices of a million tokens: "
            line += "{:g} read, {:g} written".format(*costs.prices[:2])
            line += f", {costs.prices[2]:g} from its cache" if use.cached else ""
        yield line
        if use.models > 1:
            yield (
                f"{costs.names[use.system]}: {use.models} models have answered under this name, so its means mix them. "
                "Each row names its model (answered_by in extra)."
            )
