"""How fast the paper recipe's sweep is on one NVIDIA GPU, and how long the whole study would take on it.

Embedding, composing and scoring are timed, as an actor does them, bundle after bundle; segmentation is done by other
processes meanwhile and is timed apart. Encoders and BERTScore's backbone have the shape of BERT-base and random
weights: times are those of the real models, texts and scores mean nothing.
"""

import argparse
import contextlib
import dataclasses
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from bench.machine import cpu_model
from bench.random_models import make_bert
from core.device import find_device
from core.fast_linear import onednn_works
from core.precision import Precision
from core.sweep import Sweeper
from core.sweep_plan import SweepPlan, make_segmenter, make_sweeper
from core.transformer import DTYPES
from core.types import SegmentedArticle
from jobs.plan.phase1 import pin
from jobs.recipes.load import load_recipe
from jobs.recipes.phase1 import Phase1Recipe

RESULTS = Path(__file__).parent / "results"
# The test splits and their mean lengths in words (See et al. 2017, section 4; Narayan et al. 2018, table 2).
PAPER = {"CNN/DailyMail": (11_490, 781), "XSum": (11_334, 431)}
# How busy actors together should keep a GPU.
_ENOUGH = 0.9
_SAMPLE_MS = 100


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured at one precision.

    Attributes:
        articles_per_second, words_per_second: of the input, by wall time.
        tokens_per_second: that the models read, without padding.
        cpu_share: CPU seconds of the process over wall seconds.
        busy_share: of the time in which the GPU ran something, as nvidia-smi says; None if it is not there.
        tflops: what the models computed a second, padding included, in 10^12 FLOP.
        peak_tflops: the same of a large matrix product of that precision.
        paper_hours: of the study on one such device, one actor, at this rate of words.
        actors: how many should share the device, None where `busy_share` is.
    """

    precision: Precision
    articles_per_second: float
    words_per_second: float
    tokens_per_second: float
    cpu_share: float
    busy_share: float | None
    tflops: float
    peak_tflops: float
    paper_hours: float
    actors: int | None


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
    with tempfile.TemporaryDirectory() as folder:
        plan, articles, seconds = prepare(
            Path(folder), options.layers, options.hidden, options.dataset, options.articles
        )
        speeds = [measure(plan, articles, device, precision) for precision in options.precision or precisions(device)]
    about = {
        "device": torch.cuda.get_device_name() if device.type == "cuda" else f"{cpu_model()}, 1 thread",
        "PyTorch": torch.__version__,
        "models": f"4 with random weights, {options.layers} layers of {options.hidden}: 3 encoders, and BERTScore's",
        "articles": len(articles),
        "words": sum(len(article.words) for article in articles),
        "summaries": plan.summaries_per_article * len(articles),
        "segmentation, CPU seconds an article": round(seconds, 4),
    }
    text = as_text(about, speeds)
    print(text, end="")
    if device.type == "cuda":
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "gpu.txt").write_text(text, encoding="utf-8")
        report = {"about": about, "speeds": [dataclasses.asdict(speed) for speed in speeds]}
        (RESULTS / "gpu.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: only to try the benchmark out")
    parser.add_argument("--dataset", default="sample", help="as in a recipe")
    parser.add_argument("--articles", type=int, default=24, help="how many, from the first")
    parser.add_argument("--precision", action="append", choices=list(DTYPES), help="repeatable; all that the GPU has")
    parser.add_argument("--layers", type=int, default=12, help="of each model; BERT-base has 12")
    parser.add_argument("--hidden", type=int, default=768, help="hidden size of each model; BERT-base has 768")
    return parser.parse_args(arguments)


def precisions(device: torch.device) -> list[Precision]:
    """Those that a device computes fast in."""
    if device.type == "cpu":
        return ["float32"]
    has_bfloat16 = torch.cuda.get_device_capability(device) >= (8, 0)
    return ["float32", "float16", *(["bfloat16"] if has_bfloat16 else [])]  # type: ignore[list-item]


def prepare(
    folder: Path, layers: int, hidden_size: int, dataset: str, limit: int
) -> tuple[SweepPlan, list[SegmentedArticle], float]:
    """The paper recipe with random models in `folder`, its articles, and the CPU seconds to segment one."""
    encoders = [str(make_bert(folder / name, layers, hidden_size)) for name in ("bert", "second", "third")]
    recipe = load_recipe(
        Phase1Recipe,
        "paper",
        {
            "datasets": [{"name": dataset}],
            "limit": limit,
            "pipeline": "blank",
            "encoders": encoders,
            "bertscore": {"model": encoders[0], "num_layers": max(1, layers * 3 // 4)},
        },
    )
    pinned = pin(recipe)
    (planned,) = pinned.stages
    segment = make_segmenter(planned.plan)
    articles = list(pinned.corpora[0])
    segment(articles[0])
    started = time.process_time()
    segmented = [segment(article) for article in articles]
    return planned.plan, segmented, (time.process_time() - started) / len(articles)


def packed_layers() -> dict[object, Callable[..., int]]:
    """How PyTorch's counter, which knows only its public operations, counts the layers of `core.fast_linear`."""
    if not onednn_works():
        return {}

    def flop(inputs: Sequence[int], weight: object, *_: object, out_shape: Sequence[int], **__: object) -> int:
        return 2 * math.prod(out_shape) * inputs[-1]

    return {torch.ops.mkldnn._linear_pointwise: flop}


