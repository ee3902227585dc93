"""`nws doctor` and `nws db`: this machine and the store's schema."""

import json

import typer

from jobs.commands.shared import DEFAULT_STORE, Json, Store, out, shown, store_flag


def doctor(store: Store = DEFAULT_STORE, as_json: Json = False) -> None:
    """Check this machine: libraries, models, spaCy pipelines, Ray, accelerators, store. Exit 1 if one is broken."""
    from jobs.doctor import checks

    found = checks.check_all(store)
    if as_json:
        print(json.dumps([check.as_dict() for check in found]))
    else:
        checks.print_checks(found, out)
    if any(check.state == "broken" for check in found):
        raise typer.Exit(1)


def db_upgrade(store: Store = DEFAULT_STORE) -> None:
    """Bring the store's schema up to date; creates it where there is none."""
    from jobs.store import upgrade_schema

    before, now = upgrade_schema(store)
    out.print(f"{shown(store)}: schema {before or 'none'} -> {now}" if before != now else f"{shown(store)}: {now}")


def db_current(store: Store = DEFAULT_STORE) -> None:
    """Print the store's schema revision, and whether this code needs another. Exit 1 if it does."""
    from jobs.store import current_revision, head_revision

    current, head = current_revision(store), head_revision()
    verdict = "up to date" if current == head else f"this code needs {head}: nws db upgrade{store_flag(store)}"
    out.print(f"{shown(store)}: {current or 'no schema'} ({verdict})")
    if current != head:
        raise typer.Exit(1)
