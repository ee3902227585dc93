import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.article import Article
from nws.core.errors import SegmentationError
from nws.core.text.length import (
    count_characters,
    cut,
    kept_to,
    lengths_up_to,
    require_length,
    require_summary_length,
    word_spans,
)
from nws.core.text.segmentation import Segmenter, unsegmented
from nws.core.worker_factories import checked

TEXTS = st.text(st.sampled_from("aé e\u0301한\u1112\u1161-—.\n\t\U0001f600"), max_size=40)


def test_characters_are_code_points_in_composed_form() -> None:
    assert count_characters("caf\u00e9") == count_characters("cafe\u0301") == 4
    assert count_characters("한국") == count_characters(unicodedata.normalize("NFD", "한국")) == 2


@pytest.mark.parametrize(
    ("n", "written"), [(3, ""), (14, "Snow closed"), (15, "Snow closed the"), (99, "Snow closed the schools of Dover")]
)
def test_a_text_is_cut_behind_the_last_whole_word_that_fits(n: int, written: str) -> None:
    text = "Snow closed  the\nschools — of Dover"
    assert cut(text, n, "characters") == written
    assert kept_to(text, n, "characters") == (text if n == 99 else written)  # what fits stays as it is


@given(TEXTS, st.integers(1, 45))
def test_no_text_is_longer_than_it_may_be_and_no_word_is_torn(text: str, n: int) -> None:
    words = [text[start:end] for start, end in word_spans(text)]
    written = cut(text, n, "characters")
    kept = written.split(" ") if written else []
    assert count_characters(written) <= n
    assert kept == words[: len(kept)]
    assert kept == words or count_characters(" ".join(words[: len(kept) + 1])) > n


def article(text: str, reference: str = "A bridge.") -> Article:
    return Article("news", "all", "a1", text, (reference,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word " * 10_001, "10001 words; MiniLM, which must embed it, takes at most 10000"),
        ("word " * 165_000, "825000 characters; MiniLM"),
        ("- " * 50_001, "100002 characters"),
        ("A man.\n" * 3_001, "3001 sentences; MiniLM, which must embed it, takes at most 3000"),
    ],
)
def test_what_an_encoder_would_embed_for_minutes_is_refused(text: str, message: str) -> None:
    with pytest.raises(
        SegmentationError, match=f"Article 'a1' of news has {message}.*only systems that do not embed art"
    ):
        Segmenter("blank", embedder="MiniLM")(article(text))


def test_what_is_no_word_is_refused_at_once() -> None:
    for refusing in (require_length, Segmenter("blank"), unsegmented):
        with pytest.raises(SegmentationError, match="has 1000000 characters without a blank; a word has at most 500"):
            refusing(article("(" * 999_999 + "a"))


LONG = ["word " * 100_000, "A line of words.\n" * 20_000, "-- " * 5_000 + "a", "a" * 500, "(" * 499 + "a b"]


@pytest.mark.parametrize("text", LONG)
@pytest.mark.parametrize("pipeline", ["blank", "kiwi"])
def test_texts_of_any_length_are_cut(text: str, pipeline: str) -> None:
    cut = Segmenter(pipeline)(article(text))
    assert len(cut.words) == len(unsegmented(article(text)).words)
    covered = [position for sentence in cut.sentences for position in range(sentence.start, sentence.end)]
    assert covered == [*range(len(cut.words))]
    assert all(chunk.text == " ".join(cut.words[chunk.start : chunk.end]) for chunk in cut.chunks)


@pytest.mark.parametrize(("text", "message"), [("a " * 3_001, "3001 words"), ("a" * 100_001, "100001 characters")])
def test_references_that_would_take_minutes_are_refused(text: str, message: str) -> None:
    with pytest.raises(SegmentationError, match=f"A summary has {message}; at most"):
        require_summary_length(text)
    with pytest.raises(SegmentationError, match=f"A summary has {message}; at most"):
        checked("en", Segmenter("blank"))(article("A bridge was opened.", text))


@given(st.integers(1, 3_000))
def test_lengths_rise_from_one_word_to_the_longest(longest: int) -> None:
    lengths = lengths_up_to(longest)
    assert (lengths[0], lengths[-1]) == (1, longest)
    assert sorted(set(lengths)) == list(lengths)
    assert min(longest, 7) <= len(lengths) <= 12
    steps = [after - before for before, after in itertools.pairwise(lengths)]
    assert all(step <= 2 for step, n in zip(steps, lengths, strict=False) if n < 13)
    ratios = [after / before for before, after in itertools.pairwise(lengths) if before > 13]
    assert all(ratio <= (longest / 13) ** 0.25 + 1 / 13 for ratio in ratios)


@pytest.mark.parametrize(
    ("longest", "lengths"),
    [
        (5, (1, 2, 3, 4, 5)),
        (13, (1, 3, 5, 7, 9, 11, 13)),
        (21, tuple(range(1, 22, 2))),  # the study's
        (47, (1, 3, 5, 7, 9, 11, 13, 18, 25, 34, 47)),
    ],
)
def test_lengths_are_dense_where_a_word_more_keeps_most(longest: int, lengths: tuple[int, ...]) -> None:
    assert lengths_up_to(longest) == lengths
