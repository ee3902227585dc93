"""The plan of a sweep, or of a part of it. A plan travels to every process, so nothing that takes long is imported."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.metrics.config import BertScoreConfig, RougeConfig
from core.metrics.panel import KEPT_SIGNATURE, Panel
from core.metrics.surface import EFFICIENCY_SIGNATURE, SOURCE_METRICS
from core.models import ModelRef
from core.models.endpoint import Endpoint
from core.plugins.plugin_metric import PluginMetric
from core.precision import Precision
from core.summarizers.generators import Generator
from core.summarizers.systems import System
from core.text.cutting import Units
from core.text.language import Language
from core.text.length import LengthUnit
from core.types import SystemKind

if TYPE_CHECKING:  # torch takes long
    from core.metrics.fluency import Fluency
    from core.metrics.model_metric import ModelMetric

NO_SEGMENTS = ""
"""The pipeline of a plan whose systems read neither sentences nor chunks."""


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """Options of the standard metrics, metrics of models that the recipe names, and those of plugins."""

    bertscore: BertScoreConfig
    rouge: RougeConfig
    by_models: tuple["ModelMetric", ...] = ()
    plugins: tuple[PluginMetric, ...] = ()

    @property
    def fluency(self) -> "Fluency | None":
        """That of a model that the recipe names, if it names one."""
        from core.metrics.fluency import Fluency  # and with it torch

        return next((metric for metric in self.by_models if isinstance(metric, Fluency)), None)

    @property
    def signatures(self) -> dict[str, str]:
        """For each metric, every option that changes its numbers."""
        return {
            "bertscore": self.bertscore.signature,
            "rouge": self.rouge.signature,
            "efficiency": EFFICIENCY_SIGNATURE,
            **{metric.name: metric.signature for metric in SOURCE_METRICS},
            "kept": f"kept|{KEPT_SIGNATURE}|R:recall of bertscore",
            "kept_words": f"kept_words|{KEPT_SIGNATURE}|R:recall of distinct tokens by idf",
            **{metric.name: metric.signature for metric in self.by_models},
            **{metric.name: metric.signature for metric in self.plugins},
        }


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """Everything that decides the numbers of a sweep: extractive systems, or one generator.

    Attributes:
        language: of all articles and references.
        pipeline: the resolved segmentation: a spaCy pipeline, `blank` or `kiwi`; `NO_SEGMENTS` where articles are
            only checked.
        encoders: resolved models, by whose names the systems ask for embeddings.
        systems: what summarises segments. A plan with a generator has none.
        generator: a generator with its model resolved, or an endpoint.
        lengths: the values of n.
        metrics: options of the standard metrics.
        seed: of whatever is drawn at random.
        precision: what encoders compute in. The BERTScore backbone has its own in `metrics`; generators choose theirs.
        language_data: hashes of the files by which texts are cut and tokenized, see `core.text.language_data`. Both
            halves refuse others.
        panels: of each dataset, the articles that a summary's content is measured against, too
            (`core.metrics.panel`). They are drawn when a run begins.
        units: what a chunk is.
        length_unit: what the lengths count.
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
    units: Units = "chunks"
    length_unit: LengthUnit = "words"

    @property
    def kinds(self) -> dict[str, SystemKind]:
        """What each system is, by its signature, the generator last."""
        generated: dict[str, SystemKind] = {} if self.generator is None else {self.generator.signature: "system"}
        return {system.signature: system.kind for system in self.systems} | generated

    @property
    def signatures(self) -> tuple[str, ...]:
        """Of every system, the generator's last."""
        return tuple(self.kinds)

    @property
    def summaries_per_article(self) -> int:
        """One summary of each length by every system, and one more by each system with uncut summaries."""
        uncut = sum(system.has_uncut for system in self.systems)
        uncut += self.generator is not None and self.generator.has_uncut
        return len(self.signatures) * len(self.lengths) + uncut

    @property
    def models(self) -> tuple[ModelRef, ...]:
        """Every model that a worker loads."""
        generated = () if self.generator is None else self.generator.models
        measuring = (metric.model for metric in self.metrics.by_models)
        return (*self.encoders, *generated, self.metrics.bertscore.model, *measuring)

    @property
    def to_segment(self) -> "SweepPlan":
        """The part of the plan that the cutting half needs. It travels with every bundle, so it has no predictions."""
        plan = replace(self, panels=())
        return replace(plan, systems=()) if self.pipeline == NO_SEGMENTS else plan


def plan_for_missing(plan: SweepPlan, missing: AbstractSet[tuple[str, int]]) -> SweepPlan:
    """`plan` for the systems and the lengths that are in `missing` alone, with the rows that the whole plan has there.

    Systems with uncut summaries write these, too.
    Encoders that none of these systems asks for are not loaded.
    """
    names, lengths = {name for name, _ in missing}, {n for _, n in missing}
    chosen = tuple(system for system in plan.systems if system.signature in names)
    generator = plan.generator if plan.generator is not None and plan.generator.signature in names else None
    return replace(
        plan,
        systems=chosen,
        lengths=tuple(n for n in plan.lengths if n in lengths),
        encoders=tuple(encoder for encoder in plan.encoders if any(encoder.name in s.encoders for s in chosen)),
        generator=generator,
    )
