"""A training whose actors, machines and drivers are killed becomes, to the last bit, what an undisturbed one becomes.

Three drivers, one after the other, train on a cluster of three nodes of one CPU: two with two actors, the last with
three. Each loses an actor, the second a node, too; the first two are then killed themselves.
"""

import io
import random
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from nws_process import start
from postgres_server import postgres_url
from ray_cluster import end, ray_cluster, strike
from rich.console import Console
from training_run import everything, small_training

from jobs.drive import driver
from jobs.store import Store, open_store, upgrade_schema

pytestmark = [pytest.mark.ray, pytest.mark.faults, pytest.mark.timeout(600)]

PASSES = 90  # 180 updates of each joint pair
KILLS = (("actor", "driver"), ("actor", "node", "driver"), ("actor",))
ACTORS = ("2", "2", "3")
PATIENCE_SECONDS = 240.0


@pytest.mark.parametrize(("database", "seed"), [("sqlite", 1), ("postgres", 2)])
def test_kills_change_no_bit_of_a_training(
    database: str, seed: int, tmp_path: Path, tiny_models: dict[str, Path]
) -> None:
    draw = random.Random(seed)
    pinned = small_training(tiny_models, tmp_path, PASSES)
    total = sum(config.updates(4) for config in pinned.training.configs)
    marks = iter(sorted(draw.sample(range(20, int(0.8 * total)), sum(map(len, KILLS)))))
    struck = []
    with ExitStack() as stack:
        cluster = stack.enter_context(ray_cluster())
        url = f"sqlite:///{tmp_path}/nws.db" if database == "sqlite" else stack.enter_context(postgres_url())
        upgrade_schema(url)
        store = stack.enter_context(open_store(url))
        run_id = store.create_run(pinned.run_spec())
        for kills, actors in zip(KILLS, ACTORS, strict=True):
            process = start(tmp_path, "drive", run_id, "--store", url, "--actors", actors, **cluster.environment)
            stack.callback(end, process)
            while len(cluster.nodes) < 2:
                cluster.add_node()
            for kind in kills:
                wait_for_updates(store, run_id, next(marks), process)
                strike(kind, cluster, process, draw, "learn")
                struck.append(updates_of(store, run_id))
            if kills[-1] == "driver":
                assert process.wait(timeout=PATIENCE_SECONDS) == -signal.SIGKILL
        _, said = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0, said
        run = store.run_info(run_id)
        assert (run.state, run.driver_epoch, run.failures) == ("done", len(KILLS), 0)
        assert all(0 < updates < total for updates in struck), struck
        other = stack.enter_context(open_store(f"sqlite:///{tmp_path}/undisturbed.db"))
        undisturbed = driver.start(other, pinned, "inline", Console(file=io.StringIO()))
        assert everything(store, run_id) == everything(other, undisturbed.run_id)


def updates_of(store: Store, run_id: str) -> int:
    return sum(policy.updates for policy in store.policy_infos(run_id))


def wait_for_updates(store: Store, run_id: str, updates: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while updates_of(store, run_id) < updates:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the training stands still"
        time.sleep(0.1)
