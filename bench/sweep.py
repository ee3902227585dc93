"""How fast a Phase 1 sweep is on one CPU thread, from text to stored row, beside the same with the libraries alone.

NAIVE calls the libraries once per text and per summary, as a notebook does; LIB calls them once for everything. All
arms run in one process, in an order that is reversed in every repetition, and the CPU time of the process counts: on a
shared machine the wall time says little. Ratios are of the smallest times. The numbers must be those of NAIVE.

Then where the time of NWS goes, and how near its models are to the floor: tokens times the multiplications of linear
layers, at the rate that this machine multiplies a large matrix.
"""

import argparse
import dataclasses
import io
import os
import statistics
import sys
import tempfile
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

from bench.arms import CPU, Arm, Row, load_arms, nws, read_rows, stage_of
from bench.device import linear_gflops
from bench.machine import cpu_model, keep
from bench.parts import ELSE, MODELS, RUN, counted_tokens, watched
from nws.core.models import model_folder
from nws.core.models.loading import load_model
from nws.core.stage import Stage
from nws.core.sweep import Sweeper, configure_worker_process
from nws.core.types import Score
from nws.core.worker_factories import make_segmenter
from nws.jobs.recipes.job import make_plan
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.plan import Plan
from nws.jobs.recipes.sweep_plan import STUDY_LENGTHS
from nws.jobs.recipes.sweep_recipe import Phase1Recipe
from nws.jobs.store import upgrade_schema

LONG = Path(__file__).parents[2] / "shared" / "data" / "cnn_dailymail.jsonl"
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


@dataclass(frozen=True, slots=True)
class Parts:
    """CPU seconds per article of each part of NWS, and what its models need at the least.

    `run` is in seconds of the run: what does not grow with its articles. `floor` is in seconds per article; `tokens`
    are those of an article that the models read, without padding.
    """

    seconds: dict[str, float]
    run: float
    tokens: float
    floor: float


def main() -> None:
    options = _options()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    configure_worker_process("cpu", None)
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers.utils.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    console = Console(stderr=True, highlight=False)
    rates = {name: round(rate) for name, rate in linear_gflops().items()}
    texts, reports, wrong = [], [], False
    for dataset in options.dataset or datasets():
        plan = without_random(dataset, options.articles)
        arms = load_arms(plan)
        results = measure(arms, plan.articles or 0, options.reps, console)
        parts = take_apart(plan, max(rates.values()))
        about = _about(plan, results, rates, options.reps)
        texts.append(_as_text(about, results, parts))
        reports.append(_as_json(about, results, parts))
        wrong |= not all(result.agreement.same for name, result in results.items() if name.startswith("NWS"))
    keep("sweep", "\n".join(texts), reports)
    sys.exit(wrong)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.sweep", description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=16, help="how many of each dataset, from the first")
    parser.add_argument("--reps", type=int, default=3, help="repetitions of every arm")
    parser.add_argument("--dataset", action="append", help="as in a recipe; may be given again")
    options = parser.parse_args()
    if options.articles < 1 or options.reps < 1:
        parser.error("--articles and --reps must be at least 1")
    return options


def datasets() -> list[str]:
    """The bundled articles, and the longer ones beside the checkout if they are there."""
    return ["sample", *([str(LONG)] if LONG.is_file() else [])]


def without_random(dataset: str, articles: int) -> Plan:
    """A run without `random`, whose scores are means over several draws: one summary, one score, in every arm."""
    asked = {"datasets": [{"name": dataset}], "datasets.limit": articles, "bundle_size": 16, "n": STUDY_LENGTHS}
    plan = make_plan(
        load_recipe(Phase1Recipe, "sample", {**asked, "importance": ["textrank", "centroid"], "rulers": []})
    )
    (stage,) = plan.stages
    systems = tuple(system for system in stage.systems if system.signature != "random")
    return dataclasses.replace(plan, stages=(dataclasses.replace(stage, systems=systems),))


