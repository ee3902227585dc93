"""chrF and chrF++ (Popović 2015, 2017), computed by the library `sacrebleu`."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from core.metrics.metric import FloatArray, Row

CHRF_PLUS_PLUS_WORDS = 2


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
