"""What endpoints are asked in a run: the driver asks them, and actors score what they have written.

Articles come to the actors one by one, as soon as they are answered. So a driver or an actor that dies takes with it at
most the answers for the articles that are under way, and as many of these are at once as requests may be.
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
"""Articles by whose lengths tokens are estimated."""


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests for summaries: the least, if each first answer is taken, and the most, with all drafts.

    `read` and `written` are tokens, of the most requests; an endpoint that has the articles in its cache charges less.
    `written` is None where `parameters` let the model write without a limit.
    """

    least: int
    most: int
    read: int
    written: int | None

    def __str__(self) -> str:
        count = f"{self.least:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"
        limit = "without a limit" if self.written is None else f"at most {self.written:,}"
        return f"{count} requests, which read at most about {self.read:,} tokens and write {limit}"


def requests_of(plan: Plan, stage: Stage, endpoint: Endpoint, articles: int) -> Requests:
    """The requests about so many articles of a run."""
    asked = dict.fromkeys(endpoint.lengths(stage.lengths), articles)
    return count_requests(endpoint, itertools.chain.from_iterable(plan.corpora), asked)


def count_requests(endpoint: Endpoint, articles: Iterable[Article], asked: Mapping[int, int]) -> Requests:
    """The requests for so many summaries of each n, of such articles."""
    sample = itertools.islice(articles, _SAMPLE)
    read = fmean(len(endpoint.prompt.about(article.text, 0).encode()) / BYTES_PER_TOKEN for article in sample)
    least, each = sum(asked.values()), 1 + endpoint.drafts
    limits = {n: token_limit(endpoint.request(endpoint.question("", n, 0))) for n in asked}
    written = sum(limit * asked[n] for n, limit in limits.items() if limit is not None) * each
    return Requests(least, least * each, round(least * each * read), None if None in limits.values() else written)


def answered(
    run: Run, plan: Plan, stage: Stage, endpoint: Endpoint, bundles: Iterable[Sequence[Article]], most: int | None
) -> Iterator[Sequence[Article]]:
    """Articles with what an endpoint wrote for them, as bundles of one, as they come; empty ones where none has come.

    An article that would fail, or has all summaries already, is not asked about. There are at most so many articles,
    if that is known.
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
    requests = f"{requests_of(plan, stage, endpoint, most or 1)}{', for each article' if most is None else ''}"
    run.say(f"Stage {stage.name}: asking {endpoint.model} at {endpoint.url}: {requests}.")
    asked = ((article, missing(article)) for article in itertools.chain(first, articles))
    for found in LoadedEndpoint(endpoint, stage.seed).write(asked):
        run.check()
        yield () if found is None else (with_summaries(found[0], found[1], endpoint, stage),)


def with_summaries(
    article: Article, answers: Mapping[int, Answered], endpoint: Endpoint, stage: Stage
) -> SummarizedArticle:
    """An article with the drafts of an endpoint's answers, besides those that it has; or with the reason for none."""
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
