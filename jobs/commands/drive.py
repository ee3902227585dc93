"""`nws drive`, hidden: what a job that was submitted to a Ray cluster runs on its head."""

from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import CorpusError, ModelError
from jobs.commands import options
from jobs.commands.shared import DEFAULT_STORE, StoreUrl, err, finish

if TYPE_CHECKING:
    from jobs.drive.run import Outcome
    from jobs.store import Store


def drive(
    run: Annotated[str, typer.Argument(help="Run id.")],
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    epoch: Annotated[
        int | None, typer.Option(help="Of the submission: a later one takes the run from this job.")
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
) -> None:
    """Drive a run on the cluster that this machine is the head of: what a submitted job runs."""
    from jobs.drive.run import hold_run
    from jobs.remote.ship import take_store_url
    from jobs.store import open_store

    store = take_store_url() or store
    with open_store(store) as opened, hold_run(opened, run, epoch, err) as claimed_epoch:
        outcome = _driven(opened, run, accelerator, actors, claimed_epoch)
    finish(outcome, store, as_json=False)


def _driven(opened: "Store", run: str, accelerator: str | None, actors: int | None, epoch: int | None) -> "Outcome":
    from jobs.drive import driver

    try:
        return driver.resume(opened, run, "cluster", accelerator, actors, err, epoch=epoch)
    except (CorpusError, ModelError) as error:
        raise type(error)(
            f"{error} A file or folder that a recipe names must lie at the same path on the head.",
            settings=error.settings,
        ) from error
