"""`nws correlate`: how well metrics agree with human scores, and which of them does so best."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.analysis.coefficients import COEFFICIENTS
from core.analysis.correlation import LEVELS, Correlation, correlations, resampled_correlations
from core.analysis.perm_systems import COUNTED, MOST, Difference, differences
from core.errors import RecipeError
from jobs.evaluate.correlate_file import ScoreTable, read_scores

CONFIDENCE = 0.95
RESAMPLES = 1_000
SIGNATURE = "|".join(
    (
        "correlation",
        "system:of-means-over-documents",
        "summary:mean-over-documents",
        "kendall:tau-b",
        f"interval:boot-both-percentile-{CONFIDENCE}",
        f"resamples:{RESAMPLES}",
        f"test:perm-systems-two-sided-all-up-to-{COUNTED}-systems-else-at-most-{MOST}",
    )
)


@dataclass(frozen=True, slots=True)
class FileCorrelation:
    """The correlations of the metrics of a file with its human scores, and the differences between metrics."""

    human: str
    table: ScoreTable
    correlations: tuple[Correlation, ...]
    differences: tuple[Difference, ...]
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """What `nws correlate --json` prints."""
        return {
            "human": self.human,
            "systems": len(self.table.systems),
            "documents": len(self.table.documents),
            "documents_lacking_systems": {name: list(systems) for name, systems in self.table.lacking.items()},
            "metrics": _by_metric(self.correlations),
            "differences": [asdict(one) | {"significant": one.significant} for one in self.differences],
            "holm_family": "all pairs of metrics at one level, for one coefficient",
            "signature": SIGNATURE,
            "seed": self.seed,
        }


def correlate_file(path: Path, metrics: Sequence[str], human: str, seed: int) -> FileCorrelation:
    """Correlate columns of a JSONL, CSV or Parquet file with its column of human scores.

    Raises:
        RecipeError: no metric is named, or a column twice.
        CorpusError: a row is malformed or there twice (named by its line), or there are too few systems or documents.
    """
    if not metrics:
        raise RecipeError("--metrics names no column.")
    table = read_scores(path, [*metrics, human])
    gold = table.scores[human]
    scores = {name: table.scores[name] for name in metrics}
    resampled = resampled_correlations(scores, gold, seed=seed, resamples=RESAMPLES)
    return FileCorrelation(
        human,
        table,
        correlations(scores, gold, resampled, confidence=CONFIDENCE),
        differences(scores, gold, resampled, seed=seed, confidence=CONFIDENCE),
        seed,
    )


def _by_metric(correlations: Sequence[Correlation]) -> dict[str, Any]:
    """Metric, level, coefficient: the value, its interval, and what they are made of."""
    nested: dict[str, Any] = {
        correlation.metric: {level: dict.fromkeys(COEFFICIENTS) for level in LEVELS} for correlation in correlations
    }
    for correlation in correlations:
        nested[correlation.metric][correlation.level][correlation.coefficient] = {
            "value": correlation.value,
            "interval": None if correlation.value is None else [correlation.low, correlation.high],
            "documents_left_out": correlation.documents_left_out,
            "resamples": correlation.resamples,
        }
    return nested
