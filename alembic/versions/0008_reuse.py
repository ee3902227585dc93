"""What a system is as work, so that what one run has computed can be copied by another; and which rows were.

Revision ID: 0008
Revises: 0007
Create Date: 2026-11-22
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    # What systems of older runs are as work is not known: nothing of theirs is copied. (The defaults stay, as for
    # `systems` in revision 0002.)
    op.add_column("systems", sa.Column("work", sa.Text))
    op.create_index("ix_systems_work", "systems", ["work"])
    op.create_index("ix_articles_content_hash", "articles", ["content_hash"])
    op.add_column("summaries", sa.Column("reused_from", sa.Text))
    op.add_column("runs", sa.Column("reuse", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("runs", sa.Column("reused", sa.Integer, nullable=False, server_default="0"))
