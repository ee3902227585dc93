"""A model behind an endpoint with the API of OpenAI: its name, place and parameters, and what is read of its answers.

`core/models/endpoint_requests.py` sends the requests. An endpoint may be broken or hostile, and an answer may hold
anything. So only its text is kept, on one line and without the key, besides short names and plausible counts.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from nws.core.errors import EndpointError, NwsError, RecipeError, SegmentationError
from nws.core.models.generators import DEFAULT_PROMPT, PromptTemplate, most_new_tokens
from nws.core.text.length import UNCUT, length_of, require_summary_length
from nws.core.text.model_outputs import DEFAULT_CLEANING, Cleaning, clean_output, cleaning_mark, joined_parts
from nws.core.text.rows import cleaned
from nws.core.types import AT_MOST, LengthRule

PREFIX = "openai:"
_URL_VARIABLE, _OPENAI = "OPENAI_BASE_URL", "https://api.openai.com/v1"
USAGE: Mapping[str, tuple[str, ...]] = {
    "prompt_tokens": ("prompt_tokens",),
    "completion_tokens": ("completion_tokens",),
    "cached_tokens": ("prompt_tokens_details", "cached_tokens"),
}
"""Where a reply counts tokens in its `usage`: those read, those written, and those read from the server's cache."""
BYTES_PER_TOKEN = 4
"""About, of English."""
LOCAL_DRAFTS, _DRAFT_TEMPERATURE = 4, 0.8
_HERE = ("localhost", "127.0.0.1", "::1")
BACKEND = ("answered_by", "system_fingerprint")
MOST_TOKENS = 10**9
"""The largest count of tokens that is kept: more than any model reads, and few enough to be summed in SQL."""
_MOST_NAME_CHARACTERS = 200
_CUT_THOUGHTS = "ended within its thoughts"
CUT = ("length", "model_length", "max_tokens")
"""The finish_reason of a text that the limit of tokens has cut: OpenAI's and vLLM's, Mistral's, and Anthropic's."""
# The environment variable with the key of an endpoint. What is shorter is a placeholder, such as "none".
KEY_VARIABLE, SHORTEST_KEY = "OPENAI_API_KEY", 8
_OWN = ("model", "messages", "stream", "n")
# What endpoints call the same. A request has one of the names at most, unless people name two.
_TOKENS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens")
_SAME = (_TOKENS, ("seed", "random_seed"))
# In JSON: a name, or a text that begins as keys do.
_SECRET = re.compile(
    r'"(?P<name>[^"]*headers?|[^"]*(?:authorization|credential|password|secret)[^"]*|[^"]*(?:api|access|auth|'
    r'bearer|private)[-_ ]?(?:key|token)[^"]*)":|\bbearer\s+\S{16}|\b(?:sk|gsk|xai|hf)[-_][\w-]{16}',
    re.IGNORECASE,
)


