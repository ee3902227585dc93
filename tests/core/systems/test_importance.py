import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.systems.importance import DAMPING, centroid, centroid_similarity, chunk_weights, textrank, unit_rows


def unit(rows: int, dimensions: int, seed: int) -> np.ndarray:
    return unit_rows(np.random.default_rng(seed).normal(size=(rows, dimensions)))


@given(st.integers(1, 40), st.integers(2, 8), st.integers(0, 10_000))
def test_textrank_solves_the_pagerank_equation(rows: int, dimensions: int, seed: int) -> None:
    sentences = unit(rows, dimensions, seed)
    ranks = textrank(sentences)
    graph = np.maximum(sentences @ sentences.T, 0)
    np.fill_diagonal(graph, 0)
    strength = graph.sum(axis=1)
    moves = np.stack([graph[i] / strength[i] if strength[i] > 0 else np.full(rows, 1 / rows) for i in range(rows)])
    # Solved directly instead of by iteration.
    expected = np.linalg.solve(np.eye(rows) - DAMPING * moves.T, np.full(rows, (1 - DAMPING) / rows))
    np.testing.assert_allclose(ranks, expected, atol=1e-9)
    assert ranks.sum() == pytest.approx(1)


def test_centroid_similarity_is_the_cosine_with_the_mean_direction() -> None:
    sentences = unit(5, 3, 0)
    mean = sentences.mean(axis=0)
    np.testing.assert_allclose(centroid_similarity(sentences), sentences @ mean / np.linalg.norm(mean))
    assert np.linalg.norm(centroid(sentences)) == pytest.approx(1)


def test_a_zero_vector_stays_zero() -> None:
    assert not unit_rows(np.zeros((2, 3))).any()
    np.testing.assert_allclose(textrank(np.zeros((2, 3))), [0.5, 0.5])


@given(st.integers(0, 10_000), st.floats(0.1, 10), st.floats(-5, 5))
def test_chunk_weights_do_not_depend_on_scale_and_offset(seed: int, scale: float, offset: float) -> None:
    generator = np.random.default_rng(seed)
    importance, similarity = generator.normal(size=6), generator.normal(size=20)
    owner = generator.integers(0, 6, size=20)
    weights = chunk_weights(importance, similarity, owner)
    np.testing.assert_allclose(weights, chunk_weights(importance * scale + offset, similarity, owner), atol=2e-5)
    z = (importance - importance.mean()) / importance.std()
    expected = z[owner] + (similarity - similarity.mean()) / similarity.std()
    np.testing.assert_allclose(weights, expected, atol=1e-5)


def test_equal_importance_leaves_the_similarity_alone() -> None:
    weights = chunk_weights(np.ones(2), np.array([0.0, 1.0]), np.array([0, 1]))
    np.testing.assert_allclose(weights, [-1, 1])
