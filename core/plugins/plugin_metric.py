"""Metrics that are not built in: functions of a summary and its references, from a plugin or a caller.

The higher its value, the better the summary. A function that declares one of `ASKED` as a parameter without a default
gets it, too.
"""

import inspect
import math
import numbers
import re
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from core.errors import PluginError
from core.metrics.metric import FloatArray, MeanOverRows, Row
from core.metrics.registry import is_metric
from core.metrics.specs import BY_COLUMN, SPECS
from core.plugins.load import Judge, Plugin, blaming, definition, plugin_of_session
from core.types import Summary

ASKED = ("article", "n", "language", "key")
"""What a function may ask for beside the summary and its references: fields of `Judged`."""
METRIC_OF_PLUGIN = "plugin:"
"""What follows the name in the signature of a plugin's metric, and of no other."""
# A column of tables and files, and a name in SQL.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
# What else is a column where summaries are rows, or a signature of a run.
_TAKEN = frozenset(
    ("run_id", "dataset", "split", "key", "kind", "article", "references", "reused_from", "rouge", "reward")
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A summary, its references, and what else a metric may ask for.

    Attributes:
        subject: what it is a summary of, as errors call it.
        article: the text that it summarises. This, like all that follows, is None where it is not known.
        n: how many words were asked for; 0 of a summary that was not cut.
        language: of all texts, `en` or `ko`.
        key: of the article in its dataset.
    """

    summary: str
    references: Sequence[str]
    subject: str
    article: str | None = None
    n: int | None = None
    language: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class PluginMetric(MeanOverRows):
    """A metric of a plugin, as a `core.metrics.metric.Metric`. In a run, an error there is a failure of that article.

    Attributes:
        asks: those of `ASKED` that its function declares.
    """

    name: str
    plugin: Plugin
    asks: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """Its name and the hash of its code: another source is another metric."""
        version = f"|version:{self.plugin.version.replace(' ', '-')}" if self.plugin.version else ""
        return f"{self.name}|{METRIC_OF_PLUGIN}{self.plugin.name}|sha256:{self.plugin.sha256[:12]}{version}"

    def judge(self, judged: Judged) -> float:
        """The value of a summary.

        Raises:
            PluginError: the function raised, returned no finite number, or asks for what is not known; names the
                metric, the subject and the line.
        """
        judge = self.plugin.metrics()[self.name]
        failed = f"{self.name} of {self.plugin.owner(judge)} failed on {judged.subject}"
        asked = {name: getattr(judged, name) for name in self.asks}
        unknown = [name for name, value in asked.items() if value is None]
        if unknown:
            raise PluginError(
                f"{failed}: it asks for {' and '.join(unknown)}, which {judged.subject} does not have (the article is "
                "the `source` of a row)."
            )
        with blaming(failed, self.plugin.file(judge), judge):
            value: Any = judge(judged.summary, list(judged.references), **asked)
            if not isinstance(value, numbers.Real) or not math.isfinite(value):
                returned = reprlib.repr(value)
                raise PluginError(f"{failed}: it returned {returned}, not a finite number{definition(judge)}")
            return float(value)

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """The value of each row, (rows, 1). Of what can be asked for, a row has the article at most: its source.

        Raises:
            PluginError: see `judge`; a row is named by its number from 1.
        """
        values = [
            self.judge(Judged(row.prediction, row.references, f"row {i}", article=row.source))
            for i, row in enumerate(rows, 1)
        ]
        return np.array(values, dtype=np.float64).reshape(len(rows), 1)


def plugin_metrics(plugin: Plugin) -> tuple[PluginMetric, ...]:
    """Every metric of a plugin.

    Raises:
        PluginError: the plugin cannot be imported, or a metric is none, or has a name that none can have.
    """
    metrics = []
    for name, judge in plugin.metrics().items():
        _require_name(name, plugin.name)
        if inspect.isclass(judge) or not callable(judge):
            raise PluginError(
                f"{name} of {plugin.name} is no metric: give a function of a summary and its references, "
                "def f(summary, references), which returns a number: the higher, the better."
            )
        metrics.append(PluginMetric(name, plugin, _asks(judge)))
    return tuple(metrics)


def function_metric(function: Judge, name: str | None = None) -> PluginMetric:
    """A function as a metric, for `nws.score`; it has the function's own name unless one is given.

    Raises:
        PluginError: it has a name that no metric can have.
    """
    name = name or str(getattr(function, "__name__", type(function).__name__))
    (metric,) = plugin_metrics(plugin_of_session({}, {name: function}))
    return metric


def _asks(judge: Judge) -> tuple[str, ...]:
    """Those of `ASKED` that a function must be given. A parameter with a default is the function's own."""
    try:
        parameters = [*inspect.signature(judge).parameters.values()][len(("summary", "references")) :]
    except (TypeError, ValueError):  # C code need not tell
        parameters = []
    return tuple(
        parameter.name for parameter in parameters if parameter.name in ASKED and parameter.default is parameter.empty
    )


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
    columns = {*(field.name for field in fields(Summary)), *BY_COLUMN, *(spec.name for spec in SPECS)}
    if name in _TAKEN | columns or is_metric(name):
        raise PluginError(f"The metric {name!r} of {owner} has the name of another metric or column: rename it.")
