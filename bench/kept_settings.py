"""How the answer moves with what content kept is measured with: others in the floor, layer, articles, and grid.

    python -m bench.kept_settings --store sqlite:///nws.db --run RUN

The stored texts of the run are scored again with each setting: nothing else of it changes.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from unittest import mock

from core.analysis import Point
from core.analysis.content_kept import ContentKept, content_kept
from core.arithmetic import find_device
from core.metrics.config import BertScoreConfig, RougeConfig
from core.metrics.kept import OTHERS, draw_panel
from core.metrics.specs import KEPT, KEPT_WORDS
from core.metrics.standard import StandardMetrics
from core.models import parse_model, resolve_model
from core.stage import MetricsConfig
from core.sweep import take_share
from core.systems.rulers import RULERS
from core.types import Article, SystemKind
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
    show("content words", [replace(point, scores={KEPT.name: point.scores[KEPT_WORDS.name]}) for point in usual])
    for layer in LAYERS:
        show(f"layer {layer}", scored(stored, kinds, layer, OTHERS))
    for others in MORE_OR_FEWER:
        show(f"{others} others", scored(stored, kinds, LAYER, others))
    halves = [set(ids[: len(ids) // 2]), set(ids[len(ids) // 2 :])]
    for number, half in enumerate(halves, start=1):
        show(f"half {number} of the articles", [point for point in usual if point.article_id in half])
    show("every other n", [point for point in usual if point.n % 4 == 1])


def scored(stored: Sequence[ArticleTexts], kinds: dict[str, SystemKind], layer: int, others: int) -> list[Point]:
    """The run's summaries, but for those of rulers and of random draws, with a setting's scores."""
    config = MetricsConfig(BertScoreConfig(resolve_model(parse_model("all-MiniLM-L6-v2")), layer), RougeConfig())
    articles = {
        article.id: Article(article.dataset, article.split, article.key, article.text, article.references)
        for article in stored
    }
    metrics = StandardMetrics(config, find_device("cpu"), [draw_panel(stored[0].dataset, articles.values())])
    with mock.patch("core.metrics.kept.OTHERS", others):
        return [point for article in stored for point in _points(metrics, articles[article.id], article, kinds)]


def _points(
    metrics: StandardMetrics, article: Article, stored: ArticleTexts, kinds: dict[str, SystemKind]
) -> Iterator[Point]:
    rows = [row for row in stored.summaries if "draws" not in row["extra"] and row["system"] not in RULERS]
    for row, scores in zip(rows, metrics.score([(article, row["text"]) for row in rows]), strict=True):
        system = row["system"]
        yield Point(stored.dataset, stored.id, system, row["n"], row["words"], scores, kinds[system], row["text"])


def show(setting: str, points: Sequence[Point]) -> None:
    """A line for each system that one can choose."""
    for kept in content_kept([point for point in points if point.scores.get(KEPT.name) is not None]):
        if kept.of == "longest" and kept.kind != "control":
            print(f"| {setting} | {kept.system} | {_shares(points, kept)} | {_smallest(kept)} |", flush=True)


def _shares(points: Sequence[Point], kept: ContentKept) -> str:
    of_reference = next(one for one in content_kept(points) if (one.system, one.of) == (kept.system, "reference"))
    shares = {length.n: length.share for length in of_reference.lengths}
    return ", ".join(f"{shares[n].mean:.1%}" if n in shares else "–" for n in SHOWN)


def _smallest(kept: ContentKept) -> str:
    return " | ".join(f"{one.n} ({one.low}–{one.high})" for one in kept.smallest)


if __name__ == "__main__":
    main()
