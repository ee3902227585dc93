"""The answer of a run: stored when the run has ended, and read (`core.analysis.answer`).

The table `answers` has all of it, `content_kept` and `smallest_n` have the numbers that people query.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, exists, select

from core.metrics.specs import KEPT
from jobs.store.engine import Database, reads
from jobs.store.runs import runs_with_rows
from jobs.store.tables import AnswerRow, Base, ContentKeptRow, RunRow, SmallestNRow, SummaryRow

if TYPE_CHECKING:  # with NumPy and SciPy, which `nws ls` need not wait for
    from pydantic import TypeAdapter

    from core.analysis.answer import Answer

Rows = list[dict[str, Any]]


class Answers(Database):
    """The methods of a store that read what systems keep of the content."""

    @reads
    def answer(self, connection: Connection, run_id: str) -> "Answer":
        """As it was stored when the run ended, or else as its summaries have it now."""
        found = _stored_answer(connection, run_id)
        return computed_answer(connection, run_id) if found is None else found

    @reads
    def stored_answer(self, connection: Connection, run_id: str) -> "Answer | None":
        """As it was stored when the run ended; None where it has to be computed."""
        return _stored_answer(connection, run_id)


def _stored_answer(connection: Connection, run_id: str) -> "Answer | None":
    query = select(AnswerRow.answer).join(RunRow, RunRow.id == AnswerRow.run_id)
    stored = connection.execute(query.where(AnswerRow.run_id == run_id, RunRow.means_kept)).scalar()
    return None if stored is None else _adapter().validate_python(stored)


def computed_answer(connection: Connection, run_id: str, whole: str | None = None) -> "Answer":
    """The answer from the summaries of a run; `whole` as in `read_points`."""
    from core.analysis.answer import answer_of
    from jobs.store.points import read_points

    return answer_of(read_points(connection, run_id, (KEPT.column,), repeated_words=False, whole=whole))


def has_answer(connection: Connection, run_id: str) -> bool:
    """Whether a run has summaries."""
    has_rows = exists().where(SummaryRow.run_id.in_(runs_with_rows(connection, run_id)))
    return bool(connection.execute(select(has_rows)).scalar())


def answer_rows(run_id: str, answer: "Answer") -> dict[type[Base], Rows]:
    """The rows of a run by table."""
    rows: dict[type[Base], Rows] = {
        ContentKeptRow: answer.share_rows(),
        SmallestNRow: answer.smallest_rows(),
        AnswerRow: [{"answer": _adapter().dump_python(answer, mode="json")}],
    }
    return {table: [{"run_id": run_id} | row for row in of_table] for table, of_table in rows.items()}


@cache
def _adapter() -> "TypeAdapter[Answer]":
    from pydantic import TypeAdapter

    from core.analysis.answer import Answer

    return TypeAdapter(Answer)
