"""The viewer as somebody reads with it: keys, what stays in sight, and what it says."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from viewed_page import (
    ARTICLES,
    LENGTHS,
    LOWEST_FIRST,
    expect_in_sight,
    expect_list,
    kept_of,
    key,
    settled,
    share,
    shown,
    written,
)

pytestmark = pytest.mark.slow


def test_arrows_lead_to_articles_and_lengths_and_s_to_systems(page: Page) -> None:
    for pressed, place in (("Right", 2), ("Right", 3), ("Left", 2), ("Left", 1), ("Left", 1)):
        page.keyboard.press(f"Arrow{pressed}")
        expect(page.locator("#place")).to_have_text(f"{place} of {ARTICLES}")
        expect(shown(page)).to_have_text(LOWEST_FIRST[place - 1])
    i = int(LOWEST_FIRST[0].removeprefix("news-"))
    for pressed, n in (("Down", 13), ("Down", 17), ("Down", 17), ("Up", 13), ("Up", 9), ("Up", 5), ("Up", 5)):
        page.keyboard.press(f"Shift+Arrow{pressed}")
        expect(page.locator("#n-value")).to_have_text(str(n))
        expect(page.locator("#summaries p").first).to_have_text(written(i, "a", n).text)
    names = page.locator("#system option").all_inner_texts()
    for pressed, at in (("s", 1), ("s", 2), ("Shift+KeyS", 1), ("Shift+KeyS", 0), ("Shift+KeyS", -1), ("s", 0)):
        page.keyboard.press(pressed)
        expect(page.locator("#summaries strong").first).to_contain_text(names[at])
    settled(page, f"system={names[0]}&n=5")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => scrollY > document.getElementById('shown').offsetTop")  # the article is read on
    expect(shown(page)).to_have_text(LOWEST_FIRST[0])


def left(page: Page, on: str = "body", **held: bool) -> set[str]:
    """The keys that are left to the browser where something has the focus and others are held."""
    script = """([on, held]) => ["ArrowLeft", "ArrowRight", "ArrowDown", "s", "/"].filter((key) => {
        const event = new KeyboardEvent("keydown", { key, ...held, bubbles: true, cancelable: true });
        return document.querySelector(on).dispatchEvent(event);
    })"""
    return set(page.evaluate(script, [on, held]))


ALL_KEYS = {"ArrowLeft", "ArrowRight", "ArrowDown", "s", "/"}


def test_keys_are_left_to_the_browser_where_it_has_a_use_for_them(page: Page) -> None:
    assert left(page) == {"ArrowDown"}
    assert left(page, shiftKey=True) == {"ArrowLeft", "ArrowRight"}
    for held in ("ctrlKey", "altKey", "metaKey"):
        assert left(page, **{held: True}) == ALL_KEYS
    for field in ("#search", "#sort", "#system", "#n"):
        assert left(page, field) == ALL_KEYS
    page.locator("#n").press("ArrowRight")
    expect(page.locator("#n-value")).to_have_text("17")
    page.evaluate("getSelection().selectAllChildren(document.getElementById('text'))")
    assert left(page, shiftKey=True) >= {"ArrowDown", "ArrowLeft", "ArrowRight"}  # Shift extends what is selected
    page.locator("#keys-on").uncheck()
    assert left(page) == ALL_KEYS
    page.locator("#keys-on").check()
    assert left(page, "#keys-on") == {"ArrowDown"}
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    assert left(page) == ALL_KEYS  # out of sight


def test_slash_leads_to_the_search_enter_to_the_list_and_escape_clears_it(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("Only7")
    expect(page.locator("#search")).to_have_value("Only7")
    expect(shown(page)).to_have_text(key(79))  # the lowest of 7 and 70 to 79
    page.keyboard.press("Enter")
    expect(page.locator("#articles button[aria-current=true]")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#place")).to_have_text("2 of 11")
    for where in ("#next", "#search"):
        page.locator("#search").fill("Only7")
        expect(page.locator("#place")).to_contain_text("of 11")
        page.locator(where).focus()
        page.keyboard.press("Escape")
        expect_list(page, LOWEST_FIRST)
        expect(page.locator("#search")).to_have_value("")


def test_another_n_sorts_the_list_and_keeps_the_article(page: Page) -> None:
    page.locator("#next").click()
    page.locator("#n").press("ArrowRight")
    expect_list(page, [key(i) for i in sorted(range(ARTICLES), key=lambda i: kept_of(i, n=13))])
    expect(shown(page)).to_have_text(LOWEST_FIRST[1])


def test_tab_reaches_every_control_and_the_list_as_one(page: Page) -> None:
    page.locator("#system").focus()
    for wanted in ("#other", "#n", "#search", "#sort", "#articles button >> nth=0"):
        page.keyboard.press("Tab")
        expect(page.locator(wanted)).to_be_focused()
        assert page.locator(wanted).evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    page.keyboard.press("ArrowDown")
    expect(shown(page)).to_have_text(LOWEST_FIRST[1])
    expect(page.locator("#articles button").nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#articles button").first).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#previous")).to_be_focused()


@pytest.mark.parametrize(("scheme", "width"), [("light", 820), ("dark", 360)])
def test_all_that_is_folded_is_accessible_and_fits(open_at: Callable[..., Page], scheme: str, width: int) -> None:
    page = open_at(width=width, color_scheme=scheme)
    page.locator("#viewer details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    page.locator("#search").fill("shared")
    expect(page.locator("#summaries .sought").first).to_be_visible()
    found = Axe().run(page, context="#viewer").response["violations"]
    assert not found, [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "and_more"), [(1440, True), (820, True), (390, False)])
def test_what_stays_while_the_article_scrolls(open_at: Callable[..., Page], width: int, and_more: bool) -> None:
    page = open_at("#viewer", width)
    expect_in_sight(page, "#summaries p", "#n", "#system")
    before = page.evaluate("scrollY")
    page.evaluate("document.getElementById('text').scrollIntoView({ block: 'end', behavior: 'instant' })")
    assert page.evaluate("scrollY") > before + 300
    expect_in_sight(page, "#summaries p", "#next", *["#articles [aria-current=true]", "#n", "#search"] * and_more)
    assert page.evaluate("document.querySelector('.head').offsetHeight") < 844 / 2  # there is room left to read
    page.keyboard.press("ArrowRight")
    expect(shown(page)).to_have_text(LOWEST_FIRST[1])
    page.wait_for_function("() => Math.abs(document.querySelector('#shown').getBoundingClientRect().top) < 2")


def test_a_phone_shows_first_what_was_asked_for(open_at: Callable[..., Page]) -> None:
    page = open_at("#viewer", 390)
    for parts in (
        ("#answer .headline", "#answer table", "#answer .answers", "#answer .chart", "#answer .bands-on + label"),
        ("#system", "#n", "#summaries p", "#references", "#text", "#search", "#articles"),
    ):
        tops = page.evaluate("all => all.map(x => document.querySelector(x).getBoundingClientRect().top)", parts)
        assert tops == sorted(tops), parts
    page.get_by_role("link", name="all articles").click()
    expect_in_sight(page, "#search", "#articles")
    page.locator("#articles button").nth(1).click()
    expect(shown(page)).to_have_text(LOWEST_FIRST[1])
    expect_in_sight(page, "#summaries p")


def test_it_opens_at_the_n_of_the_answer(page: Page) -> None:
    expect(page.locator("#answer .headline")).to_have_text(
        "9 words keep half of the reference's content (a, with 95 % confidence from 9 words on)."
    )
    chosen = "id => document.getElementById(id).selectedOptions[0].text"
    assert [page.evaluate(chosen, name) for name in ("system", "other")] == ["a", "lead"]
    expect(page.locator("#n-value")).to_have_text("9")
    expect(page.locator("#summaries p")).to_have_count(2)


def test_every_figure_says_of_which_metric_it_is(page: Page) -> None:
    i = int(LOWEST_FIRST[0].removeprefix("news-"))
    a, lead = (f"{written(i, system).f1:.3f}".removeprefix("0") for system in ("a", "lead"))
    assert kept_of(i) == 0.485
    kept = share(0.485)
    entry = page.locator("#articles button").first
    expect(entry).to_contain_text(f"content kept, n = 9: a {kept} · lead {share(0.18)}")
    expect(entry).to_contain_text(f"{410 + i - 2} words")
    expect(page.locator("#summaries small").first).to_have_text(f"9 words · content kept {kept}")
    expect(page.locator("#scores tr").nth(1)).to_have_text(
        f"content kept{kept}{share(0.18)}+31\N{NO-BREAK SPACE}points"
    )
    expect(page.locator("#scores tr", has_text="BERTScore F1").first.locator("td")).to_contain_text([a, lead, ""])
    expect(page.locator("#shown .texts .score-name")).to_have_text(["content kept"] * 2)


def test_the_ladder_has_every_length_with_what_it_keeps_and_leads_there(page: Page) -> None:
    page.get_by_text("All lengths: a at every n").click()
    i = int(LOWEST_FIRST[0].removeprefix("news-"))
    expect(page.locator("#shown .texts thead").first).to_have_text("ncontent keptsummary")
    made = {n: written(i, "a", n) for n in LENGTHS}
    rungs = page.locator("#ladder tr")
    expect(rungs).to_have_text([f"{n}{share(one.kept)}{one.text}" for n, one in made.items()])
    expect(rungs.nth(0).locator("mark")).to_have_count(0)
    fresh = [f"own{i}x9x0", " ".join(f"w{i + j}" for j in range(2, 6))]  # of the nine words
    expect(rungs.nth(1).locator("mark")).to_have_text(fresh)
    expect(page.locator("#ladder [aria-current] button")).to_have_text("9")
    rungs.nth(3).locator("td").last.click()
    expect(page.locator("#summaries p").first).to_have_text(made[17].text)
    settled(page, "n=17")
    page.locator("#ladder button").first.press("Enter")
    expect(page.locator("#n-value")).to_have_text("5")
    expect(page.locator("#ladder [aria-current] button")).to_be_focused()
    page.get_by_text("All systems at this n").click()
    shares = page.locator("#all td:nth-child(2)").all_inner_texts()  # the best first
    assert shares == sorted(shares, key=lambda cell: -int(cell.removesuffix("\N{NO-BREAK SPACE}%")))
    page.locator("#all tr", has_text="random").click()
    expect(rungs).to_have_count(3)


def test_words_that_reference_and_summary_share_are_marked_in_both(page: Page) -> None:
    assert page.locator("#references mark").all_inner_texts() == ["shared words"]
    assert page.locator("#references .b").all_inner_texts() == ["shared words"]
    assert page.locator("#summaries p").first.locator(".shared").all_inner_texts() == ["shared words"]
