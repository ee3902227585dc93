"""What made the numbers: a recipe with every revision pinned, and the versions of code and libraries."""

import importlib.metadata
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import RecipeError
from core.metrics.bertscore import BertScoreConfig
from core.metrics.rouge import RougeConfig
from core.metrics.standard import MetricsConfig
from core.models import ModelRef, is_folder, parse_model, resolve_model
from core.sweep import SweepPlan
from core.text.corpus import Corpus, open_corpus
from core.text.language import require_latin_script
from core.text.segmentation import pipeline_revision, resolve_pipeline
from jobs.recipe import Recipe

_LIBRARIES = (
    "torch",
    "transformers",
    "sentence-transformers",
    "tokenizers",
    "spacy",
    "bert-score",
    "rouge-score",
    "ray",
)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A recipe whose every name has been looked up.

    Attributes:
        recipe: the recipe with each model, dataset and pipeline at an exact revision: pinning it again gives the same.
        plan: what the actors run.
        corpora: the datasets, opened.
        revisions: of models, datasets, segmentation and libraries, as the run records them.
    """

    recipe: Recipe
    plan: SweepPlan
    corpora: tuple[Corpus, ...]
    revisions: dict[str, Any]

    @property
    def articles(self) -> int | None:
        """How many articles there are, None where a streamed dataset does not tell."""
        sizes = [corpus.size for corpus in self.corpora]
        return None if None in sizes else sum(size for size in sizes if size is not None)


def pin(recipe: Recipe) -> Pinned:
    """Look up every revision a recipe leaves open, and open its datasets. Loads no model.

    Raises:
        NwsError: a model, dataset, pipeline or revision cannot be found.
    """
    pipeline = resolve_pipeline(recipe.pipeline)
    encoders = tuple(resolve_model(parse_model(text)) for text in recipe.encoders)
    backbone = resolve_model(parse_model(recipe.bertscore.model))
    corpora = tuple(open_corpus(dataset.spec()) for dataset in recipe.datasets)
    names = [corpus.name for corpus in corpora]
    if len(set(names)) < len(names):
        raise RecipeError(f"Two datasets have the same name ({', '.join(names)}), so their rows would be mixed up.")
    for corpus in corpora:
        require_latin_script(next(iter(corpus)))
    plan = SweepPlan(
        pipeline=pipeline,
        encoders=encoders,
        importance=recipe.importance,
        lengths=recipe.n,
        metrics=MetricsConfig(
            BertScoreConfig(backbone, recipe.bertscore.num_layers, recipe.bertscore.rescale),
            RougeConfig(recipe.rouge.stemmer),
        ),
        seed=recipe.seed,
    )
    datasets = tuple(
        dataset.model_copy(update={"name": corpus.pinned_name})
        for dataset, corpus in zip(recipe.datasets, corpora, strict=True)
    )
    pinned = recipe.model_copy(
        update={
            "datasets": datasets,
            "pipeline": pipeline,
            "encoders": tuple(map(_pinned_text, encoders)),
            "bertscore": recipe.bertscore.model_copy(update={"model": _pinned_text(backbone)}),
        }
    )
    revisions = {
        "encoders": {ref.name: str(ref) for ref in encoders},
        "bertscore": str(backbone),
        "datasets": {corpus.name: f"{corpus.split}@{corpus.revision}" for corpus in corpora},
        "segmentation": pipeline_revision(pipeline),
        "libraries": {name: importlib.metadata.version(name) for name in _LIBRARIES},
    }
    return Pinned(pinned, plan, corpora, revisions)


def _pinned_text(ref: ModelRef) -> str:
    return ref.source if is_folder(ref) else str(ref)


def require_same_revisions(recorded: Mapping[str, Any], now: Mapping[str, Any], run_id: str) -> list[str]:
    """Refuse to go on with a run whose articles, models or segmentation have changed since it began.

    Returns:
        Libraries whose version differs, as "name old -> new": the numbers may differ in the last digits.

    Raises:
        RecipeError: a model, dataset or pipeline is not what it was.
    """
    for kind in ("encoders", "bertscore", "datasets", "segmentation"):
        if recorded[kind] != now[kind]:
            raise RecipeError(
                f"Run {run_id} cannot go on: its {kind} was {recorded[kind]} and is now {now[kind]}. "
                "Restore them, or submit a new run."
            )
    old, new = recorded["libraries"], now["libraries"]
    return [f"{name} {old.get(name)} -> {new[name]}" for name in new if old.get(name) != new[name]]


def code_version() -> str:
    """The commit of this checkout, with `-dirty` if files differ from it; the package version outside of git."""
    root = Path(__file__).parents[1]
    try:
        described = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return importlib.metadata.version("nws")
    return described.stdout.strip()
