"""Summaries of at most so many characters: never longer, of whole words, and as many as fit of what is chosen."""

from dataclasses import replace

import pytest
from documents import OTHER, REFERENCES, dice, document, segmented
from hypothesis import given
from hypothesis import strategies as st

from nws.core.article import SegmentedArticle
from nws.core.systems.extractive_baselines import BASELINES, make_baseline
from nws.core.systems.rulers import windows
from nws.core.systems.system import Document, cut_to_asked
from nws.core.text.length import count_characters, count_words, word_spans

TEXT = (
    "The council met on Monday. A café in Alder will open in May, the mayor said — it cost two million. "
    "Trains will cross the bridge every hour. Nobody spoke against it."
)
TEXTS = st.text(st.sampled_from("abé e\u0301한 .,\n-"), min_size=1, max_size=60)


def in_characters(of: SegmentedArticle) -> Document:
    seen = document(of, f1=lambda texts: [float(len(set(t))) for t in texts], anchored_f1=dice)
    return replace(seen, length_unit="characters")


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_fits_into_the_characters_and_tears_no_word(name: str) -> None:
    article = segmented(TEXT)
    whole = {*TEXT.split(), *article.words, *" ".join(REFERENCES).split(), *OTHER.split()}
    lengths = [1, 9, 30, 50, 999]
    drafts = make_baseline(name, "enc", 3).summarize(in_characters(article), lengths)
    assert [draft.n for draft in drafts if draft.n] == lengths
    for draft in drafts:
        for text in draft.texts:
            assert draft.n == 0 or count_characters(text) <= draft.n
            assert set(text.split()) <= whole
            assert draft.n < 30 or count_words(text) >= 3


@given(TEXTS, st.integers(1, 40))
def test_windows_are_all_that_can_not_be_longer(text: str, n: int) -> None:
    words = [text[start:end] for start, end in word_spans(text)]
    runs = [words[i:j] for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    fit = [run for run in runs if count_characters(" ".join(run)) <= n]
    found = [window.split(" ") for window in windows(text, n, "characters") if window]
    assert all(run in fit for run in found)
    for run in fit:  # each is a part of one that was found
        assert any(window[i : i + len(run)] == run for window in found for i in range(len(window)))


@pytest.mark.parametrize("name", ["lead3-search", "oracle"])
def test_a_search_ends_where_no_word_of_a_candidate_fits(name: str) -> None:
    article = segmented(TEXT)
    drafts = make_baseline(name, "enc", 0).summarize(in_characters(article), [20, 40])
    firsts = {article.words[chunk.start] for chunk in article.chunks}
    for draft in drafts:
        left = draft.n - count_characters(draft.text) - 1
        assert not [word for word in firsts - set(draft.text.split()) if count_characters(word) <= left]


def test_what_was_written_for_characters_is_cut_and_counted() -> None:
    draft = cut_to_asked("Snow closed the schools", 15, {"finish": "stop"}, "characters")
    assert draft.text == "Snow closed the"
    assert draft.extra == {"finish": "stop", "characters_asked": 15, "characters_written": 23}
