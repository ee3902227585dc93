"""Articles in, written summaries out: requests to an endpoint, several at a time, with retries."""

import email.utils
import functools
import os
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from core.errors import EndpointError, SegmentationError
from core.summarizers.endpoint import Endpoint
from core.summarizers.prompt_template import most_new_tokens
from core.text.limits import require_summary_length
from core.text.rows import cleaned

_KEY_VARIABLE = "OPENAI_API_KEY"
_SECONDS = httpx.Timeout(120, connect=10)
_ATTEMPTS = 4
_LONGEST_WAIT = 60.0
_BACKOFF = wait_random_exponential(multiplier=1, max=30)
# Characters of an endpoint's message that an error quotes.
_TOLD = 300
_CURES = {
    401: f"Set {_KEY_VARIABLE} to a key of this endpoint where the run's processes start.",
    403: f"Set {_KEY_VARIABLE} to a key that may use this model.",
    404: "Is the model named as the endpoint names it, and is the base URL whole (it often ends in /v1)?",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint wrote for one article.

    Attributes:
        text: on one line.
        extra: what is stored with the summary: `answered_by`, the model as the endpoint calls it in its answer;
            `finish`, why it ended; `prompt_tokens` and `completion_tokens`, what it has counted. Any may be missing.
    """

    text: str
    extra: dict[str, float | str]

    @property
    def tokens(self) -> int:
        """Read and written."""
        return sum(int(self.extra.get(name, 0)) for name in _USAGE)


_USAGE = ("prompt_tokens", "completion_tokens")


class _Passing(EndpointError):
    """A problem that a later attempt may not have. `seconds` is how long the endpoint asks to wait, if it says."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class LoadedEndpoint:
    """An endpoint that has answered once. Call it with articles.

    Attributes:
        tokens: how many tokens it has read and written, as it counts them itself.
        answered_by: the model that answered, as the endpoint calls it; None if it does not say.

    Raises:
        EndpointError: it does not answer, or refuses the key or the model.
    """

    def __init__(self, endpoint: Endpoint, seed: int) -> None:
        self.tokens = 0
        self._endpoint = endpoint
        self._seed = seed
        self._key = _key()
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=_SECONDS,
            limits=httpx.Limits(max_connections=endpoint.concurrency),
        )
        self._answers: dict[tuple[str, int], Answer | EndpointError] = {}
        # So that a wrong key or name ends the run, and does not fail every article.
        greeting = self._post("Hello", 16)
        self.answered_by = _answered_by(greeting) if isinstance(greeting, dict) else None

    def __call__(self, texts: Sequence[str], keys: Sequence[int], asked: Sequence[int]) -> list[Answer]:
        """A summary of each text, in their order, of as many words as `asked`. `keys` are for models that draw.

        Answers are kept while the same articles come again. So if one article fails and the others are sent again
        without it, they are not asked for twice.

        Raises:
            EndpointError: there is none of a text, after all attempts.
        """
        requests = list(zip(texts, asked, strict=True))
        if not {text for text, _ in self._answers}.issuperset(texts):
            self._answers = {}
        missing = [request for request in dict.fromkeys(requests) if request not in self._answers]
        threads = ThreadPoolExecutor(self._endpoint.concurrency)
        try:
            answered = list(threads.map(self._answer, missing))
        finally:  # whoever interrupts does not wait for the rest
            threads.shutdown(wait=False, cancel_futures=True)
        self._answers.update(zip(missing, answered, strict=True))
        self.tokens += sum(answer.tokens for answer in answered if isinstance(answer, Answer))
        answers = []
        for request in requests:
            answer = self._answers[request]
            if isinstance(answer, EndpointError):
                raise EndpointError(str(answer))
            answers.append(answer)
        return answers

    def _answer(self, wanted: tuple[str, int]) -> Answer | EndpointError:
        text, n = wanted
        try:
            return self._read(self._post(self._endpoint.prompt.about(text, n), most_new_tokens(n)))
        except EndpointError as error:
            return error

    def _read(self, reply: Any) -> Answer:
        """The answer in what an endpoint sent."""
        try:
            choice, usage = reply["choices"][0], reply.get("usage") or {}
            text = " ".join(cleaned(str(choice["message"].get("content") or "")).split())
            stated = {"answered_by": _answered_by(reply), "finish": _stated(choice.get("finish_reason"))}
            extra: dict[str, float | str] = {name: value for name, value in stated.items() if value}
            extra |= {name: int(usage[name]) for name in _USAGE if usage.get(name) is not None}
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise self._error(f"sent no chat completion ({error!r})") from error
        if not text:
            raise self._error(f"wrote nothing (finish_reason: {extra.get('finish')})")
        try:
            require_summary_length(text)
        except SegmentationError as error:
            raise self._error(f"wrote too much: {error}") from error
        return Answer(text, extra)

    def _post(self, content: str, max_tokens: int) -> Any:
        """The JSON of a chat completion.

        Raises:
            EndpointError: there was none, after all attempts.
        """
        body = {
            "model": self._endpoint.model,
            "messages": [{"role": "user", "content": content}],
            "temperature": 0,
            "seed": self._seed,
            "max_tokens": max_tokens,
        }
        again = Retrying(
            retry=retry_if_exception_type(_Passing), stop=stop_after_attempt(_ATTEMPTS), wait=_wait, reraise=True
        )
        return again(functools.partial(self._post_once, body))

    def _post_once(self, body: dict[str, Any]) -> Any:
        try:
            response = self._client.post(f"{self._endpoint.url.rstrip('/')}/chat/completions", json=body)
        except httpx.TransportError as error:
            raise _Passing(str(self._error(f"does not answer ({type(error).__name__}: {error})"))) from error
        status = response.status_code
        if status in (408, 409, 429) or status >= 500:
            raise _Passing(str(self._error(_refusal(response))), _retry_after(response))
        if status != 200:
            raise self._error(_refusal(response), _CURES.get(status, ""))
        try:
            return response.json()
        except ValueError as error:
            raise self._error(f"sent no JSON ({error})") from error

    def _error(self, problem: str, cure: str = "") -> EndpointError:
        if self._key:  # some endpoints send it back
            problem = problem.replace(self._key, "[key]")
        asked = f"The endpoint {self._endpoint.url}, asked by {socket.gethostname()} for {self._endpoint.model}"
        return EndpointError(f"{asked}, {problem[:_TOLD]}. {cure}".strip())


