"""Loading of a generator's checkpoint, and generation of summaries in batches."""

import copy
import functools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import spacy
import torch
from spacy.language import Language
from transformers import LogitsProcessor, LogitsProcessorList

from nws.core.arithmetic import speed_up_linear_layers
from nws.core.errors import ModelError
from nws.core.models import model_folder
from nws.core.models.batching import TokenBudget, max_tokens, token_batches
from nws.core.models.drafts import Drafting
from nws.core.models.exact_length import ExactLength, WordTable
from nws.core.models.generators import DRAFTS, DRAFTS_ENDED, DRAWN_AGAIN, Generator, Half, complete, most_new_tokens
from nws.core.models.loading import load_model, only_errors
from nws.core.models.model_input import Prompt, PromptReader, has_copies, padded_inputs, prompt_maker, reads_on, shared
from nws.core.text.length import UNCUT
from nws.core.text.model_outputs import CleanOutput, clean_output, opened_thoughts
from nws.core.text.rows import cleaned
from nws.core.types import AMPERE

CPU_TOKEN_BUDGET = 8_192
# The tokens of articles and summaries in one batch, times beams. 32 articles have 150,000 with BART-large and 4 beams.
# With all of them in one batch, an H100 wrote 7.5 articles a second, and only 0.9 in batches of 7 to 10.
GPU_TOKEN_BUDGET = 262_144
# On a GPU, articles are padded to a multiple of this, because libraries need time to prepare for each new shape.
SOURCE_MULTIPLE = 64
_CURE = "Give a checkpoint that was saved with its decoder and language-model head."


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """A summary that a model generated, on one line, and the extra values that are stored with it."""

    text: str
    extra: Mapping[str, float | str]


