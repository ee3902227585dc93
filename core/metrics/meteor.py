"""METEOR (NLTK): the formula of Lavie and Agarwal 2007 with the matchers of NLTK. It is not METEOR 1.5.

Words are aligned in stages, each on the words that the stages before left over: equal words, equal Porter stems,
synonyms of WordNet. `meteor_score` of NLTK hands *stems* to its last stage, so that "car" does not match "automobile"
(whose stem is "automobil"). Here the last stage sees the words; without WordNet the numbers are NLTK's.
"""

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import exact_match, stem_match, wordnetsyn_match

from core.metrics.bleu import MTEVAL, translation_tokenizer
from core.metrics.config import Options
from core.metrics.metric import FloatArray, MeanOverRows, References, Row
from core.text.tokenizers import Tokenizer
from core.text.wordnet import find_wordnet

# Lavie and Agarwal 2007, "METEOR: An Automatic Metric for MT Evaluation with High Levels of Correlation with Human
# Judgments", and NLTK's defaults.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5

_STEMMER = PorterStemmer()

# Positions of a word in the prediction and of its match in the reference.
Match = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Meteor(MeanOverRows):
    """METEOR (NLTK) of each row, in [0, 1); over rows the mean.

    Attributes:
        references: the best reference counts, or the mean over references.
        stem: match equal Porter stems (of English words).
        wordnet: NLTK's reader of WordNet, to match synonyms; None to leave them unmatched.
        tokenizer: cuts every text into tokens.
    """

    name: ClassVar[str] = "meteor"

    references: References = "best"
    stem: bool = True
    wordnet: Any = None
    tokenizer: Tokenizer = MTEVAL

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        matchers = ["exact", "porter"] if self.stem else ["exact"]
        if self.wordnet is not None:
            matchers.append(f"wordnet-{self.wordnet.get_version()}-of-words")
        return "|".join(
            (
                "meteor(nltk)",
                f"alpha:{ALPHA}",
                f"beta:{BETA}",
                f"gamma:{GAMMA}",
                "case:lower",
                self.tokenizer.signature,
                f"match:{','.join(matchers)}",
                f"refs:{self.references}",
                f"version:nltk-{importlib.metadata.version('nltk')}",
            )
        )

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """The score of each row, (rows, 1)."""
        return np.array([self._row_score(row) for row in rows], dtype=np.float64).reshape(len(rows), 1)

    def _row_score(self, row: Row) -> float:
        prediction = self._tokens(row.prediction)
        scores = [self._pair_score(prediction, self._tokens(reference)) for reference in row.references]
        if not scores:
            return 0.0
        return max(scores) if self.references == "best" else sum(scores) / len(scores)

    def _tokens(self, text: str) -> list[str]:
        return [token.lower() for token in self.tokenizer.tokenize(text)]

    def _pair_score(self, prediction: Sequence[str], reference: Sequence[str]) -> float:
        matches = self._align(prediction, reference)
        if not matches:
            return 0.0
        precision, recall = len(matches) / len(prediction), len(matches) / len(reference)
        mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
        penalty: float = GAMMA * (_chunks(matches) / len(matches)) ** BETA
        return (1 - penalty) * mean

    def _align(self, prediction: Sequence[str], reference: Sequence[str]) -> list[Match]:
        stages: list[Callable[..., Any]] = [exact_match]
        if self.stem:
            stages.append(partial(stem_match, stemmer=_STEMMER))
        if self.wordnet is not None:
            stages.append(partial(wordnetsyn_match, wordnet=self.wordnet))
        matched: dict[int, int] = {}
        for match in stages:
            unmatched = [i for i in range(len(prediction)) if i not in matched]
            taken = set(matched.values())
            free = [j for j in range(len(reference)) if j not in taken]
            pairs, _, _ = match([prediction[i] for i in unmatched], [reference[j] for j in free])
            matched |= {unmatched[i]: free[j] for i, j in pairs}
        return sorted(matched.items())


def make_meteor(name: str, options: Options) -> Meteor:
    """See `core.metrics.registry`. Stems and synonyms are matched in English only."""
    tokenizer = translation_tokenizer(options)
    is_english = tokenizer is MTEVAL
    return Meteor(options.references, is_english, find_wordnet() if is_english else None, tokenizer)


def _chunks(matches: Sequence[Match]) -> int:
    """Runs of matches that are adjacent, and in the same order, in both texts."""
    return 1 + sum(after != (before[0] + 1, before[1] + 1) for before, after in pairwise(matches))
