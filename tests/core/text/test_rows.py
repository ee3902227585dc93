"""What every text becomes that comes in, and that the quick ways give what the plain ones give."""

from unicodedata import is_normalized, normalize

from hypothesis import example, given
from hypothesis import strategies as st

from core.article import Article
from core.text.rows import cleaned, storable, to_article

SURROGATES = st.characters(categories=["Cs"])


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


def test_an_article_is_the_same_however_it_was_encoded() -> None:
    row = {"id": normalize("NFD", "Zoë"), "text": normalize("NFD", "A café."), "told": normalize("NFD", "Café!")}
    assert to_article(row, ("text", "told", "id"), "d", "all", 0) == Article("d", "all", "Zoë", "A café.", ("Café!",))
