"""What content kept and its rulers add to a Phase 1 sweep on one CPU thread, from text to stored row.

Three arms run in one process: without content kept, with it, and with it and the rulers. Their order is reversed in
every repetition, and the CPU time of the process counts: on a shared machine the wall time says little. Each repetition
embeds the references anew. The other scores must stay what they are without.
"""

import argparse
import contextlib
import dataclasses
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from bench.arms import CPU, Arm, nws, stage_of
from bench.machine import RESULTS, cpu_model
from bench.parts import MODELS, watched
from bench.sweep import TOLERANCE, datasets
from nws.core.metrics.specs import METRICS, PARTS
from nws.core.sweep import Sweeper, take_share
from nws.core.systems.rulers import RULERS
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.recipes.sweep_plan import STUDY_LENGTHS
from nws.jobs.store import upgrade_schema

WITHOUT, KEPT, RULED = ARMS = ("without", "content kept", "content kept and rulers")
MOST = 1.15  # times the CPU time without
SCORES = (*METRICS, *PARTS)

# The scores of a summary by article, system and n.
Rows = dict[tuple[str, str, int], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds an article of one arm, by repetition, those of its models alone, and its scores."""

    seconds: tuple[float, ...]
    models: tuple[float, ...]
    rows: Rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.kept_cost", description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=16, help="how many of each dataset, from the first")
    parser.add_argument("--reps", type=int, default=4, help="repetitions of every arm")
    options = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    take_share("cpu", None)
    texts, is_wrong = [f"CPU: {cpu_model()}, 1 thread; {options.reps} repetitions\n"], False
    for dataset in datasets():
        costs = measure(dataset, options.articles, options.reps)
        texts += lines(f"{Path(dataset).stem}, {options.articles} articles", costs)
        is_wrong |= any(difference(costs[arm], costs[WITHOUT]) > TOLERANCE for arm in ARMS)
    text = "\n".join(texts) + "\n"
    print(text, end="")
    (RESULTS / "kept_cost.txt").write_text(text, encoding="utf-8")
    sys.exit(is_wrong)


def measure(dataset: str, articles: int, reps: int) -> dict[str, Cost]:
    """The cost of each arm. The first time of each does not count: it fills caches."""
    seconds: dict[str, list[float]] = {name: [] for name in ARMS}
    models: dict[str, list[float]] = {name: [] for name in ARMS}
    rows: dict[str, Rows] = {}
    for rep in range(reps + 1):
        for name in reversed(ARMS) if rep % 2 else ARMS:
            arm = arm_of(name, dataset, articles)
            with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder:
                upgrade_schema(f"sqlite:///{folder}/nws.db")
                with watched() as watch, measured_later() if name == WITHOUT else contextlib.nullcontext():
                    started = time.process_time()
                    stored = arm(Path(folder))
                    spent = time.process_time() - started
                rows[name] = dict(read_scores(stored))
            if rep:
                seconds[name].append(spent / articles)
                models[name].append(watch.seconds[MODELS] / articles)
    return {name: Cost(tuple(seconds[name]), tuple(models[name]), rows[name]) for name in ARMS}


@contextlib.contextmanager
def measured_later() -> Iterator[None]:
    """A run in this block draws no panel, and does not catch up on content kept at its end."""
    with (
        mock.patch("nws.jobs.recipes.plan.Plan.with_panels", lambda plan: dataclasses.replace(plan, panels=())),
        mock.patch("nws.jobs.drive.driver.lacking_kept", return_value=[]),
    ):
        yield


def arm_of(name: str, dataset: str, articles: int) -> Arm:
    """A sweep whose models are loaded, and that has embedded nothing yet."""
    plan = plan_of(dataset, articles, with_rulers=name == RULED)
    stage = stage_of(plan)
    return nws(plan, Sweeper(dataclasses.replace(stage, panels=()) if name == WITHOUT else stage, CPU))


def plan_of(dataset: str, articles: int, *, with_rulers: bool) -> Plan:
    asked = {"datasets": [{"name": dataset}], "datasets.limit": articles, "bundle_size": 16, "n": STUDY_LENGTHS}
    return plan_job("phase1", "sample", asked if with_rulers else {**asked, "rulers": []})


def read_scores(path: Path) -> Iterator[tuple[tuple[str, str, int], tuple[float, ...]]]:
    with sqlite3.connect(path) as connection:
        for article, system, n, *scores in connection.execute(
            f"SELECT article_id, system, n, {', '.join(SCORES)} FROM summaries"
        ):
            if system not in RULERS:
                yield (article, system, n), tuple(scores)


def difference(cost: Cost, without: Cost) -> float:
    """The largest of any score of any summary."""
    assert cost.rows.keys() == without.rows.keys()
    return max(abs(a - b) for key, scores in cost.rows.items() for a, b in zip(scores, without.rows[key], strict=True))


def lines(what: str, costs: Mapping[str, Cost]) -> Sequence[str]:
    without = costs[WITHOUT]
    rows = []
    for name, cost in costs.items():
        ratio = min(cost.seconds) / min(without.seconds)
        in_turn = statistics.median(a / b for a, b in zip(cost.seconds, without.seconds, strict=True))
        in_models = 1 + (min(cost.models) - min(without.models)) / min(without.seconds)
        rows.append(
            f"| {name} | {min(cost.seconds):.3f} | {ratio:.3f} | {in_turn:.3f} | {in_models:.3f} | "
            f"{difference(cost, without):.0e} |"
        )
    heading = "| | CPU s an article | ratio of least | median ratio | of it in models | other scores differ by |"
    beyond = min(costs[RULED].seconds) / min(without.seconds) > MOST
    return [
        f"{what}, {len(without.rows)} summaries without the rulers",
        *(heading, "| --- | --- | --- | --- | --- | --- |", *rows),
        *([f"More than {MOST} of a sweep without."] if beyond else []),
        "",
    ]


if __name__ == "__main__":
    main()
