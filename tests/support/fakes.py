"""A segmenter and a sweeper in a few lines, which misbehave where an article's text says so.

Words they obey: `segment-raises`, `segment-dies`, `segment-slow`, `sweep-raises`, `sweep-dies`, `sweep-slow`,
`sweep-loses-gpu`, `sweep-hogs`, which takes 6 GB of memory within some seconds, and `sweep-meets=N=FOLDER`, which waits
until N articles are being swept. With `-once=FILE` behind it (`sweep-dies-once=FILE`) a word is obeyed unless FILE
exists, which is left behind.
"""

import os
import resource
import signal
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from made_scores import make_scores

from nws.cluster.article_work import Segmenter, Sweeper, Work
from nws.core.article import Article, Segment, SegmentedArticle
from nws.core.errors import ModelError
from nws.core.types import Landed, Score, Summary

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
            obey(*word.partition("=")[::2], segmented.article)
        swept.append(segmented.article.key)
        told = {
            "": segmented.words[0],
            "pid": str(os.getpid()),
            "gpu": f"{os.environ.get('CUDA_VISIBLE_DEVICES', 'none')} {os.getpid()}",
            "order": str(len(swept)),
        }[report]
        summaries += [summary(segmented.article.id, n, told) for n in (1, 3)]
    return summaries


def obey(word: str, rest: str, article: Article) -> None:
    if word.endswith("-once"):
        marker = Path(rest)
        if marker.exists():
            return
        marker.touch()
    match word.removesuffix("-once"):
        case "sweep-raises":
            raise ValueError("cannot be swept")
        case "sweep-dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "sweep-slow":
            time.sleep(60)
        case "sweep-hogs":
            take_memory(_HOG_BYTES)
        case "sweep-loses-gpu":
            import torch  # here, since most actors of tests need none

            raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")
        case "sweep-meets":
            count, _, folder = rest.partition("=")
            (Path(folder) / article.key).touch()
            deadline = time.monotonic() + 30
            while len(list(Path(folder).iterdir())) < int(count):
                assert time.monotonic() < deadline, "the others did not come"
                time.sleep(0.02)


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
