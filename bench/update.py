"""Where the time of a training goes: CPU milliseconds of each part of an update, for one sampled summary and in all.

A whole training runs through the driver, in this process: what workers and the driver send each other is pickled and
read again. Each part's time is its own, without that of parts within it. The first pass, which prepares the articles,
is left out, and what follows training is not run.
"""

import argparse
import contextlib
import io
import os
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch
from rich import box
from rich.console import Console
from rich.table import Table

import nws.core.episodes
from bench.device import linear_gflops
from bench.machine import cpu_model, keep
from bench.parts import ELSE, Stopwatch
from nws.cluster.pools import EpisodePool
from nws.core.arithmetic import find_device
from nws.core.article import Article
from nws.core.learning import learner
from nws.core.learning.exchange import ArticleGradient, Request
from nws.core.learning.learner import Learner
from nws.core.learning.reward import bertscore_reward
from nws.core.metrics.bertscore import BertScorer
from nws.core.metrics.config import BertScoreConfig
from nws.jobs.drive import driver, training
from nws.jobs.drive.run import Run
from nws.jobs.recipes.job import make_plan
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.phase2 import Phase2Recipe
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import open_store

MODEL = "reward: model"
PARTS = ("drawing", "reward: tokenizing", MODEL, "reward: matching", "gradient", "exchange", "step", "storing", "other")
MOST = 0.3  # ms a sampled summary, of everything but the model
REWARDED = 96  # summaries that are rewarded together and one at a time
REPETITIONS = 3


