"""The ROUGE family (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries"), and similar metrics.

`make_rouge` makes metrics that the library `rouge_score` computes, with any tokenizer. For a sweep, `Rouge` computes
the same numbers in less time.

* `rouge1` to `rouge9`: n-grams in common, each counted at most as often as it is on both sides.
* `rougeL`: longest common subsequence of the whole texts.
* `rougeLsum`: for each reference sentence the union of its longest common subsequences with every sentence of the
  prediction. Sentences end at newlines and nowhere else: a text without newlines is one sentence, and scores as
  `rougeL`. Unlike the others it is not symmetric: precision is not the recall of the arguments swapped.

ROUGE-S and ROUGE-SU: pairs of words in their order, with other words between them (Lin 2004, section 5). Tokens of any
kind are counted as the script ROUGE-1.5.5 does (options `-2 GAP` and `-2 GAP -u`):

* A skip bigram is two tokens with at most `gap` tokens between them; `gap` 0 is ROUGE-2. The text is one sequence:
  pairs cross the ends of sentences. Each pair counts at most as often as it is on both sides.
* ROUGE-SU counts single tokens too. The paper gets them from a begin-of-sentence marker; the script has no marker and
  counts every token except the last as a unigram, beside the pairs.
* So a text of one token has neither pairs nor unigrams: it scores 0, even against itself.

`rouge-lcsubstr` is the longest run of tokens that both texts have in common. ROUGE-L itself is the longest common
*subsequence*, which may leave words out in between. Some describe ROUGE-L as the longest common substring. That is
another measure, never higher, so it has a name of its own.

The score of the DialogSum competition compares a summary with several references. The data set has three for each
dialogue (Chen et al. 2021, "DialogSum: A Real-Life Scenario Dialogue Summarization Dataset").
"""

import difflib
import functools
import itertools
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np
from rapidfuzz.distance import LCSseq

from nws.core.metrics.config import Options, RougeConfig, rouge_score_version, text_tokenizer
from nws.core.metrics.metric import (
    PRECISION_RECALL_F1,
    Row,
    RowMetric,
    clipped_overlap,
    over_references,
    overlap,
    pair_metric,
)
from nws.core.text.tokenizers import Tokenizer, named_tokenizer
from nws.core.types import Score

VARIANTS = ("rouge1", "rouge2", "rougeL")


def make_rouge(name: str, options: Options) -> RowMetric:
    """Make one of `rouge1` to `rouge9`, `rougeL` and `rougeLsum`, by its name."""
    from rouge_score.rouge_scorer import RougeScorer  # imports NLTK and SciPy

    tokenizer = text_tokenizer(options)
    scorer = RougeScorer([name], tokenizer=tokenizer)

    def score_pair(text: str, reference: str) -> Score:
        score = scorer.score(reference, text)[name]
        return Score(float(score.precision), float(score.recall), float(score.fmeasure))

    options_text = f"{tokenizer.signature}|version:{rouge_score_version()}"
    return pair_metric(name, options_text, score_pair, options.references)


class Rouge:
    """Computes all `VARIANTS` together. The numbers equal those of `rouge_score` to the last bit.

    Each text is cut into tokens and counted once, and subsequences are found 64 tokens at a time (Hyyrö 2004,
    "Bit-parallel LCS-length computation revisited").

    Raises:
        NwsError: see `RougeConfig.signature`.
    """

    def __init__(self, config: RougeConfig) -> None:
        tokenizer = named_tokenizer(config.tokenizer, config.stemmer)
        # The summaries of an article come one after the other, with the same references.
        self._counted = functools.lru_cache(maxsize=64)(functools.partial(_count, tokenizer))

    def score(self, candidate: str, references: Sequence[str]) -> dict[str, Score]:
        """Return precision, recall and F1 of each of `VARIANTS`, each against the reference with the highest F1."""
        counted = self._counted(candidate)
        by_reference = [_compare(counted, self._counted(reference)) for reference in references]
        return {name: over_references([scores[name] for scores in by_reference], "best") for name in VARIANTS}

    def tokens(self, text: str) -> AbstractSet[str]:
        """Return the distinct tokens of a text."""
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


def make_skip_bigram(name: str, options: Options) -> RowMetric:
    """Make `rougeS` or `rougeSU`, by a name that ends with the gap: the most tokens between the two of a pair.

    If the name has no gap, it is 2, and is added to the metric's own name. With `*` there is no limit, and time and
    memory grow with the square of the text's length: 1,000 tokens have 499,500 pairs.
    """
    family = "rougeSU" if name.startswith("rougeSU") else "rougeS"
    gap = name.removeprefix(family) or "2"
    tokenizer = text_tokenizer(options)

    def units(text: str) -> Counter[tuple[str, ...]]:
        return skip_bigrams(tokenizer.tokenize(text), None if gap == "*" else int(gap), family == "rougeSU")

    def score_pair(text: str, reference: str) -> Score:
        return clipped_overlap(units(text), units(reference))

    return pair_metric(f"{family}{gap}", f"{tokenizer.signature}|like:ROUGE-1.5.5", score_pair, options.references)


def skip_bigrams(tokens: list[str], gap: int | None, unigrams: bool = False) -> Counter[tuple[str, ...]]:
    """Count each pair of `tokens` with at most `gap` others between the two.

    With `unigrams`, each token except the last is counted, too.
    """
    farthest = len(tokens) - 1 if gap is None else min(gap + 1, len(tokens) - 1)
    counts: Counter[tuple[str, ...]] = Counter()
    for distance in range(1, farthest + 1):
        counts.update(zip(tokens, tokens[distance:], strict=False))
    if unigrams:
        counts.update((token,) for token in tokens[:-1])
    return counts


def make_common_substring(name: str, options: Options) -> RowMetric:
    """Make the metric of the longest common run of tokens.

    Precision is the length of the run over that of the prediction, and recall is its length over that of the reference.
    """
    tokenizer = text_tokenizer(options)

    def score_pair(text: str, reference: str) -> Score:
        predicted, expected = tokenizer.tokenize(text), tokenizer.tokenize(reference)
        run = difflib.SequenceMatcher(None, predicted, expected, autojunk=False).find_longest_match()
        return overlap(run.size, len(predicted), len(expected))

    return pair_metric(name, tokenizer.signature, score_pair, options.references)


def make_dialogsum(name: str, options: Options) -> RowMetric:
    """Make the sum of the F1 of ROUGE-1, ROUGE-2 and ROUGE-L, in [0, 3]. Each uses the reference that is best for it.

    `options.references` is ignored, since the score itself says how several references count.
    """
    rouges = [make_rouge(variant, replace(options, references="best")) for variant in VARIANTS]
    f1 = PRECISION_RECALL_F1.index("f1")

    def measure(rows: Sequence[Row]) -> list[float]:
        values: list[float] = np.sum([metric.statistics(rows)[:, f1] for metric in rouges], axis=0).tolist()
        return values

    options_text = rouges[0].signature.removeprefix(f"{rouges[0].name}|")
    return RowMetric(name, f"dialogsum|sum of f1:{','.join(VARIANTS)}|{options_text}", measure)
