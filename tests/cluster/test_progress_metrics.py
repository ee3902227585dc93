import re
import time
import urllib.request

import fakes
import pytest
from fake_episodes import FakeEpisodeRunner, request

from cluster.pool import Work
from cluster.ray_episode_pool import episodes_on_ray
from cluster.ray_pool import sweeps_on_ray
from cluster.resources import ActorResources
from cluster.session import Session

pytestmark = pytest.mark.ray

NAMES = {
    "ray_nws_articles_done_total", "ray_nws_articles_failed_total", "ray_nws_summaries_total",
    "ray_nws_summaries_per_second", "ray_nws_tokens_per_second",
}  # fmt: skip
POLICY_NAMES = {"ray_nws_episodes_total", "ray_nws_reward"}

LEARNT = [
    request("reinforce|seed=0", 0, [(fakes.article(i), 7) for i in range(3)]),
    request("reinforce|seed=1", 0, [(fakes.article(2), 7)]),
    request("reinforce|seed=2", 0, []),
]


def exported(port: int) -> dict[str, list[tuple[str, float]]]:
    """The labels and the values of our metrics, as Prometheus reads them."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as response:
        lines = response.read().decode().splitlines()
    found: dict[str, list[tuple[str, float]]] = {}
    for line in lines:
        if match := re.fullmatch(r"(ray_nws_\w+)\{(.*)\} (\S+)", line):
            found.setdefault(match[1], []).append((match[2], float(match[3])))
    return found


@pytest.fixture(scope="module")
def found(session: Session) -> dict[str, list[tuple[str, float]]]:
    """What Prometheus reads, of articles being swept and of policies that learn: it takes a while to come."""
    import ray

    (node,) = ray.nodes()
    cpu = ActorResources(0, 1, None)
    with (
        sweeps_on_ray(Work(fakes.make_segmenter, fakes.TokenSweeper), cpu, 1) as pool,
        episodes_on_ray(FakeEpisodeRunner, cpu, 1) as episode_pool,
    ):
        fakes.together(pool.map(fakes.bundles(3, 2, {1: "sweep-raises"})))
        episode_pool.decode(LEARNT, lambda: None)
        episode_pool.learn(LEARNT, lambda: None)
        deadline = time.monotonic() + 120  # Ray sends them every few seconds, later where the machine is busy
        while (NAMES | POLICY_NAMES) - (found := exported(node["MetricsExportPort"])).keys():
            assert time.monotonic() < deadline, f"missing: {(NAMES | POLICY_NAMES) - found.keys()}"
            time.sleep(0.5)
    return found


def test_prometheus_reads_how_far_the_run_is(found: dict[str, list[tuple[str, float]]]) -> None:
    values = {name: [value for _, value in found[name]] for name in NAMES}
    assert values["ray_nws_articles_done_total"] == [5]
    assert values["ray_nws_articles_failed_total"] == [1]
    assert values["ray_nws_summaries_total"] == [10]
    assert values["ray_nws_summaries_per_second"][0] > 0
    assert values["ray_nws_tokens_per_second"][0] > 0
    for name in NAMES:
        assert all('run="nws"' in labels for labels, _ in found[name])
    ((labels, _),) = found["ray_nws_tokens_per_second"]
    assert re.search(r'actor="sweep-\d+"', labels)


def test_prometheus_reads_how_policies_learn(found: dict[str, list[tuple[str, float]]]) -> None:
    ((labels, episodes),) = found["ray_nws_episodes_total"]
    assert 'run="nws"' in labels
    assert episodes == 8, "two samples for each article of each policy, and none for what is decoded"
    rewards = {}
    for labels, reward in found["ray_nws_reward"]:
        assert 'run="nws"' in labels
        policy = re.search(r'policy="([^"]*)"', labels)
        assert policy is not None
        rewards[policy[1]] = reward
    assert rewards == {"reinforce|seed=0": pytest.approx(1.57), "reinforce|seed=1": pytest.approx(2.57)}


@pytest.mark.usefixtures("session")
def test_a_rate_is_of_the_last_half_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    from cluster import progress_metrics

    class Gauge:
        value = -1.0

        def set(self, value: float) -> None:
            self.value = value

    clock = [100.0]
    monkeypatch.setattr(progress_metrics.time, "monotonic", lambda: clock[0])
    gauge = Gauge()
    rate = progress_metrics.Rate(gauge)
    rate.add(7)
    assert gauge.value == -1, "no time has passed"
    clock[0] = 110
    rate.add(13)
    assert gauge.value == pytest.approx(2)
    for clock[0] in range(120, 200, 10):
        rate.add(60)
    assert gauge.value == pytest.approx(6), "the slow start is forgotten"
    for clock[0] in range(200, 260, 10):
        rate.add(0)
    assert gauge.value == 0, "nothing for a minute"
