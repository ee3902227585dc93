"""More systems for a run that exists. It works inside one transaction."""

from sqlalchemy import Connection, update

from core.errors import StoreError
from jobs.store import results, runs
from jobs.store.tables import RunRow


def extend(connection: Connection, run_id: str, host: str, spec: runs.RunSpec) -> None:
    """Give a run the recipe, revisions and systems of `spec`, and mark it as interrupted, to be resumed.

    Raises:
        StoreError: a driver works on it or is about to, or there is no such run.
    """
    # Locked first, so that a driver that comes at once sees either the old run or the new one.
    connection.execute(update(RunRow).where(RunRow.id == run_id).values(driver_epoch=RunRow.driver_epoch))
    run = runs.require_free(connection, run_id, host)
    if run.state == "pending":
        raise StoreError(f"run {run_id!r} has not begun yet: wait until it has ended, or end it: nws cancel {run_id}")
    values = {
        "recipe": dict(spec.recipe),
        "recipe_hash": spec.recipe_hash,
        "revisions": dict(spec.revisions),
        "systems": spec.systems,
        "state": "interrupted",
        "error": "a system was added that has not been computed",
        "means_kept": False,
    }
    connection.execute(update(RunRow).where(RunRow.id == run_id).values(values))
    counts = results.count(connection, run_id)  # no article is done while it lacks a system
    connection.execute(update(RunRow).where(RunRow.id == run_id).values(counts))
