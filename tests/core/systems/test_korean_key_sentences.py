import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from core.errors import RecipeError
from core.systems.korean_key_sentences import check_selection, distinct, length_penalty, spread


@pytest.mark.parametrize(("length", "penalty"), [(0, 1), (24, 1), (25, 0), (80, 0), (81, 1)])
def test_sentences_of_25_to_80_characters_fit(length: int, penalty: int) -> None:
    assert length_penalty("가" * length) == penalty


def test_the_first_of_equal_documents_stays() -> None:
    assert distinct(["나  다", "가", "나 다", " 가", "라"]) == ["나  다", "가", "라"]


@pytest.mark.parametrize(("count", "diversity"), [(0, 0.5), (-1, 0.5), (1, -0.1), (1, 1.1), (1, float("nan"))])
def test_meaningless_options_are_refused(count: int, diversity: float) -> None:
    with pytest.raises(RecipeError, match=r"too few|diversity is"):
        check_selection(count, diversity)


def test_a_distance_equal_to_the_threshold_is_far_enough() -> None:
    # Cosines with the first row: 1/2 and 1.
    vectors = sparse.csr_matrix([[1.0, 1, 0], [1, 0, 1], [2, 2, 0]])
    assert spread(vectors, [0, 1, 2], 3, 0.5) == [0, 1]
    assert spread(vectors, [0, 1, 2], 3, 0.51) == [0]
    assert spread(vectors, [2, 1, 0], 3, 0.0) == [2, 1, 0]
    assert spread(vectors, [2, 1, 0], 2, 0.0) == [2, 1]


rows = st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4).filter(any), min_size=1, max_size=8)


@given(rows, st.floats(0, 1))
def test_all_that_are_taken_lie_apart_and_none_is_left_out_for_nothing(rows: list[list[int]], diversity: float) -> None:
    vectors = np.array(rows, dtype=np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    distance = 1 - unit @ unit.T
    taken = spread(sparse.csr_matrix(vectors), range(len(rows)), len(rows), diversity)
    for i, row in enumerate(taken):
        assert all(distance[row, other] >= diversity - 1e-6 for other in taken[:i])
    for row in set(range(len(rows))) - set(taken):
        assert any(distance[row, other] < diversity + 1e-6 for other in taken if other < row)
