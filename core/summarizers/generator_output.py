"""How a model writes summaries: its settings, random draws, and which part of its output is the summary."""

import copy
import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import spacy
import torch
from spacy.language import Language
from transformers import LogitsProcessor

from core.summarizers.generators import Generator
from core.summarizers.prompt_template import most_new_tokens
from core.text.rows import cleaned


def generation_config(generator: Generator, model: Any, stated: Any, tokenizer: Any, window: int, n: int) -> Any:
    """The `GenerationConfig` that a model writes with: no sampling, and inside its window (in tokens).

    Args:
        generator: whose settings count.
        model: the `PretrainedConfig` of its checkpoint.
        stated: the `GenerationConfig` of its checkpoint.
        tokenizer: names the token to pad with, where the checkpoint does not.
        window: how many tokens the model reads; one that has no encoder reads what it writes, too.
        n: how many words or characters its prompt asks for, `UNCUT` for none.
    """
    config = copy.deepcopy(stated)
    # Random draws come from `TopKSampling`.
    config.update(use_cache=True, do_sample=False, temperature=None, top_k=None, top_p=None)
    if not generator.checkpoint_first or (config.max_length is None and config.max_new_tokens is None):
        asked = replace(generator.settings, top_k=None).stated()
        config.update(**({"max_new_tokens": None, "min_new_tokens": None} | asked))
    if generator.prompt is not None:
        tokens = most_new_tokens(n, generator.prompt.unit)
        config.update(max_length=None, min_length=None, max_new_tokens=tokens, min_new_tokens=None)
    if model.is_encoder_decoder:
        # A summary begins with one token that is not new.
        longest = config.max_length if config.max_new_tokens is None else config.max_new_tokens + 1
        shortest = (config.min_length or 0) if config.min_new_tokens is None else config.min_new_tokens + 1
        longest = min(longest, window)
        config.update(max_length=longest, max_new_tokens=None, min_length=min(shortest, longest))
    else:
        # In a window too small for everything, the article has the other half.
        config.update(max_length=None, max_new_tokens=min(config.max_new_tokens, window // 2), min_length=None)
    config.min_new_tokens = None
    ends = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
    fills = [config.pad_token_id, tokenizer.pad_token_id, *ends]
    config.pad_token_id = next(fill for fill in fills if fill is not None)
    if generator.is_exact and config.eos_token_id is None:
        config.eos_token_id = config.pad_token_id  # a text that can have no end cannot have n words
    if generator.is_exact and (config.num_beams or 1) > 1:
        config.length_penalty = 0.0  # texts of as many words: a mean over tokens would prefer those of long words
    return config


def clean(text: str, generator: Generator) -> str:
    """The summary in a model's output: its first sentences, on one line, without characters that no database stores."""
    if generator.line_mark:
        text = text.replace(generator.line_mark, "\n")
    if generator.sentences:
        text = first_sentences(text, generator.sentences)
    return " ".join(cleaned(text).split())


def first_sentences(text: str, k: int) -> str:
    """The first `k` sentences of `text` (spaCy's rule-based sentencizer; a new line ends a sentence, too), in lines."""
    lines = (line.strip() for line in text.splitlines())
    sentences = [sentence.text for line in lines if line for sentence in _sentencizer()(line).sents]
    return "\n".join(sentences[:k])


@functools.cache
def _sentencizer() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return nlp


class TopKSampling(LogitsProcessor):
    """Keeps each row's k most probable tokens and adds Gumbel noise, so that the highest score is a random draw.

    The arg-max of log-probabilities plus Gumbel noise is distributed as the probabilities are (Gumbel 1954).
    Each row has its own source of noise, so that a draw depends on the row's article, not on the other rows.
    """

    def __init__(self, k: int, seed: int, keys: Sequence[int]) -> None:
        self._k = k
        self._sources = [np.random.default_rng([seed, key]) for key in keys]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """From scores (rows, vocabulary) to scores of the same shape, float32."""
        values, tokens = scores.float().topk(min(self._k, scores.shape[1]))
        noise = np.stack([source.gumbel(size=values.shape[1]) for source in self._sources])
        noisy = values + torch.from_numpy(noise).to(values)
        return torch.full_like(scores, -torch.inf, dtype=torch.float32).scatter(1, tokens, noisy)
