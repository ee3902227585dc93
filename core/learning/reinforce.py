"""REINFORCE (Williams 1992): the loss of one article's episodes.

Everything here concerns one article at one n. So a worker can give an article's whole gradient by itself, in one
exchange, and the sum over articles does not depend on who computed which.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import torch

from core.errors import RecipeError
from core.learning.sampling import LogProbability, Rollouts

AdvantageBaseline = Literal["leave-one-out", "self-critical", "moving-average", "none"]
FloatArray = npt.NDArray[np.float64]
# Rewards that differ by less are equal: the difference is rounding, and normalising must not enlarge it.
_SMALLEST_DEVIATION = 1e-6


@dataclass(frozen=True, slots=True)
class ReinforceConfig:
    """How policies learn from rewards.

    Attributes:
        samples: k, episodes of an article in an update.
        advantage_baseline: what a reward is compared with: the mean of the article's other samples (`leave-one-out`:
            Kool et al. 2019, "Buy 4 REINFORCE Samples, Get a Baseline for Free!"), the reward of the greedy summary
            (`self-critical`: Rennie et al. 2017), a moving average of rewards at that n, or 0.
        normalise: divide the advantages by their standard deviation over the article's samples.
        entropy_weight: weight of the entropy bonus.
        log_probability: `plackett-luce`, or `softmax-sum` as in the study.

    Raises:
        RecipeError: no such baseline or log-probability, or too few samples for what is asked.
    """

    samples: int = 8
    advantage_baseline: AdvantageBaseline = "leave-one-out"
    normalise: bool = True
    entropy_weight: float = 0.01
    log_probability: LogProbability = "plackett-luce"

    def __post_init__(self) -> None:
        if self.advantage_baseline not in get_args(AdvantageBaseline):
            raise RecipeError(
                f"The advantage baseline is one of {', '.join(get_args(AdvantageBaseline))}, "
                f"not {self.advantage_baseline!r}."
            )
        if self.log_probability not in get_args(LogProbability):
            raise RecipeError(f"A log-probability is `plackett-luce` or `softmax-sum`, not {self.log_probability!r}.")
        needed = 2 if self.normalise or self.advantage_baseline == "leave-one-out" else 1
        if self.samples < needed:
            raise RecipeError(
                f"{self.samples} samples are too few: at least {needed}. One sample goes with `normalise: false` and "
                "another advantage baseline than leave-one-out."
            )
        if not self.entropy_weight >= 0:
            raise RecipeError(f"The entropy weight is {self.entropy_weight}: it must be 0 or above.")


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
