"""A small training run with tiny models."""

import json
from pathlib import Path

from nws.core.text.dataset import BUNDLED
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan


def small_training(tiny_models: dict[str, Path], folder: Path, passes: int, **changes: object) -> Plan:
    """Four training and three test articles, two methods, two seeds, two decodings; `changes` to the recipe."""
    lines = BUNDLED["sample"].read_text(encoding="utf-8").splitlines()
    for name, part in (("train", lines[:4]), ("test", lines[4:7])):
        (folder / f"{name}.jsonl").write_text("\n".join(lines_without_tail(part)), encoding="utf-8")
    quick = {"passes": passes, "articles_per_update": 4, "reinforce": {"samples": 4}}
    recipe = {
        "train_datasets": [{"name": str(folder / "train.jsonl")}],
        "datasets": [{"name": str(folder / "test.jsonl")}],
        "bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2},
        "encoder": str(tiny_models["bert"]),
        "methods": [
            {"name": "mine", **quick},
            {"name": "each", "scope": "per-n", **quick, "policies": {"inputs": "embeddings", "residual": False}},
        ],
        "systems": ["textrank", "lead"],
        "decodings": [{"method": "rerank", "k": 6}, "greedy"],
        "n": [3, 7],
        "bundle_size": 2,
        "accelerator": "cpu",
    }
    return plan_job("phase2", "sample", recipe | changes)


def lines_without_tail(lines: list[str]) -> list[str]:
    """Articles of at most 120 words, so that rounds are quick."""
    rows = [json.loads(line) for line in lines]
    return [json.dumps(row | {"article": " ".join(row["article"].split()[:120])}) for row in rows]
