"""Systems of plugins, whose output is checked."""

import inspect
import math
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from core.errors import PluginError, SegmentationError
from core.plugins.load import Plugin, Write, blaming, definition
from core.systems.system import Document, Draft, System, require_name
from core.text.length import UNCUT, LengthUnit, length_of, require_summary_length
from core.text.rows import cleaned
from core.types import CHOSEN_SCORES, SystemKind

_TAKEN = frozenset({CHOSEN_SCORES, "draws", "dtype"})
"""Keys of `Draft.extra` that a store reads: scores, all draws of a text, and what it was written in."""


@dataclass(frozen=True, slots=True)
class PluginSystem:
    """A system of a plugin. Its output is checked; an error there is a failure of that article.

    `encoders` are the names of the encoders whose vectors it may ask for: all of the run for an object, none for a
    function. An object gets the article itself, with its key, dataset and split; a function its text.
    """

    name: str
    plugin: Plugin
    kind: SystemKind
    has_uncut: bool
    encoders: tuple[str, ...]

    @property
    def signature(self) -> str:
        return self.name

    def summarize(self, document: Document, lengths: Sequence[int]) -> list[Draft]:
        """See `System`.

        Raises:
            PluginError: it raised, or wrote what no system may.
        """
        system = self.plugin.systems()[self.name]
        called = _called(system)
        named = f"{self.name} of {self.plugin.owner(called)}"
        with blaming(f"{named} failed", self.plugin.file(called), called):
            drafts = _written(system, document, lengths)
            try:
                require_drafts(drafts, lengths, self.has_uncut, document.length_unit)
            except PluginError as error:
                raise PluginError(f"{named} {error}{definition(called)}") from error
        return [
            replace(draft, text=cleaned(draft.text), redraws=tuple(map(cleaned, draft.redraws))) for draft in drafts
        ]


def _called(system: Write | System) -> Callable[..., object]:
    """The function, or the object's method that writes."""
    return system.summarize if is_system(system) else system  # type: ignore[union-attr, return-value]


def _written(system: Write | System, document: Document, lengths: Sequence[int]) -> list[Draft]:
    if is_system(system):
        return cast(System, system).summarize(document, lengths)
    write = cast(Write, system)
    return [Draft(n, _one_line(write(document.segmented.article.text, n))) for n in lengths]


def _one_line(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"it returned {type(text).__name__}, not text")
    return " ".join(cleaned(text).split())


def require_drafts(drafts: Any, lengths: Sequence[int], has_uncut: bool, unit: LengthUnit = "words") -> None:
    """Refuse what no system may write.

    Raises:
        PluginError: there is not one draft of each length, in order, after the uncut one of a system that has one; or a
            draft is empty, has more than n words (or characters), or holds what cannot be stored.
    """
    expected = [UNCUT, *lengths] if has_uncut else [*lengths]
    if not isinstance(drafts, list) or not all(isinstance(draft, Draft) for draft in drafts):
        raise PluginError("returned no list of Drafts")
    if [draft.n for draft in drafts] != expected:
        raise PluginError(f"returned drafts of n = {[draft.n for draft in drafts]}, not {expected}")
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
        if taken := sorted(_TAKEN & draft.extra.keys()):
            raise PluginError(f"gave {taken[0]!r} in extra, which NWS itself writes there: rename it")
        for name, value in draft.extra.items():
            if not isinstance(value, str | float | int) or (isinstance(value, float) and not math.isfinite(value)):
                raise PluginError(
                    f"gave {name} = {reprlib.repr(value)} at n = {draft.n}: extra holds texts and finite numbers"
                )


def is_system(value: object) -> bool:
    """Whether it is an object as `core.systems.system.System`; else it is taken for a function."""
    return hasattr(value, "summarize")


def plugin_systems(plugin: Plugin, encoders: Sequence[str]) -> tuple[PluginSystem, ...]:
    """Every system of a plugin; `encoders` are the names of the run's.

    Raises:
        PluginError: the plugin cannot be imported, or one of its systems is none.
        RecipeError: no system can have the name that one of them has.
    """
    for name in plugin.systems():
        require_name(name)
    return tuple(_plugin_system(plugin, name, system, encoders) for name, system in plugin.systems().items())


def _plugin_system(plugin: Plugin, name: str, system: Write | System, encoders: Sequence[str]) -> PluginSystem:
    kind: Any = getattr(system, "kind", "system")
    has_uncut = bool(getattr(system, "has_uncut", False))
    if not (is_system(system) or inspect.isfunction(system)) or inspect.isclass(system):
        raise PluginError(
            f"{name} of {plugin.name} is no system: give a function of an article's text and n, or an object with "
            "`kind`, `has_uncut` and `summarize(document, lengths)`, see help('core.systems.system.System')."
        )
    if kind not in get_args(SystemKind):
        raise PluginError(f"{name} of {plugin.name} is of the kind {kind!r}: give one of {get_args(SystemKind)}.")
    return PluginSystem(name, plugin, kind, has_uncut, tuple(encoders) if is_system(system) else ())
