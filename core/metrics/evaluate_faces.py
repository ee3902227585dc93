"""The metrics of the registry as metrics of Hugging Face's `evaluate`, without its hub."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from nws.core.metrics.config import Options, text_tokenizer
from nws.core.metrics.metric import Row
from nws.core.metrics.registry import NEED_SOURCE, make_metric
from nws.core.text.language import check_language


class Face(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
    """One metric of the registry, with the interface of `evaluate`: `compute`, `add`, `add_batch`, `combine`.

    `compute(predictions=…, references=…)` takes a text or a list of texts as each reference (the same kind for all),
    and for density and coverage also `sources`. It gives the registry's numbers: `{"bleu": …}`, or with several parts
    `{"rouge1_precision": …, "rouge1_recall": …, "rouge1_f1": …}`.

    Raises:
        LanguageError: (by `compute`) the tokenizer would delete a text.
    """

    def __init__(self, name: str, options: Options | None = None) -> None:
        self._options = options or Options()
        self._metric = make_metric(name, self._options)
        self._registry_name = name
        # In memory, so that nothing is written to a cache folder that another process may use.
        super().__init__(keep_in_memory=True)

    @property
    def name(self) -> str:
        """The name in the registry, by which `evaluate.combine` tells metrics apart."""
        return self._registry_name

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        return self._metric.signature

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        sources = {"sources": text} if self._registry_name in NEED_SOURCE else {}
        return evaluate.MetricInfo(
            description=f"{self._registry_name}: {self._metric.signature}",
            citation="",
            inputs_description="predictions, references" + (", sources" if sources else ""),
            features=[
                datasets.Features({"predictions": text, "references": references, **sources})
                for references in (text, datasets.Sequence(text))
            ],
        )

    def _compute(
        self,
        *,
        predictions: Sequence[str],
        references: Sequence[str | Sequence[str]],
        sources: Sequence[str] | None = None,
    ) -> dict[str, float]:
        every_source = [None] * len(predictions) if sources is None else sources
        rows = [
            Row(prediction, (reference,) if isinstance(reference, str) else tuple(reference), source)
            for prediction, reference, source in zip(predictions, references, every_source, strict=True)
        ]
        tokenizer = text_tokenizer(self._options)
        for row in rows:
            check_language((row.prediction, *row.references), tokenizer)
        score = self._metric.score(self._metric.statistics(rows))
        parts = self._metric.parts
        if len(parts) == 1:
            return {self._registry_name: float(score[0])}
        return {f"{self._registry_name}_{part}": float(value) for part, value in zip(parts, score, strict=True)}


def combine(names: Sequence[str], options: Options | None = None) -> Any:
    """Combine several metrics of the registry by `evaluate.combine`."""
    return evaluate.combine([Face(name, options) for name in names])
