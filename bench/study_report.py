"""What `nws report` of a sharded run of ten million summaries costs, in seconds and memory.

    python -m bench.study_report --store sqlite:////tmp/study.db [--articles 76000] [--shards 8]

The store gets what such a run keeps when its shards have ended: the scores as columns, in the types and parts in
which `jobs.store.points` writes them. The summaries themselves are left out, since a report of the usual
metrics reads none of them: 5 GB of texts would only have to be made. With other metrics it reads summaries, see
large_store.py.
"""

import argparse
import dataclasses
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import insert, update

from bench.large_store import LENGTHS, SYSTEMS, of_process
from bench.machine import cpu_model, keep
from jobs.store import RunSpec, Store, open_store, upgrade_schema
from jobs.store.points import COLUMN_METRICS, ROWS_OF_PART
from jobs.store.tables import RunRow, ScoreColumnRow

STUDY = "phase1-20261124-abcdef"
WORDS_OF_SHORT, SHARE_OF_SHORT, SHARE_OF_COPIES = 12, 0.02, 0.3
ARTICLES_OF_PART = ROWS_OF_PART // (len(SYSTEMS) * len(LENGTHS))


def fill(url: str, articles: int, shards: int) -> None:
    """Fill an empty store with a sharded run that has ended."""
    upgrade_schema(url)
    about = {"libraries": {}, "encoders": {}, "segmentation": "made", "bertscore": "made"}
    about |= {"datasets": {"cnn": "made", "xsum": "made"}}
    spec = RunSpec("phase1", {}, "made", 0, "made", about, {"bertscore": "made", "kept": "made"}, len(SYSTEMS))
    counts = [len(part) for part in np.array_split(np.arange(articles), shards)]
    with open_store(url) as store:
        specs = [(spec, count) for count in counts]
        ids = store.create_sharded_run(spec, STUDY, 1, "en", (), SYSTEMS, specs)
        for number, (shard, count) in enumerate(zip(ids, counts, strict=True)):
            _fill_shard(store, shard, count, np.random.default_rng(number))
        epoch = store.claim_run(STUDY, "bench", os.getpid())
        store.writer(STUDY, epoch).finish("done")


def _fill_shard(store: Store, shard: str, articles: int, rng: np.random.Generator) -> None:
    hard = rng.normal(0, 0.06, articles)
    for part, first in enumerate(range(0, articles, ARTICLES_OF_PART)):
        count = min(ARTICLES_OF_PART, articles - first)
        columns = _part(count, hard[first : first + count], rng)
        columns["article"] += first
        same = {"run_id": shard, "part": part}
        rows = [same | {"name": name, "column_values": values.tobytes()} for name, values in columns.items()]
        with store.writing() as connection:
            connection.execute(insert(ScoreColumnRow), rows)
    ids = [f"{number:016x}" for number in rng.integers(0, 2**63, articles)]
    named = [(("cnn", "xsum")[number % 2], article_id) for number, article_id in enumerate(ids)]
    known = {"systems": list(SYSTEMS), "articles": named}
    summaries = articles * len(SYSTEMS) * len(LENGTHS)
    with store.writing() as connection:
        whole = {"run_id": shard, "name": "about", "part": 0, "column_values": json.dumps(known).encode()}
        connection.execute(insert(ScoreColumnRow), [whole])
        ended = {"state": "done", "means_kept": True, "summaries": summaries, "articles_done": articles}
        connection.execute(update(RunRow).where(RunRow.id == shard).values(**ended))


def _part(articles: int, hard: NDArray[np.float64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Of each article all systems, and of each system all n, as in bench/large_store.py."""
    shape = (articles, len(SYSTEMS), len(LENGTHS))
    n = np.broadcast_to(np.array(LENGTHS), shape)
    words = np.where(rng.random(articles) < SHARE_OF_SHORT, WORDS_OF_SHORT, 300)[:, None, None]
    above = np.array([{"system": 0.03, "upper bound": 0.2, "control": 0.0}[kind] for kind in SYSTEMS.values()])
    shapes = (above + 0.002 * np.arange(len(SYSTEMS)))[:, None] * np.exp(-((np.array(LENGTHS) - 9) ** 2) / 60)
    curve = 0.3 + hard[:, None, None] + shapes + 0.006 * n
    copied = np.where(rng.random(shape) < SHARE_OF_COPIES, 0, 1 + np.arange(len(SYSTEMS))[:, None])
    texts = rng.integers(1, 2**60, (articles, 1, len(LENGTHS))) + copied
    columns = {
        "system": np.broadcast_to(np.arange(len(SYSTEMS))[:, None], shape).astype("<i2"),
        "article": np.broadcast_to(np.arange(articles)[:, None, None], shape).astype("<i4"),
        "n": n.astype("<i4"),
        "words": np.minimum(n, words).astype("<i4"),
        "text": texts.astype("<i8"),
    }
    columns |= {metric: curve + rng.normal(0, 0.05, shape) for metric in COLUMN_METRICS}
    return {name: np.ascontiguousarray(values).reshape(-1) for name, values in columns.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.study_report", description=__doc__.splitlines()[0])
    parser.add_argument("--store", required=True)
    parser.add_argument("--articles", type=int, default=76_000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_args()
    fill(options.store, options.articles, options.shards)
    filled = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    began, cpu = time.perf_counter(), time.process_time()
    with open_store(options.store, read_only=True) as store:
        points = store.points(STUDY, COLUMN_METRICS)
    read = f"{time.perf_counter() - began:.2f} s, {time.process_time() - cpu:.2f} s CPU"
    columns: list[NDArray[Any]] = [points.system, points.article, points.n, points.words, points.text]
    held = sum(column.nbytes for column in [*columns, *points.scores.values()]) / len(points) / len(points.scores)
    count = len(points)
    del points, columns
    nws = str(Path(sys.executable).with_name("nws"))
    load = os.getloadavg()[0]
    command = [nws, "report", STUDY, "--out", str(options.reports), "--store", options.store]
    cost = of_process(f"report: {count:,} summaries of {options.shards} shards", command)
    lines = [
        f"{cpu_model()}, {os.cpu_count()} CPUs, load before {load:.1f}",
        f"columns in memory: {held:.1f} bytes a score; read in {read} (after filling: {filled:.0f} MB)",
        f"{cost.what:52} {cost.wall:8.2f} s {cost.cpu:8.2f} s CPU {cost.peak_mb:8.0f} MB",
    ]
    report = {"lines": lines, "report": dataclasses.asdict(cost), "bytes_a_score": held}
    keep("study_report", "".join(f"{line}\n" for line in lines), report)


if __name__ == "__main__":
    main()
