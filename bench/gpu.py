"""How fast the paper recipe's sweep is on one NVIDIA GPU, beside the libraries that it is made of.

Embedding, composing and scoring are timed, as an actor does them, bundle after bundle, and by the libraries called once
for everything; segmentation is done by other processes meanwhile and is timed apart. Encoders and BERTScore's backbone
have the shape of BERT-base and random weights: times are those of the real models, texts and scores mean nothing but
that two ways agree.
"""

import argparse
import dataclasses
import datetime
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import torch
from torch.utils.flop_counter import FlopCounterMode

from bench.arms import Libraries, Row, stage_of
from bench.device import peak_of, precisions, synchronize, utilisation
from bench.gpu_results import Report, Speed, as_text
from bench.machine import cpu_model, keep
from bench.parts import Stopwatch, counted_tokens, watched
from bench.random_models import make_bert
from bench.sweep import Agreement, compare
from nws.core.arithmetic import find_device
from nws.core.article import SegmentedArticle
from nws.core.stage import Stage
from nws.core.sweep import Sweeper
from nws.core.types import Precision, Score, Summary
from nws.core.worker_factories import make_segmenter, make_sweeper
from nws.jobs.installation import code_version
from nws.jobs.recipes.job import make_plan
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.plan import Plan
from nws.jobs.recipes.sweep_recipe import Phase1Recipe

