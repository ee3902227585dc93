import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from documents import segmented
from prepared_articles import encode, prepared

from core.episodes import EpisodeWorker
from core.errors import RecipeError
from core.learning.checkpoint import from_bytes, to_bytes
from core.learning.learner import Learner, OptimizerConfig
from core.learning.policies import PolicyConfig, make_policies, restore_policies
from core.learning.reinforce import ReinforceConfig
from core.learning.sampling import Greedy, rollouts
from core.learning.training import TrainingConfig, episodes_of, epoch, train
from core.types import Article

# The best summary of three words is "12 34 56"; TextRank and the document's centroid prefer others.
TOY = "Alpha beta met gamma. Beta gamma met alpha again. Gamma alpha met beta. Trains, 12, boats, 34, ships, 56."
POLICIES = PolicyConfig(sentences=1)
CONFIG = TrainingConfig((3,), updates=40, articles_per_update=1, optimizer=OptimizerConfig(learning_rate=5e-2))


def numbers(summaries: Sequence[tuple[Article, str]]) -> list[float]:
    return [sum(word.isdigit() for word in text.split()) / 3 for _, text in summaries]


def start(policies: PolicyConfig = POLICIES) -> Learner:
    tensors = make_policies(policies, 16, seed=0).state_dict()
    return Learner(tensors, CONFIG.optimizer)


def worker(policies: PolicyConfig = POLICIES, config: ReinforceConfig | None = None) -> EpisodeWorker:
    return EpisodeWorker(encode, numbers, policies, config or ReinforceConfig(8), seed=0)


def greedy_reward(learner: Learner) -> float:
    policies = restore_policies(POLICIES, learner.parameters)
    article = prepared(TOY)
    return numbers([(article.segmented.article, rollouts(policies, article, 3, 1, Greedy()).texts[0])])[0]


@pytest.mark.parametrize("baseline", ["leave-one-out", "self-critical", "moving-average"])
def test_a_toy_is_learnt(baseline: str) -> None:
    learner = start()
    assert greedy_reward(learner) < 0.5
    run = worker(config=ReinforceConfig(8, baseline))
    statistics = list(train(learner, run, [segmented(TOY)], CONFIG, seed=0))
    assert [s.update for s in statistics] == list(range(40))
    assert greedy_reward(learner) == 1.0
    assert np.mean([s.reward for s in statistics[-5:]]) > np.mean([s.reward for s in statistics[:5]]) + 0.3


def test_a_killed_training_goes_on_as_if_nothing_had_happened() -> None:
    articles = [segmented(TOY, str(key)) for key in range(3)]
    config = TrainingConfig((3, 5), updates=9, articles_per_update=2, optimizer=CONFIG.optimizer)
    straight, first = start(), start()
    expected = list(train(straight, worker(), articles, config, seed=4))
    before = list(itertools.islice(train(first, worker(), articles, config, seed=4), 4))
    restored = Learner.from_state(from_bytes(to_bytes(first.state())), config.optimizer)
    assert restored.update == 4
    after = list(train(restored, worker(), articles, config, seed=4))
    assert before + after == expected
    for name, value in straight.parameters.items():
        np.testing.assert_array_equal(restored.parameters[name], value)


def test_a_pass_has_every_article_at_every_length_once_in_updates_of_like_size() -> None:
    updates = epoch(7, (3, 5, 9), batch=4, number=2, seed=0)
    assert sorted(itertools.chain(*updates)) == [(i, n) for i in range(7) for n in (3, 5, 9)]
    assert {len(update) for update in updates} == {3, 4}
    assert updates != epoch(7, (3, 5, 9), batch=4, number=3, seed=0)
    assert updates == epoch(7, (3, 5, 9), batch=4, number=2, seed=0)
    assert [episodes_of(u, 7, (3, 5, 9), 4, 0) for u in range(12, 18)] == updates


@pytest.mark.parametrize("wrong", [{"lengths": ()}, {"lengths": (0,)}, {"updates": 0}, {"articles_per_update": 0}])
def test_unusable_configurations_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(RecipeError):
        TrainingConfig(**wrong)
