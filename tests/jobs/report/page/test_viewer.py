"""The viewer as somebody reads with it: keys, search, filters, addresses, and what stays in sight."""

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from made_scores import make_scores
from opened_pages import TOLD, opened
from playwright.sync_api import Browser, Locator, Page, expect
from system_kinds import kind_of

from core.types import Article, BundleResult, Score, Summary
from jobs.report.page.page import write_page
from jobs.store import RunSpec, Store

pytestmark = pytest.mark.slow

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


@pytest.fixture(scope="module")
def file(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of 230 articles by two systems and three controls."""
    spec = RunSpec("phase1", {}, "made", 0, "made", {"segmentation": "made"}, SIGNATURES, len(SYSTEMS))
    run_id = store.create_run(spec)
    writer = store.writer(run_id, store.claim_run(run_id, "here", 1))
    writer.start("cpu", "made", {system: kind_of(system) for system in SYSTEMS})
    for i in range(ARTICLES):
        text = f"Only{i} is told here. Words of news follow. " + " ".join(f"w{j}" for j in range(i, i + 400 + i))
        references = (f"Reference{i} has shared words. Nothing common stands here.",)
        article = Article("news", "test", key(i), text, references)
        made = [_stored(article, i, *of) for of in product(SYSTEMS, LENGTHS) if of != LACKING]
        writer.record([([article], BundleResult(tuple(made), ()))])
    writer.finish("done")
    path: Path = tmp_path_factory.mktemp("viewer") / "report.html"
    write_page(store, [run_id], path)
    return path.as_uri()


def _stored(article: Article, i: int, system: str, n: int) -> Summary:
    text, f1, kept = written(i, system, n)
    scores = make_scores(Score(f1, f1, f1), efficiency=f1 / n) | {"kept": kept, "kept_words": 0.1}
    return Summary(article.id, system, n, text, n, 0.1, scores)


@pytest.fixture
def open_at(browser: Browser, file: str) -> Iterator[Callable[..., Page]]:
    """Opens the page at a part of it, in a window of this width."""
    pages = []

    def page_at(fragment: str = "", width: int = 1440, **options: object) -> Page:
        options |= {"viewport": {"width": width, "height": 844}, "reduced_motion": "reduce"}
        pages.append(opened(browser, file + fragment, **options))
        pages[-1].wait_for_selector("#summaries p")
        return pages[-1]

    yield page_at
    assert not [told for told in TOLD if not told.startswith("request: file:")]
    for page in pages:
        page.context.close()


@pytest.fixture
def page(open_at: Callable[..., Page]) -> Page:
    opened_page = open_at()
    opened_page.locator("#shown").evaluate("one => one.scrollIntoView({ behavior: 'instant' })")
    return opened_page


def shown(page: Page) -> Locator:
    return page.locator("#article-key")


def listed(page: Page) -> list[str]:
    """The keys of the list."""
    return page.locator("#articles button").evaluate_all("all => all.map((one) => one.firstChild.textContent)")


def expect_list(page: Page, wanted: list[str]) -> None:
    expect(page.locator("#found")).to_contain_text(f"{len(wanted)} of {ARTICLES} articles")
    assert listed(page) == wanted[:200]


LOWEST_FIRST = [key(i) for i in sorted(range(ARTICLES), key=kept_of)]


# Keys


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
    for field in ("#search", "#from", "#sort", "#system", "#n"):
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


def test_another_n_keeps_the_list_until_it_is_sorted_at_that_n(page: Page) -> None:
    page.locator("#filters summary").click()
    page.locator("#from").fill("62")
    before = [name for name in LOWEST_FIRST if kept_of(int(name[5:])) >= 0.62]
    expect_list(page, before)
    page.locator("#next").click()
    page.locator("#n").press("ArrowRight")
    expect(page.locator("#sorted-at")).to_have_text("sorted at n = 9")
    expect_list(page, before)
    expect(page.locator("#place")).to_have_text(f"2 of {len(before)}")
    page.get_by_role("button", name="sort at n = 13").click()
    expect_list(page, [key(i) for i in sorted(range(ARTICLES), key=kept_of) if kept_of(i, n=13) >= 0.62])
    expect(page.locator("#sorted")).to_be_hidden()


def test_tab_reaches_every_control_and_the_list_as_one(page: Page) -> None:
    page.locator("#system").focus()
    for wanted in ("#other", "#n", "#search", "#score", "#sort", "#filters summary", "#articles button >> nth=0"):
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


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 820), ("light", 390), ("dark", 360)])
def test_all_that_is_folded_is_accessible_and_fits(open_at: Callable[..., Page], scheme: str, width: int) -> None:
    page = open_at(width=width, color_scheme=scheme)
    page.locator("#viewer details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    page.locator("#search").fill("shared")
    expect(page.locator("#summaries .sought").first).to_be_visible()
    found = Axe().run(page, context="#viewer").response["violations"]
    assert not found, [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# What stays in sight


_ARE_IN_SIGHT = """parts => parts.every(part => {
    const { left, top, height } = document.querySelector(part).getBoundingClientRect();
    return top >= -1 && top + Math.min(height, 40) <= innerHeight && left >= 0 && left <= innerWidth;
})"""


def expect_in_sight(page: Page, *parts: str) -> None:
    """Waited for: a browser scrolls after the key that made it."""
    page.wait_for_function(_ARE_IN_SIGHT, arg=parts)


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
        ("#answer .headline", "#answer .chart", "#answer .bands-on + label", "#answer .answers"),
        ("#system", "#n", "#summaries p", "#references", "#text", "#search", "#articles"),
    ):
        tops = page.evaluate("all => all.map(x => document.querySelector(x).getBoundingClientRect().top)", parts)
        assert tops == sorted(tops), parts
    page.get_by_role("link", name="all articles").click()
    expect_in_sight(page, "#search", "#articles")
    page.locator("#articles button").nth(1).click()
    expect(shown(page)).to_have_text(LOWEST_FIRST[1])
    expect_in_sight(page, "#summaries p")


# Order, search and filters


@pytest.mark.parametrize(
    ("sort", "by"),
    [
        ("highest", lambda i: -kept_of(i)),
        ("difference", lambda i: -abs(kept_of(i) - kept_of(i, "lead"))),
        ("longest", lambda i: -i),
        ("shortest", lambda i: i),
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
        ("own44x9x2", ["44"], None),
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
    hits.get_by_role("link", name="b, n = 13").click()
    expect(page.locator("#summaries p").first.locator("mark.sought")).to_have_text("own44x13x1")
    page.locator("#search").fill("news-044 only44")
    expect(hits).to_have_text("Found in: its name · the article")
    page.locator("#search").fill("shared")
    expect(hits).to_contain_text("Found in: the reference · b, n = 5, 9, 13, 17 · lead, n = 5, 9, 13, 17 · a, n = 5,")


def test_filters_hold_together_and_are_cleared_at_once(page: Page) -> None:
    page.locator("#filters summary").click()
    expect(page.locator("#filters")).to_contain_text("content kept of the first system, in %")
    page.locator("#from").fill("60")
    page.locator("#versus").select_option("wins")
    page.locator("#by").fill("45")
    apart = {i: kept_of(i) - kept_of(i, "lead") for i in range(ARTICLES)}
    wanted = [i for i in sorted(range(ARTICLES), key=kept_of) if kept_of(i) >= 0.6 and apart[i] >= 0.45 - 1e-9]
    expect_list(page, [key(i) for i in wanted])
    page.locator("#search").fill("only1")
    expect_list(page, [key(i) for i in wanted if str(i).startswith("1")])
    page.locator("#score").select_option(label="BERTScore F1")  # in which these ranges would mean nothing
    expect(page.locator("#from")).to_have_value("")
    expect(page.locator("#filters")).to_contain_text("BERTScore F1 of the first system")
    expect(page.locator("#in-percent")).to_be_hidden()
    page.locator("#versus").select_option("loses")
    page.locator("#sort").select_option("longest")
    loses = [i for i in range(ARTICLES) if str(i).startswith("1") and i % 2 == 1]
    expect_list(page, [key(i) for i in reversed(loses)])
    page.locator("#clear").click()
    expect_list(page, [key(i) for i in reversed(range(ARTICLES))])
    expect(page.locator("#filters-on")).to_have_text("")
    assert [page.locator(f"#{name}").input_value() for name in ("search", "from", "versus")] == [""] * 3


# What it says


def test_it_opens_at_the_n_of_the_answer_whose_examples_lead_to_their_articles(page: Page) -> None:
    expect(page.locator("#answer .headline")).to_have_text(
        "9 words keep half of the reference's content (a, sure from 9 on)."
    )
    chosen = "id => document.getElementById(id).selectedOptions[0].text"
    assert [page.evaluate(chosen, name) for name in ("system", "other")] == ["a", "lead"]
    expect(page.locator("#n-value")).to_have_text("9")
    expect(page.locator("#summaries p")).to_have_count(2)
    page.locator("#n").press("End")
    link = page.locator("#answer .examples a").first
    link.click()
    expect(shown(page)).to_have_text(link.inner_text())
    expect(page.locator("#summaries p").first).to_have_text(page.locator("#answer .examples p").first.inner_text())
    expect_in_sight(page, "#summaries p")


def test_every_figure_says_of_which_metric_it_is(page: Page) -> None:
    i = int(LOWEST_FIRST[0].removeprefix("news-"))
    a, lead = (f"{written(i, system).f1:.3f}".removeprefix("0") for system in ("a", "lead"))
    assert kept_of(i) == 0.485
    kept = share(0.485)
    entry = page.locator("#articles button").first
    expect(entry).to_contain_text(f"content kept, n = 9: a {kept} · lead {share(0.18)}")
    expect(entry).to_contain_text(f"{410 + i - 2} words")
    expect(page.locator("#summaries small").first).to_have_text(f"9 words · content kept {kept} · BERTScore F1 {a}")
    expect(page.locator("#scores tr").nth(1)).to_have_text(
        f"content kept{kept}{share(0.18)}+31\N{NO-BREAK SPACE}points"
    )
    page.locator("#score").select_option(label="BERTScore F1")
    expect(entry).to_contain_text(f"BERTScore F1, n = 9: a {a} · lead {lead}")
    expect(page.locator("#shown .texts .score-name")).to_have_text(["BERTScore F1"] * 2)


def test_the_ladder_has_every_length_with_what_it_keeps_and_leads_there(page: Page) -> None:
    page.get_by_text("Ladder: a at every n").click()
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
    page.locator("#all tr", has_text="random").click()
    expect(page.locator("#ladder-lacks")).to_contain_text("no summary of this article by this system at n = 17.")
    expect(rungs).to_have_count(3)


def test_the_sentences_of_the_reference_say_where_a_summary_has_their_words(page: Page) -> None:
    i = int(LOWEST_FIRST[0].removeprefix("news-"))
    has = "2 of 4 words: “shared words” (words 2–3)"
    expect(page.locator("#references li")).to_have_text(
        [
            f"Reference{i} has shared words.a: {has}lead: {has}",
            "Nothing common stands here.a: 0 of 4 wordslead: 0 of 4 words",
        ]
    )
    assert page.locator("#references mark").all_inner_texts() == ["shared words"]
    assert page.locator("#summaries p").first.locator(".shared").all_inner_texts() == ["shared words"]


# Addresses


def settled(page: Page, contains: str) -> str:
    """What the address ends with, once the view is in it."""
    page.wait_for_function("part => location.hash.includes(part)", arg=contains)
    return page.evaluate("location.hash")


def state(page: Page) -> dict[str, object]:
    """All that is seen of a view."""
    fields = ("system", "other", "n", "search", "score", "sort", "from", "to", "versus", "by")
    found: dict[str, object] = {name: page.locator(f"#{name}").input_value() for name in fields}
    return found | {"key": shown(page).inner_text(), "list": listed(page), "found": page.locator("#found").inner_text()}


def test_an_address_holds_the_whole_view(open_at: Callable[..., Page], page: Page) -> None:
    page.locator("#system").select_option(label="b")
    page.locator("#other").select_option(label="a")
    page.locator("#score").select_option(label="BERTScore F1")
    page.locator("#sort").select_option("longest")
    page.locator("#n").press("End")
    page.locator("#filters summary").click()
    for name, value in {"search": "only1", "from": "0.1", "to": "0.9", "by": "0.02"}.items():
        page.locator(f"#{name}").fill(value)
    page.locator("#versus").select_option("wins")
    expect(page.locator("#found")).to_contain_text("of 230 articles")
    page.locator("#next").click()
    other = open_at(settled(page, "versus=wins"))
    wanted = state(page)
    assert wanted["list"]
    expect(other.locator("#found")).to_have_text(str(wanted["found"]))
    expect(other.locator("#filters-on")).to_have_text(" (on)")
    expect(other.locator("#sorted-at")).to_have_text("sorted at n = 9")
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
