"""One simulation: drivers of a run, whoever watches them, and everything that befalls them."""

import contextlib
import functools
import importlib.metadata
import io
from collections.abc import Iterator
from functools import partial
from unittest import mock

from rich.console import Console

from bench import stub_work
from nws.core.errors import NwsError, StoreError, StoreUnavailableError
from nws.core.provenance import software
from nws.jobs.drive import driver
from nws.jobs.drive.ship import HeartbeatMonitor
from nws.jobs.store.runs import SILENT_SECONDS
from simulation.cases import Blow, Case
from simulation.chance import Hazards
from simulation.checks import Checks
from simulation.clocks import virtual
from simulation.drivers import Drivers
from simulation.fleet import Fleet
from simulation.ray_face import RayFace
from simulation.slow_store import Weather
from simulation.stage import Stage
from simulation.world import Process, World

_COMES_BACK_AFTER = (5.0, 60.0, 300.0)
_LOOK_SECONDS = 1.0
"""Between two looks at who is idle."""
_MOST_SECONDS = 24 * 3600.0
"""By then all is over."""


class Silent(Console):
    """Nobody reads it, and Rich takes its time to draw what it prints."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO())

    def print(self, *objects: object, **options: object) -> None:
        """Nothing."""


class Simulation:
    """A run, its drivers and their surroundings. `told` says what happened, and when."""

    def __init__(self, case: Case, stage: Stage) -> None:
        self.case = case
        self.world = World(case.seed)
        draw = self.world.random
        hazards = Hazards(draw, case.seconds, case.load_seconds, case.chance, case.misfortunes, case.poison)
        self.fleet = Fleet(self.world, hazards, stub_work.make_segmenter(0.0))
        self.ray = RayFace(self.world, self.fleet)
        self.weather = Weather(case.store_seconds)
        self.run_id = f"seed-{case.seed}-{next(stage.numbers)}"
        self.store = stage.slow_store().at(self.world, self.weather, self.run_id)
        self.plain = stage.plain
        self.plan = stage.plan(case.articles, case.bundle_size)
        self.pools = Drivers(case, self.ray, self.fleet)
        self.told: list[str] = []
        self.drivers: list[Process] = []
        self.is_over = False
        self.checks = Checks(self, stage.undisturbed(case.articles))

    def tell(self, text: str) -> None:
        self.told.append(f"{self.world.now:9.2f} {text}")

    def run(self) -> None:
        """Let it happen, and check it.

        Raises:
            AssertionError: something is not as it must be.
        """
        with self._stood_in():
            for slots, speed in self.case.machines:
                self.fleet.add_node(slots, speed)
            for blow in self.case.blows:
                self.world.after(blow.at, partial(self._strike, blow))
            self.world.spawn("operator", self._operate)
            self.world.after(_LOOK_SECONDS, self._look)
            self.world.run(lambda: self.is_over and not self.alive, _MOST_SECONDS)
        self.checks.look_at_the_end()

    @property
    def alive(self) -> list[Process]:
        return [process for process in self.drivers if process.is_alive]

    @contextlib.contextmanager
    def _stood_in(self) -> Iterator[None]:
        own = software()
        with contextlib.ExitStack() as stack:
            for module, name, stands_in in (
                ("nws.jobs.drive.driver", "open_pools", self.pools.open_pools),
                ("nws.jobs.drive.run", "watchdog", self._watchdog),
                (
                    "nws.jobs.drive.progress",
                    "_bar",
                    lambda *_: contextlib.nullcontext(lambda: None),
                ),  # Rich has threads
                ("nws.jobs.store.runs", "_exists", lambda pid: any(one.pid == pid for one in self.alive)),
                ("nws.jobs.store.run_writer", "cache_means", lambda *_: None),  # computed again from the rows
                ("nws.cluster.pools", "_BundleBacklog", self.pools.backlog),
                # The same each time, and read from files.
                ("importlib.metadata", "version", functools.cache(importlib.metadata.version)),
                ("nws.cluster.article_work", "software_now", lambda: own),
                ("nws.jobs.drive.pools", "software", lambda: own),
            ):
                stack.enter_context(mock.patch(f"{module}.{name}", stands_in))
            stack.enter_context(virtual(self.world, self.ray))
            yield

    def _operate(self) -> None:
        """Who wants the run done: looks at it now and then, and resumes it where no driver seems to work on it."""
        monitor = HeartbeatMonitor()
        while True:
            try:
                run = self.store.run_info(self.run_id)
            except StoreUnavailableError:
                pass
            except StoreError:  # there is none yet
                if not self.alive:
                    self.drive(is_new=True)
            else:
                if run.state == "done" and not self.checks.lacking(run):
                    break
                is_silent = monitor.silent_seconds(run) > SILENT_SECONDS
                if run.state != "running" or is_silent:
                    self.drive()
            self.world.pause(self.world.random.uniform(5.0, 20.0))
        self.is_over = True

    def drive(self, is_new: bool = False, take_over: bool = False) -> None:
        """Start a driver."""
        name = f"machine-{len(self.drivers)}"
        work = partial(self._drive, is_new, take_over)
        self.drivers.append(self.world.spawn(name, work, skew=self.world.random.uniform(-20.0, 20.0)))

    def _drive(self, is_new: bool, take_over: bool) -> None:
        process = self.world.process
        self.store.serve(process)
        self.tell(f"{process.name} starts" + ", to take over" * take_over)
        try:
            if is_new:
                outcome = driver.start(self.store, self.plan, "ray", Silent(), run_id=self.run_id)
            else:
                outcome = driver.resume(self.store, self.run_id, "ray", None, None, Silent(), take_over)
        except NwsError as error:
            self.tell(f"{process.name} ends: {type(error).__name__}: {error}")
            self.checks.look_at_error(process, error)
        else:
            self.tell(f"{process.name} ends: {outcome.state}")

    @contextlib.contextmanager
    def _watchdog(self, url: str, run_id: str, epoch: int) -> Iterator[None]:
        """As `nws.jobs.drive.watchdog`: another process, which dies with its machine now and then."""
        process, ended = self.world.process, False

        def finish() -> None:
            self.store.claimed(self.world.process, epoch)
            with contextlib.suppress(StoreError):
                self.store.waiting().writer(run_id, epoch).finish("failed", "DriverDiedError")

        def died() -> None:
            if not ended and self.world.random.random() < 0.5:
                self.world.spawn(f"watchdog of {process.name}", finish)

        process.at_end.append(died)
        try:
            yield
        finally:
            ended = process.is_alive

    def _look(self) -> None:
        self.checks.look()
        self.world.after(_LOOK_SECONDS, self._look)

    def _strike(self, blow: Blow) -> None:
        """Let one thing happen, to whom chance chooses."""
        choose = self.world.random.choice
        self.tell(f"{blow.kind} ({blow.seconds:.0f} s)")
        nodes = [node for node in self.fleet.nodes if node.is_alive]
        match blow.kind:
            case "actor killed":
                if self.fleet.actors:
                    choose(self.fleet.actors).die("its process was killed", self.fleet.soon())
            case "machine dies" if nodes:
                self.fleet.end_node(choose(nodes), choose(_COMES_BACK_AFTER))
            case "machine drained" if nodes:
                node = choose(nodes)
                node.is_draining = True
                self.world.after(blow.seconds, partial(self.fleet.end_node, node, choose(_COMES_BACK_AFTER)))
            case "driver killed" if self.alive:
                self.world.kill(choose(self.alive))
            case "driver frozen" if self.alive:
                self.world.freeze(choose(self.alive), blow.seconds)
            case "driver stalls" if self.alive:
                self.world.freeze(choose(self.alive).strands[0], blow.seconds)
            case "taken over" if self.alive and self.store_has_run():
                self.drive(take_over=True)
            case "cancelled":
                self.world.spawn("somebody", self._cancel)
            case "store away":
                self.weather.away_until = self.world.now + blow.seconds
            case "store slow":
                before, self.weather.seconds = self.weather.seconds, blow.seconds / 10
                self.world.after(blow.seconds, partial(setattr, self.weather, "seconds", before))
            case "answer lost":
                self.weather.lost_answers += 1
            case "gcs silent":
                self.fleet.gcs_silent_until = self.world.now + blow.seconds

    def store_has_run(self) -> bool:
        """A driver makes the run once it has its machines."""
        try:
            self.plain.run_info(self.run_id)
        except StoreError:
            return False
        return True

    def _cancel(self) -> None:
        with contextlib.suppress(StoreError):
            self.store.cancel_run(self.run_id, self.world.process.name)


def simulate(case: Case, stage: Stage) -> Simulation:
    """Run it to its end.

    Raises:
        AssertionError: with all that was told, and how to repeat it.
    """
    simulation = Simulation(case, stage)
    try:
        simulation.run()
    except Exception as error:
        told = "\n".join(simulation.told)
        raise AssertionError(f"seed {case.seed}: {type(error).__name__}: {error}\n{case}\n{told}") from error
    return simulation