def measure(
    plan: SweepPlan, articles: Sequence[SegmentedArticle], device: torch.device, precision: Precision, bundle: int = 16
) -> Speed:
    """Time a sweep of the articles in bundles, after one that warms the device up and counts FLOP."""
    bertscore = dataclasses.replace(plan.metrics.bertscore, precision=precision)
    metrics = dataclasses.replace(plan.metrics, bertscore=bertscore)
    sweeper = make_sweeper(dataclasses.replace(plan, precision=precision, metrics=metrics), device.type)
    bundles = [articles[start : start + bundle] for start in range(0, len(articles), bundle)]
    with FlopCounterMode(display=False, custom_mapping=packed_layers()) as counter:
        _sweep(sweeper, bundles, device)
    tokens, words = sweeper.tokens, sum(len(article.words) for article in articles)
    with utilisation(device) as samples:
        started = time.perf_counter(), time.process_time()
        _sweep(sweeper, bundles, device)
        wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    busy = statistics.mean(samples) / 100 if samples else None
    return Speed(
        precision,
        articles_per_second=len(articles) / wall,
        words_per_second=words / wall,
        tokens_per_second=(sweeper.tokens - tokens) / wall,
        cpu_share=cpu / wall,
        busy_share=busy,
        tflops=counter.get_total_flops() / wall / 1e12,
        peak_tflops=peak_tflops(device, DTYPES[precision]),
        paper_hours=paper_hours(words / wall),
        actors=None if busy is None else actors_to_feed(busy),
    )


def _sweep(sweeper: Sweeper, bundles: Sequence[Sequence[SegmentedArticle]], device: torch.device) -> None:
    for bundle in bundles:
        sweeper(bundle)
    _synchronize(device)


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@contextlib.contextmanager
def utilisation(device: torch.device) -> Iterator[list[float]]:
    """Filled, when the block ends, with the GPU's utilisation in percent, every 100 ms; empty without nvidia-smi."""
    samples: list[float] = []
    if device.type != "cuda":
        yield samples
        return
    gpu = f"GPU-{torch.cuda.get_device_properties(device).uuid}"
    command = ["nvidia-smi", "-i", gpu, "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    try:
        process = subprocess.Popen([*command, f"-lms={_SAMPLE_MS}"], stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        yield samples
        return
    try:
        yield samples
    finally:
        process.terminate()
        samples.extend(float(line) for line in process.communicate()[0].splitlines() if line.strip().isdecimal())


def peak_tflops(device: torch.device, dtype: torch.dtype) -> float:
    """What the best of ten large matrix products reaches."""
    size = 8192 if device.type == "cuda" else 512
    matrix = torch.randn(size, size, device=device).to(dtype)
    return 2 * size**3 / _best_seconds(lambda: matrix @ matrix, device) / 1e12


def _best_seconds(multiply: Callable[[], torch.Tensor], device: torch.device) -> float:
    times = []
    for _ in range(10):
        _synchronize(device)
        started = time.perf_counter()
        multiply()
        _synchronize(device)
        times.append(time.perf_counter() - started)
    return min(times)


def paper_hours(words_per_second: float) -> float:
    """How long both test splits would take at a rate of words: time grows with them."""
    return sum(articles * words for articles, words in PAPER.values()) / words_per_second / 3600


def actors_to_feed(busy_share: float) -> int:
    """How many actors, each of which keeps a GPU busy for this share of the time, should share it: 1, 2 or 4."""
    return next((actors for actors in (1, 2) if actors * busy_share >= _ENOUGH), 4)


def as_text(about: dict[str, Any], speeds: Sequence[Speed]) -> str:
    """The result for people."""
    lines = [f"{key}: {value}" for key, value in about.items()]
    study = ", ".join(f"{articles:,} {name}" for name, (articles, _) in PAPER.items())
    for speed in speeds:
        busy = "not known" if speed.busy_share is None else f"{speed.busy_share:.0%}"
        lines += [
            f"{speed.precision}:",
            f"  {speed.articles_per_second:.2f} articles/s, {speed.words_per_second:.0f} words/s, "
            f"{speed.tokens_per_second:.0f} tokens/s",
            f"  device busy: {busy}; CPU time over wall time: {speed.cpu_share:.2f}",
            f"  {speed.tflops:.2f} TFLOP/s of {speed.peak_tflops:.2f} that a matrix product reaches "
            f"({speed.tflops / speed.peak_tflops:.0%})",
            f"  the paper recipe on the whole test splits ({study}): "
            f"{speed.paper_hours:.1f} hours, extrapolated by words",
        ]
        if speed.actors is not None:
            lines.append(f"  actors that should share the GPU: {speed.actors} (gpus_per_actor: {1 / speed.actors:g})")
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
