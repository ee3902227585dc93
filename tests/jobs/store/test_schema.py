import contextlib
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from core.errors import StoreError
from core.metrics.surface import COVERAGE_SIGNATURE, DENSITY_SIGNATURE
from jobs.store import HEAD_REVISION, current_revision, open_store, schema, seconds_of_driver, upgrade_schema
from jobs.store.address import parse_address
from jobs.store.engine import transaction, writer_engine
from jobs.store.tables import Base
from jobs.store.views import VIEWS
from jobs.terminal.metrics import chosen_metrics_of

ROOT = Path(__file__).parents[3]
PARTS = ("precision", "recall", "f1")


def execute(url: str, *statements: str) -> None:
    address = parse_address(url)
    engine = writer_engine(address)
    try:
        with transaction(engine, address) as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
    finally:
        engine.dispose()


def alembic(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "alembic", *arguments],
        cwd=ROOT,
        env=os.environ | {"NWS_STORE": url},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def migrate(monkeypatch):
    """What `alembic upgrade` does, without a process for each."""

    def run(url, revision):
        monkeypatch.setenv("NWS_STORE", url)
        command.upgrade(Config(toml_file=ROOT / "pyproject.toml"), revision)

    return run


def load_old_store(url: str, revision: str) -> None:
    """Put a store into a database, instead of what is there, as the code of that revision had made it.

    All have the same rows, but for those of tables that came later. `old_stores.tar.xz` has them as SQL.
    """
    kind = "sqlite" if url.startswith("sqlite") else "postgresql"
    with tarfile.open(Path(__file__).parent / "old_stores.tar.xz") as stores:
        sql = stores.extractfile(f"{revision}.{kind}.sql").read().decode()
    if kind == "sqlite":
        path = parse_address(url).path
        path.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.executescript(sql)
        return
    with psycopg.connect(url) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.execute(sql)


def rounded(value: object) -> object:
    """Postgres adds up in another order each time."""
    return round(value, 9) if isinstance(value, float) else value


def everything(url: str) -> dict[str, list[dict[str, object]]]:
    """The rows of every table and view."""
    with open_store(url, read_only=True) as store:
        found = {}
        for name in (*Base.metadata.tables, *VIEWS):
            with store.query(f"SELECT * FROM {name}") as answer:
                rows = [dict(zip(answer.columns, map(rounded, row), strict=True)) for row in answer.rows]
            found[name] = sorted(rows, key=lambda row: repr(sorted(row.items())))
        return found


# The revision before which a table has no rows.
ROWS_SINCE = {
    "log_lines": "0003",
    **dict.fromkeys(("policies", "updates", "episodes", "learning_curve"), "0004"),
    "progress": "0009",
    **dict.fromkeys(("content_kept", "smallest_n"), "0013"),
    "datasets_read": "0016",
    **dict.fromkeys(("studies", "panel_articles", "score_columns", "live_study_means"), "0017"),
    **dict.fromkeys(("text_folders", "text_files"), "0019"),
}


@pytest.mark.parametrize("database", ["sqlite_url", "empty_postgres_url"])
def test_a_store_of_each_revision_becomes_what_the_code_of_its_time_would_have_made_of_it(database, request):
    url = request.getfixturevalue(database)
    load_old_store(url, "0011")
    upgrade_schema(url)  # to revisions that only add columns, of which older runs have nothing
    expected = everything(url)
    later = {"content_kept", "smallest_n", *(name for name, since in ROWS_SINCE.items() if since > "0013")}
    assert {name for name, rows in expected.items() if not rows} == later
    for revision in (f"{number:04}" for number in range(1, 12)):
        load_old_store(url, revision)
        assert upgrade_schema(url) == (revision, HEAD_REVISION)
        found = everything(url)
        for name, rows in expected.items():
            wanted = rows if revision >= ROWS_SINCE.get(name, "0001") else []
            assert found[name] == wanted, (revision, name)


def test_views_change_only_with_a_revision():
    """Else stores that exist would keep the old ones: add a revision, even an empty one, and write both here anew."""
    sha256 = hashlib.sha256("".join(VIEWS.values()).encode()).hexdigest()
    assert (HEAD_REVISION, sha256[:12]) == ("0019", "ade6a0a0df77")


def test_the_newest_migration_is_the_schema_of_this_code():
    assert ScriptDirectory.from_config(Config(toml_file=ROOT / "pyproject.toml")).get_current_head() == HEAD_REVISION


