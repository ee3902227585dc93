from dataclasses import replace

import pytest
from documents import document

from core.errors import EmptyArticleError
from core.systems.rulers import OtherArticle, Person, ReferenceWords
from core.systems.system import no_other
from core.text.length import UNCUT
from core.text.segmentation import Segmenter
from core.types import Article


def of(*references: str):
    return document(Segmenter("blank")(Article("d", "all", "k", "Alpha beta met gamma.", references)))


FIRST, SECOND = "The council – it met\non Monday – will build.", "A bridge\tis coming."


def test_the_first_reference_word_by_word_and_whole_where_it_has_no_more() -> None:
    drafts = ReferenceWords().summarize(of(FIRST, SECOND), [1, 4, 8, 9])
    whole = "The council – it met on Monday – will build."
    assert [(draft.n, draft.text) for draft in drafts] == [
        (1, "The"),
        (4, "The council it met"),
        (8, whole),
        (9, whole),
    ]


def test_another_person_is_the_second_reference_uncut_and_cut() -> None:
    drafts = Person().summarize(of(FIRST, SECOND, "A third."), [2, 21])
    assert [(draft.n, draft.text) for draft in drafts] == [
        (UNCUT, "A bridge is coming."),
        (2, "A bridge"),
        (21, "A bridge is coming."),
    ]


def test_nobody_is_another_person_where_there_is_one_reference() -> None:
    with pytest.raises(EmptyArticleError, match="'k' of d has no second reference"):
        Person().summarize(of(FIRST), [2])


def test_another_article_is_what_the_document_says_or_nothing() -> None:
    drafts = OtherArticle().summarize(replace(of(FIRST), nearest=lambda: "Ships\nsail – on."), [1, 9])
    assert [(draft.n, draft.text) for draft in drafts] == [(1, "Ships"), (9, "Ships sail – on.")]
    (draft,) = OtherArticle().summarize(replace(of(FIRST), nearest=no_other), [3])
    assert (draft.n, draft.text) == (3, "")


def test_rulers_are_no_systems_to_choose() -> None:
    assert (ReferenceWords.kind, Person.kind, OtherArticle.kind) == ("upper bound", "upper bound", "control")
