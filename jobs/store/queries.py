"""SQL for people: the views, and people's own queries on a connection that cannot write.

Every migration creates the views anew. A change of a view needs an empty migration, see `nws.jobs.store.schema`.
"""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from nws.core.errors import StoreError
from nws.core.metrics.specs import METRICS, SPECS
from nws.jobs.store.address import Address
from nws.jobs.store.engine import database_message, not_text

_SQLITE_STOPPED = "SQLITE_INTERRUPT"
# Steps of SQLite's virtual machine, which take some milliseconds.
_STEPS_BETWEEN_LOOKS = 100_000


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a query: its column names, and its rows, which can be read once, inside the `with` block.

    Values are those of the database driver: JSON is text on SQLite and parsed on Postgres.
    """

    columns: tuple[str, ...]
    rows: Iterator[tuple[object, ...]]


def may_do_everything(connection: Connection) -> bool:
    """Return whether the store's URL has a superuser of Postgres, who can do more than read tables with `nws query`."""
    is_superuser = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"
    return connection.dialect.name == "postgresql" and bool(connection.exec_driver_sql(is_superuser).scalar_one())


@contextlib.contextmanager
def query(reader: Engine, address: Address, sql: str) -> Iterator[QueryResult]:
    """Run one SQL statement, see `Store.query`."""
    try:
        # no_parameters: % and : in the SQL keep the database's meaning. stream_results: on Postgres this declares a
        # cursor, which accepts only one statement, and only one that reads. (A read-only transaction alone is not
        # enough, since SQL may end it, or set it to read-write.)
        options = {"no_parameters": True, "stream_results": True}
        with reader.begin() as connection:
            raw = connection.connection.driver_connection
            if isinstance(raw, sqlite3.Connection):  # returns to Python now and then, so that Ctrl-C works
                raw.set_progress_handler(lambda: False, _STEPS_BETWEEN_LOOKS)
            with contextlib.closing(connection.execution_options(**options).exec_driver_sql(sql)) as result:
                if not result.returns_rows:
                    raise StoreError("the SQL returns no rows. Write one SELECT")
                yield QueryResult(tuple(result.keys()), (tuple(row) for row in result))
    except UnicodeEncodeError as error:
        raise not_text(error) from error
    except SQLAlchemyError as error:
        cause = error.orig if isinstance(error, DBAPIError) else None
        if getattr(cause, "sqlite_errorname", None) == _SQLITE_STOPPED:
            # Ctrl-C inside the progress handler, where sqlite3 loses the KeyboardInterrupt.
            raise KeyboardInterrupt from error
        message = database_message(error, address)
        raise StoreError(f"the query failed: {message} (queries are read-only, one SELECT at a time)") from error


# In the order of the columns. True means that there is a standard deviation, too.
_METRICS = {
    column: f"{column}_ss" in spec.averages
    for spec in SPECS
    for column in (spec.column, *spec.parts)
    if f"{column}_mean" in spec.averages
}
_PLACE = ("run_id", "dataset", "system", "n", "articles", "of_articles")
# The columns of the tables `run_means` and `run_best_n`. An `_ss` is the sum of squared deviations from the mean.
_MEANS = (
    *_PLACE,
    *(f"{m}_{kind}" for m, has_sd in _METRICS.items() for kind in (("mean", "ss") if has_sd else ("mean",))),
)
_BEST = ("run_id", "article_id", "system", "dataset", "n", "bertscore_f1")


def _aggregates(metric: str, has_sd: bool) -> str:
    mean = f"AVG(s.{metric}) AS {metric}_mean"
    squares = f"SUM(s.{metric} * s.{metric}) - SUM(s.{metric}) * SUM(s.{metric}) / COUNT(*) AS {metric}_ss"
    return f"{mean}, {squares}" if has_sd else mean


