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

import tiny_checkpoints
import torch

from bench.machine import cpu_model
from core.errors import ModelError
from core.models import resolve_model
from core.summarizers.exact_length import ExactLength, WordTable
from core.summarizers.generation import load_generator
from core.summarizers.generators import Generator, parse_generator
from core.summarizers.prompt_template import PromptTemplate
from core.text.corpus import DatasetSpec, open_corpus
from core.text.segmentation import Segmenter
from core.text.words import count_words

LENGTHS = range(1, 22)
AT_ONCE = 1_260  # 60 articles at each n
TINY = ("llama", "t5", "pegasus", "bart", "gpt2_lm")


def sentences() -> list[str]:
    cut = Segmenter("blank")
    return [sentence.text for article in open_corpus(DatasetSpec("sample")) for sentence in cut(article).sentences]


class Clock:
    """Seconds within `ExactLength`, which it wraps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0
        self._call = ExactLength.__call__

    def __enter__(self) -> "Clock":
        def timed(rule: ExactLength, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            started = time.perf_counter()
            result = self._call(rule, input_ids, scores)
            self.seconds += time.perf_counter() - started
            self.calls += 1
            return result

        ExactLength.__call__ = timed  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: object) -> None:
        ExactLength.__call__ = self._call  # type: ignore[method-assign]


def measure(name: str, generator: Generator, texts: Sequence[str], outputs: int) -> None:
    """Write that many summaries of all lengths, and print a line of the table."""
    loaded = load_generator(replace(generator, model=resolve_model(generator.model)), torch.device("cpu"), 0)
    work = list(itertools.islice(zip(itertools.cycle(texts), itertools.cycle(LENGTHS)), outputs))
    right, over, started = 0, 0, time.perf_counter()
    with Clock() as clock:
        for start in range(0, len(work), AT_ONCE):
            some = work[start : start + AT_ONCE]
            written = loaded([text for text, _ in some], range(len(some)), [n for _, n in some])
            counts = [(count_words(output.text), n) for output, (_, n) in zip(written, some, strict=True)]
            right += sum(words == n for words, n in counts)
            over += sum(words > n for words, n in counts)
    seconds = time.perf_counter() - started
    share = f"{100 * clock.seconds / seconds:.1f} %" if clock.calls else "–"
    beams = generator.settings.num_beams
    rule = "exact" if generator.is_exact else "as it likes"
    print(f"| {name} | {beams} | {rule} | {outputs} | {right} | {over} | {1000 * seconds / outputs:.0f} | {share} |")


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
            measure(f"tiny {name}", replace(generator, exact=False), texts, outputs // 100)
            measure(f"tiny {name}", generator, texts, outputs * 128 // 1000)
            beams = replace(generator, settings=replace(generator.settings, num_beams=3))
            measure(f"tiny {name}", beams, texts, outputs * 64 // 1000)
    smollm2 = parse_generator("smollm2")
    try:
        resolve_model(smollm2.model)
    except ModelError as error:
        print(f"\nSmolLM2 was not measured: {error}")
        return
    measure("SmolLM2", replace(smollm2, exact=False), texts, outputs // 200)
    measure("SmolLM2", smollm2, texts, outputs * 4 // 100)
    loaded = load_generator(smollm2, torch.device("cpu"), 0)
    started = time.perf_counter()
    WordTable(loaded._tokenizer)
    print(f"\nThe table of its {len(loaded._tokenizer)} tokens is made in {time.perf_counter() - started:.1f} s, once.")


if __name__ == "__main__":
    main()
