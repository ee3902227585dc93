"""Studies: runs whose articles are divided among other runs, their shards; and scores as columns.

Revision ID: 0017
Revises: 0016
Create Date: 2026-11-24
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0017"
down_revision: str | None = "0016"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    # In SQL, for alembic would copy the table on SQLite, which others refer to.
    op.execute("ALTER TABLE runs ADD COLUMN study TEXT CONSTRAINT fk_runs_study_runs REFERENCES runs (id)")
    op.execute("ALTER TABLE runs ADD COLUMN shard INTEGER")
    op.create_index("ix_runs_study", "runs", ["study"])
    op.create_table(
        "studies",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("drivers", sa.Integer, nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="pk_studies"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_studies_run_id_runs"),
    )
    op.create_table(
        "panel_articles",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("dataset_number", sa.Integer, nullable=False),
        sa.Column("article_id", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "dataset_number", "article_id", name="pk_panel_articles"),
        sa.ForeignKeyConstraint(["run_id"], ["studies.run_id"], name="fk_panel_articles_run_id_studies"),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_panel_articles_article_id_articles"),
    )
    op.create_table(
        "score_columns",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("column_values", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "name", "part", name="pk_score_columns"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_score_columns_run_id_runs"),
    )
