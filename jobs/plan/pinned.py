"""What a run runs: a recipe in which every model, dataset and pipeline is pinned to a revision."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.errors import RecipeError
from core.metrics.config import BertScoreConfig, RougeConfig, tuned_layer
from core.metrics.panel import Panel
from core.metrics.specs import BY_MODEL
from core.models import ModelRef, is_folder, parse_model, resolve_model
from core.provenance import library_versions
from core.summarizers.random_controls import DRAWS
from core.summarizers.systems import System
from core.sweep_plan import MetricsConfig, SweepPlan
from core.text.cutting import Units
from core.text.dataset import Dataset, OpenDataset, open_dataset
from core.text.language import Language, article_language
from core.text.language_data import language_data
from core.text.segmentation import pipeline_revision, resolve_pipeline
from core.text.tokenizers import DEFAULT_TOKENIZERS
from core.types import SystemKind
from core.worker_factories import EpisodePlan
from jobs.plan.revisions import code_version, dataset_revisions
from jobs.recipes.base import RunRecipe
from jobs.store import RunSpec, Stage

if TYPE_CHECKING:  # a sweep must not wait for torch
    from core.learning.training_config import TrainingConfig
    from core.metrics.model_metric import ModelMetric


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """A stage of a run and what its actors run. Each stage has a pool of its own, one after another."""

    stage: Stage
    plan: SweepPlan


def name_systems(planned: PlannedStage) -> PlannedStage:
    """A stage that is not alone in its run: it names its systems."""
    return replace(planned, stage=Stage(planned.stage.name, planned.plan.signatures))


@dataclass(frozen=True, slots=True)
class PlannedTraining:
    """The training of a run's policies, which comes before its stages.

    Attributes:
        systems: of each system of policies, by name, how its pair or the pair of each n is trained.
        plan: what workers hold.
        corpora: what policies are trained on.
        datasets: the same, as policies tell it: name, revision, and what was left out.
        reward: signature of what policies are rewarded with.
    """

    systems: Mapping[str, tuple["TrainingConfig", ...]]
    plan: EpisodePlan
    corpora: tuple[OpenDataset, ...]
    datasets: tuple[Mapping[str, Any], ...]
    reward: str

    @property
    def configs(self) -> tuple["TrainingConfig", ...]:
        """Every training."""
        return tuple(itertools.chain.from_iterable(self.systems.values()))


@dataclass(frozen=True, slots=True)
class Pinned:
    """A recipe whose every name has been looked up.

    Attributes:
        recipe: the recipe with each model, dataset and pipeline at an exact revision: pinning it again gives the same.
        stages: what runs, in this order; every stage goes over all articles.
        metrics: options of the metrics, the same in every stage.
        corpora: the datasets, opened.
        revisions: of models, datasets, segmentation and libraries, as the run records them.
        training: of policies. Their systems are in the stages by name alone until they are trained.
        panels: that content kept is measured with, where they are of more articles than those of `corpora`.
    """

    recipe: RunRecipe
    stages: tuple[PlannedStage, ...]
    metrics: MetricsConfig
    corpora: tuple[OpenDataset, ...]
    revisions: dict[str, Any]
    training: PlannedTraining | None = None
    panels: tuple[Panel, ...] | None = None

    @property
    def plans(self) -> tuple[SweepPlan | EpisodePlan, ...]:
        """Of the training, if there is one, and of each stage."""
        training = () if self.training is None else (self.training.plan,)
        return (*training, *(planned.plan for planned in self.stages))

    @property
    def job(self) -> str:
        """The job's name."""
        return self.recipe.job

    @property
    def language(self) -> Language:
        """That of every article."""
        return self.stages[0].plan.language

    @property
    def articles(self) -> int | None:
        """How many articles there are, None where a streamed dataset does not tell."""
        sizes = [corpus.size for corpus in self.corpora]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def systems(self) -> dict[str, SystemKind]:
        """The kind of each system, by its signature."""
        return {signature: kind for planned in self.stages for signature, kind in planned.plan.kinds.items()}

    @property
    def signatures(self) -> dict[str, str]:
        """Of every metric by its name, and of the reward where policies are trained."""
        return self.metrics.signatures | ({"reward": self.training.reward} if self.training else {})

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
        )


