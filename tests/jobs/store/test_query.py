import gc
import os
import signal
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from nws.core.errors import StoreError
from nws.jobs.commands.doctor import check_store
from nws.jobs.store import open_store

ROOT = Path(__file__).parents[3]


def ask(store, sql):
    with store.query(sql) as answer:
        return answer.columns, list(answer.rows)


@pytest.fixture
def filled(store, run, articles, sweep):
    store.writer(*run).record([(articles, sweep(articles))])
    return store


SUMS = "SELECT AVG(n) AS mean, SUM(n) AS sum, SUM(total) AS sums, AVG(total) AS whole, 0.25 AS quarter FROM "
SUMS += "(SELECT n, SUM(words) AS total FROM summaries WHERE n IN (3, 5) GROUP BY n) AS by_n"


def test_sums_and_means_of_integers_are_numbers_on_every_database(filled):
    """Postgres has them as `numeric`, which Python has as Decimal."""
    ((*found,),) = ask(filled, SUMS)[1]
    assert found == [4, 8, 64, 32, 0.25]
    assert list(map(type, found)) == [float, int, int, float, float]


def test_percent_colon_and_question_mark_are_plain_sql(filled):
    assert ask(filled, "SELECT COUNT(*) FROM articles WHERE key LIKE 'a%'")[1] == [(4,)]
    assert ask(filled, "SELECT ':name' || '?' || '%s' || '한국'")[1] == [(":name?%s한국",)]


# Tried on one database, since each test makes one and drops it.
WRITES = (
    "DELETE FROM summaries",
    "UPDATE runs SET state = 'done'",
    "INSERT INTO articles SELECT * FROM articles",
    "DROP VIEW leaderboard",
    "CREATE TABLE mine (a INTEGER)",
    "DELETE FROM summaries RETURNING run_id",
)
SECOND_STATEMENTS = (
    "COMMIT; DELETE FROM summaries",
    "SELECT 1; DELETE FROM summaries",
    "SET TRANSACTION READ WRITE; DELETE FROM summaries; COMMIT",
    "SET default_transaction_read_only = off; COMMIT; BEGIN; DELETE FROM summaries; COMMIT; SELECT 1",
    "BEGIN; SELECT set_config('default_transaction_read_only', 'off', false); COMMIT; DELETE FROM summaries",
    "WITH gone AS (DELETE FROM summaries RETURNING 1) SELECT * FROM gone",
    "PRAGMA query_only = OFF",
)


def test_writes_are_refused_and_change_nothing(filled):
    before = ask(filled, "SELECT * FROM runs")
    for sql in WRITES:
        with pytest.raises(StoreError, match="queries are read-only"):
            ask(filled, sql)
    assert ask(filled, "SELECT COUNT(*) FROM summaries")[1] == [(24,)]
    assert ask(filled, "SELECT * FROM runs") == before
    ask(filled, "SELECT * FROM leaderboard")


def test_a_second_statement_cannot_write_either(filled):
    for sql in SECOND_STATEMENTS:
        for statement in (sql, "COMMIT", "DELETE FROM summaries"):
            with pytest.raises(StoreError):
                ask(filled, statement)
        assert ask(filled, "SELECT COUNT(*) FROM summaries")[1] == [(24,)], sql


def test_wrong_sql_is_answered_in_the_databases_words(store):
    for sql in ("SELEC id FROM runs", "SELECT nonsense FROM runs", "SELECT * FROM nowhere", ""):
        with pytest.raises(StoreError, match=r"near \"SELEC\"|nonsense|nowhere|returns no rows|end of input"):
            ask(store, sql)
    series = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5)"
    broken = "abs(-9223372036854775807 - (CASE WHEN x < 4 THEN 0 ELSE 1 END))"
    if store.shown_url.startswith("postgres"):
        broken = "1 / (4 - x)"
    with pytest.raises(StoreError, match=r"the query failed: (integer overflow|division by zero)"):
        ask(store, f"{series} SELECT {broken} FROM c")


def test_files_are_not_written_either(filled, tmp_path):
    file = tmp_path / "written"
    for sql in (
        f"COPY (SELECT 1) TO '{file}'",
        f"COPY (SELECT 1) TO PROGRAM 'id > {file}'",
        f"ATTACH '{file}' AS more",
    ):
        with pytest.raises(StoreError, match="read-only"):
            ask(filled, sql)
    assert not file.exists()


def test_half_of_a_surrogate_pair_is_no_sql_and_no_run(store):
    for text in ("caf\udce9", "\ud800"):
        attempts = (
            lambda text=text: ask(store, f"SELECT '{text}'"),
            lambda text=text: store.run_info(text),
            lambda text=text: store.cancel_run(text, "here"),
        )
        for attempt in attempts:
            with pytest.raises(StoreError, match="a database cannot read the text"):
                attempt()


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


@pytest.fixture
def endless(store):
    return "SELECT pg_sleep(600)" if store.shown_url.startswith("postgres") else ENDLESS


# SQLAlchemy leaves the server's cursor of an interrupted statement to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_query_can_be_interrupted(store, endless):
    pressed = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    pressed.start()
    with pytest.raises(KeyboardInterrupt):
        ask(store, endless)
    pressed.join()
    assert store.list_runs() == []
    gc.collect()


# The commands of docs/security.md.
READER = (
    "CREATE ROLE nws_reader LOGIN PASSWORD 'choose-one'",
    'GRANT CONNECT ON DATABASE "{database}" TO nws_reader',
    "GRANT USAGE ON SCHEMA public TO nws_reader",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO nws_reader",
)
OUTSIDE_TABLES = (
    "SELECT pg_read_file('postgresql.conf')",
    "SELECT pg_ls_dir('.')",
    "SELECT * FROM pg_create_physical_replication_slot('fuzz')",
    "SELECT lo_export(1, '/tmp/x')",
    "SELECT pg_reload_conf()",
)


def test_a_role_that_may_only_read_reaches_nothing_outside_tables(postgres_url, spec):
    with open_store(postgres_url) as store:
        run_id = store.create_run(spec)
    engine = sa.create_engine(sa.make_url(postgres_url).set(drivername="postgresql+psycopg"), poolclass=sa.NullPool)
    try:
        with engine.begin() as connection:
            for command in READER:
                connection.exec_driver_sql(command.format(database=engine.url.database))
        reader = sa.make_url(postgres_url).set(username="nws_reader", password="choose-one")
        reader_url = reader.render_as_string(hide_password=False)
        assert [check_store(url).state for url in (postgres_url, reader_url)] == ["warning", "ok"]
        with open_store(reader_url, read_only=True) as store:
            assert ask(store, "SELECT id FROM runs")[1] == [(run_id,)]
            for sql in OUTSIDE_TABLES:
                with pytest.raises(StoreError, match=r"permission denied|must be|read-only"):
                    ask(store, sql)
    finally:
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP OWNED BY nws_reader")
            connection.exec_driver_sql("DROP ROLE nws_reader")


def test_docs_give_the_commands_for_that_role():
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    for command in READER:
        assert command.format(database="nws").replace('"', "") + ";" in page
