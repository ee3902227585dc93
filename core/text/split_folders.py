"""Folders with files of several splits: clones of Hub datasets, and folders that `DatasetDict.save_to_disk` wrote."""

import logging
import os
import re
from pathlib import Path

from nws.core.errors import CorpusError
from nws.core.models.hub_cache import HUB_FAILURES
from nws.core.text.reader import is_data_file

# Files that have the same ending as data files, but no rows.
_METADATA = re.compile(r"(dataset_infos?|dataset_dict|state|config|package(-lock)?|datapackage)\.json")
# How `datasets` finds a split in a name.
_SPLIT = re.compile(r"(?:.*[-._ 0-9])?(train|valid|dev|val|test|eval)(?:ing|ation|uation)?(?:[-._ 0-9].*)?")
_LISTS_FILES = re.compile(r"---\n(?:.*\n)*?(?:configs|dataset_info):")


def is_shown_data(path: str) -> bool:
    """Return whether a file in a folder has rows. Hidden files, metadata and caches of `datasets` have none."""
    name = os.path.basename(path)
    return is_data_file(name) and not name.startswith((".", "cache-")) and not _METADATA.fullmatch(name)


def has_splits_inside(folder: str) -> bool:
    """Return whether a folder is a clone of a Hub dataset, a saved `DatasetDict`, or has files of several splits."""
    names = os.listdir(folder)
    card = Path(folder, "README.md")
    lists_files = card.is_file() and _LISTS_FILES.match(card.read_text("utf-8", "replace"))
    if lists_files or {"dataset_dict.json", "dataset_infos.json"} & {*names}:
        return True
    files = [name for name in names if is_shown_data(name)]
    if not files:
        return any(Path(folder, name).is_dir() for name in names if name == "data" or _SPLIT.fullmatch(name))
    return len({match[1] for name in files if (match := _SPLIT.fullmatch(name))}) > 1


def split_files(folder: str, split: str) -> list[str]:
    """Return the paths of a split's files, as `datasets` finds them.

    Raises:
        CorpusError: there is no such split, or the folder has several configurations.
    """
    states = Path(folder).glob("*/state.json")
    saved = {state.parent.name: sorted(filter(is_shown_data, map(str, state.parent.iterdir()))) for state in states}
    splits = saved or _cloned(folder)
    if split not in splits:
        known = ", ".join(sorted(splits))
        raise CorpusError(f"{folder} has no split {split!r}; it has: {known}. Name one.", settings=("split",))
    return splits[split]


def _cloned(folder: str) -> dict[str, list[str]]:
    import datasets  # imported here because pandas and pyarrow load slowly, and other folders do not need it

    logging.getLogger("huggingface_hub.repocard").setLevel(logging.ERROR)  # many README files have no metadata
    try:
        files = datasets.load_dataset_builder(folder).config.data_files or {}
    except (*HUB_FAILURES, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        problem = " ".join(str(error).partition("\nExample")[0].split())
        raise CorpusError(f"{folder} cannot be read as a clone: {problem}. Name a file or folder in it.") from error
    return {str(split): list(paths) for split, paths in files.items()}
