"""Training from the first update to the last: what each update is computed from, wherever its episodes run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.learning.exchange import ArticleGradient, Request
from core.learning.learner import Learner, UpdateStatistics
from core.types import Article

# `EpisodeRunner.learn`, or what spreads the episodes over several workers and gives the results back in order.
Learn = Callable[[Sequence[Request]], list[list[ArticleGradient]]]


@dataclass(frozen=True, slots=True, eq=False)
class Updated:
    """A learner that has just had an update, and what the update was made of."""

    learner: Learner
    statistics: UpdateStatistics
    gradients: Sequence[ArticleGradient]


def train(learners: Sequence[Learner], learn: Learn, articles: Sequence[Article]) -> Iterator[list[Updated]]:
    """Continue each learner to its last update. In each round, every learner that is not done makes one update.

    Learners know nothing of each other: each becomes what it would have become alone. Between two rounds their
    `state` may be stored: what follows is the same after a restart.
    """
    while unfinished := [learner for learner in learners if learner.update < learner.training.updates(len(articles))]:
        results = learn([update_request(learner, articles) for learner in unfinished])
        yield [
            Updated(learner, learner.step(gradients), gradients)
            for learner, gradients in zip(unfinished, results, strict=True)
        ]


def update_request(learner: Learner, articles: Sequence[Article]) -> Request:
    """The episodes that the next update of a learner is made of."""
    training = learner.training
    batch = training.articles_per_update
    pairs = update_episodes(learner.update, len(articles), training.lengths, batch, training.seed)
    return learner.broadcast(), [(articles[index], n) for index, n in pairs]


def epoch(articles: int, lengths: Sequence[int], batch: int, number: int, seed: int) -> list[list[tuple[int, int]]]:
    """The updates of one pass over all articles at all n, in random order: lists of (index of the article, n).

    All updates have as many episodes or one less, at most `batch`. A pass is a function of its number and the seed, so
    a resumed run finds its place without any state.
    """
    pairs = [(index, n) for index in range(articles) for n in lengths]
    order = np.random.default_rng([seed, number]).permutation(len(pairs)).tolist()
    updates = np.array_split(order, -(-len(pairs) // batch))
    return [[pairs[i] for i in update.tolist()] for update in updates]


def update_episodes(update: int, articles: int, lengths: Sequence[int], batch: int, seed: int) -> list[tuple[int, int]]:
    """The episodes of an update, counted from 0: (index of the article, n) each."""
    in_a_pass = -(-articles * len(lengths) // batch)
    number, place = divmod(update, in_a_pass)
    return epoch(articles, lengths, batch, number, seed)[place]
