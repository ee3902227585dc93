"""Folders with files of several splits: clones of the Hub's datasets, and what `DatasetDict.save_to_disk` writes."""

import glob
import logging
import os
import re
from pathlib import Path

from core.errors import CorpusError
from core.models.hub_cache import HUB_FAILURES
from core.text.reader import is_data_file

# Files beside the data that end as data do.
_METADATA = {
    *("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "config.json"),
    *("dataset-metadata.json", "datapackage.json", "croissant.json", "package.json", "package-lock.json"),
}
# As `datasets` finds a split in a name.
_SPLIT = re.compile(
    r"(?:^|.*[-._ 0-9])(train(?:ing)?|valid(?:ation)?|dev|val|test(?:ing)?|eval(?:uation)?)(?:[-._ 0-9].*|$)"
)
_LISTS_FILES = re.compile(r"---\n(?:.*\n)*?(?:configs|dataset_info):")


def is_shown_data(path: str) -> bool:
    """Whether a file in a folder holds rows: hidden files, metadata, and what `datasets` has put aside do not."""
    name = os.path.basename(path)
    return is_data_file(name) and not name.startswith((".", "cache-")) and name not in _METADATA


def has_splits_inside(folder: str) -> bool:
    """Whether it is a clone of a dataset of the Hub, a saved `DatasetDict`, or has files of two splits, by name."""
    names = os.listdir(folder)
    card = Path(folder, "README.md")
    if {"dataset_dict.json", "dataset_infos.json"} & {*names}:
        return True
    if card.is_file() and _LISTS_FILES.match(card.read_text("utf-8", "replace")):
        return True
    files = [name for name in names if is_shown_data(name)]
    if not files:
        return any(os.path.isdir(os.path.join(folder, name)) for name in names if name == "data" or _SPLIT.match(name))
    return len({match[1] for name in files if (match := _SPLIT.fullmatch(name))}) > 1


def split_files(folder: str, split: str) -> list[str]:
    """The paths of a split's files, as `datasets` finds them.

    Raises:
        CorpusError: there is no such split, or the folder is of several configurations.
    """
    states = glob.glob(os.path.join(glob.escape(folder), "*", "state.json"))
    saved = {
        path.parent.name: sorted(filter(is_shown_data, map(str, path.parent.iterdir()))) for path in map(Path, states)
    }
    splits = saved or _cloned(folder)
    if split not in splits:
        raise CorpusError(
            f"{folder} has no split {split!r}; it has: {', '.join(sorted(splits))}. Name one of them, or a file.",
            settings=("split",),
        )
    return splits[split]


def _cloned(folder: str) -> dict[str, list[str]]:
    import datasets  # with pandas and pyarrow, which other folders need not wait for

    logging.getLogger("huggingface_hub.repocard").setLevel(logging.ERROR)  # many a README has no metadata
    try:
        files = datasets.load_dataset_builder(folder).config.data_files or {}
    except (*HUB_FAILURES, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        problem = " ".join(str(error).partition("\nExample")[0].split())
        raise CorpusError(f"{folder} cannot be read as a clone: {problem}. Name a file or folder in it.") from error
    return {str(split): list(paths) for split, paths in files.items()}
