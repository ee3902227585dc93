"""The messages between a driver and its workers, for one update at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from nws.core.article import Article
from nws.core.systems.importance import FloatArray

if TYPE_CHECKING:  # importing torch would delay pools of sweeps
    from nws.core.learning.training_config import TrainingConfig

# The parameters of policies by name, as float64 arrays.
Parameters: TypeAlias = dict[str, FloatArray]
# An article, and the number of words of its summaries.
Episode: TypeAlias = tuple[Article, int]


@dataclass(frozen=True, slots=True, eq=False)
class Broadcast:
    """What every worker needs to know about one pair of policies.

    Attributes:
        training: the kind of the pair, and the way in which it learns.
        update: the number of updates that it has had.
        parameters: the parameters of the policies.
    """

    training: "TrainingConfig"
    update: int
    parameters: Parameters


# A request for episodes.
Request: TypeAlias = tuple[Broadcast, Sequence[Episode]]


@dataclass(frozen=True, slots=True)
class Sample:
    """One episode that was drawn.

    Attributes:
        text: the summary.
        reward: the reward of the summary. It comes once, at the end, so it is also the return of the episode.
        advantage_baseline: the value that the reward is compared with.
        advantage: reward minus baseline, normalised if the training asks for it.
        entropy: the entropy of the policies along the episode.
        log_probability: the log-probability of the episode.
    """

    text: str
    reward: float
    advantage_baseline: float
    advantage: float
    entropy: float
    log_probability: float


@dataclass(frozen=True, slots=True, eq=False)
class ArticleGradient:
    """The result for one article at one n.

    Attributes:
        gradient: the gradient of this article's `loss`, by parameter. The driver takes the mean over articles.
        samples: the k episodes.
        policy_loss: -mean(advantage · log-probability).
        loss: `policy_loss` minus the entropy bonus.
    """

    article_id: str
    n: int
    gradient: Parameters
    samples: tuple[Sample, ...]
    policy_loss: float
    loss: float


@dataclass(frozen=True, slots=True)
class Decoded:
    """The greedy summary of one article at one n, and its reward."""

    article_id: str
    n: int
    text: str
    reward: float
