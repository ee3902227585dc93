"""What systems keep of the content, as rows that are stored when a run has ended (`core.analysis.content_kept`)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, exists, select

from core.metrics.specs import KEPT
from jobs.store.runs import runs_with_rows
from jobs.store.tables import Base, ContentKeptRow, RunRow, SmallestNRow, SummaryRow

if TYPE_CHECKING:
    from core.analysis import Comparison, Uncut
    from core.analysis.content_kept import ContentKept

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RunKept:
    """What the systems of a run keep, see `jobs.report.sweep.kept.KeptNumbers`. Pairs are not stored."""

    of_systems: "tuple[ContentKept, ...]"
    uncut: "tuple[Uncut, ...]"
    vs_lead: "tuple[Comparison, ...]"
    all_pairs: "tuple[Comparison, ...]"


def kept_of_run(connection: Connection, run_id: str) -> RunKept | None:
    """Computed from the summaries of a run; None where they have no such score."""
    signatures = connection.execute(select(RunRow.signatures).where(RunRow.id == run_id)).scalar() or {}
    has_rows = exists().where(SummaryRow.run_id.in_(runs_with_rows(connection, run_id)))
    if KEPT.name not in signatures or not connection.execute(select(has_rows)).scalar():
        return None
    # With NumPy and SciPy, which who cancels a run without a row need not wait for.
    import numpy as np

    from core.analysis import compare_all_pairs, compare_systems, pairs_with_lead, uncut_scores
    from core.analysis.content_kept import content_kept
    from jobs.store.points import read_points

    points = read_points(connection, run_id, (KEPT.column,), repeated_words=False, texts=False)
    scored = points.take(~np.isnan(points.scores[KEPT.column]))
    vs_lead = compare_systems(scored, scored, pairs_with_lead(scored), KEPT.column)
    all_pairs = compare_all_pairs(scored, KEPT.column)
    return RunKept(content_kept(scored), uncut_scores(scored, KEPT.column), vs_lead, all_pairs)


def kept_rows(run_id: str, found: RunKept) -> dict[type[Base], Rows]:
    """The rows of a run by table."""
    run = {"run_id": run_id}
    shares = [
        run
        | _place(kept)
        | {"n": at.n, "share": at.share.mean, "low": at.share.low, "high": at.share.high, "articles": at.articles}
        for kept in found.of_systems
        for at in kept.lengths
    ]
    uncut = [
        run
        | {"dataset": uncut.dataset, "system": uncut.system, "kind": uncut.kind, "of": "reference", "n": 0}
        | {"share": uncut.score.mean, "low": uncut.score.low, "high": uncut.score.high, "articles": uncut.articles}
        for uncut in found.uncut
    ]
    smallest = [
        run
        | _place(kept)
        | {"longest": kept.longest, "x": at.x, "n": at.n, "low": at.low, "high": at.high, "claimed": at.claimed}
        | {"articles_for_one_step": at.articles_for_one_step}
        for kept in found.of_systems
        for at in kept.smallest
    ]
    return {ContentKeptRow: [*shares, *uncut], SmallestNRow: smallest}


def _place(kept: "ContentKept") -> dict[str, Any]:
    return {"dataset": kept.dataset, "system": kept.system, "kind": kept.kind, "of": kept.of}
