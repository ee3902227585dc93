"""Runs on a Ray cluster: submitting and following them, and `nws drive`, the entrypoint of the job itself."""

import dataclasses
from typing import Annotated, Any

import typer

from cluster.job_api import Head, require_address
from core.errors import ClusterError, CorpusError, ModelError, RecipeError
from jobs.commands import options
from jobs.commands.shared import DEFAULT_STORE, Store, err, store_flag


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """Where a run is to be driven: at the dashboard `address`, or here by `engine`."""

    engine: Any  # a name that jobs.workers knows, once `check` has passed
    address: str | None
    no_wait: bool

    def check(self) -> None:
        """Refuse what cannot be meant.

        Raises:
            RecipeError: the engine or the address is none, or one rules the other out.
        """
        if self.engine not in ("ray", "inline"):
            raise RecipeError(f"There is no engine {self.engine!r}: use ray or inline.")
        if not self.address:
            return
        require_address(self.address)
        if self.engine == "inline":
            raise RecipeError(
                f"--engine inline runs in this process, not at {self.address}: leave one out, or unset RAY_ADDRESS."
            )


def submit(opened: Any, store: str, pinned: Any, target: Target) -> Any:
    """Submit a new run to a cluster and follow it; how it stands then."""
    from jobs import submission
    from jobs.follow import Place

    _warn_of_a_file(store)
    run_id = submission.submit(opened, store, pinned, str(target.address))
    return _follow(opened, store, run_id, run_id, Place(epoch=0, line=0), target)


def resubmit(
    opened: Any,
    store: str,
    run: str,
    target: Target,
    accelerator: str | None,
    actors: int | None,
    take_over: bool,
) -> Any:
    """Submit a run again and follow it; how it stands then."""
    from jobs import submission
    from jobs.follow import place_of

    _warn_of_a_file(store)
    since = place_of(opened, run)
    name = submission.resubmit(opened, store, run, str(target.address), accelerator, actors, take_over)
    return _follow(opened, store, run, name, since, target)


def _warn_of_a_file(store: str) -> None:
    from jobs.store.address import parse_address

    path = parse_address(store).path
    if path is not None:
        err.print(
            f"Warning: the driver on the head of the cluster must see the very same file {path}: that works on this "
            "machine only. Elsewhere, use Postgres."
        )


def _follow(opened: Any, store: str, run: str, job: str, since: Any, target: Target) -> Any:
    from jobs import follow

    where = store_flag(store)
    err.print(f"Submitted {run} to {target.address} as job {job}.")
    if target.no_wait:
        err.print(f"Follow it with: nws logs {run} --follow{where}")
        return dataclasses.replace(follow.outcome_of(opened.run_info(run)), state="submitted")
    try:
        info = follow.follow(
            opened, run, since, lambda line: err.print(line.text, markup=False), (Head(str(target.address)), job)
        )
    except KeyboardInterrupt:
        err.print(
            f"The run goes on. Follow it with: nws logs {run} --follow{where}; end it with: nws cancel {run}{where}"
        )
        raise typer.Exit(130) from None
    if info.state == "failed":
        raise ClusterError(f"Run {run} failed: {info.error}. See: nws logs {run}{where}")
    return follow.outcome_of(info)


def drive(
    run: Annotated[str, typer.Argument(help="Run id.")],
    accelerator: options.Accelerator = None,
    actors: options.Actors = None,
    take_over: Annotated[bool, typer.Option("--take-over")] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Drive a run on the cluster that this machine is the head of: what a submitted job runs."""
    from jobs import submission
    from jobs.commands.submit import finish
    from jobs.store import open_store

    store = submission.take_store_url() or store
    with open_store(store) as opened:
        outcome = submission.with_run(opened, run, lambda: _driven(opened, run, accelerator, actors, take_over))
    finish(outcome, store, as_json=False)


def _driven(opened: Any, run: str, accelerator: str | None, actors: int | None, take_over: bool) -> Any:
    from jobs import driver

    try:
        return driver.resume(opened, run, "cluster", accelerator, actors, err, take_over)
    except (CorpusError, ModelError) as error:
        raise type(error)(
            f"{error} A file or folder that a recipe names must lie at the same path on the head."
        ) from error
