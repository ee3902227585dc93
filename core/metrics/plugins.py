"""Metrics that are not built in: functions of a summary and its references, from a plugin (`core.plugins`) or a caller.

The higher its value, the better the summary.
"""

import functools
import hashlib
import inspect
import math
import numbers
import re
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from core.errors import PluginError
from core.metrics.metric import FloatArray, Row, mean_score
from core.metrics.specs import BY_COLUMN, SPECS
from core.plugins import (
    METRIC_OF_PLUGIN,
    Judge,
    Plugin,
    blaming,
    definition,
    file_of,
    in_brackets,
    owner,
    require_signature,
)
from core.types import Article, Summary

# A column of tables and files, and a name in SQL.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
# What else is a column where summaries are rows, or a signature of a run.
_TAKEN = frozenset(
    ("run_id", "dataset", "split", "key", "kind", "article", "references", "reused_from", "rouge", "reward")
)


@dataclass(frozen=True, slots=True)
class PluginMetric:
    """A metric of a plugin. Its values are checked; an error there is a failure of that article."""

    name: str
    plugin: Plugin

    @property
    def signature(self) -> str:
        """Its name and the hash of its code: another source is another metric."""
        version = f"|version:{self.plugin.version.replace(' ', '-')}" if self.plugin.version else ""
        return f"{self.name}|{METRIC_OF_PLUGIN}{self.plugin.name}|sha256:{self.plugin.sha256[:12]}{version}"

    def score(self, article: Article, summary: str) -> float:
        """The value of a summary.

        Raises:
            PluginError: it raised, or returned no finite number; names the metric, the article and the line.
        """
        return self.judge(summary, article.references, f"article {article.key!r}")

    def judge(self, summary: str, references: Sequence[str], subject: str) -> float:
        """As `score`, of a summary of `subject`: errors name it so."""
        judge = self.plugin.metrics()[self.name]
        file = file_of(judge) if self.plugin.source is None else self.plugin.name
        failed = f"{self.name} of {owner(self.plugin, judge)} failed on {subject}"
        return _judged(judge, summary, references, failed, file)


@dataclass(frozen=True, slots=True)
class RowMetric:
    """A metric from outside as a `core.metrics.metric.Metric`: over rows the mean of its values."""

    mean_over_rows: ClassVar[bool] = True

    name: str
    signature: str
    # From a summary, its references and what errors call the row to a finite number.
    judge: Callable[[str, Sequence[str], str], float]

    @property
    def parts(self) -> tuple[str, ...]:
        """One value."""
        return ("score",)

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """The value of each row, (rows, 1).

        Raises:
            PluginError: it raised, or returned no finite number, for a row, which is named by its number from 1.
        """
        values = [self.judge(row.prediction, row.references, f"row {i}") for i, row in enumerate(rows, 1)]
        return np.array(values, dtype=np.float64).reshape(len(rows), 1)

    def score(self, statistics: FloatArray) -> FloatArray:
        """Mean over rows."""
        return mean_score(statistics)


def plugin_metrics(plugin: Plugin) -> tuple[PluginMetric, ...]:
    """Every metric of a plugin.

    Raises:
        PluginError: the plugin cannot be imported, or a metric cannot be called with a summary and its references,
            or has a name that none can have.
    """
    for name, judge in plugin.metrics().items():
        _require_name(name, plugin.name)
        with blaming(f"{name} of {plugin.name} cannot be looked at", plugin.name):
            if inspect.isclass(judge) or not callable(judge):
                raise PluginError(
                    f"{name} of {plugin.name} is no metric: give a function of a summary and its references, "
                    "def f(summary, references), which returns a number: the higher, the better."
                )
            _require_signature(judge, f"{name} of {owner(plugin, judge)}")
    return tuple(PluginMetric(name, plugin) for name in plugin.metrics())


def row_metric(metric: PluginMetric | Judge) -> RowMetric:
    """A metric of a plugin, or a function, for `nws score`.

    The signature of a function has the SHA-256 of its source if Python can find the source. It cannot for a function
    that was typed into a plain Python prompt.

    Raises:
        PluginError: the function has a name that no metric can have, or does not take a summary and its references.
    """
    if isinstance(metric, PluginMetric):
        return RowMetric(metric.name, metric.signature, metric.judge)
    name = getattr(metric, "__name__", type(metric).__name__)
    _require_name(name, "this session")
    _require_signature(metric, f"{name} of this session")
    try:
        sha256 = hashlib.sha256(inspect.getsource(metric).encode()).hexdigest()[:12]
    except (OSError, TypeError):
        sha256 = "unknown"
    return RowMetric(name, f"{name}|function|sha256:{sha256}", functools.partial(_call_judge, metric, name))


def _call_judge(judge: Judge, name: str, summary: str, references: Sequence[str], subject: str) -> float:
    return _judged(judge, summary, references, f"{name} failed on {subject}", file_of(judge))


def _require_signature(judge: Judge, named: str) -> None:
    require_signature(judge, ("", []), named, "a summary and its references", "def f(summary, references)")


def _judged(judge: Judge, summary: str, references: Sequence[str], failed: str, file: str) -> float:
    """What `judge` returns, if that is a finite number.

    Raises:
        PluginError: it is not, or `judge` raised; it begins with `failed`.
    """
    with blaming(failed, file, judge):
        value: Any = judge(summary, list(references))
        if not isinstance(value, numbers.Real) or not math.isfinite(value):
            returned = reprlib.repr(value)
            raise PluginError(f"{failed}: it returned {returned}, not a finite number{in_brackets(definition(judge))}")
        return float(value)


def _require_name(name: str, owner: str) -> None:
    """Refuse a name that is no column or has another meaning.

    Raises:
        PluginError: no metric from outside can have it.
    """
    if not _NAME.fullmatch(name):
        raise PluginError(
            f"The metric {name!r} of {owner} cannot have this name. A name has only letters A to Z, digits and _, "
            "begins with a letter, and is at most 61 characters long."
        )
    from core.metrics.registry import is_metric  # and with it the libraries of the others

    if name in _TAKEN | _columns() or is_metric(name):
        raise PluginError(f"The metric {name!r} of {owner} has the name of another metric or column: rename it.")


def _columns() -> set[str]:
    """Those of a stored summary."""
    return {*(field.name for field in fields(Summary)), *BY_COLUMN, *(spec.name for spec in SPECS)}
