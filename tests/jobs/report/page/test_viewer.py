"""The viewer as somebody reads with it: keys, search, filters, addresses, and what stays in sight."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class Written:
    """A summary of the store."""

    text: str
    words: int
    f1: float
    kept: float


def written(i: int, system: str, n: int) -> Written:
    """Of article i. At 9 words `a` beats lead where i is even, by more for each, and loses where it is odd.

    Content kept has the same order as BERTScore F1, and other differences between systems.
    """
    s = SYSTEMS.index(system)
    apart = (1 if i % 2 == 0 else -1) * (0.001 + i / 1000) if system == "a" else 0.0
    spelled = [f"own{i}x{n}x{s}", "shared", "words", *(f"w{i + j}" for j in range(n))][:n]
    kept = KEPT[n] * (1 if system == "a" else 0.3) + apart / 2
    return Written(" ".join(spelled), n, round(0.4 + n / 100 + apart, 4), round(kept, 4))


def key(i: int) -> str:
    return f"news-{i:03}"


def f1_of(i: int, system: str = "a", n: int = 9) -> float:
    return written(i, system, n).f1


@pytest.fixture(scope="module")
def run(store: Store) -> str:
    """230 articles by two systems and two controls."""
    spec = RunSpec("phase1", {}, "made", 0, "made", {"segmentation": "made"}, SIGNATURES, len(SYSTEMS))
    run_id = store.create_run(spec)
    epoch = store.claim_run(run_id, "here", 1)
    store.writer(run_id, epoch).start("cpu", "made", {system: kind_of(system) for system in SYSTEMS})
    for i in range(ARTICLES):
        text = f"Only{i} is told here. Words of news follow. " + " ".join(f"w{j}" for j in range(i, i + 400 + i))
        references = (f"Reference{i} has shared words. Nothing common stands here.",)
        article = Article("news", "test", key(i), text, references)
        made = [_stored(article, i, system, n) for system in SYSTEMS for n in LENGTHS]
        store.writer(run_id, epoch).record([([article], BundleResult(tuple(made), ()))])
    store.writer(run_id, epoch).finish("done")
    return run_id


def _stored(article: Article, i: int, system: str, n: int) -> Summary:
    made = written(i, system, n)
    kept = {"kept": made.kept, "kept_words": 0.1}
    scores = make_scores(Score(made.f1, made.f1, made.f1), efficiency=made.f1 / n) | kept
    return Summary(article.id, system, n, made.text, made.words, 0.1, scores)


@pytest.fixture(scope="module")
def file(store: Store, run: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("viewer") / "report.html"
    write_page(store, [run], path)
    return path.as_uri()


@pytest.fixture
def page(browser: Browser, file: str) -> Iterator[Page]:
    found = opened(browser, file, viewport={"width": 1440, "height": 900})
    ready(found)
    found.locator("#shown").evaluate("one => one.scrollIntoView({ behavior: 'instant' })")
    yield found
    assert not [told for told in TOLD if not told.startswith("request: file:")]
    found.context.close()


def ready(page: Page) -> None:
    page.wait_for_selector("#summaries p")


def shown(page: Page) -> Locator:
    return page.locator("#article-key")


def listed(page: Page) -> list[str]:
    """The keys of the list."""
    return page.locator("#articles button").evaluate_all("all => all.map((one) => one.firstChild.textContent)")


def expect_list(page: Page, wanted: list[str]) -> None:
    expect(page.locator("#found")).to_contain_text(f"{len(wanted)} of {ARTICLES} articles")
    assert listed(page) == wanted[:200]


LOWEST_FIRST = [key(i) for i in sorted(range(ARTICLES), key=f1_of)]


# Keys


def test_n_and_p_lead_to_the_next_length_and_back(page: Page) -> None:
    expect(page.locator("#n-value")).to_have_text("9")
    for pressed, wanted in (("n", 13), ("n", 17), ("n", 17), ("p", 13), ("p", 9), ("p", 5), ("p", 5)):
        page.keyboard.press(pressed)
        expect(page.locator("#n-value")).to_have_text(str(wanted))
        i = int(shown(page).inner_text().removeprefix("news-"))
        expect(page.locator("#summaries p").first).to_have_text(written(i, "a", wanted).text)


def test_slash_leads_to_the_search_and_enter_from_there_to_the_list(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("Only7")
    expect(page.locator("#search")).to_have_value("Only7")
    expect(shown(page)).to_have_text(key(79))  # the lowest of 7 and 70 to 79
    page.locator("#search").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#articles button[aria-current=true]")).to_be_focused()
    expect(page.locator("#search")).to_have_value("Only7")
    page.keyboard.press("j")
    expect(page.locator("#place")).to_have_text("2 of 11")


@pytest.mark.parametrize("focused", ["#search", "#next"])
def test_escape_clears_the_search(page: Page, focused: str) -> None:
    page.locator("#search").fill("Only7")
    expect(shown(page)).to_have_text(key(79))
    page.locator(focused).focus()
    page.keyboard.press("Escape")
    expect_list(page, LOWEST_FIRST)
    expect(page.locator("#search")).to_have_value("")
    expect(shown(page)).to_have_text(key(79))


def test_question_mark_opens_the_keys_as_a_dialog_that_gives_the_focus_back(page: Page) -> None:
    dialog = page.get_by_role("dialog", name="Keys of the viewer")
    expect(dialog).to_be_hidden()
    page.locator("#next").focus()
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    expect(page.locator("#close-help")).to_be_focused()
    for name in ("j", "k", "n", "p", "/", "?"):
        expect(dialog.locator("kbd", has_text=name).first).to_be_visible()
    before = shown(page).inner_text()
    page.keyboard.press("j")
    page.keyboard.press("n")
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#keys-on")).to_be_focused()
    page.keyboard.press("?")
    expect(dialog).to_be_hidden()
    expect(page.locator("#next")).to_be_focused()
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("#next")).to_be_focused()
    assert (shown(page).inner_text(), page.locator("#n-value").inner_text()) == (before, "9")
    page.locator("#open-help").click()
    page.locator("#close-help").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#open-help")).to_be_focused()


def test_the_keys_can_be_turned_off(page: Page) -> None:
    page.keyboard.press("?")
    page.locator("#keys-on").uncheck()
    page.keyboard.press("Escape")
    for pressed in ("j", "n", "?"):
        page.keyboard.press(pressed)
    expect(page.locator("#help")).to_be_hidden()
    assert (shown(page).inner_text(), page.locator("#n-value").inner_text()) == (LOWEST_FIRST[0], "9")
    page.locator("#open-help").click()
    page.locator("#keys-on").check()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(shown(page)).to_have_text(LOWEST_FIRST[1])


@pytest.mark.parametrize("held", ["Control", "Alt", "Meta"])
@pytest.mark.parametrize("pressed", ["j", "k", "n", "p", "/", "?"])
def test_keys_do_nothing_with_control_alt_or_meta(page: Page, held: str, pressed: str) -> None:
    heard = page.evaluate(
        """([held, key]) => {
            document.getElementById("next").click();
            const event = new KeyboardEvent("keydown", { key, [held]: true, bubbles: true, cancelable: true });
            const before = document.getElementById("n").value;
            return [document.body.dispatchEvent(event), before === document.getElementById("n").value];
        }""",
        [{"Control": "ctrlKey", "Alt": "altKey", "Meta": "metaKey"}[held], pressed],
    )
    assert heard == [True, True]  # not prevented
    expect(shown(page)).to_have_text(LOWEST_FIRST[1])
    expect(page.locator("#help")).to_be_hidden()
    expect(page.locator("#search")).not_to_be_focused()
    plain = "key => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))"
    assert page.evaluate(plain, pressed) is False  # alone it is heard


@pytest.mark.parametrize("field", ["search", "from", "to", "by", "sort", "system", "versus"])
def test_keys_do_nothing_where_somebody_types(page: Page, field: str) -> None:
    page.locator("#filters").evaluate("one => { one.open = true }")
    page.locator(f"#{field}").focus()
    for pressed in ("n", "p", "/", "?", "j", "k"):
        page.keyboard.press(pressed)
        expect(page.locator(f"#{field}")).to_be_focused()
    expect(page.locator("#help")).to_be_hidden()
    expect(page.locator("#n-value")).to_have_text("9")


# The end of what a key scrolls: twelve frames without a move.
_SCROLLED = """() => new Promise(end => {
    let still = 0, last = scrollY;
    const look = () => {
        still = scrollY === last ? still + 1 : 0;
        last = scrollY;
        still < 12 ? requestAnimationFrame(look) : end();
    };
    look();
})"""


def test_fifty_articles_are_read_with_the_keyboard_alone(page: Page) -> None:
    for step in range(51):
        i = int(LOWEST_FIRST[step].removeprefix("news-"))
        expect(shown(page)).to_have_text(LOWEST_FIRST[step])
        expect(page.locator("#place")).to_have_text(f"{step + 1} of {ARTICLES}")
        expect(page.locator("#text")).to_contain_text(f"Only{i} is told here.")
        expect(page.locator("#references")).to_contain_text(f"Reference{i} has shared words.")
        expect(page.locator("#summaries p").first).to_have_text(written(i, "a", 9).text)
        expect_in_sight(page, "#articles [aria-current=true]", "#summaries", "#next")
        page.keyboard.press("Space" if step % 10 == 5 else "End" if step % 10 == 7 else "Shift")
        page.evaluate(_SCROLLED)
        page.keyboard.press("j")


def test_another_n_keeps_the_list_until_it_is_sorted_at_that_n(browser: Browser, page: Page) -> None:
    by_f1(page)
    filtered(page)
    page.locator("#from").fill("0.5")
    before = [name for name in LOWEST_FIRST if f1_of(int(name[5:])) >= 0.5]
    expect_list(page, before)
    expect(page.locator("#sorted")).to_be_hidden()
    page.locator("#next").click()
    entries = page.locator("#articles").inner_text()
    page.locator("#n").press("ArrowRight")
    expect(page.locator("#sorted-at")).to_have_text("sorted at n = 9")
    expect_list(page, before)
    expect(page.locator("#place")).to_have_text(f"2 of {len(before)}")
    assert page.locator("#articles").inner_text() == entries
    page.locator("#previous").click()
    expect(shown(page)).to_have_text(before[0])
    page.wait_for_timeout(500)  # until the view stands in the address
    other = opened(browser, settled(page, "sorted=9"), viewport={"width": 1440, "height": 900})
    ready(other)
    expect(other.locator("#found")).to_contain_text(f"{len(before)} of 230")
    assert state(other) == state(page)
    other.context.close()
    page.get_by_role("button", name="sort at n = 13").click()
    wanted = [i for i in sorted(range(ARTICLES), key=f1_of) if f1_of(i, n=13) >= 0.5]
    expect_list(page, [key(i) for i in wanted])
    expect(page.locator("#sorted")).to_be_hidden()
    expect(page.locator("#place")).to_have_text(re.compile(f"[0-9]+ of {len(wanted)}"))


def test_tab_reaches_every_control_and_the_list_as_one(page: Page) -> None:
    page.reload()
    ready(page)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.locator("#system").focus()
    for wanted in ("#other", "#n", "#search", "#score", "#sort", "#filters summary"):
        page.keyboard.press("Tab")
        expect(page.locator(wanted)).to_be_focused()
        assert page.locator(wanted).evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    page.keyboard.press("Tab")
    expect(page.locator("#articles button").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(shown(page)).to_have_text(LOWEST_FIRST[1])
    expect(page.locator("#articles button").nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#articles button").first).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#previous")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_viewer(browser: Browser, file: str, scheme: str) -> None:
    page = opened(browser, file, color_scheme=scheme, viewport={"width": 1440, "height": 900})
    ready(page)
    page.locator("#viewer details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    page.locator("#search").fill("shared")
    expect(page.locator("#summaries .sought").first).to_be_visible()
    for look in ("viewer", "help"):
        if look == "help":
            page.locator("#open-help").click()
        found = Axe().run(page, context=f"#{look}").response["violations"]
        assert not found, [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
    page.context.close()


# What stays in sight


_ARE_IN_SIGHT = """parts => parts.every(part => {
    const { left, top, height } = document.querySelector(part).getBoundingClientRect();
    return top >= -1 && top + Math.min(height, 40) <= innerHeight && left >= 0 && left <= innerWidth;
})"""


def expect_in_sight(page: Page, *parts: str) -> None:
    """Waited for: a browser scrolls after the key that made it."""
    page.wait_for_function(_ARE_IN_SIGHT, arg=parts)


@pytest.mark.parametrize("width", [1440, 820])
def test_summaries_list_and_next_stay_while_the_article_scrolls(browser: Browser, file: str, width: int) -> None:
    page = opened(browser, file, viewport={"width": width, "height": 900})
    ready(page)
    page.keyboard.press("j")
    expect_in_sight(page, "#summaries")
    before = page.evaluate("scrollY")
    page.evaluate("document.getElementById('text').scrollIntoView({ block: 'end', behavior: 'instant' })")
    assert page.evaluate("scrollY") > before + 300
    expect_in_sight(page, "#articles [aria-current=true]", "#summaries p", "#next", "#n", "#search")
    page.keyboard.press("j")
    expect(shown(page)).to_have_text(LOWEST_FIRST[1])
    top = page.locator("#shown").bounding_box()
    assert top
    assert abs(top["y"]) < 2  # the next article begins at its beginning
    page.context.close()


def test_on_a_phone_the_summary_and_next_stay(browser: Browser, file: str) -> None:
    page = opened(browser, file, viewport={"width": 390, "height": 844})
    ready(page)
    page.evaluate("document.getElementById('text').scrollIntoView({ block: 'end', behavior: 'instant' })")
    expect_in_sight(page, "#summaries p", "#next")
    head = page.locator(".head").bounding_box()
    assert head
    assert head["height"] < 844 / 2  # there is room left to read
    page.context.close()


# Order, search and filters


@pytest.mark.parametrize(
    ("sort", "by"),
    [
        ("highest", lambda i: -f1_of(i)),
        ("difference", lambda i: -abs(f1_of(i) - f1_of(i, "lead"))),
        ("longest", lambda i: -i),
        ("shortest", lambda i: i),
        ("key", key),
    ],
)
def test_sorting_leads_to_the_first_of_the_new_order(page: Page, sort: str, by: Callable[[int], object]) -> None:
    by_f1(page)
    page.locator("#next").click()
    page.locator("#sort").select_option(sort)
    wanted = [key(i) for i in sorted(range(ARTICLES), key=by)]  # type: ignore[arg-type]
    expect(shown(page)).to_have_text(wanted[0])
    assert listed(page) == wanted[:200]
    page.locator("#sort").select_option("lowest")
    expect(shown(page)).to_have_text(LOWEST_FIRST[0])


@pytest.mark.parametrize(
    ("sought", "wanted", "where"),
    [
        ("only17", ["17", *map(str, range(170, 180))], "#text"),
        ("REFERENCE123", ["123"], "#references"),
        ("own44x13x1", ["44"], None),  # a summary of another system at another n
        ("own44x9x0", ["44"], "#summaries"),
        ("shared only200", ["200"], "#text"),  # both words, in any order and place
        ("news-077", ["77"], None),
    ],
)
def test_search_finds_words_of_article_reference_and_summaries(
    page: Page, sought: str, wanted: list[str], where: str | None
) -> None:
    page.locator("#search").fill(sought)
    expect_list(page, [name for name in LOWEST_FIRST if str(int(name.removeprefix("news-"))) in wanted])
    expect(shown(page)).to_have_text(listed(page)[0])
    if where:
        marked = page.locator(f"{where} mark.sought").first
        assert marked.inner_text().lower() in sought.lower()


def test_a_search_that_finds_nothing_keeps_the_article(page: Page) -> None:
    page.locator("#search").fill("no article has (this")
    expect_list(page, [])
    expect(page.locator("#place")).to_have_text("not in the list")
    expect(page.locator("#found")).to_have_text(
        "0 of 230 articles: no article has “no” and “article” and “has” and “(this”"
    )
    page.locator("#next").click()
    expect(shown(page)).to_have_text(LOWEST_FIRST[0])
    page.locator("#search").fill("")
    expect_list(page, LOWEST_FIRST)


def test_it_is_said_where_what_is_sought_is(page: Page) -> None:
    hits = page.locator("#hits")
    expect(hits).to_be_hidden()
    page.locator("#search").fill("own44x13x1")
    expect(hits).to_have_text("Found in: b, n = 13")
    hits.get_by_role("link", name="b, n = 13").click()
    expect(page.locator("#summaries p").first.locator("mark.sought")).to_have_text("own44x13x1")
    page.locator("#search").fill("news-044 only44")
    expect(hits).to_have_text("Found in: its name · the article")
    expect(page.locator("#article-key mark.sought")).to_have_text("news-044")
    expect(page.locator("#articles mark.sought").first).to_have_text("news-044")
    page.locator("#search").fill("shared")
    expect(hits).to_contain_text("Found in: the reference · b, n = 5, 9, 13, 17 · lead, n = 5, 9, 13, 17 · a, n = 5,")


def test_an_article_is_not_found_by_what_is_about_another_one(page: Page) -> None:
    other = written(44, "other-article", 9).text.split()[0]
    page.locator("#search").fill(other)
    expect_list(page, [])
    expect(page.locator("#found")).to_have_text(f"0 of 230 articles: no article has “{other}”")
    page.locator("#search").fill("own44x9x2")
    expect_list(page, [key(44)])


def filtered(page: Page) -> None:
    page.locator("#filters summary").click()


def by_f1(page: Page) -> None:
    """Order and filters by BERTScore F1, in which a and lead are compared here."""
    page.locator("#score").select_option(label="BERTScore F1")
    expect(page.locator("#articles button").first).to_contain_text("BERTScore F1, n = 9: a")


def test_the_filter_of_content_kept_is_in_percent(page: Page) -> None:
    filtered(page)
    expect(page.locator("#filters")).to_contain_text("content kept of the first system, in %")
    kept = {name: written(int(name[5:]), "a", 9).kept for name in LOWEST_FIRST}
    page.locator("#from").fill("60")
    expect_list(page, [name for name in LOWEST_FIRST if kept[name] >= 0.6])
    page.locator("#versus").select_option("wins")
    page.locator("#by").fill("45")
    apart = {name: kept[name] - written(int(name[5:]), "lead", 9).kept for name in LOWEST_FIRST}
    wanted = [name for name in LOWEST_FIRST if kept[name] >= 0.6 and apart[name] >= 0.45 - 1e-9]
    assert wanted
    expect_list(page, wanted)
    by_f1(page)  # in which this range would mean nothing
    expect(page.locator("#from")).to_have_value("")
    expect(page.locator("#filters")).to_contain_text("BERTScore F1 of the first system")
    expect(page.locator("#in-percent")).to_be_hidden()


def test_the_examples_lead_to_their_articles(page: Page) -> None:
    link = page.locator("#answer .examples a").first
    name = link.inner_text()
    link.click()
    expect(shown(page)).to_have_text(name)
    expect(page.locator("#n-value")).to_have_text("9")
    example = page.locator("#answer .examples p").first.inner_text()
    expect(page.locator("#summaries p").first).to_have_text(example)
    expect_in_sight(page, "#summaries p")


def test_filters_hold_together_and_are_cleared_at_once(page: Page) -> None:
    by_f1(page)
    filtered(page)
    page.locator("#versus").select_option("loses")
    page.locator("#from").fill("0.3")
    page.locator("#search").fill("only1")
    wanted = [i for i in range(ARTICLES) if i % 2 == 1 and str(i).startswith("1") and f1_of(i) >= 0.3]
    expect_list(page, [key(i) for i in sorted(wanted, key=f1_of)])
    page.locator("#sort").select_option("longest")
    page.locator("#clear").click()
    expect_list(page, [key(i) for i in reversed(range(ARTICLES))])
    expect(page.locator("#filters-on")).to_have_text("")
    for name in ("search", "from", "versus"):
        expect(page.locator(f"#{name}")).to_have_value("")


# What it says


def test_it_opens_at_the_n_of_the_answer_with_lead_beside(page: Page) -> None:
    expect(page.locator("#answer .headline")).to_have_text("9 words keep half of the reference's content (a).")
    chosen = "id => document.getElementById(id).selectedOptions[0].text"
    assert [page.evaluate(chosen, name) for name in ("system", "other")] == ["a", "lead"]
    expect(page.locator("#n-value")).to_have_text("9")
    expect(page.locator("#summaries p")).to_have_count(2)


def test_every_figure_says_of_which_metric_it_is(page: Page) -> None:
    i = int(LOWEST_FIRST[0].removeprefix("news-"))
    a, lead = (f"{f1_of(i, system):.3f}".removeprefix("0") for system in ("a", "lead"))
    assert written(i, "a", 9).kept == 0.485
    kept = "49 %"
    entry = page.locator("#articles button").first
    expect(entry).to_contain_text(f"content kept, n = 9: a {kept} · lead 18 %")
    expect(entry).to_contain_text(f"{410 + i - 2} words")
    expect(page.locator("#summaries small").first).to_have_text(f"9 words · content kept {kept} · BERTScore F1 {a}")
    page.get_by_text("All systems at this n").click()
    expect(page.locator("#shown thead").first).to_contain_text("content kept")
    first_row = page.locator("#scores tbody tr").first
    expect(first_row.locator("th")).to_have_text("content kept")
    expect(first_row.locator("td").first).to_have_text(kept)
    expect(first_row.locator("td").last).to_have_text("+31 points")
    by_f1(page)
    expect(entry).to_contain_text(f"BERTScore F1, n = 9: a {a} · lead {lead}")
    expect(page.locator("#shown thead").first).to_contain_text("BERTScore F1")


def test_the_sentences_of_the_reference_say_where_a_summary_has_their_words(page: Page) -> None:
    i = int(LOWEST_FIRST[0].removeprefix("news-"))
    sentences = page.locator("#references li")
    expect(sentences).to_have_count(2)
    expect(sentences.nth(0).locator("p")).to_have_text(f"Reference{i} has shared words.")
    expect(sentences.nth(0).locator("small").nth(0)).to_have_text("a: 2 of 4 words: “shared words” (words 2–3)")
    expect(sentences.nth(0).locator("small").nth(1)).to_have_text("lead: 2 of 4 words: “shared words” (words 2–3)")
    expect(sentences.nth(1).locator("small").nth(0)).to_have_text("a: 0 of 4 words")
    assert sentences.nth(0).locator("mark").all_inner_texts() == ["shared words"]
    assert page.locator("#summaries p").first.locator(".shared").all_inner_texts() == ["shared words"]


# Addresses


def settled(page: Page, contains: str) -> str:
    """The address, once the view is in it."""
    page.wait_for_function("part => location.hash.includes(part)", arg=contains)
    return page.evaluate("location.href")


def state(page: Page) -> dict[str, object]:
    """All that is seen of a view."""
    fields = ("system", "other", "n", "search", "score", "sort", "from", "to", "versus", "by")
    found: dict[str, object] = {name: page.locator(f"#{name}").input_value() for name in fields}
    return found | {"key": shown(page).inner_text(), "list": listed(page), "found": page.locator("#found").inner_text()}


def change_everything(page: Page) -> None:
    page.locator("#system").select_option(label="b")
    page.locator("#other").select_option(label="a")
    page.locator("#n").press("End")
    page.locator("#score").select_option(label="BERTScore F1")
    page.locator("#sort").select_option("longest")
    filtered(page)
    page.locator("#search").fill("only1")
    page.locator("#from").fill("0.1")
    page.locator("#to").fill("0.9")
    page.locator("#versus").select_option("wins")
    page.locator("#by").fill("0.02")
    expect(page.locator("#found")).to_contain_text("of 230 articles")
    page.locator("#next").click()
    page.locator("#next").click()


def test_an_address_holds_the_whole_view(browser: Browser, page: Page) -> None:
    change_everything(page)
    address = settled(page, "by=0.02")
    wanted = state(page)
    assert wanted["list"]
    for part in (
        "article=",
        "system=b",
        "other=a",
        "n=17",
        "score=bertscore_f1",
        "sort=longest",
        "search=only1",
        "from=0.1",
        "to=0.9",
    ):
        assert part in address
    assert page.evaluate("document.getElementById('link').href") == address
    other = opened(browser, address, viewport={"width": 1440, "height": 900})
    ready(other)
    expect(other.locator("#found")).to_have_text(str(wanted["found"]))
    expect(other.locator("#filters-on")).to_have_text(" (on)")
    assert state(other) == wanted
    expect_in_sight(other, "#summaries p", "#next")
    other.context.close()


def test_going_back_and_forward_leads_through_the_views(page: Page) -> None:
    opening = state(page)
    page.keyboard.press("j")
    settled(page, "#view?")
    second = state(page)
    page.locator("#sort").select_option("highest")
    settled(page, "sort=highest")
    page.locator("#search").fill("only22")
    settled(page, "search=only22")
    found = state(page)
    page.go_back()
    expect(page.locator("#search")).to_have_value("")
    expect(page.locator("#sort")).to_have_value("highest")
    page.go_back()
    expect(shown(page)).to_have_text(LOWEST_FIRST[1])
    assert state(page) == second
    page.go_back()
    expect(shown(page)).to_have_text(LOWEST_FIRST[0])
    assert state(page) == opening
    for _ in range(3):
        page.go_forward()
    expect(page.locator("#search")).to_have_value("only22")
    expect(page.locator("#found")).to_have_text(str(found["found"]))
    assert state(page) == found


def test_what_is_only_passed_is_not_gone_back_to(page: Page) -> None:
    before = page.evaluate("history.length")
    for _ in range(30):
        page.keyboard.press("j")
    settled(page, "#view?")
    assert page.evaluate("history.length") <= before + 2
    page.go_back()
    expect(shown(page)).not_to_have_text(LOWEST_FIRST[30])


def test_a_view_that_is_only_looked_at_leaves_the_address_alone(browser: Browser, file: str) -> None:
    page = opened(browser, f"{file}#answer")
    ready(page)
    page.wait_for_timeout(500)
    assert page.evaluate("location.hash") == "#answer"
    page.context.close()


def test_a_narrow_page_loses_nothing(browser: Browser, file: str) -> None:
    for width in (360, 390, 820, 1440):
        page = opened(browser, file, viewport={"width": width, "height": 900})
        ready(page)
        page.locator("#viewer details").evaluate_all("all => all.forEach((one) => { one.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.context.close()
