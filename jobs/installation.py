"""Where the code lies: a checkout, a copy that was shipped to a cluster, or what pip has installed of a wheel."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The folder that holds our packages: site-packages where a wheel is installed."""


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
