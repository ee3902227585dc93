"""On Postgres the summaries of each run lie in a partition of their own, without foreign keys.

Revision ID: 0018
Revises: 0017
Create Date: 2026-11-24
"""

import sqlalchemy as sa
from alembic import op

from jobs.store.partitions import make_partition
from jobs.store.views import drop_views

revision: str = "0018"
down_revision: str | None = "0017"
branch_labels: str | None = None
depends_on: str | None = None

SCORES = (
    *(
        f"{metric}_{part}"
        for metric in ("bertscore", "rouge1", "rouge2", "rougel")
        for part in ("precision", "recall", "f1")
    ),
    *("efficiency", "density", "coverage"),
)


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    drop_views(connection)
    # A table cannot become a partitioned one: its rows are moved to a new one.
    op.execute("DROP INDEX ix_summaries_run_id_system_n")
    op.execute("ALTER TABLE summaries RENAME TO summaries_before")
    op.execute("ALTER TABLE summaries_before RENAME CONSTRAINT pk_summaries TO pk_summaries_before")
    table = op.create_table(
        "summaries",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("article_id", sa.String(16), nullable=False),
        sa.Column("system", sa.Text, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("words", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        *(sa.Column(name, sa.Double, nullable=False) for name in SCORES),
        sa.Column("kept", sa.Double),
        sa.Column("kept_words", sa.Double),
        sa.Column("extra", sa.JSON, nullable=False),
        sa.Column("reused_from", sa.Text),
        sa.PrimaryKeyConstraint("run_id", "article_id", "system", "n", name="pk_summaries"),
        postgresql_partition_by="LIST (run_id)",
    )
    op.create_index("ix_summaries_run_id_system_n", "summaries", ["run_id", "system", "n"])
    for run_id in connection.exec_driver_sql("SELECT id FROM runs").scalars().all():
        make_partition(connection, run_id)
    names = ", ".join(column.name for column in table.columns)
    op.execute(f"INSERT INTO summaries ({names}) SELECT {names} FROM summaries_before")
    op.execute("DROP TABLE summaries_before")
