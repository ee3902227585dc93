"""What the framework itself costs: many articles through pool, driver and store, around work that takes no time.

The driver's memory is read while articles are stored, and must nearly stay where it is after the first ten thousand.
Costs are per article from then on: wall time, CPU time of the driver's process, and CPU time of it, its actors and Ray
together. The run is interrupted when 99 % is stored. Then it is resumed in this process, without Ray, and the time is
taken until it stores its next bundle.
"""

import argparse
import dataclasses
import importlib.metadata
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
from rich.console import Console

from bench import stub_work
from bench.machine import CpuSeconds, cpu_model, keep
from nws.core.types import Landed
from nws.jobs.drive import driver
from nws.jobs.drive.run import Outcome
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import RunWriter, Store, open_store, upgrade_schema

BUNDLE_SIZE, ACTORS, WORDS = 32, 2, 100
WARM_UP = 10_000  # articles
SAMPLES = 20  # of the whole run
MOST_GROWTH = 150.0  # MB, at a million articles
DONE_BEFORE_RESUME = 0.99
LEAST_RATE = 0.9  # of the last tenth, the first being 1
MOST_SECONDS = 25.0  # for a resumed run to begin, at a million articles
BUSY = 0.5  # load per CPU, before we begin, from which the machine was not ours
LIBRARIES = ("ray", "sqlalchemy", "psycopg", "torch", "pydantic")


@dataclass(frozen=True, slots=True)
class Sample:
    """The driver when so many articles were stored. Times in seconds, memory in MB."""

    articles: int
    wall: float
    driver_cpu: float
    all_cpu: float
    rss: float


@dataclass(slots=True)
class Meter:
    """Samples this process whenever another `every` articles have been stored."""

    every: int
    stored: int = 0
    samples: list[Sample] = field(default_factory=list)
    cpu: CpuSeconds = field(default_factory=lambda: CpuSeconds(psutil.Process()))

    def submit(self, store: Store, plan: Plan, console: Console) -> Outcome:
        """`nws.jobs.drive.driver.start` with stub work, metered, and interrupted when 99 % is stored."""
        record, last = RunWriter.record, int(DONE_BEFORE_RESUME * (plan.articles or 0))

        def metered(writer: RunWriter, landed: Sequence[Landed], *rest: Any) -> None:
            record(writer, landed, *rest)
            before, self.stored = self.stored, self.stored + sum(len(bundle) for bundle, _ in landed)
            if not before or before // self.every != self.stored // self.every or self.stored >= last:
                self.samples.append(self.sample())
            if self.stored >= last:
                raise KeyboardInterrupt

        with mock.patch.object(RunWriter, "record", metered):
            return driver.start(store, plan, "ray", console, stub_work.work)

    def sample(self) -> Sample:
        all_cpu, memory = self.cpu.all_so_far(), psutil.Process().memory_info().rss / 1e6
        return Sample(self.stored, time.perf_counter(), time.process_time(), all_cpu, memory)


@dataclass(frozen=True, slots=True)
class Cost:
    """What an article cost after the warm-up, in ms, and by how many MB the driver grew at most."""

    wall: float
    driver_cpu: float
    all_cpu: float
    growth: float


def cost(samples: Sequence[Sample], warm_up: int) -> Cost:
    after = [sample for sample in samples if sample.articles >= warm_up]
    first, last = after[0], after[-1]
    articles = (last.articles - first.articles) / 1000
    return Cost(
        (last.wall - first.wall) / articles,
        (last.driver_cpu - first.driver_cpu) / articles,
        (last.all_cpu - first.all_cpu) / articles,
        max(sample.rss for sample in after) - first.rss,
    )


def rate_of_last_tenth(samples: Sequence[Sample]) -> float:
    """Articles a second in the last tenth of what was stored, those in the first tenth being 1."""
    first, last = samples[0], samples[-1]
    tenth = (last.articles - first.articles) / 10
    early = next(sample for sample in samples if sample.articles >= first.articles + tenth)
    late = next(sample for sample in reversed(samples) if sample.articles <= last.articles - tenth)
    return _rate(late, last) / _rate(first, early)


def _rate(before: Sample, after: Sample) -> float:
    return (after.articles - before.articles) / (after.wall - before.wall)


@dataclass(frozen=True, slots=True)
class Resumed:
    """Seconds from the call to resume a run until its next bundle was stored, wall and CPU, and how it ended."""

    wall: float
    cpu: float
    outcome: Outcome


