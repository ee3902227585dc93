"""Trained policies as a system among the others: they write greedily."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import torch

from core.analysis.points import POLICY
from core.errors import ModelError
from core.learning.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from core.learning.environment import prepare
from core.learning.sampling import Greedy, rollouts
from core.summarizers.systems import Document, Draft
from core.types import SystemKind


@dataclass(frozen=True, slots=True, eq=False)
class PolicySystem:
    """Summaries by trained policies.

    Attributes:
        name: tells policies of one store apart.
        checkpoints: by n; a joint pair is there under each of its n. A length without its own is written by the pair
            of the nearest n, of two the shorter. All are of one training, but for n. Without any, the system has only
            a name: it is to be trained.
    """

    kind: ClassVar[SystemKind] = "system"
    has_uncut: ClassVar[bool] = False

    name: str
    checkpoints: Mapping[int, Checkpoint] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """`policy|<name>`. The lengths are not in it: every row of the store has its n."""
        return POLICY + self.name

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        # The pairs of one training see articles alike.
        reading, config = self._any.reading, self._any.config
        article = prepare(document.segmented, document.embeddings[reading.encoder.name], config.mask_repeats)
        drafts = []
        for n in lengths:
            nearest = min(sorted(self.checkpoints), key=lambda trained: abs(trained - n))
            with torch.no_grad():
                policies = self.checkpoints[nearest].policies()
                found = rollouts(policies, article, n, config.sentences, Greedy())
            drafts.append(Draft(n, found.texts[0]))
        return drafts

    @property
    def _any(self) -> Checkpoint:
        return next(iter(self.checkpoints.values()))


def policy_system(checkpoints: Sequence[Checkpoint]) -> PolicySystem:
    """The system of one joint checkpoint, or of several for one n each."""
    by_length = {n: checkpoint for checkpoint in checkpoints for n in checkpoint.lengths}
    return PolicySystem(checkpoints[0].name, by_length)


def save_policies(system: PolicySystem, folder: Path) -> None:
    """Write a joint pair into `folder`, or the pair of each n into a folder `n=7` and so on below it.

    Raises:
        OSError: it cannot be written.
    """
    parts = {id(checkpoint): checkpoint for checkpoint in system.checkpoints.values()}.values()
    for part in parts:
        save_checkpoint(part, folder if len(parts) == 1 else folder / f"n={part.lengths[0]}")


def load_policies(folder: Path) -> PolicySystem:
    """What `save_policies` wrote.

    Raises:
        ModelError: there are no policies, or they are not of this version of NWS.
    """
    parts = sorted(path.parent for path in folder.glob("n=*/policy.json"))
    if parts and (folder / "policy.json").exists():
        raise ModelError(f"{folder} holds two policies, a joint one and one for each n: export each to its own folder.")
    return policy_system([load_checkpoint(part) for part in parts or [folder]])
