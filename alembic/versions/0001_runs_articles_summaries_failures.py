"""Runs, articles, summaries and failures.

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
