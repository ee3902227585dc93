"""What a shell offers behind a command: the runs of its store, and the systems and metrics of its run."""

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from core.errors import NwsError
from jobs.commands.options import DEFAULT_STORE
from jobs.commands.shared import chosen_run, reading

if TYPE_CHECKING:
    from jobs.store import RunInfo, Store


def runs(ctx: typer.Context, incomplete: str) -> list[str]:
    """The ids that begin so, the newest first."""
    ids = _asked(ctx, lambda store: [run.id for run in store.list_runs()])
    return [run for run in ids if run.startswith(incomplete)]


def systems(ctx: typer.Context, incomplete: str) -> list[str]:
    """What the systems of the run are called."""
    from jobs.terminal.system_names import names_of

    def ask(store: "Store") -> list[str]:
        run = _run(ctx, store)
        return list(names_of([run], store.systems(run.id)).shown.values())

    return [name for name in _asked(ctx, ask) if name.startswith(incomplete)]


def metrics(ctx: typer.Context, incomplete: str) -> list[str]:
    """Those of the run."""
    from jobs.terminal.metrics import metrics_of

    found = _asked(ctx, lambda store: list(metrics_of([_run(ctx, store)])))
    return [name for name in found if name.startswith(incomplete)]


def _run(ctx: typer.Context, store: "Store") -> "RunInfo":
    """The run that is typed already, or the newest."""
    named = ctx.params.get("run") or next(iter(ctx.params.get("runs") or ()), None)
    return store.run_info(chosen_run(store, named, with_summaries=True))


def _asked(ctx: typer.Context, ask: "Callable[[Store], list[str]]") -> list[str]:
    """What the command's store answers; nothing where it cannot be read, since nobody reads errors while typing."""
    url = ctx.params.get("store") or os.environ.get("NWS_STORE") or DEFAULT_STORE
    with contextlib.suppress(NwsError), reading(url) as opened:
        return ask(opened)
    return []
