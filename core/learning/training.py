"""Training from the first update to the last: what each update learns from, wherever its episodes run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.episodes import ArticleGradient, Broadcast, Episode
from core.errors import RecipeError
from core.learning.learner import Learner, OptimizerConfig, UpdateStatistics
from core.types import SegmentedArticle

# An `EpisodeWorker`, or what spreads the episodes over several and gives the results back in order.
Run = Callable[[Broadcast, Sequence[Episode]], list[ArticleGradient]]


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How long to train, on what.

    Attributes:
        lengths: the n to learn, all by one joint pair of policies. For a pair of each n, train with one length each.
        updates: how many; there is no early stopping.
        articles_per_update: episodes are drawn for at most so many (article, n).
        optimizer: see `OptimizerConfig`.

    Raises:
        RecipeError: no length, or a number below 1.
    """

    lengths: tuple[int, ...] = (7, 9, 11, 13)
    updates: int = 150
    articles_per_update: int = 12
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)

    def __post_init__(self) -> None:
        if not self.lengths or min(*self.lengths, self.updates, self.articles_per_update) < 1:
            raise RecipeError("Training needs at least one length, one update and one article in each.")


def epoch(articles: int, lengths: Sequence[int], batch: int, number: int, seed: int) -> list[list[tuple[int, int]]]:
    """The updates of one pass over all articles at all n, in random order: lists of (index of the article, n).

    All updates have as many episodes or one less, at most `batch`. A pass is a function of its number and the seed, so
    a resumed run finds its place without any state.
    """
    pairs = [(index, n) for index in range(articles) for n in lengths]
    order = np.random.default_rng([seed, number]).permutation(len(pairs)).tolist()
    updates = np.array_split(order, -(-len(pairs) // batch))
    return [[pairs[i] for i in update.tolist()] for update in updates]


def episodes_of(update: int, articles: int, lengths: Sequence[int], batch: int, seed: int) -> list[tuple[int, int]]:
    """What is learnt from in an update, counted from 0: (index of the article, n) each."""
    in_a_pass = -(-articles * len(lengths) // batch)
    number, place = divmod(update, in_a_pass)
    return epoch(articles, lengths, batch, number, seed)[place]


def train(
    learner: Learner, run: Run, articles: Sequence[SegmentedArticle], config: TrainingConfig, seed: int
) -> Iterator[UpdateStatistics]:
    """Go on from where `learner` is to the last update, giving the statistics of each.

    Between two of them `learner.state()` may be stored: what follows is the same after a restart.
    """
    while learner.update < config.updates:
        pairs = episodes_of(learner.update, len(articles), config.lengths, config.articles_per_update, seed)
        episodes = [(articles[index], n) for index, n in pairs]
        yield learner.step(run(learner.broadcast(), episodes))
