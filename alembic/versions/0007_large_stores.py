"""Counts are kept with each run, and the views read what is kept of a run that has ended.

Revision ID: 0007
Revises: 0006
Create Date: 2026-11-22
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | None = None
depends_on: str | None = None

COUNTS = ("articles_done", "summaries", "failures")

# Of the runs whose means are not kept. CROSS JOIN: SQLite then looks at these runs first, and at no row of another.
LIVE_MEANS = """
CREATE VIEW live_means AS
SELECT
    c.run_id, c.dataset, c.system, c.n, c.articles, t.of_articles,
    c.bertscore_f1_mean, c.bertscore_f1_ss, c.bertscore_precision_mean, c.bertscore_recall_mean,
    c.rouge1_f1_mean, c.rouge1_f1_ss, c.rouge2_f1_mean, c.rouge2_f1_ss, c.rougel_f1_mean, c.rougel_f1_ss,
    c.efficiency_mean, c.density_mean
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
        AVG(s.efficiency) AS efficiency_mean,
        AVG(s.density) AS density_mean
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
"""

LIVE_BEST_N = """
CREATE VIEW live_best_n AS
SELECT p.run_id, p.article_id, p.system, p.dataset, p.n, p.bertscore_f1
FROM (
    SELECT
        s.run_id, s.article_id, a.dataset, s.system, s.n, s.bertscore_f1,
        ROW_NUMBER() OVER (
            PARTITION BY s.run_id, s.article_id, s.system ORDER BY s.bertscore_f1 DESC, s.n
        ) AS place
    FROM runs AS r
    CROSS JOIN summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    WHERE NOT r.means_kept AND s.run_id = r.id AND s.n > 0
) AS p
WHERE p.place = 1
"""

MEANS = (
    "run_id, dataset, system, n, articles, of_articles, bertscore_f1_mean, bertscore_f1_ss, bertscore_precision_mean, "
    "bertscore_recall_mean, rouge1_f1_mean, rouge1_f1_ss, rouge2_f1_mean, rouge2_f1_ss, rougel_f1_mean, rougel_f1_ss, "
    "efficiency_mean, density_mean"
)
BEST = "run_id, article_id, system, dataset, n, bertscore_f1"


def _of_all_runs(columns: str, kept: str, live: str) -> str:
    """Kept rows of the runs that have them, live ones of all others."""
    of_kept = ", ".join(f"k.{name}" for name in columns.split(", "))
    return (
        f"SELECT {of_kept} FROM {kept} AS k JOIN runs AS r ON r.id = k.run_id WHERE r.means_kept "
        f"UNION ALL SELECT {columns} FROM {live}"
    )


def _sd(metric: str) -> str:
    ss = f"c.{metric}_ss"
    return (
        f"CASE WHEN c.articles > 1 THEN SQRT(CASE WHEN {ss} > 0 THEN {ss} / (c.articles - 1) ELSE 0 END) END "
        f"AS {metric}_sd"
    )


SWEEP_CURVE = f"""
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
    c.efficiency_mean,
    c.density_mean
FROM ({_of_all_runs(MEANS, "run_means", "live_means")}) AS c
LEFT JOIN systems AS y ON y.run_id = c.run_id AND y.system = c.system
"""

BEST_N = f"""
CREATE VIEW best_n AS
SELECT b.run_id, b.article_id, b.dataset, b.system, COALESCE(y.kind, 'system') AS kind, b.n, b.bertscore_f1
FROM ({_of_all_runs(BEST, "run_best_n", "live_best_n")}) AS b
LEFT JOIN systems AS y ON y.run_id = b.run_id AND y.system = b.system
"""

LEADERBOARD = f"""
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
    m.efficiency_mean AS efficiency,
    m.density_mean AS density
