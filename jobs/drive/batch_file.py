"""Summaries by OpenAI's Batch API, which others speak, too: requests in one file, and the answers in another.

A request's `custom_id` is made of all that is asked, so that answers to other requests are not taken for its own.
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
    """The lines of a file of requests for all summaries of articles: of each the first, and one for all drafts.

    Raises:
        RecipeError: the system is none behind an endpoint.
    """
    endpoint = _endpoint_of(stage)
    for article in articles:
        for n in endpoint.lengths(stage.lengths):
            for custom_id, question in _questions(article, n, endpoint, stage.seed):
                yield {"custom_id": custom_id, "method": "POST", "url": _URL, "body": endpoint.request(question)}


class BatchAnswers:
    """The answers in a file of results, in any order.

    Args:
        path: OpenAI's output, error file, or both in one.
        articles: all that were asked about.
        stage: the endpoint, and what it was asked for.

    Raises:
        CorpusError: a line is no result, or is one of another request.
        RecipeError: the system is none behind an endpoint.
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
                    f"{path}, {place}: {row.get('custom_id')!r} is none of these requests. Repeat the command that "
                    "wrote them, with --batch-in in place of --batch-out: the articles, --system, --n, --length, "
                    "--prompt, --parameters and --drafts must be the same. (Without --drafts, there are 4 for a "
                    "server on this machine.)"
                )
            if custom_id not in self._answers or self._answers[custom_id][0].problem:
                self._answers[custom_id] = _answers(row, self._endpoint)

    def write(self, asked: Iterable[tuple[Article, Sequence[int]]]) -> Iterator[tuple[Article, Summaries]]:
        """Summaries of articles, each with its lengths, as `LoadedEndpoint.write` has them."""
        for article, lengths in asked:
            yield article, {n: self._summary(article, n) for n in lengths}

    def _summary(self, article: Article, n: int) -> EndpointAnswer | EndpointError:
        ids = [custom_id for custom_id, _ in _questions(article, n, self._endpoint, self._seed)]
        first, *drafts = [self._answers.get(custom_id, []) for custom_id in ids]
        if not any(self._endpoint.is_right(answer, n) for answer in first):  # else none would have been asked for
            first = [*first, *itertools.chain.from_iterable(drafts)]
        taken = self._endpoint.chosen(first or [EndpointAnswer("", {}, "has no answer for it")], n)
        return EndpointError(f"{self._name} {taken.problem.removesuffix('.')}.") if taken.problem else taken


def _answers(row: Mapping[str, Any], endpoint: Endpoint) -> list[EndpointAnswer]:
    """The answers in a line of results; one with a `problem` where the line is an error's."""
    response = row.get("response")
    said = json.dumps(response.get("body", response) if isinstance(response, dict) else {"error": row.get("error")})
    try:
        return read_answers(said.encode(), lambda text: text, endpoint.clean_outputs)
    except UnusableReplyError as error:
        advice = advice_on(str(error), endpoint.request(Question("", 1, 0)))
        return [EndpointAnswer("", {}, f"{error}. {advice}".strip())]


def _questions(article: Article, n: int, endpoint: Endpoint, seed: int) -> Iterator[tuple[str, Question]]:
    """The first question for a summary and, where there may be drafts, the one for all of these, each with its id."""
    questions = [endpoint.question(article.text, n, seed)]
    if endpoint.drafts:
        questions.append(endpoint.question(article.text, n, seed, 1, endpoint.drafts))
    key = _NO_ID.sub("_", article.key)[:_MOST_KEY_CHARACTERS]
    for question in questions:
        asked = json.dumps([article.key, n, endpoint.request(question)], sort_keys=True)
        yield f"{key}-{n}-{hashlib.sha256(asked.encode()).hexdigest()[:16]}", question


def _endpoint_of(stage: Stage) -> Endpoint:
    """The endpoint of a stage.

    Raises:
        RecipeError: its system is none behind an endpoint.
    """
    if not isinstance(stage.generator, Endpoint):
        raise RecipeError("A batch is answered by an endpoint: name a system openai:MODEL.", settings=("system",))
    return stage.generator
