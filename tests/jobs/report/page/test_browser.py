"""The page as a person sees it: in a real Chromium, from a file, without a network."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from opened_pages import TOLD, opened
from playwright.sync_api import Browser, Page, expect

from nws.core.text.alignment import align, bare_spans
from nws.core.text.length import bare_words
from nws.jobs.report.page.page import write_page
from nws.jobs.store import Store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def file(store: Store, swept: str, reseeded: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("browser") / "report.html"
    write_page(store, [swept, reseeded], path)
    return path.as_uri()


@pytest.fixture
def page(browser: Browser, file: str) -> Iterator[Page]:
    found = opened(browser, file)
    found.wait_for_selector("#viewer-on:not([hidden])")
    yield found
    found.context.close()


def summary(page: Page) -> str:
    return page.locator("#summaries p").first.inner_text()


def stored(store: Store, run: str, article: str, system: str, n: int) -> tuple[str, float]:
    where = f"run_id = '{run}' and article_id = '{article}' and system = '{system}' and n = {n}"
    with store.query(f"select text, bertscore_f1 from summaries where {where}") as found:
        ((text, f1),) = found.rows
    return text, f1


def first_article(page: Page) -> str:
    """Its id, which stands last among what is said of it."""
    return page.locator("#article-facts").inner_text().split()[-1]


def test_the_answer_is_there_without_javascript(browser: Browser, file: str) -> None:
    page = opened(browser, file, java_script_enabled=False)
    expect(page.locator("#answer .headline")).to_be_visible()
    expect(page.locator("#viewer-off")).to_be_visible()
    expect(page.locator("#viewer-on")).to_be_hidden()
    charts = page.locator("#curves svg.chart:visible")
    expect(charts.first).to_be_visible()
    page.locator("#d0-m1").check()
    expect(page.locator("#curves .panel:visible figcaption").first).to_have_text("ROUGE-1 F1 by n")
    band = page.locator("#curves .panel:visible .band").first
    expect(band).to_be_hidden()
    page.locator("#d0-bands").check()
    expect(band).to_be_visible()
    page.context.close()
    errors: list[object] = []
    page = browser.new_context().new_page()  # of a browser that cannot unpack
    page.on("pageerror", lambda error: errors.append(error))
    page.add_init_script("delete window.DecompressionStream")
    page.goto(file)
    expect(page.locator("#viewer-off")).to_be_visible()
    assert errors == []
    page.context.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_oracles_can_be_left_out_of_the_answers_chart(
    browser: Browser, store: Store, run_of_points, tmp_path: Path, width: int
) -> None:
    kept = {"a": 0.2, "lead": 0.1, "oracle": 0.8}
    write_page(store, [run_of_points((*kept,), (1, 3, 5), kept=kept)], tmp_path / "oracle.html")
    address = (tmp_path / "oracle.html").as_uri()
    page = opened(browser, address, java_script_enabled=False, viewport={"width": width, "height": 900})
    charts = page.locator("#answer svg.chart")
    whole, near = charts.nth(0), charts.nth(1)
    expect(near).to_be_hidden()
    page.locator("#d0-kept-zoomed").press("Space")
    expect(whole).to_be_hidden()
    expect(near).to_be_visible()
    # A system's line is higher than a third of the chart, and its band is shown as before.
    line, panel = near.locator(".band").first.bounding_box(), near.locator(".at").first.bounding_box()
    assert line is not None
    assert panel is not None
    assert panel["y"] <= line["y"] < panel["y"] + panel["height"] / 3
    expect(page.locator("#answer .end:visible", has_text="oracle")).to_have_count(0)
    page.context.close()


def test_pointing_at_an_n_of_a_chart_reads_its_values(page: Page) -> None:
    """No line, band or point in front takes it."""
    page.locator(".bands-on").first.check()
    read = page.evaluate(
        """() => [...document.querySelectorAll("#curves .panel.p0 .at")].map((at) => {
          at.scrollIntoView({ block: "center", behavior: "instant" });
          const { left, top, width, height } = at.getBoundingClientRect();
          return [0.1, 0.5, 0.9].every((y) => document.elementFromPoint(left + width / 2, top + y * height) === at);
        })"""
    )
    assert read == [True] * 3


def test_a_second_system_is_shown_beside_the_first(page: Page, store: Store, swept: str, reseeded: str) -> None:
    article = first_article(page)
    page.locator("#n").press("Home")
    page.locator("#system").select_option(label="random")
    page.locator("#other").select_option(label=f"random @{reseeded}")
    texts = [stored(store, run, article, "random", 3)[0] for run in (swept, reseeded)]
    expect(page.locator("#summaries p").nth(0)).to_have_text(texts[0])
    expect(page.locator("#summaries p").nth(1)).to_have_text(texts[1])
    expect(page.locator("#scores thead th")).to_have_count(4)
    expect(page.locator("#summaries small").first).to_contain_text("scores are their means")


def test_words_of_the_summary_are_marked_in_the_article(page: Page) -> None:
    marked = page.locator("#text mark.a").all_inner_texts()
    assert bare_words(" ".join(marked)) == bare_words(summary(page))
    sources = " ".join(page.locator("#text .source").all_inner_texts())
    assert set(bare_words(summary(page))) <= set(bare_words(sources))


def test_marks_are_where_the_alignment_says(page: Page, sample_rows: list[dict[str, str]]) -> None:
    texts = [row["article"] for row in sample_rows[:8]]
    cases = [(text[20:400], text) for text in texts] + [(texts[0], texts[1]), ("", "a b"), ("a b", "")]
    cases += [
        ("a x b", "a a b b"),
        ("b a", "a b"),
        ("c a b", "a b c"),
        ("a a", "a"),
        ("“U.S.” -- said, 50%", "the U.S said 50 % 50%"),
    ]
    cases += [("GROSSE Straße", "eine große STRASSE"), ("서울시는 어제 발표했다.", "어제 서울시는 새 노선을 발표했다.")]
    script = """([summary, article]) => {
        const words = bareWords(article);
        return [words.map((word) => [word.start, word.end]),
                align(bareWords(summary).map((word) => word.bare), words.map((word) => word.bare))];
    }"""
    for of, article in cases:
        spans, positions = page.evaluate(script, [of, article])
        assert [tuple(span) for span in spans] == bare_spans(article)
        assert [None if at < 0 else at for at in positions] == align(bare_words(of), bare_words(article))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_nothing(browser: Browser, file: str, scheme: str, width: int) -> None:
    page = opened(browser, file, color_scheme=scheme, viewport={"width": width, "height": 900})
    page.wait_for_selector("#viewer-on:not([hidden])")
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    found = Axe().run(page).response["violations"]
    assert not found, json.dumps([(one["id"], one["nodes"][0]["html"][:200]) for one in found], indent=1)
    page.context.close()


def test_a_page_of_a_training(browser: Browser, store: Store, trained: str, tmp_path: Path) -> None:
    write_page(store, [trained], tmp_path / "trained.html")
    page = opened(browser, (tmp_path / "trained.html").as_uri())
    page.wait_for_selector("#viewer-on:not([hidden])")
    expect(page.locator("#policies svg.chart").first).to_be_visible()
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert summary(page)
    assert [told for told in TOLD if not told.startswith("request: file:")] == []
    page.context.close()


def test_a_link_to_what_is_not_here_says_so(browser: Browser, file: str) -> None:
    page = opened(browser, f"{file}#view?article=no&system={quote('<b>')}&n=99&other=x")
    page.wait_for_selector("#viewer-on:not([hidden])")
    page.wait_for_selector("#summaries p")
    assert summary(page)
    expect(page.locator("#link-note")).to_have_text(
        "This page does not have what the link names: article no, system <b>, other x, n 99."
    )
    assert not [told for told in TOLD if told.startswith("error")]
    page.context.close()


def test_what_is_found_in_a_text_that_is_out_to_harm_is_text(page: Page) -> None:
    title = page.title()
    page.locator("#search").fill("<img onerror=")
    expect(page.locator("#article-key mark.sought").first).to_have_text("<img")
    for part in ("#text", "#references", "#articles"):
        expect(page.locator(f"{part} mark.sought", has_text="<img").first).to_have_text("<img")
    page.locator("#search").fill("<script>document.title='owned'</script>")
    expect(page.locator("#hits")).to_contain_text("Found in: its name · the article · the reference")
    found = page.locator("#text mark.sought").all_inner_texts()  # cut where the marks of a summary begin
    assert "".join(found) == "<script>document.title='owned'</script>"
    page.locator("#search").fill("<b>$&")
    expect(page.locator("#found")).to_contain_text("no article has “<b>$&”")
    assert page.locator("#viewer img, #viewer script, #viewer b").count() == 0
    assert page.title() == title
    assert not [told for told in TOLD if told.startswith("error")]
