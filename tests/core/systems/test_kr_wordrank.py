"""KR-WordRank, against direct calls of the package krwordrank."""

import importlib.metadata
import random
from typing import NoReturn

import pytest

from core.errors import CorpusError, NwsError
from core.systems.korean_key_sentences import length_penalty
from core.systems.kr_wordrank import key_sentences, rank_keywords, signature

pytest.importorskip("krwordrank", reason="the package krwordrank is not installed")

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
    keywords = rank_keywords(documents, stopwords)
    expected, sentences = directly(documents, 5, diversity=0.3, stopwords=stopwords)
    assert list(keywords.items())[:100] == expected
    assert not stopwords & set(keywords)
    assert key_sentences(keywords, documents, 5, 0.3) == sentences


def test_no_sentence_is_repeated_or_too_near_where_the_package_runs_out() -> None:
    documents = made_up(1, 60) * 3
    keywords = rank_keywords(documents)
    found = key_sentences(keywords, documents, 40, 0.5)
    _, filled = directly(documents, 40, diversity=0.5)
    assert filled[: len(found)] == found
    assert len(found) < 40
    assert len(set(filled)) < 40
    everything = key_sentences(keywords, documents, 1000, 0.0)
    assert len(everything) == len(set(everything)) == len(set(documents))


def test_sentences_without_a_keyword_or_of_another_length_come_last_or_never() -> None:
    documents = [*made_up(2, 60), "아무 낱말도 여기 없으므로 절대로 뽑히지 않는 글입니다", "정원"]
    found = key_sentences(rank_keywords(documents), documents, 1000, 0.0)
    assert documents[-2] not in found
    penalties = [length_penalty(sentence) for sentence in found]
    assert penalties == sorted(penalties)
    assert sum(penalties) > 0


@pytest.mark.parametrize("documents", [["도서관에 갑니다"], ["가"] * 9, ["도서관"] * 4, ["?"], []])
def test_too_little_text_is_an_error(documents: list[str]) -> None:
    with pytest.raises(CorpusError, match=r"finds no keyword in \d documents.*more text"):
        rank_keywords(documents)


def test_stop_words_may_not_be_all_keywords() -> None:
    documents = made_up(5, 40)
    with pytest.raises(CorpusError, match=r"All \d+ keywords are stop words"):
        rank_keywords(documents, frozenset(rank_keywords(documents)))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> NoReturn:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    with pytest.raises(NwsError, match=r"pip install krwordrank"):
        rank_keywords(made_up(7, 40))


def test_signature_tells_stop_words_apart() -> None:
    assert "|krwordrank-1.0.3|" in signature((), 0.7)
    assert "|stopwords:no|" in signature((), 0.7)
    assert signature(("나", "가"), 0.7) == signature({"가", "나"}, 0.7) != signature({"가", "다"}, 0.7)
