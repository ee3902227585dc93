"""`nws query`: SQL that reads the store; and `nws db`: its schema."""

import io
import json
import sys
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from core.errors import RecipeError
from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import out, reading, shown
from jobs.terminal.console import PrintableConsole, busy, written_out

if TYPE_CHECKING:
    from jobs.store import QueryResult

_WEEK = 7 * 24 * 3600

Format: TypeAlias = Literal["csv", "parquet", "json", "markdown", "latex"]


def query(
    sql: Annotated[
        str,
        typer.Argument(
            help="One SELECT. Tables: runs, systems, articles, summaries, failures, policies, updates, episodes; "
            "views: sweep_curve, best_n, leaderboard, learning_curve."
        ),
    ],
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="End the query after this many seconds, up to a week; default: never."),
    ] = None,
    kind: Annotated[
        Format | None,
        typer.Option("--format", help="Print the rows for a file or a paper; json is --json. Default: a plain table."),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Run SQL on the store, and print the rows.

    It only reads. With --json, the rows are one JSON list of objects.
    """
    from jobs.terminal.columns import as_objects, columns_of, print_for_people, print_rows

    if timeout is not None and not 0 < timeout <= _WEEK:
        raise RecipeError(f"--timeout must be more than 0 and at most {_WEEK} (a week), not {timeout:g}.")
    if as_json and kind not in (None, "json"):
        raise RecipeError(f"--json and --format {kind} are two formats: give one of them.")
    if kind == "parquet" and out.is_terminal:
        raise RecipeError("Parquet is no text for a terminal: put > rows.parquet behind the command.")
    with reading(store) as opened, opened.query(sql, timeout) as answer:
        if as_json or kind == "json":
            print(json.dumps(as_objects(answer.columns, answer.rows), default=str, allow_nan=False))
        elif kind is not None:
            _write(kind, answer)
        else:
            rows = list(answer.rows)
            columns = columns_of(answer.columns, rows)
            if out.is_terminal:
                print_for_people(columns, rows, PrintableConsole())
            else:
                print_rows(columns, rows, out)


def _write(kind: Format, answer: "QueryResult") -> None:
    from jobs.report.formats import latex_table, markdown_table, parquet_bytes, put_csv
    from jobs.terminal.columns import columns_of

    rows = list(answer.rows)
    columns = columns_of(answer.columns, rows)
    if kind == "parquet":
        sys.stdout.buffer.write(parquet_bytes(columns, rows))
        return
    if kind == "csv":
        file = io.StringIO(newline="")
        put_csv(file, columns, rows)
        text = file.getvalue()
    else:
        text = (markdown_table if kind == "markdown" else latex_table)(columns, rows)
    # In UTF-8 wherever it goes, as all files of NWS; to a terminal no text sends a command.
    sys.stdout.buffer.write((written_out(text) if out.is_terminal else text).encode())
    sys.stdout.buffer.flush()


def upgrade(store: StoreUrl = DEFAULT_STORE) -> None:
    """Make the store's schema where there is none.

    A store of another version of NWS is refused and left as it is.
    """
    from jobs.store import upgrade_schema

    with busy("Making the schema"):
        is_new = upgrade_schema(store)
    out.print(f"{shown(store)}: {'the schema was made' if is_new else 'the schema is up to date'}")
