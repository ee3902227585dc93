"""A mean over some of the articles is marked, and has no rank among means over all of them.

Revision ID: 0006
Revises: 0005
Create Date: 2026-11-22
"""

from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None

# `of_articles` are those that any system of the run has at that n of a dataset.
SWEEP_CURVE = """
CREATE VIEW sweep_curve AS
SELECT
    c.run_id, c.dataset, c.system, COALESCE(y.kind, 'system') AS kind, c.n, c.articles, t.of_articles,
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
JOIN (
    SELECT s.run_id, a.dataset, s.n, COUNT(DISTINCT s.article_id) AS of_articles
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    GROUP BY s.run_id, a.dataset, s.n
) AS t ON t.run_id = c.run_id AND t.dataset = c.dataset AND t.n = c.n
LEFT JOIN systems AS y ON y.run_id = c.run_id AND y.system = c.system
"""

LEADERBOARD = """
CREATE VIEW leaderboard AS
SELECT
    m.run_id, m.dataset, m.n,
    CASE WHEN m.articles = t.of_articles THEN RANK() OVER (
        PARTITION BY m.run_id, m.dataset, m.n, CASE WHEN m.articles = t.of_articles THEN 1 ELSE 0 END
        ORDER BY m.bertscore_f1 DESC
    ) END AS rank,
    m.system, COALESCE(y.kind, 'system') AS kind, m.articles, t.of_articles,
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
JOIN (
    SELECT s.run_id, a.dataset, s.n, COUNT(DISTINCT s.article_id) AS of_articles
    FROM summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    GROUP BY s.run_id, a.dataset, s.n
) AS t ON t.run_id = m.run_id AND t.dataset = m.dataset AND t.n = m.n
LEFT JOIN systems AS y ON y.run_id = m.run_id AND y.system = m.system
"""

VIEWS = {"sweep_curve": SWEEP_CURVE, "leaderboard": LEADERBOARD}

# As revision 0005 made them.
OLD_SWEEP_CURVE = """
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

OLD_LEADERBOARD = """
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

OLD_VIEWS = {"sweep_curve": OLD_SWEEP_CURVE, "leaderboard": OLD_LEADERBOARD}


def upgrade() -> None:
    for name, view in VIEWS.items():
        op.execute(f"DROP VIEW {name}")
        op.execute(view)


def downgrade() -> None:
    for name, view in OLD_VIEWS.items():
        op.execute(f"DROP VIEW {name}")
        op.execute(view)
