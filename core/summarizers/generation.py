"""Articles in, written summaries out: a generator's model, loaded and run in batches."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, LogitsProcessorList

from core.batching import IntArray, max_tokens, to_device, token_batches
from core.errors import ModelError
from core.models import model_folder
from core.summarizers.decoding import TopKSampling, clean, generation_config
from core.summarizers.generators import Generator, Half, complete
from core.token_budget import TokenBudget
from core.transformer import hide_progress_bars, only_errors

# Tokens of articles and summaries in one batch, times beams. What every token keeps in memory is what counts: up to
# 300 kB (GPT-2 XL in float16; T5 and PEGASUS in float32 have half of it), which is 10 GB on a GPU.
GPU_TOKEN_BUDGET = 32_768
CPU_TOKEN_BUDGET = 8_192


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model wrote for one article.

    Attributes:
        text: one line without special tokens; may be "".
        input_tokens: what the model would have read without a limit: prompt, article and special tokens.
        truncated_tokens: how many of them, all from the article's end, did not fit into the model's window.
        dtype: what the model ran in: "float32", "float16" or "bfloat16".
    """

    text: str
    input_tokens: int
    truncated_tokens: int
    dtype: str

    @property
    def extra(self) -> dict[str, float | str]:
        """What is stored with the summary."""
        return {"input_tokens": self.input_tokens, "truncated_tokens": self.truncated_tokens, "dtype": self.dtype}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model reads for one article: `ids`, after `truncated` tokens of the article were cut away."""

    ids: list[int]
    truncated: int


class LoadedGenerator:
    """A generator with its model. Call it with articles; it never writes them one at a time.

    Attributes:
        generator: what it was loaded from.
        tokens: how many tokens it has read and written, without padding; of several beams, the one that was chosen.
    """

    def __init__(self, generator: Generator, tokenizer: Any, model: Any, device: torch.device, seed: int) -> None:
        self.generator = generator
        self.tokens = 0
        self._tokenizer = tokenizer
        self._model = model
        self._seed = seed
        # Not from free memory: in half precision a text may depend on its batch, so each GPU begins with the same.
        tokens = GPU_TOKEN_BUDGET if device.type == "cuda" else CPU_TOKEN_BUDGET
        self._budget = TokenBudget(generator.model.name, device, lambda: tokens)
        window = max_tokens(tokenizer, model)
        self._config = model.generation_config = generation_config(generator, model, tokenizer, window)
        # Whether article and summary have a window each, instead of sharing one.
        self._encodes = bool(model.config.is_encoder_decoder)
        self._new_tokens = int(self._config.max_new_tokens or self._config.max_length)
        self._head, special = _special_tokens(tokenizer)
        self._tail = _ids(tokenizer, generator.suffix) + special
        self._room = window - len(self._head + self._tail) - (0 if self._encodes else self._new_tokens)
        if self._room < 1:
            raise ModelError(
                f"The window of {generator.model}, {window} tokens, has no room for an article beside the prompt. "
                "Give a model with a larger one."
            )

    def __call__(self, texts: Sequence[str], keys: Sequence[int]) -> list[Generated]:
        """A summary of each text, in their order. In float32 it does not depend on what else is in the batch.

        Args:
            texts: articles of any length; what goes beyond the model's window is cut.
            keys: a number >= 0 for each article, such as its content hash. Where tokens are drawn, the draws depend on
                the article's key and the seed alone.
        """
        prompts = [self.prompt(text) for text in texts]
        lengths = [(len(prompt.ids) + self._new_tokens) * (self._config.num_beams or 1) for prompt in prompts]
        written: dict[int, str] = {}

        def write(batch: list[int]) -> None:
            outputs = self._write([prompts[i].ids for i in batch], [keys[i] for i in batch])
            written.update(zip(batch, outputs, strict=True))

        # Padding costs little here: each token that is written is a pass of its own.
        self._budget.run(lengths, write, functools.partial(token_batches, max_padding=1))
        dtype = str(self._model.dtype).removeprefix("torch.")
        return [
            Generated(written[i], len(prompt.ids) + prompt.truncated, prompt.truncated, dtype)
            for i, prompt in enumerate(prompts)
        ]

    def prompt(self, text: str) -> Prompt:
        """What the model reads for `text`: as much of the article as fits beside prompt and special tokens."""
        # Tokenised as one text: a prefix that ends in a space changes the article's first token.
        ids = _ids(self._tokenizer, self.generator.prefix + text.strip())
        return Prompt(self._head + ids[: self._room] + self._tail, max(0, len(ids) - self._room))

    def _write(self, rows: list[list[int]], keys: list[int]) -> list[str]:
        inputs = _padded(rows, self._config.pad_token_id, left=not self._encodes)
        top_k = self.generator.settings.top_k
        draws = LogitsProcessorList([TopKSampling(top_k, self._seed, keys)] if top_k else [])
        with torch.inference_mode(), only_errors():
            output = self._model.generate(
                **{name: to_device(array, self._budget.device) for name, array in inputs.items()},
                generation_config=self._config,
                logits_processor=draws,
            )
        start = 0 if self._encodes else inputs["input_ids"].shape[1]
        self.tokens += sum(map(len, rows)) + int((output[:, start:] != self._config.pad_token_id).sum())
        written = self._tokenizer.batch_decode(output[:, start:], skip_special_tokens=True)
        return [clean(text, self.generator) for text in written]


def load_generator(generator: Generator, device: torch.device, seed: int) -> LoadedGenerator:
    """Load a generator whose model is resolved, without running code from its repository.

    Raises:
        ModelError: the files are not those of the recorded revision, or no checkpoint that can write.
        HubError: the model is not in the local cache and the Hub cannot be reached.
    """
    folder = model_folder(generator.model)
    generator = complete(generator, folder)
    has_bfloat16 = device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)
    tokenizer, model = _load(folder, generator.architecture, choose_dtype(generator.half, device.type, has_bfloat16))
    return LoadedGenerator(generator, tokenizer, model.to(device), device, seed)


def choose_dtype(half: Half, device_type: str, has_bfloat16: bool) -> torch.dtype:
    """float32 on a CPU, else `half`; but float32 where `half` is bfloat16 and the GPU computes none (a T4).

    The activations of T5 and PEGASUS go beyond float16's largest number: they would write nonsense in it.
    """
    if device_type != "cuda" or (half == "bfloat16" and not has_bfloat16):
        return torch.float32
    return torch.bfloat16 if half == "bfloat16" else torch.float16


def _load(folder: Path, architecture: str, dtype: torch.dtype) -> tuple[Any, Any]:
    hide_progress_bars()
    kind: Any = AutoModelForCausalLM if architecture == "gpt2" else AutoModelForSeq2SeqLM
    try:
        with only_errors():
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
            model, loaded = kind.from_pretrained(folder, trust_remote_code=False, dtype=dtype, output_loading_info=True)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"The generator in {folder} cannot be loaded: {error}") from error
    if missing := sorted(loaded["missing_keys"]):
        raise ModelError(
            f"The checkpoint in {folder} cannot write: it lacks {len(missing)} of the weights of a {architecture} "
            f"generator, such as {missing[0]}. Give one that was saved with its decoder and language-model head."
        )
    return tokenizer, model.eval()


def _ids(tokenizer: Any, text: str) -> list[int]:
    # Not verbose: a text beyond the window is cut by the caller.
    ids: list[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return ids


def _special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The ids that the tokenizer puts before and after a text."""
    encoded = tokenizer("a", return_special_tokens_mask=True)
    ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
    first = special.index(0)
    last = len(ids) - special[::-1].index(0)
    return ids[:first], ids[last:]


def _padded(rows: list[list[int]], fill: int, left: bool) -> dict[str, IntArray]:
    """`input_ids` and `attention_mask`, each (rows, longest). What is to be continued is padded on the left."""
    lengths = np.array([len(row) for row in rows])
    places = np.arange(lengths.max())
    mask = (places[::-1] if left else places) < lengths[:, None]
    ids = np.full(mask.shape, fill, dtype=np.int64)
    ids[mask] = np.concatenate(rows)
    return {"input_ids": ids, "attention_mask": mask.astype(np.int64)}
