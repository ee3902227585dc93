"""Where a run was submitted, requests to cancel it, and what its drivers said.

Revision ID: 0003
Revises: 0002
Create Date: 2026-11-21
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("address", sa.Text))
    op.add_column("runs", sa.Column("cancel_requested_at", sa.DateTime(timezone=True)))
    op.create_table(
        "log_lines",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("driver_epoch", sa.Integer, nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "number", name="pk_log_lines"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_log_lines_run_id_runs"),
    )
