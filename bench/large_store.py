"""What reading a large store costs: `ls`, `status`, `logs`, each view and `report`, in seconds and in memory.

    python -m bench.large_store fill  --store sqlite:///large.db --shape runs     # or: --shape one
    python -m bench.large_store time  --store sqlite:///large.db --reports FOLDER [--same-as FOLDER]

The summaries are made: articles of random words, scores of a seeded generator. They go in through `RunWriter.record`,
so that what the store keeps beside them is what a run keeps. `--same-as` names the reports of the same store by other
code: every file of numbers must be the same to the last byte.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from core.metrics.specs import as_columns
from core.types import Article, BundleResult, Score, Summary, SystemKind
from jobs.store import RunSpec, Store, open_store, upgrade_schema

RESULTS = Path(__file__).parent / "results"
LENGTHS = tuple(range(1, 22, 2))
MODELS = ("bert-base-uncased", "xlnet-base-cased", "electra-base-discriminator")
SYSTEMS: dict[str, SystemKind] = {
    **{f"{m}|{w}|chunks": "system" for m in MODELS for w in ("textrank", "lexrank", "position")},
    "oracle": "upper bound",
    "lead": "control",
    "random": "control",
}
"""Twelve, so that an article has 132 summaries."""
SHAPES = {
    "runs": (4000, 3000, 2500, 2000, 1500, 1000, 700, 450),
    "one": (15_152,),
    "ten-million": (15_152, 15_152, *[4000] * 11, 1454),
    "small": (40, 20),
}
"""Articles of each run. The first two come to 2 million summaries, the third to 10 million."""
GROUP = 50
"""Articles of a transaction."""
SHARE_OF_COPIES = 0.3
VIEWS = ("sweep_curve", "best_n", "leaderboard")
WORDS = np.array([f"{a}{b}" for a in ("ba", "ne", "ri", "so", "tu") for b in ("l", "mer", "n", "pan", "ston", "t")])


def fill(url: str, shape: str) -> None:
    """Fill an empty store."""
    upgrade_schema(url)
    with open_store(url) as store:
        for number, articles in enumerate(SHAPES[shape]):
            rng = np.random.default_rng(number)
            run_id = store.create_run(_spec(number), f"phase1-made-{number}")
            epoch = store.claim_run(run_id, "bench", os.getpid())
            store.writer(run_id, epoch).start("cpu", "made", SYSTEMS)
            store.writer(run_id, epoch).set_total(articles)
            for start in range(0, articles, GROUP):
                group = [_article(number, key, rng) for key in range(start, min(start + GROUP, articles))]
                made = BundleResult(tuple(one for article in group for one in _summaries(article, rng)), ())
                store.writer(run_id, epoch).record([(group, made)])
            store.writer(run_id, epoch).finish("done")
            print(f"{run_id}: {articles} articles, {articles * len(SYSTEMS) * len(LENGTHS)} summaries", flush=True)


def _spec(number: int) -> RunSpec:
    about = {"libraries": {}, "encoders": {}, "segmentation": "made", "bertscore": "made", "datasets": {}}
    return RunSpec("phase1", {}, f"made-{number}", number, "made", about, {"bertscore": "made"}, len(SYSTEMS))


def _article(run: int, key: int, rng: np.random.Generator) -> Article:
    text = " ".join(rng.choice(WORDS, 300))
    return Article(("cnn", "xsum")[key % 2], "test", f"{run}-{key}", text, (text[:60],))


def _summaries(article: Article, rng: np.random.Generator) -> Iterator[Summary]:
    """All of an article; one in 50 articles has but 12 words, and one in 100 lacks a system's summaries."""
    words = 12 if rng.random() < 0.02 else 300
    lacking = rng.choice(MODELS) if rng.random() < 0.01 else None
    hard = rng.normal(0, 0.06)
    texts = {n: " ".join(rng.choice(WORDS, min(n, words))) for n in LENGTHS}
    for place, (system, kind) in enumerate(SYSTEMS.items()):
        if lacking and system.startswith(f"{lacking}|position"):
            continue
        above = {"system": 0.03, "upper bound": 0.2, "control": 0.0}[kind] + 0.002 * place
        noise = rng.normal(0, 0.05, (len(LENGTHS), 4))
        copies = rng.random(len(LENGTHS)) < SHARE_OF_COPIES
        for k, n in enumerate(LENGTHS):
            f1 = [float(0.3 + hard + above * np.exp(-((n - 9) ** 2) / 60) + 0.006 * n + e) for e in noise[k]]
            text = texts[n] if copies[k] else " ".join(rng.choice(WORDS, min(n, words)))
            of = dict(zip(("bertscore", "rouge1", "rouge2", "rougel"), (Score(f, f, f) for f in f1), strict=True))
            scores = as_columns({**of, "efficiency": f1[0] / n, "density": float(rng.random()), "coverage": 1.0})
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
        costs = [_of_process("ls of an empty store", [*nws, "ls", "--store", empty])]
    costs.append(_of_process("ls", [*nws, "ls", "--store", url]))
    costs.append(_of_process("status", [*nws, "status", largest, "--store", url]))
    costs.append(_of_process("logs", [*nws, "logs", newest, "--store", url]))
    for view in VIEWS:
        costs.append(
            _of_process(f"query: count of {view}", [*nws, "query", f"select count(*) from {view}", "--store", url])
        )
    for run in runs[:: max(1, len(runs) - 1)]:
        command = [*nws, "report", run.id, "--out", str(reports / run.id), "--store", url]
        costs.append(_of_process(f"report: {run.summaries:,} summaries", command))
    return costs + _of_store(url, largest)


