"""BERTScore F1 against an anchor: a text of the article that stands where a system may not see the reference."""

from collections.abc import Sequence

from core.batching import equal_length_batches
from core.metrics.bertscore import BertScorer
from core.metrics.token_matching import TokenVectors


class AnchorScorer:
    """Scores texts against anchors, each anchor and each text of an anchor once.

    A score depends on the anchor and the text alone, to the last bit: only texts of as many tokens go through the model
    together. What is chosen by it does not depend on what else is scored.

    Scores are remembered without bound, so give each bundle of articles a new one.
    """

    def __init__(self, scorer: BertScorer) -> None:
        self._scorer = scorer
        self._anchors: dict[str, TokenVectors | None] = {}
        self._known: dict[tuple[str, str], float] = {}

    def __call__(self, anchor: str, texts: Sequence[str]) -> list[float]:
        """The F1 of each text against the anchor; 0 where one of the two is empty."""
        new = [text for text in dict.fromkeys(texts) if (anchor, text) not in self._known]
        self._known |= zip(((anchor, text) for text in new), self._f1(anchor, new), strict=True)
        return [self._known[anchor, text] for text in texts]

    def _f1(self, anchor: str, texts: Sequence[str]) -> list[float]:
        if anchor not in self._anchors:
            (self._anchors[anchor],) = self._scorer.embed([anchor.strip()], equal_length_batches)
        reference = self._anchors[anchor]
        found = self._scorer.embed([text.strip() for text in texts], equal_length_batches)
        candidates = [vectors for vectors in found if vectors is not None]
        if reference is None or not candidates:
            return [0.0] * len(texts)
        scores = iter(self._scorer.match(candidates, reference))
        return [0.0 if vectors is None else next(scores).f1 for vectors in found]
