"""How the page looks on a phone and on paper: in a real Chromium."""

import itertools
from collections.abc import Iterator

import pytest
from opened_pages import opened
from playwright.sync_api import Browser, Page

from nws.jobs.report.page.page import write_page
from nws.jobs.store import Store

pytestmark = pytest.mark.slow

LENGTHS = tuple(range(1, 22, 2))
KEPT = {"a": 0.3, "b": 0.2, "lead": 0.1, "random": 0.05}
PAPER = 718  # pixels between the margins of A4 in Chromium


@pytest.fixture
def file(store: Store, run_of_points, tmp_path) -> str:
    """Eleven lengths; one article failed."""
    run = run_of_points((*KEPT,), LENGTHS, kept=KEPT, failure="lost")
    write_page(store, [run], tmp_path / "x.html")
    return (tmp_path / "x.html").as_uri()


@pytest.fixture
def phone(browser: Browser, file: str) -> Iterator[Page]:
    page = opened(browser, file, viewport={"width": 360, "height": 740})
    page.wait_for_selector("#summaries p")
    yield page
    page.context.close()


def test_charts_fit_a_phone_with_every_n(phone: Page) -> None:
    # Nobody has to know that a chart can be moved.
    for part in (".at", "text:not(.up *, .end *)"):
        boxes = phone.locator(f"#answer svg.chart {part}, #gain svg.chart {part}").evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right])"
        )
        assert boxes, part
        assert min(left for left, _ in boxes) >= 0, part
        assert max(right for _, right in boxes) <= 360, part
    heights = phone.locator("#answer .chart text:not(.up *, .end *)").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().height)"
    )
    assert min(heights) > 11  # pixels: they can be read
    assert {"19", "21"} <= set(phone.locator("#answer .chart text").all_text_contents())


@pytest.mark.parametrize("width", [390, 1440])
def test_no_label_of_a_chart_lies_on_another(
    browser: Browser, store: Store, run_of_points, tmp_path, width: int
) -> None:
    write_page(store, [run_of_points((*KEPT,), tuple(range(1, 49)), kept=KEPT)], tmp_path / "x.html")
    page = opened(browser, (tmp_path / "x.html").as_uri(), viewport={"width": width, "height": 900})
    charts = page.locator("svg.chart:visible")
    assert charts.count() == 4
    for chart in charts.all():
        boxes = chart.locator("text:visible").evaluate_all(
            "all => all.map((one) => [one.textContent, one.getBoundingClientRect().toJSON()])"
        )
        assert len(boxes) > 10
        assert [
            (name, other)
            for (name, a), (other, b) in itertools.combinations(boxes, 2)
            if min(a["right"], b["right"]) > max(a["left"], b["left"])
            and min(a["bottom"], b["bottom"]) > max(a["top"], b["top"]) + 2  # a line has room above its letters
        ] == []
    page.context.close()


def test_what_goes_on_beyond_the_edge_has_a_shade_there(phone: Page) -> None:
    phone.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    shades = phone.locator(".scroll").evaluate_all(
        """all => all.filter((one) => one.scrollWidth > one.clientWidth + 1 && !one.querySelector(".chart"))
            .map((one) => getComputedStyle(one).backgroundAttachment)"""
    )
    assert shades
    assert all(shade.startswith("local, local, scroll, scroll") for shade in shades)
    striped = phone.locator("tbody tr:nth-child(even)").first.evaluate("one => getComputedStyle(one).backgroundColor")
    assert "rgba(" in striped  # or the shade would not be seen through it


@pytest.fixture(params=["light", "dark"])
def paper(browser: Browser, file: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    page = opened(browser, file, color_scheme=request.param, viewport={"width": PAPER, "height": 1000})
    page.wait_for_selector("#summaries p")
    page.emulate_media(media="print", color_scheme=request.param)
    yield page
    page.context.close()


def test_paper_is_light(paper: Page) -> None:
    style = "([part, name]) => getComputedStyle(document.querySelector(part))[name]"
    assert paper.evaluate(style, ["body", "backgroundColor"]) == "rgb(255, 255, 255)"
    assert paper.evaluate(style, ["body", "color"]) == "rgb(27, 27, 27)"
    assert paper.evaluate(style, [".chart text", "fill"]) == "rgb(89, 89, 89)"
    assert paper.evaluate(style, [".c0 .sample path", "stroke"]) == "rgb(0, 114, 178)"
    assert paper.evaluate(style, [".c0 .sample path", "printColorAdjust"]) == "exact"


def test_there_are_no_buttons_on_paper(paper: Page) -> None:
    for part in ("button", "nav", "select", "input[type=search]", ".tabs > label", "figure > label", "#viewer"):
        assert paper.locator(f"{part}:visible").count() == 0, part
    closed = paper.locator("details:not([open])")
    assert closed.count()
    assert paper.locator("details:not([open]):visible").count() == 0


def test_nothing_is_clipped_on_paper(paper: Page) -> None:
    paper.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    beyond = paper.evaluate(
        f"""() => [...document.querySelectorAll("main *")].filter((one) => {{
            const box = one.getBoundingClientRect();
            return box.width && (box.right > {PAPER} + 1 || box.left < -1);
        }}).map((one) => one.outerHTML.slice(0, 120))"""
    )
    assert beyond == []
    hidden = paper.evaluate(
        """() => [...document.querySelectorAll(".scroll, pre")].filter((one) =>
            getComputedStyle(one).overflowX !== "visible").length"""
    )
    assert hidden == 0
    # The labels at the ends of lines are there, as on a screen.
    assert paper.locator("#answer .chart .end:visible").count() == len(KEPT)
