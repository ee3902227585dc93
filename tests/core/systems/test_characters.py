"""Summaries of at most so many characters: never longer, of whole words, and as many as fit of what is chosen."""

from dataclasses import replace

import pytest
from documents import OTHER, REFERENCES, dice, document, segmented
from hypothesis import given, settings
from hypothesis import strategies as st

from core.systems.composition import compose
from core.systems.extractive_baselines import BASELINES, make_baseline
from core.systems.oracles import windows
from core.systems.system import Document, cut_to_asked, uncut_and_cut
from core.text.length import count_characters
from core.text.words import count_words, word_spans
from core.types import SegmentedArticle

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


def one_word_at_a_time(article: SegmentedArticle, ranking: list[int], n: int) -> str:
    """What `compose` says it does, without its sums: the longest text that fits decides."""

    def text_of(positions: set[int]) -> str:
        return " ".join(article.words[position] for position in sorted(positions))

    taken: set[int] = set()
    said: set[str] = set()
    for index in ranking:
        chunk = article.chunks[index]
        own: set[int] = set()
        while chunk.start + len(own) < chunk.end:
            longer = own | {chunk.start + len(own)}
            if count_characters(text_of(taken | longer)) > n:
                break
            own = longer
        if not own:
            return text_of(taken)
        if text_of(own).casefold() not in said:
            said.add(text_of(own).casefold())
            taken |= own
            if len(own) < chunk.end - chunk.start:
                return text_of(taken)
    for position in range(len(article.words)):
        if count_characters(text_of(taken | {position})) > n:
            break
        taken |= {position}
    return text_of(taken)


@settings(max_examples=300)
@given(TEXTS, st.integers(1, 70), st.randoms(use_true_random=False))
def test_a_composition_ends_with_the_first_word_of_the_choice_that_does_not_fit(
    text: str, n: int, random: object
) -> None:
    if not count_words(text):
        return
    article = segmented(text)
    ranking = list(range(len(article.chunks)))
    random.shuffle(ranking)  # type: ignore[attr-defined]
    written = compose(article, ranking, n, "characters")
    assert count_characters(written) <= n
    assert written == one_word_at_a_time(article, ranking, n)


@given(TEXTS, st.integers(1, 70))
def test_the_first_words_leave_no_room_for_the_next(text: str, n: int) -> None:
    if not count_words(text):
        return
    words = [text[start:end] for start, end in word_spans(text)]
    (draft,) = make_baseline("lead", "enc", 0).summarize(in_characters(segmented(text)), [n])
    kept = draft.text.split(" ") if draft.text else []
    assert kept == words[: len(kept)]
    assert count_characters(draft.text) <= n
    assert kept == words or count_characters(" ".join(words[: len(kept) + 1])) > n


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
    uncut, cut, whole = uncut_and_cut("Snow closed the schools", [11, 23], "characters")
    assert (uncut.text, cut.text, whole.text) == ("Snow closed the schools", "Snow closed", "Snow closed the schools")
