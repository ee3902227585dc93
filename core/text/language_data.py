"""The files by which texts are cut and tokenized: trained pipelines, models and dictionaries, as packages bring them.

A package may be changed under its version. So a run records their hashes, and each process that uses them compares:
before it loads them, and with what it has in memory then.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import TypeVar

from core.errors import SegmentationError
from core.text.korean_analysers import DATA, analyser, versions
from core.text.package_data import loaded_sha256, package_sha256

JAVA = "java"
Loaded = TypeVar("Loaded")


def language_data(pipeline: str, tokenizer: str) -> dict[str, str]:
    """The hash of the files of each package, by its name, and the version of Java where it is used.

    Args:
        pipeline: resolved, see `core.text.segmentation`.
        tokenizer: of ROUGE, see `core.text.tokenizers`.

    Raises:
        SegmentationError, TokenizerError: a package or Java is missing.
    """
    packages = [] if pipeline in ("blank", *DATA) else [pipeline]
    for name in DATA:
        if name in (pipeline, tokenizer):
            versions(name)  # its error says how to install it
            packages.append(DATA[name])
    data = {package: f"sha256:{package_sha256(package)}" for package in packages}
    return data | ({JAVA: _java_version()} if tokenizer == "okt" else {})


def load_with_data(recorded: Mapping[str, str], load: Callable[[], Loaded]) -> Loaded:
    """What `load` makes with the files that a run has recorded, see `language_data`.

    Raises:
        SegmentationError: this machine has other files, or this process has others in memory. The message names the
            package.
    """
    require_same_data(recorded)
    loaded = load()
    for name, data in recorded.items():
        if loaded_sha256(name) not in (None, data.removeprefix("sha256:")):
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
        is_now = _java_version() if name == JAVA else f"sha256:{package_sha256(name)}"
        if was != is_now:
            raise SegmentationError(
                f"{name} differs here: {was} was recorded, and this machine has {is_now}. Install the same on every "
                "machine, or submit a new run."
            )


def _java_version() -> str:
    analyser("okt")  # which starts it
    return ".".join(map(str, importlib.import_module("jpype").getJVMVersion()))