class Question(NamedTuple):
    """A message to a model.

    Attributes:
        text: the message.
        most_tokens: the number of tokens that the model may write.
        seed, temperature: of the request.
        choices: the number of answers.
    """

    text: str
    most_tokens: int
    seed: int
    temperature: float = 0
    choices: int = 1


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A system whose summaries come from an endpoint. The key is no part of it: it would travel and be stored.

    Attributes:
        model: its name at the endpoint.
        url: the base URL, to which `/chat/completions` is added.
        prompt: the instruction.
        concurrency: the number of requests that a process has under way at most. It changes no summary.
        parameters: what is sent in place of, and besides, the parameters that NWS computes, by name
            (`plain_parameters`).
        clean_outputs: what is left out of its answers.
        length: whether it is asked for exactly or at most n, see `nws.core.models.generators.default_prompt`. What is
            longer than n is cut in the end, in any case.
        drafts: how many more answers are asked for, to choose from, where the first does not have the length asked for.

    Raises:
        RecipeError: the URL is none, or holds a user name or a password; the model's name is no text; or a parameter
            cannot be sent or stored.
    """

    model: str
    url: str
    prompt: PromptTemplate = DEFAULT_PROMPT
    concurrency: int = field(default=8, repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)  # a dict has no hash
    clean_outputs: tuple[Cleaning, ...] = DEFAULT_CLEANING
    length: LengthRule = "exactly"
    drafts: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", plain_parameters(self.parameters))
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
        sha256 = hashlib.sha256(json.dumps(self.parameters).encode()).hexdigest()[:8]
        parameters = f"|parameters={sha256}" if self.parameters else ""
        mark = f"|{AT_MOST}" * (self.length == AT_MOST and not self.has_uncut)
        mark += f"|drafts={self.drafts}" * bool(self.drafts) + cleaning_mark(self.clean_outputs)
        return f"{PREFIX}{self.model}|prompt={self.prompt.short_sha256}{parameters}{mark}"

    @property
    def has_uncut(self) -> bool:
        """Whether it writes one summary, of its own length, and not one for each n."""
        return not self.prompt.asks_for_n

    def lengths(self, asked: Sequence[int]) -> Sequence[int]:
        """The lengths that it writes summaries of, of those that a stage asks for: `UNCUT` alone if `has_uncut`."""
        return (UNCUT,) if self.has_uncut else asked

    @property
    def revision(self) -> str:
        """What a run records: all that is sent but the articles. Only the endpoint knows which weights answer."""
        settings = f"temperature=0, seed by run, article, n and draft, max_tokens={self.prompt.tokens_text}"
        settings += f", {self.drafts} drafts at {_DRAFT_TEMPERATURE} where the length is wrong" * bool(self.drafts)
        changed = f", but {json.dumps(self.parameters)}" if self.parameters else ""
        changed += cleaning_mark(self.clean_outputs)
        return f"{self.model} at {self.url}|prompt={self.prompt.text!r}|{settings}{changed}"

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return urlsplit(self.url).hostname in _HERE

    def question(self, article: str, n: int, seed: int, draft: int = 0, choices: int = 1) -> Question:
        """What is asked about an article: for the first answer, at temperature 0, or for drafts from number `draft` on.

        Its seed is made of the run's, the article, n and the draft, so that a text is the same in every run.
        """
        asked = hashlib.blake2b(f"{seed}|{n}|{draft}|{article}".encode("utf-8", "replace"), digest_size=4).digest()
        temperature = _DRAFT_TEMPERATURE if draft else 0
        message, tokens = self.prompt.about(article, n), most_new_tokens(n, self.prompt.unit)
        return Question(message, tokens, int.from_bytes(asked) >> 1, temperature, choices)

    def request(self, question: Question) -> dict[str, Any]:
        """The body of a request, where people's parameters replace those that NWS computes."""
        computed = {"temperature": question.temperature, "seed": question.seed % 2**63}
        computed["max_tokens"] = question.most_tokens
        messages = [{"role": "user", "content": question.text}]
        body = {"model": self.model, "messages": messages, **filled(self.parameters, computed)}
        return body | ({"n": question.choices} if question.choices > 1 else {})

    def is_right(self, answer: "EndpointAnswer", n: int) -> bool:
        """Whether an answer has the length that was asked for, and has ended. One of a model's own length is right."""
        length = length_of(answer.text, self.prompt.unit)
        if n == UNCUT or self.length == "free":
            return not answer.problem
        if answer.extra.get("finish") in CUT:
            return False
        is_exact = self.length == "exactly" and self.prompt.unit == "words"
        return length == n if is_exact else 0 < length <= n

    def chosen(self, answers: "Sequence[EndpointAnswer]", n: int) -> "EndpointAnswer":
        """The answer that is taken, with the tokens of all and, of an n, the length of the first and how many followed.

        It is the first of the right length; for at most n the longest of these; else the nearest in length.

        Args:
            answers: the first one, and drafts if there are any.
            n: the number of words or characters that was asked for; `UNCUT` for none.
        """

        def miss(answer: EndpointAnswer) -> tuple[bool, int]:
            over = length_of(answer.text, self.prompt.unit) - n
            return not self.is_right(answer, n), abs(over)

        taken = min((answer for answer in answers if not answer.problem), key=miss, default=answers[0])
        counts: dict[str, float | str] = {
            name: sum(int(answer.extra[name]) for answer in answers if name in answer.extra)
            for name in (*USAGE, "requests")
            if any(name in answer.extra for answer in answers)
        }
        if n != UNCUT:
            counts[f"{self.prompt.unit}_first"] = length_of(answers[0].text, self.prompt.unit)
            counts["drafts"] = len(answers) - 1
        return replace(taken, extra=taken.extra | counts, seconds=sum(answer.seconds for answer in answers))


