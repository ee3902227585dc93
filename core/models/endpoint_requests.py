"""Articles in, written summaries out: requests to an endpoint, several at a time, with retries.

An endpoint may be broken, or hostile. Each attempt has a deadline from the first byte to the last, and a request one
for all its attempts; a reply has a largest size and is never unpacked; no redirect is followed.
"""

import asyncio
import contextlib
import functools
import logging
import os
import socket
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar, cast

import httpx
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from core.errors import EndpointError
from core.models.endpoint import (
    Endpoint,
    EndpointAnswer,
    Reply,
    UnusableReplyError,
    is_error,
    one_line,
    parsed,
    read_answer,
    read_extra,
    refusal,
)
from core.models.prompt_template import most_new_tokens

_KEY_VARIABLE = "OPENAI_API_KEY"
_CONNECT_SECONDS = 10.0
# Of one attempt, whole; and of a request, before its last attempt begins.
_SECONDS, _ALL_SECONDS = 120.0, 240.0
_ATTEMPTS = 4
_LONGEST_WAIT = 60.0
_BACKOFF = wait_random_exponential(multiplier=1, max=30)
# Of a reply. The longest summary that can be scored has 100,000 characters: as JSON 0.6 MB, if all are escaped.
_MOST_BYTES = 4 * 2**20
# Of the reply of an endpoint that refuses.
_MOST_REFUSAL_BYTES = 64 * 2**10
# Characters of an endpoint's message that an error quotes.
_TOLD = 300
# A shorter key is a placeholder, such as "none" or "EMPTY", and may be a word of a summary.
_SHORTEST_KEY, _SHORTEST_WORD_KEY = 8, 16
# What is under way is cancelled at once; a name that is being looked up is not waited for.
_CLOSING_SECONDS = 1.0
_MOVED = "It sends requests elsewhere, and NWS does not follow: is the base URL the one that it should be?"
_CURES = {
    401: f"Set {_KEY_VARIABLE} to a key of this endpoint where the run's processes start.",
    403: f"Set {_KEY_VARIABLE} to a key that may use this model.",
    404: "Is the model named as the endpoint names it, and is the base URL whole (it often ends in /v1)?",
    **dict.fromkeys((301, 302, 303, 307, 308), _MOVED),
}

# They log what an endpoint sends, and it may send the key.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)

_T = TypeVar("_T")
# What asks an endpoint for one answer.
Ask: TypeAlias = Callable[[httpx.AsyncClient], Awaitable[EndpointAnswer]]
Heard: TypeAlias = Callable[[int, EndpointAnswer | EndpointError], None]
"""Is told each answer at once, with its place among the questions, in the thread that asks. What it raises ends all."""


@dataclass(frozen=True, slots=True)
class Question:
    """A message for a model that is no prompt for a summary.

    Attributes:
        text: all of the message.
        most_tokens: how many the model may write.
    """

    text: str
    most_tokens: int


