"""Trained policies as a system among the others: they write greedily."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from core.learning.checkpoint import Checkpoint
from core.learning.environment import prepare
from core.learning.sampling import Greedy, rollouts
from core.summarizers.systems import Document, Draft


@dataclass(frozen=True, slots=True, eq=False)
class PolicySystem:
    """Summaries by trained policies.

    Attributes:
        name: tells policies of one store apart.
        checkpoints: by n; a joint pair is there under each of its n. A length without its own is written by the pair
            of the nearest n, of two the shorter.
    """

    name: str
    checkpoints: Mapping[int, Checkpoint]

    @property
    def signature(self) -> str:
        """`policy|<name>`. The lengths are not in it: every row of the store has its n."""
        return f"policy|{self.name}"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        drafts = []
        for n in lengths:
            nearest = min(sorted(self.checkpoints), key=lambda trained: abs(trained - n))
            checkpoint = self.checkpoints[nearest]
            config = checkpoint.config
            article = prepare(document.segmented, document.embeddings[checkpoint.encoder], config.mask_repeats)
            with torch.no_grad():
                found = rollouts(checkpoint.policies(), article, n, config.sentences, Greedy())
            drafts.append(Draft(n, found.texts[0]))
        return drafts


def policy_system(name: str, checkpoints: Sequence[Checkpoint]) -> PolicySystem:
    """The system of one joint checkpoint, or of several for one n each."""
    return PolicySystem(name, {n: checkpoint for checkpoint in checkpoints for n in checkpoint.lengths})
