"""Policies, and how they learnt.

Revision ID: 0004
Revises: 0003
Create Date: 2026-11-21
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | None = None
depends_on: str | None = None

STATISTICS = (
    "reward",
    "reward_std",
    "advantage_baseline",
    "advantage_std",
    "entropy",
    "log_probability",
    "policy_loss",
    "loss",
    "grad_norm",
)


def upgrade() -> None:
    op.create_table(
        "policies",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("lengths", sa.JSON, nullable=False),
        sa.Column("updates", sa.Integer, nullable=False),
        sa.Column("total_updates", sa.Integer, nullable=False),
        sa.Column("config", sa.JSON, nullable=False),
        sa.Column("state", sa.LargeBinary, nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "name", name="pk_policies"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_policies_run_id_runs"),
    )
    op.create_table(
        "updates",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("update_number", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Double, nullable=False) for name in STATISTICS),
        sa.PrimaryKeyConstraint("run_id", "policy", "update_number", name="pk_updates"),
        sa.ForeignKeyConstraint(
            ["run_id", "policy"], ["policies.run_id", "policies.name"], name="fk_updates_run_id_policies"
        ),
    )
    op.create_table(
        "episodes",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("update_number", sa.Integer, nullable=False),
        sa.Column("article_id", sa.String(16), nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("sample", sa.Integer, nullable=False),
        sa.Column("decoding", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("reward", sa.Double, nullable=False),
        sa.Column("advantage_baseline", sa.Double),
        sa.Column("advantage", sa.Double),
        sa.Column("entropy", sa.Double),
        sa.Column("log_probability", sa.Double),
        sa.PrimaryKeyConstraint("run_id", "policy", "update_number", "article_id", "n", "sample", name="pk_episodes"),
        sa.ForeignKeyConstraint(
            ["run_id", "policy"], ["policies.run_id", "policies.name"], name="fk_episodes_run_id_policies"
        ),
        sa.ForeignKeyConstraint(["article_id"], ["articles.id"], name="fk_episodes_article_id_articles"),
        sa.CheckConstraint("decoding IN ('sampled', 'greedy')", name=op.f("ck_episodes_decoding")),
    )
