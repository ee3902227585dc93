"""`nws rm`: a run that nobody needs any more."""

import json
import socket
from typing import Annotated

import typer

from core.errors import RecipeError
from jobs.commands.shared import DEFAULT_STORE, Json, StoreUrl, err, out, shown
from jobs.terminal.busy import busy


def remove(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Remove a run with all its rows, and the articles that are in no other run. There is no way back.

    A run that is waiting or in work is refused. Summaries that other runs have copied from it stay there.
    """
    from jobs.store import open_store

    if as_json and not yes:
        raise RecipeError("--json asks nothing: say --yes as well.")
    with open_store(store) as opened:
        info = opened.run_info(run)
        if not yes:
            err.print(
                f"{run} in {shown(store)}: {info.state}, {info.articles_done} articles, {info.summaries} summaries"
            )
            typer.confirm("Remove it for good?", abort=True, err=True)
        with busy(f"Removing {run}"):
            removed = opened.remove_run(run, socket.gethostname())
    if as_json:
        counts = {"summaries": removed.summaries, "articles": removed.articles, "copies": removed.copies}
        print(json.dumps({"removed": run, **counts}))
        return
    out.print(
        f"Removed {run}: {removed.summaries} summaries, and {removed.articles} articles that no run has any more."
    )
    if removed.copies:
        out.print(
            f"{removed.copies} summaries of other runs were copied from it. They stay, and name it in reused_from."
        )
