"""What the systems of a run are called where people read: by what tells them apart, or by labels of their own.

The full name of a system, such as `all-MiniLM-L6-v2|lexrank|chunks`, is that of its rows. SQL and files have it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from nws.core.errors import RecipeError, did_you_mean
from nws.core.text.model_outputs import CLEANING_MARK
from nws.core.text.rows import LIST_MARKS
from nws.core.types import AT_MOST, POLICY, UNTRAINED
from nws.jobs.report.numerals import listed
from nws.jobs.store import RunInfo

# The parts of the names of systems by their full names.
_Parts: TypeAlias = Mapping[str, tuple[str, ...]]

_RUN_MARK = " @"
"""What stands before the run in the name of a system that two runs of a page have (`nws.jobs.report.page.page`)."""
_PROMPT = "prompt="
_FIRST_ITEM = LIST_MARKS["first"].removeprefix("|")
_EXACT = "exact"
_CHUNKS = "chunks"


@dataclass(frozen=True, slots=True)
class SharedParts:
    """Parts of full names that the names of `systems` leave out since all of these have them."""

    systems: tuple[str, ...]
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SystemNames:
    """Names of systems by their full names, no two the same."""

    shown: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[SharedParts, ...] = ()

    def __getitem__(self, system: str) -> str:
        """Return the name of a system; its full name if it is none of these."""
        return self.shown.get(system, system)

    @property
    def shortened(self) -> tuple[str, ...]:
        """The note on what names leave out, if they do: "Shortened names: a and b leave out “chunks”"."""
        clauses = "; ".join(map(self._left_out_clause, self.left_out))
        return (f"Shortened names: {clauses}",) if clauses else ()

    def _left_out_clause(self, left_out: SharedParts) -> str:
        parts = listed([f"“{part}”" for part in left_out.parts])
        if len(left_out.systems) == len(self.shown) > 1:
            return f"all leave out {parts}"
        verb = "leaves" if len(left_out.systems) == 1 else "leave"
        return f"{listed([self[system] for system in left_out.systems])} {verb} out {parts}"

    def find(self, name: str, known: Collection[str], where: str, methods: Collection[str] = ()) -> str:
        """Find the full name of the system that a person means.

        That is the system of this full name, with or without `policy|` before it, or the one that is called so, or else
        the one that has `name` as a part.

        Args:
            name: the typed name.
            known: full names to choose among.
            where: the owner of the systems, such as "run ID", for the error.
            methods: full names that stand for several systems, such as `policy|reinforce`.

        Raises:
            RecipeError: it fits no system, or several, which are named.
        """
        for whole in (name, POLICY + name):
            if whole in known or whole in methods:
                return whole
        matches = [system for system in (*known, *methods) if self[system] == name]
        matches = matches or [system for system in known if name in system or name in self[system]]
        if len(matches) == 1:
            return matches[0]
        if matches:
            several = listed([self._short_and_full_name(system) for system in matches])
            raise RecipeError(f"{name!r} fits {len(matches)} systems of {where}: {several}. Name one of them.")
        has = ", ".join(self[system] for system in known)
        similar = did_you_mean(name, [self[system] for system in known])
        raise RecipeError(f"There is no system {name!r} in {where}. Its systems are {has}.{similar}")

    def _short_and_full_name(self, system: str) -> str:
        return system if self[system] == system else f"{self[system]} ({system})"

    def labelled(self, labels: Mapping[str, str], where: str) -> "SystemNames":
        """Replace some names by labels.

        Args:
            labels: the labels by any name that `find` takes.
            where: the owner of the systems, for the error.

        Raises:
            RecipeError: a label is of no system or of several, or another system is called so.
        """
        own = {self.find(name, list(self.shown), where): label for name, label in labels.items()}
        shown = {**self.shown, **own}
        for system, label in own.items():
            for other in shown:
                if other != system and label in (other, shown[other]):
                    raise RecipeError(f"{label!r} cannot be the label of {system}: {other} is called so.")
        return replace(self, shown=shown)

    def fits(self, name: str) -> bool:
        """Whether `find` takes a name."""
        try:
            self.find(name, list(self.shown), "")
        except RecipeError:
            return False
        return True


FULL_NAMES = SystemNames()
"""Every system is called by its full name."""


def system_names(systems: Iterable[str]) -> SystemNames:
    """Shorten names: leave out parts that systems of a family share, wherever no two names become the same.

    A family is all that choose among segments (`ENCODER|IMPORTANCE|chunks`), all generators (`MODEL|prompt=…`, of which
    the prompt is left out, too), or all policies (`policy|METHOD|seed=…`, `untrained|…`). The order of `systems`, and
    repeats, make no difference.
    """
    shown = {system: system for system in sorted(set(systems))}
    left_out = []
    for family in ("segments", "generators", "policies"):
        members = {system: parts for system in shown if (parts := _parts(system, family))}
        if members:
            hidden, shared = _redundant_parts(family, members)
            for system, parts in members.items():
                rest = [part for part in parts if part not in hidden]
                if any(rest):
                    shown[system] = _joined(system, rest)
            left_out.append((tuple(members), shared))
    while repeated := _repeated(shown):
        shown |= {system: system for system in repeated}
    described = [
        SharedParts(shortened, shared)
        for family, shared in left_out
        if shared and (shortened := tuple(system for system in family if shown[system] != system))
    ]
    return SystemNames(shown, tuple(described))


def names_of(runs: Sequence[RunInfo], systems: Iterable[str], labels: Mapping[str, str] | None = None) -> SystemNames:
    """Name the systems of runs, with the labels of their recipes, and over these with `labels`.

    A label of a recipe may be of a system that has written nothing yet.

    Raises:
        RecipeError: one of `labels` is of no system or of several, or two systems would be called the same.
    """
    names = system_names(systems)
    where = " and ".join(f"run {run.id}" for run in runs)
    for run in runs:
        of_recipe = run.recipe.get("labels") or {}
        names = names.labelled({name: label for name, label in of_recipe.items() if names.fits(name)}, where)
    return names.labelled(labels or {}, where)


def with_labels(run: RunInfo, labels: Mapping[str, str]) -> RunInfo:
    """Return a run as if its recipe had these labels, too."""
    return replace(run, recipe={**run.recipe, "labels": {**(run.recipe.get("labels") or {}), **labels}})


def _repeated(shown: Mapping[str, str]) -> list[str]:
    """List the systems with a short name that another has, too."""
    counts = Counter(shown.values())
    return [system for system, name in shown.items() if counts[name] > 1 and name != system]


def _family(body: str) -> str:
    parts = body.split("|")
    if body.startswith((POLICY, f"{UNTRAINED}|")):
        return "policies"
    if any(part in (_EXACT, AT_MOST, _FIRST_ITEM) or part.startswith((_PROMPT, CLEANING_MARK)) for part in parts[1:]):
        return "generators"
    return "segments" if len(parts) > 1 else ""


def _parts(system: str, family: str) -> tuple[str, ...]:
    """Split a system's name into its parts if it is of the family; else return none."""
    body = system.partition(_RUN_MARK)[0]
    return tuple(body.removeprefix(POLICY).split("|")) if _family(body) == family else ()


