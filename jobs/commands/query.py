"""`nws query`: SQL that reads the store."""

import json
from typing import Annotated

import typer

from core.errors import RecipeError
from jobs.commands.shared import DEFAULT_STORE, Json, StoreUrl, out, reading

_WEEK = 7 * 24 * 3600


def query(
    sql: Annotated[
        str,
        typer.Argument(
            help="One SELECT. Tables: runs, systems, articles, summaries, failures, policies, updates, episodes; "
            "views: sweep_curve, best_n, leaderboard, learning_curve."
        ),
    ],
    timeout: Annotated[
        float | None, typer.Option(help="End the query after this many seconds, up to a week; default: never.")
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Run SQL that reads the store, and print the rows (with --json, as one JSON list of objects)."""
    from jobs.terminal.plain_table import as_objects, print_rows

    if timeout is not None and not 0 < timeout <= _WEEK:
        raise RecipeError(f"--timeout must be more than 0 and at most {_WEEK} (a week), not {timeout:g}.")
    with reading(store) as opened, opened.query(sql, timeout) as answer:
        if as_json:
            print(json.dumps(as_objects(answer.columns, answer.rows), default=str, allow_nan=False))
        else:
            print_rows(answer.columns, answer.rows, out)
