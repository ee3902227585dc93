"""What a run runs: a recipe in which every model, dataset and pipeline has been looked up."""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nws.core.errors import RecipeError
from nws.core.metrics.config import BertScoreConfig, RougeConfig, tuned_layer
from nws.core.metrics.kept import KEPT_RECALL, PANEL, Panel, draw_panel
from nws.core.metrics.specs import BY_MODEL
from nws.core.models import ModelRef, is_folder, parse_model, resolve_model
from nws.core.provenance import library_versions
from nws.core.stage import MetricsConfig, Stage
from nws.core.systems.extractive_baselines import RANDOM_DRAWS
from nws.core.text.checks.all_checks import Finding
from nws.core.text.dataset import Dataset, OpenDataset, open_dataset
from nws.core.text.language import Language, common_language
from nws.core.text.reader import path_from_anywhere
from nws.core.text.segmentation import language_data, pipeline_revision, resolve_pipeline
from nws.core.text.tokenizers import DEFAULT_TOKENIZERS
from nws.core.types import SystemKind
from nws.jobs.installation import code_version
from nws.jobs.recipes.base import RunRecipe
from nws.jobs.store import RunSpec

if TYPE_CHECKING:  # a sweep must not wait for torch
    from nws.core.learning.training_config import TrainingConfig
    from nws.core.metrics.model_metric import ModelMetric

STREAMED = 4_096
"""Of a streamed dataset, how many of its first articles tell of all of them: nobody knows the others yet."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A recipe whose every name has been looked up.

    Attributes:
        recipe: the recipe with each model, dataset and pipeline at an exact revision: planning it again gives the same.
        stages: what runs, in this order; every stage goes over all articles, with a pool of its own.
        corpora: the datasets, opened.
        revisions: of models, datasets, segmentation and libraries, as the run records them.
        panels: that content kept is measured with, one for each dataset; None until they are drawn. Those of a shard
            are of all articles of its parent.
        training: what workers hold while policies are trained, before the stages; None where nothing is trained.
        policies: of each system of policies, by name, how its pair or the pair of each n is trained. In the stages they
            are by name alone until they are trained.
        train_corpora: what policies are trained on.
        lengths_end: what `n: auto` ends at, in words for people; "" where the lengths do not come from references.
        findings: what checks found in the texts before the run.
    """

    recipe: RunRecipe
    stages: tuple[Stage, ...]
    corpora: tuple[OpenDataset, ...]
    revisions: dict[str, Any]
    panels: tuple[Panel, ...] | None = None
    training: Stage | None = None
    policies: Mapping[str, tuple["TrainingConfig", ...]] = field(default_factory=dict)
    train_corpora: tuple[OpenDataset, ...] = ()
    lengths_end: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def trainings(self) -> tuple["TrainingConfig", ...]:
        """The trainings of every policy."""
        return tuple(itertools.chain.from_iterable(self.policies.values()))

    @property
    def training_and_stages(self) -> tuple[Stage, ...]:
        """All that workers do, in this order."""
        return self.stages if self.training is None else (self.training, *self.stages)

    @property
    def job(self) -> str:
        """The job's name."""
        return self.recipe.job

    @property
    def language(self) -> Language:
        """That of every article."""
        return self.stages[0].language

    @property
    def metrics(self) -> MetricsConfig:
        """Options of the metrics, the same in every stage."""
        return self.stages[0].metrics

    @property
    def articles(self) -> int | None:
        """How many articles there are, None where a streamed dataset does not tell."""
        sizes = [corpus.size for corpus in self.corpora]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def systems(self) -> dict[str, SystemKind]:
        """The kind of each system, by its signature."""
        return {signature: kind for stage in self.stages for signature, kind in stage.kinds.items()}

    @property
    def reward(self) -> str | None:
        """The signature of what policies are rewarded with; None where nothing is trained."""
        return None if self.training is None or self.training.reward is None else self.training.reward.signature

    @property
    def signatures(self) -> dict[str, str]:
        """Of every metric by its name, and of the reward where policies are trained."""
        return self.metrics.signatures | ({} if self.reward is None else {"reward": self.reward})

    def run_spec(
        self, address: str | None = None, reuse: bool = False, name: str | None = None, note: str | None = None
    ) -> RunSpec:
        """What the store keeps of a run before it begins.

        Args:
            address: the Ray dashboard it is submitted to.
            reuse: whether it copies summaries that other runs of the store have.
            name: what people call it.
            note: what they say of it.
        """
        return RunSpec(
            job=self.job,
            recipe=self.recipe.model_dump(mode="json"),
            recipe_hash=self.recipe.hash,
            seed=self.recipe.seed,
            code_version=code_version(),
            revisions=self.revisions,
            signatures=self.signatures,
            systems=len(self.systems),
            address=address,
            reuse=reuse,
            name=name,
            note=note,
            findings=[asdict(finding) for finding in self.findings],
        )

    def with_panels(self, word_kinds: str = "") -> "Plan":
        """The plan with its panels drawn, and in every stage: the same whenever the run is resumed.

        Args:
            word_kinds: the signature of the kinds of words that its stages tell.

        Raises:
            CorpusError: a dataset is not what it was.
        """
        panels = tuple(map(panel_of, self.corpora)) if self.panels is None else self.panels
        stages = tuple(replace(stage, panels=panels, word_kinds=word_kinds) for stage in self.stages)
        return replace(self, panels=panels, stages=stages)


