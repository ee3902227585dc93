"""The unit of work of Phase 2: parameters and articles in, each article's gradient out.

Everything drawn at random depends on the seed, the update, the article and n alone. An article's gradient does not
depend on the other articles of the update, so the number of workers does not change it.

The loss of REINFORCE (`nws.core.learning.reward`) is that of one article at one n. So a worker gives an article's
whole gradient by itself, in one exchange, and the sum over articles does not depend on who computed which.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nws.core.article import Article, SegmentedArticle
from nws.core.learning.environment import PreparedArticle, prepare
from nws.core.learning.exchange import ArticleGradient, Broadcast, Decoded, Request, Sample
from nws.core.learning.policies import FeaturePolicies, StudyPolicies, restore_policies
from nws.core.learning.reward import Reward, advantage_baselines, advantages, policy_loss
from nws.core.learning.sampling import Draw, Greedy, Rollouts, episodes, rollouts
from nws.core.sweep import Encode
from nws.core.systems.importance import unit_rows
from nws.core.systems.system import Embeddings, split_vectors
from nws.core.text.length import LengthUnit

Pair = FeaturePolicies | StudyPolicies
Result = TypeVar("Result")


class EpisodeRunner:
    """Holds an encoder, a reward and the articles it has seen, and runs episodes.

    Args:
        segment: cuts an article; refuses one that cannot be trained on.
        encode: from texts to vectors.
        reward: from (article, summary) pairs to rewards.
        length_unit: what the n of summaries count.
    """

    def __init__(
        self,
        segment: Callable[[Article], SegmentedArticle],
        encode: Encode,
        reward: Reward,
        length_unit: LengthUnit = "words",
    ) -> None:
        self._segment = segment
        self._encode = encode
        self._reward = reward
        self._length_unit = length_unit
        self._embedded: dict[str, tuple[SegmentedArticle, Embeddings]] = {}
        self._prepared: dict[tuple[str, bool], PreparedArticle] = {}

    def prepare(self, article: Article) -> None:
        """Cut and embed an article, once for its text. Its embeddings share a batch with no other's.

        Raises:
            NwsError: it cannot be trained on.
        """
        if article.id in self._embedded:
            return
        segmented = self._segment(article)
        vectors = unit_rows(self._encode([segment.text for segment in segmented.segments]))
        self._embedded[article.id] = segmented, split_vectors(segmented, vectors)

    def learn(self, requests: Sequence[Request]) -> list[list[ArticleGradient]]:
        """The gradient of each episode of each request, in this order. All summaries are rewarded together."""
        episodes = _restored_episodes(requests)
        sampled = [self._draw(episode) for episode in episodes]
        texts = [rollouts.episodes.texts for rollouts in sampled]
        rewards = self._rewards([(episode.article, written) for episode, written in zip(episodes, texts, strict=True)])
        return _regrouped(requests, [_gradient(*parts) for parts in zip(episodes, sampled, rewards, strict=True)])

    def decode(self, requests: Sequence[Request]) -> list[list[Decoded]]:
        """The greedy summary of each episode of each request, in this order, with its reward."""
        episodes = _restored_episodes(requests)
        texts = [self._greedy_text(episode) for episode in episodes]
        rewards = self._rewards([(episode.article, [text]) for episode, text in zip(episodes, texts, strict=True)])
        decoded = [
            Decoded(episode.article.id, episode.n, text, reward)
            for episode, text, (reward,) in zip(episodes, texts, rewards, strict=True)
        ]
        return _regrouped(requests, decoded)

    def prepared(self, article: Article, mask_repeats: bool) -> PreparedArticle:
        """The article as policies see it."""
        key = (article.id, mask_repeats)
        if key not in self._prepared:
            self.prepare(article)
            self._prepared[key] = prepare(*self._embedded[article.id], mask_repeats, self._length_unit)
        return self._prepared[key]

    def _draw(self, episode: "_Episode") -> Rollouts:
        broadcast, n = episode.broadcast, episode.n
        training, reinforce = broadcast.training, broadcast.training.reinforce
        generator = np.random.default_rng([training.seed, broadcast.update, int(episode.article.id, 16), n])
        choice = Draw(generator, reinforce.samples)
        article = self.prepared(episode.article, training.policies.mask_repeats)
        return rollouts(episode.pair, article, n, training.policies.sentences, choice, reinforce.log_probability)

    def _greedy_text(self, episode: "_Episode") -> str:
        policies = episode.broadcast.training.policies
        article = self.prepared(episode.article, policies.mask_repeats)
        return episodes(episode.pair, article, episode.n, policies.sentences, Greedy()).texts[0]

    def _rewards(self, texts: Sequence[tuple[Article, Sequence[str]]]) -> list[list[float]]:
        """The reward of each text of each article, computed in one call."""
        rewards = iter(self._reward([(article, text) for article, article_texts in texts for text in article_texts]))
        return [[next(rewards) for _ in article_texts] for _, article_texts in texts]


@dataclass(frozen=True, slots=True, eq=False)
class _Episode:
    """One article at one n, for policies as they were broadcast."""

    broadcast: Broadcast
    pair: Pair
    article: Article
    n: int


def _restored_episodes(requests: Sequence[Request]) -> list[_Episode]:
    restored = [restore_policies(broadcast.training.policies, broadcast.parameters) for broadcast, _ in requests]
    return [
        _Episode(broadcast, pair, article, n)
        for (broadcast, episodes), pair in zip(requests, restored, strict=True)
        for article, n in episodes
    ]


def _regrouped(requests: Sequence[Request], results: Sequence[Result]) -> list[list[Result]]:
    """The results of all episodes, request by request."""
    following = iter(results)
    return [[next(following) for _ in episodes] for _, episodes in requests]


def _gradient(episode: _Episode, drawn: Rollouts, rewards: Sequence[float]) -> ArticleGradient:
    """The gradient from an article's samples."""
    reinforce = episode.broadcast.training.reinforce
    values = np.array(rewards)
    baselines = advantage_baselines(values, reinforce)
    advantage = advantages(values, baselines, reinforce.normalise)
    loss_of_policy = policy_loss(drawn, advantage)
    loss = loss_of_policy - reinforce.entropy_weight * drawn.entropy.mean()
    episode.pair.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    gradient = {
        name: np.zeros(tuple(p.shape)) if p.grad is None else p.grad.numpy().copy()
        for name, p in episode.pair.named_parameters()
    }
    columns = (values, baselines, advantage, drawn.entropy.detach().numpy(), drawn.log_probability.detach().numpy())
    samples = tuple(
        Sample(text, *map(float, numbers)) for text, *numbers in zip(drawn.episodes.texts, *columns, strict=True)
    )
    return ArticleGradient(episode.article.id, episode.n, gradient, samples, loss_of_policy.item(), loss.item())
