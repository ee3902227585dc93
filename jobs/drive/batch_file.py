"""Summaries by OpenAI's Batch API, which others speak, too: requests in one file, and the answers in another.

A request's `custom_id` is made of all that is asked, so that answers to other requests are not taken for its own.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nws.core.article import Article
from nws.core.errors import CorpusError, EndpointError, RecipeError
from nws.core.models.endpoint import Endpoint, EndpointAnswer, UnusableReplyError, advice_on, read_answer
from nws.core.models.generators import most_new_tokens
from nws.core.stage import Stage
from nws.core.text.length import UNCUT
from nws.core.text.reader import read_rows

_URL = "/v1/chat/completions"
# Anthropic's batches take 64 characters, and only these.
_NO_ID, _MOST_KEY_CHARACTERS = re.compile(r"[^\w-]", re.ASCII), 24


def batch_requests(articles: Iterable[Article], stage: Stage) -> Iterator[dict[str, Any]]:
    """The lines of a file of requests for all summaries of articles.

    Raises:
        RecipeError: the system is none behind an endpoint.
    """
    for custom_id, _, body in _requests(articles, stage):
        yield {"custom_id": custom_id, "method": "POST", "url": _URL, "body": body}


class BatchAnswers:
    """The answers in a file of results, in any order. It is called with articles, as `LoadedEndpoint` is.

    Args:
        path: OpenAI's output, error file, or both in one.
        articles: all that were asked about.
        stage: the endpoint, and what it was asked for.

    Raises:
        CorpusError: a line is no result, or is one of another request.
        RecipeError: the system is none behind an endpoint.
    """

    def __init__(self, path: Path, articles: Sequence[Article], stage: Stage) -> None:
        endpoint = _endpoint_of(stage)
        self._name = f"{endpoint.model}, as {path} has it,"
        self._answers: dict[tuple[str, int], EndpointAnswer] = {}
        asked_by = {custom_id: asked for custom_id, asked, _ in _requests(articles, stage)}
        for place, row in read_rows(path):
            asked = asked_by.get(str(row.get("custom_id")))
            if asked is None:
                raise CorpusError(
                    f"{path}, {place}: {row.get('custom_id')!r} is none of these requests. Give the articles, --n, "
                    "--system, --prompt and --parameters with which --batch-out wrote them."
                )
            if asked not in self._answers or self._answers[asked].problem:
                self._answers[asked] = _answer(row, endpoint)

    def __call__(self, texts: Sequence[str], keys: Sequence[int], lengths: Sequence[int]) -> list[EndpointAnswer]:
        """A summary of each text, in their order.

        Raises:
            EndpointError: one is missing, or the endpoint has refused its request.
        """
        missing = EndpointAnswer("", {}, "has no answer for it")
        answers = [self._answers.get(asked, missing) for asked in zip(texts, lengths, strict=True)]
        if problem := next((answer.problem for answer in answers if answer.problem), ""):
            raise EndpointError(f"{self._name} {problem.removesuffix('.')}.")
        return [replace(answer, extra={**answer.extra, "requests": 1}) for answer in answers]


def _answer(row: Mapping[str, Any], endpoint: Endpoint) -> EndpointAnswer:
    """The answer in a line of results; one with a `problem` where the line is an error's."""
    response = row.get("response")
    said = json.dumps(response.get("body", response) if isinstance(response, dict) else {"error": row.get("error")})
    try:
        return read_answer(said.encode(), lambda text: text, endpoint.clean_outputs)
    except UnusableReplyError as error:
        return EndpointAnswer("", {}, f"{error}. {advice_on(str(error), endpoint.request('', 1, 0))}".strip())


def _requests(articles: Iterable[Article], stage: Stage) -> Iterator[tuple[str, tuple[str, int], dict[str, Any]]]:
    """For every summary of articles its `custom_id`, the text and n, and the body that a live run would send."""
    endpoint = _endpoint_of(stage)
    for article in articles:
        for n in (UNCUT,) if endpoint.has_uncut else stage.lengths:
            message = endpoint.prompt.about(article.text, n)
            body = endpoint.request(message, most_new_tokens(n, endpoint.prompt.unit), stage.seed)
            asked = json.dumps([article.key, n, body], sort_keys=True)
            key = _NO_ID.sub("_", article.key)[:_MOST_KEY_CHARACTERS]
            yield f"{key}-{n}-{hashlib.sha256(asked.encode()).hexdigest()[:16]}", (article.text, n), body


def _endpoint_of(stage: Stage) -> Endpoint:
    """The endpoint of a stage.

    Raises:
        RecipeError: its system is none behind an endpoint.
    """
    if not isinstance(stage.generator, Endpoint):
        raise RecipeError("A batch is answered by an endpoint: name a system openai:MODEL.", settings=("system",))
    return stage.generator
