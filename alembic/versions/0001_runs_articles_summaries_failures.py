"""Runs, articles, summaries and failures, and the views over them.

Revision ID: 0001
Revises:
Create Date: 2026-11-21
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

METRICS = (
    "bertscore_precision",
    "bertscore_recall",
    "bertscore_f1",
    "rouge1_precision",
    "rouge1_recall",
    "rouge1_f1",
    "rouge2_precision",
    "rouge2_recall",
    "rouge2_f1",
    "rougel_precision",
    "rougel_recall",
    "rougel_f1",
    "efficiency",
    "density",
)

# The sample standard deviation is sqrt((sum(x^2) - sum(x)^2 / k) / (k - 1)), as SQLite has no stddev_samp. Of equal
# values, rounding can leave the difference below zero, which is zero; of one value there is no deviation: NULL.
SWEEP_CURVE = """
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

BEST_N = """
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

# Systems are compared at equal n: a longer summary has the higher F1 for its length alone.
LEADERBOARD = """
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

VIEWS = {"sweep_curve": SWEEP_CURVE, "best_n": BEST_N, "leaderboard": LEADERBOARD}


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("job", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("recipe", sa.JSON, nullable=False),
        sa.Column("recipe_hash", sa.Text, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("code_version", sa.Text, nullable=False),
        sa.Column("revisions", sa.JSON, nullable=False),
        sa.Column("signatures", sa.JSON, nullable=False),
        sa.Column("device", sa.Text),
        sa.Column("driver_epoch", sa.Integer, nullable=False),
        sa.Column("driver_host", sa.Text),
        sa.Column("driver_pid", sa.Integer),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True)),
        sa.Column("total_articles", sa.Integer),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.Column("error", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.CheckConstraint(
            "state IN ('pending', 'running', 'done', 'failed', 'interrupted')", name=op.f("ck_runs_state")
        ),
    )
    op.create_index("ix_runs_recipe_hash_created_at", "runs", ["recipe_hash", "created_at"])
    op.create_table(
        "articles",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("split", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("reference_summaries", sa.JSON, nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_articles"),
    )
    op.create_table(
        "summaries",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("article_id", sa.String(16), nullable=False),
        sa.Column("system", sa.Text, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("words", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        *(sa.Column(name, sa.Double, nullable=False) for name in METRICS),
        sa.Column("extra", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "article_id", "system", "n", name="pk_summaries"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_summaries_run_id_runs"),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_summaries_article_id_articles"),
    )
    op.create_index("ix_summaries_run_id_system_n", "summaries", ["run_id", "system", "n"])
    op.create_table(
        "failures",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("article_id", sa.String(16), nullable=False),
        sa.Column("error_class", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("node", sa.Text, nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "article_id", name="pk_failures"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_failures_run_id_runs"),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_failures_article_id_articles"),
    )
    for view in VIEWS.values():
        op.execute(view)


def downgrade() -> None:
    for name in VIEWS:
        op.execute(f"DROP VIEW {name}")
    for table in ("failures", "summaries", "articles", "runs"):
        op.drop_table(table)
