"""How much of the reference's content a summary keeps; and by which articles a run measures what any text would keep.

Revision ID: 0012
Revises: 0011
Create Date: 2026-11-23
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    # Of summaries that are there already, `nws add-metric RUN kept` computes them.
    op.add_column("summaries", sa.Column("kept", sa.Double))
    op.add_column("summaries", sa.Column("kept_words", sa.Double))
    op.add_column("runs", sa.Column("panel", sa.Text))
