"""What every text becomes that comes in, and that the quick ways give what the plain ones give."""

from unicodedata import is_normalized, normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nws.core.article import Article
from nws.core.text.rows import cleaned, storable, to_article

SURROGATES = st.characters(categories=["Cs"])
JOINERS = "\u200c\u200d"
UNSEEN = "\u00ad\u061c\u200b\u200e\u200f\u202a\u202e\u2060\u2066\u2069\u206f\ufeff"


@given(st.text(st.one_of(st.characters(), SURROGATES, st.sampled_from("\0\ufeff\ufffd"))))
@example("\ud83d\ude00 \ude00\ud83d \0")
def test_a_text_becomes_storable_as_by_way_of_utf16(text: str) -> None:
    assert storable(text) == text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@given(st.text(st.one_of(st.characters(), st.sampled_from(UNSEEN + JOINERS))))
@example("Café 한국 Ångström")
@example("e\u200b\u0301")
def test_a_text_is_the_same_however_it_was_encoded_and_a_composed_one_is_as_it_was(text: str) -> None:
    assert cleaned(normalize("NFD", text)) == cleaned(normalize("NFC", text))
    assert cleaned(cleaned(text)) == cleaned(text)
    if is_normalized("NFC", text) and not {*text} & {*UNSEEN, *JOINERS, *map(chr, range(0x200E, 0x2070))}:
        assert cleaned(text) == storable(text)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"Tar{UNSEEN}nby's {JOINERS}rope\u200b bridge\ufeff", "Tarnby's rope bridge"),
        *((text, text) for text in ("می\u200cخواهم", "क्\u200dष", "👩🏽\u200d🚀", "❤\ufe0f\u200d🔥", "a\u00a0b\u2028c")),
    ],
)
def test_signs_that_no_reader_sees_are_left_out_but_where_letters_and_emoji_need_them(text: str, read: str) -> None:
    assert cleaned(text) == read
    row = {"text": text, "told": [f"A {text}", UNSEEN]}
    assert to_article(row, ("text", "told", None), "d", "all", 0).references == (f"A {read}",)


def test_an_article_is_the_same_however_it_was_encoded() -> None:
    row = {"id": normalize("NFD", "Zoë"), "text": normalize("NFD", "A café."), "told": normalize("NFD", "Café!")}
    assert to_article(row, ("text", "told", "id"), "d", "all", 0) == Article("d", "all", "Zoë", "A café.", ("Café!",))
