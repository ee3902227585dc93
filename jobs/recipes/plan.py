"""The plan of a run: a recipe in which every model, dataset and pipeline has been looked up."""

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

if TYPE_CHECKING:  # importing torch would delay every sweep
    from nws.core.learning.training_config import TrainingConfig
    from nws.core.metrics.model_metric import ModelMetric

STREAMED = 4_096
"""The number of first articles that stand for all articles of a streamed dataset, whose others are not known yet."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A recipe in which everything has been looked up.

    Attributes:
        recipe: the recipe with each model, dataset and pipeline at an exact revision. Its plan is this plan again.
        stages: the stages, in the order in which they run. Each goes over all articles, with a pool of its own.
        corpora: the opened datasets.
        revisions: the revisions of models, datasets, segmentation and libraries, which the run records.
        panels: the panel of each dataset that content kept is measured with; None until they are drawn. The panels of
            a shard are drawn from all articles of its parent.
        training: the stage in which policies are trained, before the others; None where nothing is trained.
        policies: the trainings of each system of policies, by name: of its pair, or of the pair of each n. Until they
            are trained, the stages know policies only by name.
        train_corpora: the datasets that policies are trained on.
        lengths_end: the end of `n: auto`, described for people; "" where the lengths do not come from references.
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
        """The trainings of all policies."""
        return tuple(itertools.chain.from_iterable(self.policies.values()))

    @property
    def training_and_stages(self) -> tuple[Stage, ...]:
        """The stage of the training, if there is one, and the other stages."""
        return self.stages if self.training is None else (self.training, *self.stages)

    @property
    def job(self) -> str:
        """The job's name."""
        return self.recipe.job

    @property
    def language(self) -> Language:
        """The language of all articles."""
        return self.stages[0].language

    @property
    def metrics(self) -> MetricsConfig:
        """The options of the metrics, which are the same in every stage."""
        return self.stages[0].metrics

    @property
    def articles(self) -> int | None:
        """The number of articles; None if a streamed dataset does not tell it."""
        sizes = [corpus.size for corpus in self.corpora]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def systems(self) -> dict[str, SystemKind]:
        """The kind of each system, by its signature."""
        return {signature: kind for stage in self.stages for signature, kind in stage.kinds.items()}

    @property
    def reward(self) -> str | None:
        """The signature of the reward of policies; None where nothing is trained."""
        return None if self.training is None or self.training.reward is None else self.training.reward.signature

    @property
    def signatures(self) -> dict[str, str]:
        """The signature of every metric, by name, and of the reward where policies are trained."""
        return self.metrics.signatures | ({} if self.reward is None else {"reward": self.reward})

    def run_spec(
        self, address: str | None = None, reuse: bool = False, name: str | None = None, note: str | None = None
    ) -> RunSpec:
        """Return the definition of the run that is stored before it begins.

        Args:
            address: the Ray dashboard that it is submitted to.
            reuse: whether it copies summaries from other runs of the store.
            name: a name for people.
            note: a note for people.
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
        """Draw the panels, and give them to every stage. A resumed run gets the same panels. Returns the new plan.

        Args:
            word_kinds: the signature of the kinds of words that its stages find.

        Raises:
            CorpusError: a dataset has changed.
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
    """Make a plan whose recipe and revisions have everything that was looked up.

    Args:
        recipe: the recipe.
        stages: the stages, made from `common_stage`.
        corpora: the opened datasets.
        pinned: the values that were looked up for fields that only this job's recipe has.
        revisions: the revisions that only this job has.
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
    """Make the common part of a recipe's stages for articles in a language, without systems. Loads no model.

    Raises:
        NwsError: a model, pipeline or revision cannot be found.
    """
    rouge = recipe.rouge
    tokenizer = DEFAULT_TOKENIZERS[language] if rouge.tokenizer == "auto" else rouge.tokenizer
    if language == "ko" and tokenizer == "rouge_score":
        raise RecipeError(
            "rouge_score's tokenizer deletes Korean text. Leave rouge.tokenizer at auto, or name another."
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
    """Look up a model that a recipe names, at an exact revision.

    Raises:
        NwsError: the model cannot be found.
    """
    return resolve_model(parse_model(text))


def find_model_metrics(recipe: RunRecipe, language: Language) -> tuple["ModelMetric", ...]:
    """Look up the model metrics of a recipe, with each model at an exact revision.

    Raises:
        NwsError: a model cannot be found.
    """
    models = {name: getattr(recipe, f"{name}_model") for name in BY_MODEL}
    if not any(models.values()):
        return ()
    from nws.core.metrics.model_metric import resolve_model_metric  # imports torch

    return tuple(resolve_model_metric(name, model, language) for name, model in models.items() if model)


def find_bertscore(recipe: RunRecipe) -> BertScoreConfig:
    """Look up the BERTScore of a recipe, with its backbone at an exact revision.

    Raises:
        NwsError: the backbone cannot be found.
    """
    backbone = find_model(recipe.bertscore.model)
    layer = recipe.bertscore.num_layers or tuned_layer(backbone)
    return BertScoreConfig(backbone, layer, recipe.precision)


def open_corpora(datasets: Sequence[Dataset]) -> tuple[OpenDataset, ...]:
    """Open datasets that are used together.

    Raises:
        NwsError: a dataset or revision cannot be found, or two datasets have the same name.
    """
    corpora = tuple(map(open_dataset, datasets))
    names = [corpus.name for corpus in corpora]
    if len(set(names)) < len(names):
        raise RecipeError(f"Two datasets have the same name ({', '.join(names)}). Rename one, or their rows would mix.")
    return corpora


def language_of(corpora: Sequence[OpenDataset]) -> Language:
    """Return the language of datasets, which is that of most of the first articles of each.

    Raises:
        RecipeError: the datasets are in different languages.
        LanguageError: a dataset is in neither English nor Korean.
    """
    languages = {corpus.name: common_language(corpus) for corpus in corpora}
    if len(set(languages.values())) > 1:
        raise RecipeError(f"A run is in one language, but these datasets are in two: {languages}. Submit one for each.")
    return languages[corpora[0].name]


def pinned_datasets(datasets: Sequence[Dataset], corpora: Sequence[OpenDataset]) -> tuple[Dataset, ...]:
    """Return the datasets of a recipe, at the revisions that were opened."""
    return tuple(map(_pinned_dataset, datasets, corpora))


def _pinned_dataset(dataset: Dataset, corpus: OpenDataset) -> Dataset:
    references = dataset.references_file and str(path_from_anywhere(Path(dataset.references_file)))
    return replace(dataset, name=corpus.pinned_name, references_file=references)


def pinned_text(ref: ModelRef) -> str:
    """Return the text by which a recipe names a resolved model. A folder is checked by the run's revisions instead."""
    return ref.source if is_folder(ref) else str(ref)