def _of_process(what: str, command: Sequence[str]) -> Cost:
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
        calls = {
            "store: list_runs": store.list_runs,
            "store: run_info": lambda: store.run_info(run_id),
            "store: failures": lambda: store.failures(run_id),
            "store: log": lambda: store.log(run_id),
        }
        for view in VIEWS:
            calls[f"store: {view}"] = lambda view=view: _read(store, f"select * from {view}")
            of_run = f"select * from {view} where run_id = '{run_id}'"
            calls[f"store: {view} of the largest run"] = lambda sql=of_run: _read(store, sql)
        for what, call in calls.items():
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            costs.append(Cost(what, time.perf_counter() - wall, time.process_time() - cpu, None))
    return costs


def _read(store: Store, sql: str) -> int:
    with store.query(sql) as answer:
        return sum(1 for _ in answer.rows)


def differing(reports: Path, other: Path) -> list[str]:
    """The files of numbers that are not the same in both."""
    names = [path.relative_to(reports) for path in sorted(reports.rglob("*")) if path.suffix in (".json", ".csv")]
    return [str(name) for name in names if (reports / name).read_bytes() != (other / name).read_bytes()]


def write_results(machine: str, costs: Sequence[Cost]) -> None:
    """Print what was found, and keep it as text and as JSON."""
    lines = [machine]
    for cost in costs:
        peak = "" if cost.peak_mb is None else f"{cost.peak_mb:8.0f} MB"
        lines.append(f"{cost.what:44} {cost.wall:8.2f} s {cost.cpu:8.2f} s CPU {peak}".rstrip())
    text = "".join(f"{line}\n" for line in lines)
    print(text, end="")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "large_store.txt").write_text(text, encoding="utf-8")
    report = {"machine": machine, "costs": [asdict(cost) for cost in costs]}
    (RESULTS / "large_store.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.large_store", description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("fill", "time"))
    parser.add_argument("--store", required=True)
    parser.add_argument("--shape", choices=SHAPES, default="runs")
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    parser.add_argument("--same-as", type=Path)
    options = parser.parse_args()
    if options.action == "fill":
        fill(options.store, options.shape)
        return
    load = os.getloadavg()[0]
    costs = measure(options.store, options.reports)
    # It takes torch along, and a process begins with the peak of the one that starts it.
    from bench.machine import cpu_model

    loads = f"load before {load:.1f}, after {os.getloadavg()[0]:.1f}"
    write_results(f"{cpu_model()}, {os.cpu_count()} CPUs, {loads}", costs)
    if options.same_as:
        found = differing(options.reports, options.same_as)
        print(f"differ: {', '.join(found)}" if found else "The same numbers.")
        sys.exit(bool(found))


if __name__ == "__main__":
    main()
