"""What must hold in every simulation, whatever happens."""

from typing import TYPE_CHECKING, Any

from stored_rows import everything

from nws.core.errors import ClusterError, DeviceError, FencedError, NwsError, StoreUnavailableError
from nws.jobs.store import RunInfo
from simulation.fleet import ActorProcess
from simulation.world import Process

if TYPE_CHECKING:
    from simulation.simulate import Simulation

IDLE_SECONDS = 6.0
"""A pool looks around every five."""
_LOADING_DEATHS = 3
_DEVICE_ERRORS = 9


class Checks:
    """Looks at a simulation now and then, and at its end."""

    def __init__(self, simulation: "Simulation", expected: dict[tuple[Any, ...], tuple[Any, ...]]) -> None:
        self._of = simulation
        self._expected = expected
        self._idle_from: dict[ActorProcess, float] = {}

    def look(self) -> None:
        """No actor is idle while work waits and its driver can see it, and no driver waits for more than its calls."""
        for session in self._of.ray.sessions:
            pool = self._of.pools.pools.get(session)
            if pool is None:
                continue
            most = pool._pool.bundles_per_actor * self._of.case.actors
            assert session.most_refs <= most, f"a driver waits for {session.most_refs} answers, and may for {most}"
            if session.process.is_frozen(self._of.world.now):
                for actor in session.actors:
                    self._idle_from.pop(actor, None)
                continue
            attentive = session.attentive
            attentive += 0.0 if session.waits_since is None else self._of.world.now - session.waits_since
            for actor in session.actors:
                is_idle = actor.idle_since is not None and not actor.is_dead
                if not (is_idle and pool.has_work) or actor.node is None:
                    self._idle_from.pop(actor, None)
                    continue
                idle = attentive - self._idle_from.setdefault(actor, attentive)
                assert idle <= IDLE_SECONDS, f"{actor.name} has been idle for {idle:.1f} s while bundles wait"

    def lacking(self, run: RunInfo) -> bool:
        """Whether an article of a run that is done has failed that should not have: somebody resumes it then."""
        failed = {failure.key for failure in self._of.plain.failures(run.id)}
        return not failed <= self._of.case.poison

    def look_at_error(self, process: Process, error: NwsError) -> None:
        """A driver ends with an error only for a reason."""
        if isinstance(error, StoreUnavailableError):  # it is waited for as soon as the run is the driver's
            assert self._of.store.epoch_of(process) is None, str(error)
            return
        run = self._of.plain.run_info(self._of.run_id)
        fleet, text = self._of.fleet, str(error)
        kinds = {blow.kind for blow in self._of.case.blows}
        if isinstance(error, FencedError):
            epoch = self._of.store.epoch_of(process)
            assert (run.driver_epoch, run.state) != (epoch, "running"), f"fenced off without a reason: {text}"
        elif isinstance(error, DeviceError):
            assert fleet.device_errors >= _DEVICE_ERRORS, text
        elif isinstance(error, ClusterError):
            assert fleet.loading_deaths >= _LOADING_DEATHS or "gcs silent" in kinds, text
        else:
            assert "is being driven by" in text, f"{type(error).__name__}: {text}"

    def look_at_the_end(self) -> None:
        """Every article is stored once, as if nothing had happened, and the run's own numbers say so."""
        store, run_id, poison = self._of.plain, self._of.run_id, self._of.case.poison
        failures = store.failures(run_id)
        assert {failure.key for failure in failures} == poison
        given_up = {failure.article_id for failure in failures}
        found = everything(store, run_id)["summaries"]
        expected = {key: row for key, row in self._expected.items() if row[0] not in given_up}
        assert found.keys() == expected.keys()
        assert found == expected
        run = store.run_info(run_id)
        articles = self._of.case.articles
        told = (run.state, run.total_articles, run.articles_done, run.summaries, run.failures)
        assert told == ("done", articles, articles - len(poison), len(expected), len(poison))
        assert not self._of.fleet.actors, "actors have outlived their drivers"
