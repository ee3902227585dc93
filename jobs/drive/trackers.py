"""The trackers that a run is logged to, besides the store. None of them can end the run."""

import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, Protocol

from core.errors import RecipeError
from core.registry import Registry
from jobs.drive.tracked_scalars import Scalar, run_facts
from jobs.store import RunInfo

# Of an address: a name and a password.
_USER = re.compile(r"//[^/@\s]+@")


class Tracker(Protocol):
    """One run in a tracker, opened where an earlier driver has left it.

    Attributes:
        failures: what its library raises where it cannot be written or reached.
    """

    failures: ClassVar[tuple[type[Exception], ...]]

    def __init__(self, run: RunInfo) -> None: ...

    def describe(self, facts: Mapping[str, str]) -> None:
        """Keep what made the numbers."""

    def log(self, scalars: Sequence[Scalar]) -> None:
        """Keep numbers. What the tracker has already is not logged again."""

    def close(self, done: bool) -> None:
        """End the run there: as done, or as one that may be resumed."""

    def where(self) -> str:
        """Where the run is, or the command that shows it: "TensorBoard: …", for the line after the run."""


TRACKERS: Registry[type[Tracker]] = Registry(
    "tracker",
    {
        "tensorboard": "jobs.drive.tensorboard_log:TensorBoardLog",
        "mlflow": "jobs.drive.mlflow_log:MlflowLog",
        "wandb": "jobs.drive.wandb_log:WandbLog",
    },
)


def require_trackers(names: Iterable[str]) -> None:
    """Refuse trackers that cannot be used, before a run begins.

    Raises:
        RecipeError: there is no such tracker, or its package is not installed.
    """
    for name in names:
        if name not in TRACKERS:
            raise TRACKERS.unknown(name, "log_to")
        if importlib.util.find_spec(name) is None:
            raise RecipeError(f"{name} is not installed: pip install 'nws[{name}]'.", settings=("log_to",))


class Trackers:
    """The trackers of a run. One that fails is warned of once and left out from then on: the store has everything."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._opened: dict[str, Tracker] = {}
        self._say = say

    def open(self, name: str, run: RunInfo) -> None:
        """Open one of `require_trackers`, once."""
        kind = TRACKERS[name]
        try:
            self._opened[name] = kind(run)
        except kind.failures as error:
            self._say(_warning(name, error))

    def log(self, scalars: Iterable[Scalar]) -> None:
        """Log numbers to all of them."""
        if self._opened:
            listed = list(scalars)
            self.for_each(lambda tracker: tracker.log(listed))

    def for_each(self, act: Callable[[Tracker], None]) -> None:
        """Do something with all of them."""
        for name, tracker in list(self._opened.items()):
            try:
                act(tracker)
            except tracker.failures as error:
                del self._opened[name]
                self._say(_warning(name, error))


NO_TRACKERS = Trackers(lambda warning: None)
"""The store alone."""


def _warning(name: str, error: Exception) -> str:
    reason = _USER.sub("//", " ".join(f"{type(error).__name__}: {error}".split()))[:300]
    return f"Warning: {name} fails, so nothing more is logged to it ({reason}). The run goes on; the store has it all."


@contextmanager
def open_trackers(names: Sequence[str], run: RunInfo, say: Callable[[str], None]) -> Iterator[Trackers]:
    """Trackers for a run while the block works on it, told what made its numbers.

    Args:
        names: see `require_trackers`; each once.
        run: as it stands.
        say: takes the warning that one of them fails, and in the end a line for each on where the run is.
    """
    trackers = Trackers(say)
    for name in dict.fromkeys(names):
        trackers.open(name, run)
    if names:
        facts = run_facts(run)
        trackers.for_each(lambda tracker: tracker.describe(facts))
    done = False
    try:
        yield trackers
        done = True
    finally:
        trackers.for_each(lambda tracker: tracker.close(done))
        trackers.for_each(lambda tracker: say(_USER.sub("//", tracker.where())))
