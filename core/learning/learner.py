"""The driver's part of learning: parameters, AdamW, and rounds of updates from the gradients that workers send."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from nws.core.article import Article
from nws.core.errors import NwsError
from nws.core.learning.exchange import ArticleGradient, Broadcast, Parameters, Request, Sample
from nws.core.learning.training_config import TrainingConfig


@dataclass(frozen=True, slots=True)
class UpdateStatistics:
    """The numbers of an update: means over its articles, except `update` and `grad_norm`.

    An episode is rewarded once, at its end, so `reward` is also its return. `reward_std` and `advantage_std` (before
    normalising) are over an article's samples. `grad_norm` is the norm before clipping.
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
    """The parameters and the optimizer of one pair of policies, without articles and models.

    Args:
        training: the configuration of the training.
        parameters: the parameters of new policies (`nws.core.learning.policies.make_policies`).
    """

    def __init__(self, training: TrainingConfig, parameters: Mapping[str, torch.Tensor]) -> None:
        self.training = training
        self.update = 0
        # Sorted, since the gradient's norm is summed in this order, whatever file the parameters come from.
        self._parameters = {name: torch.nn.Parameter(parameters[name].double().clone()) for name in sorted(parameters)}
        optimizer = training.optimizer
        self._optimizer = torch.optim.AdamW(
            self._parameters.values(), lr=optimizer.learning_rate, weight_decay=optimizer.weight_decay, foreach=False
        )

    @property
    def parameters(self) -> Parameters:
        """A copy of the parameters."""
        return {name: value.detach().clone().numpy() for name, value in self._parameters.items()}

    @property
    def state_bytes(self) -> int:
        """The approximate size of `state`: that of the parameters and AdamW's two moments of each."""
        return 3 * sum(parameter.nbytes for parameter in self._parameters.values())

    def broadcast(self) -> Broadcast:
        """Return what every worker needs for the next update."""
        return Broadcast(self.training, self.update, self.parameters)

    def step(self, results: Sequence[ArticleGradient]) -> UpdateStatistics:
        """Make one update with the mean of the articles' gradients.

        The gradients are added in the given order, so give them in the order of the update's episodes, whichever
        worker computed them.

        Raises:
            NwsError: the gradient is not finite. Nothing has changed.
        """
        for name, parameter in self._parameters.items():
            total = np.zeros(parameter.shape)
            for result in results:
                total = total + result.gradient[name]
            parameter.grad = torch.from_numpy(total / len(results))
        max_norm = self.training.optimizer.max_grad_norm
        largest = math.inf if max_norm is None else max_norm
        norm = float(torch.nn.utils.clip_grad_norm_(self._parameters.values(), largest, foreach=False))
        if not math.isfinite(norm):
            raise NwsError(
                f"The gradient of {self.training.name!r} in update {self.update} is not finite. Train with a lower "
                "learning rate, or with max_grad_norm."
            )
        self._optimizer.step()
        statistics = self._statistics(results, norm)
        self.update += 1
        return statistics

    def _statistics(self, results: Sequence[ArticleGradient], norm: float) -> UpdateStatistics:
        def mean(value: Callable[[Sample], float], of_article: Callable[[list[float]], Any] = np.mean) -> float:
            return float(np.mean([of_article([value(sample) for sample in result.samples]) for result in results]))

        return UpdateStatistics(
            update=self.update,
            reward=mean(lambda sample: sample.reward),
            reward_std=mean(lambda sample: sample.reward, np.std),
            advantage_baseline=mean(lambda sample: sample.advantage_baseline),
            advantage_std=mean(lambda sample: sample.reward - sample.advantage_baseline, np.std),
            entropy=mean(lambda sample: sample.entropy),
            log_probability=mean(lambda sample: sample.log_probability),
            policy_loss=float(np.mean([result.policy_loss for result in results])),
            loss=float(np.mean([result.loss for result in results])),
            grad_norm=norm,
        )

    def state(self) -> dict[str, torch.Tensor]:
        """Return all that decides the next updates, as flat tensors. `from_state` continues from it bit for bit."""
        tensors = {"update": torch.tensor(self.update)}
        for name, parameter in self._parameters.items():
            tensors[f"parameter.{name}"] = parameter.detach().clone()
            for key, value in self._optimizer.state[parameter].items():
                tensors[f"optimizer.{key}.{name}"] = value.clone()
        return tensors

    @classmethod
    def from_state(cls, training: TrainingConfig, tensors: Mapping[str, torch.Tensor]) -> "Learner":
        """Return the learner with this `state`."""
        learner = cls(training, _under("parameter.", tensors))
        learner.update = int(tensors["update"])
        for name, parameter in learner._parameters.items():
            for key in ("step", "exp_avg", "exp_avg_sq"):
                if (value := tensors.get(f"optimizer.{key}.{name}")) is not None:
                    learner._optimizer.state[parameter][key] = value.clone()
        return learner


def parameters_in(state: Mapping[str, torch.Tensor]) -> Parameters:
    """Return the parameters in a learner's `state`."""
    return {name: value.clone().numpy() for name, value in _under("parameter.", state).items()}


def _under(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


# `EpisodeRunner.learn`, or a function that spreads the episodes over workers and returns the results in order.
Learn = Callable[[Sequence[Request]], list[list[ArticleGradient]]]


@dataclass(frozen=True, slots=True, eq=False)
class Updated:
    """A learner that has just been updated, with the numbers and gradients of the update."""

    learner: Learner
    statistics: UpdateStatistics
    gradients: Sequence[ArticleGradient]


def train(learners: Sequence[Learner], learn: Learn, articles: Sequence[Article]) -> Iterator[list[Updated]]:
    """Train each learner to its last update. In each round, every learner that is not done makes one update.

    Learners are independent: each becomes what it would become alone. Their `state` may be stored between rounds, and
    after a restart the training goes on in the same way.
    """
    while unfinished := [learner for learner in learners if learner.update < learner.training.updates(len(articles))]:
        results = learn([update_request(learner, articles) for learner in unfinished])
        learnt = zip(unfinished, results, strict=True)
        yield [Updated(learner, learner.step(gradients), gradients) for learner, gradients in learnt]


def update_request(learner: Learner, articles: Sequence[Article]) -> Request:
    """Make the request for the episodes of a learner's next update."""
    training = learner.training
    batch = training.articles_per_update
    pairs = update_episodes(learner.update, len(articles), training.lengths, batch, training.seed)
    return learner.broadcast(), [(articles[index], n) for index, n in pairs]


def epoch(articles: int, lengths: Sequence[int], batch: int, number: int, seed: int) -> list[list[tuple[int, int]]]:
    """Return the updates of one pass over all articles at all n, in random order: lists of (index of the article, n).

    Updates have at most `batch` episodes, and their sizes differ by at most one. A pass is a function of its number and
    the seed, so a resumed run finds its place without any state.
    """
    pairs = [(index, n) for index in range(articles) for n in lengths]
    order = np.random.default_rng([seed, number]).permutation(len(pairs)).tolist()
    updates = np.array_split(order, -(-len(pairs) // batch))
    return [[pairs[i] for i in update.tolist()] for update in updates]


def update_episodes(update: int, articles: int, lengths: Sequence[int], batch: int, seed: int) -> list[tuple[int, int]]:
    """Return the episodes of an update, which is counted from 0: (index of the article, n) each."""
    in_a_pass = -(-articles * len(lengths) // batch)
    number, place = divmod(update, in_a_pass)
    return epoch(articles, lengths, batch, number, seed)[place]
