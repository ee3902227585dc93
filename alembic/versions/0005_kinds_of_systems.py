"""What each system of a run is, told by the run; and what its workers multiplied with.

Revision ID: 0005
Revises: 0004
Create Date: 2026-11-22
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | None = None
depends_on: str | None = None

# Of every run from before, which systems it has so far; these were all the controls and upper bounds there were.
KNOWN_KINDS = """
INSERT INTO systems (run_id, system, kind)
SELECT DISTINCT run_id, system,
    CASE WHEN system IN ('oracle', 'window-oracle') THEN 'upper bound'
        WHEN system IN ('lead', 'random') THEN 'control' ELSE 'system' END
FROM summaries
"""


def upgrade() -> None:
    op.create_table(
        "systems",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("system", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "system", name="pk_systems"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_systems_run_id_runs"),
        sa.CheckConstraint("kind IN ('system', 'control', 'upper bound')", name=op.f("ck_systems_kind")),
    )
    op.execute(KNOWN_KINDS)
    # What runs from before multiplied with is not known. (The default stays, as for `systems` in revision 0002.)
    op.add_column("runs", sa.Column("arithmetic", sa.JSON, nullable=False, server_default="[]"))