def build_plan(
    recipe: RunRecipe,
    stages: Sequence[Stage],
    corpora: tuple[OpenDataset, ...],
    pinned: dict[str, Any],
    revisions: dict[str, Any],
    **others: Any,
) -> Plan:
    """A plan, whose recipe and revisions say all that was looked up.

    Args:
        recipe: the recipe.
        stages: made from `common_stage`.
        corpora: the datasets, opened.
        pinned: the fields of the recipe that only its job has, looked up.
        revisions: those that only its job has.
        others: more attributes of the plan.
    """
    stage = stages[0]
    bertscore, rouge, by_models = stage.metrics.bertscore, stage.metrics.rouge, stage.metrics.by_models
    backbone = {"model": pinned_text(bertscore.model), "num_layers": bertscore.num_layers}
    fields = {
        "datasets": pinned_datasets(recipe.datasets, corpora),
        "pipeline": stage.pipeline,
        "bertscore": recipe.bertscore.model_copy(update=backbone),
        "rouge": recipe.rouge.model_copy(update={"tokenizer": rouge.tokenizer}),
        **{f"{metric.name}_model": pinned_text(metric.model) for metric in by_models},
    }
    revisions = revisions | {
        **({"language_data": dict(stage.language_data)} if stage.language_data else {}),
        "bertscore": str(bertscore.model),
        **{f"{metric.name}_model": str(metric.model) for metric in by_models},
        "datasets": dataset_revisions(corpora),
        "segmentation": pipeline_revision(stage.pipeline, stage.units),
        "content_kept": KEPT_RECALL,
        "random": f"mean of {RANDOM_DRAWS} draws, seeded by content",
        "libraries": library_versions(),
    }
    return Plan(recipe.model_copy(update=fields | pinned), tuple(stages), corpora, revisions, **others)


def common_stage(recipe: RunRecipe, language: Language) -> Stage:
    """What the stages of a recipe have in common for articles in a language, without any system. Loads no model.

    Raises:
        NwsError: a model, pipeline or revision cannot be found.
    """
    rouge = recipe.rouge
    tokenizer = DEFAULT_TOKENIZERS[language] if rouge.tokenizer == "auto" else rouge.tokenizer
    if language == "ko" and tokenizer == "rouge_score":
        raise RecipeError(
            "rouge_score's tokenizer deletes Korean text: leave rouge.tokenizer at auto, or name another."
        )
    rouge_config = RougeConfig(rouge.stemmer, tokenizer)
    metrics = MetricsConfig(find_bertscore(recipe), rouge_config, find_model_metrics(recipe, language))
    pipeline = resolve_pipeline(recipe.pipeline, language, recipe.units)
    return Stage(
        language=language,
        pipeline=pipeline,
        encoders=(),
        systems=(),
        lengths=recipe.n,
        metrics=metrics,
        seed=recipe.seed,
        precision=recipe.precision,
        language_data=tuple(language_data(pipeline, tokenizer).items()),
        units=recipe.units,
        length_unit=recipe.length_unit,
    )


def find_model(text: str) -> ModelRef:
    """A model that a recipe names, at an exact revision.

    Raises:
        NwsError: it cannot be found.
    """
    return resolve_model(parse_model(text))


