"""What a run's driver found when it read its datasets, so that a driver that resumes it need not read them again.

Revision ID: 0016
Revises: 0013
Create Date: 2026-11-24
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | None = "0013"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "datasets_read",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("dataset_number", sa.Integer, nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("code_version", sa.Text, nullable=False),
        sa.Column("revision", sa.Text, nullable=False),
        sa.Column("articles", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "dataset_number", "part", name="pk_datasets_read"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_datasets_read_run_id_runs"),
    )
