"""Actors that load their models: those that die meanwhile, and those that take long. It imports ray: see `fleet`."""

import logging
import time

from cluster.faults import Fault, lost_its_node, one_line
from cluster.resources import ActorResources
from core.errors import ClusterError

logger = logging.getLogger(__name__)

_MAX_STILLBORN = 3


class Births:
    """Watches actors load their models: counts those that die meanwhile, and warns if it takes long."""

    def __init__(self, resources: ActorResources, actors: int, patience_seconds: float) -> None:
        self._resources = resources
        self._actors = actors
        self._patience_seconds = patience_seconds
        self.begin()

    def begin(self) -> None:
        """All actors have been requested, for the first time or again."""
        self._stillborn = 0
        self._silent_since = time.monotonic()

    def born(self) -> None:
        """An actor has loaded its models."""
        self._stillborn = 0

    def stillborn(self, fault: Fault) -> None:
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
                f"The last error: {one_line(fault)}"
            ) from fault

    def heard(self) -> None:
        """Something has happened."""
        self._silent_since = time.monotonic()

    def explain_silence(self, unready: int) -> None:
        """Nothing has happened: say so each time it has lasted for our patience, if actors are still awaited."""
        if time.monotonic() - self._silent_since < self._patience_seconds:
            return
        self._silent_since = time.monotonic()
        if unready:
            logger.warning(
                "Nothing has happened for %.0f s: %d of %d actors wait for %s each, or still load their models.",
                self._patience_seconds, unready, self._actors, self._resources.describe(),
            )  # fmt: skip
