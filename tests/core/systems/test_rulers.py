from dataclasses import replace

import pytest
from documents import document

from core.errors import EmptyArticleError
from core.systems.rulers import OtherArticle, Person, ReferenceWords
from core.systems.system import Document, System, no_other
from core.text.length import UNCUT
from core.text.segmentation import Segmenter
from core.types import Article


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
