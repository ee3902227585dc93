"""How well generators keep to the number of words they are asked for, and the tokens that endpoints count."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from jobs.store import AskedWords, RunInfo, Store, TokensUsed
from jobs.terminal.numerals import percent
from jobs.terminal.parted_table import Column, print_table
from jobs.terminal.table_style import names_column, print_line, print_title, system_name


def print_asked(store: Store, run: RunInfo, console: Console) -> None:
    """Print both for a run's generators. Prints nothing if none was asked for n words and none counts tokens."""
    systems = run.revisions.get("generators", {})
    if not systems:
        return
    if words := store.asked_words(run.id, systems):
        print_title(console, "Words written, where n words were asked for")
        _print_words(words, console)
        cells = "In a cell: mean words, share of exactly n, share of more than n. All before a summary is cut to n."
        print_line(console, cells, "dim")
    if tokens := store.tokens_used(run.id, systems):
        print_title(console, "Tokens of 1,000 articles, at all n together")
        for line in _costs(tokens, run.recipe.get("endpoint") or {}):
            print_line(console, line)


def _print_words(words: Sequence[AskedWords], console: Console) -> None:
    at = {(row.system, row.n): row for row in words}
    systems, lengths = sorted({row.system for row in words}), sorted({row.n for row in words})
    names = names_column("n", [system_name(system, "system") for system in systems])
    columns = [Column(str(n), [_cell(at.get((system, n))) for system in systems]) for n in lengths]
    print_table(names, columns, console)


def _cell(words: AskedWords | None) -> Text:
    if words is None:
        return Text("–")
    return Text(f"{words.written:.1f}\n{percent(words.exactly)}\n{percent(words.over)}")


def _costs(used: Sequence[TokensUsed], endpoint: Mapping[str, Any]) -> Iterator[str]:
    input_price, output_price = endpoint.get("input_price"), endpoint.get("output_price")
    for usage in used:
        read, written = (1000 * tokens / usage.articles for tokens in (usage.read, usage.written))
        line = f"{usage.system}: {read:,.0f} read, {written:,.0f} written"
        if input_price is not None and output_price is not None:
            cost = (read * input_price + written * output_price) / 1e6
            line += f"; cost {cost:,.2f} at {input_price:g} and {output_price:g} for a million tokens"
        yield line
