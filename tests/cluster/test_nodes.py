"""Clusters that lose machines, and clusters that get them later."""

import itertools
import json
import os
from pathlib import Path

import pytest
from ray_head import run_script

pytestmark = [pytest.mark.ray, pytest.mark.faults]

LOSING = """
import json, threading
import cluster_of_nodes
from nws.cluster.article_work import Work
from nws.cluster.pools import sweeps_on_ray
from nws.cluster.resources import ActorResources
from nws.cluster.session import joined_session
import fakes

when = {when!r}
cluster = cluster_of_nodes.start(num_cpus=1)
nodes = [cluster.add_node(num_cpus=1, num_gpus=3) for _ in range(2)]
try:
    with joined_session(cluster.address) as session:
        work = Work(fakes.make_segmenter, fakes.make_slowly if when == "loading" else fakes.make_sweeper)
        bundles = fakes.bundles(16, 1, {{}} if when == "loading" else dict.fromkeys(range(16), "segment-slow"))
        with sweeps_on_ray(work, ActorResources(1, 0, None), actors=6) as pool:
            if when == "loading":
                threading.Timer(3, cluster_of_nodes.kill, [nodes[0]]).start()
            landed = []
            for group in pool.map(bundles):
                if group and when == "working" and not landed:
                    cluster_of_nodes.kill(nodes[0])
                landed += group
        import ray
        lost = sum(not node["Alive"] for node in ray.nodes())
    print(json.dumps([
        sorted(article.key for bundle, _ in landed for article in bundle),
        sum(len(result.summaries) for _, result in landed),
        [failure.message for _, result in landed for failure in result.failures],
        lost,
    ]))
finally:
    cluster.shutdown()
"""


@pytest.mark.parametrize("when", ["loading", "working"])
def test_a_node_that_dies_costs_only_retries(when: str, tmp_path: Path) -> None:
    script = LOSING.format(when=when)
    keys, summaries, failures, lost = json.loads(run_script(script, tmp_path, dict(os.environ)).splitlines()[-1])
    assert keys == sorted(str(i) for i in range(16)), "each article landed, once"
    assert (summaries, failures, lost) == (32, [], 1)


GROWING = """
import json, time
import cluster_of_nodes
from nws.cluster import resources
from nws.cluster.resources import await_actors
from nws.cluster.session import joined_session
from nws.core.errors import ClusterError

resources._TELL_SECONDS = 0.5
cluster = cluster_of_nodes.start(num_cpus=1)
asked, told, errors = [], [], []

def ask(*what, tell=told.append):
    started = time.monotonic()
    try:
        plan, actors = await_actors(session, *what, tell)
        return [plan.describe(), actors]
    except ClusterError as error:
        errors.append(str(error))
        return time.monotonic() - started < 1

try:
    with joined_session(cluster.address) as session:
        import ray.autoscaler.sdk as sdk
        request = sdk.request_resources
        sdk.request_resources = lambda bundles: (asked.append(bundles), request(bundles=bundles))
        quick = [ask("T4", 3, 0.5, 0), ask("cpu", 1, 1, 60)]
        quickly_asked = len(asked)
        ask("T4", 3, 0.5, 1.5)
        add = lambda line: cluster.add_node(num_cpus=1, num_gpus=2, resources={"accelerator_type:T4": 1})
        found = ask("T4", 3, 0.5, 60, tell=add)
    print(json.dumps([quick, quickly_asked, found, asked, told, errors]))
finally:
    cluster.shutdown()
"""


def test_machines_that_come_later_are_asked_for_and_waited_for(tmp_path: Path) -> None:
    printed = run_script(GROWING, tmp_path, dict(os.environ)).splitlines()[-1]
    quick, quickly_asked, found, asked, told, errors = json.loads(printed)
    assert quick == [True, ["1 CPU", 1]], "what is there is not waited for"
    assert quickly_asked == 0
    assert found == ["1/2 T4 GPU", 3]
    bundles = [{"CPU": 1}, *[{"GPU": 0.5, "accelerator_type:T4": 0.001}] * 3]
    changes = [now for before, now in itertools.pairwise([None, *asked]) if now != before]
    assert changes == [bundles, [], bundles, []], "asked for, and withdrawn, however it ends"
    assert len(asked) > len(changes), "asked for again while it waits: another run may have replaced the request"
    assert told
    assert all("Waiting for machines" in line and "needs T4 GPUs" in line for line in told)
    assert "Waited" not in errors[0]
    assert "the cluster has 0 GPU and 1 CPU" in errors[1]
    assert errors[1].endswith("Waited 1.5 s for more machines.")


ASKED = """
import functools, json, os, time
import cluster_of_nodes
from nws.cluster.resources import ask_machines
from nws.cluster.session import joined_session

cluster = cluster_of_nodes.start(num_cpus=0)
for told in ("a", "late", "fails"):
    cluster.add_node(num_cpus=1, env_vars={"TOLD": told})


def ask():
    told = os.environ.get("TOLD", "here")
    time.sleep(300 if told == "late" else 0)
    return {"fails": None}.get(told, told) + "!"


try:
    with joined_session(cluster.address):
        print(json.dumps(sorted(ask_machines(functools.partial(ask), 40))))
finally:
    cluster.shutdown()
"""


def test_every_machine_is_asked_and_one_that_fails_or_is_late_says_nothing(tmp_path: Path) -> None:
    answers = json.loads(run_script(ASKED, tmp_path, dict(os.environ)).splitlines()[-1])
    assert answers == ["", "", "a!", "here!"]
