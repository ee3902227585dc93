"""What commands share: printing, finding stores and runs by name, shell completion, and the end of a run."""

import json
import os
import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nws.core.errors import NwsError
from nws.jobs.commands.options import DEFAULT_STORE
from nws.jobs.report.console import ERR, PrintableConsole

if TYPE_CHECKING:  # importing SQLAlchemy and torch would delay `nws --help`
    from nws.jobs.drive.run import Outcome
    from nws.jobs.store import Store

_COMMAND = re.compile(
    r"\bnws (?:submit|status|logs|cancel|resume|report|show|compare|rm) [\w-]+"
    r"(?: --[a-z-]+(?: \d+)?)*(?=[`.,;)\n]|$)"
)
"""A command in an error's advice, up to its end."""

# Data goes to stdout, everything else to stderr.
out = PrintableConsole(soft_wrap=True)
err = ERR


def shown(store: str) -> str:
    from nws.jobs.store.address import parse_address

    return parse_address(store).shown


def store_flag(store: str) -> str:
    """Return the option that makes a command use this store, quoted for a shell, without a password; else ""."""
    if store == DEFAULT_STORE or os.environ.get("NWS_STORE") == store:
        return ""
    return f" --store {shlex.quote(shown(store))}"


def with_store(text: str, flag: str) -> str:
    """Append `flag` (see `store_flag`) to each command in an error's text. Code that raises errors does not know it."""
    return _COMMAND.sub(lambda match: match[0] + flag, text)


def reading(url: str) -> "Store":
    from nws.jobs.store import open_store

    return open_store(url, read_only=True)


def changing(url: str) -> "Store":
    """Open a store for writing, which must exist: a new store could not have the run that is meant."""
    from nws.jobs.store import open_store

    with reading(url):
        pass
    return open_store(url)


def print_result(as_json: bool, value: Any, print_text: Callable[[], object]) -> None:
    """Print a value as one line of JSON, or as text."""
    if as_json:
        print(json.dumps(value, allow_nan=False))
    else:
        print_text()


def chosen_run(opened: "Store", run: str | None, with_summaries: bool = False, is_training: bool = False) -> str:
    """Return the id of a run from its id or the beginning of it; by default, that of the newest run of its kind."""
    return opened.newest_id(with_summaries, is_training) if run is None else opened.full_id(run)


def finish(outcome: "Outcome", store: str, as_json: bool) -> None:
    """Print the outcome of a run, and exit with the code for its state."""
    from nws.jobs.report.numerals import counted

    where = store_flag(store)
    if as_json:
        print(json.dumps(asdict(outcome)))
    else:
        _print_answer(outcome, store)
        articles, summaries = counted(outcome.articles, "article"), counted(outcome.summaries, "summary")
        reused = f" ({outcome.reused} of them reused)" if outcome.reused else ""
        failures = counted(outcome.failures, "failure")
        out.print(f"Run {outcome.run_id} is {outcome.state}: {articles}, {summaries}{reused}, {failures}.")
    if outcome.state == "submitted":
        return
    if outcome.state == "interrupted":
        again = f"Resume it with: nws resume {outcome.run_id}{where}"
        err.print(f"Interrupted; what was finished is stored. {again}{_stored_updates(outcome, store)}")
        raise typer.Exit(130)
    if outcome.failures:
        err.print(f"{counted(outcome.failures, 'article')} failed. See why: nws status {outcome.run_id}{where}")
        raise typer.Exit(1)
    from nws.jobs.drive.progress import duration

    err.print(f"It took {duration(outcome.seconds)}, including the loading of models. Its rows are in {shown(store)}.")


def _stored_updates(outcome: "Outcome", store: str) -> str:
    """Say after how many updates a training resumes; "" for a run without a training."""
    from nws.core.errors import StoreError

    with suppress(StoreError), reading(store) as opened:  # the store may go away after the run has ended
        if infos := opened.policy_infos(outcome.run_id):
            return f" ({sum(info.updates for info in infos)} of {sum(info.total_updates for info in infos)} updates)"
    return ""


def _print_answer(outcome: "Outcome", store: str) -> None:
    """Print the short report of a run that is done."""
    if outcome.state != "done":
        return
    from nws.core.errors import StoreError
    from nws.jobs.report.printed_report import print_report
    from nws.jobs.report.run_report import read_report

    with suppress(StoreError), reading(store) as opened:  # the store may go away after the run has ended
        print_report(read_report(opened, opened.run_info(outcome.run_id)), PrintableConsole(), store_flag(store))


def complete_run(ctx: typer.Context, incomplete: str) -> list[str]:
    """List the run ids that a shell offers for what was typed, the newest first.

    The list is empty if the store cannot be read, since nobody reads errors while typing.
    """
    url = ctx.params.get("store") or os.environ.get("NWS_STORE") or DEFAULT_STORE
    with suppress(NwsError), reading(url) as opened:
        return [run.id for run in opened.list_runs() if run.id.startswith(incomplete)]
    return []


NamedRun = Annotated[str, typer.Argument(help="Run id, as `nws ls` lists it.", autocompletion=complete_run)]
NewestRun = Annotated[str | None, typer.Argument(help="Run id; default: the newest run.", autocompletion=complete_run)]
ScoredRun = Annotated[
    str | None, typer.Argument(help="Run id; default: the newest run with summaries.", autocompletion=complete_run)
]
