"""What a driver is at, for `nws watch`.

Revision ID: 0009
Revises: 0008
Create Date: 2026-11-22
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "progress",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("noted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("finished", sa.Integer, nullable=False),
        sa.Column("failed", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer),
        sa.Column("span_seconds", sa.Double, nullable=False),
        sa.Column("span_finished", sa.Integer, nullable=False),
        sa.Column("actors", sa.JSON, nullable=False),
        sa.Column("newest", sa.Text),
        sa.PrimaryKeyConstraint("run_id", name="pk_progress"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_progress_run_id_runs"),
    )
