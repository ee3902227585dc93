"""Trained policies as a system among the others: they write greedily, or keep the best of many summaries drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nws.core.learning.training_config import Decoding
from nws.core.systems.system import Document, Draft, UsualSystem
from nws.core.text.length import LengthUnit, cost, room
from nws.core.types import POLICY, UNTRAINED

if TYPE_CHECKING:  # a plan names policies, and must not wait for PyTorch
    from nws.core.learning.checkpoint import Checkpoint
    from nws.core.learning.environment import PreparedArticle

_GREEDY = Decoding("greedy")


@dataclass(frozen=True, slots=True, eq=False)
class PolicySystem(UsualSystem):
    """Summaries by trained policies.

    Attributes:
        name: tells policies of one store apart. `UNTRAINED` has had no update.
        checkpoints: by n; a joint pair is there under each of its n. A length without a pair of its own is written by
            the pair of the nearest n, and the shorter one of two. All pairs were trained alike, except for n. Without
            checkpoints, the system has only a name: it is not trained yet.
        decoding: how they write.
    """

    name: str
    checkpoints: Mapping[int, "Checkpoint"] = field(default_factory=dict)
    decoding: Decoding = _GREEDY

    @property
    def signature(self) -> str:
        """`policy|METHOD|seed=SEED`; unless it writes greedily, how it does stands behind the method.

        Such as `policy|METHOD|rerank-160-lead6|seed=SEED`. The lengths are not in it: every row of the store has its n.
        Untrained ones are `untrained|greedy` or `untrained|rerank-160-lead6`.
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

        # The pairs of one training see articles alike.
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
        """What the n count that it was trained for."""
        return self._any.reading.length_unit

    @property
    def _any(self) -> "Checkpoint":
        return next(iter(self.checkpoints.values()))


def _about(n: int, trained: LengthUnit, article: "PreparedArticle") -> float:
    """About how long a summary of `n` is in the unit that policies were `trained` with, by the article's mean word."""
    unit, words = article.length_unit, article.segmented.words
    if unit == trained:
        return n
    return room(n, unit) / article.word_cost * sum(cost(word, trained) for word in words) / len(words)


def policy_system(checkpoints: Sequence["Checkpoint"], decoding: Decoding = _GREEDY) -> PolicySystem:
    """The system of one joint checkpoint, or of several for one n each."""
    by_length = {n: checkpoint for checkpoint in checkpoints for n in checkpoint.lengths}
    return PolicySystem(checkpoints[0].name, by_length, decoding)
