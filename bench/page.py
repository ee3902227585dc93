"""What the report page costs at the size of the study: 4,000 articles with 132 summaries each.

    python -m bench.page

The store is made: articles of about 840 words that are sentences of real ones (../shared/data where it is there, else
the bundled sample), summaries of words drawn from their article in order, scores of a seeded generator. The page is
opened in Chromium, from a file. First paint is Chromium's own first-contentful-paint. Moving n is the time from the
slider's event until the new summary, its marks and its scores are laid out, over all n of some articles.
"""

import argparse
import functools
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from bench.large_store import LENGTHS, SYSTEMS, fill_run
from bench.machine import cpu_model, keep
from nws.core.article import Article
from nws.core.metrics.specs import F1S, as_columns
from nws.core.text.dataset import BUNDLED
from nws.core.text.length import word_spans
from nws.core.types import Score, Summary
from nws.jobs.report.page.page import write_page
from nws.jobs.store import open_store

REAL = Path(__file__).parents[2] / "shared" / "data" / "cnn_dailymail.jsonl"
WORDS, LOOKED_AT = 840, 20
MOST_MB, MOST_PAINT, MOST_MOVE = 25.0, 1500.0, 50.0

_MOVE = """async (value) => {
    const slider = document.getElementById("n");
    const before = document.getElementById("scores").firstChild;
    const start = performance.now();
    slider.value = value;
    slider.dispatchEvent(new Event("input"));
    while (document.getElementById("scores").firstChild === before) await null;
    while (!document.getElementById("text").firstChild) await null;
    document.getElementById("viewer").getBoundingClientRect();
    return performance.now() - start;
}"""


@dataclass(frozen=True, slots=True)
class Found:
    """Seconds to write the page; its MB; how many articles its viewer holds; then milliseconds in the browser."""

    articles: int
    seconds: float
    megabytes: float
    in_viewer: int
    first_paint: float
    usable: float
    other_article: float
    move_median: float
    move_most: float


def _sentences() -> list[str]:
    source = REAL if REAL.exists() else BUNDLED["sample"]
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    return [sentence.strip() for row in rows for sentence in row["article"].split(". ") if sentence.strip()]


def _article(sentences: list[str], key: str, rng: np.random.Generator) -> Article:
    chosen: list[str] = []
    words = 0
    while words < WORDS:
        chosen.append(sentences[rng.integers(len(sentences))])
        words += len(chosen[-1].split())
    reference = ". ".join(sentences[i] for i in rng.integers(len(sentences), size=3))
    return Article("news", "test", f"article-{key}", ". ".join(chosen), (reference,))


def _summaries(article: Article, rng: np.random.Generator) -> Iterator[Summary]:
    words = [article.text[start:end].strip(".,\"'") for start, end in word_spans(article.text)]
    for place, (system, kind) in enumerate(SYSTEMS.items()):
        order = rng.permutation(len(words) // 3)  # chunks of three words, best first: a longer summary holds a shorter
        for n in LENGTHS:
            taken = sorted(word for chunk in order[: n // 3 + 1].tolist() for word in range(3 * chunk, 3 * chunk + 3))
            text = " ".join(words[word] for word in taken[:n])
            raw = rng.beta(4 + place % 3, 8, size=(4, 2)).tolist()
            of = zip(F1S, (Score(p, r, 2 * p * r / (p + r)) for p, r in raw), strict=True)
            parts = {metric.removesuffix("_f1"): score for metric, score in of}
            single = {"efficiency": parts["bertscore"].f1 / n, "density": 1.0, "coverage": 1.0}
            scores = as_columns({**parts, **single}) | {"kept": parts["bertscore"].recall}
            extra = {"draws": (text,) * 5} if kind == "control" and system == "random" else {}
            yield Summary(article.id, system, n, text, n, 0.01, scores, extra)


def look(path: Path) -> dict[str, float]:
    """Open the page, go through articles and lengths; milliseconds."""
    chromium = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(path.as_uri(), wait_until="commit")
        page.wait_for_selector("#summaries p")
        usable = page.evaluate("performance.now()")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        moves: list[float] = []
        turns: list[float] = []
        for _ in range(LOOKED_AT):
            turns.append(_next_article(page))
            moves += [page.evaluate(_MOVE, i) for i in (*range(1, len(LENGTHS)), 0)]
        browser.close()
    return {
        "first_paint": paint,
        "usable": usable,
        "other_article": statistics.median(turns),
        "move_median": statistics.median(moves),
        "move_most": max(moves),
    }


def _next_article(page: Page) -> float:
    took: float = page.evaluate(
        """async () => {
            const key = document.getElementById("article-key"), before = key.textContent, start = performance.now();
            document.getElementById("next").click();
            while (key.textContent === before) await new Promise((next) => setTimeout(next));
            document.getElementById("viewer").getBoundingClientRect();
            return performance.now() - start;
        }"""
    )
    return took


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.page", description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=4000)
    parser.add_argument("--keep", type=Path, help="where to keep the page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nws-bench-") as folder:
        path = options.keep or Path(folder) / "report.html"
        with open_store(f"sqlite:///{folder}/nws.db") as store:
            run_id = fill_run(store, 0, options.articles, functools.partial(_article, _sentences()), _summaries)
            start = time.perf_counter()
            page = write_page(store, [run_id], path)
            seconds = time.perf_counter() - start
        in_viewer, size = page.archive.articles, path.stat().st_size / 1e6
        found = Found(options.articles, seconds, size, in_viewer, **look(path))
    text = (
        f"{cpu_model()}: {found.articles} articles with {len(SYSTEMS) * len(LENGTHS)} summaries each\n"
        f"written in {found.seconds:.1f} s, {found.megabytes:.1f} MB (aim: less than {MOST_MB:.0f}), "
        f"{found.in_viewer} articles in the viewer\n"
        f"first paint after {found.first_paint:.0f} ms (aim: {MOST_PAINT:.0f}), "
        f"viewer usable after {found.usable:.0f} ms\n"
        f"moving n: {found.move_median:.1f} ms, {found.move_most:.1f} at most (aim: {MOST_MOVE:.0f}); "
        f"another article: {found.other_article:.1f} ms\n"
    )
    keep("page", text, asdict(found))


if __name__ == "__main__":
    main()
