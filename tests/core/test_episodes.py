from collections.abc import Sequence

import numpy as np
import pytest
import torch
from documents import article
from prepared_articles import TEXT, encode, parameters_of
from training_stage import training_stage

from nws.core.arithmetic import describe_arithmetic, rows_are_independent
from nws.core.article import Article
from nws.core.episodes import EpisodeRunner
from nws.core.errors import EmptyArticleError
from nws.core.learning.exchange import ArticleGradient, Broadcast, Episode
from nws.core.learning.learner import Learner, update_request
from nws.core.learning.policies import make_policies
from nws.core.learning.reward import advantages
from nws.core.learning.training_config import PolicyConfig, ReinforceConfig, RewardConfig, TrainingConfig
from nws.core.metrics.config import BertScoreConfig
from nws.core.models import parse_model, resolve_model
from nws.core.text.length import count_words
from nws.core.text.segmentation import Segmenter
from nws.core.worker_factories import make_episode_runner

OTHER = "Rain fell over the city of Dover. The mayor closed two schools. Snow may follow on Friday, experts warn."
ARTICLES = [article(TEXT, "0"), article(OTHER, "1"), article(TEXT + " " + OTHER, "2")]
AS_WRITTEN = ReinforceConfig(1, "none", normalise=False, entropy_weight=0.0, log_probability="softmax-sum")
SEGMENT = Segmenter("blank")


def overlap(summaries: Sequence[tuple[Article, str]]) -> list[float]:
    """The share of words that are among those wanted: its best summary is known."""
    wanted = {"trains", "bridge", "mayor", "snow", "schools"}
    return [len(wanted & set(text.lower().split())) / len(text.split()) for _, text in summaries]


def runner() -> EpisodeRunner:
    return EpisodeRunner(SEGMENT, encode, overlap)


def broadcast(
    update: int = 0, inputs: str = "features", config: ReinforceConfig | None = None, seed: int = 0
) -> Broadcast:
    policies = PolicyConfig(inputs)
    training = TrainingConfig("mine", seed, policies=policies, reinforce=config or ReinforceConfig(4))
    return Broadcast(training, update, parameters_of(make_policies(policies, 16, seed=0)))


def learnt(mine: EpisodeRunner, sent: Broadcast, episodes: Sequence[Episode]) -> list[ArticleGradient]:
    (found,) = mine.learn([(sent, episodes)])
    return found


def texts(result: ArticleGradient) -> list[str]:
    return [sample.text for sample in result.samples]


def require_equal(first: ArticleGradient, second: ArticleGradient) -> None:
    assert first.samples == second.samples
    assert first.loss == second.loss
    for name, value in first.gradient.items():
        np.testing.assert_array_equal(value, second.gradient[name])


EPISODES: list[Episode] = [(ARTICLES[0], 5), (ARTICLES[1], 3), (ARTICLES[2], 5), (ARTICLES[0], 3)]


def test_every_episode_gets_its_gradient_and_samples() -> None:
    results = learnt(runner(), broadcast(), EPISODES)
    assert [(r.article_id, r.n) for r in results] == [(a.id, n) for a, n in EPISODES]
    for result in results:
        assert set(result.gradient) == set(broadcast().parameters)
        assert all(g.dtype == np.float64 and np.isfinite(g).all() for g in result.gradient.values())
        assert [count_words(text) for text in texts(result)] == [result.n] * 4
        rewards = np.array([sample.reward for sample in result.samples])
        baselines = np.array([sample.advantage_baseline for sample in result.samples])
        np.testing.assert_allclose(baselines, (rewards.sum() - rewards) / 3)
        scale = (rewards - baselines).std() or 1
        advantage = np.array([sample.advantage for sample in result.samples])
        np.testing.assert_allclose(advantage, (rewards - baselines) / scale, atol=1e-12)
        log_probability = np.array([sample.log_probability for sample in result.samples])
        assert result.policy_loss == pytest.approx(-(advantage * log_probability).mean())
        entropy = np.mean([sample.entropy for sample in result.samples])
        assert result.loss == pytest.approx(result.policy_loss - 0.01 * entropy)
        assert entropy > 0
    assert any(np.abs(result.gradient["chunk.linear.weight"]).max() > 0 for result in results)


