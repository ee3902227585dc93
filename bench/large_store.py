"""What reading a large store costs: `ls`, `status`, `logs`, views, document and `report`, in seconds and in memory.

    python -m bench.large_store fill --store sqlite:///large.db [--articles 40 20]
    python -m bench.large_store time --store sqlite:///large.db
    python -m bench.large_store document --store sqlite:///large.db    # builds that of the largest run, and no more

The summaries are made: articles of random words, scores of a seeded generator. They go in through `RunWriter.record`,
so that what the store keeps beside them is what a run keeps.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.machine import cpu_model, keep
from nws.core.article import Article
from nws.core.metrics.specs import as_columns
from nws.core.types import BundleResult, Score, Summary, SystemKind
from nws.jobs.store import RunSpec, Store, open_store, upgrade_schema
from nws.jobs.store.means import document_from_rows

LENGTHS = tuple(range(1, 22, 2))
MODELS = ("bert-base-uncased", "xlnet-base-cased", "electra-base-discriminator")
SYSTEMS: dict[str, SystemKind] = {
    **{f"{m}|{w}|chunks": "system" for m in MODELS for w in ("textrank", "lexrank", "position")},
    "oracle": "oracle",
    "lead": "control",
    "random": "control",
}
"""Twelve, so that an article has 132 summaries."""
ARTICLES = (15_152, 15_152, *[4000] * 11, 1454)
"""Of each run: 10 million summaries in all."""
GROUP = 50
"""Articles of a transaction."""
SHARE_OF_COPIES = 0.3
VIEWS = ("sweep_curve", "best_n", "leaderboard")
WORDS = np.array([f"{a}{b}" for a in ("ba", "ne", "ri", "so", "tu") for b in ("l", "mer", "n", "pan", "ston", "t")])


def fill(url: str, articles: Sequence[int]) -> None:
    """Fill an empty store with a run of so many articles each."""
    upgrade_schema(url)
    with open_store(url) as store:
        for number, count in enumerate(articles):
            run_id = fill_run(store, number, count, _article, _summaries)
            print(f"{run_id}: {count} articles, {count * len(SYSTEMS) * len(LENGTHS)} summaries", flush=True)


def fill_run(
    store: Store,
    number: int,
    articles: int,
    make_article: Callable[[str, np.random.Generator], Article],
    make_summaries: Callable[[Article, np.random.Generator], Iterator[Summary]],
) -> str:
    """A finished run of made articles and summaries, which `number` seeds: its id."""
    about = {"libraries": {}, "encoders": {}, "segmentation": "made", "bertscore": "made", "datasets": {}}
    signatures = {"bertscore": "made", "kept": "made"}
    spec = RunSpec("phase1", {}, f"made-{number}", number, "made", about, signatures, len(SYSTEMS))
    run_id, rng = store.create_run(spec, f"phase1-made-{number}"), np.random.default_rng(number)
    writer = store.writer(run_id, store.claim_run(run_id, "bench", os.getpid()))
    writer.start("cpu", "made", SYSTEMS)
    writer.set_total(articles)
    for start in range(0, articles, GROUP):
        group = [make_article(f"{number}-{key}", rng) for key in range(start, min(start + GROUP, articles))]
        made = BundleResult(tuple(one for article in group for one in make_summaries(article, rng)), ())
        writer.record([(group, made)])
    writer.finish("done")
    return run_id


def _article(key: str, rng: np.random.Generator) -> Article:
    text = " ".join(rng.choice(WORDS, 300))
    dataset = ("cnn", "xsum")[int(key.rpartition("-")[2]) % 2]
    return Article(dataset, "test", key, text, (text[:60],))


def _summaries(article: Article, rng: np.random.Generator) -> Iterator[Summary]:
    """All of an article; one in 50 articles has but 12 words, and one in 100 lacks a system's summaries."""
    words = 12 if rng.random() < 0.02 else 300
    lacking = rng.choice(MODELS) if rng.random() < 0.01 else None
    hard = rng.normal(0, 0.06)
    texts = {n: " ".join(rng.choice(WORDS, min(n, words))) for n in LENGTHS}
    for place, (system, kind) in enumerate(SYSTEMS.items()):
        if lacking and system.startswith(f"{lacking}|position"):
            continue
        above = {"system": 0.03, "oracle": 0.2, "control": 0.0}[kind] + 0.002 * place
        noise = rng.normal(0, 0.05, (len(LENGTHS), 5))
        copies = rng.random(len(LENGTHS)) < SHARE_OF_COPIES
        for k, n in enumerate(LENGTHS):
            f1 = [float(0.3 + hard + above * np.exp(-((n - 9) ** 2) / 60) + 0.006 * n + e) for e in noise[k, :4]]
            kept = float((0.4 + above) * (1 - np.exp(-n / 9)) + hard + noise[k, 4])
            text = texts[n] if copies[k] else " ".join(rng.choice(WORDS, min(n, words)))
            of: dict[str, Score | float] = dict(
                zip(("bertscore", "rouge1", "rouge2", "rougel"), (Score(f, f, f) for f in f1), strict=True)
            )
            of |= {"efficiency": f1[0] / n, "density": float(rng.random()), "coverage": 1.0}
            scores = as_columns(of) | {"kept": kept}
            extra = {"draws": (text,) * 5} if system == "random" else {}
            yield Summary(article.id, system, n, text, min(n, words), 0.01, scores, extra)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by the clock and of the CPU, and the most memory (MB), of a process or of a call in this one."""

    what: str
    wall: float
    cpu: float
    peak_mb: float | None


def measure(url: str, reports: Path) -> list[Cost]:
    """Each command as a process of its own; then what the store alone takes of it, in this process."""
    nws = [str(Path(sys.executable).with_name("nws"))]
    with open_store(url, read_only=True) as store:
        runs = sorted(store.list_runs(), key=lambda run: -run.summaries)
    newest, largest = runs[-1].id, runs[0].id
    with tempfile.TemporaryDirectory() as folder:
        empty = f"sqlite:///{folder}/empty.db"
        upgrade_schema(empty)
        costs = [of_process("ls of an empty store", [*nws, "ls", "--store", empty])]
    costs.append(of_process("ls", [*nws, "ls", "--store", url]))
    costs.append(of_process("status", [*nws, "status", largest, "--store", url]))
    costs.append(of_process("logs", [*nws, "logs", newest, "--store", url]))
    for view in VIEWS:
        costs.append(
            of_process(f"query: count of {view}", [*nws, "query", f"select count(*) from {view}", "--store", url])
        )
    for run in runs[:: max(1, len(runs) - 1)]:
        if run.id == largest:
            build = [sys.executable, "-m", "bench.large_store", "document", "--store", url]
            costs.append(of_process(f"document: {run.summaries:,} summaries", build))
        command = [*nws, "report", run.id, "--out", str(reports / run.id), "--store", url]
        costs.append(of_process(f"report: {run.summaries:,} summaries", command))
    return costs + _of_store(url, largest)


def build_largest(url: str) -> None:
    """Build the document of the largest run, as the end of that run did."""
    with open_store(url, read_only=True) as store, store.reading() as reader:
        document_from_rows(reader, [max(store.list_runs(), key=lambda run: run.summaries).id])


def of_process(what: str, command: Sequence[str]) -> Cost:
    """What a command costs, as a process of its own."""
    before = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(what, time.perf_counter() - before, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3)


def _of_store(url: str, run_id: str) -> list[Cost]:
    """Without Python's start."""
    costs = []
    with open_store(url, read_only=True) as store:
        for view in VIEWS:
            for what, where in (("", ""), (" of the largest run", f" where run_id = '{run_id}'")):
                wall, cpu = time.perf_counter(), time.process_time()
                with store.query(f"select * from {view}{where}") as answer:
                    for _ in answer.rows:
                        pass
                costs.append(Cost(f"store: {view}{what}", time.perf_counter() - wall, time.process_time() - cpu, None))
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.large_store", description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("fill", "time", "document"))
    parser.add_argument("--store", required=True)
    parser.add_argument("--articles", type=int, nargs="+", default=ARTICLES, help="of each run that is made")
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_args()
    if options.action == "fill":
        fill(options.store, options.articles)
        return
    if options.action == "document":
        build_largest(options.store)
        return
    load = os.getloadavg()[0]
    costs = measure(options.store, options.reports)
    loads = f"load before {load:.1f}, after {os.getloadavg()[0]:.1f}"
    machine = f"{cpu_model()}, {os.cpu_count()} CPUs, {loads}"
    lines = [machine]
    for cost in costs:
        peak = "" if cost.peak_mb is None else f"{cost.peak_mb:8.0f} MB"
        lines.append(f"{cost.what:44} {cost.wall:8.2f} s {cost.cpu:8.2f} s CPU {peak}".rstrip())
    report = {"machine": machine, "costs": [asdict(cost) for cost in costs]}
    keep("large_store", "".join(f"{line}\n" for line in lines), report)


if __name__ == "__main__":
    main()
