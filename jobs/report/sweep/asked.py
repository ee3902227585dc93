"""How well generators keep to the number of words or characters that they are asked for, and what that takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console

from core.text.length import LengthUnit
from jobs.report.numerals import percent
from jobs.report.printed_lines import print_line, print_title
from jobs.report.system_names import FULL_NAMES, SystemNames
from jobs.report.table import Cell, Table
from jobs.store import AskedWords, EndpointUse, RunInfo, Store


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
        _words_table(asked).print(console)
    if asked.use:
        print_title(console, "Requests and tokens for 1,000 articles, at all n together")
        for line in _costs(asked):
            print_line(console, line)


def _words_table(asked: Asked) -> Table:
    """How well generators keep to n, a row for each generator and n."""
    names = asked.names
    rows = sorted(asked.words, key=lambda row: (row.system, row.n))
    if asked.length_unit == "words":
        columns: tuple[str, ...] = ("system", "n", "mean words", "exactly n", "more than n", "words off n")
        cells = [
            (
                names[row.system],
                row.n,
                Cell(f"{row.written:.1f}"),
                *map(_percent_cell, (row.exactly, row.over)),
                Cell(f"{row.off:.1f}"),
            )
            for row in rows
        ]
        at_most = "n words"
    else:
        columns = ("system", "n", f"mean {asked.length_unit}", "fits into n", "too long, and cut")
        cells = [
            (names[row.system], row.n, Cell(f"{row.written:.1f}"), *map(_percent_cell, (1 - row.over, row.over)))
            for row in rows
        ]
        at_most = f"at most n {asked.length_unit}"
    title = f"{asked.length_unit.capitalize()} written, where {at_most} were asked for"
    return Table(columns, cells, title, ("All before a summary is cut to n.",))


def _percent_cell(share: float) -> Cell:
    return Cell(percent(share))


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
