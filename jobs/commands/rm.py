"""`nws rm`: remove a run from the store."""

import json
import socket
from typing import Annotated

import typer

from core.errors import RecipeError
from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import changing, err, out, shown
from jobs.terminal.busy import busy


def remove(
    run: Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Remove a run for good.

    All its rows go, and the articles that are in no other run. A run that is waiting or in work is refused. Summaries
    that other runs have copied from it stay there.
    """
    from jobs.terminal.numerals import counted

    if as_json and not yes:
        raise RecipeError("--json cannot ask for confirmation: give --yes, too.")
    with changing(store) as opened:
        info = opened.run_info(run)
        if not yes:
            articles, summaries = counted(info.articles_done, "article"), counted(info.summaries, "summary")
            err.print(f"{run} in {shown(store)}: {info.state}, {articles}, {summaries}")
            typer.confirm("Remove it for good?", abort=True, err=True)
        with busy(f"Removing {run}"):
            removed = opened.remove_run(run, socket.gethostname())
    if as_json:
        counts = {"summaries": removed.summaries, "articles": removed.articles, "copies": removed.copies}
        print(json.dumps({"removed": run, **counts}))
        return
    summaries, articles = counted(removed.summaries, "summary"), counted(removed.articles, "article")
    out.print(f"Removed {run}: {summaries}, and {articles} that no run has any more.")
    if removed.copies:
        copies = counted(removed.copies, "summary")
        out.print(f"Other runs have {copies} copied from it. The copies stay, and name it in reused_from.")
