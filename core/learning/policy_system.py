"""Trained policies as a system: they write greedily, or choose the best of many summaries that they draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nws.core.learning.training_config import Decoding
from nws.core.systems.system import Document, Draft, UsualSystem
from nws.core.text.length import LengthUnit, cost, room
from nws.core.types import POLICY, UNTRAINED

if TYPE_CHECKING:  # importing PyTorch would delay plans, which only name policies
    from nws.core.learning.checkpoint import Checkpoint
    from nws.core.learning.environment import PreparedArticle

_GREEDY = Decoding("greedy")


@dataclass(frozen=True, slots=True, eq=False)
class PolicySystem(UsualSystem):
    """Summaries by trained policies.

    Attributes:
        name: the name of the policies, unique in a store. `UNTRAINED` has had no update.
        checkpoints: the checkpoints by n. A joint pair is there under each of its n. A length without its own pair is
            written by the pair of the nearest n (of two equally near, the shorter one). All pairs had the same
            training, except for n. Without checkpoints, the system is only a name, because it is not trained yet.
        decoding: the way in which they write.
    """

    name: str
    checkpoints: Mapping[int, "Checkpoint"] = field(default_factory=dict)
    decoding: Decoding = _GREEDY

    @property
    def signature(self) -> str:
        """The signature: `policy|METHOD|seed=SEED` with greedy decoding, or `policy|METHOD|DECODING|seed=SEED`.

        For example `policy|METHOD|rerank-160-lead6|seed=SEED`. The lengths are not in it, since every row of the store
        has its n. Untrained policies are `untrained|greedy` or `untrained|rerank-160-lead6`.
        """
        if self.name == UNTRAINED:
            return f"{UNTRAINED}|{self.decoding.label}"
        if self.decoding.method == "greedy":
            return POLICY + self.name
        method, *seed = self.name.split("|")
        return POLICY + "|".join((method, self.decoding.label, *seed))

    @property
    def encoders(self) -> tuple[str, ...]:
        return tuple({checkpoint.reading.encoder.name for checkpoint in self.checkpoints.values()})

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        from nws.core.learning.environment import prepare
        from nws.core.learning.sampling import decode

        # All pairs of a training read articles in the same way.
        reading, config = self._any.reading, self._any.config
        embeddings, unit = document.embeddings[reading.encoder.name], document.length_unit
        article = prepare(document.segmented, embeddings, config.mask_repeats, unit)
        drafts = []
        for n in lengths:
            about = _about(n, reading.length_unit, article)
            nearest = self.checkpoints[min(sorted(self.checkpoints), key=lambda trained: abs(trained - about))]
            pair, seed = nearest.policies(), nearest.seed
            scorers = document.anchored_f1, document.fluency
            drafts.append(Draft(n, decode(pair, article, n, config.sentences, self.decoding, seed, *scorers)))
        return drafts

    @property
    def length_unit(self) -> LengthUnit:
        """The unit of the n that it was trained for."""
        return self._any.reading.length_unit

    @property
    def _any(self) -> "Checkpoint":
        return next(iter(self.checkpoints.values()))


def _about(n: int, trained: LengthUnit, article: "PreparedArticle") -> float:
    """Convert `n` to the unit that policies were `trained` with, about, by the article's mean word."""
    unit, words = article.length_unit, article.segmented.words
    if unit == trained:
        return n
    return room(n, unit) / article.word_cost * sum(cost(word, trained) for word in words) / len(words)


def policy_system(checkpoints: Sequence["Checkpoint"], decoding: Decoding = _GREEDY) -> PolicySystem:
    """Make the system of a joint checkpoint, or of several checkpoints for one n each."""
    by_length = {n: checkpoint for checkpoint in checkpoints for n in checkpoint.lengths}
    return PolicySystem(checkpoints[0].name, by_length, decoding)
