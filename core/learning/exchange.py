"""What a driver and its workers send each other, an update at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from nws.core.article import Article
from nws.core.systems.importance import FloatArray

if TYPE_CHECKING:  # pools of sweeps must not wait for torch
    from nws.core.learning.training_config import TrainingConfig

# Of policies, by name: float64 arrays.
Parameters: TypeAlias = dict[str, FloatArray]
# An article and the words of its summaries.
Episode: TypeAlias = tuple[Article, int]


@dataclass(frozen=True, slots=True, eq=False)
class Broadcast:
    """What every worker gets to know about one pair of policies.

    Attributes:
        training: which pair it is, and how it learns.
        update: how many updates it has had.
        parameters: of the policies.
    """

    training: "TrainingConfig"
    update: int
    parameters: Parameters


# Episodes that are asked for.
Request: TypeAlias = tuple[Broadcast, Sequence[Episode]]


@dataclass(frozen=True, slots=True)
class Sample:
    """One episode that was drawn.

    Attributes:
        text: the summary.
        reward: of the summary. It comes once, at the end: it is also the return of the episode.
        advantage_baseline: what the reward was compared with.
        advantage: reward minus baseline, normalised if the training asks for it.
        entropy: of the policies along the episode.
        log_probability: of the episode.
    """

    text: str
    reward: float
    advantage_baseline: float
    advantage: float
    entropy: float
    log_probability: float


@dataclass(frozen=True, slots=True, eq=False)
class ArticleGradient:
    """What comes back for one article at one n.

    Attributes:
        gradient: of this article's loss, by parameter. The driver takes the mean over the update's articles.
        samples: the k episodes.
        policy_loss: -mean(advantage · log-probability).
        loss: `policy_loss` minus the entropy bonus. `gradient` is that of this loss.
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
