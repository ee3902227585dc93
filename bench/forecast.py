"""How many articles a second one driver gets from more and more actors: a forecast, and what Ray does here.

The forecast is the real pool and dispatcher on a simulated fleet (`tests/support/simulation/`), in virtual time: actors
take so many seconds an article, and the driver pays for each article that lands what `bench.overhead` has measured, and
what `bench.writer` has for further rows on Postgres, whose server it waits for.
Beside it are the rates of 1, 2 and 4 actors of a real Ray, whose stubs sleep, and forecasts of these, with the driver's
CPU time of the same runs.

`make forecast`, or `make forecast MEASURE=1` to measure anew on a Ray for each number of actors: a minute in all.
"""

import functools
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

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
from bench.machine import RESULTS, cpu_model
from bench.overhead import WORDS, Meter, cost
from nws.cluster.session import local_session
from nws.core.article import Article
from nws.jobs.drive import pools
from nws.jobs.recipes.job import plan_job
from nws.jobs.store import open_store

KEPT = RESULTS / "rate_by_actors.json"
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "forecast.png"
ROWS_MEASURED, ROWS_PAPER = 4, 132
T4_SECONDS = 0.25  # for an article of the recipe `paper`, by its count of FLOPs: docs/scale.md
FORECAST_ACTORS = (1, 2, 4, 8, 16, 50, 100, 150, 250, 500)
# On Ray: stubs sleep for so long that two CPUs are enough for four actors.
MEASURED_ACTORS = (1, 2, 4)
SECONDS, BUNDLE_SIZE, ARTICLES_AN_ACTOR = 0.05, 8, 400


def simulated(stage: Stage, actors: int, seconds: float, driver_ms: float, bundle_size: int) -> float:
    """Articles a second, from when the pool is in full work."""
    world = World(0)
    bundle_seconds = seconds * bundle_size
    fleet = Fleet(world, Hazards(world.random, bundle_seconds, 1.0, 0.0, 0, spread=0.0), stub_work.make_segmenter(0.0))
    ray = RayFace(world, fleet)
    case = replace(draw_small(0), actors=actors, bundle_size=1, stuck_seconds=600.0)
    drivers = Drivers(case, ray, fleet)
    (sweep,) = stage.plan(1, 1).stages
    # Until every actor has done some bundles, and the driver has taken in what came at first.
    warm_up = 5 * bundle_seconds + 2 * actors * bundle_size * driver_ms / 1000
    marks: list[tuple[float, int]] = []

    def drive() -> None:
        articles = 0
        with drivers.open_pools() as pools, pools.open_sweep(sweep) as pool:
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


def measured(actors: int) -> dict[str, float]:
    """The rate of actors on a Ray here, and the driver's CPU time of an article in ms; of the last three quarters."""
    with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder:
        articles, count = Path(folder) / "articles.jsonl", actors * ARTICLES_AN_ACTOR
        stub_work.write_articles(articles, count, WORDS)
        asked = {"datasets": [{"name": str(articles)}], "n": [7], "bundle_size": BUNDLE_SIZE, "rulers": []}
        asked |= {"importance": ["textrank", "centroid"], "accelerator": "cpu", "actors": actors}
        meter = Meter(max(1, count // 20))
        wide = functools.partial(local_session, num_cpus=max(MEASURED_ACTORS))  # whatever the machine has
        with open_store(f"sqlite:///{folder}/nws.db") as store, mock.patch.object(pools, "local_session", wide):
            meter.submit(store, plan_job("phase1", "sample", asked), Console(stderr=True))
    article = cost(meter.samples, count // 4)
    return {"actors": actors, "measured": 1000 / article.wall, "driver_ms": article.driver_cpu}


def measure() -> None:
    """Keep the rates of actors whose stubs sleep, for a process that has not begun to simulate."""
    os.environ["NWS_STUB_SECONDS"] = str(SECONDS)
    about = {
        "CPU": f"{cpu_model()}, {os.cpu_count()} CPUs",
        "python": platform.python_version(),
        "load before": round(os.getloadavg()[0], 2),
        "seconds an article": SECONDS,
        "bundle size": BUNDLE_SIZE,
    }
    report = {"about": about, "points": [measured(actors) for actors in MEASURED_ACTORS]}
    KEPT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def with_forecasts(stage: Stage, measurements: dict[str, Any]) -> list[dict[str, Any]]:
    """What was measured on Ray, with a forecast of each point."""
    seconds, size = measurements["about"]["seconds an article"], measurements["about"]["bundle size"]
    return [
        point | {"simulated": simulated(stage, point["actors"], seconds, point["driver_ms"], size)}
        for point in measurements["points"]
    ]


def forecast(stage: Stage) -> dict[str, Any]:
    """Of T4s with the recipe `paper`, with the driver of `overhead-amd.json` and the writer of `writer.json`."""
    driver, writer = (json.loads((RESULTS / f"{name}.json").read_text("utf-8")) for name in ("overhead-amd", "writer"))
    (on_postgres,) = (
        cost["wall"] for cost in writer["costs"] if cost["store"] == "Postgres" and cost["bundles_a_transaction"] > 1
    )
    row_ms = on_postgres / writer["about"]["rows an article"]
    driver_ms = driver["per_article_ms"]["driver_cpu"] + (ROWS_PAPER - ROWS_MEASURED) * row_ms
    points = [
        {"actors": actors, "simulated": simulated(stage, actors, T4_SECONDS, driver_ms, 32)}
        for actors in FORECAST_ACTORS
    ]
    return {"driver_ms": driver_ms, "seconds an article": T4_SECONDS, "points": points}


def draw(report: dict[str, Any]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.subplots()
    points, seconds = report["forecast"]["points"], report["forecast"]["seconds an article"]
    actors = [point["actors"] for point in points]
    axes.plot(actors, [count / seconds for count in actors], ":", color="0.6", label="actors alone (0.25 s an article)")
    axes.plot(actors, [point["simulated"] for point in points], "o-", color="C0", label="forecast, recipe paper, T4s")
    if "measured" in report:
        measured_points = report["measured"]["points"]
        label = f"forecast, stubs of {report['measured']['seconds an article']:g} s"
        axes.plot(
            [point["actors"] for point in measured_points],
            [point["simulated"] for point in measured_points],
            "s--",
            color="C1",
            label=label,
        )
        axes.plot(
            [point["actors"] for point in measured_points],
            [point["measured"] for point in measured_points],
            "x",
            color="C3",
            ms=9,
            label="measured on Ray here",
        )
    axes.axhline(1000 / report["forecast"]["driver_ms"], color="C0", lw=0.8, alpha=0.5)
    axes.set(xscale="log", yscale="log", xlabel="actors of one driver", ylabel="articles a second")
    axes.legend(frameon=False)
    figure.savefig(PICTURE, dpi=120, metadata={"Software": None})


def main() -> None:
    if "--measure" in sys.argv:
        measure()
    with Stage(1) as stage:
        report = {"forecast": forecast(stage)}
        if KEPT.exists():
            measurements = json.loads(KEPT.read_text(encoding="utf-8"))
            report["measured"] = measurements["about"] | {"points": with_forecasts(stage, measurements)}
    text = json.dumps(report, indent=2) + "\n"
    (RESULTS / "forecast.json").write_text(text, encoding="utf-8")
    draw(report)
    print(text)


if __name__ == "__main__":
    main()