# How many texts the libraries' `encode` reads at once: their default, 32, was slower on a GPU.
LIBRARY_BATCH = 64


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and on a GPU keep the result. Returns the exit code: 2 where there is no such device."""
    options = _options(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        print(
            "This machine has no NVIDIA GPU that PyTorch can use, so there is nothing to measure. Run it on one that "
            "has, with a CUDA build of PyTorch (`nvidia-smi` and `torch.cuda.is_available()` say so).",
            file=sys.stderr,
        )
        return 2
    device = find_device(options.device)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        plan, articles, seconds = prepare(
            Path(folder), options.layers, options.hidden, options.dataset, options.articles
        )
        about = {
            "device": torch.cuda.get_device_name() if device.type == "cuda" else f"{cpu_model()}, 1 thread",
            "commit and day": f"{code_version()}, {datetime.datetime.now(datetime.UTC).date()}",
            "PyTorch": torch.__version__,
            "models": f"4, random weights, {options.layers} layers of {options.hidden}: 3 encoders and BERTScore's",
            "articles": len(articles),
            "words": sum(len(article.words) for article in articles),
            "summaries": len(stage_of(plan).places) * len(articles),
            "segmentation, CPU seconds an article": round(seconds, 4),
        }
        report = measure_all(about, plan, articles, device, options.precision or precisions(device))
    if device.type == "cuda":
        keep("gpu", as_text(report), dataclasses.asdict(report))
    else:
        print(as_text(report), end="")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: only to try the benchmark out")
    parser.add_argument("--dataset", default="sample", help="as in a recipe")
    parser.add_argument("--articles", type=int, default=24, help="how many, from the first")
    names = get_args(Precision)
    parser.add_argument("--precision", action="append", choices=names, help="repeatable; all that the GPU has")
    parser.add_argument("--layers", type=int, default=12, help="of each model; BERT-base has 12")
    parser.add_argument("--hidden", type=int, default=768, help="hidden size of each model; BERT-base has 768")
    return parser.parse_args(arguments)


def prepare(
    folder: Path, layers: int, hidden_size: int, dataset: str, limit: int
) -> tuple[Plan, list[SegmentedArticle], float]:
    """The paper recipe with random models in `folder`, its articles, and the CPU seconds to segment one."""
    encoders = [str(make_bert(folder / name, layers, hidden_size)) for name in ("bert", "second", "third")]
    recipe = load_recipe(
        Phase1Recipe,
        "paper",
        {
            "datasets": [{"name": dataset}],
            "datasets.limit": limit,
            "pipeline": "blank",
            "encoders": encoders,
            "rulers": [],  # which the libraries do not write
            "bertscore": {"model": encoders[0], "num_layers": max(1, layers * 3 // 4)},
        },
    )
    plan = make_plan(recipe)
    segment = make_segmenter(stage_of(plan))
    articles = list(plan.corpora[0])
    segment(articles[0])
    started = time.process_time()
    segmented = [segment(article) for article in articles]
    return plan, segmented, (time.process_time() - started) / len(articles)


def measure_all(
    about: dict[str, object],
    plan: Plan,
    articles: Sequence[SegmentedArticle],
    device: torch.device,
    asked: Sequence[Precision],
) -> Report:
    """The libraries, then each precision."""
    rate, theirs = measure_libraries(plan, articles, device)
    flop = flop_of(stage_of(plan), articles, device)
    speeds: list[Speed] = []
    agreements: dict[Precision, Agreement] = {}
    for precision in asked:
        gc.collect()
        if device.type == "cuda":
            torch.cuda.empty_cache()
        speed, rows = measure(stage_of(plan), articles, device, precision, flop)
        speeds.append(speed)
        agreements[precision] = compare(rows, theirs)
    return Report(about, speeds, rate, agreements)


def flop_of(stage: Stage, articles: Sequence[SegmentedArticle], device: torch.device, bundle: int = 16) -> float:
    """FLOP of a sweep, padding included: counted on the first bundle, for counting is slow, and scaled by words.

    On a CPU the layers of `nws.core.arithmetic.PackedLinear` are not counted.
    """
    sweeper = make_sweeper(stage, device.type)
    first = articles[:bundle]
    with FlopCounterMode(display=False) as counter:
        sweeper(first)
    return float(counter.get_total_flops()) * _words(articles) / _words(first)


def measure(
    stage: Stage,
    articles: Sequence[SegmentedArticle],
    device: torch.device,
    precision: Precision,
    flop: float,
    bundle: int = 16,
) -> tuple[Speed, list[Row]]:
    """Sweep the articles in bundles three times: to warm the device up, for the rate, and by part."""
    bertscore = dataclasses.replace(stage.metrics.bertscore, precision=precision)
    metrics = dataclasses.replace(stage.metrics, bertscore=bertscore)
    sweeper = make_sweeper(dataclasses.replace(stage, precision=precision, metrics=metrics), device.type)
    bundles = [articles[start : start + bundle] for start in range(0, len(articles), bundle)]
    peak = peak_of(device, precision)
    _sweep(sweeper, bundles, device)
    with utilisation(device) as samples, counted_tokens() as tokens:
        started = time.perf_counter(), time.process_time()
        rows = _sweep(sweeper, bundles, device)
        wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    with watched(Stopwatch(lambda: _time_when_done(device))) as watch:
        _sweep(sweeper, bundles, device)
    speed = Speed(
        precision,
        articles_per_second=len(articles) / wall,
        words_per_second=_words(articles) / wall,
        tokens_per_second=sum(tokens) / wall,
        cpu_share=cpu / wall,
        busy_share=statistics.mean(samples) / 100 if samples else None,
        tflops=flop / wall / 1e12,
        peak_tflops=peak,
        part_ms={part: seconds / len(articles) * 1e3 for part, seconds in watch.seconds.items()},
    )
    return speed, rows


def measure_libraries(
    plan: Plan, articles: Sequence[SegmentedArticle], device: torch.device
) -> tuple[float, list[Row]]:
    """Articles a second of the libraries, and what they found."""
    libraries = Libraries(plan, device, LIBRARY_BATCH)
    libraries.rows(articles[:2])
    started = time.perf_counter()
    rows = libraries.rows(articles)
    synchronize(device)
    return len(articles) / (time.perf_counter() - started), sorted(rows, key=_key)


def _sweep(sweeper: Sweeper, bundles: Sequence[Sequence[SegmentedArticle]], device: torch.device) -> list[Row]:
    found: list[Summary] = [summary for bundle in bundles for summary in sweeper(bundle)]
    synchronize(device)
    return sorted((_row(summary) for summary in found), key=_key)


def _row(summary: Summary) -> Row:
    scores = summary.scores
    bertscore, *rouge = (
        Score(*(scores[f"{name}_{part}"] for part in ("precision", "recall", "f1")))
        for name in ("bertscore", "rouge1", "rouge2", "rougel")
    )
    return Row(summary.article_id, summary.system, summary.n, summary.text, bertscore, tuple(rouge))


def _key(row: Row) -> tuple[str, str, int]:
    return row.article_id, row.system, row.n


def _words(articles: Sequence[SegmentedArticle]) -> int:
    return sum(len(article.words) for article in articles)


def _time_when_done(device: torch.device) -> float:
    synchronize(device)
    return time.perf_counter()


if __name__ == "__main__":
    sys.exit(main())
