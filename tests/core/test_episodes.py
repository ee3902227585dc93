import pickle
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
import torch
from documents import segmented
from prepared_articles import TEXT, encode

from core.episodes import (
    ArticleGradient,
    Broadcast,
    Episode,
    EpisodePlan,
    EpisodeWorker,
    make_worker,
    parameters_of,
)
from core.learning.learner import Learner, OptimizerConfig
from core.learning.policies import PolicyConfig, make_policies
from core.learning.reinforce import ReinforceConfig
from core.learning.reward import RewardConfig
from core.learning.training import episodes_of
from core.metrics.bertscore import BertScoreConfig
from core.models import parse_model, resolve_model
from core.text.words import count_words
from core.types import Article

OTHER = "Rain fell over the city of Dover. The mayor closed two schools. Snow may follow on Friday, experts warn."
ARTICLES = [segmented(TEXT, "0"), segmented(OTHER, "1"), segmented(TEXT + " " + OTHER, "2")]
AS_WRITTEN = ReinforceConfig(1, "none", normalise=False, entropy_weight=0.0, log_probability="softmax-sum")


def overlap(summaries: Sequence[tuple[Article, str]]) -> list[float]:
    """The share of words that are among those wanted: its best summary is known."""
    wanted = {"trains", "bridge", "mayor", "snow", "schools"}
    return [len(wanted & set(text.lower().split())) / len(text.split()) for _, text in summaries]


def worker(config: ReinforceConfig | None = None, inputs: str = "features", seed: int = 0) -> EpisodeWorker:
    return EpisodeWorker(encode, overlap, PolicyConfig(inputs), config or ReinforceConfig(4), seed)


def broadcast(update: int = 0, inputs: str = "features", averages: dict[int, float] | None = None) -> Broadcast:
    return Broadcast(update, parameters_of(make_policies(PolicyConfig(inputs), 16, seed=0)), averages or {})


def require_equal(first: ArticleGradient, second: ArticleGradient) -> None:
    assert first.texts == second.texts
    assert first.rewards == second.rewards
    assert first.loss == second.loss
    for name, value in first.gradient.items():
        np.testing.assert_array_equal(value, second.gradient[name])


EPISODES: list[Episode] = [(ARTICLES[0], 5), (ARTICLES[1], 3), (ARTICLES[2], 5), (ARTICLES[0], 3)]


def test_every_episode_gets_its_gradient_and_statistics() -> None:
    results = worker()(broadcast(), EPISODES)
    assert [(r.article_id, r.n) for r in results] == [(s.article.id, n) for s, n in EPISODES]
    for result in results:
        assert set(result.gradient) == set(broadcast().parameters)
        assert all(g.dtype == np.float64 and np.isfinite(g).all() for g in result.gradient.values())
        assert [count_words(text) for text in result.texts] == [result.n] * 4
        rewards = np.array(result.rewards)
        assert result.reward == rewards.mean()
        assert result.reward_std == rewards.std()
        assert result.advantage_baseline == pytest.approx(rewards.mean())
        assert result.advantage_std == pytest.approx(rewards.std() * 4 / 3)
        assert result.loss == pytest.approx(result.policy_loss - 0.01 * result.entropy)
        assert result.entropy > 0
    assert any(np.abs(result.gradient["chunk.linear.weight"]).max() > 0 for result in results)


def test_any_number_of_workers_and_any_order_give_the_same_to_the_last_bit() -> None:
    together = worker()(broadcast(), EPISODES)
    apart = [worker()(broadcast(), [episode])[0] for episode in EPISODES]
    backwards = worker()(broadcast(), EPISODES[::-1])[::-1]
    for first, second, third in zip(together, apart, backwards, strict=True):
        require_equal(first, second)
        require_equal(first, third)


def test_seed_update_and_article_each_change_what_is_drawn() -> None:
    episode = (ARTICLES[2], 5)
    texts = worker()(broadcast(), [episode])[0].texts
    others = [
        worker(seed=1)(broadcast(), [episode]),
        worker()(broadcast(update=1), [episode]),
        worker()(broadcast(), [(segmented(TEXT + " " + OTHER, "another key"), 5)]),
    ]
    assert all(other[0].texts != texts for other in others)


@pytest.mark.parametrize("inputs", ["features", "embeddings"])
@pytest.mark.parametrize(
    "config", [ReinforceConfig(2, "self-critical"), ReinforceConfig(2, "moving-average"), AS_WRITTEN]
)
def test_other_configurations_run(config: ReinforceConfig, inputs: str) -> None:
    (result,) = worker(config, inputs)(broadcast(inputs=inputs, averages={5: 0.25}), [(ARTICLES[0], 5)])
    assert len(result.texts) == config.samples
    assert all(np.isfinite(g).all() for g in result.gradient.values())
    if config.advantage_baseline == "none":
        assert result.advantage_baseline == 0
        assert result.loss == result.policy_loss == pytest.approx(-result.reward * result.log_probability)
    if config.advantage_baseline == "moving-average":
        assert result.advantage_baseline == 0.25


def test_the_self_critical_baseline_is_the_reward_of_the_greedy_summary() -> None:
    found: list[tuple[Article, str]] = []

    def reward(summaries: Sequence[tuple[Article, str]]) -> list[float]:
        found.extend(summaries)
        return overlap(summaries)

    config = ReinforceConfig(2, "self-critical")
    (result,) = EpisodeWorker(encode, reward, PolicyConfig(), config, 0)(broadcast(), [(ARTICLES[0], 5)])
    assert [text for _, text in found[:2]] == list(result.texts)
    assert result.advantage_baseline == overlap(found[2:])[0]
    assert len(found) == 3


def test_an_article_is_prepared_once() -> None:
    calls: list[int] = []

    def counted(texts: Sequence[str]) -> np.ndarray:
        calls.append(len(texts))
        return encode(texts)

    mine = EpisodeWorker(counted, overlap, PolicyConfig(), ReinforceConfig(2), 0)
    mine(broadcast(), EPISODES)
    mine(broadcast(1), EPISODES)
    assert calls == [len(a.sentences) + len(a.chunks) for a in ARTICLES]


def test_what_travels_between_driver_and_worker_can_be_pickled() -> None:
    (result,) = worker()(pickle.loads(pickle.dumps(broadcast())), [pickle.loads(pickle.dumps(EPISODES[0]))])
    require_equal(pickle.loads(pickle.dumps(result)), worker()(broadcast(), EPISODES[:1])[0])


def test_real_models_give_the_same_parameters_with_one_worker_or_three() -> None:
    model = resolve_model(parse_model("all-MiniLM-L6-v2"))
    plan = EpisodePlan(model, PolicyConfig(), ReinforceConfig(3), RewardConfig(BertScoreConfig(model, 6)), seed=0)
    final = []
    for count in (1, 3):
        workers = [make_worker(plan, "cpu") for _ in range(count)]
        start = make_policies(plan.policies, 384, plan.seed).state_dict()
        learner = Learner(start, OptimizerConfig())
        for update in range(4):
            episodes = [(ARTICLES[i], n) for i, n in episodes_of(update, 3, (3, 5), 3, plan.seed)]
            shares = [workers[i % count](learner.broadcast(), [one]) for i, one in enumerate(episodes)]
            learner.step(list(chain(*shares)) if count > 1 else workers[0](learner.broadcast(), episodes))
        final.append(learner.parameters)
    for name, value in final[0].items():
        np.testing.assert_array_equal(value, final[1][name])
        assert not torch.equal(torch.from_numpy(value), start[name]) or name.endswith("hidden.bias")
