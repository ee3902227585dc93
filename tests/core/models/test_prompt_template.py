import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RecipeError
from core.models.generators import DEFAULT_PROMPT, PromptTemplate, most_new_tokens


def test_whether_a_model_is_asked_for_each_n_follows_from_the_prompt() -> None:
    assert DEFAULT_PROMPT.asks_for_n
    assert not PromptTemplate("Sum up: {article}").asks_for_n
    assert not PromptTemplate("Sum up {{n}} {article}").asks_for_n


@given(article=st.text(max_size=30), n=st.integers(0, 100))
def test_an_article_stands_in_the_prompt_as_it_is(article: str, n: int) -> None:
    """Braces of an article are no places."""
    prompt = PromptTemplate("In {n} words, as {{json}}: {article}!")
    assert prompt.about(article, n) == f"In {n} words, as {{json}}: {article.strip()}!"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Sum up in {n} words.", "has to name {article} once"),
        ("{article} {article}", "has to name {article} once"),
        ("{article} in {words}", "a placeholder {words} that cannot be filled: only {n} and {article} are known"),
        ("{article.text}", "has a placeholder {article.text}"),
        ("{article} {n:>3}", "has a placeholder {n}"),
        ("{article} {", "cannot be read: .* Write {{ and }} for braces"),
        ("{article} {}", "has a placeholder {}"),
        ("caf\udce9 {article}", "holds a NUL, or bytes that are no UTF-8"),
    ],
)
def test_other_places_are_refused(text: str, told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        PromptTemplate(text)


def test_there_is_room_to_write_too_much() -> None:
    assert [most_new_tokens(n, "words") for n in (1, 9, 0)] == [40, 104, 256]
    assert [most_new_tokens(n, "characters") for n in (30, 65, 0)] == [92, 162, 256]