FROM ({_of_all_runs(MEANS, "run_means", "live_means")}) AS m
LEFT JOIN systems AS y ON y.run_id = m.run_id AND y.system = m.system
"""

# In the order in which they can be made; dropped in the other.
VIEWS = {
    "live_means": LIVE_MEANS,
    "live_best_n": LIVE_BEST_N,
    "sweep_curve": SWEEP_CURVE,
    "best_n": BEST_N,
    "leaderboard": LEADERBOARD,
}

COUNT_EVERYTHING = (
    "UPDATE runs SET summaries = (SELECT COUNT(*) FROM summaries AS s WHERE s.run_id = runs.id)",
    "UPDATE runs SET failures = (SELECT COUNT(DISTINCT f.article_id) FROM failures AS f WHERE f.run_id = runs.id)",
    """
    UPDATE runs SET articles_done = (
        SELECT COUNT(*) FROM (
            SELECT s.article_id FROM summaries AS s WHERE s.run_id = runs.id
            GROUP BY s.article_id HAVING COUNT(DISTINCT s.system) >= runs.systems
        ) AS done
    )
    """,
)

ENDED = "('done', 'failed', 'interrupted')"
KEEP_WHAT_HAS_ENDED = (
    f"INSERT INTO run_means ({MEANS}) SELECT {MEANS} FROM live_means "
    f"WHERE run_id IN (SELECT id FROM runs WHERE state IN {ENDED})",
    f"INSERT INTO run_best_n ({BEST}) SELECT {BEST} FROM live_best_n "
    f"WHERE run_id IN (SELECT id FROM runs WHERE state IN {ENDED})",
    f"UPDATE runs SET means_kept = TRUE WHERE state IN {ENDED}",
)

# As revisions 0005 and 0006 made them.
OLD_SWEEP_CURVE = """
CREATE VIEW sweep_curve AS
SELECT
    c.run_id, c.dataset, c.system, COALESCE(y.kind, 'system') AS kind, c.n, c.articles, t.of_articles,
    c.bertscore_f1_mean,
    CASE WHEN c.articles > 1
        THEN SQRT(CASE WHEN c.bertscore_f1_ss > 0 THEN c.bertscore_f1_ss / (c.articles - 1) ELSE 0 END)
    END AS bertscore_f1_sd,
    c.bertscore_precision_mean,
    c.bertscore_recall_mean,
    c.rouge1_f1_mean,
    CASE WHEN c.articles > 1 THEN SQRT(CASE WHEN c.rouge1_f1_ss > 0 THEN c.rouge1_f1_ss / (c.articles - 1) ELSE 0 END)
    END AS rouge1_f1_sd,
    c.rouge2_f1_mean,
    CASE WHEN c.articles > 1 THEN SQRT(CASE WHEN c.rouge2_f1_ss > 0 THEN c.rouge2_f1_ss / (c.articles - 1) ELSE 0 END)
    END AS rouge2_f1_sd,
    c.rougel_f1_mean,
    CASE WHEN c.articles > 1 THEN SQRT(CASE WHEN c.rougel_f1_ss > 0 THEN c.rougel_f1_ss / (c.articles - 1) ELSE 0 END)
    END AS rougel_f1_sd,
    c.efficiency_mean,
    c.density_mean
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
        AVG(s.efficiency) AS efficiency_mean,
        AVG(s.density) AS density_mean
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    GROUP BY s.run_id, a.dataset, s.system, s.n
) AS c
JOIN (
    SELECT s.run_id, a.dataset, s.n, COUNT(DISTINCT s.article_id) AS of_articles
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    GROUP BY s.run_id, a.dataset, s.n
) AS t ON t.run_id = c.run_id AND t.dataset = c.dataset AND t.n = c.n
LEFT JOIN systems AS y ON y.run_id = c.run_id AND y.system = c.system
"""

OLD_BEST_N = """
CREATE VIEW best_n AS
SELECT
    p.run_id, p.article_id, p.dataset, p.system, COALESCE(y.kind, 'system') AS kind, p.n, p.bertscore_f1