def dataset_revisions(corpora: Sequence[OpenDataset]) -> dict[str, str]:
    """Return the revision of each dataset, as a run records it."""
    return {corpus.name: f"{corpus.split}@{corpus.revision}" for corpus in corpora}


def require_same_revisions(recorded: Mapping[str, Any], now: Mapping[str, Any], run_id: str) -> None:
    """Refuse to resume a run whose articles, models or segmentation have changed since it began.

    Raises:
        RecipeError: a model, dataset or pipeline has changed.
    """
    for kind in sorted(now.keys() - {"libraries"}):
        was, is_now = _differing(recorded.get(kind, "none recorded"), now[kind])
        if was != is_now:
            raise RecipeError(
                f"Run {run_id} cannot be resumed: its {kind} changed from {was} to {is_now}. "
                "Restore the earlier one, or submit a new run."
            )


def _differing(was: Any, is_now: Any) -> tuple[Any, Any]:
    """Return two values of a revision; of two mappings, only the entries that differ."""
    if not isinstance(was, Mapping) or not isinstance(is_now, Mapping):
        return was, is_now
    names = [name for name in {**was, **is_now} if was.get(name) != is_now.get(name)]
    return {name: was.get(name) for name in names}, {name: is_now.get(name) for name in names}


def panel_of(corpus: OpenDataset) -> Panel:
    """Draw the panel of a dataset: the other articles that content kept is measured with.

    Raises:
        CorpusError: the dataset has changed.
    """
    if corpus.ids is None:
        return draw_panel(corpus.name, itertools.islice(iter(corpus), STREAMED))
    ids = corpus.ids
    chosen = np.zeros(len(ids), dtype=np.bool_)
    chosen[np.argsort(ids)[:PANEL]] = True
    return draw_panel(corpus.name, corpus.read(chosen))


def sha256_of(panels: Sequence[Panel]) -> str:
    """Return a hash of 64 hex digits, which is the same for the same panels."""
    return hashlib.sha256("\n".join(panel.sha256 for panel in panels).encode()).hexdigest()
