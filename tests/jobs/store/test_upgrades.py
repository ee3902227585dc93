"""Stores of releases (`tests/stores`), which this code and a release after it must be able to upgrade."""

import contextlib
import io
import lzma
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from rich.console import Console
from stored_rows import everything, execute, rows
from undisturbed import QUIET, STUB_WORK

from nws.core.errors import FencedError, StoreError
from nws.jobs.drive import driver
from nws.jobs.report.printed_report import print_report
from nws.jobs.report.run_report import read_report
from nws.jobs.store import open_store, schema, upgrade_schema
from nws.jobs.store.address import parse_address
from nws.jobs.store.means import document_from_rows
from nws.jobs.store.queries import VIEWS
from nws.jobs.store.schema import HEAD_REVISION, RELEASED_VIEWS
from nws.jobs.store.tables import Base

ROOT = Path(__file__).parents[3]
NEXT = "99.0"
MIGRATION = f"""
import os, pathlib, time
import sqlalchemy as sa
from alembic import op

revision, down_revision = "{NEXT}", "{HEAD_REVISION}"

def upgrade():
    with op.batch_alter_table("runs") as runs:
        runs.add_column(sa.Column("priority", sa.Integer, nullable=False, server_default="0"))
        runs.drop_constraint(op.f("ck_runs_state"), type_="check")
        states = "'pending', 'running', 'done', 'failed', 'interrupted', 'paused'"
        runs.create_check_constraint(op.f("ck_runs_state"), f"state IN ({{states}})")
    if "NWS_TEST_SLEEPS" in os.environ:
        pathlib.Path(os.environ["NWS_TEST_SLEEPS"]).touch()
        time.sleep(600)
    op.create_index("ix_runs_priority", "runs", ["priority"])
"""


