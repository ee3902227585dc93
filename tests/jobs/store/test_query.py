import pytest

from core.errors import StoreError
from jobs.store import open_store


def ask(store, sql):
    with store.query(sql) as answer:
        return answer.columns, list(answer.rows)


@pytest.fixture
def filled(store, run, articles, sweep):
    store.record(*run, [(articles, sweep(articles))])
    return store


def test_columns_and_rows(filled, articles):
    columns, found = ask(filled, "SELECT key, COUNT(*) AS k FROM articles GROUP BY key ORDER BY key")
    assert columns == ("key", "k")
    assert found == [(article.key, 1) for article in articles]


def test_no_rows(store):
    assert ask(store, "SELECT id FROM runs") == (("id",), [])


def test_percent_colon_and_question_mark_are_plain_sql(filled):
    assert ask(filled, "SELECT COUNT(*) FROM articles WHERE key LIKE 'a%'")[1] == [(4,)]
    assert ask(filled, "SELECT ':name' || '?' || '%s' || '한국'")[1] == [(":name?%s한국",)]


def test_rows_need_not_be_read_to_the_end(filled):
    with filled.query("SELECT text FROM summaries") as answer:
        assert len(next(answer.rows)) == 1
    assert ask(filled, "SELECT COUNT(*) FROM summaries")[1] == [(24,)]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM summaries",
        "UPDATE runs SET state = 'done'",
        "INSERT INTO articles SELECT * FROM articles",
        "DROP VIEW leaderboard",
        "CREATE TABLE mine (a INTEGER)",
        "DELETE FROM summaries RETURNING run_id",
    ],
)
def test_writes_are_refused_and_change_nothing(filled, sql):
    before = ask(filled, "SELECT * FROM runs")
    with pytest.raises(StoreError, match="queries are read-only"):
        ask(filled, sql)
    assert ask(filled, "SELECT COUNT(*) FROM summaries")[1] == [(24,)]
    assert ask(filled, "SELECT * FROM runs") == before
    ask(filled, "SELECT * FROM leaderboard")


@pytest.mark.parametrize(
    "sql",
    [
        "COMMIT; DELETE FROM summaries",
        "SELECT 1; DELETE FROM summaries",
        "SET TRANSACTION READ WRITE; DELETE FROM summaries; COMMIT",
        "SET default_transaction_read_only = off; COMMIT; BEGIN; DELETE FROM summaries; COMMIT; SELECT 1",
        "BEGIN; SELECT set_config('default_transaction_read_only', 'off', false); COMMIT; DELETE FROM summaries",
        "WITH gone AS (DELETE FROM summaries RETURNING 1) SELECT * FROM gone",
    ],
)
def test_a_second_statement_cannot_write_either(filled, sql):
    with pytest.raises(StoreError):
        ask(filled, sql)
    assert ask(filled, "SELECT COUNT(*) FROM summaries")[1] == [(24,)]


def test_switching_read_only_off_does_not_last(sqlite_url, spec):
    with open_store(sqlite_url) as store:
        store.create_run(spec)
        for sql in ("PRAGMA query_only = OFF", "COMMIT", "DELETE FROM runs"):
            with pytest.raises(StoreError):
                ask(store, sql)
        assert len(store.list_runs()) == 1


@pytest.mark.parametrize("sql", ["SELEC id FROM runs", "SELECT nonsense FROM runs", "SELECT * FROM nowhere", ""])
def test_wrong_sql_is_answered_in_the_databases_words(store, sql):
    with pytest.raises(StoreError, match=r"near \"SELEC\"|nonsense|nowhere|returns no rows|end of input"):
        ask(store, sql)


def test_statements_without_rows_are_refused(store):
    with pytest.raises(StoreError, match=r"returns no rows|one SELECT"):
        ask(store, "BEGIN" if store.shown_url.startswith("postgres") else "PRAGMA query_only = OFF")


def test_an_error_while_reading_rows(store):
    series = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5)"
    broken = "abs(-9223372036854775807 - (CASE WHEN x < 4 THEN 0 ELSE 1 END))"
    if store.shown_url.startswith("postgres"):
        broken = "1 / (4 - x)"
    with pytest.raises(StoreError, match=r"the query failed: (integer overflow|division by zero)"):
        ask(store, f"{series} SELECT {broken} FROM c")


def test_queries_work_on_a_store_opened_read_only(store_url, spec):
    with open_store(store_url) as store:
        run_id = store.create_run(spec)
    with open_store(store_url, read_only=True) as store:
        assert ask(store, "SELECT id FROM runs")[1] == [(run_id,)]


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


@pytest.mark.parametrize("text", ["caf\udce9", "\ud800"])
def test_half_of_a_surrogate_pair_is_no_sql_and_no_run(store, text):
    with pytest.raises(StoreError, match="no text that a database can read"):
        ask(store, f"SELECT '{text}'")
    with pytest.raises(StoreError, match="no text that a database can read"):
        store.run_info(text)
    with pytest.raises(StoreError, match="no text that a database can read"):
        store.cancel_run(text, "here")
