import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest
from documents import dice, document, segmented
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_articles import TEXT

from nws.core.article import Article
from nws.core.errors import EmptyArticleError
from nws.core.systems.extractive_baselines import BASELINES, make_baseline
from nws.core.systems.rulers import (
    LIKELY_WINDOWS,
    RULERS,
    Oracle,
    OtherArticle,
    Person,
    ReferenceWords,
    likely_windows,
    windows,
)
from nws.core.systems.system import Document, System, no_other
from nws.core.text.length import UNCUT
from nws.core.text.segmentation import Segmenter


def of(*references: str) -> Document:
    return document(Segmenter("blank")(Article("d", "all", "k", "Alpha beta met gamma.", references)))


FIRST, SECOND = "The council – it met\non Monday – will build.", "A bridge\tis coming."


def texts(system: System, document: Document, *lengths: int) -> list[tuple[int, str]]:
    return [(draft.n, draft.text) for draft in system.summarize(document, lengths)]


def test_a_ruler_has_the_first_words_of_a_person_and_all_where_there_are_no_more() -> None:
    one_line = "The council – it met on Monday – will build."
    expected = [(1, "The"), (4, "The council it met"), (8, one_line), (9, one_line)]
    assert texts(ReferenceWords(), of(FIRST, SECOND), 1, 4, 8, 9) == expected
    expected = [(UNCUT, "A bridge is coming."), (2, "A bridge"), (21, "A bridge is coming.")]
    assert texts(Person(), of(FIRST, SECOND, "A third."), 2, 21) == expected
    near, alone = (replace(of(FIRST), nearest=nearest) for nearest in (lambda: "Ships\nsail – on.", no_other))
    assert texts(OtherArticle(), near, 1, 9) == [(1, "Ships"), (9, "Ships sail – on.")]
    assert texts(OtherArticle(), alone, 3) == [(3, "")]


def test_nobody_is_another_person_where_there_is_one_reference() -> None:
    with pytest.raises(EmptyArticleError, match="'k' of d has no second reference"):
        Person().summarize(of(FIRST), [2])


ARTICLE = segmented(TEXT)


def test_greedy_search_finds_words_from_all_over_the_article() -> None:
    (draft,) = Oracle(()).summarize(document(ARTICLE, f1=partial(dice, "bridge alder trains cross")), [4])
    assert draft.text == "bridge Alder Trains cross"  # chunks "bridge", "Alder" and "Trains", then "cross"


@pytest.mark.parametrize("wanted", ["monday", "it cost two", "nothing", "may every spoke"])
def test_the_oracle_is_never_below_a_rival(wanted: str) -> None:
    seen = document(ARTICLE, f1=partial(dice, wanted), anchored_f1=dice)
    lengths = [1, 2, 3, 5, 9, 20]
    oracle = {d.n: d.text for d in make_baseline("oracle", "enc", 0).summarize(seen, lengths)}
    for name in BASELINES.keys() - {*RULERS}:
        for draft in make_baseline(name, "enc", 0).summarize(seen, lengths):
            if draft.n != UNCUT:
                mine, *theirs = seen.f1([oracle[draft.n], *draft.texts])
                assert mine >= max(theirs), (name, draft)


def test_a_window_copied_from_the_reference_is_the_oracles_among_hundreds() -> None:
    """The search cannot find it: its chunks hold none of its words."""
    copied = "It was, as it is, and then they were there."
    text = " ".join(f"Snow fell on Dover{i}." for i in range(60)) + f" {copied} " + "Trains ran late. " * 60
    article = Segmenter("blank")(Article("d", "all", "k", text, ("Nothing alike.", f"{copied.upper()}!")))
    asked: list[str] = []

    def f1(texts: Sequence[str]) -> list[float]:
        asked.extend(texts)
        return dice(copied, texts)

    (draft,) = Oracle(()).summarize(document(article, f1=f1), [10])
    assert draft.text == copied
    assert len(windows(text, 10)) > 400
    assert len(set(windows(text, 10)) & set(asked)) == LIKELY_WINDOWS


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from(["a", "A,", "b", "c.", "--", "d"]), min_size=1, max_size=90),
    st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=20),
    st.integers(1, 12),
)
def test_likely_windows_have_most_words_and_pairs_in_common(words: list[str], reference: list[str], n: int) -> None:
    def in_common(window: str) -> int:
        own = [word.strip(".,").lower() for word in window.split() if word != "--"]
        both = ([*of, *(f"{a} {b}" for a, b in itertools.pairwise(of))] for of in (own, reference))
        mine, theirs = both
        return sum(min(mine.count(unit), theirs.count(unit)) for unit in set(mine))

    text = " ".join(words)
    article = Article("d", "all", "k", text, (" ".join(reference),))
    every = list(dict.fromkeys(windows(text, n)))
    assert likely_windows(article, n) == sorted(every, key=in_common, reverse=True)[:LIKELY_WINDOWS]


def test_an_article_without_chunks_has_an_oracle() -> None:
    seen = document(segmented("It was as it is and then they were there."), f1=partial(dice, "they"))
    (draft,) = Oracle(()).summarize(seen, [1])
    assert draft.text == "they"
