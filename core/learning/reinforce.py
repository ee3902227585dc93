"""REINFORCE (Williams 1992): the loss of one article's episodes.

Everything here concerns one article at one n. So a worker can give an article's whole gradient by itself, in one
exchange, and the sum over articles does not depend on who computed which.
"""

import numpy as np
import numpy.typing as npt
import torch

from core.learning.sampling import Rollouts
from core.learning.training_config import ReinforceConfig

FloatArray = npt.NDArray[np.float64]
# Rewards that differ by less are equal: the difference is rounding, and normalising must not enlarge it.
_SMALLEST_DEVIATION = 1e-6


def advantage_baselines(rewards: FloatArray, config: ReinforceConfig, reference: float | None) -> FloatArray:
    """What each of the k rewards is compared with, (k,).

    Args:
        rewards: (k,).
        config: which baseline.
        reference: the reward of the greedy summary (self-critical) or the moving average; None where there is no
            average yet: then the mean of these rewards takes its place.
    """
    if config.advantage_baseline == "none":
        return np.zeros_like(rewards)
    if config.advantage_baseline == "leave-one-out":
        others: FloatArray = (rewards.sum() - rewards) / (len(rewards) - 1)
        return others
    return np.full_like(rewards, rewards.mean() if reference is None else reference)


def advantages(rewards: FloatArray, baselines: FloatArray, normalise: bool) -> FloatArray:
    """Reward minus baseline, (k,). Normalised: divided by its standard deviation over the k, 0 where all are equal."""
    difference = rewards - baselines
    if not normalise:
        return difference
    deviation = difference.std()
    return difference / deviation if deviation > _SMALLEST_DEVIATION else np.zeros_like(difference)


def policy_loss(rollouts: Rollouts, advantage: FloatArray) -> torch.Tensor:
    """-mean(advantage · log-probability): its gradient is the policy gradient of these episodes, negated."""
    return -(torch.from_numpy(advantage) * rollouts.log_probability).mean()
