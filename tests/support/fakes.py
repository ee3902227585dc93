"""A segmenter and a sweeper in a few lines, which misbehave where an article's text says so.

Words they obey: `segment-raises`, `segment-dies`, `segment-slow`, `sweep-raises`, `sweep-dies`, `sweep-slow`, and
`sweep-dies-once=FILE`, which dies unless FILE exists and leaves it behind, and `sweep-meets=N=FOLDER`, which waits
until N articles are being swept, and `sweep-hogs`, which takes 6 GB of memory within some seconds.
"""

import os
import resource
import signal
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from made_scores import make_scores

from cluster.article_work import Segmenter, Sweeper, Work
from core.errors import ModelError
from core.types import Article, Landed, Score, Segment, SegmentedArticle, Summary

_STEP_BYTES = 64 * 2**20
_HOG_BYTES = 6 * 2**30


def article(number: int, extra_words: str = "") -> Article:
    return Article("fake", "test", str(number), f"word{number} word word {extra_words}".strip(), ("word",))


def bundles(count: int, size: int, words: dict[int, str] | None = None) -> list[list[Article]]:
    """`count` bundles of `size` articles, numbered from 0; `words[i]` are added to the i-th article."""
    articles = [article(i, (words or {}).get(i, "")) for i in range(count * size)]
    return [articles[i : i + size] for i in range(0, count * size, size)]


def together(groups: Iterable[list[Landed]]) -> list[Landed]:
    """All that a pool yields."""
    return [landed for group in groups for landed in group]


def summary(article_id: str, n: int, text: str) -> Summary:
    score = Score(1 / n, 1.0, n / 10)
    scores = make_scores(score, efficiency=0.1)
    return Summary(article_id, "fake", n, text, len(text.split()), 0.0, scores)


def make_segmenter(log: Path | None = None) -> Segmenter:
    """With `log`, a line with the process id for each time it is built."""
    if log is not None:
        with log.open("a") as file:
            file.write(f"{os.getpid()}\n")
    return segment


def segment(article: Article) -> SegmentedArticle:
    words = tuple(article.text.split())
    if "segment-raises" in words:
        raise ValueError("cannot be cut")
    if "segment-dies" in words:
        os.kill(os.getpid(), signal.SIGKILL)
    if "segment-slow" in words:
        time.sleep(1)
    whole = Segment(article.text, 0, len(words), 0)
    return SegmentedArticle(article, words, (whole,), (whole,))


def make_sweeper(report: str = "") -> Sweeper:
    """`report`: what the summaries tell instead of words, `pid`, `gpu` or `order`."""
    return partial(sweep, report, [])


def sweep(report: str, swept: list[str], articles: Sequence[SegmentedArticle]) -> list[Summary]:
    summaries = []
    for segmented in articles:
        for word in segmented.words:
            if word == "sweep-raises":
                raise ValueError("cannot be swept")
            if word == "sweep-dies":
                os.kill(os.getpid(), signal.SIGKILL)
            if word == "sweep-slow":
                time.sleep(60)
            if word == "sweep-hogs":
                take_memory(_HOG_BYTES)
            if word == "sweep-loses-gpu":
                lose_gpu()
            if word.startswith("sweep-loses-gpu-once="):
                lost = Path(word.partition("=")[2])
                if not lost.exists():
                    lost.touch()
                    lose_gpu()
            if word.startswith("sweep-dies-once="):
                marker = Path(word.partition("=")[2])
                if not marker.exists():
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            if word.startswith("sweep-meets="):
                _, count, folder = word.split("=")
                (Path(folder) / segmented.article.key).touch()
                deadline = time.monotonic() + 30
                while len(list(Path(folder).iterdir())) < int(count):
                    assert time.monotonic() < deadline, "the others did not come"
                    time.sleep(0.02)
        swept.append(segmented.article.key)
        told = {
            "": segmented.words[0],
            "pid": str(os.getpid()),
            "gpu": f"{os.environ.get('CUDA_VISIBLE_DEVICES', 'none')} {os.getpid()}",
            "order": str(len(swept)),
        }[report]
        summaries += [summary(segmented.article.id, n, told) for n in (1, 3)]
    return summaries


def lose_gpu() -> None:
    """As torch says it. Imported here: most actors of tests need no torch."""
    import torch

    raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")


def take_memory(size: int) -> None:
    """Step by step, so that who watches the memory has the time to see it."""
    taken = []
    for _ in range(0, size, _STEP_BYTES):
        taken.append(b"x" * _STEP_BYTES)
        time.sleep(0.1)


def make_with_little_memory() -> Sweeper:
    """As under `ulimit -v`: 300 MB more than the process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + 300 * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return make_sweeper()


class TokenSweeper:
    """Counts tokens, as real models do: the words of the articles."""

    def __init__(self) -> None:
        self.tokens = 0

    def __call__(self, articles: Sequence[SegmentedArticle]) -> list[Summary]:
        self.tokens += sum(len(segmented.words) for segmented in articles)
        return make_sweeper()(articles)


def make_slowly() -> Sweeper:
    """Takes as long as models do."""
    time.sleep(6)
    return make_sweeper()


def make_nothing() -> Sweeper:
    raise ModelError("Model 'no-such-model' cannot be found. Name a folder.")


def make_bug() -> Sweeper:
    raise ZeroDivisionError("a bug")


def die() -> Sweeper:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


WORK = Work(make_segmenter, make_sweeper)
