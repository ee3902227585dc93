"""Loading of a transformer and its tokenizer from a folder, without running code from it."""

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

import torch
import transformers
from torch import nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
)

from nws.core.arithmetic import put_on, speed_up_linear_layers
from nws.core.errors import ModelError
from nws.core.types import Precision

Model = TypeVar("Model", bound=nn.Module)
ModelKind = Literal["encoder", "classifier", "language model", "generator"]
"""The use of a model: its last hidden state, its classes, its scores of the next token, or generation of text (with or
without an encoder)."""
_CLASSES = {
    "encoder": AutoModel,
    "classifier": AutoModelForSequenceClassification,
    "language model": AutoModelForCausalLM,
}
_COMPLETE = "Give a checkpoint that was saved with all its weights."
# Here a message of transformers begins to list the hundreds of architectures that it knows.
_LISTED = "\nModel type should be"
_POOLER = "pooler"  # many checkpoints lack it, and the last hidden state does not depend on it


@contextmanager
def only_errors() -> Iterator[None]:
    """Keep transformers from logging advice, and for good from showing progress, as stderr is for a run's messages."""
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    level = transformers.utils.logging.get_verbosity()
    transformers.utils.logging.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        transformers.utils.logging.set_verbosity(level)


def load_tokenizer(folder: Path) -> Any:
    """Load the tokenizer in a folder.

    Raises:
        ModelError: the folder has no tokenizer that transformers can load without other code.
    """
    try:
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"The tokenizer in {folder} cannot be loaded: {error}") from error


def load_model(
    folder: Path, kind: ModelKind = "encoder", cure: str = _COMPLETE, dtype: torch.dtype = torch.float32
) -> tuple[Any, Any]:
    """Load the tokenizer and the model in a folder, for inference, with the weights copied into memory.

    Args:
        folder: the folder of the checkpoint.
        kind: the use of the model, which decides its head.
        cure: the advice in an error.
        dtype: the type of the weights.

    Raises:
        ModelError: the folder has no such model that transformers can load without other code, or weights are missing.
    """
    try:
        with only_errors():
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
            model, loaded = _class_of(kind, folder).from_pretrained(
                folder, trust_remote_code=False, dtype=dtype, output_loading_info=True
            )
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).partition(_LISTED)[0].rstrip(".")
        raise ModelError(f"The model in {folder} cannot be loaded: {reason}. {cure}") from error
    _require_weights(loaded["missing_keys"], folder, cure, but_for=_POOLER if kind == "encoder" else "")
    return tokenizer, in_own_memory(model.eval())


def _class_of(kind: ModelKind, folder: Path) -> Any:
    """Return the class of transformers that loads a checkpoint."""
    if kind == "generator":
        encodes = AutoConfig.from_pretrained(folder, trust_remote_code=False).is_encoder_decoder
        return AutoModelForSeq2SeqLM if encodes else AutoModelForCausalLM
    return _CLASSES[kind]


def require_weights(model: nn.Module) -> None:
    """Check that no weights are missing in the folder of a transformer that another library has loaded.

    The other library does not tell, so the transformer is loaded again.

    Raises:
        ModelError: weights are missing.
    """
    part: Any = next((part for part in model.modules() if isinstance(part, PreTrainedModel)), None)
    if part is not None:
        with only_errors():
            _, loaded = type(part).from_pretrained(part.name_or_path, output_loading_info=True)
        _require_weights(loaded["missing_keys"], part.name_or_path, _COMPLETE, but_for=_POOLER)


def _require_weights(missing: Iterable[str], folder: Path | str, cure: str, but_for: str = "") -> None:
    """Refuse a model with missing weights: each process would draw others at random, and no row could be repeated."""
    if lacking := sorted(name for name in missing if not but_for or but_for not in name):
        raise ModelError(
            f"The model in {folder} lacks {len(lacking)} weights, such as {lacking[0]}, which would be random. {cure}"
        )


def in_own_memory(model: Model) -> Model:
    """Copy the weights of a model on a CPU, in place, out of the file that safetensors maps into memory.

    Otherwise a change of the file would change the weights, and a truncated file would end the process.
    """
    with torch.no_grad():
        for weights in (*model.parameters(), *model.buffers()):
            weights.data = weights.data.clone()
    return model


def put_fast_on(model: Model, device: torch.device, precision: Precision) -> Model:
    """Put a model on a device (`put_on`), and make it faster there, with the same numbers to float32 rounding.

    Raises:
        ModelError: the device lacks the precision.
    """
    put_on(model, device, precision)
    speed_up_linear_layers(model)
    if device.type == "cuda":
        prepare_masks(model)
    return model


def prepare_masks(model: nn.Module) -> None:
    """Give the transformers inside `model`, in place, the attention masks that they would make themselves.

    To make a mask, transformers checks whether anything is padded. On a GPU, this check waits for all queued work, in
    each forward pass. A mask of four dimensions is used unchanged
    (`transformers.masking_utils.create_bidirectional_mask`). Models that do not make their masks by that function, or
    do not use PyTorch's `scaled_dot_product_attention`, are left as they are.
    """
    for part in model.modules():
        if (
            isinstance(part, PreTrainedModel)
            and part.config._attn_implementation == "sdpa"
            and hasattr(sys.modules[type(part).__module__], "create_bidirectional_mask")
        ):
            part.register_forward_pre_hook(_with_full_mask, with_kwargs=True)


def _with_full_mask(
    model: nn.Module, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    mask = named.get("attention_mask")
    if mask is None or mask.dim() != 2:
        return args, named
    texts, tokens = mask.shape
    return args, {**named, "attention_mask": mask.bool()[:, None, None, :].expand(texts, 1, tokens, tokens)}
