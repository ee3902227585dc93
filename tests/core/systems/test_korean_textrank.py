"""TextRank key sentences and keywords, against the formulas of the paper and networkx."""

import itertools
import math
from collections import Counter

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from korean_tokenizers import korean_tokenizer
from scipy import sparse

from core.systems.korean_textrank import (
    key_sentences,
    pagerank,
    rank_keywords,
    signature,
    similarity_graph,
    term_vectors,
)
from core.text.korean import nouns_and_adjectives
from core.text.tokenizers import EnglishTokenizer, Tokenizer

ENGLISH = EnglishTokenizer()
tokens = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=8), min_size=1, max_size=12)


@given(tokens)
def test_similarity_is_that_of_the_paper(documents: list[list[str]]) -> None:
    counts = Counter(token for document in documents for token in set(document))
    sets = [{token for token in document if counts[token] > 1} for document in documents]
    graph = similarity_graph(term_vectors(documents)).toarray()
    for i, one in enumerate(sets):
        for j, other in enumerate(sets):
            expected = 0.0
            if i != j and min(len(one), len(other)) > 1:
                expected = len(one & other) / (math.log(len(one)) + math.log(len(other)))
            assert graph[i, j] == pytest.approx(expected if expected >= 0.3 else 0)


def test_more_documents_than_a_block_give_the_same_graph() -> None:
    generator = np.random.default_rng(0)
    documents = [[str(token) for token in generator.integers(0, 400, 6)] for _ in range(1100)]
    vectors = term_vectors(documents)
    graph = similarity_graph(vectors)
    assert abs(graph - graph.T).max() == 0
    part = similarity_graph(vectors[500:530])
    assert abs(part - graph[500:530, 500:530]).max() == 0
    assert part.nnz > 0


@pytest.mark.parametrize(("documents", "kept"), [(50, True), (51, False)])
def test_a_token_of_many_documents_joins_none(documents: int, kept: bool) -> None:
    vectors = term_vectors([["common", f"rare{i}", f"pair{i // 2}"] for i in range(documents)])
    assert vectors.shape == (documents, documents // 2 + kept)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0.3, 5)), max_size=15))
def test_ranks_are_those_of_networkx(edges: list[tuple[int, int, float]]) -> None:
    graph = networkx.Graph()
    graph.add_nodes_from(range(7))
    graph.add_weighted_edges_from((i, j, weight) for i, j, weight in edges if i != j)
    ranks = pagerank(sparse.csr_matrix(networkx.to_scipy_sparse_array(graph, nodelist=range(7))))
    expected = networkx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=1000)
    assert ranks.tolist() == pytest.approx([expected[node] for node in range(7)], abs=1e-9)


HUB = "alpha beta gamma delta epsilon words"
SPOKES = ["alpha beta one two three four five", "gamma delta six seven eight nine", "epsilon words ten eleven twelve"]


def test_ties_go_to_the_earlier_document() -> None:
    pairs = ["alpha beta and so much more of it", "alpha beta but so little less for her"]
    others = ["gamma delta which nobody has ever seen", "gamma delta whom everyone will once know"]
    for documents in (pairs + others, others + pairs, [pairs[1], others[1], pairs[0], others[0]]):
        assert key_sentences(documents, ENGLISH, 4, 0.0) == documents


def test_repeats_count_once_and_unconnected_documents_never() -> None:
    documents = [HUB, *SPOKES, *[SPOKES[2]] * 50, "an unrelated document of its own that joins nothing"]
    found = key_sentences(documents, ENGLISH, 100, 0.0)
    assert sorted(found) == sorted([HUB, *SPOKES])


def test_korean_documents_are_joined_by_morphemes(kiwi: Tokenizer) -> None:
    documents = [
        "도서관에서 책을 읽으며 조용히 하루를 보내는 사람들",
        "고양이 두 마리와 함께 바닷가 마을에 살고 싶어졌어요",
        "조용하던 도서관은 책이 늘어나자 사람으로 붐볐습니다",
    ]
    assert key_sentences(documents, kiwi, 2, 0.0) == [documents[0], documents[2]]
    assert signature(kiwi, 0.7).startswith("textrank|tok:kiwi,kiwipiepy-")


@pytest.fixture(scope="module")
def kiwi() -> Tokenizer:
    return korean_tokenizer("kiwi")


TEXTS = [
    "음악이 정말 좋은 영화",
    "배우의 연기가 좋았다",
    "영화 음악을 다시 들었다",
    "깨끗한 화면과 음악",
    "와!",
    "배우와 음악",
]


@pytest.mark.usefixtures("kiwi")
def test_particles_endings_and_verbs_are_no_keywords() -> None:
    assert nouns_and_adjectives("음악이 정말 좋은 영화를 보았다") == ["음악", "좋", "영화"]
    assert nouns_and_adjectives("와! 그리고 ...") == []


@pytest.mark.usefixtures("kiwi")
@settings(max_examples=20)
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8))
def test_ranks_of_keywords_are_those_of_networkx(documents: list[str]) -> None:
    graph = networkx.Graph()
    for document in dict.fromkeys(documents):
        words = nouns_and_adjectives(document)
        graph.add_nodes_from(words)
        graph.add_edges_from((a, b) for a, b in itertools.pairwise(words) if a != b)
    found = rank_keywords(documents)
    expected = networkx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=1000) if graph else {}
    assert found == pytest.approx({word: rank * len(graph) for word, rank in expected.items()}, abs=1e-6)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert math.isclose(sum(found.values()), len(graph), abs_tol=1e-6)


@pytest.mark.usefixtures("kiwi")
def test_stop_words_are_left_out_and_change_no_rank() -> None:
    every = rank_keywords(TEXTS)
    assert next(iter(every)) == "음악"
    assert rank_keywords(TEXTS, {"음악"}) == {word: rank for word, rank in every.items() if word != "음악"}
    assert rank_keywords([]) == {}
