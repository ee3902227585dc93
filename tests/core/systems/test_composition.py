import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.systems.composition import adjacent_share, compose
from core.text.segmentation import Segmenter
from core.text.words import count_words
from core.types import Article, SegmentedArticle

SEGMENT = Segmenter("blank")


def cut(text: str) -> SegmentedArticle:
    return SEGMENT(Article("d", "all", "k", text, ("r",)))


def test_best_chunks_in_document_order_and_the_last_pick_is_cut() -> None:
    article = cut("Red cats and green dogs, or big blue birds.")
    assert [chunk.text for chunk in article.chunks] == ["Red cats", "green dogs", "big blue birds"]
    assert compose(article, [2, 0, 1], 5) == "Red cats big blue birds"
    assert compose(article, [0, 2, 1], 3) == "Red cats big"


def test_no_chunk_text_twice() -> None:
    article = cut("Red cats. Red cats, or red CATS. Big dogs.")
    assert compose(article, [0, 1, 2, 3], 4) == "Red cats Big dogs"


def test_a_cut_that_repeats_a_chunk_is_passed_over() -> None:
    article = cut("Red. Red cats. Dogs.")
    assert compose(article, [0, 1, 2], 2) == "Red Dogs"


def test_the_articles_other_words_fill_up_what_chunks_leave() -> None:
    article = cut("He was in the big city.")
    assert compose(article, [0], 4) == "He was big city"
    assert compose(article, [0], 99) == "He was in the big city"


@given(st.text("ab cd.,\n", max_size=80), st.integers(0, 30), st.randoms(use_true_random=False))
def test_exactly_n_words_or_all_of_them(text: str, n: int, random: object) -> None:
    if not count_words(text):
        return
    article = cut(text)
    ranking = list(range(len(article.chunks)))
    random.shuffle(ranking)  # type: ignore[attr-defined]
    summary = compose(article, ranking, n)
    assert count_words(summary) == len(summary.split()) == min(n, len(article.words))
    remaining = iter(article.words)
    assert all(word in remaining for word in summary.split())  # a subsequence: document order


@pytest.mark.parametrize(
    ("positions", "share"), [([], 1), ([4], 1), ([3, 4, 5], 1), ([1, 3, 5], 0), ([0, 1, 7, 8, 12], 0.5)]
)
def test_share_of_neighbours_that_are_neighbours_in_the_article(positions: list[int], share: float) -> None:
    assert adjacent_share(positions) == share