class LoadedGenerator:
    """A generator with its model on a device. Call it with articles; it generates in batches.

    Attributes:
        generator: the description of the generator.
        config: a function from n to the `GenerationConfig` of summaries of n words.
    """

    def __init__(self, generator: Generator, tokenizer: Any, model: Any, device: torch.device, seed: int) -> None:
        self.generator = generator
        self._tokenizer = tokenizer
        self._model = model
        self._seed = seed
        self._words = WordTable(tokenizer) if generator.is_exact else None
        self._drafts = DRAFTS if generator.drafts else 1
        tokens = GPU_TOKEN_BUDGET if device.type == "cuda" else CPU_TOKEN_BUDGET
        self._budget = TokenBudget(generator.model.name, device, tokens)
        self._window = max_tokens(tokenizer, model, generator.most_tokens)
        self._make_prompt = prompt_maker(generator, tokenizer)
        # With an encoder, article and summary each have a window. Without one, they share it.
        self._encodes = bool(model.config.is_encoder_decoder)
        self._reads_on = not self._encodes and reads_on(model)
        self._copies = self._drafts > 1 and not self._encodes and has_copies(model)
        # On a GPU, padding keeps the number of shapes small. On a CPU, it would only cost time.
        self._multiple = SOURCE_MULTIPLE if self._encodes and device.type == "cuda" else 1
        of_model = generator, model.config, model.generation_config, tokenizer, self._window
        self.config = functools.cache(functools.partial(generation_config, *of_model))
        self._reader = functools.cache(self._make_reader)
        first = self.prompt("a")  # so that a prompt too long for the window is refused before any article
        self._opened = opened_thoughts(tokenizer.decode(first.ids)) if "thoughts" in generator.clean_outputs else ""

    def __call__(
        self, texts: Sequence[str], keys: Sequence[int], lengths: Sequence[int] | None = None
    ) -> list[GeneratedText]:
        """Write a summary of each text, in their order. In float32, it does not depend on the other texts of its batch.

        `extra` has `input_tokens`, the length of the whole input (prompt, article and special tokens);
        `truncated_tokens`, the number of tokens at the article's end that did not fit into the window; `dtype`, the
        type that the model ran in; and `raw_text`, if something was left out of the output.

        Args:
            texts: articles of any length. They are cut to the model's window.
            keys: a number >= 0 for each article, such as its content hash. If tokens are drawn, the draws depend only
                on the article's key and the seed.
            lengths: for each text, the number of words that its prompt asks for; `UNCUT` if it asks for none. Default:
                `UNCUT` for all.

        Raises:
            ModelError: an output ends within its thoughts.
        """
        lengths = [UNCUT] * len(texts) if lengths is None else lengths
        prompts = [self.prompt(text, n) for text, n in zip(texts, lengths, strict=True)]
        of_text = defaultdict(list)
        for i, article in enumerate(texts):
            of_text[article].append(i)
        summaries: dict[int, CleanOutput] = {}
        self._write_all(list(of_text.values()), prompts, keys, lengths, summaries)
        dtype = str(self._model.dtype).removeprefix("torch.")
        written = []
        for i, prompt in enumerate(prompts):
            text, raw = summaries[i]
            if text is None:
                raise ModelError(
                    f"{self.generator.model.name} ended within its thoughts, after all tokens that a checkpoint may "
                    "write. Use a checkpoint that does not think, or serve it behind an endpoint with max_tokens in "
                    "`parameters`."
                )
            counts = {"input_tokens": len(prompt.ids) + prompt.truncated, "truncated_tokens": prompt.truncated}
            written.append(GeneratedText(text, {**counts, "dtype": dtype, **raw}))
        return written

    def prompt(self, text: str, n: int = UNCUT) -> Prompt:
        """Make the input for an article, with as much of it as fits beside prompt and special tokens.

        Raises:
            ModelError: nothing of the article fits.
        """
        prompt = self._make_prompt(text, n, self._window - (0 if self._encodes else self._new_tokens(n)))
        if prompt is None:
            raise ModelError(
                f"The window of {self.generator.model}, {self._window} tokens, has no room for an article beside the "
                "prompt. Use a model with a larger window."
            )
        return prompt

    def _new_tokens(self, n: int) -> int:
        config = self.config(n)
        return int(config.max_new_tokens or config.max_length)

    def _source_length(self, ids: list[int]) -> int:
        """Return the padded length, in tokens, of the inputs of a batch whose longest prompt is `ids`."""
        return min(-(-len(ids) // self._multiple) * self._multiple, max(self._window, len(ids)))

    def _write_all(
        self,
        groups: list[list[int]],
        prompts: list[Prompt],
        keys: Sequence[int],
        lengths: Sequence[int],
        summaries: dict[int, CleanOutput],
    ) -> None:
        """Generate the summaries of groups of prompts into `summaries`. The prompts of a group are for one article.

        The common beginning of a group's prompts is read once, in a pass with those of other groups.
        """
        # One token is left to read, since the first new token comes after it.
        read = [shared([prompts[i].ids[:-1] for i in group]) if self._reads_on else [] for group in groups]

        def write(batch: list[int]) -> None:
            reader = self._after([read[j] for j in batch])
            for n in dict.fromkeys(lengths[i] for j in batch for i in groups[j]):  # all texts of a pass have one limit
                places = [(row, i) for row, j in enumerate(batch) for i in groups[j] if lengths[i] == n]
                rows, indices = zip(*places, strict=True)
                texts = self._write(reader, rows, [prompts[i].ids for i in indices], [keys[i] for i in indices], n)
                summaries.update(zip(indices, texts, strict=True))

        sizes = []
        for group, start in zip(groups, read, strict=True):
            of_length: Counter[int] = Counter()
            for i in group:
                of_length[lengths[i]] += self._tokens(prompts[i].ids, lengths[i])
            sizes.append(len(start) + max(of_length.values()))
        # Padding costs little here, since each new token is a pass of its own.
        self._budget.run(sizes, write, functools.partial(token_batches, max_padding=1))

    def _tokens(self, ids: list[int], n: int) -> int:
        """Return the number of tokens of a prompt and of all that is written for it."""
        rows = (self.config(n).num_beams or 1) * self._drafts + self._copies
        return (self._source_length(ids) + self._new_tokens(n)) * rows

    def _after(self, prompts: Sequence[Sequence[int]]) -> PromptReader:
        """Return a reader that has read these beginnings of prompts, and the common beginning only once."""
        reader = self._reader()
        begun = list(reader.read[0])
        # A tokenizer may join the beginning of an article to what stands before it.
        if not all(ids[: len(begun)] == begun != ids for ids in prompts):
            reader = replace(reader, read=[()], cache=None)
        with only_errors():
            return reader.after(prompts, [0] * len(prompts))

    def _write(
        self,
        reader: PromptReader,
        rows: Sequence[int],
        prompts: Sequence[list[int]],
        keys: Sequence[int],
        n: int,
        attempt: int = 0,
    ) -> list[CleanOutput]:
        """Write the summaries of `n` words for prompts that go on from `rows` of what was read."""
        config, rules = self.config(n), self._rules(keys, n, attempt)
        with only_errors():
            if self._encodes:
                width = self._source_length(max(prompts, key=len))
                padded = [[*ids, *[None] * (width - len(ids))] for ids in prompts]
                inputs = padded_inputs(padded, config.pad_token_id, self._budget.device)
                inputs = {name: values.repeat_interleave(self._drafts, 0) for name, values in inputs.items()}
            else:
                if self._copies:  # all drafts have one prompt, which is read once
                    reader, rows = reader.after([ids[:-1] for ids in prompts], rows), range(len(prompts))
                inputs = reader.inputs(prompts, rows, self._drafts)
            # Also set as the model's own, since transformers takes values from there that this one leaves open.
            self._model.generation_config = config
            output = self._model.generate(**inputs, generation_config=config, logits_processor=rules)
        start = 0 if self._encodes else inputs["input_ids"].shape[1]
        if self.generator.drafts:
            texts = []
            drafted = zip(rows, prompts, keys, rules[0].best(self._drafts), strict=True)
            for row, ids, key, (text, ended) in drafted:
                if ended or attempt == DRAWN_AGAIN:
                    texts.append(self._cleaned(text, {DRAFTS_ENDED: ended}))
                else:
                    texts += self._write(reader, [row], [ids], [key], n, attempt + 1)
            return texts
        # The clean-up of some tokenizers removes spaces, which joins words.
        without_cleanup = {"clean_up_tokenization_spaces": False} if self._words else {}
        texts = self._tokenizer.batch_decode(output[:, start:], skip_special_tokens=True, **without_cleanup)
        return [self._cleaned(text) for text in texts]

    def _cleaned(self, text: str, extra: Mapping[str, float | str] = MappingProxyType({})) -> CleanOutput:
        summary, raw = clean_output(self._opened + text, self.generator.clean_outputs)
        return (summary if summary is None else clean(summary, self.generator)), {**raw, **extra}

    def _make_reader(self) -> PromptReader:
        """Make the reader of the common beginning of all prompts: that of prompts for two short articles and two n."""
        config = copy.deepcopy(self.config(UNCUT))
        config.update(max_new_tokens=1, return_dict_in_generate=True)
        reader = PromptReader(self._model, config, self._budget.device)
        beginning = shared([self.prompt("a", 1).ids, self.prompt("1", 2).ids]) if self._reads_on else []
        return reader.after([beginning], [0])

    def _rules(self, keys: Sequence[int], n: int, attempt: int = 0) -> LogitsProcessorList:
        """Make the processors of the scores of the next token. Each attempt draws other drafts."""
        settings, config = self.generator.settings, self.config(n)
        ends = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
        if settings.top_k:
            firsts = (key * self._drafts + (attempt << 128) for key in keys)  # no other draft has such a seed
            seeds = [first + draft for first in firsts for draft in range(self._drafts)]
            draw = TopKSampling(settings.top_k, self._seed, seeds, settings.temperature or 1)
            prompt = self.generator.prompt
            drawn = draw if prompt is None else Drafting(self._tokenizer, draw, ends, len(seeds), n, prompt.unit)
            return LogitsProcessorList([drawn])
        if self._words is None:
            return LogitsProcessorList()
        # The length of an encoder-decoder counts its first token, too.
        limit = config.max_new_tokens or config.max_length - 1
        return LogitsProcessorList([ExactLength(self._words, n, ends, limit)])


def load_generator(generator: Generator, device: torch.device, seed: int) -> LoadedGenerator:
    """Load a generator whose model is resolved. No code from its repository is run.

    Raises:
        ModelError: the files are not those of the recorded revision, or not a checkpoint that generates text.
        HubError: the model is not in the local cache and the Hub cannot be reached.
    """
    has_bfloat16 = device.type == "cuda" and torch.cuda.get_device_capability(device) >= AMPERE
    dtype = choose_dtype(generator.half, device.type, has_bfloat16)
    folder = model_folder(generator.model)
    completed = complete(generator, folder)
    tokenizer, model = load_model(folder, "generator", _CURE, dtype)
    speed_up_linear_layers(model.to(device))
    return LoadedGenerator(completed, tokenizer, model, device, seed)


def choose_dtype(half: Half, device_type: str, has_bfloat16: bool) -> torch.dtype:
    """The type to run in: float32 on a CPU, and where `half` is bfloat16 and the GPU has none (a T4); else `half`.

    The activations of T5 and PEGASUS go beyond float16's largest number: they would write nonsense in it.
    """
    if device_type != "cuda" or (half == "bfloat16" and not has_bfloat16):
        return torch.float32
    return torch.bfloat16 if half == "bfloat16" else torch.float16


def generation_config(generator: Generator, model: Any, stated: Any, tokenizer: Any, window: int, n: int) -> Any:
    """Make the `GenerationConfig` of a generator, without sampling, and within the window of its model.

    Args:
        generator: the generator, whose settings take precedence.
        model: the `PretrainedConfig` of the checkpoint.
        stated: the `GenerationConfig` of the checkpoint.
        tokenizer: the tokenizer, with the token to pad with if the checkpoint states none.
        window: the window of the model, in tokens. Without an encoder, the window also has the summary.
        n: the number of words or characters that the prompt asks for; `UNCUT` for none.
    """
    config = copy.deepcopy(stated)
    # Random draws come from `TopKSampling` instead.
    config.update(use_cache=True, do_sample=False, temperature=None, top_k=None, top_p=None)
    if not generator.checkpoint_first or (config.max_length is None and config.max_new_tokens is None):
        settings = replace(generator.settings, top_k=None, temperature=None).stated()
        config.update(**({"max_new_tokens": None, "min_new_tokens": None} | settings))
    if generator.prompt is not None:
        tokens = most_new_tokens(n, generator.prompt.unit)
        config.update(max_length=None, min_length=None, max_new_tokens=tokens, min_new_tokens=None)
    if model.is_encoder_decoder:
        # A summary begins with a token that does not count as new.
        longest = config.max_length if config.max_new_tokens is None else config.max_new_tokens + 1
        shortest = (config.min_length or 0) if config.min_new_tokens is None else config.min_new_tokens + 1
        longest = min(longest, window)
        config.update(max_length=longest, max_new_tokens=None, min_length=min(shortest, longest))
    else:
        # If the window is too small for both, article and summary get half each.
        config.update(max_length=None, max_new_tokens=min(config.max_new_tokens, window // 2), min_length=None)
    config.min_new_tokens = None
    ends = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
    fills = [config.pad_token_id, tokenizer.pad_token_id, *ends]
    config.pad_token_id = next(fill for fill in fills if fill is not None)
    if (generator.is_exact or generator.drafts) and config.eos_token_id is None:
        config.eos_token_id = config.pad_token_id  # without an end, a text cannot have n words
    return config


def clean(text: str, generator: Generator) -> str:
    """Return the summary in a model's output: its first sentences, on one line, without characters no database has."""
    if generator.line_mark:
        text = text.replace(generator.line_mark, "\n")
    if generator.sentences:
        text = first_sentences(text, generator.sentences)
    return " ".join(cleaned(text).split())


def first_sentences(text: str, k: int) -> str:
    """Return the first `k` sentences of a text, one per line (by spaCy's sentencizer; a new line also ends one)."""
    lines = (line.strip() for line in text.splitlines())
    sentences = [sentence.text for line in lines if line for sentence in _sentencizer()(line).sents]
    return "\n".join(sentences[:k])


@functools.cache
def _sentencizer() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return nlp


class TopKSampling(LogitsProcessor):
    """Top-k sampling: Gumbel noise gives the highest score to a random one of each row's k most probable tokens.

    The arg-max of log-probabilities plus Gumbel noise has the distribution of the probabilities (Gumbel 1954). A
    temperature below 1 makes probable tokens more probable. Each row has its own source of noise, so that a draw
    depends on its article and not on the other rows.
    """

    def __init__(self, k: int, seed: int, keys: Sequence[int], temperature: float = 1) -> None:
        self._k, self._temperature = k, temperature
        self._sources = [np.random.default_rng([seed, key]) for key in keys]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Turn scores (rows, vocabulary) into scores of the same shape, float32."""
        values, tokens = scores.float().topk(min(self._k, scores.shape[1]))
        noise = np.stack([source.gumbel(size=values.shape[1]) for source in self._sources])
        noisy = values / self._temperature + torch.from_numpy(noise).to(values)
        return torch.full_like(scores, -torch.inf, dtype=torch.float32).scatter(1, tokens, noisy)
