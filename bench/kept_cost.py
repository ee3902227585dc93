"""What content kept and its rulers add to a Phase 1 sweep on one CPU thread, from text to stored row.

Four arms run in one process: without content kept, with it but without kinds of words, with both, and with the rulers,
too. `--kinds` takes the second and the third alone (kept_cost-kinds.txt). Their order is reversed in every repetition,
and the CPU time of the process counts: on a shared machine the wall time says little. Each repetition embeds the
references, and tells their kinds, anew. The other scores must stay what they are without.
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
from nws.core.sweep import Sweeper, configure_worker_process
from nws.core.systems.rulers import RULERS
from nws.core.text.word_kinds import load_tagger
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.recipes.sweep_plan import STUDY_LENGTHS
from nws.jobs.store import upgrade_schema

WITHOUT, NO_KINDS, KEPT, RULED = ARMS = ("without", "kept, no kinds", "content kept", "content kept and rulers")
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
    parser.add_argument("--kinds", action="store_true", help="what kinds of words cost alone")
    options = parser.parse_args()
    arms, name = ((NO_KINDS, KEPT), "kept_cost-kinds.txt") if options.kinds else (ARMS, "kept_cost.txt")
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    configure_worker_process("cpu", None)
    texts, is_wrong = [f"CPU: {cpu_model()}, 1 thread; {options.reps} repetitions\n"], False
    for dataset in datasets():
        costs = measure(dataset, options.articles, options.reps, arms)
        texts += lines(f"{Path(dataset).stem}, {options.articles} articles", costs)
        is_wrong |= any(difference(costs[arm], costs[arms[0]]) > TOLERANCE for arm in arms)
    text = "\n".join(texts) + "\n"
    print(text, end="")
    (RESULTS / name).write_text(text, encoding="utf-8")
    sys.exit(is_wrong)


def measure(dataset: str, articles: int, reps: int, arms: Sequence[str]) -> dict[str, Cost]:
    """The cost of each arm. The first time of each does not count: it fills caches."""
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    models: dict[str, list[float]] = {name: [] for name in arms}
    rows: dict[str, Rows] = {}
    for rep in range(reps + 1):
        for name in reversed(arms) if rep % 2 else arms:
            with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder, told_in(name):
                arm = arm_of(name, dataset, articles)
                upgrade_schema(f"sqlite:///{folder}/nws.db")
                with watched() as watch:
                    started = time.process_time()
                    stored = arm(Path(folder))
                    spent = time.process_time() - started
                rows[name] = dict(read_scores(stored))
            if rep:
                seconds[name].append(spent / articles)
                models[name].append(watch.seconds[MODELS] / articles)
    return {name: Cost(tuple(seconds[name]), tuple(models[name]), rows[name]) for name in arms}


@contextlib.contextmanager
def told_in(name: str) -> Iterator[None]:
    """In the first arm a run draws no panel, and does not catch up on content kept at its end. Two tell no kinds."""
    load_tagger.cache_clear()  # it remembers texts
    with contextlib.ExitStack() as patched:
        if name in (WITHOUT, NO_KINDS):
            for module in ("bench.arms", "nws.jobs.drive.driver"):
                patched.enter_context(mock.patch(f"{module}.find_kinds", return_value=""))
        if name == WITHOUT:
            no_panels = lambda plan, word_kinds: dataclasses.replace(plan, panels=())  # noqa: E731
            patched.enter_context(mock.patch("nws.jobs.recipes.plan.Plan.with_panels", no_panels))
            patched.enter_context(mock.patch("nws.jobs.drive.driver.lacking_kept", return_value=[]))
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
    without, *_, last = costs.values()
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
    beyond = min(last.seconds) / min(without.seconds) > MOST
    return [
        f"{what}, {len(without.rows)} summaries without the rulers",
        *(heading, "| --- | --- | --- | --- | --- | --- |", *rows),
        *([f"More than {MOST} of a sweep without."] if beyond else []),
        "",
    ]


if __name__ == "__main__":
    main()
