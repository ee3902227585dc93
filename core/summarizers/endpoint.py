"""A model that others run, behind an endpoint with the API of OpenAI: which one, and what it is asked.

How it is asked is in `core/summarizers/endpoint_requests.py`.
"""

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from core.errors import RecipeError
from core.models import ModelRef
from core.summarizers.prompt_template import DEFAULT_PROMPT, PromptTemplate, most_new_tokens, most_new_tokens_text
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

    Raises:
        RecipeError: the URL is none, or holds a user name or a password; or the model's name is no text.
    """

    model: str
    url: str
    prompt: PromptTemplate = DEFAULT_PROMPT
    concurrency: int = field(default=8, repr=False)

    def __post_init__(self) -> None:
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
        return f"{PREFIX}{self.model}|prompt={self.prompt.short_sha256}"

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
        settings = f"temperature=0, seed of the run, max_tokens={tokens}"
        return f"{self.model} at {self.url}|prompt={self.prompt.text!r}|{settings}"


def default_url() -> str:
    """What the environment says, or OpenAI's own."""
    return os.environ.get(_URL_VARIABLE, "").strip() or _OPENAI
