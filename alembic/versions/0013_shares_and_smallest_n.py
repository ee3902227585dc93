"""Of runs that have ended: how much of the content systems keep by n, and the smallest n for a share.

Revision ID: 0013
Revises: 0012
Create Date: 2026-11-23
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    # Of runs that have ended already, `nws add-metric RUN kept` fills them.
    op.create_table(
        "content_kept",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("system", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("of", sa.Text, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("share", sa.Double, nullable=False),
        sa.Column("low", sa.Double),
        sa.Column("high", sa.Double),
        sa.Column("articles", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "dataset", "system", "of", "n", name="pk_content_kept"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_content_kept_run_id_runs"),
    )
    op.create_table(
        "smallest_n",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("dataset", sa.Text, nullable=False),
        sa.Column("system", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("of", sa.Text, nullable=False),
        sa.Column("longest", sa.Integer, nullable=False),
        sa.Column("x", sa.Double, nullable=False),
        sa.Column("n", sa.Integer),
        sa.Column("low", sa.Integer),
        sa.Column("high", sa.Integer),
        sa.Column("claimed", sa.Integer),
        sa.Column("articles_for_one_step", sa.Integer),
        sa.PrimaryKeyConstraint("run_id", "dataset", "system", "of", "x", name="pk_smallest_n"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_smallest_n_run_id_runs"),
    )
