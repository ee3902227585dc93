"""Stages of a run.

Revision ID: 0002
Revises: 0001
Create Date: 2026-11-21
"""

import sqlalchemy as sa
from alembic import op

from jobs.store.views import drop_views

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    drop_views(op.get_bind())
    # An article of a run from before has all its summaries if it has any. (The default stays: without it SQLite would
    # have to make the table anew, which other tables refer to.)
    op.add_column("runs", sa.Column("systems", sa.Integer, nullable=False, server_default="1"))
    op.add_column("failures", sa.Column("stage", sa.Text, nullable=False, server_default="sweep"))
    with op.batch_alter_table("failures") as failures:
        failures.alter_column("stage", server_default=None)
        failures.drop_constraint("pk_failures", type_="primary")
        failures.create_primary_key("pk_failures", ["run_id", "article_id", "stage"])
