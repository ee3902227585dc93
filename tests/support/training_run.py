"""A small training run with tiny models, and everything that it stores."""

import json
from pathlib import Path
from typing import Any

from core.text.corpus import BUNDLED
from jobs.plan.phase2 import pin
from jobs.plan.pinned import Pinned
from jobs.recipes.load import load_recipe
from jobs.recipes.phase2 import Phase2Recipe
from jobs.store import Store

# In an order of their own on every database: texts have none.
_TABLES = {
    "policies": ("name", "updates", "total_updates", "state"),
    "updates": ("policy", "update_number", "reward", "reward_std", "entropy", "grad_norm", "loss"),
    "episodes": ("policy", "update_number", "article_id", "n", "sample", "decoding", "text", "reward", "advantage"),
    "summaries": ("article_id", "system", "n", "text", "bertscore_f1", "rouge1_f1"),
}


def small_training(tiny_models: dict[str, Path], folder: Path, passes: int) -> Pinned:
    """Four training and three test articles, two methods, two seeds, two decodings."""
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
    return pin(load_recipe(Phase2Recipe, "sample", recipe))


def lines_without_tail(lines: list[str]) -> list[str]:
    """Articles of at most 120 words, so that rounds are quick."""
    rows = [json.loads(line) for line in lines]
    return [json.dumps(row | {"article": " ".join(row["article"].split()[:120])}) for row in rows]


def everything(store: Store, run_id: str) -> dict[str, list[tuple[Any, ...]]]:
    """All that a run stored, but times: to be compared to the last bit."""
    found = {}
    for table, columns in _TABLES.items():
        with store.query(f"select {', '.join(columns)} from {table} where run_id = '{run_id}'") as answer:
            rows = [tuple(bytes(v) if isinstance(v, memoryview) else v for v in row) for row in answer.rows]
        found[table] = sorted(rows)
    return found
