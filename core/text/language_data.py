"""The files by which texts are cut and tokenized: trained pipelines, models and dictionaries, as packages bring them.

A package may be changed under its version. So a run records their hashes, and each process that uses them compares
before it loads them.
"""

import functools
import importlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path

from core.errors import SegmentationError
from core.provenance import files_below, files_sha256
from core.text.korean_analysers import DATA, analyser, versions

JAVA = "java"


def language_data(pipeline: str, tokenizer: str) -> dict[str, str]:
    """The hash of the files of each package, by its name, and the version of Java where it is used.

    Args:
        pipeline: resolved, see `core.text.segmentation`.
        tokenizer: of ROUGE, see `core.text.tokenizers`.

    Raises:
        NwsError: a package or Java is missing.
    """
    packages = [] if pipeline in ("blank", *DATA) else [pipeline]
    for name in DATA:
        if name in (pipeline, tokenizer):
            versions(name)  # its error says how to install it
            packages.append(DATA[name])
    data = {package: f"sha256:{_first_sha256(_folder(package))}" for package in packages}
    return data | ({JAVA: _java_version()} if tokenizer == "okt" else {})


def require_same_data(recorded: Mapping[str, str]) -> None:
    """Refuse to work with other files than a run has recorded.

    Raises:
        SegmentationError: names the package.
    """
    for name, was in recorded.items():
        is_now = _java_version() if name == JAVA else f"sha256:{_sha256(_folder(name))}"
        if was != is_now:
            raise SegmentationError(
                f"{name} differs here: {was} was recorded, and this machine has {is_now}. Install the same on every "
                "machine, or start Python again and submit a new run."
            )


def _sha256(folder: Path) -> str:
    return files_sha256(folder, files_below(folder))


_first_sha256 = functools.cache(_sha256)  # a process keeps the pipeline that it has loaded, whatever is installed later


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SegmentationError(f"The package {package}, by which texts are cut, is not installed here: install it.")
    return Path(next(iter(spec.submodule_search_locations)))


def _java_version() -> str:
    analyser("okt")  # which starts it
    return ".".join(map(str, importlib.import_module("jpype").getJVMVersion()))
