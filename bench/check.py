"""What `nws check` costs on 100,000 articles of 600 words: CPU time and memory.

    python -m bench.check [--articles N]

Articles are drawn from the words of the bundled sample, with the marks that stand at them, so that checks read what
they read in news.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.machine import cpu_model, keep
from nws.core.text.dataset import Dataset, open_dataset

WORDS, REFERENCE_WORDS = 600, 45


def write_articles(file: Path, count: int) -> None:
    """Write articles; a reference has runs of its article's words."""
    words = np.array([word for article in open_dataset(Dataset("sample")) for word in article.text.split()])
    rng = np.random.default_rng(0)
    with file.open("w", encoding="utf-8") as out:
        for number in range(count):
            text = rng.choice(words, WORDS)
            starts = rng.integers(0, WORDS - 9, REFERENCE_WORDS // 9)
            reference = np.concatenate([text[start : start + 9] for start in starts])
            row = {"id": str(number), "article": " ".join(text), "highlights": " ".join(reference)}
            out.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", type=int, default=100_000)
    count = parser.parse_args().articles
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "news.jsonl"
        write_articles(file, count)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "nws", "check", str(file), "--json"], check=True, capture_output=True, text=True
        )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    report = {
        "cpu": cpu_model(),
        "articles": json.loads(done.stdout)["articles"],
        "words_of_an_article": WORDS,
        "cpu_seconds": round(seconds, 1),
        "peak_memory_mb": round(used.ru_maxrss / 1024),
    }
    keep("check", "".join(f"{name:20} {value}\n" for name, value in report.items()), report)


if __name__ == "__main__":
    main()
