"""How the actors of a pool come to life, and how they are waited for. It imports ray: see `encoders`."""

import functools
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

import ray
from ray.exceptions import ActorAlreadyExistsError, RayError

from cluster.faults import lost_its_node, one_line
from cluster.resources import ActorResources
from core.errors import ClusterError

logger = logging.getLogger(__name__)

_MAX_STILLBORN = 3


def pinning(actor_class: type, resources: ActorResources) -> Callable[..., Any]:
    """Ray's `options` of a class whose actors pin these resources and are not restarted: pools count their deaths."""
    accelerator = {"accelerator_type": resources.accelerator_type} if resources.accelerator_type else {}
    return functools.partial(
        ray.remote(actor_class).options,
        num_gpus=resources.num_gpus,
        num_cpus=resources.num_cpus,
        max_restarts=0,
        max_task_retries=0,
        enable_task_events=False,
        **accelerator,
    )


def start_named(prefix: str, numbers: Iterable[int], start: Callable[[str], Any]) -> Any:
    """What `start` returns for the first name that is free: the prefix with the next number behind it."""
    for number in numbers:
        try:
            return start(f"{prefix}-{number}")
        except ActorAlreadyExistsError:  # of an earlier driver of this run, whose end Ray has not seen yet
            continue
    raise AssertionError("numbers do not end")


def wait_for_any(refs: list[Any], seconds: float) -> list[Any]:
    """Wait for the first of them; all that are ready then."""
    ready, _ = ray.wait(refs, num_returns=1, timeout=seconds)
    if ready:
        ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
    return list(ready)


class Births:
    """Watches actors load their models: counts those that die of it, and tells of those that are long awaited."""

    def __init__(self, resources: ActorResources) -> None:
        self._resources = resources
        self._stillborn = 0
        self._silent_since = time.monotonic()

    def born(self) -> None:
        """An actor has loaded its models."""
        self._stillborn = 0

    def stillborn(self, fault: RayError) -> None:
        """An actor died before.

        Raises:
            ClusterError: so did several in a row, or Ray could not start it at all.
        """
        # A machine may take any number of them with it.
        self._stillborn += not lost_its_node(fault)
        if self._stillborn >= _MAX_STILLBORN or getattr(fault, "actor_init_failed", False):
            raise ClusterError(
                f"{self._stillborn} actors in a row died while they loaded their models, with "
                f"{self._resources.describe()} each. If memory is short, ask for fewer (`--actors`). "
                f"Ray says: {one_line(fault)}"
            ) from fault

    def heard(self) -> None:
        """Something has happened."""
        self._silent_since = time.monotonic()

    def explain_silence(self, unready: int, actors: int, patience: float) -> None:
        """Nothing has happened: say so each time it has lasted for `patience` seconds, if actors are still awaited."""
        if time.monotonic() - self._silent_since < patience:
            return
        self._silent_since = time.monotonic()
        if unready:
            logger.warning(
                "Nothing has happened for %.0f s: %d of %d actors wait for %s each, or still load their models.",
                patience, unready, actors, self._resources.describe(),
            )  # fmt: skip
