"""What Prometheus reads while articles are swept and policies learn.

In a process of its own, with a Ray of its own: totals are of all that a Ray has seen.
"""

import json
import re
import time
import urllib.request

import fakes
from fake_episodes import FakeEpisodeRunner, request

from cluster.article_work import Work
from cluster.episode_pool import episodes_on_ray
from cluster.resources import ActorResources
from cluster.session import local_session
from cluster.sweep_pool import sweeps_on_ray

PATIENCE_SECONDS = 120.0  # Ray sends them every few seconds, later where the machine is busy

LEARNT = [
    request("reinforce|seed=0", 0, [(fakes.article(i), 7) for i in range(3)]),
    request("reinforce|seed=1", 0, [(fakes.article(2), 7)]),
    request("reinforce|seed=2", 0, []),
]


def exported(port: int) -> dict[str, list[tuple[str, float]]]:
    """The labels and the values of our metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as response:
        lines = response.read().decode().splitlines()
    found: dict[str, list[tuple[str, float]]] = {}
    for line in lines:
        if match := re.fullmatch(r"(ray_nws_\w+)\{(.*)\} (\S+)", line):
            found.setdefault(match[1], []).append((match[2], float(match[3])))
    return found


def print_metrics(awaited: set[str]) -> None:
    """As JSON, once all that are awaited have come."""
    cpu = ActorResources(0, 1, None)
    with local_session(num_cpus=2):
        import ray

        (node,) = ray.nodes()
        with (
            sweeps_on_ray(Work(fakes.make_segmenter, fakes.TokenSweeper), cpu, 1) as pool,
            episodes_on_ray(FakeEpisodeRunner, cpu, 1) as episode_pool,
        ):
            fakes.together(pool.map(fakes.bundles(3, 2, {1: "sweep-raises"})))
            episode_pool.decode(LEARNT, lambda: None)
            episode_pool.learn(LEARNT, lambda: None)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while awaited - (found := exported(node["MetricsExportPort"])).keys():
                assert time.monotonic() < deadline, f"missing: {awaited - found.keys()}"
                time.sleep(0.5)
    print(json.dumps(found))