class Watch:
    """The time of all parts of a training after its first updates, and what was drawn and rewarded in them."""

    def __init__(self, warm_up: int) -> None:
        self.stopwatch = Stopwatch(parts=(*PARTS, ELSE))
        self.updates = -warm_up
        self.summaries: list[tuple[Article, str]] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Measure every training that is run meanwhile."""
        of = [
            ("drawing", nws.core.episodes.EpisodeRunner, "_draw"),
            ("reward: tokenizing", BertScorer, "_tokenized"),
            (MODEL, BertScorer, "embed"),
            ("reward: matching", BertScorer, "begin_scores"),
            ("gradient", nws.core.episodes, "_gradient"),
            ("exchange", nws.core.episodes, "restore_policies"),
            ("exchange", learner, "update_request"),
            ("step", Learner, "step"),
            ("storing", training, "_result"),
            ("storing", Run, "record_round"),
        ]
        timed = self.stopwatch.timed
        with contextlib.ExitStack() as stack:
            for part, owner, name in of:
                stack.enter_context(mock.patch.object(owner, name, timed(part, getattr(owner, name))))
            learn = timed("other", EpisodePool.learn)
            pickled = timed("exchange", lambda value: pickle.loads(pickle.dumps(value, protocol=5)))

            def sent(pool: EpisodePool, requests: Sequence[Request], look_around: Any) -> Any:
                self.updates += 1
                if self.updates == 1:
                    self.stopwatch.restart()
                    self.summaries.clear()
                found: list[list[ArticleGradient]] = pickled(learn(pool, pickled(requests), look_around))
                by_id = {article.id: article for _, episodes in requests for article, _ in episodes}
                self.summaries += [(by_id[g.article_id], s.text) for of in found for g in of for s in g.samples]
                return found

            stack.enter_context(mock.patch.object(EpisodePool, "learn", sent))
            stack.enter_context(mock.patch.object(driver, "run_stage"))
            stack.enter_context(mock.patch.object(training, "_decoded", return_value={}))
            yield


def main() -> None:
    options = _options()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)
    report: dict[str, Any] = {"about": {"CPU": f"{cpu_model()}, 1 thread", "GFLOP/s": linear_gflops()}, "recipes": {}}
    for recipe in ("sample", "as-written"):
        plan = _plan(recipe, options)
        watch = measure(plan)
        milliseconds = {part: 1e3 * watch.stopwatch.seconds[part] / len(watch.summaries) for part in PARTS}
        bertscore = plan.metrics.bertscore
        report["recipes"][recipe] = {
            "articles": _articles(plan),
            "updates": watch.updates,
            "summaries": len(watch.summaries),
            "ms": milliseconds,
            "all but the model": sum(milliseconds.values()) - milliseconds[MODEL],
            "reward of a summary, ms": compare_rewards(bertscore, watch.summaries[:REWARDED]),
        }
    keep("update", as_text(report), report)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.update", description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=16, help="how many to learn from, from the first")
    parser.add_argument("--passes", type=int, default=3, help="over all articles, after the first")
    parser.add_argument("--dataset", default="sample", help="as in a recipe")
    return parser.parse_args()


def _plan(recipe: str, options: argparse.Namespace) -> Plan:
    methods = [method.model_dump() for method in load_recipe(Phase2Recipe, recipe, {}).methods]
    changes = {
        "train_datasets": [{"name": options.dataset, "limit": options.articles}],
        "methods": [method | {"passes": options.passes + 1} for method in methods],
        "seeds": [0],
        "systems": ["lead"],
    }
    return make_plan(load_recipe(Phase2Recipe, recipe, changes))


def measure(plan: Plan) -> Watch:
    """Train as a run does, with a store of its own, for a pass and then some more."""
    (config,) = plan.trainings
    watch = Watch(warm_up=config.updates(_articles(plan)) // config.passes)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(f"sqlite:///{folder}/update.db") as store,
        watch.watching(),
    ):
        driver.start(store, plan, "inline", Console(file=io.StringIO()))
    return watch


def _articles(plan: Plan) -> int:
    return sum(corpus.size or 0 for corpus in plan.train_corpora)


def compare_rewards(config: BertScoreConfig, summaries: Sequence[tuple[Article, str]]) -> dict[str, float]:
    """CPU milliseconds for the reward of one summary: the best of some repetitions, interleaved."""
    scorer = BertScorer(config, find_device("cpu"))
    reward = bertscore_reward(scorer)
    ways: dict[str, Callable[[], object]] = {
        "together": lambda: reward(summaries),
        "one at a time": lambda: [reward([summary]) for summary in summaries],
        "one pair at a time, reference and all": lambda: [
            scorer.score([(text, article.references)]) for article, text in summaries
        ],
    }
    reward(summaries)
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for repetition in range(REPETITIONS):
        for name in reversed(ways) if repetition % 2 else ways:
            started = time.process_time()
            ways[name]()
            taken[name].append(1e3 * (time.process_time() - started) / len(summaries))
    return {name: min(found) for name, found in taken.items()}


def as_text(report: dict[str, Any]) -> str:
    text = io.StringIO()
    console = Console(file=text, width=110, highlight=False)
    rates = ", ".join(f"{name} {rate:.0f}" for name, rate in report["about"]["GFLOP/s"].items())
    console.print(f"CPU: {report['about']['CPU']}; GFLOP/s: {rates}")
    table = Table("CPU ms a sampled summary", *report["recipes"], box=box.SIMPLE)
    found = report["recipes"].values()
    for part in PARTS:
        table.add_row(part, *(f"{one['ms'][part]:.3f}" for one in found))
    table.add_row("all but the model", *(f"{one['all but the model']:.3f}" for one in found))
    for way in next(iter(found))["reward of a summary, ms"]:
        table.add_row(f"reward, {way}", *(f"{one['reward of a summary, ms'][way]:.3f}" for one in found))
    table.add_section()
    for part in PARTS:
        table.add_row(f"an update, ms: {part}", *(f"{_of_an_update(one, part):.1f}" for one in found))
    table.add_row("an update, ms", *(f"{sum(_of_an_update(one, part) for part in PARTS):.1f}" for one in found))
    table.add_section()
    table.add_row("summaries", *(str(one["summaries"]) for one in found))
    table.add_row("updates", *(str(one["updates"]) for one in found))
    console.print(table)
    console.print(f"Wanted: at most {MOST} ms of all but the model.")
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines() if line.strip())


def _of_an_update(recipe: dict[str, Any], part: str) -> float:
    milliseconds: float = recipe["ms"][part] * recipe["summaries"] / recipe["updates"]
    return milliseconds


if __name__ == "__main__":
    main()
