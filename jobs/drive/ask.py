"""The requests of a run to endpoints: the driver sends them, and actors score the summaries that come back.

Each article goes to the actors as soon as the endpoint has answered for it. So a driver or an actor that dies loses at
most the answers for the articles that are being asked about: as many as there may be requests at a time.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from nws.core.article import Article
from nws.core.errors import EndpointError, NwsError
from nws.core.models.endpoint import BYTES_PER_TOKEN, Answered, Endpoint, token_limit
from nws.core.stage import Stage
from nws.core.systems.system import Draft, SummarizedArticle, as_drafts, known_drafts
from nws.core.text.segmentation import unsegmented
from nws.core.worker_factories import checked
from nws.jobs.drive.run import Run
from nws.jobs.recipes.plan import Plan

_SAMPLE = 100
"""The number of articles from whose lengths tokens are estimated."""


@dataclass(frozen=True, slots=True)
class Requests:
    """The number of requests for some summaries.

    Attributes:
        least: the number if the first answer is taken for every summary.
        most: the number if every summary needs all its drafts.
        read: the input tokens of `most` requests. An endpoint that has the articles in its cache charges less.
        written: the output tokens of `most` requests; None where `parameters` set no limit.
    """

    least: int
    most: int
    read: int
    written: int | None

    def __str__(self) -> str:
        count = f"{self.least:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"
        limit = "unlimited" if self.written is None else f"at most {self.written:,}"
        return f"{count} requests, with at most about {self.read:,} input tokens and {limit} output tokens"


def estimate_requests(plan: Plan, stage: Stage, endpoint: Endpoint, articles: int) -> Requests:
    """Estimate the requests about that many articles of a run."""
    asked = dict.fromkeys(endpoint.lengths(stage.lengths), articles)
    return count_requests(endpoint, itertools.chain.from_iterable(plan.corpora), asked)


def count_requests(endpoint: Endpoint, articles: Iterable[Article], asked: Mapping[int, int]) -> Requests:
    """Estimate the requests for a number of summaries at each n, from a sample of the articles."""
    sample = itertools.islice(articles, _SAMPLE)
    read = fmean(len(endpoint.prompt.about(article.text, 0).encode()) / BYTES_PER_TOKEN for article in sample)
    least, each = sum(asked.values()), 1 + endpoint.drafts
    limits = {n: token_limit(endpoint.request(endpoint.question("", n, 0))) for n in asked}
    written = sum(limit * asked[n] for n, limit in limits.items() if limit is not None) * each
    return Requests(least, least * each, round(least * each * read), None if None in limits.values() else written)


def ask_endpoint(
    run: Run, plan: Plan, stage: Stage, endpoint: Endpoint, bundles: Iterable[Sequence[Article]], most: int | None
) -> Iterator[Sequence[Article]]:
    """Yield each article with the endpoint's summaries in a bundle of its own, in the order of the answers.

    An empty bundle means that no answer has come for a while. No request is made about an article that would fail, or
    that has all its summaries. `most` is the largest possible number of articles, if that is known.
    """
    from nws.core.models.endpoint_requests import LoadedEndpoint  # takes more than a second

    check = checked(stage.language, unsegmented)
    lengths = endpoint.lengths(stage.lengths)

    def missing(article: Article) -> Sequence[int]:
        try:
            check(article)
        except NwsError:
            return ()
        known = {draft.n for draft in known_drafts(article, endpoint.signature)}
        return [n for n in lengths if n not in known]

    articles = itertools.chain.from_iterable(bundles)
    first = [*itertools.islice(articles, 1)]
    if not first:
        return
    requests = f"{estimate_requests(plan, stage, endpoint, most or 1)}{', for each article' if most is None else ''}"
    run.say(f"Stage {stage.name}: asking {endpoint.model} at {endpoint.url}: {requests}.")
    asked = ((article, missing(article)) for article in itertools.chain(first, articles))
    for found in LoadedEndpoint(endpoint, stage.seed).write(asked):
        run.check()
        yield () if found is None else (with_answers(found[0], found[1], endpoint, stage),)


def with_answers(
    article: Article, answers: Mapping[int, Answered], endpoint: Endpoint, stage: Stage
) -> SummarizedArticle:
    """Add the drafts of an endpoint's answers to those of an article; if an answer is an error, add that instead."""
    failed = next((str(answer) for answer in answers.values() if isinstance(answer, EndpointError)), "")
    drafts = known_drafts(article, endpoint.signature)
    for n, answer in answers.items() if not failed else ():
        drafts += _drafts(n, answer, stage)
    written = tuple((endpoint.signature, draft) for draft in drafts)
    values = article.dataset, article.split, article.key, article.text, article.references
    return SummarizedArticle(*values, written, failed)


def _drafts(n: int, answer: Answered, stage: Stage) -> list[Draft]:
    assert not isinstance(answer, EndpointError)
    drafts = as_drafts(answer.text, n, stage.lengths, answer.extra, stage.length_unit)
    return [replace(draft, seconds=answer.seconds) for draft in drafts]