@dataclass(frozen=True, slots=True)
class PinnedSetting:
    """The pinned part that all jobs share: articles, their language and segmentation, and metrics."""

    language: Language
    pipeline: str
    metrics: MetricsConfig
    corpora: tuple[OpenDataset, ...]
    language_data: tuple[tuple[str, str], ...]
    units: Units

    @property
    def revisions(self) -> dict[str, Any]:
        """As a run records them."""
        return {
            **({"language_data": dict(self.language_data)} if self.language_data else {}),
            "bertscore": str(self.metrics.bertscore.model),
            **{f"{metric.name}_model": str(metric.model) for metric in self.metrics.by_models},
            "datasets": dataset_revisions(self.corpora),
            "segmentation": pipeline_revision(self.pipeline, self.units),
            "random": f"mean of {DRAWS} draws, seeded by content",
            "libraries": library_versions(),
        }

    def sweep_plan(self, recipe: RunRecipe, encoders: tuple[ModelRef, ...], systems: tuple[System, ...]) -> SweepPlan:
        """What systems do with the articles."""
        return SweepPlan(
            language=self.language,
            pipeline=self.pipeline,
            encoders=encoders,
            systems=systems,
            lengths=recipe.n,
            metrics=self.metrics,
            seed=recipe.seed,
            precision=recipe.precision,
            language_data=self.language_data,
            units=self.units,
            length_unit=recipe.length_unit,
        )

    def in_recipe(self, recipe: RunRecipe) -> dict[str, Any]:
        """The fields of `recipe` that were pinned, as they are now."""
        rouge, bertscore = self.metrics.rouge, self.metrics.bertscore
        backbone = {"model": pinned_text(bertscore.model), "num_layers": bertscore.num_layers}
        return {
            "datasets": pinned_datasets(recipe.datasets, self.corpora),
            "pipeline": self.pipeline,
            "bertscore": recipe.bertscore.model_copy(update=backbone),
            "rouge": recipe.rouge.model_copy(update={"tokenizer": rouge.tokenizer}),
            **{f"{metric.name}_model": pinned_text(metric.model) for metric in self.metrics.by_models},
        }


def pin_model(text: str) -> ModelRef:
    """A model that a recipe names, at an exact revision.

    Raises:
        NwsError: it cannot be found.
    """
    return resolve_model(parse_model(text))


def pin_setting(
    recipe: RunRecipe, corpora: tuple[OpenDataset, ...] | None = None, language: Language | None = None
) -> PinnedSetting:
    """Look up the articles and metrics that a recipe leaves open. Loads no model.

    Args:
        recipe: what is pinned.
        corpora: its datasets, where they are at hand; they are opened unless given.
        language: of every article, where it is known; else the first article of each dataset tells.

    Raises:
        NwsError: a model, dataset, pipeline or revision cannot be found, or the datasets are not in one language.
    """
    corpora = open_corpora(recipe.datasets) if corpora is None else corpora
    return replace(setting_in(recipe, language or common_language(corpora)), corpora=corpora)


def setting_in(recipe: RunRecipe, language: Language) -> PinnedSetting:
    """The setting of a recipe for articles in a language, without its datasets.

    Raises:
        NwsError: a model, pipeline or revision cannot be found.
    """
    bertscore = pin_bertscore(recipe)
    rouge = recipe.rouge
    tokenizer = DEFAULT_TOKENIZERS[language] if rouge.tokenizer == "auto" else rouge.tokenizer
    if language == "ko" and tokenizer == "rouge_score":
        raise RecipeError(
            "rouge_score's tokenizer deletes Korean text: leave rouge.tokenizer at auto, or name another."
        )
    metrics = MetricsConfig(bertscore, RougeConfig(rouge.stemmer, tokenizer), pin_by_models(recipe, language))
    pipeline = resolve_pipeline(recipe.pipeline, language)
    data = tuple(language_data(pipeline, tokenizer).items())
    return PinnedSetting(language, pipeline, metrics, (), data, recipe.units)


def pin_by_models(recipe: RunRecipe, language: Language) -> tuple["ModelMetric", ...]:
    """The metrics of models that a recipe names, each model at an exact revision.

    Raises:
        NwsError: a model cannot be found.
    """
    models = {name: getattr(recipe, f"{name}_model") for name in BY_MODEL}
    if not any(models.values()):
        return ()
    from core.metrics.model_metric import resolve_model_metric  # and with it torch

    return tuple(resolve_model_metric(name, model, language) for name, model in models.items() if model)


def pin_bertscore(recipe: RunRecipe) -> BertScoreConfig:
    """The BERTScore of a recipe, its backbone at an exact revision.

    Raises:
        NwsError: the backbone cannot be found.
    """
    backbone = pin_model(recipe.bertscore.model)
    layer = recipe.bertscore.num_layers or tuned_layer(backbone)
    return BertScoreConfig(backbone, layer, recipe.bertscore.rescale, recipe.precision)


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


def common_language(corpora: Sequence[OpenDataset]) -> Language:
    """The language that datasets are in, as the first article of each says.

    Raises:
        RecipeError: they are not in one language.
    """
    languages = {corpus.name: article_language(next(iter(corpus))) for corpus in corpora}
    if len(set(languages.values())) > 1:
        raise RecipeError(f"A run is in one language, and these datasets are in two: {languages}. Submit one for each.")
    return languages[corpora[0].name]


def pinned_datasets(datasets: Sequence[Dataset], corpora: Sequence[OpenDataset]) -> tuple[Dataset, ...]:
    """The datasets of a recipe, at the revisions that were opened."""
    return tuple(replace(dataset, name=corpus.pinned_name) for dataset, corpus in zip(datasets, corpora, strict=True))


def pinned_text(ref: ModelRef) -> str:
    """A resolved model as a recipe names it. A folder's contents are checked against the run's revisions instead."""
    return ref.source if is_folder(ref) else str(ref)
