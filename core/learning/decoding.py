"""How a summary is chosen with trained policies: greedily, or as the best of many that are drawn."""

import hashlib
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from core.errors import RecipeError
from core.learning.environment import PreparedArticle, positions_taken
from core.learning.policies import Policies
from core.learning.sampling import Draw, Greedy, episodes, falling
from core.summarizers.composition import adjacent_share, words_at
from core.summarizers.lead import first_sentences
from core.summarizers.systems import AnchoredF1, FluencyOf, no_fluency


@dataclass(frozen=True, slots=True)
class Decoding:
    """How policies write. No decoding sees a reference.

    Attributes:
        method: `greedy` takes the best sentences, and then the best chunk each time. `rerank` draws `k` summaries from
            the policies and keeps the one with the highest BERTScore F1 against the anchor.
        k: how many summaries `rerank` draws.
        anchor: `lead`, the article's first `anchor_sentences` sentences, or `chosen`, the ones that the policies would
            choose greedily.
        anchor_sentences: how many sentences the anchor has.
        adjacency_weight: w in the score F1 + w · (share of neighbours in the summary that are neighbours in the
            article). A larger w keeps more of the article's own phrases.
        fluency_weight: v in + v · fluency (`core.metrics.fluency`), in nats a token; the recipe names the model.

    Raises:
        RecipeError: no such method or anchor, or a number out of range.
    """

    method: Literal["greedy", "rerank"] = "greedy"
    k: int = 160
    anchor: Literal["lead", "chosen"] = "lead"
    anchor_sentences: int = 3
    adjacency_weight: float = 0.05
    fluency_weight: float = 0.0

    def __post_init__(self) -> None:
        if self.method not in ("greedy", "rerank") or self.anchor not in ("lead", "chosen"):
            raise RecipeError(
                "Policies decode with `greedy` or `rerank`, and the anchor is `lead` or `chosen`, not "
                f"{self.method!r} and {self.anchor!r}."
            )
        weights = (self.adjacency_weight, self.fluency_weight)
        if min(self.k, self.anchor_sentences) < 1 or not all(0 <= weight < math.inf for weight in weights):
            raise RecipeError(
                "Reranking needs at least one draw, an anchor of at least one sentence, and weights of 0 or more, not "
                f"k: {self.k}, anchor_sentences: {self.anchor_sentences}, adjacency_weight: {self.adjacency_weight} "
                f"and fluency_weight: {self.fluency_weight}."
            )

    @property
    def needs_fluency(self) -> bool:
        """Whether it asks a language model."""
        return self.method == "rerank" and self.fluency_weight > 0

    @property
    def label(self) -> str:
        """`greedy`, or everything that decides a reranking: `rerank-160-lead3-adjacent0.05`, `rerank-48-chosen2`."""
        if self.method == "greedy":
            return self.method
        adjacent = f"-adjacent{self.adjacency_weight:g}" if self.adjacency_weight else ""
        fluent = f"-fluent{self.fluency_weight:g}" if self.fluency_weight else ""
        return f"rerank-{self.k}-{self.anchor}{self.anchor_sentences}{adjacent}{fluent}"


def decode(
    policies: Policies,
    article: PreparedArticle,
    n: int,
    sentences: int,
    decoding: Decoding,
    seed: int,
    anchored_f1: AnchoredF1,
    fluency: FluencyOf = no_fluency,
) -> str:
    """A summary of `n` words, or characters where the article was prepared for them.

    What is drawn depends on the seed, the article's text and n alone.

    Args:
        policies: the pair.
        article: with at least one sentence.
        n: words, or characters.
        sentences: K, how many sentences the policies choose.
        decoding: how the policies write.
        seed: of what is drawn.
        anchored_f1: BERTScore F1 of texts against an anchor; only `rerank` asks.
        fluency: of texts; only `rerank` with a weight asks.
    """
    if decoding.method == "greedy":
        return episodes(policies, article, n, sentences, Greedy()).texts[0]
    drawn = episodes(policies, article, n, sentences, Draw(_generator(seed, article, n), decoding.k))
    segmented, unit = article.segmented, article.length_unit
    different = dict.fromkeys(tuple(sorted(positions_taken(segmented, taken, n, unit))) for taken in drawn.chunks)
    texts = {words_at(segmented, positions): adjacent_share(positions) for positions in different}
    f1 = anchored_f1(_anchor(policies, article, decoding), list(texts))
    scores = [score + decoding.adjacency_weight * share for score, share in zip(f1, texts.values(), strict=True)]
    if decoding.needs_fluency:
        of_texts = fluency(list(texts))
        scores = [score + decoding.fluency_weight * slor for score, slor in zip(scores, of_texts, strict=True)]
    return list(texts)[int(np.argmax(scores))]  # of equals the first drawn


def _generator(seed: int, article: PreparedArticle, n: int) -> np.random.Generator:
    """For an article's text, whatever dataset and references it comes with: a text alone is written as in a run."""
    text = article.segmented.article.text.encode("utf-8", "surrogatepass")
    return np.random.default_rng([seed, int.from_bytes(hashlib.sha256(text).digest()[:8], "big"), n])


def _anchor(policies: Policies, article: PreparedArticle, decoding: Decoding) -> str:
    if decoding.anchor == "lead":
        return first_sentences(article.segmented, decoding.anchor_sentences)
    with torch.no_grad():
        best = falling(policies.sentence_logits(article).numpy())[: decoding.anchor_sentences].tolist()
    return " ".join(article.segmented.sentences[index].text for index in sorted(best))
