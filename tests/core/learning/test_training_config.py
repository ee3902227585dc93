import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RecipeError
from core.learning.learner import update_episodes
from core.learning.training_config import OptimizerConfig, TrainingConfig


@pytest.mark.parametrize(
    "wrong", [{"learning_rate": 0}, {"weight_decay": -1}, {"max_grad_norm": -1}, {"max_grad_norm": 0}]
)
def test_unusable_optimizers_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(RecipeError):
        OptimizerConfig(**wrong)


@given(st.integers(1, 30), st.integers(1, 4), st.integers(1, 3), st.integers(1, 20))
def test_the_updates_are_so_many_passes(articles: int, lengths: int, passes: int, batch: int) -> None:
    training = TrainingConfig("mine", 0, tuple(range(1, lengths + 1)), passes, batch)
    updates = training.updates(articles)
    found = [pair for u in range(updates) for pair in update_episodes(u, articles, training.lengths, batch, 0)]
    assert sorted(found) == sorted([(i, n) for i in range(articles) for n in training.lengths] * passes)
