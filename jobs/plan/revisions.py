"""Which versions made the numbers: of the code, the libraries and the datasets."""

import contextlib
import importlib.metadata
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import RecipeError
from jobs.installation import ROOT, is_installed

if TYPE_CHECKING:  # `nws cancel` must not wait for spaCy
    from core.text.corpus import Corpus

VERSION_FILE = ".nws_code_version"
"""Beside packages without their git, in a wheel or in a checkout that was shipped: the version of their code."""

_LIBRARIES = (
    "torch",
    "transformers",
    "sentence-transformers",
    "tokenizers",
    "spacy",
    "bert-score",
    "rouge-score",
    "rapidfuzz",
    "ray",
)


def library_versions() -> dict[str, str]:
    """Of the libraries that numbers depend on."""
    return {name: importlib.metadata.version(name) for name in _LIBRARIES}


def dataset_revisions(corpora: "Sequence[Corpus]") -> dict[str, str]:
    """As a run records them."""
    return {corpus.name: f"{corpus.split}@{corpus.revision}" for corpus in corpora}


def require_same_revisions(recorded: Mapping[str, Any], now: Mapping[str, Any], run_id: str) -> list[str]:
    """Refuse to go on with a run whose articles, models or segmentation have changed since it began.

    Returns:
        Libraries whose version differs, as "name old -> new": the numbers may differ in the last digits.

    Raises:
        RecipeError: a model, dataset or pipeline is not what it was.
    """
    for kind in sorted(now.keys() - {"libraries"}):
        was, is_now = _differing(recorded.get(kind), now[kind])
        if was != is_now:
            raise RecipeError(
                f"Run {run_id} cannot go on: its {kind} changed from {was} to {is_now}. "
                "Restore what it had, or submit a new run."
            )
    old, new = recorded["libraries"], now["libraries"]
    return [f"{name} {old.get(name)} -> {new[name]}" for name in new if old.get(name) != new[name]]


def _differing(was: Any, is_now: Any) -> tuple[Any, Any]:
    """Both, or of two mappings only the entries that differ."""
    if not isinstance(was, Mapping) or not isinstance(is_now, Mapping):
        return was, is_now
    names = [name for name in {**was, **is_now} if was.get(name) != is_now.get(name)]
    return {name: was.get(name) for name in names}, {name: is_now.get(name) for name in names}


def code_version() -> str:
    """The `described_commit` of this checkout or of what a wheel was built from; the package version outside of git."""
    with contextlib.suppress(FileNotFoundError):
        return (ROOT / VERSION_FILE).read_text(encoding="utf-8").strip()
    # Where a wheel is installed, a git would be that of another project.
    commit = None if is_installed() else described_commit(ROOT)
    return importlib.metadata.version("nws") if commit is None else commit


def described_commit(checkout: Path) -> str | None:
    """The commit of a checkout, with `-dirty` if files differ from it; None outside of git."""
    try:
        described = subprocess.run(
            ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return described.stdout.strip()
