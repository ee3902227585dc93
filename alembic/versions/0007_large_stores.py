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

MEANS = (
    "bertscore_f1_mean, bertscore_f1_ss, bertscore_precision_mean, "
    "bertscore_recall_mean, rouge1_f1_mean, rouge1_f1_ss, rouge2_f1_mean, rouge2_f1_ss, rougel_f1_mean, rougel_f1_ss, "
    "efficiency_mean, density_mean"
)

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


def upgrade() -> None:
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
        *(sa.Column(name, sa.Double, nullable=False) for name in MEANS.split(", ")),
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
