"""What the systems of tests are, by name."""

from nws.core.types import SystemKind

CONTROLS = ("lead", "other-article", "random")
UPPER_BOUNDS = ("oracle", "person", "reference-words", "window-oracle")


def kind_of(system: str) -> SystemKind:
    return "control" if system in CONTROLS else "oracle" if system in UPPER_BOUNDS else "system"