def _key() -> str:
    """The key in the environment, "" if there is none: not every endpoint asks for one.

    Raises:
        EndpointError: it cannot be one.
    """
    key = os.environ.get(_KEY_VARIABLE, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise EndpointError(f"{_KEY_VARIABLE} is no key: it has characters that no header may have.")
    return key


def _answered_by(reply: dict[str, Any]) -> str | None:
    """The model that an endpoint says it has answered with."""
    return _stated(reply.get("model"))


def _stated(value: object) -> str | None:
    return cleaned(str(value)) if value else None


def _refusal(response: httpx.Response) -> str:
    """The message of an endpoint that refuses a request."""
    try:
        reply = response.json()
        message = reply["error"]["message"] if isinstance(reply.get("error"), dict) else reply.get("error") or reply
    except (ValueError, LookupError, AttributeError):
        message = response.text
    message = " ".join(cleaned(str(message)).split()).rstrip(".")
    return f"answered {response.status_code}{': ' if message else ''}{message}"


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the header Retry-After asks for (RFC 9110, section 10.2.3); None without a usable one."""
    header = response.headers.get("retry-after", "").strip()
    if header.isdecimal():
        return float(header)
    try:
        return (email.utils.parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None


def _wait(state: RetryCallState) -> float:
    """Seconds until the next attempt: what the endpoint asks for, a minute at most, or longer with each attempt."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, _Passing) and error.seconds is not None:
        return min(max(error.seconds, 0.0), _LONGEST_WAIT)
    return float(_BACKOFF(state))
