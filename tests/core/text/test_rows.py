"""The quick ways give what the plain ones give."""

from hypothesis import example, given
from hypothesis import strategies as st

from core.text.rows import cleaned

SURROGATES = st.characters(categories=["Cs"])


@given(st.text(st.one_of(st.characters(), SURROGATES, st.sampled_from("\0\ufeff\ufffd"))))
@example("\ud83d\ude00 \ude00\ud83d \0")
def test_a_text_is_cleaned_as_by_way_of_utf16(text: str) -> None:
    assert cleaned(text) == text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