def _means_and_sd(metric: str, has_sd: bool) -> str:
    """Return the SQL of a mean and, if it has one, a sample standard deviation: sqrt(ss / (k - 1)).

    (SQLite has no stddev_samp.) For equal values, rounding can leave the sum below zero, which then counts as zero. A
    single value has no deviation: NULL.
    """
    ss = f"c.{metric}_ss"
    sd = f"CASE WHEN c.articles > 1 THEN SQRT(CASE WHEN {ss} > 0 THEN {ss} / (c.articles - 1) ELSE 0 END) END"
    return f"c.{metric}_mean, {sd} AS {metric}_sd" if has_sd else f"c.{metric}_mean"


def _of_all_runs(columns: Sequence[str], cached: str, *live: str) -> str:
    """Return the SELECT for all runs: the stored rows of runs that have them, and the live rows of all others."""
    cached_columns = ", ".join(f"k.{name}" for name in columns)
    unions = "".join(f" UNION ALL SELECT {', '.join(columns)} FROM {view}" for view in live)
    return f"SELECT {cached_columns} FROM {cached} AS k JOIN runs AS r ON r.id = k.run_id WHERE r.means_cached{unions}"


def _combined(metric: str, has_sd: bool) -> str:
    """Return the SQL of the mean of several parts, and of their sum of squares by Chan, Golub and LeVeque (1983).

    It adds up ss + k (mean - overall mean)² over parts of k articles, so nothing cancels. `w` has the overall means.
    """
    mean = f"MAX(w.{metric}_mean) AS {metric}_mean"
    off = f"(p.{metric}_mean - w.{metric}_mean)"
    squares = f"SUM(p.{metric}_ss + p.articles * {off} * {off}) AS {metric}_ss"
    return f"{mean}, {squares}" if has_sd else mean


# For runs whose means are not stored. CROSS JOIN makes SQLite start with these runs, and read no row of another run.
_LIVE_SUMMARIES = """
    FROM runs AS r
    CROSS JOIN summaries AS s
    JOIN articles AS a ON a.id = s.article_id
    WHERE NOT r.means_cached AND s.run_id = r.id"""

# The stored means of shards that have ended, for sharded runs whose own means are not stored.
_ENDED_SHARDS = """
    FROM runs AS u
    CROSS JOIN runs AS r
    JOIN run_means AS p ON p.run_id = r.id
    WHERE NOT u.means_cached AND r.parent = u.id AND r.means_cached"""
_ALL_MEANS = _of_all_runs(_MEANS, "run_means", "live_means", "live_sharded_means")

