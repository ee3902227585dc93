"""How fast a Phase 1 sweep is on one CPU thread, beside the same sweep with the libraries alone.

NAIVE calls the libraries once per text and per summary, as a notebook does; LIB calls them once for everything. All
arms run in one process, in an order that is reversed in every repetition, and the CPU time of the process counts: on a
shared machine the wall time says little. Ratios are of the smallest times. The numbers must be those of NAIVE.
"""

import argparse
import dataclasses
import io
import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from rich import box
from rich.console import Console
from rich.table import Table

from bench.arms import Arm, Row, load_arms
from bench.machine import cpu_model, linear_gflops
from core.sweep import make_segmenter
from core.types import Score, SegmentedArticle
from jobs.plan.phase1 import pin
from jobs.recipes.load import load_recipe
from jobs.recipes.phase1 import Phase1Recipe

RESULTS = Path(__file__).parent / "results"
TOLERANCE = 1e-5  # of BERTScore against NAIVE, where the texts are equal
BUSY = 1.1  # wall time over CPU time from which the machine was not ours
WIDTH = 150  # characters of the table


@dataclass(frozen=True, slots=True)
class Agreement:
    """How an arm's summaries and scores compare with NAIVE's.

    `delta` holds the largest |dP|, |dR| and |dF| of BERTScore, and `rouge_exact` is, over summaries of equal text.
    """

    equal_texts: int
    texts: int
    delta: tuple[float, float, float]
    rouge_exact: bool

    @property
    def same(self) -> bool:
        return self.equal_texts == self.texts and max(self.delta) <= TOLERANCE and self.rouge_exact


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds per article of one arm: the smallest and the median over the repetitions."""

    cpu: float
    cpu_median: float
    wall: float
    wall_median: float
    wall_per_cpu: float
    agreement: Agreement


def main() -> None:
    options = _options()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers.utils.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    console = Console(stderr=True, highlight=False)

    asked = {"datasets": [{"name": options.dataset}], "limit": options.articles, "bundle_size": 16}
    recipe = load_recipe(Phase1Recipe, "sample", {**asked, "importance": ["textrank", "centroid"]})
    pinned = pin(recipe)
    (planned,) = pinned.stages
    # Without `random`, whose scores are means over several draws: one summary, one score, in every arm.
    systems = tuple(system for system in planned.plan.systems if system.signature != "random")
    plan = dataclasses.replace(planned.plan, systems=systems)
    segment = make_segmenter(plan)
    articles = [segment(article) for article in pinned.corpora[0]]
    arms = load_arms(plan, recipe.bundle_size)
    results = measure(arms, articles, options.reps, console)
    about = {
        "articles": len(articles),
        "dataset": pinned.corpora[0].name,
        "words": sum(len(article.words) for article in articles),
        "sentences and chunks": sum(len(article.sentences) + len(article.chunks) for article in articles),
        "summaries": results["NAIVE"].agreement.texts,
        "repetitions": options.reps,
        "encoder": plan.encoders[0].name,
        "BERTScore": f"{plan.metrics.bertscore.model.name}, layer {plan.metrics.bertscore.num_layers}",
        "CPU": f"{cpu_model()}, 1 thread",
        "GFLOP/s": {name: round(rate) for name, rate in linear_gflops().items()},
        "libraries": pinned.revisions["libraries"],
    }
    write_results(about, results)
    sys.exit(0 if all(result.agreement.same for name, result in results.items() if name.startswith("NWS")) else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.sweep", description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=16, help="how many, from the first")
    parser.add_argument("--reps", type=int, default=3, help="repetitions of every arm")
    parser.add_argument("--dataset", default="sample", help="as in a recipe")
    options = parser.parse_args()
    if options.articles < 1 or options.reps < 1:
        parser.error("--articles and --reps must be at least 1")
    return options


def measure(
    arms: dict[str, Arm], articles: Sequence[SegmentedArticle], reps: int, console: Console
) -> dict[str, Result]:
    """Time every arm, interleaved, after each has seen one article."""
    rows: dict[str, list[Row]] = {}
    cpu: dict[str, list[float]] = {name: [] for name in arms}
    wall: dict[str, list[float]] = {name: [] for name in arms}
    for arm in arms.values():
        arm(articles[:1])
    for rep in range(reps):
        for name in reversed(arms) if rep % 2 else arms:
            started = time.process_time(), time.perf_counter()
            rows[name] = arms[name](articles)
            cpu[name].append((time.process_time() - started[0]) / len(articles))
            wall[name].append((time.perf_counter() - started[1]) / len(articles))
            console.print(f"repetition {rep + 1}/{reps}, {name}: {cpu[name][-1]:.3f} CPU s/article")
    return {
        name: Result(
            min(cpu[name]),
            statistics.median(cpu[name]),
            min(wall[name]),
            statistics.median(wall[name]),
            sum(wall[name]) / sum(cpu[name]),
            compare(rows[name], rows["NAIVE"]),
        )
        for name in arms
    }


def compare(rows: Sequence[Row], naive: Sequence[Row]) -> Agreement:
    pairs = list(zip(rows, naive, strict=True))
    for row, other in pairs:
        assert (row.article_id, row.system, row.n) == (other.article_id, other.system, other.n)
    equal = [(row, other) for row, other in pairs if row.text == other.text]
    deltas = [_differences(row.bertscore, other.bertscore) for row, other in equal]
    precision, recall, f1 = (max(column) for column in zip(*deltas, strict=True))
    rouge_exact = all(row.rouge == other.rouge for row, other in equal)
    return Agreement(len(equal), len(pairs), (precision, recall, f1), rouge_exact)


def _differences(one: Score, other: Score) -> tuple[float, ...]:
    return tuple(abs(a - b) for a, b in zip(dataclasses.astuple(one), dataclasses.astuple(other), strict=True))


def write_results(about: dict[str, Any], results: dict[str, Result]) -> None:
    """Print the table, and keep it as text and as JSON."""
    text = _as_text(about, results)
    print(text, end="")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "sweep.txt").write_text(text, encoding="utf-8")
    ratios = {f"{base} / {name}": results[base].cpu / r.cpu for base in ("NAIVE", "LIB") for name, r in results.items()}
    arms = {name: dataclasses.asdict(result) for name, result in results.items()}
    report = {"about": about, "arms": arms, "cpu_ratios": ratios}
    (RESULTS / "sweep.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _as_text(about: dict[str, Any], results: dict[str, Result]) -> str:
    text = io.StringIO()
    console = Console(file=text, width=WIDTH, highlight=False)
    for key, value in about.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        console.print(f"{key}: {shown}")
    times = ("CPU min", "CPU median", "wall min", "wall median", "wall/CPU")
    table = Table("", *times, "NAIVE/arm", "LIB/arm", "equal texts", "|dP|", "|dR|", "|dF|", "ROUGE", box=box.SIMPLE)
    for name, r in results.items():
        seconds = (r.cpu, r.cpu_median, r.wall, r.wall_median)
        table.add_row(
            name,
            *(f"{value:.3f}" for value in seconds),
            f"{r.wall_per_cpu:.2f}",
            f"{results['NAIVE'].cpu / r.cpu:.1f}",
            f"{results['LIB'].cpu / r.cpu:.1f}",
            f"{r.agreement.equal_texts}/{r.agreement.texts}",
            *(f"{value:.0e}" for value in r.agreement.delta),
            "exact" if r.agreement.rouge_exact else "differs",
        )
    console.print(table)
    console.print(
        "Times are seconds per article. Texts and scores are compared with NAIVE's. LIB's BERTScore differs by design: "
        "in a batch bert_score masks padding with similarity 0, which lifts the negative maxima of short summaries."
    )
    busy = [name for name, r in results.items() if r.wall_per_cpu > BUSY]
    if busy:
        console.print(
            f"Wall time over CPU time is above {BUSY} ({', '.join(busy)}): the machine was busy, go by CPU time."
        )
    wrong = [name for name, r in results.items() if name.startswith("NWS") and not r.agreement.same]
    if wrong:
        console.print(f"FAILED: {', '.join(wrong)} does not give the summaries and scores of NAIVE (to {TOLERANCE}).")
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines() if line.strip())


if __name__ == "__main__":
    main()
