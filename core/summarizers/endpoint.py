"""A model that others run, behind an endpoint with the API of OpenAI: which one, and what it is asked.

How it is asked is in `core/summarizers/endpoint_requests.py`.
"""

import os
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from core.errors import RecipeError
from core.models import ModelRef
from core.summarizers.adjustment import Adjustment
from core.summarizers.prompt_template import (
    DEFAULT_PROMPT,
    REVISE,
    PromptTemplate,
    most_new_tokens,
    most_new_tokens_text,
)
from core.summarizers.systems import UNCUT
from core.text.rows import cleaned

PREFIX = "openai:"
_URL_VARIABLE, _OPENAI = "OPENAI_BASE_URL", "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A system whose summaries come from an endpoint. The key is no part of it: it would travel and be stored.

    Attributes:
        model: as the endpoint calls it.
        url: the part before `/chat/completions`.
        prompt: what the model is asked for.
        concurrency: how many requests a process has under way at most. It changes no summary.
        best_of: how many drafts it writes, of which the nearest to n words is kept: the first as it would write
            one alone, the others drawn at temperature 1.
        revise: how often at most it is told how many words its text has, and asked again.
        adjust: whether it is asked for another number of words than n, by an `adjustment`.
        adjustment: how; None while it has not been fitted. A run fits it before it begins.

    Raises:
        RecipeError: the URL is none, or holds a user name or a password; or the model's name is no text; or a prompt
            that does not ask for `{n}` words is to be kept to n.
    """

    model: str
    url: str
    prompt: PromptTemplate = DEFAULT_PROMPT
    concurrency: int = field(default=8, repr=False)
    best_of: int = 1
    revise: int = 0
    adjust: bool = False
    adjustment: Adjustment | None = None

    def __post_init__(self) -> None:
        is_kept = self.best_of > 1 or self.revise or self.adjust
        if is_kept and self.prompt.unit != "words":
            raise RecipeError("best_of, revise and adjust count words: a run of max_chars has none of them.")
        if is_kept and self.has_uncut:
            raise RecipeError(
                "best_of, revise and adjust are for prompts that ask for {n} words: write {n} into the prompt."
            )
        if cleaned(self.model) != self.model:
            raise RecipeError("the name of an endpoint's model holds a NUL, or bytes that are no UTF-8.")
        try:
            parts = urlsplit(self.url)
            _ = parts.port
        except ValueError as error:
            raise RecipeError(f"the base URL of an endpoint cannot be read: {error}.") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RecipeError("the base URL of an endpoint begins with http:// or https://.")
        if "@" in parts.netloc or parts.query:
            raise RecipeError("the base URL of an endpoint is stored: it may hold no user, password or query.")

    @property
    def signature(self) -> str:
        """The name under which its summaries are stored."""
        kept = [f"best_of={self.best_of}"] * (self.best_of > 1) + [f"revise={self.revise}"] * bool(self.revise)
        return "|".join([f"{PREFIX}{self.model}|prompt={self.prompt.short_sha256}", *kept, *["adjust"] * self.adjust])

    @property
    def most_requests(self) -> int:
        """How many requests a summary takes at most. It takes `best_of` at least."""
        return self.best_of + self.revise

    @property
    def plain(self) -> "Endpoint":
        """The same, asked once for n words: whatever it writes is cut to n."""
        return replace(self, best_of=1, revise=0, adjust=False, adjustment=None)

    def asked_for(self, n: int) -> int:
        """The number of words that the prompt names where `n` are wanted."""
        return n if self.adjustment is None else self.adjustment.asked_for(n)

    @property
    def has_uncut(self) -> bool:
        """Whether it is asked once, for no number of words, and not once for each n."""
        return not self.prompt.asks_for_n

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """Empty: no model has to be on the machine that asks."""
        return ()

    @property
    def revision(self) -> str:
        """What a run records: all that is sent but the articles. Which weights answer, only the endpoint knows."""
        unit = self.prompt.unit
        tokens = str(most_new_tokens(UNCUT, unit)) if self.has_uncut else most_new_tokens_text(unit)
        parts = [f"{self.model} at {self.url}", f"prompt={self.prompt.text!r}"]
        parts += [f"temperature=0, seed of the run, max_tokens={tokens}"]
        parts += [f"best of {self.best_of}, others drawn at temperature=1"] * (self.best_of > 1)
        parts += [f"revised {self.revise} times at most: {REVISE!r}"] * bool(self.revise)
        parts += [str(self.adjustment or "asked for a number of words to be fitted")] * self.adjust
        return "|".join(parts)


def default_url() -> str:
    """What the environment says, or OpenAI's own."""
    return os.environ.get(_URL_VARIABLE, "").strip() or _OPENAI
