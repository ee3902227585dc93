"""How well generators keep to the number of words or characters that they are asked for, and what that takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from core.text.length import LengthUnit
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
    """The same as plain JSON values."""
    return {
        f"asked_{asked.length_unit}": [asdict(words) for words in asked.words],
        "endpoint_use": [asdict(use) | {"cost": _cost(use, asked.endpoint)} for use in asked.use],
    }


def print_asked(asked: Asked, console: Console) -> None:
    """Print both; nothing if no generator was asked for n words and none is behind an endpoint."""
    if asked.words:
        counts_words = asked.length_unit == "words"
        at_most = "n words" if counts_words else f"at most n {asked.length_unit}"
        print_title(console, f"{asked.length_unit.capitalize()} written, where {at_most} were asked for")
        _print_words(asked, console)
        cells = "mean words, share of exactly n, share of more than n, words off n on average"
        if not counts_words:
            cells = f"mean {asked.length_unit}, share that fits into n, share that is too long and was cut"
        print_line(console, f"In a cell: {cells}. All before a summary is cut to n.", "dim")
    if asked.use:
        print_title(console, "Requests and tokens for 1,000 articles, at all n together")
        for line in _costs(asked):
            print_line(console, line)


def _print_words(asked: Asked, console: Console) -> None:
    words, called = asked.words, asked.names
    at = {(row.system, row.n): row for row in words}
    systems, lengths = sorted({row.system for row in words}), sorted({row.n for row in words})
    names = names_column("n", [system_name(called[system], "system") for system in systems])
    unit = asked.length_unit
    columns = [Column(str(n), [_words_cell(at.get((system, n)), unit) for system in systems]) for n in lengths]
    print_table(names, columns, console)


def _words_cell(words: AskedWords | None, unit: LengthUnit) -> Text:
    if words is None:
        return Text("–")
    if unit != "words":
        return Text(f"{words.written:.1f}\n{percent(1 - words.over)}\n{percent(words.over)}")
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
        if use.models > 1:
            yield (
                f"{asked.names[use.system]}: {use.models} models have answered under this name, so its means mix them. "
                "Each row names its model (answered_by in extra)."
            )


def _cost(use: EndpointUse, endpoint: Mapping[str, Any]) -> float | None:
    """Of all articles of the run, in the currency of the prices; None without them."""
    input_price, output_price = endpoint.get("input_price"), endpoint.get("output_price")
    if input_price is None or output_price is None:
        return None
    return float(use.read * input_price + use.written * output_price) / 1e6
