"""Summaries by OpenAI's Batch API, which other providers offer, too: one file of requests, and one of answers.

A request's `custom_id` has a hash of the whole request, so the answer to another request is never taken for its own.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nws.core.article import Article
from nws.core.errors import CorpusError, EndpointError, RecipeError
from nws.core.models.endpoint import (
    Endpoint,
    EndpointAnswer,
    Question,
    Summaries,
    UnusableReplyError,
    advice_on,
    read_answers,
)
from nws.core.stage import Stage
from nws.core.text.reader import read_rows

_URL = "/v1/chat/completions"
# Anthropic's batches take 64 characters, and only these.
_NO_ID, _MOST_KEY_CHARACTERS = re.compile(r"[^\w-]", re.ASCII), 24


def batch_requests(articles: Iterable[Article], stage: Stage) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file that requests all summaries: for each summary one request, and one for all its drafts.

    Raises:
        RecipeError: the system is not an endpoint.
    """
    endpoint = _endpoint_of(stage)
    for article in articles:
        for n in endpoint.lengths(stage.lengths):
            for custom_id, question in _questions(article, n, endpoint, stage.seed):
                yield {"custom_id": custom_id, "method": "POST", "url": _URL, "body": endpoint.request(question)}


class BatchAnswers:
    """The answers in a file of results, in any order.

    Args:
        path: OpenAI's output file, its error file, or both in one.
        articles: the articles of the requests.
        stage: the endpoint and the lengths of the requests.

    Raises:
        CorpusError: a line is not a result, or answers another request.
        RecipeError: the system is not an endpoint.
    """

    def __init__(self, path: Path, articles: Sequence[Article], stage: Stage) -> None:
        self._endpoint, self._seed = _endpoint_of(stage), stage.seed
        self._name = f"{self._endpoint.model}, as {path} has it,"
        self._answers: dict[str, list[EndpointAnswer]] = {}
        asked = {
            custom_id
            for article in articles
            for n in self._endpoint.lengths(stage.lengths)
            for custom_id, _ in _questions(article, n, self._endpoint, stage.seed)
        }
        for place, row in read_rows(path):
            custom_id = str(row.get("custom_id"))
            if custom_id not in asked:
                raise CorpusError(
                    f"{path}, {place}: {row.get('custom_id')!r} answers another request. Repeat the command that "
                    "wrote the requests, with --batch-in instead of --batch-out. The articles, --system, --n, "
                    "--length, --prompt, --parameters and --drafts must be the same. (Without --drafts, a server on "
                    "this machine gets 4.)"
                )
            if custom_id not in self._answers or self._answers[custom_id][0].problem:
                self._answers[custom_id] = _answers(row, self._endpoint)

    def write(self, asked: Iterable[tuple[Article, Sequence[int]]]) -> Iterator[tuple[Article, Summaries]]:
        """Yield the summaries of articles, each with its lengths, as `LoadedEndpoint.write` does."""
        for article, lengths in asked:
            yield article, {n: self._summary(article, n) for n in lengths}

    def _summary(self, article: Article, n: int) -> EndpointAnswer | EndpointError:
        ids = [custom_id for custom_id, _ in _questions(article, n, self._endpoint, self._seed)]
        first, *drafts = [self._answers.get(custom_id, []) for custom_id in ids]
        if not any(self._endpoint.is_right(answer, n) for answer in first):  # otherwise none would have been asked for
            first = [*first, *itertools.chain.from_iterable(drafts)]
        taken = self._endpoint.chosen(first or [EndpointAnswer("", {}, "has no answer")], n)
        return EndpointError(f"{self._name} {taken.problem.removesuffix('.')}.") if taken.problem else taken


def _answers(row: Mapping[str, Any], endpoint: Endpoint) -> list[EndpointAnswer]:
    """Return the answers in a line of results; for the line of an error, one answer with a `problem`."""
    response = row.get("response")
    said = json.dumps(response.get("body", response) if isinstance(response, dict) else {"error": row.get("error")})
    try:
        return read_answers(said.encode(), lambda text: text, endpoint.clean_outputs)
    except UnusableReplyError as error:
        advice = advice_on(str(error), endpoint.request(Question("", 1, 0)))
        return [EndpointAnswer("", {}, f"{error}. {advice}".strip())]


def _questions(article: Article, n: int, endpoint: Endpoint, seed: int) -> Iterator[tuple[str, Question]]:
    """Yield the first question for a summary and, where there may be drafts, the question for all drafts, with ids."""
    questions = [endpoint.question(article.text, n, seed)]
    if endpoint.drafts:
        questions.append(endpoint.question(article.text, n, seed, 1, endpoint.drafts))
    key = _NO_ID.sub("_", article.key)[:_MOST_KEY_CHARACTERS]
    for question in questions:
        asked = json.dumps([article.key, n, endpoint.request(question)], sort_keys=True)
        yield f"{key}-{n}-{hashlib.sha256(asked.encode()).hexdigest()[:16]}", question


def _endpoint_of(stage: Stage) -> Endpoint:
    """Return the endpoint of a stage.

    Raises:
        RecipeError: its system is not an endpoint.
    """
    if not isinstance(stage.generator, Endpoint):
        raise RecipeError("Only endpoints answer batches. Name a system openai:MODEL.", settings=("system",))
    return stage.generator
