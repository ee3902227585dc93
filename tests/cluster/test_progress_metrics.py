import json
import os
import re

import pytest
from ray_head import run_script

pytestmark = [pytest.mark.slow, pytest.mark.ray]

NAMES = {
    "ray_nws_articles_done_total", "ray_nws_articles_failed_total", "ray_nws_summaries_total",
    "ray_nws_summaries_per_second", "ray_nws_tokens_per_second",
}  # fmt: skip
POLICY_NAMES = {"ray_nws_episodes_total", "ray_nws_reward"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, float]]]:
    """The labels and the values of our metrics while articles are swept and policies learn."""
    script = f"import metrics_of_a_run\nmetrics_of_a_run.print_metrics({NAMES | POLICY_NAMES})"
    printed = run_script(script, tmp_path_factory.mktemp("metrics"), dict(os.environ))
    metrics: dict[str, list[tuple[str, float]]] = json.loads(printed)
    return metrics


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
