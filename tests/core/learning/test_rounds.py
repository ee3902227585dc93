import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from documents import article
from hypothesis import given
from hypothesis import strategies as st
from prepared_articles import encode

from nws.core.article import Article
from nws.core.episodes import EpisodeRunner
from nws.core.learning.checkpoint import from_bytes, to_bytes
from nws.core.learning.learner import Learner, epoch, train, update_episodes
from nws.core.learning.policies import make_policies
from nws.core.learning.training_config import OptimizerConfig, PolicyConfig, ReinforceConfig, TrainingConfig
from nws.core.text.segmentation import Segmenter

# The best summary of three words is "12 34 56"; TextRank and the document's centroid prefer others.
TOY = "Alpha beta met gamma. Beta gamma met alpha again. Gamma alpha met beta. Trains, 12, boats, 34, ships, 56."
CONFIG = TrainingConfig(
    "mine",
    lengths=(3,),
    passes=40,
    articles_per_update=1,
    policies=PolicyConfig(sentences=1),
    optimizer=OptimizerConfig(learning_rate=5e-2),
)


def numbers(summaries: Sequence[tuple[Article, str]]) -> list[float]:
    return [sum(word.isdigit() for word in text.split()) / 3 for _, text in summaries]


def start(training: TrainingConfig = CONFIG) -> Learner:
    return Learner(training, make_policies(training.policies, 16, seed=0).state_dict())


def runner() -> EpisodeRunner:
    return EpisodeRunner(Segmenter("blank"), encode, numbers)


def greedy_reward(learner: Learner) -> float:
    (((decoded,),)) = runner().decode([(learner.broadcast(), [(article(TOY), 3)])])
    return decoded.reward


def test_a_toy_is_learnt() -> None:
    learner = start(replace(CONFIG, reinforce=ReinforceConfig(8)))
    assert greedy_reward(learner) < 0.5
    statistics = [updated.statistics for (updated,) in train([learner], runner().learn, [article(TOY)])]
    assert [s.update for s in statistics] == list(range(40))
    assert greedy_reward(learner) == 1.0
    assert np.mean([s.reward for s in statistics[-5:]]) > np.mean([s.reward for s in statistics[:5]]) + 0.3


SEVERAL = [article(TOY, str(key)) for key in range(3)]
SHORT = replace(CONFIG, seed=4, lengths=(3, 5), passes=3, articles_per_update=2)


def same(one: Learner, other: Learner) -> None:
    for name, value in one.parameters.items():
        np.testing.assert_array_equal(other.parameters[name], value)


def test_a_killed_training_goes_on_as_if_nothing_had_happened() -> None:
    straight, first = start(SHORT), start(SHORT)
    expected = [updated.statistics for (updated,) in train([straight], runner().learn, SEVERAL)]
    assert len(expected) == SHORT.updates(3) == 9
    before = [updated.statistics for (updated,) in itertools.islice(train([first], runner().learn, SEVERAL), 4)]
    restored = Learner.from_state(SHORT, from_bytes(to_bytes(first.state())))
    assert restored.update == 4
    after = [updated.statistics for (updated,) in train([restored], runner().learn, SEVERAL)]
    assert before + after == expected
    same(straight, restored)


def test_learners_side_by_side_become_what_they_would_alone_however_long_each_takes() -> None:
    longer = replace(SHORT, name="longer", seed=5, passes=4)
    alone = [start(SHORT), start(longer)]
    for learner in alone:
        list(train([learner], runner().learn, SEVERAL))
    together = [start(SHORT), start(longer)]
    rounds = list(train(together, runner().learn, SEVERAL))
    assert [len(updated) for updated in rounds] == [2] * 9 + [1] * 3
    assert [updated[-1].learner.training.name for updated in rounds] == ["longer"] * 12
    for one, other in zip(alone, together, strict=True):
        same(one, other)
    assert list(train(together, runner().learn, SEVERAL)) == []


def test_a_pass_has_every_article_at_every_length_once_in_updates_of_like_size() -> None:
    updates = epoch(7, (3, 5, 9), batch=4, number=2, seed=0)
    assert sorted(itertools.chain(*updates)) == [(i, n) for i in range(7) for n in (3, 5, 9)]
    assert {len(update) for update in updates} == {3, 4}
    assert updates != epoch(7, (3, 5, 9), batch=4, number=3, seed=0)
    assert updates == epoch(7, (3, 5, 9), batch=4, number=2, seed=0)
    assert [update_episodes(u, 7, (3, 5, 9), 4, 0) for u in range(12, 18)] == updates


@given(st.integers(1, 30), st.integers(1, 4), st.integers(1, 3), st.integers(1, 20))
def test_the_updates_are_so_many_passes(articles: int, lengths: int, passes: int, batch: int) -> None:
    training = TrainingConfig("mine", 0, tuple(range(1, lengths + 1)), passes, batch)
    updates = training.updates(articles)
    found = [pair for u in range(updates) for pair in update_episodes(u, articles, training.lengths, batch, 0)]
    assert sorted(found) == sorted([(i, n) for i in range(articles) for n in training.lengths] * passes)
