"""What generators of a run were asked for, and what they gave: numbers of words, and tokens that somebody counts."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, Float, case, cast, func, or_, select

from jobs.store.tables import SummaryRow


@dataclass(frozen=True, slots=True)
class AskedWords:
    """How well a system keeps to n.

    Attributes:
        system: its name.
        n: how many words it was asked for.
        summaries: how often.
        written: mean number of words that it wrote, before any was cut away.
        exactly, over: the shares, in [0, 1], of the summaries that had n words, and more.
    """

    system: str
    n: int
    summaries: int
    written: float
    exactly: float
    over: float


@dataclass(frozen=True, slots=True)
class TokensUsed:
    """What an endpoint has counted for a system: tokens read and written for some articles, at all n."""

    system: str
    articles: int
    read: int
    written: int


_ASKED = SummaryRow.extra["words_asked"].as_integer()
_WRITTEN = SummaryRow.extra["words_written"].as_integer()
_PROMPT = SummaryRow.extra["prompt_tokens"].as_integer()
_COMPLETION = SummaryRow.extra["completion_tokens"].as_integer()


def asked_words(connection: Connection, run_id: str, systems: Collection[str]) -> list[AskedWords]:
    """One row for each system and n of `systems` that were asked for n words."""
    exactly, over = (
        cast(case((condition, 1), else_=0), Float) for condition in (_WRITTEN == _ASKED, _WRITTEN > _ASKED)
    )
    query = (
        select(
            SummaryRow.system,
            SummaryRow.n,
            func.count(),
            func.avg(cast(_WRITTEN, Float)),
            func.avg(exactly),
            func.avg(over),
        )
        .where(SummaryRow.run_id == run_id, SummaryRow.system.in_(systems), _ASKED.is_not(None))
        .group_by(SummaryRow.system, SummaryRow.n)
        .order_by(SummaryRow.system, SummaryRow.n)
    )
    return [AskedWords(*row) for row in connection.execute(query)]


def tokens_used(connection: Connection, run_id: str, systems: Collection[str]) -> list[TokensUsed]:
    """Of those of some systems whose endpoint counts tokens, by system.

    An answer that was cut to every n counts once, with the row that has it uncut.
    """
    query = (
        select(
            SummaryRow.system,
            func.count(SummaryRow.article_id.distinct()),
            func.sum(_PROMPT),
            func.sum(func.coalesce(_COMPLETION, 0)),
        )
        .where(SummaryRow.run_id == run_id, SummaryRow.system.in_(systems), _PROMPT.is_not(None))
        .where(or_(_ASKED.is_not(None), SummaryRow.n == 0))
        .group_by(SummaryRow.system)
        .order_by(SummaryRow.system)
    )
    return [
        TokensUsed(system, articles, int(read), int(out)) for system, articles, read, out in connection.execute(query)
    ]
