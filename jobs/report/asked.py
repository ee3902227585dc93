"""How well generators keep to the number of words they are asked for, and what endpoints count for it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from jobs.store import AskedWords, RunInfo, Store, TokensUsed
from jobs.terminal.numerals import percent
from jobs.terminal.parted_table import Column, print_table
from jobs.terminal.table_style import names_column, print_line, print_title, system_name


def print_asked(store: Store, run: RunInfo, console: Console) -> None:
    """Print what there is of a run's generators; nothing where none was asked for n words, and none counts tokens."""
    systems = run.revisions.get("generators", {})
    if not systems:
        return
    if found := store.asked_words(run.id, systems):
        print_title(console, "Words written of n asked for")
        _print_words(found, console)
        print_line(console, "mean, share of exactly n, share of more than n: before a summary is cut to n", "dim")
    if used := store.tokens_used(run.id, systems):
        print_title(console, "Tokens of 1,000 articles, at all n together")
        for line in _costs(used, run.recipe.get("endpoint") or {}):
            print_line(console, line)


def _print_words(found: Sequence[AskedWords], console: Console) -> None:
    at = {(one.system, one.n): one for one in found}
    systems, lengths = sorted({one.system for one in found}), sorted({one.n for one in found})
    names = names_column("n", [system_name(system, "system") for system in systems])
    columns = [Column(str(n), [_cell(at.get((system, n))) for system in systems]) for n in lengths]
    print_table(names, columns, console)


def _cell(found: AskedWords | None) -> Text:
    if found is None:
        return Text("–")
    return Text(f"{found.written:.1f}\n{percent(found.exactly)}\n{percent(found.over)}")


def _costs(used: Sequence[TokensUsed], endpoint: Mapping[str, Any]) -> Iterator[str]:
    input_price, output_price = endpoint.get("input_price"), endpoint.get("output_price")
    for one in used:
        read, written = (1000 * tokens / one.articles for tokens in (one.read, one.written))
        told = f"{one.system}: {read:,.0f} read, {written:,.0f} written"
        if input_price is not None and output_price is not None:
            cost = (read * input_price + written * output_price) / 1e6
            told += f"; {cost:,.2f} at {input_price:g} and {output_price:g} a million"
        yield told
