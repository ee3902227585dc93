"""Systems and metrics of plugins or of a caller, whose output is checked.

A metric is a function of a summary and its references. The higher its value, the better the summary. A function that
declares one of `EXTRA_ARGUMENTS` as a parameter without a default also gets that value.
"""

import inspect
import math
import numbers
import re
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

import numpy as np

from nws.core.errors import PluginError, SegmentationError
from nws.core.metrics.metric import FloatArray, MeanOverRows, Row
from nws.core.metrics.registry import is_metric
from nws.core.metrics.specs import BY_COLUMN, METRIC_OF_PLUGIN, SPECS
from nws.core.plugins.load import Judge, Plugin, Write, blaming, definition, plugin_of_session
from nws.core.systems.system import Document, Draft, System, require_name
from nws.core.text.length import UNCUT, LengthUnit, length_of, require_summary_length
from nws.core.text.rows import cleaned
from nws.core.types import CHOSEN_SCORES, Summary, SystemKind

EXTRA_ARGUMENTS = ("article", "n", "language", "key")
"""The values that a function may get besides the summary and its references.

They are the text of the article, the number of words that was asked for (0 for an uncut summary), the language of all
texts (`en` or `ko`), and the key of the article in its dataset.
"""
# Names are columns of tables and files, and are used in SQL.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
# Further columns of rows of summaries, and further signatures of a run.
_TAKEN_NAMES = frozenset(
    ("run_id", "dataset", "split", "key", "kind", "article", "references", "reused_from", "rouge", "reward")
)


@dataclass(frozen=True, slots=True)
class PluginMetric(MeanOverRows):
    """A metric of a plugin, as a `nws.core.metrics.metric.Metric`. An error in it is a failure of the article.

    Attributes:
        name: the name of the metric.
        plugin: the plugin.
        extra_arguments: the `EXTRA_ARGUMENTS` that its function declares.
    """

    name: str
    plugin: Plugin
    extra_arguments: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """The signature: its name and the hash of its code, since another source is another metric."""
        return f"{self.name}|{METRIC_OF_PLUGIN}{self.plugin.name}|sha256:{self.plugin.sha256[:12]}"

    def judge(self, summary: str, references: Sequence[str], subject: str, **known: str | int | None) -> float:
        """Return the value of a summary.

        Args:
            summary: the text of the summary.
            references: the references of its article.
            subject: the name of the article or row in errors.
            known: the `EXTRA_ARGUMENTS` that are known, by name.

        Raises:
            PluginError: the function raised an error, did not return a finite number, or needs a value that is not
                known. The error names the metric, the subject and the line.
        """
        judge = self.plugin.metrics()[self.name]
        failed = f"{self.name} of {self.plugin.owner(judge)} failed on {subject}"
        if unknown := [name for name in self.extra_arguments if known.get(name) is None]:
            raise PluginError(
                f"{failed}: it needs {' and '.join(unknown)}, which {subject} does not have (the article is the "
                "`source` of a row)."
            )
        with blaming(failed, self.plugin.file(judge), judge):
            value: Any = judge(summary, list(references), **{name: known[name] for name in self.extra_arguments})
            if not isinstance(value, numbers.Real) or not math.isfinite(value):
                returned = reprlib.repr(value)
                raise PluginError(f"{failed}: it returned {returned}, not a finite number{definition(judge)}")
            return float(value)

    def statistics(self, rows: Sequence[Row]) -> FloatArray:
        """Return the value of each row, (rows, 1). Of the `EXTRA_ARGUMENTS`, a row has at most the article: its source.

        Raises:
            PluginError: see `judge`. The error names the row by its number, from 1.
        """
        numbered = enumerate(rows, 1)
        values = [self.judge(row.prediction, row.references, f"row {i}", article=row.source) for i, row in numbered]
        return np.array(values, dtype=np.float64).reshape(len(rows), 1)


def plugin_metrics(plugin: Plugin) -> tuple[PluginMetric, ...]:
    """Return all metrics of a plugin.

    Raises:
        PluginError: the plugin cannot be imported, or a metric or its name is not valid.
    """
    metrics = []
    for name, judge in plugin.metrics().items():
        _require_name(name, plugin.name)
        if inspect.isclass(judge) or not callable(judge):
            raise PluginError(
                f"{name} of {plugin.name} is not a metric. Give a function of a summary and its references, "
                "def f(summary, references), which returns a number (the higher, the better)."
            )
        metrics.append(PluginMetric(name, plugin, _extra_arguments(judge)))
    return tuple(metrics)


def function_metric(function: Judge, name: str | None = None) -> PluginMetric:
    """Turn a function into a metric, for `nws.score`. The default name is the function's own.

    Raises:
        PluginError: no metric can have this name.
    """
    name = name or str(getattr(function, "__name__", type(function).__name__))
    (metric,) = plugin_metrics(plugin_of_session({}, {name: function}))
    return metric


def _extra_arguments(judge: Judge) -> tuple[str, ...]:
    """Return the `EXTRA_ARGUMENTS` that a function must get. A parameter with a default belongs to the function."""
    try:
        parameters = [*inspect.signature(judge).parameters.values()][len(("summary", "references")) :]
    except (TypeError, ValueError):  # functions in C may have no signature
        parameters = []
    return tuple(
        parameter.name
        for parameter in parameters
        if parameter.name in EXTRA_ARGUMENTS and parameter.default is parameter.empty
    )


