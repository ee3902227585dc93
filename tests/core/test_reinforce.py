import numpy as np
import pytest
import torch

from core.episodes import advantage_baselines, advantages, policy_loss
from core.errors import RecipeError
from core.learning.sampling import Episodes, Rollouts
from core.learning.training_config import ReinforceConfig

REWARDS = np.array([0.2, 0.5, 0.8, 0.1])


def test_leave_one_out_is_the_mean_of_the_others() -> None:
    found = advantage_baselines(REWARDS, ReinforceConfig(4))
    np.testing.assert_allclose(found, [(0.5 + 0.8 + 0.1) / 3, (0.2 + 0.8 + 0.1) / 3, 0.8 / 3, 1.5 / 3])
    # Equal to (R - mean) k / (k - 1).
    np.testing.assert_allclose(REWARDS - found, (REWARDS - REWARDS.mean()) * 4 / 3)


def test_no_baseline_leaves_the_reward() -> None:
    config = ReinforceConfig(1, "none", normalise=False)
    np.testing.assert_array_equal(advantage_baselines(REWARDS, config), np.zeros(4))


def test_normalised_advantages_have_deviation_one_and_equal_rewards_none() -> None:
    found = advantages(REWARDS, np.full(4, 0.3), normalise=True)
    assert abs(found.std() - 1) < 1e-12
    np.testing.assert_allclose(found, (REWARDS - 0.3) / REWARDS.std())
    np.testing.assert_allclose(advantages(REWARDS, np.full(4, 0.3), normalise=False), REWARDS - 0.3)
    equal = np.array([0.5, 0.5 + 1e-9, 0.5])
    np.testing.assert_array_equal(advantages(equal, equal.mean() * np.ones(3), normalise=True), np.zeros(3))


def test_the_loss_falls_when_what_was_better_becomes_likelier() -> None:
    log_probability = torch.tensor([-1.0, -2.0], dtype=torch.float64, requires_grad=True)
    drawn = Rollouts(Episodes(torch.empty(0), [], [], []), log_probability, torch.empty(0))
    loss = policy_loss(drawn, np.array([0.5, -0.25]))
    assert loss.item() == -(0.5 * -1.0 + -0.25 * -2.0) / 2
    loss.backward()
    assert log_probability.grad.tolist() == [-0.25, 0.125]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"samples": 1}, "at least 2"),
        ({"samples": 1, "advantage_baseline": "none"}, "at least 2"),
        ({"samples": 0, "advantage_baseline": "none", "normalise": False}, "at least 1"),
    ],
)
def test_unusable_configurations_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        ReinforceConfig(**wrong)