FROM (
    SELECT
        s.run_id, s.article_id, a.dataset, s.system, s.n, s.bertscore_f1,
        ROW_NUMBER() OVER (
            PARTITION BY s.run_id, s.article_id, s.system ORDER BY s.bertscore_f1 DESC, s.n
        ) AS place
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    WHERE s.n > 0
) AS p
LEFT JOIN systems AS y ON y.run_id = p.run_id AND y.system = p.system
WHERE p.place = 1
"""

OLD_LEADERBOARD = """
CREATE VIEW leaderboard AS
SELECT
    m.run_id, m.dataset, m.n,
    CASE WHEN m.articles = t.of_articles THEN RANK() OVER (
        PARTITION BY m.run_id, m.dataset, m.n, CASE WHEN m.articles = t.of_articles THEN 1 ELSE 0 END
        ORDER BY m.bertscore_f1 DESC
    ) END AS rank,
    m.system, COALESCE(y.kind, 'system') AS kind, m.articles, t.of_articles,
    m.bertscore_f1, m.rouge1_f1, m.rouge2_f1, m.rougel_f1, m.efficiency, m.density
FROM (
    SELECT
        s.run_id, a.dataset, s.n, s.system,
        COUNT(*) AS articles,
        AVG(s.bertscore_f1) AS bertscore_f1,
        AVG(s.rouge1_f1) AS rouge1_f1,
        AVG(s.rouge2_f1) AS rouge2_f1,
        AVG(s.rougel_f1) AS rougel_f1,
        AVG(s.efficiency) AS efficiency,
        AVG(s.density) AS density
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    GROUP BY s.run_id, a.dataset, s.n, s.system
) AS m
JOIN (
    SELECT s.run_id, a.dataset, s.n, COUNT(DISTINCT s.article_id) AS of_articles
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    GROUP BY s.run_id, a.dataset, s.n
) AS t ON t.run_id = m.run_id AND t.dataset = m.dataset AND t.n = m.n
LEFT JOIN systems AS y ON y.run_id = m.run_id AND y.system = m.system
"""

OLD_VIEWS = {"sweep_curve": OLD_SWEEP_CURVE, "best_n": OLD_BEST_N, "leaderboard": OLD_LEADERBOARD}


def upgrade() -> None:
    for name in OLD_VIEWS:
        op.execute(f"DROP VIEW {name}")
    # (The defaults stay, as for `systems` in revision 0002.)
    for name in COUNTS:
        op.add_column("runs", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    op.add_column("runs", sa.Column("means_kept", sa.Boolean, nullable=False, server_default=sa.false()))
    for statement in COUNT_EVERYTHING:
        op.execute(statement)
    op.create_table(
        "run_means",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("system", sa.Text, nullable=False),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("n", "articles", "of_articles")),
        *(sa.Column(name, sa.Double, nullable=False) for name in MEANS.split(", ")[6:]),
        sa.PrimaryKeyConstraint("run_id", "dataset", "system", "n", name="pk_run_means"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_means_run_id_runs"),
    )
    op.create_table(
        "run_best_n",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("article_id", sa.String(16), nullable=False),
        sa.Column("system", sa.Text, nullable=False),
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("bertscore_f1", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "article_id", "system", name="pk_run_best_n"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_best_n_run_id_runs"),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_run_best_n_article_id_articles"),
    )
    for view in VIEWS.values():
        op.execute(view)
    for statement in KEEP_WHAT_HAS_ENDED:
        op.execute(statement)


def downgrade() -> None:
    for name in reversed(VIEWS):
        op.execute(f"DROP VIEW {name}")
    op.drop_table("run_best_n")
    op.drop_table("run_means")
    for name in (*COUNTS, "means_kept"):
        op.drop_column("runs", name)
    for view in OLD_VIEWS.values():
        op.execute(view)
