"""What people call a run, and for how long drivers have worked on it.

Revision ID: 0010
Revises: 0009
Create Date: 2026-11-22
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("name", sa.Text))
    op.add_column("runs", sa.Column("note", sa.Text))
    op.add_column("runs", sa.Column("claimed_at", sa.DateTime(timezone=True)))
    # (The default stays, as for `systems` in revision 0002.)
    op.add_column("runs", sa.Column("worked_seconds", sa.Double, nullable=False, server_default="0"))
    # Of older runs nobody knows the pauses: one that had several drivers counts as if it had had one.
    op.execute("UPDATE runs SET claimed_at = started_at")