def default_url() -> str:
    """The base URL in the environment, or OpenAI's own."""
    return os.environ.get(_URL_VARIABLE, "").strip() or _OPENAI


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """What an endpoint wrote for one message.

    Attributes:
        text: on one line; "" where there is a `problem`.
        extra: what is stored with the text: `answered_by`, the model's name in the answer; `system_fingerprint`;
            `finish`, why the text ended; `raw_text` where something was left out; of the first answer of a reply the
            tokens in `USAGE`, and `requests`, which is 1. What the endpoint does not state is missing.
        problem: why the answer holds no text that can be kept, to follow the endpoint's name: "wrote nothing".
        seconds: that the request took.
    """

    text: str
    extra: dict[str, float | str]
    problem: str = ""
    seconds: float = 0.0

    @property
    def cure(self) -> str:
        """What helps where there is a `problem`: "" if nothing is known to."""
        is_cut = self.problem.startswith(_CUT_THOUGHTS) or self.extra.get("finish") in CUT
        return "Raise max_tokens under `parameters` of the endpoint." if self.problem and is_cut else ""


Answered: TypeAlias = EndpointAnswer | EndpointError
"""An answer, or why there is none."""
Summaries: TypeAlias = Mapping[int, Answered]
"""By n (`UNCUT` for none), the answer that is taken."""


class UnusableReplyError(NwsError):
    """A reply is no chat completion. The message follows the name of the endpoint: "sent no JSON"."""


def read_answers(
    body: bytes, hide_key: Callable[[str], str], clean_outputs: Sequence[Cleaning] = ()
) -> list[EndpointAnswer]:
    """The choices of a chat completion in JSON, at least one, without what `clean_outputs` names.

    Raises:
        UnusableReplyError: the body is no chat completion.
    """
    try:
        reply = json.loads(body)
    except RecursionError as error:
        raise UnusableReplyError("sent JSON that is nested too deeply") from error
    except ValueError as error:  # also bytes that are no text, and numbers of thousands of digits
        raise UnusableReplyError(f"sent no JSON ({error})") from error
    choices = _value_at(reply, "choices")
    messages = [_value_at(choice, "message") for choice in choices] if isinstance(choices, list) else []
    if not messages or not isinstance(messages[0], dict):
        reason = error_message(reply) or "there is no choices[0].message"
        raise UnusableReplyError(f"sent no chat completion ({reason})")
    usage = {name: count for name, path in USAGE.items() if (count := _count_at(reply, "usage", *path)) is not None}
    if usage.get("cached_tokens", 0) > usage.get("prompt_tokens", 0):
        del usage["cached_tokens"]
    of_reply = {"requests": 1, **usage}
    return [
        _read(message, _names(reply, place, hide_key) | (of_reply if place == 0 else {}), hide_key, clean_outputs)
        for place, message in enumerate(messages)
    ]


def _read(
    message: object, extra: dict[str, float | str], hide_key: Callable[[str], str], clean_outputs: Sequence[Cleaning]
) -> EndpointAnswer:
    """The answer in the message of a choice."""
    content = joined_parts(_value_at(message, "content"))
    if content is not None and not isinstance(content, str):
        return EndpointAnswer("", extra, f"sent a message whose content is {type(content).__name__}, not text")
    summary, raw = clean_output(hide_key(content or ""), clean_outputs)
    if summary is None:
        return EndpointAnswer("", extra, f"{_CUT_THOUGHTS} (finish_reason: {extra.get('finish')})")
    text, extra = one_line(summary), extra | raw
    if extra.get("finish") == "content_filter":
        return EndpointAnswer("", extra, "was stopped by its content filter")
    if not text:
        return EndpointAnswer("", extra, f"wrote nothing (finish_reason: {extra.get('finish')})")
    try:
        require_summary_length(text)
    except SegmentationError as error:
        return EndpointAnswer("", extra, f"wrote too much: {error}")
    return EndpointAnswer(text, extra)


def error_message(reply: object) -> str:
    """The message in the body of an error; "" if there is none.

    It stands where OpenAI, vLLM, FastAPI, Gemini or Mistral write it, and is text, or the fields that FastAPI refuses.
    """
    places = ("error", "message"), ("error",), ("message",), ("detail",), ("error", 0, "error", "message")
    for path in (*places, ("error", "message", "detail"), ("error", "detail"), ("message", "detail")):
        said = _value_at(reply, *path)
        if isinstance(said, list):
            fields = [(_value_at(part, "loc"), _value_at(part, "msg")) for part in said]
            said = "; ".join(f"{'.'.join(map(str, loc))}: {msg}" for loc, msg in fields if isinstance(loc, list))
        if isinstance(said, str) and said:
            return said
    return ""


