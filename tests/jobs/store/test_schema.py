import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from stored_rows import execute

from nws.core.errors import StoreError
from nws.jobs.store import open_store, schema, upgrade_schema
from nws.jobs.store.address import parse_address
from nws.jobs.store.engine import writer_engine
from nws.jobs.store.queries import VIEWS
from nws.jobs.store.schema import HEAD_REVISION, SCHEMA_HASH, Upgrade
from nws.jobs.store.tables import Base

ROOT = Path(__file__).parents[3]


def alembic(url: str, *arguments: str) -> str:
    command, environment = [sys.executable, "-m", "alembic", *arguments], os.environ | {"NWS_STORE": url}
    return subprocess.check_output(command, cwd=ROOT, env=environment, stderr=subprocess.STDOUT, text=True)


def test_no_table_or_view_changes_without_a_migration():
    """Write one, then set both in `schema.py`."""
    assert schema.schema_hash() == SCHEMA_HASH


def described(connection: sa.Connection) -> dict[str, object]:
    """Tables with their columns, constraints and indexes, and views, in whatever order they were made."""
    inspector, found = sa.inspect(connection), {}
    for name in inspector.get_table_names():
        columns = [{**column, "type": str(column["type"])} for column in inspector.get_columns(name)]
        kinds = ("check_constraints", "foreign_keys", "indexes", "unique_constraints")
        parts = [*columns, *(part for kind in kinds for part in getattr(inspector, f"get_{kind}")(name))]
        found[name] = [inspector.get_pk_constraint(name), *sorted(map(str, parts))]
    return found | {name: inspector.get_view_definition(name) for name in inspector.get_view_names()}


def test_the_migrations_make_the_tables_and_views_of_the_code(sqlite_url, empty_postgres_url):
    for address in map(parse_address, (sqlite_url, empty_postgres_url)):
        engine = writer_engine(address)
        with engine.connect() as connection:
            Base.metadata.create_all(connection)
            for name, query in VIEWS.items():
                connection.exec_driver_sql(f"CREATE VIEW {name} AS {query}")
            declared = described(connection)
            connection.rollback()
        upgrade_schema(address.url.render_as_string(hide_password=False))
        with engine.connect() as connection:
            migrated = described(connection)
        engine.dispose()
        assert migrated.pop("alembic_version")
        assert migrated == declared
        assert {*Base.metadata.tables, *VIEWS} == migrated.keys()


def test_a_file_gets_the_schema_by_opening_and_by_upgrading(sqlite_url, tmp_path):
    parse_address(sqlite_url).path.touch()
    with pytest.raises(StoreError, match="no NWS schema"):
        open_store(sqlite_url, read_only=True)
    assert parse_address(sqlite_url).path.stat().st_size == 0
    open_store(sqlite_url).close()
    assert upgrade_schema(sqlite_url) == Upgrade(HEAD_REVISION)
    other = f"sqlite:///{tmp_path / 'other.db'}"
    assert [upgrade_schema(other), upgrade_schema(other)] == [Upgrade(None), Upgrade(HEAD_REVISION)]


def test_who_dies_while_the_schema_is_made_leaves_nothing_of_it(sqlite_url, monkeypatch):
    def die(connection):
        connection.exec_driver_sql("CREATE TABLE half (a)")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(schema, "_migrate", die)
        with pytest.raises(KeyboardInterrupt):
            upgrade_schema(sqlite_url)
    assert upgrade_schema(sqlite_url) == Upgrade(None)


def test_empty_postgres_is_refused_until_upgraded(empty_postgres_url):
    url = sa.make_url(empty_postgres_url).set(password="s3cret").render_as_string(hide_password=False)
    with pytest.raises(StoreError, match=r"no NWS schema. Run: nws db upgrade --store postgresql://postgres:\*\*\*@"):
        open_store(url)
    assert upgrade_schema(empty_postgres_url) == Upgrade(None)
    open_store(empty_postgres_url).close()


@pytest.mark.parametrize("revision", ["0019", "ffff00000000"])
def test_a_store_from_before_the_first_release_is_refused_with_the_commit_that_can_export_it(store_url, spec, revision):
    with open_store(store_url) as store:
        store.create_run(replace(spec, code_version="abc1234+00112233, def5678-dirty+44556677"))
    execute(store_url, f"UPDATE alembic_version SET version_num = '{revision}'")
    for attempt in (open_store, lambda url: open_store(url, read_only=True), upgrade_schema):
        with pytest.raises(StoreError, match=r"before release 1.0.*commit def5678: `nws export`") as caught:
            attempt(store_url)
        assert "\n" not in str(caught.value)
    execute(store_url, f"UPDATE alembic_version SET version_num = '{HEAD_REVISION}'")
    with open_store(store_url) as store:
        assert len(store.list_runs()) == 1  # nothing was changed


def test_another_programs_database_is_not_upgraded(sqlite_url):
    path = parse_address(sqlite_url).path
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (run_uuid TEXT)")
    before = path.read_bytes()
    for attempt in (upgrade_schema, open_store):
        with pytest.raises(StoreError, match=r"no NWS schema: it is empty, or the database of another program. Name"):
            attempt(sqlite_url)
    assert path.read_bytes() == before
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_two_that_upgrade_at_once_migrate_once(empty_postgres_url, monkeypatch):
    """The second one waits for the first."""
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
    assert found == [Upgrade(None), Upgrade(HEAD_REVISION)]
    open_store(empty_postgres_url).close()


@pytest.mark.slow
def test_alembic_alone_upgrades_and_finds_the_tables_as_declared(empty_postgres_url, tmp_path):
    for url in (f"sqlite:///{tmp_path / 'by-hand.db'}", empty_postgres_url):
        alembic(url, "upgrade", "head")
        assert "No new upgrade operations detected" in alembic(url, "check")
        open_store(url).close()
