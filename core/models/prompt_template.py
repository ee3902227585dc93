"""The prompt for a model that follows instructions, with placeholders for the article and the number of words."""

import hashlib
import string
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import RecipeError
from core.text.length import UNCUT, LengthUnit
from core.text.rows import cleaned

# No word of a language that NWS reads is longer on average, and a model that writes too much is to be seen doing so.
_TOKENS_PER_WORD, _TOKENS_PER_CHARACTER, _MORE_TOKENS = 8, 2, 32
_UNCUT_TOKENS = 256


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt with the placeholders `{article}` and, if it asks for a number of words, `{n}`.

    A brace that is part of the prompt is written twice, as in `str.format`. `unit` is what `{n}` counts.

    Raises:
        RecipeError: it does not name the article once, or names anything else.
    """

    text: str
    unit: LengthUnit = field(default="words", repr=False)  # in a work there is that of the stage

    def __post_init__(self) -> None:
        if cleaned(self.text) != self.text:
            raise RecipeError("the prompt holds a NUL, or bytes that are no UTF-8: write it as text.")
        names = placeholders(self.text, ("n", "article"))
        if names.count("article") != 1:
            raise RecipeError(f"the prompt has to name {{article}} once, where the article stands: {self.text!r}")

    @property
    def asks_for_n(self) -> bool:
        """Whether a model is asked once for each n, and not once for a summary of its own length."""
        return "n" in placeholders(self.text, ("n", "article"))

    @property
    def short_sha256(self) -> str:
        """8 hex digits that identify the prompt."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]

    @property
    def tokens_text(self) -> str:
        """How many tokens a model may write (`most_new_tokens`), as a run records it."""
        if not self.asks_for_n:
            return str(_UNCUT_TOKENS)
        return f"{_tokens_each(self.unit)}n+{_MORE_TOKENS}" + ("" if self.unit == "words" else f", n in {self.unit}")

    def about(self, article: str, n: int) -> str:
        """The prompt for an article and a number of words."""
        return self.text.format(article=article.strip(), n=n)


def placeholders(prompt: str, known: Sequence[str]) -> list[str]:
    """The names that stand in braces in a prompt, in their order.

    Raises:
        RecipeError: one is not `known`, or the braces do not match.
    """
    try:
        fields = [field for field in string.Formatter().parse(prompt) if field[1] is not None]
    except ValueError as error:
        raise RecipeError(f"the prompt cannot be read: {error}. Write {{{{ and }}}} for braces.") from error
    for _, name, spec, conversion in fields:
        if name not in known or spec or conversion:
            named = [f"{{{one}}}" for one in known]
            raise RecipeError(
                f"the prompt has a placeholder {{{name}}} that cannot be filled: only {', '.join(named[:-1])} and "
                f"{named[-1]} are known, as they stand here. Write {{{{ and }}}} for braces."
            )
    return [str(name) for _, name, _, _ in fields]


DEFAULT_PROMPT = PromptTemplate(
    "Summarize the news article below in exactly {n} words, in the language of the article. "
    "Write nothing but the summary.\n\n{article}"
)
DEFAULT_PROMPTS: dict[LengthUnit, PromptTemplate] = {
    "words": DEFAULT_PROMPT,
    "characters": PromptTemplate(
        "Summarize the news article below in at most {n} characters, blanks included, in the language of the article. "
        "Write nothing but the summary.\n\n{article}",
        "characters",
    ),
}
"""What is asked for unless told otherwise, by what n counts."""


def most_new_tokens(n: int, unit: LengthUnit) -> int:
    """How many tokens a model may write that was asked for `n` words or characters, or (`UNCUT`) for no number."""
    return _UNCUT_TOKENS if n == UNCUT else _MORE_TOKENS + _tokens_each(unit) * n


def _tokens_each(unit: LengthUnit) -> int:
    return _TOKENS_PER_WORD if unit == "words" else _TOKENS_PER_CHARACTER
