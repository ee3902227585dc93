"""What Python source imports, by version: the numbers of a plugin come from there, too."""

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from core.fingerprint import file_sha256, files_below, files_sha256

_OUR_OWN = frozenset({"core", "cluster", "jobs", "nws", "__future__"})
_CACHES = frozenset({"__pycache__"})


def imported_versions(*sources: str) -> dict[str, str]:
    """Of each library that Python sources import, anywhere: its version, or the hash of what no package brought.

    What cannot be found, or is part of Python, is left out, and so is a source that is not Python. Libraries of
    libraries are not looked at.
    """
    names = {name.partition(".")[0] for source in sources for name in _imported(source)}
    versions = {name: _version(name) for name in sorted(names - _OUR_OWN - sys.stdlib_module_names)}
    return {name: version for name, version in versions.items() if version is not None}


def package_sources(module: str) -> tuple[str, list[str]]:
    """SHA-256 of the files of the package that an imported module is in, or of its own file, and their Python.

    Raises:
        OSError: they cannot be read.
    """
    file = Path(str(sys.modules[module].__file__))
    top = sys.modules.get(module.partition(".")[0])
    initial = getattr(top, "__file__", None)
    if initial is None or Path(initial).name != "__init__.py":  # a single file, or a namespace that others share
        content = file.read_bytes()
        return hashlib.sha256(content).hexdigest(), [content.decode(errors="replace")]
    folder = Path(initial).parent
    files = list(files_below(folder, _CACHES))
    sources = [path.read_text(encoding="utf-8", errors="replace") for path in files if path.suffix == ".py"]
    return files_sha256(folder, files), sources


def _imported(source: str) -> Iterator[str]:
    try:
        nodes = ast.walk(ast.parse(source))
    except (SyntaxError, ValueError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


_owners = functools.cache(importlib.metadata.packages_distributions)  # with many packages it takes a second


def _version(module: str) -> str | None:
    try:
        return importlib.metadata.version(module)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        owners = _owners().get(module)
    if owners:
        return ", ".join(f"{owner} {importlib.metadata.version(owner)}" for owner in sorted(set(owners)))
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None or not (spec.submodule_search_locations or spec.has_location):
        return None
    if spec.submodule_search_locations:
        folder = Path(next(iter(spec.submodule_search_locations)))
        return f"sha256:{files_sha256(folder, files_below(folder, _CACHES))[:12]}"
    return f"sha256:{file_sha256(Path(str(spec.origin)))[:12]}"
