"""What every text becomes that comes in, and that the quick ways give what the plain ones give."""

from typing import Literal
from unicodedata import is_normalized, normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.text.rows import cleaned, storable, to_article

SURROGATES = st.characters(categories=["Cs"])
FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


@given(st.text(st.one_of(st.characters(), SURROGATES, st.sampled_from("\0\ufeff\ufffd"))))
@example("\ud83d\ude00 \ude00\ud83d \0")
def test_a_text_becomes_storable_as_by_way_of_utf16(text: str) -> None:
    assert storable(text) == text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert cleaned(text) == normalize("NFC", storable(text))


@given(st.text())
@example("Café 한국 Ångström")
def test_a_text_is_the_same_however_it_was_encoded_and_a_composed_one_is_as_it_was(text: str) -> None:
    assert cleaned(normalize("NFD", text)) == cleaned(normalize("NFC", text))
    assert cleaned(cleaned(text)) == cleaned(text)
    if is_normalized("NFC", text):
        assert cleaned(text) == storable(text)


@pytest.mark.parametrize("form", FORMS)
def test_an_article_is_the_same_however_it_was_encoded(form: Literal["NFC", "NFD"]) -> None:
    row = {"id": "Zoë", "article": "Zoë saw a café.", "highlights": ["Café!", "Zoë"]}
    encoded = {
        "id": normalize(form, row["id"]),
        "article": normalize(form, row["article"]),
        "highlights": [normalize(form, text) for text in row["highlights"]],
    }
    fields = ("article", "highlights", "id")
    article, expected = (to_article(of, fields, "d", "all", 0) for of in (encoded, row))
    assert article == expected
    assert article.id == expected.id
    assert is_normalized("NFC", article.text)