def _require_name(name: str, owner: str) -> None:
    """Refuse a name that cannot be a column, or that has another meaning.

    Raises:
        PluginError: no metric of a plugin can have this name.
    """
    if not _NAME.fullmatch(name):
        raise PluginError(
            f"The metric {name!r} of {owner} cannot have this name. A name has only letters A to Z, digits and _, "
            "begins with a letter, and is at most 61 characters long."
        )
    columns = {*(field.name for field in fields(Summary)), *BY_COLUMN, *(spec.name for spec in SPECS)}
    if name in _TAKEN_NAMES | columns or is_metric(name):
        raise PluginError(f"The metric {name!r} of {owner} has the name of another metric or column. Rename it.")


_TAKEN_KEYS = frozenset({CHOSEN_SCORES, "draws", "dtype"})
"""The keys of `Draft.extra` that NWS itself uses: for scores, for all draws of a text, and for the model's type."""


@dataclass(frozen=True, slots=True)
class PluginSystem:
    """A system of a plugin. Its output is checked, and an error in it is a failure of the article.

    `encoders` are the names of the encoders whose vectors it may use: all encoders of the run for an object, none for a
    function. An object gets the article itself, with its key, dataset and split. A function gets only the text.
    """

    signature: str
    plugin: Plugin
    kind: SystemKind
    has_uncut: bool
    encoders: tuple[str, ...]

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """Write drafts of a document at each length, and check them.

        Raises:
            PluginError: the system raised an error, or its drafts are not valid.
        """
        system: Any = self.plugin.systems()[self.signature]
        called = system.summarize if is_system(system) else system
        named = f"{self.signature} of {self.plugin.owner(called)}"
        with blaming(f"{named} failed", self.plugin.file(called), called):
            if is_system(system):
                drafts = called(document, lengths)
            else:
                drafts = [Draft(n, _one_line(called(document.segmented.article.text, n))) for n in lengths]
            try:
                require_drafts(drafts, lengths, self.has_uncut, document.length_unit)
            except PluginError as error:
                raise PluginError(f"{named} {error}{definition(called)}") from error
        return [
            replace(draft, text=cleaned(draft.text), redraws=tuple(map(cleaned, draft.redraws))) for draft in drafts
        ]


def _one_line(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"it returned {type(text).__name__}, not text")
    return " ".join(cleaned(text).split())


def require_drafts(drafts: Any, lengths: Sequence[int], has_uncut: bool, unit: LengthUnit = "words") -> None:
    """Refuse drafts that are not valid.

    Raises:
        PluginError: there is not one draft of each length, in order, after an uncut draft if the system has one; or a
            draft is empty, has more than n words (or characters), or has something that cannot be stored.
    """
    expected = [UNCUT, *lengths] if has_uncut else [*lengths]
    if not isinstance(drafts, list) or not all(isinstance(draft, Draft) for draft in drafts):
        raise PluginError("did not return a list of Drafts")
    if [draft.n for draft in drafts] != expected:
        raise PluginError(f"returned drafts with n = {[draft.n for draft in drafts]}, not {expected}")
    for draft in drafts:
        for text in draft.texts:
            if not isinstance(text, str) or not text.strip():
                raise PluginError(f"wrote nothing at n = {draft.n}")
            try:
                require_summary_length(text)
            except SegmentationError as error:
                raise PluginError(f"wrote too much at n = {draft.n}: {error}") from error
            if draft.n != UNCUT and (length := length_of(text, unit)) > draft.n:
                raise PluginError(f"wrote {length} {unit} at n = {draft.n}")
        if taken := sorted(_TAKEN_KEYS & draft.extra.keys()):
            raise PluginError(f"set {taken[0]!r} in extra, which is reserved for NWS. Rename it")
        for name, value in draft.extra.items():
            if not isinstance(value, str | float | int) or (isinstance(value, float) and not math.isfinite(value)):
                raise PluginError(
                    f"set {name} = {reprlib.repr(value)} in extra at n = {draft.n}, "
                    "but extra may have only texts and finite numbers"
                )


def is_system(value: object) -> bool:
    """Return whether a value is an object like `nws.core.systems.system.System`. Otherwise it counts as a function."""
    return hasattr(value, "summarize")


def plugin_systems(plugin: Plugin, encoders: Sequence[str]) -> tuple[PluginSystem, ...]:
    """Return all systems of a plugin. `encoders` are the names of the run's encoders.

    Raises:
        PluginError: the plugin cannot be imported, or one of its systems is not valid.
        RecipeError: the name of a system is not valid.
    """
    for name in plugin.systems():
        require_name(name)
    return tuple(_plugin_system(plugin, name, system, encoders) for name, system in plugin.systems().items())


def _plugin_system(plugin: Plugin, name: str, system: Write | System, encoders: Sequence[str]) -> PluginSystem:
    kind: Any = getattr(system, "kind", "system")
    has_uncut = bool(getattr(system, "has_uncut", False))
    if not (is_system(system) or inspect.isfunction(system)) or inspect.isclass(system):
        raise PluginError(
            f"{name} of {plugin.name} is not a system. Give a function of an article's text and n, or an object with "
            "`kind`, `has_uncut` and `summarize(document, lengths)`, see help('nws.core.systems.system.System')."
        )
    if kind not in get_args(SystemKind):
        raise PluginError(f"{name} of {plugin.name} has the kind {kind!r}. Give one of {get_args(SystemKind)}.")
    return PluginSystem(name, plugin, kind, has_uncut, tuple(encoders) if is_system(system) else ())
