"""The viewer's order and search, and the addresses that hold a view."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from viewed_page import ARTICLES, LOWEST_FIRST, expect_in_sight, expect_list, kept_of, key, listed, settled, shown

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("sort", "by"),
    [
        ("highest", lambda i: -kept_of(i)),
        ("difference", lambda i: -abs(kept_of(i) - kept_of(i, "lead"))),
        ("longest", lambda i: -i),
        ("key", key),
    ],
)
def test_sorting_leads_to_the_first_of_the_new_order(page: Page, sort: str, by: Callable[[int], object]) -> None:
    page.locator("#next").click()
    page.locator("#sort").select_option(sort)
    wanted = [key(i) for i in sorted(range(ARTICLES), key=by)]  # type: ignore[arg-type]
    expect(shown(page)).to_have_text(wanted[0])
    assert listed(page) == wanted[:200]


@pytest.mark.parametrize(
    ("sought", "wanted", "where"),
    [
        ("only17", ["17", *map(str, range(170, 180))], "#text"),
        ("REFERENCE123", ["123"], "#references"),
        ("own44x13x1", ["44"], None),  # a summary of another system at another n
        ("own44x9x0", ["44"], "#summaries"),
        ("shared only200", ["200"], "#text"),  # both words, in any order and place
        ("news-077", ["77"], None),
        ("own44x9x4", [], None),  # what other-article has is about another one
    ],
)
def test_search_finds_words_of_all_texts(page: Page, sought: str, wanted: list[str], where: str | None) -> None:
    page.locator("#search").fill(sought)
    expect_list(page, [name for name in LOWEST_FIRST if str(int(name.removeprefix("news-"))) in wanted])
    if not wanted:
        expect(page.locator("#place")).to_have_text("not in the list")
        page.locator("#next").click()
    expect(shown(page)).to_have_text((listed(page) or LOWEST_FIRST)[0])
    if where:
        assert page.locator(f"{where} mark.sought").first.inner_text().lower() in sought.lower()


def test_it_is_said_where_what_is_sought_is(page: Page) -> None:
    hits = page.locator("#hits")
    expect(hits).to_be_hidden()
    page.locator("#search").fill("own44x13x1")
    expect(hits).to_have_text("Found in: b, n = 13")
    page.locator("#search").fill("news-044 only44")
    expect(hits).to_have_text("Found in: its name · the article")
    page.locator("#search").fill("shared")
    expect(hits).to_contain_text("Found in: the reference · a, n = 5, 9, 13, 17 · b, n = 5, 9, 13, 17 · ")


def state(page: Page) -> dict[str, object]:
    """All that is seen of a view."""
    fields = ("system", "other", "n", "search", "sort")
    found: dict[str, object] = {name: page.locator(f"#{name}").input_value() for name in fields}
    return found | {"key": shown(page).inner_text(), "list": listed(page), "found": page.locator("#found").inner_text()}


def test_an_address_holds_the_whole_view(open_at: Callable[..., Page], page: Page) -> None:
    page.locator("#system").select_option(label="b")
    page.locator("#other").select_option(label="a")
    page.locator("#sort").select_option("longest")
    page.locator("#n").press("End")
    page.locator("#search").fill("only1")
    expect(page.locator("#found")).to_have_text("111 of 230 articles")
    searched = settled(page, "search=only1")
    page.locator("#next").click()
    page.wait_for_function("searched => location.hash !== searched", arg=searched)
    other = open_at(page.evaluate("location.hash"))
    wanted = state(page)
    assert wanted["list"]
    expect(other.locator("#found")).to_have_text(str(wanted["found"]))
    assert state(other) == wanted
    expect_in_sight(other, "#summaries p", "#next")


def test_going_back_and_forward_leads_through_the_views_that_stayed(page: Page) -> None:
    opening, before = state(page), page.evaluate("history.length")
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(600)
    second, passed = state(page), page.evaluate("history.length") - before
    assert second["key"] == LOWEST_FIRST[30]
    assert passed <= 2
    page.locator("#sort").select_option("highest")
    settled(page, "sort=highest")
    page.locator("#search").fill("only22")
    settled(page, "search=only22")
    found = state(page)
    page.go_back()
    expect(page.locator("#search")).to_have_value("")
    expect(page.locator("#sort")).to_have_value("highest")
    page.go_back()
    expect(shown(page)).to_have_text(LOWEST_FIRST[30])
    assert state(page) == second
    page.evaluate("steps => history.go(steps)", -passed)
    expect(shown(page)).to_have_text(LOWEST_FIRST[0])
    assert state(page) == opening
    page.evaluate("steps => history.go(steps)", passed + 2)
    expect(page.locator("#found")).to_have_text(str(found["found"]))
    assert state(page) == found


def test_a_view_that_is_only_looked_at_leaves_the_address_alone(open_at: Callable[..., Page]) -> None:
    page = open_at("#answer")
    page.wait_for_timeout(500)
    assert page.evaluate("location.hash") == "#answer"
