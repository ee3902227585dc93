"""How many articles a second one driver gets from more and more actors: a forecast, and what Ray does here.

The forecast is the real pool and dispatcher on a simulated fleet (`tests/support/simulation/`), in virtual time: actors
take so many seconds an article, and the driver pays for each article that lands what `bench.overhead` has measured. The
measurement beside it is `bench.overhead`'s with stubs that sleep, on 1, 2 and 4 actors of a Ray on this machine; its
forecast is made with the driver's CPU time of the same run.

`make forecast`, or `make forecast MEASURE=1` to measure anew.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from simulation.cases import draw_small
from simulation.chance import Hazards
from simulation.clocks import virtual
from simulation.drivers import Drivers
from simulation.fleet import Fleet
from simulation.ray_face import RayFace
from simulation.stage import Stage
from simulation.world import World

from bench import stub_work
from bench.machine import cpu_model
from bench.overhead import RESULTS, Meter, cost
from core.types import Article
from jobs.plan.sweep import pin
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep import Phase1Recipe
from jobs.store import open_store

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "forecast.png"
MEASURED_ACTORS = (1, 2, 4)
SECONDS, BUNDLE_SIZE, ARTICLES_AN_ACTOR = 0.05, 8, 400
ROWS_MEASURED, ROWS_PAPER = 4, 132
ROW_MS = 0.075  # CPU of a driver for each further row: docs/scale.md
T4_SECONDS = 0.25  # for an article of the recipe `paper`, by its count of FLOPs: docs/scale.md
FORECAST_ACTORS = (1, 2, 4, 8, 16, 25, 50, 100, 250, 500, 1000)


@dataclass(frozen=True, slots=True)
class Point:
    """Articles a second from so many actors; `driver_ms` are the driver's for each."""

    actors: int
    driver_ms: float
    simulated: float
    measured: float | None = None


def simulated(stage: Stage, actors: int, seconds: float, driver_ms: float, bundle_size: int) -> float:
    """Articles a second, from when the pool is in full work."""
    world = World(0)
    bundle_seconds = seconds * bundle_size
    fleet = Fleet(world, Hazards(world.random, bundle_seconds, 1.0, 0.0, 0, spread=0.0), stub_work.make_segmenter(0.0))
    ray = RayFace(world, fleet)
    case = replace(draw_small(0), actors=actors, bundle_size=1, stuck_seconds=600.0)
    drivers = Drivers(case, ray, fleet)
    plan = stage.pinned(1, 1).stages[0].plan
    # Until every actor has done some bundles, and the driver has taken in what came at first.
    warm_up = 5 * bundle_seconds + 2 * actors * bundle_size * driver_ms / 1000
    marks: list[tuple[float, int]] = []

    def drive() -> None:
        articles = 0
        with drivers.open_pools() as pools, pools.open_sweep(plan) as pool:
            for landed in pool.map(_bundles()):
                world.pause(len(landed) * bundle_size * driver_ms / 1000)
                articles += len(landed) * bundle_size
                if landed and world.now > warm_up:
                    marks.append((world.now, articles))
                if world.now > 1.5 * warm_up + 20 * bundle_seconds:
                    return

    for _ in range(actors):
        fleet.add_node(1, 1.0)
    with virtual(world, ray):
        driver = world.spawn("driver", drive)
        world.run(lambda: not driver.is_alive, 1e9)
    (began, before), (ended, after) = marks[0], marks[-1]
    return (after - before) / (ended - began)


def _bundles() -> Iterator[tuple[Article, ...]]:
    """Of one article each, which stands for all of its bundle: only the time counts here."""
    number = 0
    while True:
        number += 1
        yield (Article("d", "s", str(number), "One two three.", ("One.",)),)


def measured(actors: int) -> tuple[float, float]:
    """Articles a second of so many actors of a Ray on this machine, and the driver's CPU for each in ms."""
    os.environ["NWS_STUB_SECONDS"] = str(SECONDS)
    with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder:
        articles, count = Path(folder) / "articles.jsonl", actors * ARTICLES_AN_ACTOR
        stub_work.write_articles(articles, count, 100)
        asked = {"datasets": [{"name": str(articles)}], "n": [7], "bundle_size": BUNDLE_SIZE, "rulers": []}
        asked |= {"importance": ["textrank", "centroid"], "accelerator": "cpu", "actors": actors}
        meter = Meter(max(1, count // 20))
        with open_store(f"sqlite:///{folder}/nws.db") as store:
            meter.submit(store, pin(load_recipe(Phase1Recipe, "sample", asked)), Console(stderr=True))
    found = cost(meter.samples, count // 4)
    return 1000 / found.wall, found.driver_cpu


def measure(stage: Stage) -> dict[str, Any]:
    load = os.getloadavg()[0]
    points = []
    for actors in MEASURED_ACTORS:
        rate, driver_ms = measured(actors)
        points.append(Point(actors, driver_ms, simulated(stage, actors, SECONDS, driver_ms, BUNDLE_SIZE), rate))
    about = {
        "CPU": f"{cpu_model()}, {os.cpu_count()} CPUs",
        "load before": round(load, 2),
        "seconds an article": SECONDS,
    }
    return {"about": about, "points": [asdict(point) for point in points]}


def forecast(stage: Stage) -> dict[str, Any]:
    """Of T4s with the recipe `paper`, with the driver of `bench/results/overhead.json`."""
    found = json.loads((RESULTS / "overhead.json").read_text(encoding="utf-8"))
    driver_ms = found["per_article_ms"]["driver_cpu"] + (ROWS_PAPER - ROWS_MEASURED) * ROW_MS
    points = [
        Point(actors, driver_ms, simulated(stage, actors, T4_SECONDS, driver_ms, 32)) for actors in FORECAST_ACTORS
    ]
    return {"driver_ms": driver_ms, "seconds an article": T4_SECONDS, "points": [asdict(point) for point in points]}


def draw(found: dict[str, Any]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.subplots()
    points, seconds = found["forecast"]["points"], found["forecast"]["seconds an article"]
    actors = [point["actors"] for point in points]
    axes.plot(actors, [count / seconds for count in actors], ":", color="0.6", label="actors alone (0.25 s an article)")
    axes.plot(actors, [point["simulated"] for point in points], "o-", color="C0", label="forecast, recipe paper, T4s")
    here = found["measured"]["points"]
    label = f"forecast, stubs of {found['measured']['about']['seconds an article']:g} s"
    axes.plot(
        [point["actors"] for point in here], [point["simulated"] for point in here], "s--", color="C1", label=label
    )
    axes.plot(
        [point["actors"] for point in here],
        [point["measured"] for point in here],
        "x",
        color="C3",
        ms=9,
        label="measured on Ray here",
    )
    axes.axhline(1000 / found["forecast"]["driver_ms"], color="C0", lw=0.8, alpha=0.5)
    axes.set(xscale="log", yscale="log", xlabel="actors of one driver", ylabel="articles a second")
    axes.legend(frameon=False)
    figure.savefig(PICTURE, dpi=120, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.forecast", description=__doc__.splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="measure on Ray anew")
    kept = RESULTS / "forecast.json"
    options = parser.parse_args()
    with Stage(1) as stage:
        is_new = options.measure or not kept.exists()
        here = measure(stage) if is_new else json.loads(kept.read_text(encoding="utf-8"))["measured"]
        found = {"measured": here, "forecast": forecast(stage)}
    kept.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    draw(found)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
