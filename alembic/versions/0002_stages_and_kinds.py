"""Stages of a run, and the kind of each system in the views.

Revision ID: 0002
Revises: 0001
Create Date: 2026-11-21
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None

# `kind`: an upper bound saw the reference. It may head a leaderboard, and must not be taken for a system there.
SWEEP_CURVE = """
CREATE VIEW sweep_curve AS
SELECT
    run_id, dataset, system,
    CASE WHEN system IN ('oracle', 'window-oracle') THEN 'upper bound'
        WHEN system IN ('lead', 'random') THEN 'control' ELSE 'system' END AS kind,
    n, articles,
    bertscore_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN bertscore_f1_ss > 0 THEN bertscore_f1_ss / (articles - 1) ELSE 0 END)
    END AS bertscore_f1_sd,
    bertscore_precision_mean,
    bertscore_recall_mean,
    rouge1_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN rouge1_f1_ss > 0 THEN rouge1_f1_ss / (articles - 1) ELSE 0 END)
    END AS rouge1_f1_sd,
    rouge2_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN rouge2_f1_ss > 0 THEN rouge2_f1_ss / (articles - 1) ELSE 0 END)
    END AS rouge2_f1_sd,
    rougel_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN rougel_f1_ss > 0 THEN rougel_f1_ss / (articles - 1) ELSE 0 END)
    END AS rougel_f1_sd,
    efficiency_mean,
    density_mean
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
) AS by_length
"""

BEST_N = """
CREATE VIEW best_n AS
SELECT
    run_id, article_id, dataset, system,
    CASE WHEN system IN ('oracle', 'window-oracle') THEN 'upper bound'
        WHEN system IN ('lead', 'random') THEN 'control' ELSE 'system' END AS kind,
    n, bertscore_f1
FROM (
    SELECT
        s.run_id, s.article_id, a.dataset, s.system, s.n, s.bertscore_f1,
        ROW_NUMBER() OVER (
            PARTITION BY s.run_id, s.article_id, s.system ORDER BY s.bertscore_f1 DESC, s.n
        ) AS place
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    WHERE s.n > 0
) AS places
WHERE place = 1
"""

LEADERBOARD = """
CREATE VIEW leaderboard AS
SELECT
    s.run_id, a.dataset, s.n,
    RANK() OVER (PARTITION BY s.run_id, a.dataset, s.n ORDER BY AVG(s.bertscore_f1) DESC) AS rank,
    s.system,
    CASE WHEN s.system IN ('oracle', 'window-oracle') THEN 'upper bound'
        WHEN s.system IN ('lead', 'random') THEN 'control' ELSE 'system' END AS kind,
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
"""

VIEWS = {"sweep_curve": SWEEP_CURVE, "best_n": BEST_N, "leaderboard": LEADERBOARD}

# As revision 0001 made them.
OLD_SWEEP_CURVE = """
CREATE VIEW sweep_curve AS
SELECT
    run_id, dataset, system, n, articles,
    bertscore_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN bertscore_f1_ss > 0 THEN bertscore_f1_ss / (articles - 1) ELSE 0 END)
    END AS bertscore_f1_sd,
    bertscore_precision_mean,
    bertscore_recall_mean,
    rouge1_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN rouge1_f1_ss > 0 THEN rouge1_f1_ss / (articles - 1) ELSE 0 END)
    END AS rouge1_f1_sd,
    rouge2_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN rouge2_f1_ss > 0 THEN rouge2_f1_ss / (articles - 1) ELSE 0 END)
    END AS rouge2_f1_sd,
    rougel_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN rougel_f1_ss > 0 THEN rougel_f1_ss / (articles - 1) ELSE 0 END)
    END AS rougel_f1_sd,
    efficiency_mean,
    density_mean
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
) AS by_length
"""

OLD_BEST_N = """
CREATE VIEW best_n AS
SELECT run_id, article_id, dataset, system, n, bertscore_f1
FROM (
    SELECT
        s.run_id, s.article_id, a.dataset, s.system, s.n, s.bertscore_f1,
        ROW_NUMBER() OVER (
            PARTITION BY s.run_id, s.article_id, s.system ORDER BY s.bertscore_f1 DESC, s.n
        ) AS place
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    WHERE s.n > 0
) AS places
WHERE place = 1
"""

OLD_LEADERBOARD = """
CREATE VIEW leaderboard AS
SELECT
    s.run_id, a.dataset, s.n,
    RANK() OVER (PARTITION BY s.run_id, a.dataset, s.n ORDER BY AVG(s.bertscore_f1) DESC) AS rank,
    s.system,
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
"""

OLD_VIEWS = {"sweep_curve": OLD_SWEEP_CURVE, "best_n": OLD_BEST_N, "leaderboard": OLD_LEADERBOARD}


def upgrade() -> None:
    # A view stands in the way of changing a table on either database.
    for name in OLD_VIEWS:
        op.execute(f"DROP VIEW {name}")
    # An article of a run from before has all its summaries if it has any. (The default stays: without it SQLite would
    # have to make the table anew, which other tables refer to.)
    op.add_column("runs", sa.Column("systems", sa.Integer, nullable=False, server_default="1"))
    op.add_column("failures", sa.Column("stage", sa.Text, nullable=False, server_default="sweep"))
    with op.batch_alter_table("failures") as failures:
        failures.alter_column("stage", server_default=None)
        failures.drop_constraint("pk_failures", type_="primary")
        failures.create_primary_key("pk_failures", ["run_id", "article_id", "stage"])
    for view in VIEWS.values():
        op.execute(view)


def downgrade() -> None:
    for name in VIEWS:
        op.execute(f"DROP VIEW {name}")
    # One failure an article is all that the older table can hold.
    op.execute("DELETE FROM failures WHERE stage <> 'sweep'")
    with op.batch_alter_table("failures") as failures:
        failures.drop_constraint("pk_failures", type_="primary")
        failures.create_primary_key("pk_failures", ["run_id", "article_id"])
        failures.drop_column("stage")
    op.drop_column("runs", "systems")
    for view in OLD_VIEWS.values():
        op.execute(view)
