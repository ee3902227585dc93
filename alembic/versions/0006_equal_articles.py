"""A mean over some of the articles is marked, and has no rank among means over all of them.

Revision ID: 0006
Revises: 0005
Create Date: 2026-11-22
"""

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Nothing but views, which are made when all revisions are through (`jobs.store.views`)."""
