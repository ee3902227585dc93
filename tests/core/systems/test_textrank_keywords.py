"""TextRank keywords, against the paper's description and networkx."""

import itertools
import math

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from korean_tokenizers import korean_tokenizer

from core.systems.korean_textrank import rank_keywords
from core.text.korean import nouns_and_adjectives

TEXTS = [
    "음악이 정말 좋은 영화",
    "배우의 연기가 좋았다",
    "영화 음악을 다시 들었다",
    "깨끗한 화면과 음악",
    "와!",
    "배우와 음악",
]


@pytest.fixture(scope="module", autouse=True)
def _kiwi() -> None:
    korean_tokenizer("kiwi")


def test_particles_endings_and_verbs_are_no_keywords() -> None:
    assert nouns_and_adjectives("음악이 정말 좋은 영화를 보았다") == ["음악", "좋", "영화"]
    assert nouns_and_adjectives("와! 그리고 ...") == []


@settings(max_examples=20)
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8))
def test_ranks_are_those_of_networkx(documents: list[str]) -> None:
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


def test_stop_words_are_left_out_and_change_no_rank() -> None:
    every = rank_keywords(TEXTS)
    assert next(iter(every)) == "음악"
    assert rank_keywords(TEXTS, {"음악"}) == {word: rank for word, rank in every.items() if word != "음악"}
    assert rank_keywords([]) == {}
