"""A page of 230 made articles, of which a test can say what each summary scores, and what the viewer shows of it."""

from itertools import product
from typing import NamedTuple

from made_scores import make_scores
from playwright.sync_api import Locator, Page, expect
from system_kinds import kind_of

from nws.core.article import Article
from nws.core.types import BundleResult, Score, Summary
from nws.jobs.store import RunSpec, Store

SIGNATURES = {name: "made" for name in ("bertscore", "rouge", "efficiency", "density", "coverage", "kept")}
SYSTEMS = ("a", "b", "lead", "random", "other-article")
LENGTHS = (5, 9, 13, 17)
ARTICLES = 230
KEPT = {5: 0.3, 9: 0.6, 13: 0.7, 17: 0.8}
"""What `a` keeps: half from 9 words on."""
LACKING = ("random", 17)
"""No article has this summary."""


class Written(NamedTuple):
    """A summary of the store."""

    text: str
    f1: float
    kept: float


def written(i: int, system: str = "a", n: int = 9) -> Written:
    """Of article i. At 9 words `a` beats lead where i is even, by more for each, and loses in F1 where it is odd.

    Content kept has the same order as BERTScore F1, and other differences between systems.
    """
    s = SYSTEMS.index(system)
    apart = (1 if i % 2 == 0 else -1) * (0.001 + i / 1000) if system == "a" else 0.0
    spelled = [f"own{i}x{n}x{s}", "shared", "words", *(f"w{i + j}" for j in range(n))][:n]
    kept = KEPT[n] * (1 if system == "a" else 0.3) + apart / 2
    return Written(" ".join(spelled), round(0.4 + n / 100 + apart, 4), round(kept, 4))


def key(i: int) -> str:
    return f"news-{i:03}"


def kept_of(i: int, system: str = "a", n: int = 9) -> float:
    return written(i, system, n).kept


def share(kept: float) -> str:
    return f"{int(kept * 100 + 0.5)}\N{NO-BREAK SPACE}%"


def shown(page: Page) -> Locator:
    return page.locator("#article-key")


def listed(page: Page) -> list[str]:
    """The keys of the list."""
    return page.locator("#articles button").evaluate_all("all => all.map((one) => one.firstChild.textContent)")


def expect_list(page: Page, wanted: list[str]) -> None:
    expect(page.locator("#found")).to_contain_text(f"{len(wanted)} of {ARTICLES} articles")
    assert listed(page) == wanted[:200]


LOWEST_FIRST = [key(i) for i in sorted(range(ARTICLES), key=kept_of)]


def add_run(store: Store) -> str:
    """The id of a finished run of the articles by two systems and three controls."""
    spec = RunSpec("phase1", {}, "made", 0, "made", {"segmentation": "made"}, SIGNATURES, len(SYSTEMS))
    run_id = store.create_run(spec)
    writer = store.writer(run_id, store.claim_run(run_id, "here", 1))
    writer.start("cpu", "made", {system: kind_of(system) for system in SYSTEMS})
    for i in range(ARTICLES):
        text = f"Only{i} is told here. Words of news follow. " + " ".join(f"w{j}" for j in range(i, i + 400 + i))
        references = (f"Reference{i} has shared words. Nothing common stands here.",)
        article = Article("news", "test", key(i), text, references)
        made = [_stored(article, i, *place) for place in product(SYSTEMS, LENGTHS) if place != LACKING]
        writer.record([([article], BundleResult(tuple(made), ()))])
    writer.finish("done")
    return run_id


def _stored(article: Article, i: int, system: str, n: int) -> Summary:
    text, f1, kept = written(i, system, n)
    scores = make_scores(Score(f1, f1, f1), efficiency=f1 / n) | {"kept": kept, "kept_words": 0.1}
    return Summary(article.id, system, n, text, n, 0.1, scores)


_ARE_IN_SIGHT = """parts => parts.every(part => {
    const { left, top, height } = document.querySelector(part).getBoundingClientRect();
    return top >= -1 && top + Math.min(height, 40) <= innerHeight && left >= 0 && left <= innerWidth;
})"""


def expect_in_sight(page: Page, *parts: str) -> None:
    """Waited for: a browser scrolls after the key that made it."""
    page.wait_for_function(_ARE_IN_SIGHT, arg=parts)


def settled(page: Page, contains: str) -> str:
    """What the address ends with, once the view is in it."""
    page.wait_for_function("part => location.hash.includes(part)", arg=contains)
    return page.evaluate("location.hash")
