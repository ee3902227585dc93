import numpy as np
import pytest
from documents import segmented
from prepared_articles import prepared

from nws.core.article import SegmentedArticle
from nws.core.learning.environment import DYNAMIC_FEATURES, Writing, positions_taken
from nws.core.models.tokens import IntArray
from nws.core.systems.composition import words_at
from nws.core.text.length import LengthUnit

ARTICLE = "Alpha beta met gamma. Then delta epsilon saw zeta, and eta theta left."
# Chunks: "Alpha beta met gamma", "delta epsilon saw zeta", "eta theta left".


def rows(*values: int) -> IntArray:
    return np.array(values, dtype=np.int64)


def compose_taken(article: SegmentedArticle, taken: list[int], n: int, unit: LengthUnit = "words") -> str:
    return words_at(article, positions_taken(article, taken, n, unit))


def feature(writing: Writing, name: str, row: int, chunk: int) -> float:
    return float(writing.dynamic_features(rows(row), rows(chunk))[0, DYNAMIC_FEATURES.index(name)])


def test_repeated_words_are_masked_or_only_whole_texts() -> None:
    text = "Champions League won. League title. The champions league won."
    for mask, expected in ((True, [[False, False, False]]), (False, [[False, True, False]])):
        writing = Writing(prepared(text, mask_repeats=mask), np.array([[0, 1, 2]]), n=9)
        writing.take(rows(0), rows(0))
        assert writing.available().tolist() == expected


def test_features_of_characters_are_in_words_of_the_article() -> None:
    article = prepared(ARTICLE, length_unit="characters")
    # "Alpha beta met gamma", "delta epsilon saw zeta" and "eta theta left": 20, 22 and 14 characters.
    assert article.chunk_costs.tolist() == [21, 23, 15]
    writing = Writing(article, np.array([[0, 1]]), n=40)
    writing.take(rows(0), rows(1))
    assert writing.room_left.tolist() == [18]
    assert feature(writing, "words left", 0, 0) == pytest.approx(18 / 41)
    assert feature(writing, "overflow", 0, 0) == pytest.approx(3 / article.word_cost)
    assert feature(writing, "overflow", 0, 2) == 0
    writing.take(rows(0), rows(0))
    assert not writing.available().any()
    assert writing.texts() == ["Alpha beta met delta epsilon saw zeta"]


def test_the_chunk_taken_last_ends_with_the_first_word_that_does_not_fit_and_document_order_returns() -> None:
    article = segmented(ARTICLE)
    assert compose_taken(article, [2, 0], 5) == "Alpha beta eta theta left"
    assert compose_taken(article, [0, 2], 5) == "Alpha beta met gamma eta"
    assert compose_taken(article, [2, 0], 25, "characters") == "Alpha beta eta theta left"
    assert compose_taken(article, [2, 0], 24, "characters") == "Alpha eta theta left"
    assert compose_taken(article, [2, 0, 1], 19, "characters") == "eta theta left"
    assert compose_taken(segmented("It was as it is. Snow fell."), [0], 18, "characters") == "It was Snow fell"