def test_any_number_of_workers_and_any_order_give_the_same_to_the_last_bit() -> None:
    together = learnt(runner(), broadcast(), EPISODES)
    apart = [learnt(runner(), broadcast(), [episode])[0] for episode in EPISODES]
    backwards = learnt(runner(), broadcast(), EPISODES[::-1])[::-1]
    for first, second, third in zip(together, apart, backwards, strict=True):
        require_equal(first, second)
        require_equal(first, third)


def test_seed_update_and_article_each_change_what_is_drawn() -> None:
    episode = (ARTICLES[2], 5)
    drawn = texts(learnt(runner(), broadcast(), [episode])[0])
    others = [
        learnt(runner(), broadcast(seed=1), [episode]),
        learnt(runner(), broadcast(update=1), [episode]),
        learnt(runner(), broadcast(), [(article(TEXT + " " + OTHER, "another key"), 5)]),
    ]
    assert all(texts(other[0]) != drawn for other in others)


@pytest.mark.parametrize("inputs", ["features", "embeddings"])
def test_the_study_compares_rewards_with_nothing(inputs: str) -> None:
    (result,) = learnt(runner(), broadcast(inputs=inputs, config=AS_WRITTEN), [(ARTICLES[0], 5)])
    assert all(np.isfinite(g).all() for g in result.gradient.values())
    (sample,) = result.samples
    assert (sample.advantage_baseline, sample.advantage) == (0, sample.reward)
    assert result.loss == result.policy_loss == pytest.approx(-sample.reward * sample.log_probability)


def test_rewards_that_differ_by_rounding_alone_have_no_advantage() -> None:
    equal = np.array([0.5, 0.5 + 1e-9, 0.5])
    assert not advantages(equal, np.full(3, equal.mean()), normalise=True).any()


@pytest.mark.slow
@pytest.mark.usefixtures("multiplied_by")
def test_real_models_give_the_same_parameters_with_one_worker_or_three() -> None:
    if not rows_are_independent():
        pytest.skip(f"not promised on this CPU, and a run says so: {describe_arithmetic()}")
    model = resolve_model(parse_model("all-MiniLM-L6-v2"))
    stage = training_stage(RewardConfig(BertScoreConfig(model, 6)))
    training = TrainingConfig("mine", lengths=(3, 5), articles_per_update=3, reinforce=ReinforceConfig(3))
    final = []
    for count in (1, 3):
        runners = [make_episode_runner(stage, "cpu") for _ in range(count)]
        start = make_policies(training.policies, 384, training.seed).state_dict()
        learner = Learner(training, start)
        for _ in range(4):
            sent, episodes = update_request(learner, ARTICLES)
            learner.step([learnt(runners[i % count], sent, [one])[0] for i, one in enumerate(episodes)])
        final.append(learner.parameters)
    for name, value in final[0].items():
        np.testing.assert_array_equal(value, final[1][name])
        assert not torch.equal(torch.from_numpy(value), start[name]) or name.endswith("hidden.bias")


@pytest.mark.parametrize("wrong", [Article("d", "s", "k", "Snow fell.", ()), Article("d", "s", "k", "...", ("Snow.",))])
def test_an_article_that_cannot_be_trained_on_is_refused(wrong: Article) -> None:
    model = resolve_model(parse_model("all-MiniLM-L6-v2"))
    made = make_episode_runner(training_stage(RewardConfig(BertScoreConfig(model, 6))), "cpu")
    with pytest.raises(EmptyArticleError, match="'k' of d"):
        made.prepare(wrong)
