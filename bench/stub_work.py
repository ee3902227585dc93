"""Work that costs next to nothing, for the real command line, driver, pool and store to be run around.

Each article takes NWS_STUB_SECONDS (0.01), and NWS_STUB_SEGMENT_SECONDS (0) before, to be segmented; an actor takes
NWS_STUB_LOAD_SECONDS (0) to begin. Scores are made of the article's id: they mean nothing.
"""

import hashlib
import json
import os
import random
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nws.cluster.article_work import Work
from nws.core.article import Article, Segment, SegmentedArticle
from nws.core.metrics.specs import BY_COLUMN
from nws.core.text.length import first_words
from nws.core.text.word_kinds import KIND_TERMS
from nws.core.types import Summary

if TYPE_CHECKING:  # workers import this file, and the real sweep would take torch along
    from nws.core.stage import Stage

_WORDS = (
    *("bridge", "city", "council", "news", "opened", "plan", "rain"),
    *("river", "said", "station", "the", "town", "was"),
)


def write_articles(path: Path, count: int, words: int = 30) -> None:
    """A JSONL file of so many articles of so many words, the same each time."""
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for key in range(count):
            text = " ".join(draw.choices(_WORDS, k=words))
            row = {"id": str(key), "article": f"{text.capitalize()}.", "summary": text[: len(text) // 4]}
            file.write(json.dumps(row) + "\n")


def work(stage: "Stage", device: str, memory_fraction: float | None) -> Work:
    """In place of `nws.jobs.drive.pools.stage_work`. It is the driver's environment that counts, not the workers'."""
    return Work(
        partial(make_segmenter, _seconds("SEGMENT_SECONDS", 0)),
        partial(make_sweeper, stage.signatures, stage.lengths, _seconds("SECONDS", 0.01), _seconds("LOAD_SECONDS", 0)),
    )


def _seconds(name: str, default: float) -> float:
    return float(os.environ.get(f"NWS_STUB_{name}", default))


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)  # under a clock that is shifted by libfaketime, time.sleep is an error


def make_segmenter(seconds: float) -> Callable[[Article], SegmentedArticle]:
    return partial(segment, seconds)


def segment(seconds: float, article: Article) -> SegmentedArticle:
    _pause(seconds)
    words = tuple(article.text.split())
    whole = Segment(article.text, 0, len(words), 0)
    return SegmentedArticle(article, words, (whole,), (whole,))


def make_sweeper(
    systems: tuple[str, ...], lengths: tuple[int, ...], seconds: float, load_seconds: float
) -> Callable[[Sequence[SegmentedArticle]], list[Summary]]:
    _pause(load_seconds)
    return partial(sweep, systems, lengths, seconds)


def sweep(
    systems: tuple[str, ...], lengths: tuple[int, ...], seconds: float, bundle: Sequence[SegmentedArticle]
) -> list[Summary]:
    _pause(seconds * len(bundle))
    return [summary(found.article, system, n) for found in bundle for system in systems for n in lengths]


def summary(article: Article, system: str, n: int) -> Summary:
    text = first_words(article.text, n)
    digest = hashlib.sha256(f"{article.id} {system} {n}".encode()).digest()
    parts = [byte / 255 for byte in digest]
    scores = dict(zip((*BY_COLUMN, *KIND_TERMS), parts, strict=False))
    return Summary(article.id, system, n, text, len(text.split()), 0.0, scores)
