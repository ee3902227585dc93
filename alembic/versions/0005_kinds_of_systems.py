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

SWEEP_CURVE = """
CREATE VIEW sweep_curve AS
SELECT
    c.run_id, c.dataset, c.system, COALESCE(y.kind, 'system') AS kind, c.n, c.articles,
    c.bertscore_f1_mean,
    CASE WHEN c.articles > 1
        THEN SQRT(CASE WHEN c.bertscore_f1_ss > 0 THEN c.bertscore_f1_ss / (c.articles - 1) ELSE 0 END)
    END AS bertscore_f1_sd,
    c.bertscore_precision_mean,
    c.bertscore_recall_mean,
    c.rouge1_f1_mean,
    CASE WHEN c.articles > 1 THEN SQRT(CASE WHEN c.rouge1_f1_ss > 0 THEN c.rouge1_f1_ss / (c.articles - 1) ELSE 0 END)
    END AS rouge1_f1_sd,
    c.rouge2_f1_mean,
    CASE WHEN c.articles > 1 THEN SQRT(CASE WHEN c.rouge2_f1_ss > 0 THEN c.rouge2_f1_ss / (c.articles - 1) ELSE 0 END)
    END AS rouge2_f1_sd,
    c.rougel_f1_mean,
    CASE WHEN c.articles > 1 THEN SQRT(CASE WHEN c.rougel_f1_ss > 0 THEN c.rougel_f1_ss / (c.articles - 1) ELSE 0 END)
    END AS rougel_f1_sd,
    c.efficiency_mean,
    c.density_mean
FROM (
    SELECT
        s.run_id, a.dataset, s.system, s.n,
        COUNT(*) AS articles,
        AVG(s.bertscore_f1) AS bertscore_f1_mean,
        SUM(s.bertscore_f1 * s.bertscore_f1) - SUM(s.bertscore_f1) * SUM(s.bertscore_f1) / COUNT(*)
            AS bertscore_f1_ss,
        AVG(s.bertscore_precision) AS bertscore_precision_mean,
        AVG(s.bertscore_recall) AS bertscore_recall_mean,
        AVG(s.rouge1_f1) AS rouge1_f1_mean,
        SUM(s.rouge1_f1 * s.rouge1_f1) - SUM(s.rouge1_f1) * SUM(s.rouge1_f1) / COUNT(*) AS rouge1_f1_ss,
        AVG(s.rouge2_f1) AS rouge2_f1_mean,
        SUM(s.rouge2_f1 * s.rouge2_f1) - SUM(s.rouge2_f1) * SUM(s.rouge2_f1) / COUNT(*) AS rouge2_f1_ss,
        AVG(s.rougel_f1) AS rougel_f1_mean,
        SUM(s.rougel_f1 * s.rougel_f1) - SUM(s.rougel_f1) * SUM(s.rougel_f1) / COUNT(*) AS rougel_f1_ss,
        AVG(s.efficiency) AS efficiency_mean,
        AVG(s.density) AS density_mean
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    GROUP BY s.run_id, a.dataset, s.system, s.n
) AS c
LEFT JOIN systems AS y ON y.run_id = c.run_id AND y.system = c.system
"""

BEST_N = """
CREATE VIEW best_n AS
SELECT
    p.run_id, p.article_id, p.dataset, p.system, COALESCE(y.kind, 'system') AS kind, p.n, p.bertscore_f1
FROM (
    SELECT
        s.run_id, s.article_id, a.dataset, s.system, s.n, s.bertscore_f1,
        ROW_NUMBER() OVER (
            PARTITION BY s.run_id, s.article_id, s.system ORDER BY s.bertscore_f1 DESC, s.n
        ) AS place
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    WHERE s.n > 0
) AS p
LEFT JOIN systems AS y ON y.run_id = p.run_id AND y.system = p.system
WHERE p.place = 1
"""

LEADERBOARD = """
CREATE VIEW leaderboard AS
SELECT
    m.run_id, m.dataset, m.n,
    RANK() OVER (PARTITION BY m.run_id, m.dataset, m.n ORDER BY m.bertscore_f1 DESC) AS rank,
    m.system, COALESCE(y.kind, 'system') AS kind, m.articles,
    m.bertscore_f1, m.rouge1_f1, m.rouge2_f1, m.rougel_f1, m.efficiency, m.density
FROM (
    SELECT
        s.run_id, a.dataset, s.n, s.system,
        COUNT(*) AS articles,
        AVG(s.bertscore_f1) AS bertscore_f1,
        AVG(s.rouge1_f1) AS rouge1_f1,
        AVG(s.rouge2_f1) AS rouge2_f1,
        AVG(s.rougel_f1) AS rougel_f1,
        AVG(s.efficiency) AS efficiency,
        AVG(s.density) AS density
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    GROUP BY s.run_id, a.dataset, s.n, s.system
) AS m
LEFT JOIN systems AS y ON y.run_id = m.run_id AND y.system = m.system
"""

VIEWS = {"sweep_curve": SWEEP_CURVE, "best_n": BEST_N, "leaderboard": LEADERBOARD}

# Of every run from before, which systems it has so far; these were all the controls and upper bounds there were.
KNOWN_KINDS = """
INSERT INTO systems (run_id, system, kind)
SELECT DISTINCT run_id, system,
    CASE WHEN system IN ('oracle', 'window-oracle') THEN 'upper bound'
        WHEN system IN ('lead', 'random') THEN 'control' ELSE 'system' END
FROM summaries
"""