def find_model_metrics(recipe: RunRecipe, language: Language) -> tuple["ModelMetric", ...]:
    """The metrics of models that a recipe names, each model at an exact revision.

    Raises:
        NwsError: a model cannot be found.
    """
    models = {name: getattr(recipe, f"{name}_model") for name in BY_MODEL}
    if not any(models.values()):
        return ()
    from nws.core.metrics.model_metric import resolve_model_metric  # and with it torch

    return tuple(resolve_model_metric(name, model, language) for name, model in models.items() if model)


def find_bertscore(recipe: RunRecipe) -> BertScoreConfig:
    """The BERTScore of a recipe, its backbone at an exact revision.

    Raises:
        NwsError: the backbone cannot be found.
    """
    backbone = find_model(recipe.bertscore.model)
    layer = recipe.bertscore.num_layers or tuned_layer(backbone)
    return BertScoreConfig(backbone, layer, recipe.precision)


def open_corpora(datasets: Sequence[Dataset]) -> tuple[OpenDataset, ...]:
    """Open datasets that are used together.

    Raises:
        NwsError: a dataset or revision cannot be found, or two have one name.
    """
    corpora = tuple(map(open_dataset, datasets))
    names = [corpus.name for corpus in corpora]
    if len(set(names)) < len(names):
        raise RecipeError(f"Two datasets have the same name ({', '.join(names)}), so their rows would be mixed up.")
    return corpora


def language_of(corpora: Sequence[OpenDataset]) -> Language:
    """The language that datasets are in, as most of the first articles of each say.

    Raises:
        RecipeError: they are not in one language.
        LanguageError: one is in neither.
    """
    languages = {corpus.name: common_language(corpus) for corpus in corpora}
    if len(set(languages.values())) > 1:
        raise RecipeError(f"A run is in one language, and these datasets are in two: {languages}. Submit one for each.")
    return languages[corpora[0].name]


def pinned_datasets(datasets: Sequence[Dataset], corpora: Sequence[OpenDataset]) -> tuple[Dataset, ...]:
    """The datasets of a recipe, at the revisions that were opened."""
    return tuple(map(_pinned_dataset, datasets, corpora))


def _pinned_dataset(dataset: Dataset, corpus: OpenDataset) -> Dataset:
    references = dataset.references_file and str(path_from_anywhere(Path(dataset.references_file)))
    return replace(dataset, name=corpus.pinned_name, references_file=references)


def pinned_text(ref: ModelRef) -> str:
    """A resolved model as a recipe names it. A folder's contents are checked against the run's revisions instead."""
    return ref.source if is_folder(ref) else str(ref)


def dataset_revisions(corpora: Sequence[OpenDataset]) -> dict[str, str]:
    """The revision of each dataset, as a run records it."""
    return {corpus.name: f"{corpus.split}@{corpus.revision}" for corpus in corpora}


def require_same_revisions(recorded: Mapping[str, Any], now: Mapping[str, Any], run_id: str) -> None:
    """Refuse to resume a run whose articles, models or segmentation have changed since it began.

    Raises:
        RecipeError: a model, dataset or pipeline is not what it was.
    """
    for kind in sorted(now.keys() - {"libraries"}):
        was, is_now = _differing(recorded.get(kind, "none recorded"), now[kind])
        if was != is_now:
            raise RecipeError(
                f"Run {run_id} cannot be resumed: its {kind} changed from {was} to {is_now}. "
                "Restore what it had, or submit a new run."
            )


def _differing(was: Any, is_now: Any) -> tuple[Any, Any]:
    """Two values of a revision; of two mappings, the entries that differ."""
    if not isinstance(was, Mapping) or not isinstance(is_now, Mapping):
        return was, is_now
    names = [name for name in {**was, **is_now} if was.get(name) != is_now.get(name)]
    return {name: was.get(name) for name in names}, {name: is_now.get(name) for name in names}


def panel_of(corpus: OpenDataset) -> Panel:
    """The other articles that content kept is measured with, drawn of a dataset.

    Raises:
        CorpusError: it is not what it was.
    """
    if corpus.ids is None:
        return draw_panel(corpus.name, itertools.islice(iter(corpus), STREAMED))
    ids = corpus.ids
    chosen = np.zeros(len(ids), dtype=np.bool_)
    chosen[np.argsort(ids)[:PANEL]] = True
    return draw_panel(corpus.name, corpus.read(chosen))


def sha256_of(panels: Sequence[Panel]) -> str:
    """64 hex digits, the same for the same panels."""
    return hashlib.sha256("\n".join(panel.sha256 for panel in panels).encode()).hexdigest()
