"""No module needs one that needs it, by whatever kind of import: within functions, for types alone, or as text."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("core", "cluster", "jobs")
# As `nws.core.metrics.registry.METRICS` names its places.
PLACE = re.compile(r"([a-z_0-9.]+):\w+")


def module_name(path: Path) -> str:
    return ".".join(("nws", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module_name(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}


def named_modules(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from parts & MODULES.keys() or {node.module}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (place := PLACE.fullmatch(node.value)):
            yield place[1]


def circle(package: str) -> list[str]:
    """Modules of a package of which each needs the next; none if there is no circle."""
    needs = {
        name: {other for other in named_modules(path.read_text(encoding="utf-8")) if other in MODULES} - {name}
        for name, path in MODULES.items()
        if name.split(".")[1] == package
    }
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("package", ["core", "cluster", "jobs"])
def test_no_circle_of_imports(package: str) -> None:
    assert circle(package) == []
