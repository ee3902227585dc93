"""What it saves to read an article once for all n: CPU time of SmolLM2 in two checkouts, in turns.

    git worktree add ../before 323b7a21
    python -m bench.prompt_reading ../shared/data/cnn_dailymail_train.jsonl ../before > bench/results/prompt_reading.txt

The article is the one of about 600 words. Each repetition is a process of its own, which writes `exactly` each n.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

LENGTHS, WORDS = range(1, 22, 2), 600


def write(text: str) -> None:
    """Print the CPU seconds of all n, and the tokens of the longest prompt. Imports are those of the checkout."""
    from nws.core.arithmetic import find_device
    from nws.core.models import resolve_model
    from nws.core.models.generation import load_generator
    from nws.core.models.generators import parse_generator

    torch.set_num_threads(1)
    generator = parse_generator("smollm2")
    cpu = find_device("cpu")
    loaded = load_generator(replace(generator, model=resolve_model(generator.model)), cpu, 0)
    loaded(["Snow fell in the north."], [0], [3])  # what is prepared once
    start = time.process_time()
    written = loaded([text] * len(LENGTHS), [0] * len(LENGTHS), list(LENGTHS))
    seconds = time.process_time() - start
    print(json.dumps([seconds, max(output.extra["input_tokens"] for output in written)]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.prompt_reading", description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=Path, help="JSON lines with `article`")
    parser.add_argument("before", type=Path, help="a checkout of the commit to compare with")
    parser.add_argument("--reps", type=int, default=5, help="repetitions of each")
    given = parser.parse_args()

    from bench.machine import cpu_model

    texts = [json.loads(line)["article"] for line in given.dataset.read_text(encoding="utf-8").splitlines()]
    text = min(texts, key=lambda article: abs(len(article.split()) - WORDS))
    arms = {"before": given.before.resolve(), "after": Path(__file__).parents[1]}
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    tokens = {}
    for _ in range(given.reps):
        for name, checkout in arms.items():
            environment = os.environ | {"PYTHONPATH": str(checkout)}
            command = [sys.executable, "-P", __file__, "--write"]
            done = subprocess.run(command, input=text, env=environment, check=True, capture_output=True, text=True)
            spent, tokens[name] = json.loads(done.stdout.splitlines()[-1])
            seconds[name].append(spent)
            print(f"{name}: {spent:.2f} s", file=sys.stderr)
    ratios = [after / before for before, after in zip(*seconds.values(), strict=True)]
    print(f"{cpu_model()}, 1 thread, a busy machine; {given.reps} repetitions in turns")
    print(f"SmolLM2, an article of {len(text.split())} words, exactly n words for {len(LENGTHS)} n from 1 to 21\n")
    print("| | tokens of a prompt | CPU s, median | least | most |\n| --- | --- | --- | --- | --- |")
    for name, spent in seconds.items():
        print(f"| {name} | {tokens[name]} | {statistics.median(spent):.2f} | {min(spent):.2f} | {max(spent):.2f} |")
    print(f"\nafter / before: {statistics.median(ratios):.2f}, median of pairs; {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write(sys.stdin.read())
    else:
        main()
