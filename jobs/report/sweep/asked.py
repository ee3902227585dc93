"""How well generators keep to the number of words that they are asked for, and what that takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from jobs.store import AskedWords, EndpointUse, RunInfo, Store
from jobs.terminal.columns import Column, print_table
from jobs.terminal.numerals import percent
from jobs.terminal.system_names import FULL_NAMES, SystemNames
from jobs.terminal.table_style import names_column, print_line, print_title, system_name


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run's generators were asked for.

    Attributes:
        words: how well they keep to n.
        use: what those behind endpoints took.
        endpoint: the recipe's part about endpoints, with prices and what was fitted before the run; {} without one.
        names: what systems are called.
    """

    words: Sequence[AskedWords] = ()
    use: Sequence[EndpointUse] = ()
    endpoint: Mapping[str, Any] = field(default_factory=dict)
    names: SystemNames = FULL_NAMES


def read_asked(store: Store, run: RunInfo, names: SystemNames = FULL_NAMES) -> Asked:
    """Read it from the summaries of a run, whose systems have these names."""
    systems = run.revisions.get("generators", {})
    if not systems:
        return Asked()
    endpoint = run.recipe.get("endpoint") or {}
    return Asked(store.asked_words(run.id, systems), store.endpoint_use(run.id, systems), endpoint, names)


def asked_json(asked: Asked) -> dict[str, Any]:
    """The same as plain JSON values."""
    return {
        "asked_words": [asdict(words) for words in asked.words],
        "endpoint_use": [asdict(use) | {"cost": _cost(use, asked.endpoint)} for use in asked.use],
        "fits": asked.endpoint.get("fits", {}),
    }


def print_asked(asked: Asked, console: Console) -> None:
    """Print both; nothing if no generator was asked for n words and none is behind an endpoint."""
    if asked.words:
        print_title(console, "Words written, where n words were asked for")
        _print_words(asked.words, asked.names, console)
        cells = "In a cell: mean words, share of exactly n, share of more than n, words off n on average."
        print_line(console, f"{cells} All before a summary is cut to n.", "dim")
    if asked.use:
        print_title(console, "Requests and tokens for 1,000 articles, at all n together")
        for line in _costs(asked):
            print_line(console, line)


def _print_words(words: Sequence[AskedWords], called: SystemNames, console: Console) -> None:
    at = {(row.system, row.n): row for row in words}
    systems, lengths = sorted({row.system for row in words}), sorted({row.n for row in words})
    names = names_column("n", [system_name(called[system], "system") for system in systems])
    columns = [Column(str(n), [_words_cell(at.get((system, n))) for system in systems]) for n in lengths]
    print_table(names, columns, console)


def _words_cell(words: AskedWords | None) -> Text:
    if words is None:
        return Text("–")
    return Text(f"{words.written:.1f}\n{percent(words.exactly)}\n{percent(words.over)}\n±{words.off:.1f}")


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
    for system, fit in endpoint.get("fits", {}).items():
        tokens = f"{fit['prompt_tokens']:,} tokens read, {fit['completion_tokens']:,} written"
        yield f"{system}, once, to know which numbers of words to ask for: {fit['requests']} requests, {tokens}"


def _cost(use: EndpointUse, endpoint: Mapping[str, Any]) -> float | None:
    """Of all articles of the run, in the currency of the prices; None without them."""
    input_price, output_price = endpoint.get("input_price"), endpoint.get("output_price")
    if input_price is None or output_price is None:
        return None
    return float(use.read * input_price + use.written * output_price) / 1e6