class _PassingError(EndpointError):
    """A problem that a later attempt may not have. `seconds` is how long the endpoint asks to wait, if it says."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class LoadedEndpoint:
    """An endpoint that has answered once. Call it with articles.

    Attributes:
        tokens: how many tokens it has read and written, as it counts them itself.

    Raises:
        EndpointError: it does not answer, or refuses the key or the model.
    """

    def __init__(self, endpoint: Endpoint, seed: int) -> None:
        self.tokens = 0
        self._endpoint = endpoint
        self._seed = seed
        self._key = _key()
        self._tls = httpx.create_ssl_context()
        self._answers: dict[tuple[str, int], EndpointAnswer | EndpointError] = {}
        # So that a wrong key or name ends the run, and does not fail every article.
        _run(self._greet())

    def __call__(self, texts: Sequence[str], keys: Sequence[int], asked: Sequence[int]) -> list[EndpointAnswer]:
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
        answered = self._all([functools.partial(self._summary, text=text, n=n) for text, n in missing])
        self._answers.update(zip(missing, answered, strict=True))
        answers = []
        for request in requests:
            answer = self._answers[request]
            if isinstance(answer, EndpointError):
                raise EndpointError(str(answer))
            answers.append(answer)
        return answers

    def complete(self, questions: Sequence[Question], heard: Heard) -> None:
        """Ask all questions, several at once, and tell each answer as it comes. The endpoint's prompt is not used.

        An answer without a text that can be kept has the text "", and in `extra` the `problem`. It was paid for, too.
        """

        def ask(question: Question) -> Ask:
            async def answer(client: httpx.AsyncClient) -> EndpointAnswer:
                reply = await self._post(client, question.text, question.most_tokens)
                try:
                    return read_answer(reply, self._without_key)
                except UnusableReplyError as error:
                    problem = one_line(self._without_key(str(error)))[:_TOLD]
                    return EndpointAnswer("", {**read_extra(reply, self._without_key), "problem": problem})

            return answer

        self._all(list(map(ask, questions)), heard)

    def _all(
        self, asks: Sequence[Ask], heard: Heard = lambda place, answer: None
    ) -> list[EndpointAnswer | EndpointError]:
        """What each gets, or why it gets nothing; several are under way at once."""
        answered = _run(self._gather(asks, heard)) if asks else []
        self.tokens += sum(answer.tokens for answer in answered if isinstance(answer, EndpointAnswer))
        return answered

    def _client(self) -> httpx.AsyncClient:
        authorization = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return httpx.AsyncClient(
            headers={"Accept-Encoding": "identity", **authorization},
            verify=self._tls,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=self._endpoint.concurrency),
        )

    async def _greet(self) -> object:
        async with self._client() as client:
            return await self._post(client, "Hello", 16)

    async def _gather(self, asks: Sequence[Ask], heard: Heard) -> list[EndpointAnswer | EndpointError]:
        free = asyncio.Semaphore(self._endpoint.concurrency)

        async def answer(client: httpx.AsyncClient, place: int, ask: Ask) -> EndpointAnswer | EndpointError:
            found: EndpointAnswer | EndpointError
            async with free:
                try:
                    found = await ask(client)
                except UnusableReplyError as error:
                    found = self._error(str(error))
                except EndpointError as error:
                    found = error
            heard(place, found)
            return found

        async with self._client() as client:
            tasks = [asyncio.ensure_future(answer(client, place, ask)) for place, ask in enumerate(asks)]
            try:
                return await asyncio.gather(*tasks)
            finally:  # of what `heard` has raised
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _summary(self, client: httpx.AsyncClient, text: str, n: int) -> EndpointAnswer:
        """What the model writes of a text that is asked for `n` words.

        Raises:
            EndpointError: there was no answer, after all attempts.
            UnusableReplyError: the answer holds no summary.
        """
        prompt = self._endpoint.prompt
        reply = await self._post(client, prompt.about(text, n), most_new_tokens(n, prompt.unit))
        answer = read_answer(reply, self._without_key)
        return replace(answer, extra={**answer.extra, "requests": 1})

    async def _post(self, client: httpx.AsyncClient, content: str, max_tokens: int) -> object:
        """The JSON of a chat completion for one message.

        Raises:
            EndpointError: there was none, after all attempts.
        """
        body = {
            "model": self._endpoint.model,
            "messages": [{"role": "user", "content": content}],
            "temperature": 0,
            "seed": self._seed % 2**63,
            "max_tokens": max_tokens,
        }
        again = AsyncRetrying(
            retry=retry_if_exception_type(_PassingError),
            stop=stop_after_attempt(_ATTEMPTS) | stop_before_delay(_ALL_SECONDS),
            wait=_wait,
            reraise=True,
        )
        return await again(self._post_once, client, body)

    async def _post_once(self, client: httpx.AsyncClient, body: dict[str, Any]) -> object:
        reply = await self._exchange(client, body)
        if reply.status in (408, 409, 429) or reply.status >= 500:
            seconds = float(reply.retry_after) if reply.retry_after.strip().isdecimal() else None  # may be infinite
            raise _PassingError(str(self._error(refusal(reply))), seconds)
        if reply.status != 200:
            raise self._error(refusal(reply), _CURES.get(reply.status, ""))
        try:
            found = parsed(reply.body)
        except UnusableReplyError as error:
            raise self._error(str(error)) from error
        if is_error(found):
            raise self._error(refusal(reply))
        return found

    async def _exchange(self, client: httpx.AsyncClient, body: dict[str, Any]) -> Reply:
        """One attempt: what came back, whatever it is."""
        url = f"{self._endpoint.url.rstrip('/')}/chat/completions"
        try:
            async with asyncio.timeout(_SECONDS), client.stream("POST", url, json=body) as response:
                return await self._received(response)
        except TimeoutError as error:
            raise _PassingError(str(self._error(f"does not answer in full within {_SECONDS:g} s"))) from error
        except (httpx.TransportError, UnicodeError) as error:  # the latter of a host that no name can be
            raise _PassingError(str(self._error(f"does not answer ({type(error).__name__}: {error})"))) from error

    async def _received(self, response: httpx.Response) -> Reply:
        refuses = response.status_code != 200
        most = _MOST_REFUSAL_BYTES if refuses else _MOST_BYTES
        received = bytearray()
        async with contextlib.aclosing(cast("AsyncGenerator[bytes, None]", response.aiter_raw())) as chunks:
            async for chunk in chunks:
                received += chunk
                if len(received) > most:
                    break
        packed = response.headers.get("content-encoding", "identity").strip().lower() or "identity"
        if packed != "identity" and not refuses:  # a small one may unpack to gigabytes
            raise self._error(f"has packed its answer ({packed}), which it was asked not to do")
        if len(received) > most and not refuses:
            raise self._error(f"sent more than {most // 2**20} MiB")
        told = b"" if packed != "identity" else bytes(received[:most])
        return Reply(response.status_code, told, response.headers.get("retry-after", ""))

    def _without_key(self, text: str) -> str:
        """A text that is stored, without the key, which some endpoints send back."""
        shortest = _SHORTEST_WORD_KEY if self._key.isalpha() else _SHORTEST_KEY
        return text.replace(self._key, "[key]") if len(self._key) >= shortest else text

    def _error(self, problem: str, cure: str = "") -> EndpointError:
        problem = one_line(problem.replace(self._key, "[key]") if self._key else problem)
        asked = f"The endpoint {self._endpoint.url}, asked by {socket.gethostname()} for {self._endpoint.model}"
        return EndpointError(f"{asked}, {problem[:_TOLD]}. {cure}".strip())


def _run(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end in a thread of its own, since the caller's may have a loop, as a notebook's has.

    An interrupt cancels it, and the thread is a daemon: nobody waits for an endpoint that does not end.
    """
    loop = asyncio.new_event_loop()

    def serve() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:  # which cancels what is left
            runner.get_loop().run_forever()

    thread = threading.Thread(target=serve, name="requests to an endpoint", daemon=True)
    thread.start()
    done = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        return done.result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSING_SECONDS)


def _key() -> str:
    """The key in the environment, "" if there is none: not every endpoint asks for one.

    Raises:
        EndpointError: it cannot be one.
    """
    key = os.environ.get(_KEY_VARIABLE, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise EndpointError(f"{_KEY_VARIABLE} is no key: it has characters that no header may have.")
    return key


def _wait(state: RetryCallState) -> float:
    """Seconds until the next attempt: what the endpoint asks for, a minute at most, or longer with each attempt."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, _PassingError) and error.seconds is not None:
        return min(max(error.seconds, 0.0), _LONGEST_WAIT)
    return float(_BACKOFF(state))
