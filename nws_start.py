"""What `nws` and `import nws` run first: sees that `core`, `cluster` and `jobs` are NWS's own.

The names are generic. Python takes the first that its path has, and a package of the same name that is installed into
the same folder writes over files of NWS. Either would end in an error about a module that nobody knows.
"""

import importlib.util
import sys
from pathlib import Path

_PACKAGES = ("core", "cluster", "jobs")


def require_own_packages() -> None:
    """Look where Python finds the packages, without importing them: some tenths of a millisecond.

    Raises:
        ImportError: one of them is not NWS's; the message names its path and what to do.
    """
    own = Path(__file__).resolve().parent
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise ImportError(f"NWS's package `{name}` is missing from {own}. Install NWS anew.")
        found = Path(spec.origin).resolve()
        if found != own / name / "__init__.py":
            raise ImportError(
                f"the package `{name}` that Python finds first is not NWS's: {found}. NWS's is in {own}. "
                "Take the other one off Python's path (PYTHONPATH, the folder you are in, an installed package), or "
                "give NWS an environment of its own, e.g. with pipx."
            )
        if b"NWS" not in found.read_bytes():  # in the docstring of each of ours
            raise ImportError(
                f"another package called `{name}` was installed over NWS's: {found}. Install NWS anew, in an "
                "environment of its own, e.g. with pipx."
            )


def main() -> None:
    """Run the command `nws`."""
    if sys.flags.optimize > 1:
        sys.exit(
            "Error: Python runs without docstrings (PYTHONOPTIMIZE=2 or -OO), which Ray needs. Unset PYTHONOPTIMIZE."
        )
    try:
        require_own_packages()
    except ImportError as error:
        sys.exit(f"Error: {error}")
    from jobs.cli import main as run

    run()
