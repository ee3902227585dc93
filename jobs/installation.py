"""The folder of the code (a checkout, a copy that was shipped to a cluster, or an installed wheel), and its version."""

import contextlib
import functools
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

from nws.core.provenance import are_as_imported, code_as_imported

ROOT = Path(__file__).parents[2]
"""The folder that holds the package `nws`: site-packages where a wheel is installed."""
MIGRATIONS = ROOT / "nws" / "migrations"
VERSION_FILE = Path("nws", ".code_version")
"""In a copy of the package without git (a wheel, an sdist, what is shipped to a cluster): the version of its code."""
DISTRIBUTION = "nws-summaries"
"""What pip calls this package. On the package index, `nws` is another project."""
_SOURCES = (":/core", ":/cluster", ":/jobs", ":/nws")
"""Where git has the files of the package, from the top of its checkout."""
_DIRTY = "-dirty"


def package_version() -> str:
    """Return the version of the installed distribution, or "unknown" for a copy that was only shipped to a cluster."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def how_to_install(extra: str) -> str:
    """Say how to install an extra: the distribution is not on a package index yet."""
    wheel = f"{DISTRIBUTION.replace('-', '_')}-{package_version()}-py3-none-any.whl"
    return (
        f"In NWS's checkout, run `pip install --editable '.[{extra}]'`. Elsewhere, install the wheel again with the "
        f"extra: `pip install '{wheel}[{extra}]'`."
    )


def python_command(module: str) -> list[str]:
    """Return the start of a command that runs `main` of a module of this code, wherever it is run.

    As for the command `nws`, Python's path lacks the folder the user is in, where a `datasets.py` of the user's would
    win. The folder of this code leaves the path once `nws` is imported: the `core` of a checkout would hide the user's.
    """
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import nws; del sys.path[0]; "
    return [sys.executable, "-P", "-c", f"{program}from {module} import main; main()"]


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


def printed_version(version: str) -> str:
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
    return described_commit(ROOT) or package_version(), False


def described_commit(checkout: Path) -> str | None:
    """The commit of a checkout, with `-dirty` if files differ from it or sources are in none; None outside of git."""
    # A copy of the code may lie in another project's checkout.
    if not git(checkout, "ls-files", "--", ":/nws/__init__.py"):
        return None
    described = git(checkout, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    if described is None:
        return None
    commit = described.decode().strip()
    status = git(checkout, "status", "--porcelain", "--untracked-files=all", "--", *_SOURCES) or b""
    is_changed = any(line.endswith(b".py") for line in status.splitlines())
    return commit if commit.endswith(_DIRTY) or not is_changed else f"{commit}{_DIRTY}"
