"""Content kept as metrics among the others: the floor of each row is drawn from references of other documents.

What content kept is: `core.metrics.content_kept`.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from core.errors import CorpusError
from core.metrics.config import Options, text_tokenizer
from core.metrics.content_kept import WordsKept, kept
from core.metrics.metric import FloatArray, MeanOverRows, Metric, Row
from core.metrics.panel import KEPT_SIGNATURE, Panel, draw_panel, others
from core.metrics.specs import KEPT, KEPT_WORDS
from core.text.tokenizers import Tokenizer
from core.types import Article

if TYPE_CHECKING:  # PyTorch takes seconds, which content words need not wait for
    from core.metrics.bertscore_metric import BertScore

_FILE = "file"
# Rows whose token vectors are held at a time.
_ROWS_AT_ONCE = 256


def make_kept(name: str, options: Options) -> Metric:
    """See `core.metrics.registry`. As in a run, BERTScore is of one pair at a time and without idf weights.

    Raises:
        RecipeError, ModelError: as of BERTScore.
    """
    from core.metrics.bertscore_metric import pairwise

    return Kept(pairwise(options))


def make_kept_words(name: str, options: Options) -> Metric:
    """As `make_kept`, without a model."""
    return KeptWords(text_tokenizer(options))


class Kept(MeanOverRows):
    """Content kept by BERTScore's recall."""

    name: ClassVar[str] = KEPT.name

    def __init__(self, bertscore: "BertScore") -> None:
        self._bertscore = bertscore

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        return f"{self.name}|{KEPT_SIGNATURE}|R:recall of {self._bertscore.signature}"

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """(rows, 1). They depend on all rows.

        Raises:
            CorpusError: a row has no others.
            ModelError: the backbone cannot be loaded, or has fewer layers.
        """
        from core.metrics.content_kept import ContentKept

        articles, panel = with_others(rows)
        scorer = self._bertscore.scorer
        measure = ContentKept((panel,), scorer, lambda text: frozenset())
        values: list[float] = []
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            batch = articles[start : start + _ROWS_AT_ONCE]
            against = measure.against(batch)
            crossed = [((row.prediction,), against[article]) for row, article in zip(rows[start:], batch, strict=False)]
            values += [kept(recalls[0].tolist()) for recalls in scorer.recalls(crossed)]
        return np.array(values, dtype=np.float64)[:, None]


class KeptWords(MeanOverRows):
    """Content kept by the recall of words, each weighed by its idf in the references of all rows."""

    name: ClassVar[str] = KEPT_WORDS.name

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        return f"{self.name}|{KEPT_SIGNATURE}|R:recall of distinct tokens by idf|{self._tokenizer.signature}"

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """(rows, 1). They depend on all rows.

        Raises:
            CorpusError: a row has no others.
        """
        articles, panel = with_others(rows)
        measure = WordsKept((panel,), functools.lru_cache(maxsize=4_096)(self._tokens))
        values = [measure.words(article, row.prediction) for row, article in zip(rows, articles, strict=True)]
        return np.array(values, dtype=np.float64)[:, None]

    def _tokens(self, text: str) -> frozenset[str]:
        return frozenset(self._tokenizer.tokenize(text))


def with_others(rows: Sequence[Row]) -> tuple[list[Article], Panel]:
    """The document of each row, and the panel of those that others are drawn from.

    Rows with the same source are of one document; without sources, those with the same references.

    Raises:
        CorpusError: a row has no others: the rows are of one document, or have one reference.
    """
    articles = [Article(_FILE, "", "", row.source or "\n".join(row.references), row.references) for row in rows]
    # Of rows that have other references of one document, the panel has one, whatever the order of rows.
    by_text = {article.text: article for article in sorted(set(articles), key=_references, reverse=True)}
    panel = draw_panel(_FILE, by_text.values())
    for article in dict.fromkeys(articles):
        if not others(article, panel):
            raise CorpusError(
                f"Content kept is measured against references of other documents, and {article.references[0][:60]!r} "
                "has none beside it: score rows of two documents or more, or leave out kept and kept_words.",
                settings=("metrics",),
            )
    return articles, panel


def _references(article: Article) -> tuple[str, ...]:
    return article.references
