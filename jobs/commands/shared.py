"""Options that several commands take, and how they all print and find a store."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console

from core.errors import RecipeError

# That of `jobs.store`, written again because importing it takes SQLAlchemy along.
DEFAULT_STORE = "sqlite:///nws.db"
Store = Annotated[
    str, typer.Option(envvar="NWS_STORE", help="Where results are: sqlite:///FILE or postgresql://USER@HOST/DATABASE.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")]

# Data goes to stdout, all else to stderr.
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def shown(store: str) -> str:
    from jobs.store.address import parse_address

    return parse_address(store).shown


def store_flag(store: str) -> str:
    """What to add to a command so that it finds this store, ready to be pasted into a shell, without a password."""
    if store == DEFAULT_STORE or os.environ.get("NWS_STORE") == store:
        return ""
    return f" --store {shlex.quote(shown(store))}"


@contextmanager
def reading(url: str) -> Iterator[Any]:
    from jobs.store import open_store

    with open_store(url, read_only=True) as opened:
        yield opened


def newest(opened: Any, with_summaries: bool = False) -> str:
    from core.errors import StoreError

    runs = [run for run in opened.list_runs() if run.summaries or not with_summaries]
    if not runs:
        what = "run with summaries" if with_summaries else "run"
        raise StoreError(f"the store {opened.shown_url} holds no {what} yet. Start one with: nws submit phase1")
    return str(runs[0].id)


def parse_lengths(text: str | None) -> list[int] | None:
    """The value of `--n`, e.g. `7,9,11,13`.

    Raises:
        RecipeError: it is no list of whole numbers.
    """
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise RecipeError(
            f"--n takes whole numbers with commas between them, such as 7,9,11,13, not {text!r}."
        ) from error