def test_a_fresh_file_gets_the_schema(sqlite_url):
    open_store(sqlite_url).close()
    assert current_revision(sqlite_url) == HEAD_REVISION


def test_an_empty_file_gets_the_schema(sqlite_url):
    parse_address(sqlite_url).path.touch()
    open_store(sqlite_url).close()
    assert current_revision(sqlite_url) == HEAD_REVISION


def test_an_empty_file_opened_for_reading_is_refused(sqlite_url):
    parse_address(sqlite_url).path.touch()
    with pytest.raises(StoreError, match="no NWS schema"):
        open_store(sqlite_url, read_only=True)
    assert parse_address(sqlite_url).path.stat().st_size == 0


def test_upgrade_creates_a_sqlite_file(sqlite_url):
    assert upgrade_schema(sqlite_url) == (None, HEAD_REVISION)
    assert upgrade_schema(sqlite_url) == (HEAD_REVISION, HEAD_REVISION)


def test_upgrading_again_keeps_everything(store_url, spec):
    with open_store(store_url) as store:
        run_id = store.create_run(spec)
    assert upgrade_schema(store_url) == (HEAD_REVISION, HEAD_REVISION)
    with open_store(store_url) as store:
        assert [run.id for run in store.list_runs()] == [run_id]


def test_empty_postgres_is_refused_until_upgraded(empty_postgres_url):
    assert current_revision(empty_postgres_url) is None
    with pytest.raises(StoreError, match=f"has no NWS schema, and this code needs revision {HEAD_REVISION}"):
        open_store(empty_postgres_url)
    assert upgrade_schema(empty_postgres_url) == (None, HEAD_REVISION)
    open_store(empty_postgres_url).close()


@pytest.mark.parametrize("read_only", [False, True])
def test_an_old_schema_is_refused_with_the_command_that_helps(store_url, monkeypatch, read_only):
    open_store(store_url).close()
    monkeypatch.setattr("jobs.store.schema.HEAD_REVISION", "0999")
    with pytest.raises(StoreError) as caught:
        open_store(store_url, read_only=read_only)
    shown = parse_address(store_url).shown
    assert f"has schema revision {HEAD_REVISION}, and this code needs revision 0999" in str(caught.value)
    assert str(caught.value).endswith(f"Run: nws db upgrade --store {shown}")


def test_the_command_does_not_show_the_password(empty_postgres_url):
    url = sa.make_url(empty_postgres_url).set(password="s3cret").render_as_string(hide_password=False)
    with pytest.raises(StoreError, match=r"nws db upgrade --store postgresql://postgres:\*\*\*@") as caught:
        open_store(url)
    assert "s3cret" not in str(caught.value)


def test_a_newer_schema_is_refused_by_open_and_upgrade(store_url):
    open_store(store_url).close()
    execute(store_url, "UPDATE alembic_version SET version_num = 'ffff'")
    for attempt in (open_store, upgrade_schema):
        with pytest.raises(StoreError, match=r"schema revision ffff.*the code is older than the store"):
            attempt(store_url)
    assert current_revision(store_url) == "ffff"


def test_somebody_elses_database_is_refused_and_left_alone(sqlite_url):
    path = parse_address(sqlite_url).path
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE recipes (title TEXT)")
    engine.dispose()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="no NWS schema"):
        open_store(sqlite_url)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [None, "0003", "ab12"])
def test_another_programs_database_is_not_upgraded(sqlite_url, version):
    path = parse_address(sqlite_url).path
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (run_uuid TEXT)")
        connection.executescript("CREATE TABLE a (x); CREATE TABLE b (x); CREATE TABLE c (x);")
        if version:
            connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
            connection.execute("INSERT INTO alembic_version VALUES (?)", (version,))
            connection.commit()
    before = path.read_bytes()
    with pytest.raises(
        StoreError, match=r"is the database of another program, with the tables a, b, c, …: name another"
    ):
        upgrade_schema(sqlite_url)
    assert path.read_bytes() == before
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_two_that_upgrade_at_once_migrate_once(empty_postgres_url, monkeypatch):
    """The second one waits for the first, however long that takes."""
    migrate, first_is_there = schema._migrate, threading.Barrier(2)
    upgrades = []

    def slow(connection):
        first_is_there.wait(timeout=60)
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while not connection.exec_driver_sql(waits).scalar():
            assert not (upgrades and upgrades[0].done()), "the second one has not waited"
            time.sleep(0.01)
        migrate(connection)

    monkeypatch.setattr(schema, "_migrate", slow)
    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(upgrade_schema, empty_postgres_url)
        first_is_there.wait(timeout=60)
        monkeypatch.setattr(schema, "_migrate", migrate)
        upgrades.append(threads.submit(upgrade_schema, empty_postgres_url))
        found = [one.result(), upgrades[0].result()]
    assert found == [(None, HEAD_REVISION), (HEAD_REVISION, HEAD_REVISION)]
    open_store(empty_postgres_url).close()


