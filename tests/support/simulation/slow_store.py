"""The real store, with the delays and outages of a database that others use, too, and with a watch on its fence."""

import contextlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection

from nws.core.errors import StoreUnavailableError
from nws.jobs.store import Store
from simulation.world import Process, World


class Weather:
    """How a database is at the moment.

    Attributes:
        seconds: that a transaction takes to begin, at most.
        away_until: it cannot be reached before.
        lost_answers: of so many commits from now on nobody hears.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.away_until = 0.0
        self.lost_answers = 0


class SlowStore(Store):
    """A process's own connections to it. Nobody else runs in the middle of a transaction, as no SQLite writer does."""

    def at(self, world: World, weather: Weather, run_id: str) -> "SlowStore":
        self._world = world
        self._weather = weather
        self._run_id = run_id
        self._claimed: dict[Process, int] = {}
        self._drivers: set[Process] = set()
        return self

    def serve(self, process: Process) -> None:
        """A driver, whose transactions may be committed without its hearing of it."""
        self._drivers.add(process)

    def claim_run(self, *args: Any, **options: Any) -> int:
        self._claimed.pop(self._world.process, None)
        epoch = super().claim_run(*args, **options)
        self._claimed[self._world.process] = epoch
        return epoch

    def claimed(self, process: Process, epoch: int) -> None:
        """A process that writes for a driver with this epoch."""
        self._claimed[process] = epoch

    def epoch_of(self, process: Process) -> int | None:
        """With which a process has claimed the run."""
        return self._claimed.get(process)

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        self._arrive()
        with super().writing() as connection:
            yield connection
            self._require_fenced(connection)
            self._world.require_alive()  # who is killed now has committed nothing
        if self._weather.lost_answers and self._world.process in self._drivers:
            self._weather.lost_answers -= 1
            raise StoreUnavailableError("the connection was lost after a commit")
        self._world.pause(self._weather.seconds * 0.1)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        self._arrive()
        with super().reading() as connection:
            yield connection

    def _arrive(self) -> None:
        self._world.pause(self._weather.seconds * self._world.random.random())
        if self._world.now < self._weather.away_until:
            raise StoreUnavailableError("the database is away")

    def _require_fenced(self, connection: Connection) -> None:
        epoch = self._claimed.get(self._world.process)
        if epoch is None:
            return
        query = f"SELECT driver_epoch FROM runs WHERE id = '{self._run_id}'"
        now = connection.exec_driver_sql(query).scalar()
        assert now == epoch, f"driver {epoch} was replaced by {now}, and is about to commit"
