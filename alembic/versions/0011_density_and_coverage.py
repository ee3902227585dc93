"""What was stored as density is coverage, its usual name; density is the study's measure, of older summaries too.

Revision ID: 0011
Revises: 0010
Create Date: 2026-11-23
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | None = None
depends_on: str | None = None

OLD, NEW = ("efficiency", "density"), ("efficiency", "density", "coverage")
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


def views(metrics: Sequence[str]) -> dict[str, str]:
    """Of those that have these metrics, besides F1s: in the order in which they can be made, dropped in the other."""
    averages = ", ".join(f"AVG(s.{name}) AS {name}_mean" for name in metrics)
    means = ", ".join(f"c.{name}_mean" for name in metrics)
    board = ", ".join(f"m.{name}_mean AS {name}" for name in metrics)
    f1_means = (
        "run_id, dataset, system, n, articles, of_articles, bertscore_f1_mean, bertscore_f1_ss, "
        "bertscore_precision_mean, bertscore_recall_mean, rouge1_f1_mean, rouge1_f1_ss, rouge2_f1_mean, rouge2_f1_ss, "
        "rougel_f1_mean, rougel_f1_ss"
    )
    names = [*f1_means.split(", "), *(f"{name}_mean" for name in metrics)]
    of_all_runs = (
        f"SELECT {', '.join(f'k.{name}' for name in names)} FROM run_means AS k JOIN runs AS r ON r.id = k.run_id "
        f"WHERE r.means_kept UNION ALL SELECT {', '.join(names)} FROM live_means"
    )
    return {
        # As revision 0007 made it.
        "live_means": f"""
CREATE VIEW live_means AS
SELECT
    c.run_id, c.dataset, c.system, c.n, c.articles, t.of_articles,
    c.bertscore_f1_mean, c.bertscore_f1_ss, c.bertscore_precision_mean, c.bertscore_recall_mean,
    c.rouge1_f1_mean, c.rouge1_f1_ss, c.rouge2_f1_mean, c.rouge2_f1_ss, c.rougel_f1_mean, c.rougel_f1_ss,
    {means}
FROM (
    SELECT
        s.run_id, a.dataset, s.system, s.n,
        COUNT(*) AS articles,
        AVG(s.bertscore_f1) AS bertscore_f1_mean,
        SUM(s.bertscore_f1 * s.bertscore_f1) - SUM(s.bertscore_f1) * SUM(s.bertscore_f1) / COUNT(*)
            AS bertscore_f1_ss,
        AVG(s.bertscore_precision) AS bertscore_precision_mean,
        AVG(s.bertscore_recall) AS bertscore_recall_mean,
        AVG(s.rouge1_f1) AS rouge1_f1_mean,
        SUM(s.rouge1_f1 * s.rouge1_f1) - SUM(s.rouge1_f1) * SUM(s.rouge1_f1) / COUNT(*) AS rouge1_f1_ss,
        AVG(s.rouge2_f1) AS rouge2_f1_mean,
        SUM(s.rouge2_f1 * s.rouge2_f1) - SUM(s.rouge2_f1) * SUM(s.rouge2_f1) / COUNT(*) AS rouge2_f1_ss,
        AVG(s.rougel_f1) AS rougel_f1_mean,
        SUM(s.rougel_f1 * s.rougel_f1) - SUM(s.rougel_f1) * SUM(s.rougel_f1) / COUNT(*) AS rougel_f1_ss,
        {averages}
    FROM runs AS r
    CROSS JOIN summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    WHERE NOT r.means_kept AND s.run_id = r.id
    GROUP BY s.run_id, a.dataset, s.system, s.n
) AS c
JOIN (
    SELECT s.run_id, a.dataset, s.n, COUNT(DISTINCT s.article_id) AS of_articles
    FROM runs AS r
    CROSS JOIN summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    WHERE NOT r.means_kept AND s.run_id = r.id
    GROUP BY s.run_id, a.dataset, s.n
) AS t ON t.run_id = c.run_id AND t.dataset = c.dataset AND t.n = c.n
""",
        "sweep_curve": f"""
CREATE VIEW sweep_curve AS
SELECT
    c.run_id, c.dataset, c.system, COALESCE(y.kind, 'system') AS kind, c.n, c.articles, c.of_articles,
    c.bertscore_f1_mean,
    {_sd("bertscore_f1")},
    c.bertscore_precision_mean,
    c.bertscore_recall_mean,
    c.rouge1_f1_mean,
    {_sd("rouge1_f1")},
    c.rouge2_f1_mean,
    {_sd("rouge2_f1")},
    c.rougel_f1_mean,
    {_sd("rougel_f1")},
    {means}
FROM ({of_all_runs}) AS c
LEFT JOIN systems AS y ON y.run_id = c.run_id AND y.system = c.system
""",
        "leaderboard": f"""
CREATE VIEW leaderboard AS
SELECT
    m.run_id, m.dataset, m.n,
    CASE WHEN m.articles = m.of_articles THEN RANK() OVER (
        PARTITION BY m.run_id, m.dataset, m.n, CASE WHEN m.articles = m.of_articles THEN 1 ELSE 0 END
        ORDER BY m.bertscore_f1_mean DESC
    ) END AS rank,
    m.system, COALESCE(y.kind, 'system') AS kind, m.articles, m.of_articles,
    m.bertscore_f1_mean AS bertscore_f1,
    m.rouge1_f1_mean AS rouge1_f1,
    m.rouge2_f1_mean AS rouge2_f1,
    m.rougel_f1_mean AS rougel_f1,
    {board}
FROM ({of_all_runs}) AS m
LEFT JOIN systems AS y ON y.run_id = m.run_id AND y.system = m.system
""",
    }


def _sd(metric: str) -> str:
    ss = f"c.{metric}_ss"
    return (
        f"CASE WHEN c.articles > 1 THEN SQRT(CASE WHEN {ss} > 0 THEN {ss} / (c.articles - 1) ELSE 0 END) END "
        f"AS {metric}_sd"
    )


def upgrade() -> None:
    for name in reversed(views(OLD)):
        op.execute(f"DROP VIEW {name}")
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
    for view in views(NEW).values():
        op.execute(view)


def downgrade() -> None:
    for name in reversed(views(NEW)):
        op.execute(f"DROP VIEW {name}")
    op.drop_column("run_means", "density_mean")
    op.drop_column("summaries", "density")
    op.execute("ALTER TABLE run_means RENAME COLUMN coverage_mean TO density_mean")
    op.execute("ALTER TABLE summaries RENAME COLUMN coverage TO density")
    connection = op.get_bind()
    for run_id, signatures in connection.execute(sa.select(RUNS)).all():
        others = {name: value for name, value in signatures.items() if name not in ("density", "coverage")}
        recorded = {"density": f"density|{COVERAGE}"} if "coverage" in signatures else {}
        if RENAMED in others:
            others = _rename_metric(connection, run_id, others, RENAMED, PLUGINS)
        _set_signatures(connection, run_id, {**others, **recorded})
    for view in views(OLD).values():
        op.execute(view)


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