def test_alembic_alone_upgrades_and_finds_the_tables_as_declared(request, tmp_path):
    for url in (f"sqlite:///{tmp_path / 'by-hand.db'}", request.getfixturevalue("empty_postgres_url")):
        upgraded = alembic(url, "upgrade", "head")
        assert upgraded.returncode == 0, upgraded.stderr
        checked = alembic(url, "check")
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert "No new upgrade operations detected" in checked.stdout
        open_store(url).close()


def test_alembic_check_notices_a_difference(sqlite_url):
    upgrade_schema(sqlite_url)
    execute(sqlite_url, "DROP INDEX ix_summaries_run_id_system_n")
    assert alembic(sqlite_url, "check").returncode != 0


def test_revision_2_keeps_the_runs_of_revision_1(migrate, empty_postgres_url, tmp_path):
    run = "'r', 'phase1', 'done', '{}', 'cafe', 0, 'v', '{}', '{}', 1, 1, '2026-01-01 00:00:00'"
    names = "id, job, state, recipe, recipe_hash, seed, code_version, revisions, signatures, driver_epoch, "
    scores = ", ".join(["0.5"] * 14)
    for url in (f"sqlite:///{tmp_path / 'old.db'}", empty_postgres_url):
        migrate(url, "0001")
        execute(
            url,
            f"INSERT INTO runs ({names} total_articles, created_at) VALUES ({run})",
            "INSERT INTO articles VALUES ('a', 'd', 's', 'k', 'text', '[]', 'h')",
            "INSERT INTO articles VALUES ('b', 'd', 's', 'l', 'text', '[]', 'i')",
            f"INSERT INTO summaries VALUES ('r', 'a', 'oracle', 3, 'text', 1, 0.1, {scores}, '{{}}')",
            "INSERT INTO failures VALUES ('r', 'b', 'E', 'm', 1, 'node', '2026-01-01 00:00:00')",
        )
        assert upgrade_schema(url) == ("0001", HEAD_REVISION)
        with open_store(url) as store:
            info = store.run_info("r")
            assert (info.articles_done, info.summaries, info.failures) == (1, 1, 1)
            assert [found.stage for found in store.failures("r")] == ["sweep"]
            for view in ("sweep_curve", "best_n", "leaderboard"):
                with store.query(f"SELECT kind FROM {view}") as answer:
                    assert list(answer.rows) == [("upper bound",)]


def test_revision_4_keeps_the_runs_of_revision_3(migrate, empty_postgres_url, tmp_path):
    run = "'r', 'phase1', 'done', '{}', 'cafe', 0, 'v', '{}', '{}', 1, 1, '2026-01-01 00:00:00', 1"
    names = "id, job, state, recipe, recipe_hash, seed, code_version, revisions, signatures, driver_epoch, "
    scores = ", ".join(["0.5"] * 14)
    for url in (f"sqlite:///{tmp_path / 'old.db'}", empty_postgres_url):
        migrate(url, "0003")
        execute(
            url,
            f"INSERT INTO runs ({names} total_articles, created_at, systems) VALUES ({run})",
            "INSERT INTO articles VALUES ('a', 'd', 's', 'k', 'text', '[]', 'h')",
            f"INSERT INTO summaries VALUES ('r', 'a', 'lead', 3, 'text', 1, 0.1, {scores}, '{{}}')",
            "INSERT INTO log_lines VALUES ('r', 1, 1, '2026-01-01 00:00:00', 'said')",
        )
        assert upgrade_schema(url) == ("0003", HEAD_REVISION)
        execute(
            url,
            "INSERT INTO policies VALUES ('r', 'p', 1, '[7]', 1, 2, '{}', '', '2026-01-01 00:00:00')",
            "INSERT INTO episodes VALUES ('r', 'p', 0, 'a', 7, 0, 'sampled', 'text', 0.5, 0, 0, 0, 0)",
        )
        with pytest.raises(StoreError, match="ck_episodes_decoding"):
            execute(url, "INSERT INTO episodes VALUES ('r', 'p', 0, 'a', 7, 1, 'beam', 'text', 0.5, 0, 0, 0, 0)")
        with open_store(url) as store:
            assert [row.reward for row in store.learning_curve("r")] == [0.5]
            points = store.points("r")
            assert (points.articles, points.n.tolist(), points.kinds) == ((("d", "a"),), [3], ("control",))
            assert store.run_info("r").arithmetic == []
            assert [line.text for _, line in store.log("r")] == ["said"]


