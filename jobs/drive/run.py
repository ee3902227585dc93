"""A run in the hands of its driver."""

from collections.abc import Callable
from dataclasses import dataclass

from jobs.drive.heartbeat import Heart
from jobs.drive.patience import Result, patiently
from jobs.plan.pinned import Pinned
from jobs.plan.revisions import code_version
from jobs.store import Store


@dataclass(frozen=True, slots=True)
class Driven:
    """A run that is this driver's."""

    store: Store
    run_id: str
    epoch: int
    pinned: Pinned
    heart: Heart

    def patiently(self, call: Callable[[], Result]) -> Result:
        """See `jobs.drive.patience.patiently`."""
        return patiently(call, self.heart.say)

    def start(self, total: int | None, device: str | None) -> None:
        """See `Store.start_run`."""
        self.patiently(lambda: self.store.start_run(self.run_id, self.epoch, total, device, code_version()))
