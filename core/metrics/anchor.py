"""BERTScore of many texts against a few fixed ones: the references, or an anchor taken from the article."""

from collections.abc import Sequence

from core.batching import equal_length_batches
from core.metrics.bertscore import EMPTY, BertScorer
from core.metrics.token_matching import TokenVectors
from core.types import Score


class AnchorScorer:
    """Scores texts against anchors, which are embedded once, and each text of the same anchors once.

    A score depends on the anchor and the text alone, to the last bit: texts go through the model together only if they
    have the same number of tokens. So a choice by score does not depend on what else is scored.

    Scores are remembered without bound, so give each bundle of articles a new one.
    """

    def __init__(self, scorer: BertScorer) -> None:
        self._scorer = scorer
        self._anchors: dict[str, TokenVectors | None] = {}
        self._known: dict[tuple[tuple[str, ...], str], Score] = {}

    def __call__(self, anchor: str, texts: Sequence[str]) -> list[float]:
        """The F1 of each text against the anchor; 0 where one of the two is empty."""
        return [score.f1 for score in self.scores((anchor,), texts)]

    def scores(self, anchors: tuple[str, ...], texts: Sequence[str]) -> list[Score]:
        """Each text against the anchor with which its F1 is highest; 0 where the text or every anchor is empty."""
        new = [text for text in dict.fromkeys(texts) if (anchors, text) not in self._known]
        self._known |= zip(((anchors, text) for text in new), self._scores(anchors, new), strict=True)
        return [self._known[anchors, text] for text in texts]

    def _scores(self, anchors: Sequence[str], texts: Sequence[str]) -> list[Score]:
        for anchor in anchors:
            if anchor not in self._anchors:
                (self._anchors[anchor],) = self._scorer.embed([anchor.strip()], equal_length_batches)
        references = [vectors for anchor in anchors if (vectors := self._anchors[anchor]) is not None]
        embedded = self._scorer.embed([text.strip() for text in texts], equal_length_batches)
        candidates = [vectors for vectors in embedded if vectors is not None]
        if not references or not candidates:
            return [EMPTY] * len(texts)
        columns = [self._scorer.match(candidates, reference) for reference in references]
        best = (max(scores, key=lambda score: score.f1) for scores in zip(*columns, strict=True))
        return [EMPTY if vectors is None else next(best) for vectors in embedded]
