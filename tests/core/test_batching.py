from hypothesis import given
from hypothesis import strategies as st

from core.batching import equal_length_batches, token_batches


@given(st.lists(st.integers(1, 60)), st.integers(1, 200))
def test_every_text_is_in_one_batch_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(token_batches(lengths, budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[i] for i in batch)
        assert len(batch) == 1 or longest * len(batch) <= budget
    longests = [max(lengths[i] for i in batch) for batch in batches]
    assert longests == sorted(longests)


@given(st.lists(st.integers(0, 60)), st.integers(1, 200))
def test_texts_of_one_length_are_together_and_alone(lengths: list[int], budget: int) -> None:
    batches = list(equal_length_batches(lengths, budget))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[i] for i in batch}) == 1
        assert len(batch) == 1 or lengths[batch[0]] * len(batch) <= budget