def _joined(system: str, parts: Sequence[str]) -> str:
    _, at, run = system.partition(_RUN_MARK)
    return "|".join(parts) + at + run


def _redundant_parts(family: str, members: _Parts) -> tuple[Collection[str], tuple[str, ...]]:
    """Return the parts that the names of a family leave out, and those of them that all members have."""
    first, *others = members.values()
    if family == "segments" and not others:
        alone = (first[0], first[2]) if len(first) == 3 and first[2] == _CHUNKS else ()
        return alone, alone
    shared = tuple(part for part in dict.fromkeys(first) if all(part in other for other in others))
    if family == "segments":
        return shared, shared
    heads = [parts[0] for parts in members.values()]  # models, or methods
    shared = tuple(part for part in shared if part not in heads and not part.startswith(_PROMPT))
    if len(set(heads)) < len(heads):  # of one model with two prompts, the prompts tell its systems apart
        return shared, shared
    prompts = {part for parts in members.values() for part in parts[1:] if part.startswith(_PROMPT)}
    return {*shared, *prompts}, shared


SYSTEM_NOTES = {
    "lead": "takes the first n words",
    "lead3": "takes the first three sentences",
    "lead2+chunks": "takes the phrases of the first two sentences that are nearest to the whole text in meaning",
    "lead3-search": "searches the text for phrases that together say most of its first three sentences",
    "textrank": "takes phrases of sentences that are near many other sentences in meaning",
    "centroid": "takes phrases of sentences that are near to the whole text in meaning",
    "textrank-words": "takes phrases of sentences that share words with many other sentences",
    "lexrank": "takes phrases of sentences that share rare words with many other sentences",
    "position": "takes phrases of sentences, and prefers earlier sentences",
    "random": "takes phrases at random",
    UNTRAINED: "writes as the policies do, before any training",
    "reference-words": "takes the first n words of the reference, which no system can see",
    "person": "takes the first n words of a second person's summary",
    "other-article": "takes the first n words of the reference of the most similar other article",
    "oracle": "searches the text for the phrases that match the reference best",
}


def system_notes(systems: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """List each system that is known here with its full name and what it does, in the order given.

    A system of Phase 1 has the method within its name, such as "all-MiniLM-L6-v2|lexrank|chunks".
    """
    methods = ((system, next((part for part in system.split("|") if part in SYSTEM_NOTES), None)) for system in systems)
    return tuple((system, SYSTEM_NOTES[part]) for system, part in methods if part is not None)
