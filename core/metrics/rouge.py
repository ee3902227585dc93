"""ROUGE-N, ROUGE-L and ROUGE-Lsum (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries").

`rouge` has them computed by the library `rouge_score`, with any tokenizer. `Rouge` gives a sweep the same numbers in
less time.

* `rouge1`, `rouge2`, …: n-grams in common, each counted at most as often as it is on both sides.
* `rougeL`: longest common subsequence of the whole texts.
* `rougeLsum`: for each reference sentence the union of its longest common subsequences with every sentence of the
  prediction. Sentences end at newlines and nowhere else: a text without newlines is one sentence, and scores as
  `rougeL`. Unlike the others it is not symmetric: precision is not the recall of the arguments swapped.
"""

import functools
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq

from core.errors import RecipeError
from core.metrics.config import Options, RougeConfig, rouge_score_version, text_tokenizer
from core.metrics.pairs import PairMetric, References, clipped_overlap, over_references, overlap
from core.text.tokenizers import EnglishTokenizer, Tokenizer, named_tokenizer
from core.types import Score

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer

VARIANTS = ("rouge1", "rouge2", "rougeL")
_N = re.compile(r"rouge([1-9][0-9]*)")
_LIBRARY_MAX_N = 9


def make_rouge(name: str, options: Options) -> PairMetric:
    """See `core.metrics.registry`."""
    return rouge(name, text_tokenizer(options), options.references)


def rouge(variant: str, tokenizer: Tokenizer | None = None, references: References = "best") -> PairMetric:
    """One variant of ROUGE: `rouge1`, `rouge2`, … (any n), `rougeL` or `rougeLsum`.

    Args:
        variant: which.
        tokenizer: `rouge_score`'s without stemmer unless given.
        references: how several references count.

    Raises:
        RecipeError: no such variant.
    """
    tokenizer = tokenizer or EnglishTokenizer()
    options = f"{tokenizer.signature}|version:{rouge_score_version()}"
    ngram = _N.fullmatch(variant)
    if ngram is None and variant not in ("rougeL", "rougeLsum"):
        raise RecipeError(f"There is no ROUGE {variant!r}: give rouge1, rouge2, … (any n), rougeL or rougeLsum.")
    if ngram is not None and int(ngram[1]) > _LIBRARY_MAX_N:
        return _long_ngrams(variant, int(ngram[1]), tokenizer, options, references)
    from rouge_score.rouge_scorer import RougeScorer  # and with it NLTK and SciPy

    scorer = RougeScorer([variant], tokenizer=tokenizer)
    return PairMetric(variant, options, lambda text, reference: _scores(scorer, text, reference)[variant], references)


def _long_ngrams(name: str, n: int, tokenizer: Tokenizer, options: str, references: References) -> PairMetric:
    """ROUGE-N beyond the one digit that `rouge_score` reads."""

    def ngrams(text: str) -> Counter[tuple[str, ...]]:
        tokens = tokenizer.tokenize(text)
        return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

    return PairMetric(name, options, lambda text, ref: clipped_overlap(ngrams(text), ngrams(ref)), references)


class Rouge:
    """The `VARIANTS` together, as `rouge_score` computes them, to the last bit.

    Each text is cut into tokens and counted once, and subsequences are found 64 tokens at a time (Hyyrö 2004,
    "Bit-parallel LCS-length computation revisited").

    Raises:
        NwsError: see `RougeConfig.signature`.
    """

    def __init__(self, config: RougeConfig) -> None:
        tokenizer = named_tokenizer(config.tokenizer, config.stemmer)
        # The summaries of an article follow each other, with its references.
        self._counted = functools.lru_cache(maxsize=64)(functools.partial(_count, tokenizer))

    def score(self, candidate: str, references: Sequence[str]) -> dict[str, Score]:
        """Precision, recall and F1 of each of `VARIANTS`, each against the reference with the highest F1."""
        counted = self._counted(candidate)
        by_reference = [_compare(counted, self._counted(reference)) for reference in references]
        return {name: over_references([scores[name] for scores in by_reference], "best") for name in VARIANTS}

    def tokens(self, text: str) -> AbstractSet[str]:
        """The distinct tokens of a text."""
        return self._counted(text).unigrams.keys()


@dataclass(frozen=True, slots=True)
class _CountedText:
    """The tokens of a text, and how often each of them and each pair of neighbours occurs."""

    tokens: list[str]
    unigrams: Counter[str]
    bigrams: Counter[tuple[str, str]]


def _count(tokenizer: Tokenizer, text: str) -> _CountedText:
    tokens = tokenizer.tokenize(text)
    return _CountedText(tokens, Counter(tokens), Counter(itertools.pairwise(tokens)))


def _compare(candidate: _CountedText, reference: _CountedText) -> dict[str, Score]:
    lcs = LCSseq.similarity(candidate.tokens, reference.tokens)
    return {
        "rouge1": clipped_overlap(candidate.unigrams, reference.unigrams),
        "rouge2": clipped_overlap(candidate.bigrams, reference.bigrams),
        "rougeL": overlap(lcs, len(candidate.tokens), len(reference.tokens)),
    }


def _scores(scorer: "RougeScorer", candidate: str, reference: str) -> dict[str, Score]:
    parts = scorer.score(reference, candidate)
    return {name: Score(float(s.precision), float(s.recall), float(s.fmeasure)) for name, s in parts.items()}