def one_line(text: str) -> str:
    """`text` as a database can keep it, with single spaces."""
    return " ".join(cleaned(text).split())


def _names(reply: object, place: int, hide_key: Callable[[str], str]) -> dict[str, float | str]:
    """The names that a chat completion gives to what has answered, and why a choice has ended."""
    paths = ("model",), ("system_fingerprint",), ("choices", place, "finish_reason")
    stated = {name: _value_at(reply, *path) for name, path in zip((*BACKEND, "finish"), paths, strict=True)}
    texts = {name: one_line(hide_key(text)) for name, text in stated.items() if isinstance(text, str)}
    return {name: text[:_MOST_NAME_CHARACTERS] for name, text in texts.items() if text}


def _count_at(value: object, *path: str) -> int | None:
    """The plausible count at a place of a reply."""
    count = _value_at(value, *path)
    if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count <= MOST_TOKENS:
        return None
    return int(count) if count == int(count) else None


def _value_at(value: object, *path: str | int) -> object:
    """The value at a place of a reply; None where the reply has another shape."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and len(value) > step else None
    return value


def plain_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that people name, in plain JSON and in alphabetical order.

    What stands in `extra_body`, as for the client of `openai`, stands beside the others.

    Raises:
        RecipeError: a value is no JSON, NWS sets the parameter itself, or it looks like a secret, which would be
            stored.
    """
    extra = given.get("extra_body") or {}
    if not isinstance(extra, Mapping):
        raise RecipeError(f"extra_body holds parameters by their names, such as {{top_k: 20}}, not {extra!r}.")
    parameters = {name: value for name, value in given.items() if name != "extra_body"} | dict(extra)
    try:
        text = json.dumps(parameters, allow_nan=False, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise RecipeError(f"an endpoint's parameters are sent as JSON, which these cannot be: {error}.") from error
    if cleaned(text) != text or r"\u0000" in text:
        raise RecipeError("an endpoint's parameters hold a NUL, or bytes that are no UTF-8.")
    if own := [name for name in _OWN if name in parameters]:
        raise RecipeError(f"{own[0]} is set by NWS itself: take it out of the endpoint's parameters.")
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if (found := _SECRET.search(text)) or (len(key) >= SHORTEST_KEY and key in text):
        named = repr(found["name"]) if found and found["name"] else "a parameter"
        raise RecipeError(f"{named} looks like a header or a key, which may not be stored: take it out of parameters.")
    return dict(json.loads(text))


def filled(parameters: Mapping[str, Any], computed: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent: the parameters that NWS computes, as people's `parameters` change them.

    One of theirs replaces the computed one of its name, or of another name for the same. None leaves it out, and the
    name of a computed one (`max_completion_tokens: max_tokens`) stands for its value, which has no other name then.
    """
    stated = {name for name, value in parameters.items() if value is not None}
    replaced = {name for names in _SAME if stated & {*names} for name in names}
    replaced |= {value for value in parameters.values() if isinstance(value, str)}
    sent = {name: value for name, value in computed.items() if name not in replaced}
    sent |= {name: computed.get(v, v) if isinstance(v, str) else v for name, v in parameters.items()}
    return {name: value for name, value in sent.items() if value is not None}


def token_limit(sent: Mapping[str, Any]) -> int | None:
    """How many tokens a request lets a model write; None where it does not say."""
    return next((sent[name] for name in _TOKENS if isinstance(sent.get(name), int)), None)


def advice_on(refusal: str, sent: Mapping[str, Any]) -> str:
    """How to send a request that is not refused, if the refusal names one of its parameters; else "".

    Args:
        refusal: what the endpoint says.
        sent: all of the request, by name.
    """
    named = next((word for word in re.findall(r"\w+", refusal) if word in sent and word not in _OWN), None)
    if named is None:
        return ""
    return (
        f'Set "parameters: {{{named}: null}}" of the endpoint to leave it out, or {{NEW_NAME: {named}}} to send it '
        "under another name."
    )
