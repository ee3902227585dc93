"""Trained policies as a system among the others: they write greedily, or keep the best of many summaries drawn."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from core.analysis.points import POLICY
from core.errors import ModelError
from core.learning.checkpoint import Checkpoint, load_checkpoint, load_decoding, save_checkpoint, save_decoding
from core.learning.environment import PreparedArticle, positions_taken, prepare
from core.learning.policies import Policies
from core.learning.sampling import Draw, Greedy, episodes, falling
from core.learning.training_config import Decoding
from core.systems.composition import adjacent_share, first_sentences, words_at
from core.systems.system import AnchoredF1, Document, Draft, FluencyOf, UsualSystem, no_fluency
from core.text.length import LengthUnit, cost, room

_GREEDY = Decoding("greedy")


@dataclass(frozen=True, slots=True, eq=False)
class PolicySystem(UsualSystem):
    """Summaries by trained policies.

    Attributes:
        name: tells policies of one store apart.
        checkpoints: by n; a joint pair is there under each of its n. A length without a pair of its own is written by
            the pair of the nearest n, and the shorter one of two. All pairs were trained alike, except for n. Without
            checkpoints, the system has only a name: it is not trained yet.
        decoding: how they write.
    """

    name: str
    checkpoints: Mapping[int, Checkpoint] = field(default_factory=dict)
    decoding: Decoding = _GREEDY

    @property
    def signature(self) -> str:
        """`policy|METHOD|seed=SEED`; unless it writes greedily, how it does stands behind the method.

        Such as `policy|METHOD|rerank-160-lead3|seed=SEED`. The lengths are not in it: every row of the store has its n.
        """
        if self.decoding.method == "greedy":
            return POLICY + self.name
        method, *seed = self.name.split("|")
        return POLICY + "|".join((method, self.decoding.label, *seed))

    @property
    def encoders(self) -> tuple[str, ...]:
        return tuple({checkpoint.reading.encoder.name for checkpoint in self.checkpoints.values()})

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        # The pairs of one training see articles alike.
        reading, config = self._any.reading, self._any.config
        embeddings, unit = document.embeddings[reading.encoder.name], document.length_unit
        article = prepare(document.segmented, embeddings, config.mask_repeats, unit)
        drafts = []
        for n in lengths:
            about = _about(n, reading.length_unit, article)
            nearest = self.checkpoints[min(sorted(self.checkpoints), key=lambda trained: abs(trained - about))]
            pair, seed = nearest.policies(), nearest.seed
            asked = document.anchored_f1, document.fluency
            drafts.append(Draft(n, decode(pair, article, n, config.sentences, self.decoding, seed, *asked)))
        return drafts

    @property
    def length_unit(self) -> LengthUnit:
        """What the n count that it was trained for."""
        return self._any.reading.length_unit

    @property
    def _any(self) -> Checkpoint:
        return next(iter(self.checkpoints.values()))


def _about(n: int, trained: LengthUnit, article: PreparedArticle) -> float:
    """An n of the article's unit in the one that policies were `trained` with: of the article's words, so many."""
    unit, words = article.length_unit, article.segmented.words
    if unit == trained:
        return n
    return room(n, unit) / article.word_cost * sum(cost(word, trained) for word in words) / len(words)


def policy_system(checkpoints: Sequence[Checkpoint], decoding: Decoding = _GREEDY) -> PolicySystem:
    """The system of one joint checkpoint, or of several for one n each."""
    by_length = {n: checkpoint for checkpoint in checkpoints for n in checkpoint.lengths}
    return PolicySystem(checkpoints[0].name, by_length, decoding)


def save_policies(system: PolicySystem, folder: Path) -> None:
    """Write how they decode, and a joint pair into `folder`, or the pair of each n into a folder `n=7` and so on in it.

    Raises:
        OSError: it cannot be written.
    """
    parts = {id(checkpoint): checkpoint for checkpoint in system.checkpoints.values()}.values()
    for part in parts:
        save_checkpoint(part, folder if len(parts) == 1 else folder / f"n={part.lengths[0]}")
    save_decoding(system.decoding, folder)


def load_policies(folder: Path) -> PolicySystem:
    """What `save_policies` wrote.

    Raises:
        ModelError: there are no policies, or they are not of this version of NWS.
    """
    parts = sorted(path.parent for path in folder.glob("n=*/policy.json"))
    if parts and (folder / "policy.json").exists():
        raise ModelError(f"{folder} holds two policies, a joint one and one for each n: export each to its own folder.")
    return policy_system([load_checkpoint(part) for part in parts or [folder]], load_decoding(folder))


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
