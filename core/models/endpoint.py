"""A model that others run, behind an endpoint with the API of OpenAI: which one, what it is asked, what it has sent.

How it is asked is in `core/models/endpoint_requests.py`. What it has sent is read with suspicion: it may be
anybody's, and a reply may hold anything. Nothing of it is kept but texts, on one line and without the key, and whole
numbers of a plausible size.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from core.errors import NwsError, RecipeError, SegmentationError
from core.models import ModelRef
from core.models.prompt_template import DEFAULT_PROMPT, PromptTemplate
from core.text.length import require_summary_length
from core.text.rows import cleaned

PREFIX = "openai:"
_URL_VARIABLE, _OPENAI = "OPENAI_BASE_URL", "https://api.openai.com/v1"
USAGE = ("prompt_tokens", "completion_tokens")
BACKEND = ("answered_by", "system_fingerprint")
MOST_TOKENS = 10**9
"""More than any model reads, and few enough to be summed in SQL."""
# Characters of a model's name, or of why it ended.
_MOST_STATED = 200
# From most to least telling: OpenAI's own, those that send an error as text, vLLM's.
_MESSAGES = (("error", "message"), ("error",), ("message",))

Hide = Callable[[str], str]
"""Takes the key out of a text."""


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
        settings = f"temperature=0, seed of the run, max_tokens={self.prompt.tokens_text}"
        return f"{self.model} at {self.url}|prompt={self.prompt.text!r}|{settings}"


def default_url() -> str:
    """What the environment says, or OpenAI's own."""
    return os.environ.get(_URL_VARIABLE, "").strip() or _OPENAI


class UnusableReplyError(NwsError):
    """A reply holds no summary. The message is to follow the name of the endpoint: "sent no JSON"."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply, as it came: status, body, and the header Retry-After, "" without one."""

    status: int
    body: bytes
    retry_after: str


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """What an endpoint wrote for one article.

    Attributes:
        text: on one line.
        extra: what is stored with the summary: `answered_by`, the model as the endpoint calls it in its answer;
            `system_fingerprint`, what it says that runs the model; `finish`, why it ended; `prompt_tokens` and
            `completion_tokens`, what it has counted; of a summary `requests`, which is 1. Any other may be missing.
    """

    text: str
    extra: dict[str, float | str]

    @property
    def tokens(self) -> int:
        """Read and written."""
        return sum(int(self.extra.get(name, 0)) for name in USAGE)


def parsed(body: bytes) -> object:
    """The JSON of a body.

    Raises:
        UnusableReplyError: it is none, or is nested without end.
    """
    try:
        return json.loads(body)
    except RecursionError as error:
        raise UnusableReplyError("sent JSON that is nested too deeply") from error
    except ValueError as error:  # also bytes that are no text, and numbers of thousands of digits
        raise UnusableReplyError(f"sent no JSON ({error})") from error


def read_answer(reply: object, hide: Hide) -> EndpointAnswer:
    """The first answer in a chat completion. What is no name or count in it is left out of `extra`.

    Raises:
        UnusableReplyError: there is none, or one that is no text, is empty, or is too long to be scored.
    """
    message = _at(reply, "choices", 0, "message")
    if not isinstance(message, dict):
        raise UnusableReplyError("sent no chat completion (there is no choices[0].message)")
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise UnusableReplyError(f"sent a message whose content is {type(content).__name__}, not text")
    text = one_line(hide(content or ""))
    extra = read_extra(reply, hide)
    if not text:
        raise UnusableReplyError(f"wrote nothing (finish_reason: {extra.get('finish')})")
    try:
        require_summary_length(text)
    except SegmentationError as error:
        raise UnusableReplyError(f"wrote too much: {error}") from error
    return EndpointAnswer(text, extra)


def read_extra(reply: object, hide: Hide) -> dict[str, float | str]:
    """What a chat completion says of itself, as `EndpointAnswer.extra` has it. What is no name or count is left out."""
    paths = ("model",), ("system_fingerprint",), ("choices", 0, "finish_reason")
    said = {name: _at(reply, *path) for name, path in zip((*BACKEND, "finish"), paths, strict=True)}
    stated = {name: one_line(hide(text))[:_MOST_STATED] for name, text in said.items() if isinstance(text, str)}
    counts = {name: _count(_at(reply, "usage", name)) for name in USAGE}
    known: dict[str, float | str] = {name: value for name, value in stated.items() if value}
    return known | {name: count for name, count in counts.items() if count is not None}


def is_error(reply: object) -> bool:
    """Whether it is an error for all that its status is 200."""
    return isinstance(reply, dict) and bool(reply.get("error")) and not reply.get("choices")


def refusal(reply: Reply) -> str:
    """What an endpoint says that refuses a request."""
    try:
        known = parsed(reply.body)
    except UnusableReplyError:
        known = None
    said = (_at(known, *path) for path in _MESSAGES)
    message = next((text for text in said if isinstance(text, str)), reply.body.decode("utf-8", "replace"))
    message = one_line(message).rstrip(".")
    return f"answered {reply.status}{': ' if message else ''}{message}"


def one_line(text: str) -> str:
    """`text` as a database can keep it, with single spaces."""
    return " ".join(cleaned(text).split())


def _at(value: object, *path: str | int) -> object:
    """What lies at a place of a reply; None where it has another shape."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and len(value) > step else None
    return value


def _count(value: object) -> int | None:
    """A number of tokens; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None