VIEWS = {
    # Greedy summaries come from the finished policy, so they are not part of the curve.
    "learning_curve": """
SELECT
    c.run_id, c.policy, p.seed, c.n, c.update_number, c.episodes,
    c.reward,
    CASE WHEN c.episodes > 1 THEN SQRT(CASE WHEN c.reward_ss > 0 THEN c.reward_ss / (c.episodes - 1) ELSE 0 END)
    END AS reward_sd,
    c.advantage_baseline,
    c.entropy,
    c.log_probability
FROM (
    SELECT
        run_id, policy, n, update_number,
        COUNT(*) AS episodes,
        AVG(reward) AS reward,
        SUM(reward * reward) - SUM(reward) * SUM(reward) / COUNT(*) AS reward_ss,
        AVG(advantage_baseline) AS advantage_baseline,
        AVG(entropy) AS entropy,
        AVG(log_probability) AS log_probability
    FROM episodes
    WHERE decoding = 'sampled'
    GROUP BY run_id, policy, n, update_number
) AS c
JOIN policies AS p ON p.run_id = c.run_id AND p.name = c.policy
""",
    # `of_articles` is the number of articles of a dataset that any system of the run has at that n.
    "live_means": f"""
SELECT {", ".join(f"t.{name}" if name == "of_articles" else f"c.{name}" for name in _MEANS)}
FROM (
    SELECT
        s.run_id, a.dataset, s.system, s.n,
        COUNT(*) AS articles,
        {", ".join(_aggregates(*metric) for metric in _METRICS.items())}{_LIVE_SUMMARIES}
    GROUP BY s.run_id, a.dataset, s.system, s.n
) AS c
JOIN (
    SELECT s.run_id, a.dataset, s.n, COUNT(DISTINCT s.article_id) AS of_articles{_LIVE_SUMMARIES}
    GROUP BY s.run_id, a.dataset, s.n
) AS t ON t.run_id = c.run_id AND t.dataset = c.dataset AND t.n = c.n
""",
    # For a sharded run, means over the shards that have ended. If a system has no article of a shard, the others count.
    "live_sharded_means": f"""
SELECT
    p.parent AS run_id, p.dataset, p.system, p.n,
    CAST(SUM(p.articles) AS INTEGER) AS articles,
    CAST(MAX(t.of_articles) AS INTEGER) AS of_articles,
    {", ".join(_combined(*metric) for metric in _METRICS.items())}
FROM (SELECT u.id AS parent, p.*{_ENDED_SHARDS}) AS p
JOIN (
    SELECT
        u.id AS parent, p.dataset, p.system, p.n,
        {", ".join(f"SUM(p.articles * p.{m}_mean) / SUM(p.articles) AS {m}_mean" for m in _METRICS)}{_ENDED_SHARDS}
    GROUP BY u.id, p.dataset, p.system, p.n
) AS w ON w.parent = p.parent AND w.dataset = p.dataset AND w.system = p.system AND w.n = p.n
JOIN (
    SELECT s.parent, s.dataset, s.n, SUM(s.of_articles) AS of_articles
    FROM (SELECT DISTINCT u.id AS parent, p.run_id, p.dataset, p.n, p.of_articles{_ENDED_SHARDS}) AS s
    GROUP BY s.parent, s.dataset, s.n
) AS t ON t.parent = p.parent AND t.dataset = p.dataset AND t.n = p.n
GROUP BY p.parent, p.dataset, p.system, p.n
""",
    "live_best_n": f"""
SELECT {", ".join(f"p.{name}" for name in _BEST)}
FROM (
    SELECT
        s.run_id, s.article_id, a.dataset, s.system, s.n, s.bertscore_f1,
        ROW_NUMBER() OVER (
            PARTITION BY s.run_id, s.article_id, s.system ORDER BY s.bertscore_f1 DESC, s.n
        ) AS place{_LIVE_SUMMARIES} AND s.n > 0
) AS p
WHERE p.place = 1
""",
    # `kind`: an oracle saw the reference. It may lead a leaderboard, and must not be mistaken for a system there.
    "sweep_curve": f"""
SELECT
    c.run_id, c.dataset, c.system, COALESCE(y.kind, 'system') AS kind, c.n, c.articles, c.of_articles,
    {", ".join(_means_and_sd(*metric) for metric in _METRICS.items())},
    u.parent
FROM ({_ALL_MEANS}) AS c
JOIN runs AS u ON u.id = c.run_id
LEFT JOIN systems AS y ON y.run_id = c.run_id AND y.system = c.system
""",
    "best_n": f"""
SELECT b.run_id, b.article_id, b.dataset, b.system, COALESCE(y.kind, 'system') AS kind, b.n, b.bertscore_f1, u.parent
FROM ({_of_all_runs(_BEST, "run_best_n", "live_best_n")}) AS b
JOIN runs AS u ON u.id = b.run_id
LEFT JOIN systems AS y ON y.run_id = b.run_id AND y.system = b.system
""",
    # Systems are compared at equal n, since a longer summary has a higher F1 for its length alone. A mean over some of
    # the articles has no rank among means over all of them.
    "leaderboard": f"""
SELECT
    m.run_id, m.dataset, m.n,
    CASE WHEN m.articles = m.of_articles THEN RANK() OVER (
        PARTITION BY m.run_id, m.dataset, m.n, CASE WHEN m.articles = m.of_articles THEN 1 ELSE 0 END
        ORDER BY m.bertscore_f1_mean DESC
    ) END AS rank,
    m.system, COALESCE(y.kind, 'system') AS kind, m.articles, m.of_articles,
    {", ".join(f"m.{name}_mean AS {name}" for name in METRICS)},
    u.parent
FROM ({_ALL_MEANS}) AS m
JOIN runs AS u ON u.id = m.run_id
LEFT JOIN systems AS y ON y.run_id = m.run_id AND y.system = m.system
""",
}
"""The SELECT of each view, in an order in which they can be created."""
