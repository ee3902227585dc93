import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.analysis.policy_scores import learning_lines
from nws.core.findings.policy_findings import WINDOWS
from nws.jobs.store import CurveRow


def row(policy, update, reward, *, seed=0, n=7, episodes=8, baseline=0.0, entropy=1.0):
    return CurveRow(policy, seed, n, update, episodes, reward, None, baseline, entropy, -3.0)


def test_few_updates_stand_as_they_are_over_seeds():
    rewards = {0: [0.1, 0.3, 0.2], 1: [0.3, 0.3, 0.6]}
    rows = [
        row(f"reinforce|seed={seed}", u, reward, seed=seed, baseline=0.1, entropy=2.0 - u)
        for seed, of_seed in rewards.items()
        for u, reward in enumerate(of_seed)
    ]
    (line,) = learning_lines(rows)
    assert (line.system, line.n, line.seeds, line.updates) == ("policy|reinforce", 7, (0, 1), 3)
    assert line.x == (0, 1, 2)
    assert line.reward.mean == pytest.approx((0.2, 0.3, 0.4))
    assert line.reward.low == pytest.approx((0.1, 0.3, 0.2))
    assert line.reward.high == pytest.approx((0.3, 0.3, 0.6))
    assert line.entropy.mean == (2.0, 1.0, 0.0)
    assert line.has_baseline
    assert (line.first_reward, line.last_reward) == pytest.approx((0.2, 0.4))


def test_many_updates_are_averaged_in_windows_and_tenths():
    (line,) = learning_lines([row("reinforce|seed=0", u, float(u)) for u in range(300)])
    assert len(line.x) == WINDOWS
    assert line.x == line.reward.mean == tuple(4.5 + 10 * i for i in range(30))
    assert (line.first_reward, line.last_reward) == (14.5, 284.5)
    assert not line.has_baseline


def test_a_window_counts_episodes_and_may_have_none():
    rows = [row("a|seed=0", 0, 0.2, episodes=24), row("a|seed=0", 1, 0.6, episodes=8)]
    rows += [row("a|seed=0", 59, 0.5), row("a|seed=0", 59, 0.5, n=9)]
    seven, nine = learning_lines(rows)
    assert seven.x == (0.5, 58.5)
    assert seven.reward.mean == pytest.approx((0.3, 0.5))
    assert (nine.n, nine.x, nine.first_reward, nine.last_reward) == (9, (58.5,), 0.5, 0.5)


def test_a_pair_for_each_n_is_one_method():
    rows = [row(f"a|seed=0|n={n}", u, 0.5, n=n) for n in (7, 9) for u in range(2)]
    rows += [row("b|seed=4", 0, 0.5, seed=4)]
    assert [(line.system, line.n, line.updates) for line in learning_lines(rows)] == [
        ("policy|a", 7, 2),
        ("policy|a", 9, 2),
        ("policy|b", 7, 1),
    ]
    assert learning_lines([]) == ()


@given(
    rewards=st.lists(st.floats(-1, 1), min_size=1, max_size=100),
    seeds=st.integers(1, 3),
    shuffle=st.randoms(use_true_random=False),
)
def test_smoothing_keeps_mean_and_bounds_in_any_order(rewards, seeds, shuffle: random.Random):
    rows = [row(f"a|seed={s}", u, r / (s + 1), seed=s) for s in range(seeds) for u, r in enumerate(rewards)]
    (line,) = learning_lines(rows)
    weights = np.bincount([u * len(line.x) // len(rewards) for u in range(len(rewards))])
    assert np.average(line.reward.mean, weights=weights) == pytest.approx(np.mean([r.reward for r in rows]), abs=1e-9)
    for low, mean, high in zip(line.reward.low, line.reward.mean, line.reward.high, strict=True):
        assert low - 1e-12 <= mean <= high + 1e-12
    shuffle.shuffle(rows)
    assert learning_lines(rows) == (line,)