def test_revision_10_counts_older_runs_as_those_of_one_driver(migrate, empty_postgres_url, tmp_path):
    run = "'r', 'phase1', 'done', '{}', 'cafe', 0, 'v', '{}', '{}', 2, 1, '2026-01-01 10:00:00', 1"
    names = "id, job, state, recipe, recipe_hash, seed, code_version, revisions, signatures, driver_epoch, "
    for url in (f"sqlite:///{tmp_path / 'old.db'}", empty_postgres_url):
        migrate(url, "0009")
        execute(
            url,
            f"INSERT INTO runs ({names} total_articles, created_at, systems) VALUES ({run})",
            "UPDATE runs SET started_at = '2026-01-01 10:01:00', heartbeat_at = '2026-01-01 10:03:00'",
        )
        assert upgrade_schema(url) == ("0009", HEAD_REVISION)
        with open_store(url) as store:
            info = store.run_info("r")
            assert (info.name, info.note, info.worked_seconds, seconds_of_driver(info)) == (None, None, 0.0, 120.0)


def test_revision_11_calls_coverage_what_was_stored_as_density_and_computes_the_density(
    migrate, empty_postgres_url, tmp_path
):
    names = "id, job, state, recipe, recipe_hash, seed, code_version, revisions, signatures, driver_epoch, "
    share = r"tok:\w+|case:lower|share of summary tokens found in the article"
    f1 = ", ".join(["0.5"] * 12)

    def summary(run, article, system, text, density, extra="{}"):
        columns = "run_id, article_id, system, n, text, words, seconds, efficiency, density, extra, "
        scores = ", ".join(f"{m}_{p}" for m in ("bertscore", "rouge1", "rouge2", "rougel") for p in PARTS)
        values = f"'{run}', '{article}', '{system}', 4, '{text}', 4, 0.1, 0.1, {density}, '{extra}', "
        return f"INSERT INTO summaries ({columns}{scores}) VALUES ({values}{f1})"

    def read(url, query):
        address = parse_address(url)
        engine = writer_engine(address)
        try:
            with transaction(engine, address) as connection:
                return connection.exec_driver_sql(query).all()
        finally:
            engine.dispose()

    for url in (f"sqlite:///{tmp_path / 'old.db'}", empty_postgres_url):
        migrate(url, "0010")
        draws = '{"draws": ["the the the the", "cat mat dog eel"]}'
        execute(
            url,
            *(
                f"INSERT INTO runs ({names} total_articles, created_at, systems) VALUES ('{run}', 'phase1', 'done', "
                f"'{{}}', 'cafe', 0, 'v', '{{}}', '{signatures}', 1, 1, '2026-01-01 00:00:00', 3)"
                for run, signatures in (
                    ("new", json.dumps({"density": f"density|{share}", "rouge": "r"})),
                    ("old", "{}"),
                    ("plugin", json.dumps({"coverage": "coverage|plugin:mine.py|sha256:ab"})),
                )
            ),
            "INSERT INTO articles VALUES ('a', 'd', 's', 'k', 'The cat, the mat!', '[]', 'h')",
            "INSERT INTO articles VALUES ('b', 'd', 's', 'l', 'A dog', '[]', 'i')",
            summary("new", "a", "lead", "The cat, the mat!", 1.0),
            summary("new", "a", "random", "the the the the", 0.75, draws),
            summary("new", "b", "lead", "A dog", 1.0),
            summary("new", "b", "gpt", "...", 0.0),
            summary("old", "a", "random", "the the the the", 0.9, '{"draws": 5}'),
            summary("plugin", "b", "lead", "A dog", 1.0, '{"scores": {"coverage": 0.25}, "dtype": "f"}'),
            "UPDATE runs SET means_kept = TRUE WHERE id = 'new'",
            "INSERT INTO run_means SELECT run_id, 'd', system, n, COUNT(*), 2, 0.5, 0, 0.5, 0.5, 0.5, 0, 0.5, 0, 0.5, "
            "0, 0.1, AVG(density) FROM summaries WHERE run_id = 'new' GROUP BY run_id, system, n",
        )
        assert upgrade_schema(url) == ("0010", HEAD_REVISION)
        rows = read(url, "SELECT run_id, article_id, system, density, coverage FROM summaries ORDER BY 1, 2, 3")
        assert [tuple(row) for row in rows] == [
            ("new", "a", "lead", 0.75, 1.0),
            ("new", "a", "random", (0.25 + 0.5) / 2, 0.75),
            ("new", "b", "gpt", 0.0, 0.0),
            ("new", "b", "lead", 1.0, 1.0),
            ("old", "a", "random", 0.25, 0.9),
            ("plugin", "b", "lead", 1.0, 1.0),
        ]
        for view, end in (("sweep_curve", "_mean"), ("leaderboard", "")):
            means = read(url, f"SELECT run_id, system, density{end}, coverage{end} FROM {view} ORDER BY 1, 2")
            assert [tuple(row) for row in means] == [
                ("new", "gpt", 0.0, 0.0),
                ("new", "lead", 0.875, 1.0),
                ("new", "random", 0.375, 0.75),
                ("old", "random", 0.25, 0.9),
                ("plugin", "lead", 1.0, 1.0),
            ]
        with open_store(url) as store:
            assert store.run_info("new").signatures == {
                "density": DENSITY_SIGNATURE,
                "coverage": COVERAGE_SIGNATURE,
                "rouge": "r",
            }
            info = store.run_info("plugin")
            renamed = {"coverage_of_plugin": "coverage_of_plugin|plugin:mine.py|sha256:ab"}
            assert info.signatures == {"density": DENSITY_SIGNATURE} | renamed
            assert chosen_metrics_of(info) == ("coverage_of_plugin",)
            assert store.points("plugin", ["coverage_of_plugin"]).scores["coverage_of_plugin"].tolist() == [0.25]
            of_first_draws = {"density": f"{DENSITY_SIGNATURE}|of the first draw where others are not stored"}
            assert store.run_info("old").signatures == of_first_draws
            (point,) = set(store.points("old", ["density"]).scores["density"].tolist())
            assert point == 0.25


