"""Requests to an endpoint by the client of `openai`: several at a time, each bounded in time and in size.

This module imports `openai`, which takes more than a second, so it is imported where an endpoint is used.
"""

import asyncio
import contextlib
import functools
import itertools
import logging
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import httpx2
import openai

from nws.core.article import Article
from nws.core.errors import EndpointError
from nws.core.models.endpoint import (
    KEY_VARIABLE,
    SHORTEST_KEY,
    Answered,
    Endpoint,
    EndpointAnswer,
    Question,
    Summaries,
    UnusableReplyError,
    advice_on,
    error_message,
    one_line,
    read_answers,
)

_CONNECT_SECONDS = 10.0
_ATTEMPT_SECONDS = 120.0
_REQUEST_SECONDS = 360.0  # all attempts, and the pauses between them
_RETRIES = 3
# The longest summary that can be scored has 100,000 characters: as JSON 0.6 MB, if all are escaped.
_MOST_BYTES = 4 * 2**20
_MOST_REFUSAL_BYTES = 64 * 2**10
_MOST_ERROR_CHARACTERS = 300
# A shorter key of letters alone may be a word of a summary.
_SHORTEST_WORD_KEY = 16
# Requests under way are cancelled at once; a name that is being looked up is not waited for.
_CLOSING_SECONDS = 1.0
# After so many seconds without an answer the caller gets None, and may do other work.
_MOMENT = 0.5
# With these codes a server refuses several answers to one request; NWS then asks for one at a time.
_REFUSED = (400, 404, 405, 422, 501)
_MOVED = "It sends requests elsewhere, and NWS does not follow: is the base URL the one that it should be?"
_WHOLE_URL = "Is the base URL whole (it often ends in /v1)?"
_CURES = {
    401: f"Set {KEY_VARIABLE} to a key of this endpoint where the run's processes start.",
    403: f"Set {KEY_VARIABLE} to a key that may use this model.",
    429: "",  # too many tokens a minute are no parameter's fault
    404: f"Is the model named as the endpoint names it? {_WHOLE_URL}",
    **dict.fromkeys((301, 302, 303, 307, 308), _MOVED),
}

# They log what an endpoint sends, and it may send the key.
for _name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)

_T = TypeVar("_T")
_Done: TypeAlias = "queue.SimpleQueue[tuple[Article, Future[Summaries]]]"


class _RefusedError(EndpointError):
    """The endpoint does not take a request as it is."""


class _OversizedReplyError(openai.OpenAIError):
    """A reply is too large, or packed. The client of `openai` raises its own kind of error at once, without a retry."""


class _BoundedClient(httpx2.AsyncClient):
    """An HTTP client that reads a reply whole: its first bytes, in limited time, neither unpacked nor redirected.

    Of the headers only Retry-After is passed on: no other one shall decide how a reply is read, or where it leads.
    """

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """The reply to a request.

        Raises:
            httpx2.TransportError: there was none, or not all of it within the time of an attempt.
            openai.OpenAIError: it is too large, or packed.
        """
        options |= {"stream": True, "follow_redirects": False}
        try:
            async with asyncio.timeout(_ATTEMPT_SECONDS):
                response = await super().send(request, **options)
                try:
                    body = await _read(response)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise httpx2.ReadTimeout(f"no whole answer within {_ATTEMPT_SECONDS:g} s", request=request) from error
        headers = {"retry-after": pause} if (pause := response.headers.get("retry-after")) else {}
        return httpx2.Response(response.status_code, headers=headers, content=body, request=request)


async def _read(response: httpx2.Response) -> bytes:
    """The body of a reply; of one that refuses its first bytes, and nothing that is packed."""
    refuses = response.status_code != 200
    packing = response.headers.get("content-encoding", "").strip().lower() or "identity"
    if packing != "identity":  # a small reply may unpack to gigabytes
        if refuses:
            return b""
        raise _OversizedReplyError(f"has packed its answer ({packing}), which it was asked not to do")
    limit = _MOST_REFUSAL_BYTES if refuses else _MOST_BYTES
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > limit:
            break
    if len(body) > limit and not refuses:
        raise _OversizedReplyError(f"sent more than {limit // 2**20} MiB")
    return bytes(body[:limit])


