"""A run whose actors, machines and drivers are killed again and again stores what an undisturbed run stores.

Three drivers, one after the other, work with two actors on a cluster of three nodes: a node has a CPU for one actor,
and one node is spare. Each driver loses two actors and a node at seeded moments; the first two are then killed
themselves, and the next one goes on.

No article can become a failure by that, however unlucky the moments: a kill ends one actor, which charges a bundle with
one death at most, and an article is given up after four under one driver (three of its bundle, then one of its own).
"""

import io
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from nws_process import STUB, Rows, assert_equal, start
from postgres_server import postgres_url
from ray_cluster import RayCluster, end, ray_cluster, strike
from rich.console import Console

from bench import stub_work
from jobs.drive import driver
from jobs.drive.pools import Makers
from jobs.plan.phase1 import pin
from jobs.plan.pinned import Pinned
from jobs.recipes.load import load_recipe
from jobs.recipes.phase1 import Phase1Recipe
from jobs.store import Store, open_store, upgrade_schema

pytestmark = [pytest.mark.ray, pytest.mark.faults, pytest.mark.timeout(400)]

ARTICLES, ROWS_AN_ARTICLE = 320, 5 * 2  # systems, lengths
DRIVERS = 3
KILLS_A_DRIVER = ("actor", "actor", "node")
SECONDS_AN_ARTICLE = "0.08"  # two actors at once: 25 articles a second
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Kill:
    """What to kill, once so many articles are stored and so many seconds have passed."""

    kind: str
    articles: int
    seconds: float


def plan_kills(draw: random.Random) -> list[list[Kill]]:
    """Each driver's kills, at moments drawn from equal parts of the first three quarters of the run."""
    kinds = [[*draw.sample(KILLS_A_DRIVER, len(KILLS_A_DRIVER)), "driver"] for _ in range(DRIVERS)]
    kinds[-1].remove("driver")
    part = 0.75 * ARTICLES / sum(map(len, kinds))
    parts = iter(range(sum(map(len, kinds))))
    return [
        [Kill(kind, round(part * (next(parts) + draw.random())), draw.uniform(0, 0.2)) for kind in of_one]
        for of_one in kinds
    ]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster() as running:
        yield running


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Pinned:
    file = tmp_path_factory.mktemp("articles") / "news.jsonl"
    stub_work.write_articles(file, ARTICLES)
    asked = {"datasets": [{"name": str(file)}], "n": [1, 7], "bundle_size": 4, "accelerator": "cpu", "actors": 2}
    return pin(load_recipe(Phase1Recipe, "sample", asked))


@pytest.fixture(scope="module")
def undisturbed(pinned: Pinned, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    url = f"sqlite:///{tmp_path_factory.mktemp('undisturbed') / 'nws.db'}"
    with pytest.MonkeyPatch.context() as patch, open_store(url) as store:
        patch.setenv("NWS_STUB_SECONDS", "0")
        outcome = driver.start(store, pinned, "inline", Console(file=io.StringIO()), Makers(stub_work.work))
        assert (outcome.state, outcome.summaries) == ("done", ARTICLES * ROWS_AN_ARTICLE)
        return rows(store)


@pytest.mark.parametrize(("database", "seed"), [("sqlite", 1), ("postgres", 2)])
def test_kills_change_nothing(
    database: str, seed: int, cluster: RayCluster, pinned: Pinned, undisturbed: Rows, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    stored_at: dict[str, list[int]] = {"actor": [], "node": [], "driver": []}
    with ExitStack() as stack:
        url = f"sqlite:///{tmp_path}/nws.db" if database == "sqlite" else stack.enter_context(postgres_url())
        upgrade_schema(url)
        store = stack.enter_context(open_store(url))
        run_id = store.create_run(pinned.run_spec())
        for kills in plan_kills(draw):
            environment = cluster.environment | {"NWS_STUB_SECONDS": SECONDS_AN_ARTICLE}
            process = start(tmp_path, "drive", run_id, "--store", url, program=STUB, **environment)
            stack.callback(end, process)
            while len(cluster.nodes) < 2:
                cluster.add_node()
            for kill in kills:
                wait_until_stored(store, run_id, kill.articles, process)
                time.sleep(kill.seconds)
                strike(kill.kind, cluster, process, draw, "sweep")
                stored_at[kill.kind].append(store.run_info(run_id).summaries)
            if kills[-1].kind == "driver":
                assert process.wait(timeout=PATIENCE_SECONDS) == -signal.SIGKILL
        _, said = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0, said
        run = store.run_info(run_id)
        assert (run.state, run.driver_epoch, run.failures) == ("done", DRIVERS, 0)
        assert store.failures(run_id) == []
        assert_equal(rows(store), undisturbed)

    assert {kind: len(stored) for kind, stored in stored_at.items()} == {"actor": 6, "node": 3, "driver": 2}
    for stored in stored_at.values():
        assert all(0 < count < ARTICLES * ROWS_AN_ARTICLE for count in stored), stored_at


def wait_until_stored(store: Store, run_id: str, articles: int, process: subprocess.Popen[str]) -> None:
    """At least one, so that the run has begun."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while store.run_info(run_id).articles_done < max(articles, 1):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the run stands still"
        time.sleep(0.02)


def rows(store: Store) -> Rows:
    """Every summary that the store holds, by article, system and n."""
    with store.query("select * from summaries") as answer:
        found = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    keys = ("article_id", "system", "n")
    # `extra` is text on one database and an object on the other; the stub work leaves it empty.
    names = sorted(found[0].keys() - {*keys, "run_id", "seconds", "extra"})
    times = Counter(tuple(row[key] for key in keys) for row in found)
    assert set(times.values()) == {1}
    return {tuple(row[key] for key in keys): tuple(row[name] for name in names) for row in found}
