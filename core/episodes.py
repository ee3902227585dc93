"""The unit of work of Phase 2: parameters and articles in, each article's gradient out.

Everything drawn at random depends on the seed, the update, the article and n alone, and an article's gradient on
nothing else of the update: one worker or many give the same gradients.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from core.learning.environment import PreparedArticle, prepare
from core.learning.policies import FeaturePolicies, PolicyConfig, restore_policies
from core.learning.reinforce import FloatArray, ReinforceConfig, advantage_baselines, advantages, policy_loss
from core.learning.reward import Reward, RewardConfig, make_reward
from core.learning.sampling import Draw, Greedy, Rollouts, rollouts
from core.learning.study_policies import StudyPolicies
from core.models import ModelRef
from core.summarizers.encoders import load_encoder
from core.summarizers.importance import unit_rows
from core.summarizers.systems import Embeddings
from core.sweep import Encode
from core.types import Article, SegmentedArticle

# Of policies, by name: float64 arrays.
Parameters = dict[str, FloatArray]
# An article and the words of its summaries.
Episode = tuple[SegmentedArticle, int]
Pair = FeaturePolicies | StudyPolicies


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """Everything that decides an update, given parameters and articles.

    Attributes:
        encoder: resolved; embeds sentences and chunks.
        policies: which pair.
        reinforce: how it learns.
        reward: what it learns from.
        seed: of everything drawn.
    """

    encoder: ModelRef
    policies: PolicyConfig
    reinforce: ReinforceConfig
    reward: RewardConfig
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Broadcast:
    """What the driver sends to every worker for an update.

    Attributes:
        update: its number, from 0.
        parameters: of the policies.
        moving_averages: of rewards by n; what the advantage baseline `moving-average` is.
    """

    update: int
    parameters: Parameters
    moving_averages: Mapping[int, float]


@dataclass(frozen=True, slots=True, eq=False)
class ArticleGradient:
    """What comes back for one article at one n.

    Attributes:
        gradient: of this article's loss, by parameter. The driver takes the mean over the update's articles.
        rewards: of the k samples, each the return of its episode.
        texts: the k summaries.
        reward: their mean.
        reward_std: their standard deviation.
        advantage_baseline: mean of what the rewards were compared with.
        advantage_std: of the advantages before they are normalised.
        entropy: mean over the samples.
        log_probability: mean over the samples.
        policy_loss: -mean(advantage · log-probability).
        loss: `policy_loss` less the entropy bonus: what the gradient is of.
    """

    article_id: str
    n: int
    gradient: Parameters
    rewards: tuple[float, ...]
    texts: tuple[str, ...]
    reward: float
    reward_std: float
    advantage_baseline: float
    advantage_std: float
    entropy: float
    log_probability: float
    policy_loss: float
    loss: float


def parameters_of(policies: torch.nn.Module) -> Parameters:
    """A copy of the parameters of policies."""
    return {name: value.detach().clone().numpy() for name, value in policies.state_dict().items()}


class EpisodeWorker:
    """Holds an encoder, a reward and the articles it has seen, and runs episodes.

    Args:
        encode: from texts to vectors.
        reward: from (article, summary) pairs to rewards.
        policies: which pair.
        reinforce: how it learns.
        seed: of everything drawn.
    """

    def __init__(
        self, encode: Encode, reward: Reward, policies: PolicyConfig, reinforce: ReinforceConfig, seed: int
    ) -> None:
        self._encode = encode
        self._reward = reward
        self._policies = policies
        self._reinforce = reinforce
        self._seed = seed
        self._prepared: dict[str, PreparedArticle] = {}

    def __call__(self, broadcast: Broadcast, episodes: Sequence[Episode]) -> list[ArticleGradient]:
        """The gradient of each (article, n), in this order. All summaries are rewarded together."""
        policies = restore_policies(self._policies, broadcast.parameters)
        articles = [(self.prepared(segmented), n) for segmented, n in episodes]
        drawn = [self._draw(policies, broadcast.update, article, n) for article, n in articles]
        greedy = [self._greedy_text(policies, article, n) for article, n in articles]
        rewards = self._rewards(episodes, [[*d.texts, *g] for d, g in zip(drawn, greedy, strict=True)])
        results = []
        for (segmented, n), of_article, values in zip(episodes, drawn, rewards, strict=True):
            k = len(of_article.texts)
            reference = values[k] if len(values) > k else broadcast.moving_averages.get(n)
            results.append(self._gradient(policies, segmented.article, n, of_article, values[:k], reference))
        return results

    def prepared(self, segmented: SegmentedArticle) -> PreparedArticle:
        """The article as policies see it, made once for its text. Its embeddings share a batch with no other's."""
        key = segmented.article.id
        if key not in self._prepared:
            texts = [segment.text for segment in (*segmented.sentences, *segmented.chunks)]
            vectors = unit_rows(self._encode(texts))
            count = len(segmented.sentences)
            embeddings = Embeddings(vectors[:count], vectors[count:])
            self._prepared[key] = prepare(segmented, embeddings, self._policies.mask_repeats)
        return self._prepared[key]

    def _draw(self, policies: Pair, update: int, article: PreparedArticle, n: int) -> Rollouts:
        generator = np.random.default_rng([self._seed, update, int(article.segmented.article.id, 16), n])
        choice = Draw(generator, self._reinforce.samples)
        return rollouts(policies, article, n, self._policies.sentences, choice, self._reinforce.log_probability)

    def _greedy_text(self, policies: Pair, article: PreparedArticle, n: int) -> list[str]:
        if self._reinforce.advantage_baseline != "self-critical":
            return []
        with torch.no_grad():
            return rollouts(policies, article, n, self._policies.sentences, Greedy()).texts

    def _rewards(self, episodes: Sequence[Episode], texts: Sequence[Sequence[str]]) -> list[list[float]]:
        """Of each text of each episode, asked for all together."""
        pairs = [(s.article, text) for (s, _), of_one in zip(episodes, texts, strict=True) for text in of_one]
        rewards = iter(self._reward(pairs))
        return [[next(rewards) for _ in of_one] for of_one in texts]

    def _gradient(
        self,
        policies: Pair,
        article: Article,
        n: int,
        drawn: Rollouts,
        rewards: Sequence[float],
        reference: float | None,
    ) -> ArticleGradient:
        values = np.array(rewards)
        baselines = advantage_baselines(values, self._reinforce, reference)
        of_policy = policy_loss(drawn, advantages(values, baselines, self._reinforce.normalise))
        entropy = drawn.entropy.mean()
        loss = of_policy - self._reinforce.entropy_weight * entropy
        policies.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        gradient = {
            name: np.zeros(tuple(p.shape)) if p.grad is None else p.grad.numpy().copy()
            for name, p in policies.named_parameters()
        }
        return ArticleGradient(
            article_id=article.id,
            n=n,
            gradient=gradient,
            rewards=tuple(rewards),
            texts=tuple(drawn.texts),
            reward=float(values.mean()),
            reward_std=float(values.std()),
            advantage_baseline=float(baselines.mean()),
            advantage_std=float((values - baselines).std()),
            entropy=entropy.item(),
            log_probability=drawn.log_probability.mean().item(),
            policy_loss=of_policy.item(),
            loss=loss.item(),
        )


def make_worker(plan: EpisodePlan, device: str) -> EpisodeWorker:
    """A worker with its models on `device` (`cuda`, or `cpu`: one thread of it). Policies always run on the CPU.

    Raises:
        ModelError: a model cannot be loaded.
        RecipeError: there is no such metric to reward with.
    """
    torch.set_num_threads(1)
    encoder = load_encoder(plan.encoder, torch.device(device))
    reward = make_reward(plan.reward, torch.device(device))
    return EpisodeWorker(encoder.encode, reward, plan.policies, plan.reinforce, plan.seed)
