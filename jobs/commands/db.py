"""`nws db`: the store's schema."""

import typer

from jobs.commands.options import DEFAULT_STORE, StoreUrl
from jobs.commands.shared import out, shown, store_flag
from jobs.terminal.busy import busy


def upgrade(store: StoreUrl = DEFAULT_STORE) -> None:
    """Bring the store's schema up to date.

    Creates it where there is none.
    """
    from jobs.store import upgrade_schema

    with busy("Upgrading the schema"):
        before, now = upgrade_schema(store)
    out.print(f"{shown(store)}: schema {before or 'none'} -> {now}" if before != now else f"{shown(store)}: {now}")


def current_schema(store: StoreUrl = DEFAULT_STORE) -> None:
    """Print the store's schema revision.

    Says whether this code needs another one. Exit 1 if it does.
    """
    from jobs.store import HEAD_REVISION, current_revision

    current, head = current_revision(store), HEAD_REVISION
    verdict = "up to date" if current == head else f"this code needs {head}: nws db upgrade{store_flag(store)}"
    out.print(f"{shown(store)}: {current or 'no schema'} ({verdict})")
    if current != head:
        raise typer.Exit(1)
