"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries")."""

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass

from rouge_score.rouge_scorer import RougeScorer

from core.types import Score

VARIANTS = ("rouge1", "rouge2", "rougeL")


@dataclass(frozen=True, slots=True)
class RougeConfig:
    """Which ROUGE: with or without Porter's stemmer."""

    stemmer: bool = False

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        return "|".join(
            (
                "rouge",
                f"stem:{'porter' if self.stemmer else 'no'}",
                "tok:rouge_score",
                "refs:best-f1",
                f"version:rouge_score-{importlib.metadata.version('rouge_score')}",
            )
        )


class Rouge:
    """Scores candidates with `rouge_score`."""

    def __init__(self, config: RougeConfig) -> None:
        self._scorer = RougeScorer(list(VARIANTS), use_stemmer=config.stemmer)

    def score(self, candidate: str, references: Sequence[str]) -> dict[str, Score]:
        """Precision, recall and F1 of each of `VARIANTS`, each against the reference with the highest F1."""
        if not references:
            return dict.fromkeys(VARIANTS, Score(0.0, 0.0, 0.0))
        found = self._scorer.score_multi(list(references), candidate)
        return {name: Score(float(s.precision), float(s.recall), float(s.fmeasure)) for name, s in found.items()}
