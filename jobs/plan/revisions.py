"""Which versions made the numbers: of the code, the libraries and the datasets."""

import contextlib
import functools
import importlib.metadata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import RecipeError
from core.provenance import SOURCES, are_as_imported, code_as_imported
from jobs.installation import ROOT, git, is_installed

if TYPE_CHECKING:  # `nws cancel` must not wait for spaCy
    from core.text.dataset import OpenDataset

VERSION_FILE = ".nws_code_version"
"""Beside packages without their git, in a wheel or in a checkout that was shipped: the version of their code."""
_DIRTY = "-dirty"


def dataset_revisions(corpora: "Sequence[OpenDataset]") -> dict[str, str]:
    """As a run records them."""
    return {corpus.name: f"{corpus.split}@{corpus.revision}" for corpus in corpora}


def require_same_revisions(recorded: Mapping[str, Any], now: Mapping[str, Any], run_id: str) -> None:
    """Refuse to resume a run whose articles, models or segmentation have changed since it began.

    Raises:
        RecipeError: a model, dataset or pipeline is not what it was.
    """
    for kind in sorted(now.keys() - {"libraries"}):
        was, is_now = _differing(recorded.get(kind), now[kind])
        if was != is_now:
            raise RecipeError(
                f"Run {run_id} cannot be resumed: its {kind} changed from {was} to {is_now}. "
                "Restore what it had, or submit a new run."
            )


def changed_software(before: str, code: str, recorded: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """What a run would go on with in another version than it began with: by its name and new version, the old one.

    Args:
        before: the versions of the code that have worked on the run.
        code: the version that is to go on with it.
        recorded: the versions of the libraries when it began.
        now: their versions now.
    """
    changed = [name for name in {**recorded, **now} if recorded.get(name) != now.get(name)]
    names = {f"{name} {now[name]}" if name in now else f"no {name}": recorded.get(name, "none") for name in changed}
    began_with = before.partition(", ")[0]
    return names if _sources(began_with) == _sources(code) else names | {code: began_with}


def _sources(version: str) -> str:
    """The hash of the sources of a version of the code."""
    return version.partition("+")[2]


def _differing(was: Any, is_now: Any) -> tuple[Any, Any]:
    """Both, or of two mappings only the entries that differ."""
    if not isinstance(was, Mapping) or not isinstance(is_now, Mapping):
        return was, is_now
    names = [name for name in {**was, **is_now} if was.get(name) != is_now.get(name)]
    return {name: was.get(name) for name in names}, {name: is_now.get(name) for name in names}


@functools.cache  # of what was imported: who commits, or checks out, does so to other code
def code_version() -> str:
    """What rows are labelled with: the commit, and the hash of the sources as they were imported.

    Such as `0123456789ab+1a2b3c4d5e6f`. `-dirty` behind the commit says that these are not its sources. It is that of
    this checkout or of what a wheel was built from; outside of git, the version of the package stands for it.
    """
    sources = code_as_imported()
    name, changed = _named(sources)
    if changed or not are_as_imported():  # git was asked of other files
        name = f"{name.removesuffix(_DIRTY)}{_DIRTY}"
    return f"{name}+{sources}"


def told_version(version: str) -> str:
    """A version of the code as people read it: the commit, or the version of the package, and what stands behind it."""
    name, _, sources = version.partition("+")
    changed = " with changes that are in no commit" if name.endswith(_DIRTY) else ""
    return f"{name.removesuffix(_DIRTY)}{changed}{f' (hash of its sources: {sources})' if sources else ''}"


def is_of_commit(version: str) -> bool:
    """Whether all of this code is in the commit that its version names."""
    return not version.partition("+")[0].endswith(_DIRTY)


def _named(sources: str) -> tuple[str, bool]:
    """The commit or version, and whether it is known to be of other sources."""
    with contextlib.suppress(FileNotFoundError):
        name, _, of = (ROOT / VERSION_FILE).read_text(encoding="utf-8").strip().partition("+")
        return name, of != sources
    # Where a wheel is installed, a git would be that of another project.
    commit = None if is_installed() else described_commit(ROOT)
    return importlib.metadata.version("nws") if commit is None else commit, False


def described_commit(checkout: Path) -> str | None:
    """The commit of a checkout, with `-dirty` if files differ from it or sources are in none; None outside of git."""
    described = git(checkout, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    if described is None:
        return None
    commit = described.decode().strip()
    status = git(checkout, "status", "--porcelain", "--untracked-files=all", "--", *SOURCES) or b""
    is_changed = any(line.endswith(b".py") for line in status.splitlines())
    return commit if commit.endswith(_DIRTY) or not is_changed else f"{commit}{_DIRTY}"
