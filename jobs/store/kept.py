"""What systems keep of the content, as rows that are stored when a run has ended (`core.analysis.content_kept`)."""

from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from core.analysis import uncut_scores
from core.analysis.content_kept import KEPT, ContentKept, content_kept
from jobs.store.points import read_points
from jobs.store.tables import Base, ContentKeptRow, RunRow, SmallestNRow

Rows = list[dict[str, Any]]


def kept_rows(connection: Connection, run_id: str) -> dict[type[Base], Rows]:
    """The rows of a run by table; none where its summaries have no such score."""
    signatures = connection.execute(select(RunRow.signatures).where(RunRow.id == run_id)).scalar() or {}
    if KEPT not in signatures:
        return {ContentKeptRow: [], SmallestNRow: []}
    points = read_points(connection, run_id, (KEPT,), repeated_words=False, texts=False)
    if not len(points):
        return {ContentKeptRow: [], SmallestNRow: []}
    scored = points.take(~np.isnan(points.scores[KEPT]))
    found = content_kept(scored)
    run = {"run_id": run_id}
    shares = [
        run
        | _place(kept)
        | {"n": at.n, "share": at.share.mean, "low": at.share.low, "high": at.share.high, "articles": at.articles}
        for kept in found
        for at in kept.lengths
    ]
    uncut = [
        run
        | {"dataset": uncut.dataset, "system": uncut.system, "kind": uncut.kind, "of": "reference", "n": 0}
        | {"share": uncut.score.mean, "low": uncut.score.low, "high": uncut.score.high, "articles": uncut.articles}
        for uncut in uncut_scores(scored, KEPT)
    ]
    smallest = [
        run
        | _place(kept)
        | {"longest": kept.longest, "x": at.x, "n": at.n, "low": at.low, "high": at.high, "claimed": at.claimed}
        | {"articles_for_one_step": at.articles_for_one_step}
        for kept in found
        for at in kept.smallest
    ]
    return {ContentKeptRow: [*shares, *uncut], SmallestNRow: smallest}


def _place(kept: ContentKept) -> dict[str, Any]:
    return {"dataset": kept.dataset, "system": kept.system, "kind": kept.kind, "of": kept.of}