def resume(store: Store, run_id: str, console: Console) -> Resumed:
    """Drive a run to its end in this process, with stub work."""
    record, stored = RunWriter.record, list[tuple[float, float]]()

    def timed(writer: RunWriter, *rest: Any) -> None:
        record(writer, *rest)
        if not stored:
            stored.append((time.perf_counter(), time.process_time()))

    wall, cpu = time.perf_counter(), time.process_time()
    with mock.patch.object(RunWriter, "record", timed):
        outcome = driver.resume(store, run_id, "inline", None, None, console, make_work=stub_work.work)
    return Resumed(stored[0][0] - wall, stored[0][1] - cpu, outcome)


def main() -> None:
    options = _options()
    os.environ["NWS_STUB_SECONDS"] = "0"
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder:
        articles = Path(folder) / "articles.jsonl"
        stub_work.write_articles(articles, options.articles, WORDS)
        asked = {"datasets": [{"name": str(articles)}], "n": [7], "bundle_size": BUNDLE_SIZE}
        asked |= {"importance": ["textrank", "centroid"], "rulers": []}
        plan = plan_job("phase1", "sample", {**asked, "accelerator": "cpu", "actors": ACTORS})
        meter = Meter(max(1, options.articles // SAMPLES))
        url = options.store or f"sqlite:///{folder}/nws.db"
        upgrade_schema(url)
        with open_store(url) as store:
            console = Console(stderr=True, highlight=False, soft_wrap=True)
            interrupted = meter.submit(store, plan, console)
            assert interrupted.state == "interrupted", interrupted
            resumed = resume(store, interrupted.run_id, console)
            kind = "Postgres" if store.shown_url.startswith("postgresql") else f"SQLite {sqlite3.sqlite_version}"
    outcome = resumed.outcome
    assert (outcome.state, outcome.articles, outcome.failures) == ("done", options.articles, 0), outcome
    found = cost(meter.samples, min(WARM_UP, options.articles // 2))
    about = {
        "articles": options.articles,
        "words an article": WORDS,
        "summaries an article": outcome.summaries // outcome.articles,
        "bundle size": BUNDLE_SIZE,
        "actors": ACTORS,
        "store": kind,
        "CPU": f"{cpu_model()}, {os.cpu_count()} CPUs",
        "load before": round(load, 2),
        "libraries": {"python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in LIBRARIES},
    }
    keep("overhead", _as_text(about, meter.samples, found, resumed), _as_json(about, meter.samples, found, resumed))
    sys.exit(0 if found.growth < MOST_GROWTH else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead", description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=100_000, help="how many")
    parser.add_argument("--store", help="URL of the store; default: a SQLite file that is deleted afterwards")
    options = parser.parse_args()
    if options.articles < 1000:
        parser.error("--articles must be at least 1000")
    return options


def _as_json(about: dict[str, Any], samples: Sequence[Sample], found: Cost, resumed: Resumed) -> dict[str, Any]:
    return {
        "about": about,
        "per_article_ms": {name: getattr(found, name) for name in ("wall", "driver_cpu", "all_cpu")},
        "driver_growth_mb": found.growth,
        "rate_of_last_tenth": rate_of_last_tenth(samples),
        "resume_s": {"wall": resumed.wall, "cpu": resumed.cpu},
        "samples": [dataclasses.asdict(sample) for sample in samples],
    }


def _as_text(about: dict[str, Any], samples: Sequence[Sample], found: Cost, resumed: Resumed) -> str:
    lines = []
    for key, value in about.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        lines.append(f"{key}: {shown}")
    lines.append(f"{'articles':>10} {'wall s':>8} {'driver CPU s':>13} {'all CPU s':>10} {'driver RSS MB':>14}")
    start = samples[0]
    for s in samples:
        times = f"{s.wall - start.wall:8.1f} {s.driver_cpu - start.driver_cpu:13.1f} {s.all_cpu - start.all_cpu:10.1f}"
        lines.append(f"{s.articles:10,} {times} {s.rss:14.1f}")
    lines += [
        f"Per article after the warm-up: {found.wall:.2f} ms wall, {found.driver_cpu:.2f} ms CPU of the driver, "
        f"{found.all_cpu:.2f} ms CPU of driver, actors and Ray.",
        f"The last tenth was stored at {rate_of_last_tenth(samples):.0%} of the rate of the first "
        f"(target: {LEAST_RATE:.0%} or more).",
        f"The driver grew by {found.growth:.1f} MB (less than {MOST_GROWTH:.0f} are allowed).",
        f"Resumed at {DONE_BEFORE_RESUME:.0%}, the run stored its next bundle after {resumed.wall:.1f} s, "
        f"{resumed.cpu:.1f} s of it CPU (target at a million articles: {MOST_SECONDS:.0f} s).",
    ]
    if about["load before"] > BUSY * (os.cpu_count() or 1):
        lines.append("The machine was busy with other things: go by CPU time.")
    if found.growth >= MOST_GROWTH:
        lines.append("FAILED: the driver's memory grows with the number of articles.")
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
