"""The extractive baselines by name, and the classes of those that use only the words of the article.

A name stands for the same method in every run, and the run records its encoder. The beginning of an article is a strong
baseline in news, where the most important facts come first. The random baselines show how much content n arbitrary
words of the article keep.
"""

import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from nws.core.systems.composition import compose
from nws.core.systems.rulers import RULERS
from nws.core.systems.system import Document, Draft, System, UsualSystem
from nws.core.text.length import UNCUT, cut, word_spans
from nws.core.types import SystemKind

BASELINES = {
    "lead3": "nws.core.systems.extractive_baselines:Lead3",
    "lead2+chunks": "nws.core.systems.chunk_systems:LeadChunks",
    "lead3-search": "nws.core.systems.chunk_systems:LeadSearch",
    **dict.fromkeys(("textrank", "centroid", "textrank-words"), "nws.core.systems.chunk_systems:ChunkSystem"),
    **dict.fromkeys(("lexrank", "position"), "nws.core.systems.chunk_systems:ChunkSystem"),
    "oracle": "nws.core.systems.rulers:Oracle",
    "lead": "nws.core.systems.extractive_baselines:Lead",
    "random": "nws.core.systems.extractive_baselines:Random",
    "reference-words": "nws.core.systems.rulers:ReferenceWords",
    "person": "nws.core.systems.rulers:Person",
    "other-article": "nws.core.systems.rulers:OtherArticle",
}
"""`module:class` by name. Each class is a frozen dataclass that follows `System`, and is imported when it is used."""
# Rulers do not take their words from the article.
_NO_RIVALS = ("oracle", *RULERS)


def make_baseline(name: str, encoder: str, seed: int) -> System:
    """Make the system of a name in `BASELINES`.

    Args:
        name: the name, which is also the value of the fields `name` and `importance`.
        encoder: the name of the encoder, the value of the field `encoder`.
        seed: the value of the field `seed`.
    """
    given: dict[str, Any] = {"name": name, "importance": name, "encoder": encoder, "seed": seed}
    if name == "oracle":
        # All other baselines, even those that the run does not have, so that the oracle's numbers do not depend on it.
        given["rivals"] = tuple(make_baseline(rival, encoder, seed) for rival in BASELINES if rival not in _NO_RIVALS)
    kind = pkgutil.resolve_name(BASELINES[name])
    system: System = kind(**{field.name: given[field.name] for field in fields(kind)})
    return system


@dataclass(frozen=True, slots=True)
class Lead(UsualSystem):
    """Control: the first n words. Its curve shows what length alone does."""

    kind: ClassVar[SystemKind] = "control"
    signature: ClassVar[str] = "lead"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        text = document.segmented.article.text
        return [Draft(n, cut(text, n, document.length_unit)) for n in lengths]


@dataclass(frozen=True, slots=True)
class Lead3(UsualSystem):
    """The first three sentences, uncut and cut to n (See et al. 2017, section 5).

    If they have fewer than n words, the words after them are added.
    """

    has_uncut: ClassVar[bool] = True
    signature: ClassVar[str] = "lead3"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        text = document.segmented.article.text
        _, end = word_spans(text)[document.segmented.sentences[:3][-1].end - 1]
        whole = Draft(UNCUT, " ".join(text[:end].split()))
        return [whole, *(Draft(n, cut(text, n, document.length_unit)) for n in lengths)]


RANDOM_DRAWS = 5
"""The number of draws. With one draw, chance would affect all comparisons with the baseline."""


@dataclass(frozen=True, slots=True)
class Random(UsualSystem):
    """Control: chunks in random orders, seeded by `seed` and the article's content, equal on every machine.

    The stored text is that of the first draw. The scores are means over `RANDOM_DRAWS` draws, which are also stored.
    """

    kind: ClassVar[SystemKind] = "control"

    seed: int

    signature: ClassVar[str] = "random"

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        article, unit = document.segmented, document.length_unit
        generator = np.random.default_rng([self.seed, int(article.article.content_hash, 16)])
        orders = [generator.permutation(len(article.chunks)).tolist() for _ in range(RANDOM_DRAWS)]
        drafts = []
        for n in lengths:
            text, *redraws = [compose(article, order, n, unit) for order in orders]
            drafts.append(Draft(n, text, tuple(redraws)))
        return drafts
