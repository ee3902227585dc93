"""A stage of a run, or a part of one. It travels to every process, so nothing that takes long is imported."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from nws.core.metrics.config import BertScoreConfig, RougeConfig
from nws.core.metrics.kept import KEPT_RECALL, KEPT_SIGNATURE, Panel
from nws.core.metrics.surface import EFFICIENCY_SIGNATURE, SOURCE_SIGNATURES
from nws.core.models import ModelRef
from nws.core.models.endpoint import Endpoint
from nws.core.models.generators import Generator
from nws.core.plugins.adapters import PluginMetric
from nws.core.systems.chunk_systems import LeadSearch
from nws.core.systems.system import System
from nws.core.text.cutting import Units
from nws.core.text.language import Language
from nws.core.text.length import UNCUT, LengthUnit
from nws.core.types import Precision, SystemKind

if TYPE_CHECKING:  # torch takes long
    from nws.core.learning.training_config import RewardConfig
    from nws.core.metrics.fluency import Fluency
    from nws.core.metrics.model_metric import ModelMetric

NO_SEGMENTS = ""
"""The pipeline of a stage whose systems read neither sentences nor chunks."""


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """Options of the standard metrics, metrics of models that the recipe names, and those of plugins."""

    bertscore: BertScoreConfig
    rouge: RougeConfig
    by_models: tuple["ModelMetric", ...] = ()
    plugins: tuple[PluginMetric, ...] = ()

    @property
    def fluency(self) -> "Fluency | None":
        """The fluency metric of the recipe's language model, if it names one."""
        from nws.core.metrics.fluency import Fluency  # and with it torch

        return next((metric for metric in self.by_models if isinstance(metric, Fluency)), None)

    @property
    def signatures(self) -> dict[str, str]:
        """For each metric, every option that changes its numbers."""
        return {
            "bertscore": self.bertscore.signature,
            "rouge": self.rouge.signature,
            "efficiency": EFFICIENCY_SIGNATURE,
            **SOURCE_SIGNATURES,
            "kept": f"kept|{KEPT_SIGNATURE}|{KEPT_RECALL} of bertscore",
            "kept_words": f"kept_words|{KEPT_SIGNATURE}|R:recall of distinct tokens by idf",
            **{metric.name: metric.signature for metric in self.by_models},
            **{metric.name: metric.signature for metric in self.plugins},
        }


Writer: TypeAlias = System | Generator | Endpoint
"""Whatever writes summaries."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a run that goes over all of its articles: everything that decides the numbers of its workers.

    It summarises and scores, with extractive systems or with one generator; or it trains policies, for a reward.

    Attributes:
        language: of all articles and references.
        pipeline: the resolved segmentation: a spaCy pipeline, `blank` or `kiwi`; `NO_SEGMENTS` where articles are
            only checked.
        encoders: resolved models, by whose names the systems ask for embeddings; of a training, the one of policies.
        systems: what summarises segments. A stage with a generator has none.
        lengths: the values of n. Those of a training come with what the driver sends.
        metrics: options of the standard metrics; of a training, those in its reward.
        seed: of whatever is drawn at random.
        generator: a generator with its model resolved, or an endpoint.
        precision: what encoders compute in. The BERTScore backbone has its own in `metrics`; generators choose theirs.
        language_data: hashes of the files by which texts are cut and tokenized, see `nws.core.text.segmentation`. Both
            halves refuse others.
        panels: of each dataset, the articles that a summary's content is measured against, too
            (`nws.core.metrics.kept`). They are drawn when a run begins.
        word_kinds: the signature of the kinds of words by which content kept is told, too (`nws.core.text.word_kinds`);
            "" for none.
        units: what a chunk is.
        length_unit: what the lengths count.
        reward: what policies are trained for; None of a stage that writes and scores summaries.
        name: as rows of failures have it, and people read it.
    """

    language: Language
    pipeline: str
    encoders: tuple[ModelRef, ...]
    systems: tuple[System, ...]
    lengths: tuple[int, ...]
    metrics: MetricsConfig
    seed: int
    generator: Generator | Endpoint | None = None
    precision: Precision = "float32"
    language_data: tuple[tuple[str, str], ...] = ()
    panels: tuple[Panel, ...] = ()
    word_kinds: str = ""
    units: Units = "chunks"
    length_unit: LengthUnit = "words"
    reward: "RewardConfig | None" = None
    name: str = "sweep"

    @property
    def writers(self) -> tuple[Writer, ...]:
        """Every system, the generator last."""
        return self.systems if self.generator is None else (*self.systems, self.generator)

    @property
    def kinds(self) -> dict[str, SystemKind]:
        """What each system is, by its signature, the generator last."""
        generated: dict[str, SystemKind] = {} if self.generator is None else {self.generator.signature: "system"}
        return {system.signature: system.kind for system in self.systems} | generated

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signature of every system, the generator's last."""
        return tuple(self.kinds)

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        """The system and n of every summary that an article gets: `UNCUT` of those of a system's own length."""
        return frozenset(
            (writer.signature, n) for writer in self.writers for n in (*self.lengths, *([UNCUT] * writer.has_uncut))
        )

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """Every model that a worker loads."""
        generated = (self.generator.model,) if isinstance(self.generator, Generator) else ()
        measuring = (metric.model for metric in self.metrics.by_models)
        return (*self.encoders, *generated, self.metrics.bertscore.model, *measuring)

    @property
    def embedder(self) -> str | None:
        """The model that embeds the sentences and chunks of every article; None where none need be."""
        searches = any(isinstance(system, LeadSearch) for system in self.systems)
        return next((ref.name for ref in self.encoders), self.metrics.bertscore.model.name if searches else None)

    @property
    def to_segment(self) -> "Stage":
        """The part that the cutting half needs. It travels with every bundle, so it has no predictions."""
        stage = replace(self, panels=())
        return replace(stage, systems=()) if self.pipeline == NO_SEGMENTS else stage

    def with_systems(self, name: str, *systems: System) -> "Stage":
        """A stage of its own for systems that read neither segments nor vectors."""
        return replace(self, name=name, pipeline=NO_SEGMENTS, encoders=(), systems=systems, generator=None)

    def without_unused_encoders(self) -> "Stage":
        """The stage with the encoders alone that one of its systems asks for: no other is fetched, or embeds texts."""
        asked_for = {name for system in self.systems for name in system.encoders}
        return replace(self, encoders=tuple(encoder for encoder in self.encoders if encoder.name in asked_for))

    def narrowed(self, missing: AbstractSet[tuple[str, int]]) -> "Stage":
        """The systems and the lengths that are in `missing` alone, with the rows that the whole stage has there.

        Systems with uncut summaries write these, too. Of the encoders it keeps those that these systems ask for.
        """
        names, lengths = {name for name, _ in missing}, {n for _, n in missing}
        chosen = tuple(system for system in self.systems if system.signature in names)
        generator = self.generator if self.generator is not None and self.generator.signature in names else None
        kept = tuple(n for n in self.lengths if n in lengths)
        return replace(self, systems=chosen, lengths=kept, generator=generator).without_unused_encoders()
