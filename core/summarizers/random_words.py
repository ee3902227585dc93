"""Single words drawn at random: what n words of the article gain in whatever they are put together of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.summarizers.chunk_systems import DRAWS
from core.summarizers.composition import words_at
from core.summarizers.systems import Document, Draft
from core.types import SystemKind


@dataclass(frozen=True, slots=True)
class RandomWords:
    """Control: n of the article's words, each place as likely as any other and drawn once, in document order.

    Unlike the chunks of `Random` they are no phrases, stop words are among them, and a word that the article repeats
    may be drawn at several places. They are drawn from `seed` and the article's content, the same on every machine. The
    text stored is the first draw's; the scores are the means over `DRAWS` draws, which are stored, too.
    """

    kind: ClassVar[SystemKind] = "control"
    has_uncut: ClassVar[bool] = False
    encoders: ClassVar[tuple[str, ...]] = ()
    reads_key: ClassVar[bool] = False

    seed: int

    @property
    def signature(self) -> str:
        return "random-words"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        article = document.segmented
        generator = np.random.default_rng([self.seed, int(article.article.content_hash, 16)])
        orders = [generator.permutation(len(article.words)).tolist() for _ in range(DRAWS)]
        drafts = []
        for n in lengths:
            text, *redraws = [words_at(article, order[:n]) for order in orders]
            drafts.append(Draft(n, text, tuple(redraws)))
        return drafts
