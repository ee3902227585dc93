"""Importances by vectors, words and place, against the packages `summa` (TextRank) and `lexrank`, and networkx.

What is left of the references' own ways:

* `summa` leaves sentences without edges out of the graph; here they are ranked, too. Among the others the ranks are in
  the same proportions. Its logs are to base 10, which cancels out. Its PageRank takes the first eigenvector that scipy
  returns, which need not be the dominant one, so networkx ranks its graph.
* `lexrank` has no damping, which the paper has: networkx ranks its graph, too. Given each sentence as a document, its
  idf is ours.
"""

from collections import Counter

import lexrank as lexrank_package
import networkx
import numpy as np
import pytest
from documents import segmented
from hypothesis import example, given
from hypothesis import strategies as st
from summa.commons import build_graph
from summa.summarizer import _set_graph_edge_weights

from nws.core.systems.importance import (
    DAMPING,
    LEXRANK_THRESHOLD,
    centroid,
    centroid_similarity,
    chunk_weights,
    lexrank,
    position,
    sentence_words,
    textrank,
    textrank_words,
    unit_rows,
)

words = st.sampled_from([*"abcdefghij", "kaffee", "기자", "정류장을"])
articles = st.lists(st.lists(words, min_size=1, max_size=9), min_size=1, max_size=12)
NEWS = [
    ["the", "council", "of", "alder", "met", "on", "monday", "to", "talk", "of", "the", "bridge"],
    ["the", "bridge", "will", "open", "in", "may", "said", "the", "mayor", "of", "alder"],
    ["trains", "will", "cross", "the", "bridge", "every", "hour", "from", "may"],
    ["nobody", "spoke", "against", "it"],
    ["trains"],
]


def pagerank(graph: networkx.Graph) -> dict[object, float]:
    return networkx.pagerank(graph, alpha=DAMPING, tol=1e-13, max_iter=1000)


@given(articles)
@example(NEWS)
def test_textrank_ranks_the_graph_of_the_package_summa(article: list[list[str]]) -> None:
    # For summa, a sentence is a node by its text.
    article = [list(words) for words in dict.fromkeys(map(tuple, article))]
    reference = build_graph([" ".join(words) for words in article])
    _set_graph_edge_weights(reference)
    graph = networkx.Graph()
    for one, other in reference.edges():
        graph.add_edge(one, other, weight=reference.edge_weight((one, other)))
    ranks = textrank_words(article)
    assert ranks.sum() == pytest.approx(1)
    if len(article) > 1:
        expected = pagerank(graph)
        connected = [i for i, words in enumerate(article) if " ".join(words) in expected]
        proportions = ranks[connected] / ranks[connected].sum()
        assert proportions.tolist() == pytest.approx([expected[" ".join(article[i])] for i in connected], abs=1e-9)
        alone = [i for i in range(len(article)) if i not in connected]
        assert all(ranks[i] <= ranks.min() + 1e-12 for i in alone)


@given(articles)
@example(NEWS)
def test_lexrank_ranks_the_graph_of_the_package_lexrank(article: list[list[str]]) -> None:
    package = lexrank_package.LexRank([[" ".join(words)] for words in article])
    cosines = package._calculate_similarity_matrix([Counter(words) for words in article])
    transitions = package._markov_matrix_discrete(cosines, LEXRANK_THRESHOLD)
    graph = networkx.from_numpy_array(transitions, create_using=networkx.DiGraph)
    expected = pagerank(graph)
    assert lexrank(article).tolist() == pytest.approx([expected[i] for i in range(len(article))], abs=1e-9)


def test_position_falls_evenly_from_one() -> None:
    assert position(4).tolist() == [1, 0.75, 0.5, 0.25]
    assert position(1).tolist() == [1]


def test_a_sentence_gives_its_words_in_lower_case_and_without_punctuation() -> None:
    article = segmented("Trains – “TRAINS”, it said – crossed. The Straße is (very) long!")
    assert [" ".join(words) for words in sentence_words(article)] == [
        "trains trains it said crossed",
        "the strasse is very long",
    ]


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
