"""What was stored as density is coverage, its usual name; density is the study's measure, of older summaries too.

Revision ID: 0011
Revises: 0010
Create Date: 2026-11-23
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

from jobs.store.views import drop_views

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | None = None
depends_on: str | None = None

ARTICLES_AT_ONCE = 100

COVERAGE = r"tok:\w+|case:lower|share of summary tokens found in the article"
DENSITY = r"density|tok:\w+|case:lower|distinct summary tokens found in the article, over all its tokens"
# Where a run of early code has kept only the first of several draws.
OF_FIRST_DRAWS = f"{DENSITY}|of the first draw where others are not stored"

# Of a metric of a plugin that had the name, in `signatures` and among the scores of `extra`.
PLUGINS, RENAMED = "coverage", "coverage_of_plugin"

_TOKEN = re.compile(r"\w+")

RUNS = sa.table("runs", sa.column("id", sa.Text), sa.column("signatures", sa.JSON))
ARTICLES = sa.table("articles", sa.column("id", sa.Text), sa.column("text", sa.Text))
SUMMARIES = sa.table(
    "summaries",
    *(sa.column(name, sa.Text) for name in ("run_id", "article_id", "system", "text")),
    sa.column("n", sa.Integer),
    sa.column("extra", sa.JSON),
    sa.column("density", sa.Double),
)

MEAN_DENSITIES = """
UPDATE run_means SET density_mean = COALESCE((
    SELECT AVG(s.density)
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    WHERE s.run_id = run_means.run_id AND s.system = run_means.system AND s.n = run_means.n
        AND a.dataset = run_means.dataset
), 0)
"""


def upgrade() -> None:
    drop_views(op.get_bind())
    op.execute("ALTER TABLE summaries RENAME COLUMN density TO coverage")
    op.execute("ALTER TABLE run_means RENAME COLUMN density_mean TO coverage_mean")
    # (The defaults stay, as for `systems` in revision 0002.)
    op.add_column("summaries", sa.Column("density", sa.Double, nullable=False, server_default="0"))
    op.add_column("run_means", sa.Column("density_mean", sa.Double, nullable=False, server_default="0"))
    connection = op.get_bind()
    for run_id, signatures in connection.execute(sa.select(RUNS)).all():
        if PLUGINS in signatures:
            signatures = _rename_metric(connection, run_id, signatures, PLUGINS, RENAMED)
        of_first_draws = _fill(connection, run_id)
        recorded = {"coverage": f"coverage|{COVERAGE}"} if "density" in signatures else {}
        density = {"density": OF_FIRST_DRAWS if of_first_draws else DENSITY}
        _set_signatures(connection, run_id, {**signatures, **recorded, **density})
    op.execute(MEAN_DENSITIES)


def _set_signatures(connection: sa.Connection, run_id: str, signatures: Mapping[str, str]) -> None:
    connection.execute(sa.update(RUNS).where(RUNS.c.id == run_id).values(signatures=signatures))


def _rename_metric(
    connection: sa.Connection, run_id: str, signatures: Mapping[str, str], old: str, new: str
) -> dict[str, str]:
    """Give the scores of a plugin's metric another name; the signatures with the name."""
    for article_ids in _articles_of(connection, run_id):
        columns = (SUMMARIES.c[name] for name in ("article_id", "system", "n", "extra"))
        in_run = (SUMMARIES.c.run_id == run_id, SUMMARIES.c.article_id.in_(article_ids))
        rows = [
            {**_key(run_id, article_id, system, n), "extra": {**extra, "scores": _renamed(extra["scores"], old, new)}}
            for article_id, system, n, extra in connection.execute(sa.select(*columns).where(*in_run)).all()
            if old in extra.get("scores", {})
        ]
        if rows:
            connection.execute(sa.update(SUMMARIES).where(_place()), rows)
    renamed = _renamed(signatures, old, new)
    return {**renamed, new: new + renamed[new].removeprefix(old)}


def _renamed(values: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if name == old else name: value for name, value in values.items()}


KEYS = ("run_id", "article_id", "system", "n")


def _key(*values: Any) -> dict[str, Any]:
    return dict(zip((f"of_{name}" for name in KEYS), values, strict=True))


def _place() -> sa.ColumnElement[bool]:
    return sa.and_(*(SUMMARIES.c[name] == sa.bindparam(f"of_{name}") for name in KEYS))


def _fill(connection: sa.Connection, run_id: str) -> bool:
    """Store the density of all summaries of a run; whether a draw of one of them is not stored."""
    of_first_draws = False
    for article_ids in _articles_of(connection, run_id):
        query = sa.select(ARTICLES).where(ARTICLES.c.id.in_(article_ids))
        known = {article_id: frozenset(_TOKEN.findall(text.lower())) for article_id, text in connection.execute(query)}
        columns = (SUMMARIES.c[name] for name in ("article_id", "system", "n", "text", "extra"))
        in_run = (SUMMARIES.c.run_id == run_id, SUMMARIES.c.article_id.in_(article_ids))
        rows = []
        for article_id, system, n, text, extra in connection.execute(sa.select(*columns).where(*in_run)):
            draws = extra.get("draws", [text])
            of_first_draws = of_first_draws or not isinstance(draws, list)
            texts = draws if isinstance(draws, list) else [text]
            density = math.fsum(_density(each, known[article_id]) for each in texts) / len(texts)
            rows.append({**_key(run_id, article_id, system, n), "density": density})
        connection.execute(sa.update(SUMMARIES).where(_place()), rows)
    return of_first_draws


def _articles_of(connection: sa.Connection, run_id: str) -> Iterator[list[Any]]:
    query = sa.select(SUMMARIES.c.article_id).distinct().where(SUMMARIES.c.run_id == run_id)
    ids = list(connection.execute(query).scalars())
    for start in range(0, len(ids), ARTICLES_AT_ONCE):
        yield ids[start : start + ARTICLES_AT_ONCE]


def _density(summary: str, known: frozenset[str]) -> float:
    tokens = _TOKEN.findall(summary.lower())
    return len(known.intersection(tokens)) / len(tokens) if tokens else 0.0