@contextlib.contextmanager
def next_release(folder: Path) -> Iterator[Path]:
    """This code as that of a later release: it has one more migration, a new view, and a view less."""
    migrations = folder / "migrations"
    shutil.copytree(ROOT / "alembic", migrations, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    (migrations / "versions" / "next_release.py").write_text(MIGRATION)
    views = {name: query for name, query in VIEWS.items() if name != "leaderboard"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", migrations)
        patch.setattr(schema, "HEAD_REVISION", NEXT)
        patch.setattr(schema, "VIEWS", views | {"paused": "SELECT id FROM runs WHERE state = 'paused'"})
        yield migrations


def contents(url: str) -> dict[str, object]:
    """What is printed of each run, what its rows say now, its rows, and those of the views."""
    found: dict[str, object] = {}
    with open_store(url, read_only=True) as store:
        for run in store.list_runs(with_shards=True):
            said = io.StringIO()
            print_report(read_report(store, run), Console(file=said, width=200))
            with store.reading() as connection:
                built = document_from_rows(connection, [run.id])
            found[run.id] = run, said.getvalue(), built, everything(store, run.id)
        for view in ("sweep_curve", "best_n", "learning_curve"):
            found[view] = sorted(map(str, rows(store, f"SELECT * FROM {view}")))
    return found


@pytest.fixture(params=sorted((ROOT / "tests" / "stores").glob("*.xz")), ids=lambda path: path.name[:-7])
def restored(request: pytest.FixtureRequest) -> str:
    """The URL of a store of a release, upgraded to this code's schema."""
    sql, is_file = lzma.decompress(request.param.read_bytes()).decode(), ".sqlite." in request.param.name
    url: str = request.getfixturevalue("sqlite_url" if is_file else "empty_postgres_url")
    if is_file:
        with contextlib.closing(sqlite3.connect(parse_address(url).path)) as connection:
            connection.executescript(sql)
    else:
        with psycopg.connect(url) as connection:
            connection.execute(sql)
    assert upgrade_schema(url).before == request.param.name.rpartition(".sql")[0].rpartition(".")[0]
    return url


def interrupted(url: str) -> str:
    with open_store(url, read_only=True) as store:
        (run,) = [run for run in store.list_runs() if run.state == "interrupted"]
    return run.id


def copies(url: str) -> list[Path]:
    path = parse_address(url).path
    return [] if path is None else sorted(other for other in path.parent.glob("*.before-*"))


def test_after_an_upgrade_reports_say_the_same_and_an_interrupted_run_goes_on(restored, nws, tmp_path):
    before, path = contents(restored), parse_address(restored).path
    with next_release(tmp_path):
        with pytest.raises(StoreError, match=rf"NWS {HEAD_REVISION}, an earlier release. Run: nws db upgrade --store"):
            open_store(restored)
        upgraded = nws("db", "upgrade", "--store", restored)
        assert f"upgraded from the schema of NWS {HEAD_REVISION} to that of {NEXT}" in upgraded.out
        assert contents(restored) == before
        with open_store(restored) as store:
            outcome = driver.resume(store, interrupted(restored), "inline", None, None, QUIET, make_work=STUB_WORK)
            assert (outcome.state, outcome.articles) == ("done", 6)
            with pytest.raises(StoreError, match="leaderboard"):
                rows(store, "SELECT * FROM leaderboard")
            execute(restored, "UPDATE runs SET state = 'paused', priority = priority + 1")
            assert len(rows(store, "SELECT * FROM paused")) == len(store.list_runs(with_shards=True))
            assert path is None or rows(store, "PRAGMA foreign_key_check") == []
        with pytest.raises(StoreError, match="ck_runs_state"):
            execute(restored, "UPDATE runs SET state = 'resting'")
    if path is not None:
        (copy,) = copies(restored)
        assert (copy.name, stat.S_IMODE(copy.stat().st_mode)) == (f"nws.db.before-{NEXT}", 0o600)
        assert str(copy) in upgraded.out
        assert contents(f"sqlite:///{copy}") == before


def test_an_upgrade_that_is_killed_changes_nothing_and_can_be_repeated(restored, tmp_path):
    before, sleeps = contents(restored), tmp_path / "sleeps"
    with next_release(tmp_path) as migrations:
        program = (
            "import pathlib; from nws.jobs.store import schema; "
            f"schema.MIGRATIONS, schema.HEAD_REVISION = pathlib.Path({str(migrations)!r}), {NEXT!r}; "
            f"schema.upgrade_schema({restored!r})"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NWS_TEST_SLEEPS": str(sleeps)}
        child = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, env=environment)
        while not sleeps.exists():
            assert child.poll() is None
            time.sleep(0.01)
        child.kill()
        child.wait()
    assert contents(restored) == before
    with next_release(tmp_path):
        upgrade_schema(restored)
        assert contents(restored) == before
    first_and_second = [f"nws.db.before-{NEXT}", f"nws.db.before-{NEXT}-2"]
    assert [copy.name for copy in copies(restored)] in ([], first_and_second)


def test_an_upgrade_that_would_lose_what_rows_refer_to_is_undone(restored, monkeypatch, tmp_path):
    before = contents(restored)
    monkeypatch.setattr(schema, "_migrate", lambda connection: connection.exec_driver_sql("DELETE FROM runs"))
    with next_release(tmp_path), pytest.raises(StoreError, match=r"refers to a row of runs|violates foreign key"):
        upgrade_schema(restored)
    assert contents(restored) == before
    assert copies(restored) == []


def test_an_upgrade_drops_the_views_of_the_release_before_and_no_others():
    assert RELEASED_VIEWS[HEAD_REVISION] == tuple(VIEWS)


@pytest.mark.parametrize("url", ["sqlite_url", "empty_postgres_url"])
def test_a_view_of_another_program_is_not_replaced(url, request):
    shared = request.getfixturevalue(url)
    execute(shared, "CREATE VIEW leaderboard AS SELECT 1 AS others")
    with pytest.raises(StoreError, match=r'has no NWS schema|"leaderboard" already exists'):
        upgrade_schema(shared)
    execute(shared, "SELECT others FROM leaderboard")


def test_no_driver_outlives_an_upgrade(restored, tmp_path):
    """One that is alive is in its way; one that only seems dead, or has not claimed its run yet, writes no more."""
    with open_store(restored) as store:
        run_id = interrupted(restored)
        shard = next(run for run in store.list_runs(with_shards=True) if run.shard)
        for claimed, named in ((run_id, run_id), (shard.id, shard.parent)):
            epoch = store.claim_run(claimed, "elsewhere", 11)
            with next_release(tmp_path), pytest.raises(StoreError, match=rf"driven by pid 11.*`nws cancel {named}`"):
                upgrade_schema(restored)
            assert copies(restored) == []
            execute(restored, f"UPDATE runs SET heartbeat_at = '2026-01-01 00:00:00+00:00' WHERE id = '{claimed}'")
        with next_release(tmp_path):
            upgrade_schema(restored)
        with pytest.raises(FencedError):
            store.writer(claimed, epoch).heartbeat()
        with pytest.raises(StoreError, match=f"upgraded to the schema of NWS {NEXT} since it was opened"):
            store.claim_run(run_id, "elsewhere", 11, take_over=True)


def test_a_store_of_a_newer_release_is_refused(restored):
    execute(restored, f"UPDATE alembic_version SET version_num = '{NEXT}'")
    for attempt in (open_store, upgrade_schema):
        with pytest.raises(StoreError, match=rf"made by a newer NWS: .* {NEXT}, .*Upgrade NWS"):
            attempt(restored)


def test_the_stores_do_not_tell_where_they_were_made(restored):
    places = r"/(tmp|root|home|work|usr|opt|var|mnt|private|Users)\b|\b(127|10|172|192)\.\d+\.\d+\.\d+|localhost|-dirty"
    with open_store(restored, read_only=True) as store:
        for table in Base.metadata.tables:
            stored = rows(store, f"SELECT * FROM {table}")
            assert stored
            for value in (value for row in stored for value in row):
                is_packed = isinstance(value, bytes | memoryview) and bytes(value).startswith(b"\x78\x9c")
                text = zlib.decompress(value).decode() if is_packed else str(value)
                assert not re.search(places, text), (table, text)
