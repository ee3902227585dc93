"""Things of one kind by their names, of which only those that are asked for are imported."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TypeVar

from core.errors import RecipeError

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True, eq=False)
class Registry(Mapping[str, Kind]):
    """A mapping from names to what stands at places: to look a name up imports its place, to look for it does not.

    Attributes:
        kind: what errors call one of them, such as `metric`.
        places: of each name `module:attribute`, as entry points of packages have it.
        besides: of names that no list could hold, in words, to follow the list of names in errors.
    """

    kind: str
    places: Mapping[str, str]
    besides: str = ""

    def __getitem__(self, name: str) -> Kind:
        """What the name stands for.

        Raises:
            KeyError: there is no such name.
        """
        found: Kind = EntryPoint(name, self.places[name], self.kind).load()
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def unknown(self, name: str, *settings: str) -> RecipeError:
        """The error of a name that is none of these; `settings` are those of the recipe that may hold it."""
        return RecipeError(
            f"There is no {self.kind} {name!r}. The {self.kind}s are {', '.join(self)}{self.besides}."
            f"{did_you_mean(name, self)}",
            settings=settings,
        )


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question to append to an error: the known name that is most similar to this one, ignoring case.

    Empty if none is similar enough by `difflib`, which has the measure of Ratcliff and Obershelp.
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""
