"""The arithmetic of REINFORCE (Williams 1992): advantages of rewards, normalised, and the loss of a policy."""

import numpy as np
import torch

from nws.core.learning.sampling import Rollouts
from nws.core.learning.training_config import ReinforceConfig
from nws.core.systems.importance import FloatArray

# Rewards that differ by less are equal: the difference is rounding, and normalising must not enlarge it.
_SMALLEST_DEVIATION = 1e-6


def advantage_baselines(rewards: FloatArray, config: ReinforceConfig) -> FloatArray:
    """What each of the k rewards is compared with, (k,)."""
    if config.advantage_baseline == "none":
        return np.zeros_like(rewards)
    others: FloatArray = (rewards.sum() - rewards) / (len(rewards) - 1)
    return others


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
