"""The stored metrics, with which every summary is scored, and what other modules need to know about each of them.

The scorer (`nws.core.metrics.standard`), the tables of the store, the analysis, reports and their page, comparisons and
the options of commands read these specs. `nws.score` knows further metrics, which are not stored
(`nws.core.metrics.registry`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from nws.core.types import Score

# The name of a score: a column of a `MetricSpec`, or a metric from outside.
Metric: TypeAlias = str


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """A stored metric. A higher value is always better, since every verdict of the analysis is about a gain.

    Attributes:
        name: the name of its column, or the beginning of the names of its columns.
        label: its name in tables, plots and sentences.
        signatures: the keys of a run's signatures that together say how it was computed.
        has_parts: whether it has precision, recall and F1, in a column each. Its score is then the F1, and the views
            have the standard deviation of the F1, too.
        part_means: whether the views have the means of its precision and recall, too.
        decimals: the number of decimals that are printed.
        short: its name where there is little room; the label if not given.
        is_quality: whether tables about trained policies show it beside the metric that they are about.
        explained: the explanation below such a table.
    """

    name: str
    label: str
    signatures: tuple[str, ...]
    has_parts: bool = False
    part_means: bool = False
    decimals: int = 3
    short: str = ""
    is_quality: bool = True
    explained: str = ""

    @property
    def columns(self) -> Mapping[str, str]:
        """Its columns in the table `summaries`, in order, each with its name for people."""
        if not self.has_parts:
            return {self.name: self.label}
        parts = {"precision": "precision", "recall": "recall", "f1": "F1"}
        return {f"{self.name}_{part}": f"{self.label} {called}" for part, called in parts.items()}

    @property
    def column(self) -> str:
        """The column of the score."""
        return list(self.columns)[-1]

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns of precision and recall; empty without parts."""
        return tuple(self.columns)[:-1]

    @property
    def averages(self) -> tuple[str, ...]:
        """What the store has about a system at n once a run has ended: means, and the squared deviations of an F1."""
        parts = [f"{part}_mean" for part in self.parts if self.part_means]
        return (f"{self.column}_mean", *[f"{self.column}_ss"] * self.has_parts, *parts)


SPECS: tuple[MetricSpec, ...] = (
    # The metric that the tables about policies are usually about.
    MetricSpec("bertscore", "BERTScore", ("bertscore",), has_parts=True, part_means=True, is_quality=False),
    MetricSpec("rouge1", "ROUGE-1", ("rouge",), has_parts=True),
    MetricSpec("rouge2", "ROUGE-2", ("rouge",), has_parts=True),
    MetricSpec("rougel", "ROUGE-L", ("rouge",), has_parts=True),
    # A tenth of F1, or less, so it has a decimal more.
    MetricSpec("efficiency", "BERTScore F1 per word", ("efficiency", "bertscore"), decimals=4, short="F1 per word"),
    MetricSpec("density", "density", ("density",), explained="distinct words found in the article, over all words"),
    MetricSpec("coverage", "coverage", ("coverage",), is_quality=False),  # 1 for every extract
)
"""The metrics that every summary has, in the order of their columns."""

KEPT_SPEC = MetricSpec("kept", "content kept", ("kept", "bertscore"), short="kept")
KEPT_WORDS = MetricSpec("kept_words", "content words kept", ("kept_words", "rouge"))
OF_OTHERS: tuple[MetricSpec, ...] = (KEPT_SPEC, KEPT_WORDS)
"""The metrics that also compare a summary with references of other articles (`nws.core.metrics.kept`).

A summary lacks them if there are no other articles.
"""

BY_MODEL = ("fluency", "faithfulness")
"""The metrics that a run has if its recipe names their model (`nws.core.metrics.model_metric`).

They are stored like the metrics of plugins.
"""
METRIC_OF_PLUGIN = "plugin:"
"""The text after the name in the signature of a plugin's metric. No other signature has it."""
BY_COLUMN: Mapping[str, MetricSpec] = {column: spec for spec in (*SPECS, *OF_OTHERS) for column in spec.columns}
METRICS: tuple[str, ...] = tuple(spec.column for spec in SPECS)
"""The scores that every summary has."""
OPTIONAL: tuple[str, ...] = tuple(spec.column for spec in OF_OTHERS)
"""The scores that a summary may lack."""
DEFAULT_METRIC = "bertscore_f1"
"""The metric of tables and comparisons, beside content kept, unless another one is asked for."""
F1S: tuple[str, ...] = tuple(spec.column for spec in SPECS if spec.has_parts)
PARTS: tuple[str, ...] = tuple(part for spec in SPECS for part in spec.parts)
"""The precisions and recalls. Every summary has them, but they are read only if somebody asks for one."""
CHOICES = (
    f"{', '.join(F1S)}, the same with _precision or _recall in place of _f1, "
    f"{', '.join(metric for metric in METRICS if metric not in F1S)}, or a plugin's"
)
"""The metrics that a report or a comparison can be about, for the help of commands."""


def as_columns(scores: Mapping[str, Score | float]) -> dict[str, float]:
    """Return the scores of one summary by column. `scores` has a score for the name of each spec.

    Raises:
        KeyError: a spec has no score.
    """
    columns: dict[str, float] = {}
    for name, names in _COLUMNS.items():
        score = scores[name]
        values = score.values if isinstance(score, Score) else (score,)
        columns |= zip(names, values, strict=True)
    return columns


_COLUMNS = {spec.name: tuple(spec.columns) for spec in SPECS}  # looked up once: every summary has scores
