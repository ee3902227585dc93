"""The fence: of two drivers of a run, the earlier one can write nothing any more."""

from datetime import UTC, datetime

from sqlalchemy import Connection, update

from core.errors import FencedError
from jobs.store.runs import read_run
from jobs.store.tables import RunRow


def check_fence(connection: Connection, run_id: str, epoch: int) -> None:
    """Note a driver's heartbeat, if the run is still its own. First in every transaction of a driver.

    The row stays locked until the transaction ends, so nobody can take the run over in between.

    Raises:
        FencedError: Another driver took the run over, or its state is no longer 'running'.
    """
    changed = connection.execute(
        update(RunRow)
        .where(RunRow.id == run_id, RunRow.driver_epoch == epoch, RunRow.state == "running")
        .values(heartbeat_at=datetime.now(UTC))
    )
    if changed.rowcount == 1:
        return
    run = read_run(connection, run_id)
    if run.driver_epoch != epoch and run.driver_pid is None:
        raise FencedError(f"run {run_id!r} was cancelled or submitted again meanwhile: this driver must stop")
    if run.driver_epoch != epoch:
        raise FencedError(
            f"run {run_id!r} was taken over by pid {run.driver_pid} on {run.driver_host} (driver {run.driver_epoch}; "
            f"this is driver {epoch}): this driver must stop, its results from now on are not stored"
        )
    raise FencedError(
        f"run {run_id!r} is {run.state!r}, no longer 'running': this driver must stop. "
        f"Resume it with: nws resume {run_id}"
    )


def lock_run(connection: Connection, run_id: str) -> None:
    """Lock a run before it is read, so that of two who come at once the second sees what the first has done."""
    connection.execute(update(RunRow).where(RunRow.id == run_id).values(driver_epoch=RunRow.driver_epoch))
