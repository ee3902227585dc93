"""Texts of summaries may be in files beside the database.

Revision ID: 0019
Revises: 0018
Create Date: 2026-11-25
"""

import sqlalchemy as sa
from alembic import op

from jobs.store.views import drop_views

revision: str = "0019"
down_revision: str | None = "0018"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    drop_views(op.get_bind())
    # (On Postgres the partitions follow. SQLite makes the table anew, which no other refers to.)
    with op.batch_alter_table("summaries") as summaries:
        summaries.alter_column("text", nullable=True)
        summaries.add_column(sa.Column("text_file", sa.BigInteger))
    op.create_table(
        "text_folders",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("folder", sa.Text),
        sa.PrimaryKeyConstraint("run_id", name="pk_text_folders"),
    )
    op.create_table(
        "text_files",
        sa.Column("id", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_text_files"),
        sa.ForeignKeyConstraint(["run_id"], ["text_folders.run_id"], name="fk_text_files_run_id_text_folders"),
    )
    op.create_index("ix_text_files_run_id", "text_files", ["run_id"])
