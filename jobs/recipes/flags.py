"""Flags of `nws submit`: a field of a recipe that has one names it in the metadata of its type."""

import inspect
import re
from dataclasses import dataclass

_ATTRIBUTE = re.compile(r"^    (?P<names>\w+(, \w+)*): (?P<text>.+(\n        .+)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag that sets a field of a recipe, or a key inside it. One that stands at several fields sets all of them.

    Attributes:
        typed: as people type it, and what stands for its value: `--limit N`.
        panel: the heading under which `--help` lists it.
        inside: the key in the field, or in each of its parts, that is set; "" for the field itself.
        least: the smallest whole number that it takes; None if it takes text.
        told: its help; what the class's docstring says of the attribute if not given.
    """

    typed: str
    panel: str
    inside: str = ""
    least: int | None = None
    told: str = ""

    @property
    def name(self) -> str:
        """As errors name the setting: `test_limit`."""
        return self.typed.split()[0].removeprefix("--").replace("-", "_")


def attributes(kind: type) -> dict[str, str]:
    """What the docstrings of a class, and of those that it extends, say of its attributes."""
    told: dict[str, str] = {}
    for part in reversed(kind.__mro__):
        for found in _ATTRIBUTE.finditer(inspect.cleandoc(part.__doc__ or "")):
            told |= dict.fromkeys(found["names"].split(", "), " ".join(found["text"].split()))
    return told
