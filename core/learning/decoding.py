"""How a summary is chosen with trained policies: greedily, or as the best of many that are drawn."""

import hashlib

import numpy as np
import torch

from core.learning.environment import PreparedArticle, positions_taken
from core.learning.policies import Policies
from core.learning.sampling import Draw, Greedy, episodes, falling
from core.learning.training_config import Decoding
from core.summarizers.composition import adjacent_share, first_sentences, words_at
from core.summarizers.systems import AnchoredF1, FluencyOf, no_fluency


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
