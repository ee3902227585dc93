"""Files that a recipe names, and a run needs where it is driven: a cluster gets them with the code, by their hashes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import RecipeError
from core.provenance import file_sha256
from core.text.reader import is_file
from jobs.installation import ROOT

SHIPPED = ROOT / ".nws_files"
"""Beside the packages of a checkout that was shipped: its files, named by their SHA-256 and with their endings."""


def shipped_name(file: str, sha256: str) -> str:
    """What a file is called among those that are shipped."""
    return sha256 + Path(file).suffix


def find_file(file: str, sha256: str) -> Path:
    """Where a file of a recipe lies: among those that were shipped, else where the recipe says."""
    shipped = SHIPPED / shipped_name(file, sha256)
    return shipped if sha256 and is_file(shipped) else Path(file)


def require_unchanged(file: str, was: str, is_now: str) -> None:
    """Refuse a file that is not the one that a recipe names by its hash, if it does.

    Raises:
        RecipeError: it has another content.
    """
    if was and was != is_now:
        raise RecipeError(
            f"{file} was changed: its SHA-256 was {was[:12]}… and is now {is_now[:12]}…. Restore it, or submit a new "
            "run."
        )


def files_to_ship(recipe: Mapping[str, Any]) -> dict[str, Path]:
    """The files that a pinned recipe names, by `shipped_name`. Those that are not on this machine are left out.

    Raises:
        RecipeError: one was changed.
    """
    files: dict[str, Path] = {}
    named = [(prediction["file"], prediction["sha256"]) for prediction in recipe.get("predictions", ())]
    plugins = (plugin for plugin in recipe.get("plugins", ()) if plugin["plugin"].endswith(".py"))
    named += [(plugin["plugin"], plugin["sha256"]) for plugin in plugins]
    for file, sha256 in named:
        path = find_file(file, sha256)
        if is_file(path):
            require_unchanged(file, sha256, file_sha256(path))
            files[shipped_name(file, sha256)] = path
    return files
