"""How often models that are asked for n words write n, with and without the rule, and what the rule takes.

    PYTHONPATH=tests/support python -m bench.exact_length > bench/results/exact_length.txt

Tiny models with random weights write nonsense: nothing but the rule ends their texts. SmolLM2 is a real one, and is
left out where its package is not installed. The articles are the sentences of the bundled ones.
"""

import argparse
import itertools
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import tiny_checkpoints
import torch
from transformers import AutoTokenizer

from bench.machine import cpu_model
from bench.parts import ELSE, Stopwatch
from core.arithmetic import find_device
from core.errors import ModelError
from core.models import model_folder, resolve_model
from core.models.exact_length import ExactLength, WordTable
from core.models.generation import load_generator
from core.models.generators import Generator, PromptTemplate, parse_generator
from core.text.dataset import Dataset, open_dataset
from core.text.length import count_words
from core.text.rows import cleaned
from core.text.segmentation import Segmenter

LENGTHS = range(1, 22)
AT_ONCE = 420  # 20 articles at each n
ROWS = 100
TINY = ("llama", "t5", "pegasus", "bart", "gpt2_lm")


def sentences() -> list[str]:
    cut = Segmenter("blank")
    return [sentence.text for article in open_dataset(Dataset("sample")) for sentence in cut(article).sentences]


def measure(name: str, generator: Generator, texts: Sequence[str], outputs: int) -> None:
    """Write that many summaries of all lengths, and print a line of the table."""
    loaded = load_generator(replace(generator, model=resolve_model(generator.model)), find_device("cpu"), 0)
    work = list(itertools.islice(zip(itertools.cycle(texts), itertools.cycle(LENGTHS)), outputs))
    right, over, started = 0, 0, time.perf_counter()
    watch = Stopwatch(time.perf_counter, parts=("rule", ELSE))
    with mock.patch.object(ExactLength, "__call__", watch.timed("rule", ExactLength.__call__)):
        for start in range(0, len(work), AT_ONCE):
            some = work[start : start + AT_ONCE]
            written = loaded([text for text, _ in some], range(len(some)), [n for _, n in some])
            counts = [(count_words(output.text), n) for output, (_, n) in zip(written, some, strict=True)]
            right += sum(words == n for words, n in counts)
            over += sum(words > n for words, n in counts)
    seconds = time.perf_counter() - started
    share = f"{100 * watch.seconds['rule'] / seconds:.1f} %" if generator.is_exact else "–"
    beams = generator.settings.num_beams
    rule = "exact" if generator.is_exact else "as it likes"
    print(
        f"| {name} | {beams} | {rule} | {outputs} | {right} | {over} | {1000 * seconds / outputs:.0f} | {share} |",
        flush=True,
    )


def measure_random_scores(name: str, tokenizer: Any, outputs: int) -> None:
    """The same with scores that are drawn instead of computed, 100 texts at once."""
    table, source = WordTable(tokenizer), torch.Generator().manual_seed(0)
    end, right, over, started = int(tokenizer.eos_token_id), 0, 0, time.perf_counter()
    for n in itertools.islice(itertools.cycle(LENGTHS), outputs // ROWS):
        rule = ExactLength(table, n, [end], 8 * n + 32)
        ids = torch.zeros((ROWS, 1), dtype=torch.long)
        is_done = torch.zeros(ROWS, dtype=torch.bool)
        while not is_done.all():
            scores = 3 * torch.randn((ROWS, len(tokenizer)), generator=source)
            tokens = rule(ids, scores).argmax(1).masked_fill(is_done, end)
            ids, is_done = torch.cat([ids, tokens[:, None]], 1), is_done | (tokens == end)
        texts = tokenizer.batch_decode(ids[:, 1:], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        counts = [count_words(cleaned(text)) for text in texts]
        right += counts.count(n)
        over += sum(words > n for words in counts)
    milliseconds = 1000 * (time.perf_counter() - started) / outputs
    print(f"| {name} | 1 | exact | {outputs} | {right} | {over} | {milliseconds:.0f} | – |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outputs", type=int, default=10_000)
    outputs = parser.parse_args().outputs
    torch.set_num_threads(1)
    texts = sentences()
    prompt = PromptTemplate("In {n} words: {article}")
    print(f"{cpu_model()}, one thread; n from 1 to 21; {len(texts)} sentences as articles\n")
    print("| model | beams | writes | summaries | of exactly n words | of more | ms a summary | of it the rule |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in TINY:
            path = getattr(tiny_checkpoints, f"make_{name}")(Path(folder) / name)
            generator = parse_generator(str(path), prompt)
            tokenizer = AutoTokenizer.from_pretrained(path)
            measure_random_scores(f"random scores, tokens of {name}", tokenizer, outputs * 14 // 100)
            measure(f"tiny {name}", replace(generator, length="free"), texts, outputs // 200)
            measure(f"tiny {name}", generator, texts, outputs * 4 // 100)
    smollm2 = parse_generator("smollm2")
    try:
        resolve_model(smollm2.model)
    except ModelError as error:
        print(f"\nSmolLM2 was not measured: {error}")
        return
    tokenizer = AutoTokenizer.from_pretrained(model_folder(smollm2.model))
    measure("SmolLM2", smollm2, texts, outputs // 100)
    measure("SmolLM2", replace(smollm2, length="free"), texts, outputs // 500)
    measure_random_scores("random scores, tokens of SmolLM2", tokenizer, outputs * 3 // 100)
    started = time.perf_counter()
    WordTable(tokenizer)
    print(f"\nThe table of its {len(tokenizer)} tokens is made in {time.perf_counter() - started:.1f} s, once.")


if __name__ == "__main__":
    main()
