"""`nws drive`, hidden: what a job that was submitted to a Ray cluster runs on its head."""

from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import CorpusError, ModelError
from jobs.commands import options
from jobs.commands.groups import grouped
from jobs.commands.options import DEFAULT_STORE, StoreUrl
from jobs.commands.shared import err, finish

if TYPE_CHECKING:
    from jobs.drive.run import Outcome
    from jobs.store import Store


@grouped
def drive(
    run: Annotated[str, typer.Argument(help="Run id.")],
    actors: options.ActorOptions,
    epoch: Annotated[
        int | None, typer.Option(metavar="N", help="Of the submission: a later one takes the run from this job.")
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
) -> None:
    """Drive a run on the cluster that this machine is the head of: what a submitted job runs."""
    from jobs.drive.run import hold_run
    from jobs.remote.ship import take_store_url
    from jobs.store import open_store

    store = take_store_url() or store
    with open_store(store) as opened, hold_run(opened, run, epoch, err) as claimed_epoch:
        outcome = _driven(opened, run, actors, claimed_epoch)
    finish(outcome, store, as_json=False)


def _driven(opened: "Store", run: str, actors: options.ActorOptions, epoch: int | None) -> "Outcome":
    from jobs.drive import driver

    try:
        return driver.resume(opened, run, "cluster", actors.accelerator, actors.actors, err, epoch=epoch)
    except (CorpusError, ModelError) as error:
        raise type(error)(
            f"{error} A file or folder that a recipe names must lie at the same path on the head.",
            settings=error.settings,
        ) from error
