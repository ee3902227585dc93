"""A transformer and its tokenizer from a folder, in float32, without running code that came with it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModel, AutoTokenizer

from core.errors import ModelError
from core.precision import Precision

DTYPES: dict[Precision, torch.dtype] = {
    "float32": torch.float32,
    "tf32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}


def hide_progress_bars() -> None:
    """Keep transformers from drawing one for every model on stderr, where a run has its own."""
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]


@contextmanager
def only_errors() -> Iterator[None]:
    """Keep transformers from logging advice on stderr, where a run has its own messages."""
    level = transformers.utils.logging.get_verbosity()
    transformers.utils.logging.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        transformers.utils.logging.set_verbosity(level)


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer alone.

    Raises:
        ModelError: the folder holds none that transformers can load by itself.
    """
    try:
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"The tokenizer in {folder} cannot be loaded: {error}") from error


def load_transformer(folder: Path) -> tuple[Any, Any]:
    """The tokenizer and the model, for inference.

    Raises:
        ModelError: the folder holds no model that transformers can load by itself.
    """
    hide_progress_bars()
    tokenizer = load_tokenizer(folder)
    try:
        model = AutoModel.from_pretrained(folder, trust_remote_code=False, dtype=torch.float32)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"The model in {folder} cannot be loaded: {error}") from error
    return tokenizer, model.eval()