class LoadedEndpoint:
    """An endpoint that has answered once. It writes summaries of articles, or is asked questions.

    Raises:
        EndpointError: it does not answer, or refuses the key or the model.
    """

    def __init__(self, endpoint: Endpoint, seed: int) -> None:
        self._endpoint = endpoint
        self._seed = seed
        self._key = _environment_key()
        self._tls = httpx2.create_ssl_context()
        self._takes_several = True  # answers in a reply, until it refuses that
        # So that a wrong key or name ends the run, and does not fail every article.
        (greeting,) = self.ask([Question("Hello", 16, seed)])
        if isinstance(greeting, EndpointError):
            raise greeting

    def write(self, asked: Iterable[tuple[Article, Sequence[int]]]) -> Iterator[tuple[Article, Summaries] | None]:
        """Summaries of articles, each with its lengths: an article once it has all, in the order in which that happens.

        As many articles are under way as requests may be. Of each, the first request goes out alone, so that the
        others find its text in the endpoint's cache. None comes where nothing has come for a moment.

        Args:
            asked: articles, each with the values of n (`UNCUT` for none). They are pulled as they are needed.
        """
        source, under_way = iter(asked), 0
        done: _Done = queue.SimpleQueue()
        with _loop() as loop, self._closing_client(loop) as client:
            free = asyncio.Semaphore(self._endpoint.concurrency)
            while True:
                for article, lengths in itertools.islice(source, self._endpoint.concurrency - under_way):
                    answers = self._summaries(client, free, article.text, lengths)
                    future = asyncio.run_coroutine_threadsafe(answers, loop)
                    future.add_done_callback(functools.partial(_put, done, article))
                    under_way += 1
                if not under_way:
                    return
                try:
                    article, answered = done.get(timeout=_MOMENT)
                except queue.Empty:
                    yield None
                    continue
                under_way -= 1
                yield article, answered.result()

    @contextlib.contextmanager
    def _closing_client(self, loop: asyncio.AbstractEventLoop) -> Iterator[openai.AsyncOpenAI]:
        """A client for a loop in another thread. Its connections are closed at the end, if that takes no time."""
        client = self._client()
        try:
            yield client
        finally:
            with contextlib.suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(client.close(), loop).result(_CLOSING_SECONDS)

    async def _summaries(
        self, client: openai.AsyncOpenAI, free: asyncio.Semaphore, text: str, lengths: Sequence[int]
    ) -> Summaries:
        first = [await self._summary(client, free, text, n) for n in lengths[:1]]
        others = await asyncio.gather(*(self._summary(client, free, text, n) for n in lengths[1:]))
        return dict(zip(lengths, first + others, strict=True))

    async def _summary(self, client: openai.AsyncOpenAI, free: asyncio.Semaphore, text: str, n: int) -> Answered:
        """The answer that is taken for n: the first one, or one of the drafts that follow if its length is wrong."""
        endpoint = self._endpoint
        try:
            answers = await self._asked(client, free, endpoint.question(text, n, self._seed))
        except EndpointError as error:
            return error
        several = endpoint.drafts if self._takes_several else 1
        while len(answers) <= endpoint.drafts and not any(endpoint.is_right(answer, n) for answer in answers):
            question = endpoint.question(text, n, self._seed, len(answers), several)
            try:
                answers += await self._asked(client, free, question)
            except EndpointError as error:
                if several == 1:
                    break  # the first answer is there
                self._takes_several = self._takes_several and not isinstance(error, _RefusedError)
            several = 1
        taken = endpoint.chosen(answers, n)
        return self._error(taken.problem, taken.cure) if taken.problem else taken

    def ask(
        self, questions: Sequence[Question], on_answer: Callable[[int, Answered], None] = lambda place, answer: None
    ) -> list[Answered]:
        """The answers to questions, in their order. Several are asked at once. The endpoint's prompt is not used.

        Args:
            questions: any number.
            on_answer: is called with each answer as it comes, and its place among the questions, in the thread that
                asks. What it raises ends all.
        """
        return _run(self._ask_all(questions, on_answer)) if questions else []

    async def _ask_all(
        self, questions: Sequence[Question], on_answer: Callable[[int, Answered], None]
    ) -> list[Answered]:
        free = asyncio.Semaphore(self._endpoint.concurrency)

        async def answer(client: openai.AsyncOpenAI, place: int, question: Question) -> Answered:
            answered: Answered
            try:
                answered, *_ = await self._asked(client, free, question)
            except EndpointError as error:
                answered = error
            on_answer(place, answered)
            return answered

        async with self._client() as client:
            tasks = [asyncio.ensure_future(answer(client, *numbered)) for numbered in enumerate(questions)]
            try:
                return await asyncio.gather(*tasks)
            finally:  # of what `on_answer` has raised
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _asked(
        self, client: openai.AsyncOpenAI, free: asyncio.Semaphore, question: Question
    ) -> list[EndpointAnswer]:
        """The answers to a question, at least one, once a request is `free`.

        Raises:
            EndpointError: there was none, after all attempts.
        """
        async with free:
            began = time.perf_counter()
            first, *others = (await self._ask(client, question))[: question.choices]
            return [replace(first, seconds=time.perf_counter() - began), *others]

    def _client(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=self._endpoint.url,
            max_retries=_RETRIES,
            timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
            default_headers={"Accept-Encoding": "identity"},
            http_client=_BoundedClient(
                verify=self._tls, limits=httpx2.Limits(max_connections=self._endpoint.concurrency)
            ),
        )

    async def _ask(self, client: openai.AsyncOpenAI, question: Question) -> list[EndpointAnswer]:
        """The answers to a question, at least one.

        Raises:
            EndpointError: there was none, after all attempts. It has no cause: that one might hold the key.
        """
        body = self._endpoint.request(question)
        headers = {} if self._key else {"Authorization": openai.Omit()}
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                reply = await client.chat.completions.with_raw_response.create(
                    model=body["model"], messages=body["messages"], extra_body=body, extra_headers=headers
                )
            return read_answers(reply.content, self._without_key, self._endpoint.clean_outputs)
        except openai.APIStatusError as error:
            reason = one_line(error_message({"error": error.body}) or error.response.text)
            problem = f"answered {error.status_code}" + (f": {reason}" if reason else "")
            kind = _RefusedError if error.status_code in _REFUSED else EndpointError
            raise self._error(problem, _CURES.get(error.status_code, advice_on(reason, body)), kind) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise self._error(f"does not answer ({type(cause).__name__}: {cause})") from None
        except TimeoutError:
            problem = f"does not answer within {_REQUEST_SECONDS:g} s, all attempts together"
            cure = "If it answers only a few requests at a time, set a lower `concurrency` of the endpoint."
            raise self._error(problem, cure) from None
        except (openai.OpenAIError, UnusableReplyError) as error:
            is_page = str(error).startswith("sent no JSON")  # such as that of a web interface
            cure = _WHOLE_URL if is_page else advice_on(str(error), body)
            raise self._error(str(error), cure) from None
        except (httpx2.InvalidURL, UnicodeError) as error:  # of a host that no name can be
            raise self._error(f"cannot be asked ({error})") from None

    def _without_key(self, text: str) -> str:
        """A text that is stored, without the key, which some endpoints send back."""
        shortest = _SHORTEST_WORD_KEY if self._key.isalpha() else SHORTEST_KEY
        return text.replace(self._key, "[key]") if len(self._key) >= shortest else text

    def _error(self, problem: str, cure: str = "", kind: type[EndpointError] = EndpointError) -> EndpointError:
        problem = one_line(problem.replace(self._key, "[key]") if self._key else problem)[:_MOST_ERROR_CHARACTERS]
        endpoint = f"The endpoint {self._endpoint.url}, asked by {socket.gethostname()} for {self._endpoint.model}"
        named = tuple(name for name in ("parameters", "concurrency") if name in cure)
        return kind(f"{endpoint}, {problem.rstrip('.')}. {cure}".strip(), settings=(*named, "set") if named else ())


def _put(done: "_Done", article: Article, future: "Future[Summaries]") -> None:
    done.put((article, future))


def _run(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end in a thread of its own, since the caller's may have a loop, as a notebook's has."""
    with _loop() as loop:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()


@contextlib.contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread of its own. The end of the block cancels what it still runs.

    The thread is a daemon: nobody waits for an endpoint that does not end.
    """
    loop = asyncio.new_event_loop()

    def serve() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.get_loop().run_forever()

    thread = threading.Thread(target=serve, name="requests to an endpoint", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSING_SECONDS)


def _environment_key() -> str:
    """The key in the environment, "" if there is none: not every endpoint asks for one.

    Raises:
        EndpointError: it cannot be a key.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise EndpointError(f"{KEY_VARIABLE} is no key: it has characters that no header may have.")
    return key
