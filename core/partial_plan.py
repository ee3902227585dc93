"""Part of a sweep: some of its systems at some of its lengths, with the rows that the whole sweep would have there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.summarizers.systems import Document, Draft, System
from core.sweep_plan import SweepPlan
from core.types import SystemKind


@dataclass(frozen=True, slots=True)
class AtLengths:
    """A system that writes at lengths of its own, whatever the others of its sweep write at."""

    system: System
    lengths: tuple[int, ...]

    @property
    def signature(self) -> str:
        return self.system.signature

    @property
    def kind(self) -> SystemKind:
        return self.system.kind

    @property
    def has_uncut(self) -> bool:
        return self.system.has_uncut

    @property
    def encoders(self) -> tuple[str, ...]:
        return self.system.encoders

    @property
    def reads_key(self) -> bool:
        return self.system.reads_key

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        return self.system.summarize(document, self.lengths)


def plan_for_missing(plan: SweepPlan, missing: Mapping[str, Sequence[int]]) -> SweepPlan:
    """`plan` for the systems in `missing` alone, each at its lengths. Systems with uncut summaries write these, too.

    Encoders that none of these systems asks for are not loaded.
    """
    lengths = tuple(n for n in plan.lengths if any(n in missing_lengths for missing_lengths in missing.values()))
    chosen = [system for system in plan.systems if system.signature in missing]
    generator = plan.generator if plan.generator is not None and plan.generator.signature in missing else None
    return replace(
        plan,
        systems=tuple(_at(system, tuple(missing[system.signature]), lengths) for system in chosen),
        lengths=lengths,
        encoders=tuple(encoder for encoder in plan.encoders if any(encoder.name in s.encoders for s in chosen)),
        generator=generator,
    )


def _at(system: System, lengths: tuple[int, ...], all_lengths: tuple[int, ...]) -> System:
    return system if lengths == all_lengths else AtLengths(system, lengths)
