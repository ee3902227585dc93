"""Articles a second of 1, 2 and 4 actors of a Ray on this machine, whose stubs sleep, to hold `bench.forecast` against.

A Ray for each number of actors; a minute in all. They sleep for so long that two CPUs are enough for four actors.
"""

import functools
import json
import os
import platform
import tempfile
from pathlib import Path
from unittest import mock

from rich.console import Console

from bench import stub_work
from bench.machine import RESULTS, cpu_model
from bench.overhead import WORDS, Meter, cost
from cluster.session import local_session
from jobs.drive import pools
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep_recipe import Phase1Recipe
from jobs.store import open_store

ACTORS = (1, 2, 4)
SECONDS, BUNDLE_SIZE, ARTICLES_AN_ACTOR = 0.05, 8, 400


def measured(actors: int) -> dict[str, float]:
    """The rate, and the driver's CPU for each article in ms, after the first quarter of the articles."""
    with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder:
        articles, count = Path(folder) / "articles.jsonl", actors * ARTICLES_AN_ACTOR
        stub_work.write_articles(articles, count, WORDS)
        asked = {"datasets": [{"name": str(articles)}], "n": [7], "bundle_size": BUNDLE_SIZE, "rulers": []}
        asked |= {"importance": ["textrank", "centroid"], "accelerator": "cpu", "actors": actors}
        meter = Meter(max(1, count // 20))
        wide = functools.partial(local_session, num_cpus=max(ACTORS))  # whatever the machine has
        with open_store(f"sqlite:///{folder}/nws.db") as store, mock.patch.object(pools, "local_session", wide):
            meter.submit(store, make_plan(load_recipe(Phase1Recipe, "sample", asked)), Console(stderr=True))
    found = cost(meter.samples, count // 4)
    return {"actors": actors, "measured": 1000 / found.wall, "driver_ms": found.driver_cpu}


def main() -> None:
    os.environ["NWS_STUB_SECONDS"] = str(SECONDS)
    about = {
        "CPU": f"{cpu_model()}, {os.cpu_count()} CPUs",
        "python": platform.python_version(),
        "load before": round(os.getloadavg()[0], 2),
        "seconds an article": SECONDS,
        "bundle size": BUNDLE_SIZE,
    }
    text = json.dumps({"about": about, "points": [measured(actors) for actors in ACTORS]}, indent=2) + "\n"
    (RESULTS / "rate_by_actors.json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
