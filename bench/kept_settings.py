"""How the answer moves with what content kept is measured with: others in the floor, layer, articles, and grid.

    python -m bench.kept_settings --store sqlite:///nws.db --run RUN

The stored texts of the run are scored again with each setting: nothing else of it changes.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from unittest import mock

import numpy as np

from core.analysis.content_kept import ContentKept, content_kept
from core.analysis.points import NO_TEXT, Points
from core.arithmetic import find_device
from core.article import Article
from core.metrics.config import BertScoreConfig, RougeConfig
from core.metrics.kept import OTHERS, draw_panel
from core.metrics.specs import KEPT, KEPT_WORDS
from core.metrics.standard import StandardMetrics
from core.models import parse_model, resolve_model
from core.stage import MetricsConfig
from core.sweep import take_share
from core.systems.rulers import RULERS
from core.types import SystemKind
from jobs.store import ArticleTexts, open_store

LAYER, LAYERS = 6, (3, 4, 5)
MORE_OR_FEWER = (3, 6, 24)
SHOWN = (7, 21)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True)
    parser.add_argument("--run", required=True)
    options = parser.parse_args()
    with open_store(options.store, read_only=True) as store:
        ids = sorted(store.content_hashes(options.run))
        stored = store.article_texts(options.run, ids)
        kinds = store.systems(options.run)
    take_share("cpu", None)
    heading = ", ".join(f"kept at {n}" for n in SHOWN)
    print(f"{len(stored)} articles\n\n| setting | system | {heading} | 80 % of its longest | 90 % |")
    print("| --- | --- | --- | --- | --- |")
    usual = scored(stored, kinds, LAYER, OTHERS)
    show(f"layer {LAYER}, {OTHERS} others", usual)
    show("content words", replace(usual, scores={KEPT.name: usual.scores[KEPT_WORDS.name]}))
    for layer in LAYERS:
        show(f"layer {layer}", scored(stored, kinds, layer, OTHERS))
    for others in MORE_OR_FEWER:
        show(f"{others} others", scored(stored, kinds, LAYER, others))
    first_half = np.array([article_id in set(ids[: len(ids) // 2]) for _, article_id in usual.articles])[usual.article]
    for number, half in enumerate((first_half, ~first_half), start=1):
        show(f"half {number} of the articles", usual.take(half))
    show("every other n", usual.take(usual.n % 4 == 1))


def scored(stored: Sequence[ArticleTexts], kinds: dict[str, SystemKind], layer: int, others: int) -> Points:
    """The run's summaries, but for those of rulers and of random draws, with a setting's scores."""
    config = MetricsConfig(BertScoreConfig(resolve_model(parse_model("all-MiniLM-L6-v2")), layer), RougeConfig())
    articles = [Article(one.dataset, one.split, one.key, one.text, one.references) for one in stored]
    metrics = StandardMetrics(config, find_device("cpu"), [draw_panel(stored[0].dataset, articles)])
    with mock.patch("core.metrics.kept.OTHERS", others):
        rows = [row for i, one in enumerate(stored) for row in _rows(metrics, articles[i], one, i)]
    systems = sorted({system for _, system, *_ in rows})
    place = {system: i for i, system in enumerate(systems)}
    article, n, words = (np.array([row[i] for row in rows], dtype=np.int32) for i in (0, 2, 3))
    return Points(
        systems=tuple(systems),
        kinds=tuple(kinds[system] for system in systems),
        articles=tuple((one.dataset, one.id) for one in stored),
        system=np.array([place[system] for _, system, *_ in rows], dtype=np.int32),
        article=article,
        n=n,
        words=words,
        text=np.full(len(rows), NO_TEXT, dtype=np.int64),
        scores={
            spec.name: np.array([scores.get(spec.name, np.nan) for *_, scores in rows]) for spec in (KEPT, KEPT_WORDS)
        },
    )


def _rows(
    metrics: StandardMetrics, article: Article, stored: ArticleTexts, number: int
) -> Iterator[tuple[int, str, int, int, Mapping[str, float]]]:
    """For each summary: the number of its article, its system, n and words, and its scores."""
    rows = [row for row in stored.summaries if "draws" not in row["extra"] and row["system"] not in RULERS]
    for row, scores in zip(rows, metrics.score([(article, row["text"]) for row in rows]), strict=True):
        yield number, row["system"], row["n"], row["words"], scores


def show(setting: str, points: Points) -> None:
    """A line for each system that one can choose."""
    for kept in content_kept(points):
        if kept.of == "longest" and kept.kind != "control":
            print(f"| {setting} | {kept.system} | {_shares(points, kept)} | {_smallest(kept)} |", flush=True)


def _shares(points: Points, kept: ContentKept) -> str:
    of_reference = next(one for one in content_kept(points) if (one.system, one.of) == (kept.system, "reference"))
    shares = {length.n: length.share for length in of_reference.lengths}
    return ", ".join(f"{shares[n].mean:.1%}" if n in shares else "–" for n in SHOWN)


def _smallest(kept: ContentKept) -> str:
    return " | ".join(f"{one.n} ({one.low}–{one.high})" for one in kept.smallest)


if __name__ == "__main__":
    main()