# As revision 0002 made them.
OLD_SWEEP_CURVE = """
CREATE VIEW sweep_curve AS
SELECT
    run_id, dataset, system,
    CASE WHEN system IN ('oracle', 'window-oracle') THEN 'upper bound'
        WHEN system IN ('lead', 'random') THEN 'control' ELSE 'system' END AS kind,
    n, articles,
    bertscore_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN bertscore_f1_ss > 0 THEN bertscore_f1_ss / (articles - 1) ELSE 0 END)
    END AS bertscore_f1_sd,
    bertscore_precision_mean,
    bertscore_recall_mean,
    rouge1_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN rouge1_f1_ss > 0 THEN rouge1_f1_ss / (articles - 1) ELSE 0 END)
    END AS rouge1_f1_sd,
    rouge2_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN rouge2_f1_ss > 0 THEN rouge2_f1_ss / (articles - 1) ELSE 0 END)
    END AS rouge2_f1_sd,
    rougel_f1_mean,
    CASE WHEN articles > 1 THEN SQRT(CASE WHEN rougel_f1_ss > 0 THEN rougel_f1_ss / (articles - 1) ELSE 0 END)
    END AS rougel_f1_sd,
    efficiency_mean,
    density_mean
FROM (
    SELECT
        s.run_id, a.dataset, s.system, s.n,
        COUNT(*) AS articles,
        AVG(s.bertscore_f1) AS bertscore_f1_mean,
        SUM(s.bertscore_f1 * s.bertscore_f1) - SUM(s.bertscore_f1) * SUM(s.bertscore_f1) / COUNT(*)
            AS bertscore_f1_ss,
        AVG(s.bertscore_precision) AS bertscore_precision_mean,
        AVG(s.bertscore_recall) AS bertscore_recall_mean,
        AVG(s.rouge1_f1) AS rouge1_f1_mean,
        SUM(s.rouge1_f1 * s.rouge1_f1) - SUM(s.rouge1_f1) * SUM(s.rouge1_f1) / COUNT(*) AS rouge1_f1_ss,
        AVG(s.rouge2_f1) AS rouge2_f1_mean,
        SUM(s.rouge2_f1 * s.rouge2_f1) - SUM(s.rouge2_f1) * SUM(s.rouge2_f1) / COUNT(*) AS rouge2_f1_ss,
        AVG(s.rougel_f1) AS rougel_f1_mean,
        SUM(s.rougel_f1 * s.rougel_f1) - SUM(s.rougel_f1) * SUM(s.rougel_f1) / COUNT(*) AS rougel_f1_ss,
        AVG(s.efficiency) AS efficiency_mean,
        AVG(s.density) AS density_mean
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    GROUP BY s.run_id, a.dataset, s.system, s.n
) AS by_length
"""


OLD_BEST_N = """
CREATE VIEW best_n AS
SELECT
    run_id, article_id, dataset, system,
    CASE WHEN system IN ('oracle', 'window-oracle') THEN 'upper bound'
        WHEN system IN ('lead', 'random') THEN 'control' ELSE 'system' END AS kind,
    n, bertscore_f1
FROM (
    SELECT
        s.run_id, s.article_id, a.dataset, s.system, s.n, s.bertscore_f1,
        ROW_NUMBER() OVER (
            PARTITION BY s.run_id, s.article_id, s.system ORDER BY s.bertscore_f1 DESC, s.n
        ) AS place
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    WHERE s.n > 0
) AS places
WHERE place = 1
"""


OLD_LEADERBOARD = """
CREATE VIEW leaderboard AS
SELECT
    s.run_id, a.dataset, s.n,
    RANK() OVER (PARTITION BY s.run_id, a.dataset, s.n ORDER BY AVG(s.bertscore_f1) DESC) AS rank,
    s.system,
    CASE WHEN s.system IN ('oracle', 'window-oracle') THEN 'upper bound'
        WHEN s.system IN ('lead', 'random') THEN 'control' ELSE 'system' END AS kind,
    COUNT(*) AS articles,
    AVG(s.bertscore_f1) AS bertscore_f1,
    AVG(s.rouge1_f1) AS rouge1_f1,
    AVG(s.rouge2_f1) AS rouge2_f1,
    AVG(s.rougel_f1) AS rougel_f1,
    AVG(s.efficiency) AS efficiency,
    AVG(s.density) AS density
FROM summaries AS s
JOIN articles AS a ON a.id = s.article_id
GROUP BY s.run_id, a.dataset, s.n, s.system
"""

OLD_VIEWS = {"sweep_curve": OLD_SWEEP_CURVE, "best_n": OLD_BEST_N, "leaderboard": OLD_LEADERBOARD}


def upgrade() -> None:
    for name in OLD_VIEWS:
        op.execute(f"DROP VIEW {name}")
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
    for view in VIEWS.values():
        op.execute(view)


def downgrade() -> None:
    for name in VIEWS:
        op.execute(f"DROP VIEW {name}")
    op.drop_table("systems")
    op.drop_column("runs", "arithmetic")
    for view in OLD_VIEWS.values():
        op.execute(view)
