"""What an article costs besides its models: CPU time of each part, from text to stored row, and how it grows.

Random vectors of the right shapes stand in for what models give, so that a CPU shows what remains where a GPU computes.
Texts differ from those that real models choose; they are as many and as long.
"""

import argparse
import dataclasses
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from bench import stub_work
from bench.arms import CPU, nws, stage_of
from bench.machine import cpu_model
from bench.parts import MODELS, PARTS, watched
from bench.sweep import LONG, RESULTS
from core.models import model_folder
from core.stage import Stage
from core.sweep import Sweeper, take_share
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.plan import Plan
from jobs.recipes.sweep_recipe import Phase1Recipe
from jobs.store import upgrade_schema

WIDTH = 384
WORDS = (100, 400, 1600, 6400)
ENCODERS = ("first", "second", "third")


class RandomSentenceVectors(nn.Module):
    """In place of an encoder: (batch, WIDTH) float32."""

    def forward(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.randn(len(inputs["input_ids"]), WIDTH)


class RandomTokenVectors(nn.Module):
    """In place of a BERTScore backbone: (batch, tokens, WIDTH) float32."""

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor]:
        return (torch.randn(*input_ids.shape, WIDTH),)


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU ms an article by part; the smallest of some repetitions of each."""

    what: str
    articles: int
    words: int
    summaries: int
    parts: dict[str, float]

    @property
    def besides_models(self) -> float:
        return sum(spent for part, spent in self.parts.items() if part != MODELS)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.without_models", description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=64, help="how many real ones")
    parser.add_argument("--reps", type=int, default=3)
    options = parser.parse_args()
    take_share("cpu", None)
    with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder:
        costs = measure(Path(folder), options.articles, options.reps)
    text = _as_text(costs)
    print(text, end="")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "without_models.txt").write_text(text, encoding="utf-8")
    report = {"machine": cpu_model(), "costs": [dataclasses.asdict(cost) for cost in costs]}
    (RESULTS / "without_models.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def measure(folder: Path, articles: int, reps: int) -> list[Cost]:
    """The sample recipe and one with three encoders on real articles; then made articles of rising length."""
    dataset = str(LONG) if LONG.is_file() else "sample"
    (plain,) = {str(model_folder(ref)) for ref in stage_of(_plan("sample", 1, {})).encoders}
    for name in ENCODERS:
        shutil.copytree(plain, folder / name, copy_function=os.symlink)
    three = {"encoders": [str(folder / name) for name in ENCODERS], "importance": ["textrank", "lexrank", "centroid"]}
    costs = [
        _cost("sample recipe", _plan(dataset, articles, {}), folder, reps),
        _cost("three encoders", _plan(dataset, articles, three), folder, reps),
    ]
    for words in WORDS:
        made = folder / f"{words}.jsonl"
        stub_work.write_articles(made, max(2, 12_800 // words), words)
        costs.append(_cost(f"{words} words", _plan(str(made), None, {}), folder, reps))
    return costs


def _plan(dataset: str, limit: int | None, asked: dict[str, object]) -> Plan:
    options = {"datasets": [{"name": dataset}], "bundle_size": 16, **asked} | (
        {"datasets.limit": limit} if limit else {}
    )
    return make_plan(load_recipe(Phase1Recipe, "sample", options))


def _cost(what: str, plan: Plan, folder: Path, reps: int) -> Cost:
    stage, articles = stage_of(plan), plan.articles or 0
    arm = nws(plan, without_models(stage))
    found = []
    for _ in range(reps + 1):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            upgrade_schema(f"sqlite:///{own}/nws.db")
            with watched() as watch:
                arm(Path(own))
        found.append({part: 1000 * spent / articles for part, spent in watch.seconds.items()})
    # The first fills caches.
    parts = {part: min(times[part] for times in found[1:]) for part in PARTS}
    words = sum(len(article.text.split()) for article in plan.corpora[0]) // articles
    return Cost(what, articles, words, len(stage.places), parts)


def without_models(stage: Stage) -> Sweeper:
    """A sweeper with random vectors in place of what its models give."""
    sweeper = Sweeper(stage, CPU)
    for encoder in sweeper._loaded:
        encoder._forward = RandomSentenceVectors()
    sweeper._metrics._bertscore._model = RandomTokenVectors()
    return sweeper


def _as_text(costs: Sequence[Cost]) -> str:
    lines = [
        f"{cpu_model()}, 1 thread. CPU ms an article, without models:",
        f"{'':16} {'articles':>8} {'words':>6} {'summaries':>9} "
        + " ".join(f"{part:>10}" for part in PARTS if part != MODELS)
        + f" {'sum':>7}",
    ]
    for cost in costs:
        parts = " ".join(f"{spent:10.2f}" for part, spent in cost.parts.items() if part != MODELS)
        lines.append(
            f"{cost.what:16} {cost.articles:8} {cost.words:6} {cost.summaries:9} {parts} {cost.besides_models:7.2f}"
        )
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
