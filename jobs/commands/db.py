"""`nws db`: the store's schema."""

import typer

from jobs.commands.options import DEFAULT_STORE, StoreUrl
from jobs.commands.shared import out, shown
from jobs.terminal.busy import busy


def upgrade(store: StoreUrl = DEFAULT_STORE) -> None:
    """Make the store's schema where there is none.

    A store of another version of NWS is refused and left as it is.
    """
    from jobs.store import upgrade_schema

    with busy("Making the schema"):
        before, now = upgrade_schema(store)
    out.print(f"{shown(store)}: schema {before or 'none'} -> {now}" if before != now else f"{shown(store)}: {now}")


def current_schema(store: StoreUrl = DEFAULT_STORE) -> None:
    """Print the store's schema revision.

    Says whether this code needs another one. Exit 1 if it does.
    """
    from jobs.store import HEAD_REVISION, current_revision

    current, head = current_revision(store), HEAD_REVISION
    verdict = "up to date" if current == head else f"this code needs {head}"
    out.print(f"{shown(store)}: {current or 'no schema'} ({verdict})")
    if current != head:
        raise typer.Exit(1)
