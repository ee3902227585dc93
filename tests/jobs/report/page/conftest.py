"""Pages of real runs: real encoder, real metrics, real texts, and some that are out to harm."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
import viewed_page
from made_scores import make_scores
from opened_pages import TOLD, opened
from playwright.sync_api import Browser, Page
from system_kinds import kind_of
from training_run import small_training
from undisturbed import QUIET

from nws.core.article import Article
from nws.core.types import BundleResult, Failure, Score, Summary
from nws.jobs.drive import driver
from nws.jobs.recipes.job import make_plan
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.sweep_recipe import Phase1Recipe
from nws.jobs.report.page.page import write_page
from nws.jobs.store import RunSpec, Store, open_store

HARM = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> {{ 7*7 }}"
LENGTHS = (3, 9, 21)
SIGNATURES = {"bertscore": "made", "rouge": "made", "efficiency": "made", "density": "made", "coverage": "made"}


def write_articles(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def sweep(store: Store, articles: Path, **asked: object) -> str:
    """The id of a finished sweep over a file."""
    recipe = {"datasets": [{"name": str(articles)}], "n": list(LENGTHS), "accelerator": "cpu", **asked}
    return driver.start(store, make_plan(load_recipe(Phase1Recipe, "sample", recipe)), "inline", QUIET).run_id


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('page') / 'nws.db'}") as opened:
        yield opened


@pytest.fixture(scope="session")
def swept(store: Store, tmp_path_factory: pytest.TempPathFactory, sample_rows: list[dict[str, str]]) -> str:
    """Six articles of the sample, one of them full of tags, and one that fails."""
    rows = [dict(row) for row in sample_rows[:6]]
    rows[0] |= {"id": f"harm-{HARM}", "article": f"{HARM} {rows[0]['article']}", "highlights": f"{HARM} a </script> b"}
    rows.append({"id": "empty", "article": " ", "highlights": "Nothing was written."})
    return sweep(store, write_articles(tmp_path_factory.mktemp("swept") / "news.jsonl", rows))


@pytest.fixture(scope="session")
def reseeded(store: Store, swept: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same articles with another seed: only `random` writes other texts."""
    recipe = store.run_info(swept).recipe
    return sweep(store, Path(recipe["datasets"][0]["name"]), seed=5)


@pytest.fixture(scope="session")
def trained(store: Store, tiny_models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    plan = small_training(tiny_models, tmp_path_factory.mktemp("trained"), passes=2)
    return driver.start(store, plan, "inline", QUIET).run_id


@pytest.fixture
def run_of_points(store: Store) -> Callable[..., str]:
    """Adds a run of made summaries: 30 articles, a system, lead and random, n = 7 and 9."""

    def add(
        systems: tuple[str, ...] = ("a", "lead", "random"),
        lengths: tuple[int, ...] = (7, 9),
        dataset: str = "news",
        failure: str | None = None,
        ended: bool = True,
        kept: Mapping[str, float] = {},
    ) -> str:
        signatures = SIGNATURES | ({"kept": "made"} if kept else {})
        spec = RunSpec("phase1", {}, "made", 0, "made", {"segmentation": "made"}, signatures, len(systems))
        run_id = store.create_run(spec)
        writer = store.writer(run_id, store.claim_run(run_id, "here", 1))
        writer.start("cpu", "made", {system: kind_of(system) for system in systems})
        rng = np.random.default_rng(len(lengths))
        articles = [
            Article(dataset, "test", f"k{i}", " ".join(f"w{j}" for j in range(30)), ("w1 w2 w3",)) for i in range(30)
        ]
        made = []
        for i, article in enumerate(articles):
            for system in systems:
                for n in lengths:
                    f1 = float(rng.uniform(0.3, 0.6)) + 0.3 * (kind_of(system) == "system")
                    scores = make_scores(Score(f1, f1, f1), efficiency=f1 / max(1, n))
                    if system in kept:
                        scores |= {"kept": kept[system] + n / 100 + (i - 14.5) / 200, "kept_words": 0.1}
                    text = " ".join(f"w{(len(system) + j) % 30}" for j in range(n or 20))
                    made.append(Summary(article.id, system, n, text, n or 20, 0.1, scores))
        lost, failed = [], []
        if failure is not None:
            lost = [Article(dataset, "test", failure, "", ("r",))]
            failed = [Failure(lost[0].id, "EmptyArticleError", failure, 1, "here")]
        writer.record([([*articles, *lost], BundleResult(tuple(made), tuple(failed)))])
        if ended:
            writer.finish("done")
        return run_id

    return add


@pytest.fixture(scope="session")
def viewed(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page of `viewed_page`."""
    path: Path = tmp_path_factory.mktemp("viewer") / "report.html"
    write_page(store, [viewed_page.add_run(store)], path)
    return path.as_uri()


@pytest.fixture
def open_at(browser: Browser, viewed: str) -> Iterator[Callable[..., Page]]:
    """Opens that page at a part of it, in a window of this width."""
    pages = []

    def page_at(fragment: str = "", width: int = 1440, **options: object) -> Page:
        options |= {"viewport": {"width": width, "height": 844}, "reduced_motion": "reduce"}
        pages.append(opened(browser, viewed + fragment, **options))
        pages[-1].wait_for_selector("#summaries p")
        return pages[-1]

    yield page_at
    assert not [told for told in TOLD if not told.startswith("request: file:")]
    for page in pages:
        page.context.close()


@pytest.fixture
def page(open_at: Callable[..., Page]) -> Page:
    """That page with the viewer in sight."""
    opened_page = open_at()
    opened_page.locator("#shown").evaluate("one => one.scrollIntoView({ behavior: 'instant' })")
    return opened_page