def measure(arms: dict[str, Arm], articles: int, reps: int, console: Console) -> dict[str, Result]:
    """Time every arm, interleaved. The first time of each does not count: it fills caches."""
    cpu: dict[str, list[float]] = {name: [] for name in arms}
    wall: dict[str, list[float]] = {name: [] for name in arms}
    rows: dict[str, list[Row]] = {}
    for rep in range(reps + 1):
        for name in reversed(arms) if rep % 2 else arms:
            with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder:
                upgrade_schema(f"sqlite:///{folder}/nws.db")
                started = time.process_time(), time.perf_counter()
                stored = arms[name](Path(folder))
                spent = time.process_time() - started[0], time.perf_counter() - started[1]
                rows[name] = read_rows(stored)
            if rep:
                cpu[name].append(spent[0] / articles)
                wall[name].append(spent[1] / articles)
                console.print(f"repetition {rep}/{reps}, {name}: {cpu[name][-1]:.3f} CPU s/article")
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


def take_apart(plan: Plan, gflops: float) -> Parts:
    """Where the time of one run goes, after one that fills caches."""
    stage, articles = stage_of(plan), plan.articles or 0
    sweeper = Sweeper(stage, CPU)
    arm = nws(plan, sweeper)
    with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder:
        (Path(folder) / "first").mkdir()
        arm(Path(folder) / "first")
        upgrade_schema(f"sqlite:///{folder}/nws.db")
        with watched() as watch, counted_tokens() as read:
            arm(Path(folder))
    tokens = sum(read) / articles
    run = watch.seconds.pop(RUN) + watch.seconds.pop(ELSE)  # of which nothing is left but the call of the driver
    seconds = {part: spent / articles for part, spent in watch.seconds.items()}
    return Parts(seconds, run, tokens, tokens * flops_per_token(stage) / (gflops * 1e9))


def flops_per_token(stage: Stage) -> float:
    """Of the linear layers. The encoder and the BERTScore backbone of the sample recipe are the same model."""
    _, model = load_model(model_folder(stage.encoders[0]))
    layers = [module for module in model.encoder.modules() if isinstance(module, torch.nn.Linear)]
    return 2.0 * sum(layer.weight.numel() for layer in layers)


def _about(plan: Plan, results: dict[str, Result], rates: dict[str, int], reps: int) -> dict[str, Any]:
    stage = stage_of(plan)
    segment = make_segmenter(stage)
    articles = [segment(article) for article in plan.corpora[0]]
    return {
        "articles": len(articles),
        "dataset": Path(plan.corpora[0].name).stem,
        "words": sum(len(article.words) for article in articles),
        "sentences and chunks": sum(len(article.sentences) + len(article.chunks) for article in articles),
        "summaries": results["NAIVE"].agreement.texts,
        "repetitions": reps,
        "encoder": stage.encoders[0].name,
        "BERTScore": f"{stage.metrics.bertscore.model.name}, layer {stage.metrics.bertscore.num_layers}",
        "CPU": f"{cpu_model()}, 1 thread",
        "GFLOP/s": rates,
        "libraries": plan.revisions["libraries"],
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


def _as_json(about: dict[str, Any], results: dict[str, Result], parts: Parts) -> dict[str, Any]:
    ratios = {f"{base} / {name}": results[base].cpu / r.cpu for base in ("NAIVE", "LIB") for name, r in results.items()}
    arms = {name: dataclasses.asdict(result) for name, result in results.items()}
    return {"about": about, "arms": arms, "cpu_ratios": ratios, "parts": dataclasses.asdict(parts)}


def _as_text(about: dict[str, Any], results: dict[str, Result], parts: Parts) -> str:
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
    shown = ", ".join(f"{part} {1000 * seconds:.1f}" for part, seconds in parts.seconds.items())
    console.print(
        f"NWS, ms CPU an article: {shown}. And {1000 * parts.run:.0f} ms for the run, however many articles it has: "
        "it is begun and ended, and its answer is computed."
    )
    console.print(
        f"Floor of the models: {parts.tokens:.0f} tokens an article, {1000 * parts.floor:.0f} ms; "
        f"the models run at {parts.floor / parts.seconds[MODELS]:.0%} of it."
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