def test_revision_19_lets_texts_be_elsewhere_and_keeps_those_of_older_rows(migrate, empty_postgres_url, tmp_path):
    """Also in the partitions that there are on Postgres, and in those to come."""
    names = "id, job, state, recipe, recipe_hash, seed, code_version, revisions, signatures, driver_epoch, "
    columns = "run_id, article_id, system, n, text, words, seconds, efficiency, density, coverage, extra, "
    f1 = ", ".join(f"{m}_{p}" for m in ("bertscore", "rouge1", "rouge2", "rougel") for p in PARTS)
    for url in (f"sqlite:///{tmp_path / 'old.db'}", empty_postgres_url):
        migrate(url, "0018")
        if "postgres" in url:
            execute(
                url,
                'CREATE TABLE "summaries_r" (LIKE summaries)',
                "ALTER TABLE summaries ATTACH PARTITION \"summaries_r\" FOR VALUES IN ('r')",
            )
        execute(
            url,
            f"INSERT INTO runs ({names} total_articles, created_at, systems) VALUES ('r', 'phase1', 'done', '{{}}', "
            "'cafe', 0, 'v', '{}', '{}', 1, 2, '2026-01-01 00:00:00', 1)",
            "INSERT INTO articles VALUES ('a', 'd', 's', 'k', 'text', '[]', 'h')",
            "INSERT INTO articles VALUES ('b', 'd', 's', 'l', 'text', '[]', 'i')",
            f"INSERT INTO summaries ({columns} {f1}) VALUES ('r', 'a', 'lead', 4, 'old', 4, 0.1, 0.1, 0.1, 0.1, "
            f"'{{}}', "
            f"{', '.join(['0.5'] * 12)})",
        )
        assert upgrade_schema(url) == ("0018", HEAD_REVISION)
        execute(
            url,
            f"INSERT INTO summaries ({columns} text_file, {f1}) VALUES ('r', 'b', 'lead', 4, NULL, 4, 0.1, 0.1, 0.1, "
            f"0.1, '{{}}', {2**62}, {', '.join(['0.5'] * 12)})",
        )
        with open_store(url) as store:
            with store.query("SELECT article_id, text, text_file FROM summaries ORDER BY 1") as answer:
                assert list(map(tuple, answer.rows)) == [("a", "old", None), ("b", None, 2**62)]
            assert [summary.text for summary in store.articles("r").summaries("a")] == ["old"]
            with pytest.raises(StoreError, match=f"has no file {2**62}"):
                store.articles("r").summaries("b")
