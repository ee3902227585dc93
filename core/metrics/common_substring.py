"""The contiguous reading of ROUGE-L: the longest run of tokens that both texts have in common.

ROUGE-L proper is the longest common *subsequence* (`core.metrics.rouge`), which may leave words out in between. Some
describe it as the longest common substring; that is another measure, never higher, under a name of its own.
"""

import numpy as np

from core.metrics.pairs import PairMetric, References, overlap
from core.text.tokenizers import EnglishTokenizer, Tokenizer
from core.types import Score

NAME = "rouge-lcsubstr"


def common_substring(tokenizer: Tokenizer | None = None, references: References = "best") -> PairMetric:
    """`rouge-lcsubstr`: precision is the length of the run over that of the prediction, recall over the reference's.

    Args:
        tokenizer: `rouge_score`'s without stemmer unless given.
        references: how several references count.
    """
    cut = tokenizer or EnglishTokenizer()

    def score_pair(text: str, reference: str) -> Score:
        predicted, expected = cut.tokenize(text), cut.tokenize(reference)
        return overlap(longest_run(predicted, expected), len(predicted), len(expected))

    return PairMetric(NAME, cut.signature, score_pair, references)


def longest_run(a: list[str], b: list[str]) -> int:
    """Length of the longest contiguous run of tokens that is in both `a` and `b`; 0 if they share none."""
    codes: dict[str, int] = {}
    codes_b = np.array([codes.setdefault(token, len(codes)) for token in b], dtype=np.int64)
    # ends[j]: length of the run that ends at the current token of `a` and at b[j - 1].
    ends = np.zeros(len(b) + 1, dtype=np.int64)
    longest = 0
    for token in a:
        ends[1:] = np.where(codes_b == codes.get(token, -1), ends[:-1] + 1, 0)
        longest = max(longest, int(ends.max()))
    return longest
