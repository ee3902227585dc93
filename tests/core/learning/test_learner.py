import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from nws.core.errors import NwsError
from nws.core.learning.exchange import ArticleGradient, Sample
from nws.core.learning.learner import Learner
from nws.core.learning.training_config import OptimizerConfig, TrainingConfig

TRAINING = TrainingConfig("mine")


def gradient(*values: float, n: int = 7, reward: float = 0.5) -> ArticleGradient:
    arrays = {"a": np.array(values[:2]), "b": np.array([[values[2]]])}
    samples = tuple(Sample("text", reward + d, 0.2, d, 1.5, -9.0) for d in (-0.1, 0.1))
    return ArticleGradient("id", n, arrays, samples, 0.4, 0.35)


def learner(config: OptimizerConfig | None = None) -> Learner:
    start = {"a": torch.tensor([1.0, -1.0]), "b": torch.tensor([[0.5]])}
    return Learner(replace(TRAINING, optimizer=config or OptimizerConfig()), start)


def flat(of: Learner) -> list[float]:
    return [*of.parameters["a"].tolist(), *of.parameters["b"].ravel().tolist()]


def test_adamw_by_hand() -> None:
    config = OptimizerConfig(learning_rate=0.1, weight_decay=0.5, max_grad_norm=None)
    mine, x = learner(config), 0.5
    m = v = 0.0
    for step, g in enumerate((0.3, -0.2, 0.25), start=1):
        mine.step([gradient(1, 1, g - 0.1), gradient(1, 1, g + 0.1)])
        x *= 1 - 0.1 * 0.5
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        x -= 0.1 * (m / (1 - 0.9**step)) / (math.sqrt(v / (1 - 0.999**step)) + 1e-8)
    assert abs(flat(mine)[2] - x) < 1e-12
    assert mine.update == 3


def test_large_gradients_are_scaled_to_the_norm_and_reported_before() -> None:
    clipped, scaled, unclipped = learner(), *(learner(OptimizerConfig(max_grad_norm=None)) for _ in range(2))
    for mine, first in ((clipped, gradient(3, 0, 4)), (scaled, gradient(0.6, 0, 0.8)), (unclipped, gradient(3, 0, 4))):
        assert mine.step([first]).grad_norm == pytest.approx(1 if mine is scaled else 5)
        # The first step of Adam knows only signs; the second tells.
        assert mine.step([gradient(0.1, 0.1, 0.1)]).grad_norm == pytest.approx(math.sqrt(0.03))
    np.testing.assert_allclose(flat(clipped), flat(scaled), rtol=1e-6)
    assert abs(flat(unclipped)[0] - flat(clipped)[0]) > 1e-4


def test_statistics_are_means() -> None:
    mine = learner()
    found = mine.step([gradient(1, 1, 1, n=7, reward=0.2), gradient(1, 1, 1, n=9, reward=0.6)])
    assert (found.update, mine.broadcast().update) == (0, 1)
    assert (found.entropy, found.log_probability, found.policy_loss, found.loss) == (1.5, -9, 0.4, 0.35)
    numbers = (found.reward, found.reward_std, found.advantage_baseline, found.advantage_std)
    assert numbers == pytest.approx((0.4, 0.1, 0.2, 0.1))


def test_a_gradient_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(NwsError, match="'mine' in update 0"):
        learner().step([gradient(math.nan, 0, 0)])


def test_the_order_in_which_parameters_come_does_not_matter() -> None:
    start = {name: torch.ones(3) for name in ("c", "a", "d", "b")}
    arrays = {name: np.random.default_rng(ord(name)).normal(size=3) for name in start}
    one = replace(gradient(0, 0, 0), gradient=arrays)
    norms = {
        Learner(TRAINING, {name: start[name] for name in names}).step([one]).grad_norm
        for names in itertools.permutations(start)
    }
    assert len(norms) == 1
