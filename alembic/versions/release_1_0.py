"""The tables of release 1.0, written out: this file must not read the code of today."""

import sqlalchemy as sa
from alembic import op

revision: str = "1.0"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "articles",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("split", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("reference_summaries", sa.JSON(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_articles")),
    )
    with op.batch_alter_table("articles", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_articles_content_hash"), ["content_hash"], unique=False)

    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("recipe", sa.JSON(), nullable=False),
        sa.Column("recipe_hash", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("code_version", sa.Text(), nullable=False),
        sa.Column("revisions", sa.JSON(), nullable=False),
        sa.Column("signatures", sa.JSON(), nullable=False),
        sa.Column("device", sa.Text(), nullable=True),
        sa.Column("driver_epoch", sa.Integer(), nullable=False),
        sa.Column("driver_host", sa.Text(), nullable=True),
        sa.Column("driver_pid", sa.Integer(), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("total_articles", sa.Integer(), nullable=True),
        sa.Column("systems", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("arithmetic", sa.JSON(), nullable=False),
        sa.Column("articles_done", sa.Integer(), nullable=False),
        sa.Column("summaries", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("means_cached", sa.Boolean(), nullable=False),
        sa.Column("reuse", sa.Boolean(), nullable=False),
        sa.Column("mixed", sa.Boolean(), nullable=False),
        sa.Column("reused", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("worked_seconds", sa.Double(), nullable=False),
        sa.Column("panel", sa.Text(), nullable=True),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("word_kinds", sa.Text(), nullable=True),
        sa.Column("parent", sa.Text(), nullable=True),
        sa.Column("shard", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "state IN ('pending', 'running', 'done', 'failed', 'interrupted')", name=op.f("ck_runs_state")
        ),
        sa.ForeignKeyConstraint(["parent"], ["runs.id"], name=op.f("fk_runs_parent_runs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_runs_parent"), ["parent"], unique=False)
        batch_op.create_index(batch_op.f("ix_runs_recipe_hash_created_at"), ["recipe_hash", "created_at"], unique=False)

    op.create_table(
        "content_kept",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("ceiling", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("articles", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_content_kept_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "dataset", "system", "ceiling", "n", name=op.f("pk_content_kept")),
    )
    op.create_table(
        "documents",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("headlines", sa.JSON(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_documents_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_documents")),
    )
    op.create_table(
        "failures",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("article_id", sa.String(length=16), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("error_class", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_failures_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "article_id", "stage", name=op.f("pk_failures")),
    )
    op.create_table(
        "kept_by_kind",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("articles", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_kept_by_kind_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "dataset", "system", "n", "kind", name=op.f("pk_kept_by_kind")),
    )
    op.create_table(
        "log_lines",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("driver_epoch", sa.Integer(), nullable=False),
        sa.Column("logged_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_log_lines_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_log_lines")),
    )
    op.create_table(
        "policies",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("lengths", sa.JSON(), nullable=False),
        sa.Column("updates", sa.Integer(), nullable=False),
        sa.Column("total_updates", sa.Integer(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_policies_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "name", name=op.f("pk_policies")),
    )
    op.create_table(
        "progress",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("numbers", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_progress_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_progress")),
    )
    op.create_table(
        "run_best_n",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("article_id", sa.String(length=16), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("bertscore_f1", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_best_n_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "article_id", "system", name=op.f("pk_run_best_n")),
    )
    op.create_table(
        "run_means",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("articles", sa.Integer(), nullable=False),
        sa.Column("of_articles", sa.Integer(), nullable=False),
        sa.Column("bertscore_f1_mean", sa.Double(), nullable=False),
        sa.Column("bertscore_f1_ss", sa.Double(), nullable=False),
        sa.Column("bertscore_precision_mean", sa.Double(), nullable=False),
        sa.Column("bertscore_recall_mean", sa.Double(), nullable=False),
        sa.Column("rouge1_f1_mean", sa.Double(), nullable=False),
        sa.Column("rouge1_f1_ss", sa.Double(), nullable=False),
        sa.Column("rouge2_f1_mean", sa.Double(), nullable=False),
        sa.Column("rouge2_f1_ss", sa.Double(), nullable=False),
        sa.Column("rougel_f1_mean", sa.Double(), nullable=False),
        sa.Column("rougel_f1_ss", sa.Double(), nullable=False),
        sa.Column("efficiency_mean", sa.Double(), nullable=False),
        sa.Column("density_mean", sa.Double(), nullable=False),
        sa.Column("coverage_mean", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_means_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "dataset", "system", "n", name=op.f("pk_run_means")),
    )
    op.create_table(
        "score_columns",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("part", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("column_values", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_score_columns_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "name", "part", name=op.f("pk_score_columns")),
    )
    op.create_table(
        "sharded_runs",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("drivers", sa.Integer(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("panels", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_sharded_runs_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_sharded_runs")),
    )
    op.create_table(
        "smallest_n",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("ceiling", sa.Text(), nullable=False),
        sa.Column("longest", sa.Integer(), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=True),
        sa.Column("low", sa.Integer(), nullable=True),
        sa.Column("high", sa.Integer(), nullable=True),
        sa.Column("claimed", sa.Integer(), nullable=True),
        sa.Column("articles_for_one_step", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_smallest_n_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "dataset", "system", "ceiling", "share", name=op.f("pk_smallest_n")),
    )
    op.create_table(
        "summaries",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("article_id", sa.String(length=16), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("bertscore_precision", sa.Double(), nullable=False),
        sa.Column("bertscore_recall", sa.Double(), nullable=False),
        sa.Column("bertscore_f1", sa.Double(), nullable=False),
        sa.Column("rouge1_precision", sa.Double(), nullable=False),
        sa.Column("rouge1_recall", sa.Double(), nullable=False),
        sa.Column("rouge1_f1", sa.Double(), nullable=False),
        sa.Column("rouge2_precision", sa.Double(), nullable=False),
        sa.Column("rouge2_recall", sa.Double(), nullable=False),
        sa.Column("rouge2_f1", sa.Double(), nullable=False),
        sa.Column("rougel_precision", sa.Double(), nullable=False),
        sa.Column("rougel_recall", sa.Double(), nullable=False),
        sa.Column("rougel_f1", sa.Double(), nullable=False),
        sa.Column("efficiency", sa.Double(), nullable=False),
        sa.Column("density", sa.Double(), nullable=False),
        sa.Column("coverage", sa.Double(), nullable=False),
        sa.Column("kept", sa.Double(), nullable=True),
        sa.Column("kept_words", sa.Double(), nullable=True),
        sa.Column("extra", sa.JSON(), nullable=False),
        sa.Column("reused_from", sa.Text(), nullable=True),
        sa.Column("kinds", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_summaries_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "article_id", "system", "n", name=op.f("pk_summaries")),
    )
    with op.batch_alter_table("summaries", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_summaries_run_id_system_n"), ["run_id", "system", "n"], unique=False)

    op.create_table(
        "systems",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reuse_key", sa.Text(), nullable=True),
        sa.CheckConstraint("kind IN ('system', 'control', 'oracle')", name=op.f("ck_systems_kind")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_systems_run_id_runs")),
        sa.PrimaryKeyConstraint("run_id", "system", name=op.f("pk_systems")),
    )
    with op.batch_alter_table("systems", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_systems_reuse_key"), ["reuse_key"], unique=False)

    op.create_table(
        "episodes",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("update_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("article_id", sa.String(length=16), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sample", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("decoding", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("reward", sa.Double(), nullable=False),
        sa.Column("advantage_baseline", sa.Double(), nullable=True),
        sa.Column("advantage", sa.Double(), nullable=True),
        sa.Column("entropy", sa.Double(), nullable=True),
        sa.Column("log_probability", sa.Double(), nullable=True),
        sa.CheckConstraint("decoding IN ('sampled', 'greedy')", name=op.f("ck_episodes_decoding")),
        sa.ForeignKeyConstraint(
            ["run_id", "policy"], ["policies.run_id", "policies.name"], name=op.f("fk_episodes_run_id_policies")
        ),
        sa.PrimaryKeyConstraint(
            "run_id", "policy", "update_number", "article_id", "n", "sample", name=op.f("pk_episodes")
        ),
    )
    op.create_table(
        "updates",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("update_number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("reward", sa.Double(), nullable=False),
        sa.Column("reward_std", sa.Double(), nullable=False),
        sa.Column("advantage_baseline", sa.Double(), nullable=False),
        sa.Column("advantage_std", sa.Double(), nullable=False),
        sa.Column("entropy", sa.Double(), nullable=False),
        sa.Column("log_probability", sa.Double(), nullable=False),
        sa.Column("policy_loss", sa.Double(), nullable=False),
        sa.Column("loss", sa.Double(), nullable=False),
        sa.Column("grad_norm", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "policy"], ["policies.run_id", "policies.name"], name=op.f("fk_updates_run_id_policies")
        ),
        sa.PrimaryKeyConstraint("run_id", "policy", "update_number", name=op.f("pk_updates")),
    )
