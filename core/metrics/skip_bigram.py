"""ROUGE-S and ROUGE-SU: pairs of words in their order, with other words between them (Lin 2004, section 5).

As the script ROUGE-1.5.5 counts (options `-2 GAP` and `-2 GAP -u`), from tokens of any kind:

* A skip bigram is two tokens with at most `gap` tokens between them; `gap` 0 is ROUGE-2. The text is one sequence:
  pairs cross the ends of sentences. Each pair counts at most as often as it is on both sides.
* ROUGE-SU counts single tokens too. The paper gets them from a begin-of-sentence marker; the script has no marker and
  counts every token except the last as a unigram, beside the pairs.
* So a text of one token has neither pairs nor unigrams: it scores 0, even against itself.
"""

from collections import Counter

from core.errors import RecipeError
from core.metrics.pairs import PairMetric, References, clipped_overlap
from core.text.tokenizers import EnglishTokenizer, Tokenizer

DEFAULT_GAP = 2


def skip_bigram(
    gap: int | None = DEFAULT_GAP,
    unigrams: bool = False,
    tokenizer: Tokenizer | None = None,
    references: References = "best",
) -> PairMetric:
    """ROUGE-S, named as ROUGE-1.5.5 does: `rougeS2`, `rougeS4`, `rougeS*` (any gap), `rougeSU2`, ….

    Args:
        gap: most tokens between the two of a pair; None for any number. Time and memory grow with the square of the
            text then: 1,000 tokens have 499,500 pairs.
        unigrams: ROUGE-SU.
        tokenizer: `rouge_score`'s without stemmer unless given.
        references: how several references count.

    Raises:
        RecipeError: a negative gap.
    """
    if gap is not None and gap < 0:
        raise RecipeError(f"The gap of ROUGE-S cannot be {gap}: give 0 or more, or none for any number of words.")
    cut = (tokenizer or EnglishTokenizer()).tokenize

    def units(text: str) -> Counter[tuple[str, ...]]:
        return skip_bigrams(cut(text), gap, unigrams)

    return PairMetric(
        name=f"rougeS{'U' if unigrams else ''}{'*' if gap is None else gap}",
        options=f"{(tokenizer or EnglishTokenizer()).signature}|like:ROUGE-1.5.5",
        score_pair=lambda text, reference: clipped_overlap(units(text), units(reference)),
        references=references,
    )


def skip_bigrams(tokens: list[str], gap: int | None, unigrams: bool = False) -> Counter[tuple[str, ...]]:
    """How often each pair of `tokens` occurs with at most `gap` others between, and each token before the last."""
    farthest = len(tokens) - 1 if gap is None else min(gap + 1, len(tokens) - 1)
    counts: Counter[tuple[str, ...]] = Counter()
    for distance in range(1, farthest + 1):
        counts.update(zip(tokens, tokens[distance:], strict=False))
    if unigrams:
        counts.update((token,) for token in tokens[:-1])
    return counts
