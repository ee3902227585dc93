"""The folder of the code (a checkout, a copy that was shipped to a cluster, or an installed wheel), and its version."""

import contextlib
import functools
import importlib.metadata
import os
import subprocess
from pathlib import Path

from core.provenance import SOURCES, are_as_imported, code_as_imported

ROOT = Path(__file__).parents[1]
"""The folder that holds our packages: site-packages where a wheel is installed."""
VERSION_FILE = ".nws_code_version"
"""Beside packages without their git, in a wheel or in a checkout that was shipped: the version of their code."""
_DIRTY = "-dirty"


def is_installed(root: Path = ROOT) -> bool:
    """Whether this is a wheel's: beside its packages lies what others have installed."""
    return _migrations_in_wheel(root).is_dir()


def migrations(root: Path = ROOT) -> Path:
    """The folder of migrations. In a wheel it is inside: `alembic` beside our packages would be the library."""
    return _migrations_in_wheel(root) if is_installed(root) else root / "alembic"


def git(checkout: Path, *arguments: str) -> bytes | None:
    """What git prints of a checkout; None where it has none, or there is no git.

    Variables such as GIT_DIR, which a hook of another repository sets, would make it speak of that one.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        command = ["git", "-C", str(checkout), *arguments]
        return subprocess.run(command, capture_output=True, check=True, env=environment).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def _migrations_in_wheel(root: Path) -> Path:
    # hatch_build.py puts them there.
    return root / "jobs" / "store" / "migrations"


@functools.cache  # of what was imported: who commits, or checks out, does so to other code
def code_version() -> str:
    """What rows are labelled with: the commit, and the hash of the sources as they were imported.

    Such as `0123456789ab+1a2b3c4d5e6f`. `-dirty` behind the commit says that these are not its sources. It is that of
    this checkout or of what a wheel was built from; outside of git, the version of the package stands for it.
    """
    sources = code_as_imported()
    name, changed = _recorded_version(sources)
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


def _recorded_version(sources: str) -> tuple[str, bool]:
    """The commit or version, and whether it is known to be of other sources."""
    with contextlib.suppress(FileNotFoundError):
        name, _, hashed = (ROOT / VERSION_FILE).read_text(encoding="utf-8").strip().partition("+")
        return name, hashed != sources
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
