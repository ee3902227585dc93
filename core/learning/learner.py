"""The driver's side of learning: parameters, AdamW, and what to do with the gradients that come back."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from core.episodes import ArticleGradient, Broadcast, Parameters
from core.errors import RecipeError

# Of the moving average of rewards, an update.
_DECAY = 0.9


@dataclass(frozen=True, slots=True)
class OptimizerConfig:
    """AdamW (Loshchilov and Hutter 2019) with clipped gradients.

    Attributes:
        learning_rate: constant.
        weight_decay: decoupled.
        max_grad_norm: gradients with a larger global L2 norm are scaled down to it; None: never.

    Raises:
        RecipeError: a number out of range.
    """

    learning_rate: float = 1e-2
    weight_decay: float = 0.0
    max_grad_norm: float | None = 1.0

    def __post_init__(self) -> None:
        if not (self.learning_rate > 0 and self.weight_decay >= 0 and (self.max_grad_norm or 1.0) > 0):
            raise RecipeError("The learning rate and the gradient's norm must be above 0, weight decay 0 or above.")


@dataclass(frozen=True, slots=True)
class UpdateStatistics:
    """One update in numbers: means over its articles, but for `update` and `grad_norm`.

    An episode is rewarded once, at its end, so `reward` is also its return. `grad_norm` is that before clipping.
    """

    update: int
    reward: float
    reward_std: float
    advantage_baseline: float
    advantage_std: float
    entropy: float
    log_probability: float
    policy_loss: float
    loss: float
    grad_norm: float


class Learner:
    """Parameters and optimizer of one pair of policies. It holds no article and no model.

    Args:
        parameters: of new policies (`core.episodes.parameters_of`).
        config: of the optimizer.
    """

    def __init__(self, parameters: Mapping[str, torch.Tensor], config: OptimizerConfig) -> None:
        self.update = 0
        self._averages: dict[int, float] = {}
        self._config = config
        # In one order, whatever file they come from: the gradient's norm is summed in it.
        self._parameters = {name: torch.nn.Parameter(parameters[name].double().clone()) for name in sorted(parameters)}
        self._optimizer = torch.optim.AdamW(
            self._parameters.values(), lr=config.learning_rate, weight_decay=config.weight_decay, foreach=False
        )

    @property
    def parameters(self) -> Parameters:
        """A copy of the parameters."""
        return {name: value.detach().clone().numpy() for name, value in self._parameters.items()}

    def broadcast(self) -> Broadcast:
        """What every worker needs for the next update."""
        return Broadcast(self.update, self.parameters, dict(self._averages))

    def step(self, results: Sequence[ArticleGradient]) -> UpdateStatistics:
        """One update by the mean of the articles' gradients.

        They are added in the order given, so give them in the order of the update's episodes, whoever computed them.
        """
        for name, parameter in self._parameters.items():
            total = np.zeros(parameter.shape)
            for result in results:
                total = total + result.gradient[name]
            parameter.grad = torch.from_numpy(total / len(results))
        norm = float(
            torch.nn.utils.clip_grad_norm_(
                self._parameters.values(),
                self._config.max_grad_norm or math.inf,
                error_if_nonfinite=True,
                foreach=False,
            )
        )
        self._optimizer.step()
        statistics = self._statistics(results, norm)
        for n in sorted({result.n for result in results}):
            reward = float(np.mean([result.reward for result in results if result.n == n]))
            before = self._averages.get(n, reward)
            self._averages[n] = _DECAY * before + (1 - _DECAY) * reward
        self.update += 1
        return statistics

    def _statistics(self, results: Sequence[ArticleGradient], norm: float) -> UpdateStatistics:
        def mean(name: str) -> float:
            return float(np.mean([getattr(result, name) for result in results]))

        return UpdateStatistics(
            update=self.update,
            reward=mean("reward"),
            reward_std=mean("reward_std"),
            advantage_baseline=mean("advantage_baseline"),
            advantage_std=mean("advantage_std"),
            entropy=mean("entropy"),
            log_probability=mean("log_probability"),
            policy_loss=mean("policy_loss"),
            loss=mean("loss"),
            grad_norm=norm,
        )

    def state(self) -> dict[str, torch.Tensor]:
        """All that decides the next updates, as flat tensors: `from_state` goes on to the last bit."""
        tensors = {"update": torch.tensor(self.update)}
        for n, average in self._averages.items():
            tensors[f"moving_average.{n}"] = torch.tensor(average, dtype=torch.float64)
        for name, parameter in self._parameters.items():
            tensors[f"parameter.{name}"] = parameter.detach().clone()
            for key, value in self._optimizer.state[parameter].items():
                tensors[f"optimizer.{key}.{name}"] = value.clone()
        return tensors

    @classmethod
    def from_state(cls, tensors: Mapping[str, torch.Tensor], config: OptimizerConfig) -> "Learner":
        """The learner whose `state` this is."""
        learner = cls(_under("parameter.", tensors), config)
        learner.update = int(tensors["update"])
        learner._averages = {int(n): float(value) for n, value in _under("moving_average.", tensors).items()}
        for name, parameter in learner._parameters.items():
            moments = {key: tensors.get(f"optimizer.{key}.{name}") for key in ("step", "exp_avg", "exp_avg_sq")}
            kept = {key: value.clone() for key, value in moments.items() if value is not None}
            if kept:
                learner._optimizer.state[parameter] = kept
        return learner


def _under(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
