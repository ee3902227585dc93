"""TextRank against the formulas of the paper and networkx; KR-WordRank against calls of the package krwordrank."""

import importlib.metadata
import itertools
import math
import random
from collections import Counter
from typing import NoReturn

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from korean_tokenizers import korean_tokenizer
from scipy import sparse

from nws.core.errors import CorpusError, NwsError
from nws.core.systems.korean_key_sentences import (
    distinct,
    length_penalty,
    similarity_graph,
    spread,
    term_vectors,
    textrank_keywords,
    textrank_sentences,
    textrank_signature,
    wordrank_keywords,
    wordrank_sentences,
    wordrank_signature,
)
from nws.core.text.korean import nouns_and_adjectives
from nws.core.text.tokenizers import EnglishTokenizer, Tokenizer

pytest.importorskip("krwordrank", reason="the package krwordrank is not installed")


@pytest.mark.parametrize(("length", "penalty"), [(0, 1), (24, 1), (25, 0), (80, 0), (81, 1)])
def test_sentences_of_25_to_80_characters_fit(length: int, penalty: int) -> None:
    assert length_penalty("가" * length) == penalty


def test_the_first_of_equal_documents_stays() -> None:
    assert distinct(["나  다", "가", "나 다", " 가", "라"]) == ["나  다", "가", "라"]


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


HUB = "alpha beta gamma delta epsilon words"
SPOKES = ["alpha beta one two three four five", "gamma delta six seven eight nine", "epsilon words ten eleven twelve"]


def test_ties_go_to_the_earlier_document() -> None:
    pairs = ["alpha beta and so much more of it", "alpha beta but so little less for her"]
    others = ["gamma delta which nobody has ever seen", "gamma delta whom everyone will once know"]
    for documents in (pairs + others, others + pairs, [pairs[1], others[1], pairs[0], others[0]]):
        assert textrank_sentences(documents, ENGLISH, 4, 0.0) == documents


def test_repeats_count_once_and_unconnected_documents_never() -> None:
    documents = [HUB, *SPOKES, *[SPOKES[2]] * 50, "an unrelated document of its own that joins nothing"]
    found = textrank_sentences(documents, ENGLISH, 100, 0.0)
    assert sorted(found) == sorted([HUB, *SPOKES])


def test_korean_documents_are_joined_by_morphemes(kiwi: Tokenizer) -> None:
    documents = [
        "도서관에서 책을 읽으며 조용히 하루를 보내는 사람들",
        "고양이 두 마리와 함께 바닷가 마을에 살고 싶어졌어요",
        "조용하던 도서관은 책이 늘어나자 사람으로 붐볐습니다",
    ]
    assert textrank_sentences(documents, kiwi, 2, 0.0) == [documents[0], documents[2]]
    assert textrank_signature(kiwi, 0.7).startswith("textrank|tok:kiwi,kiwipiepy-")


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
    found = textrank_keywords(documents)
    expected = networkx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=1000) if graph else {}
    assert found == pytest.approx({word: rank * len(graph) for word, rank in expected.items()}, abs=1e-6)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert math.isclose(sum(found.values()), len(graph), abs_tol=1e-6)


@pytest.mark.usefixtures("kiwi")
def test_stop_words_are_left_out_and_change_no_rank() -> None:
    every = textrank_keywords(TEXTS)
    assert next(iter(every)) == "음악"
    assert textrank_keywords(TEXTS, {"음악"}) == {word: rank for word, rank in every.items() if word != "음악"}
    assert textrank_keywords([]) == {}


WORDS = ("도서관", "정원", "아이들", "자리", "주말", "그림책", "골목", "산책", "창가", "햇살", "음악회", "자전거")
ENDINGS = ("이", "에서", "을", "은", "에는", "도", "")


def made_up(seed: int, documents: int) -> list[str]:
    generator = random.Random(seed)
    return [
        " ".join(generator.choice(WORDS) + generator.choice(ENDINGS) for _ in range(generator.randint(1, 14)))
        for _ in range(documents)
    ]


def directly(documents: list[str], count: int, **options: object) -> tuple[list[tuple[str, float]], list[str]]:
    from krwordrank.sentence import summarize_with_sentences

    keywords, sentences = summarize_with_sentences(documents, num_keysents=count, penalty=length_penalty, **options)
    return list(keywords.items()), sentences


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("stopwords", [frozenset(), frozenset({"도서관", "산책", "없는말"})])
def test_equals_the_package(seed: int, stopwords: frozenset[str]) -> None:
    documents = made_up(seed, 80)
    keywords = wordrank_keywords(documents, stopwords)
    expected, sentences = directly(documents, 5, diversity=0.3, stopwords=stopwords)
    assert list(keywords.items())[:100] == expected
    assert not stopwords & set(keywords)
    assert wordrank_sentences(keywords, documents, 5, 0.3) == sentences


def test_no_sentence_is_repeated_or_too_near_where_the_package_runs_out() -> None:
    documents = made_up(1, 60) * 3
    keywords = wordrank_keywords(documents)
    found = wordrank_sentences(keywords, documents, 40, 0.5)
    _, filled = directly(documents, 40, diversity=0.5)
    assert filled[: len(found)] == found
    assert len(found) < 40
    assert len(set(filled)) < 40


def test_sentences_without_a_keyword_or_of_another_length_come_last_or_never() -> None:
    documents = [*made_up(2, 60), "아무 낱말도 여기 없으므로 절대로 뽑히지 않는 글입니다", "정원"]
    found = wordrank_sentences(wordrank_keywords(documents), documents, 1000, 0.0)
    assert documents[-2] not in found
    penalties = [length_penalty(sentence) for sentence in found]
    assert penalties == sorted(penalties)
    assert sum(penalties) > 0


@pytest.mark.parametrize("documents", [["도서관에 갑니다"], ["가"] * 9, ["도서관"] * 4, ["?"], []])
def test_too_little_text_is_an_error(documents: list[str]) -> None:
    with pytest.raises(CorpusError, match=r"finds no keyword in \d documents.*more text"):
        wordrank_keywords(documents)


def test_stop_words_may_not_be_all_keywords() -> None:
    documents = made_up(5, 40)
    with pytest.raises(CorpusError, match=r"apart from stop words"):
        wordrank_keywords(documents, frozenset(wordrank_keywords(documents)))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> NoReturn:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    with pytest.raises(NwsError, match=r"pip install krwordrank"):
        wordrank_keywords(made_up(7, 40))


def test_signature_tells_stop_words_apart() -> None:
    assert "|stopwords:no|" in wordrank_signature((), 0.7)
    assert wordrank_signature(("나", "가"), 0.7) == wordrank_signature({"가", "나"}, 0.7)
    assert wordrank_signature(("나", "가"), 0.7) != wordrank_signature({"가", "다"}, 0.7)
