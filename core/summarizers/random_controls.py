"""Controls that draw from the article: what n of its words gain in whatever they are put together of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.summarizers.composition import compose, words_at
from core.summarizers.systems import Document, Draft, UsualSystem
from core.text.length import fitting, room
from core.types import SegmentedArticle, SystemKind

DRAWS = 5
"""How often each draws. With one draw, chance would affect everything that is compared with it."""


@dataclass(frozen=True, slots=True)
class Random(UsualSystem):
    """Control: chunks in orders drawn from `seed` and the article's content, the same on every machine.

    The text stored is the first draw's; the scores are the means over `DRAWS` draws, which are stored, too.
    """

    kind: ClassVar[SystemKind] = "control"

    seed: int

    signature: ClassVar[str] = "random"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        article, unit = document.segmented, document.length_unit
        return _drafts(
            *(article, self.seed, len(article.chunks), lengths), lambda order, n: compose(article, order, n, unit)
        )


@dataclass(frozen=True, slots=True)
class RandomWords(UsualSystem):
    """Control: n of the article's words, each place as likely as any other and drawn once, in document order.

    Unlike the chunks of `Random` they are no phrases, stop words are among them, and a word that the article repeats
    may be drawn at several places. Seeds, texts and scores are as there.
    """

    kind: ClassVar[SystemKind] = "control"

    seed: int

    signature: ClassVar[str] = "random-words"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        article, unit = document.segmented, document.length_unit

        def write(order: list[int], n: int) -> str:
            drawn = (article.words[position] for position in order)
            return words_at(article, order[: fitting(drawn, room(n, unit), unit)])

        return _drafts(article, self.seed, len(article.words), lengths, write)


def _drafts(
    article: SegmentedArticle, seed: int, items: int, lengths: Sequence[int], write: Callable[[list[int], int], str]
) -> list[Draft]:
    """What is written, at each n, of `items` things in each of `DRAWS` orders."""
    generator = np.random.default_rng([seed, int(article.article.content_hash, 16)])
    orders = [generator.permutation(items).tolist() for _ in range(DRAWS)]
    drafts = []
    for n in lengths:
        text, *redraws = [write(order, n) for order in orders]
        drafts.append(Draft(n, text, tuple(redraws)))
    return drafts
