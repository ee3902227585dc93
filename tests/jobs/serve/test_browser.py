"""The pages as a person sees them: in a real Chromium, from a real server, while a driver writes."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import opened_pages
import pytest
from axe_playwright_python.sync_playwright import Axe
from opened_pages import TOLD
from playwright.sync_api import Browser, Page, expect
from served_runs import HARM, MadeRun, serving

from nws.jobs.store import Store, open_store

pytestmark = pytest.mark.slow

WIDTHS = (390, 820, 1440)


@dataclass(frozen=True)
class Site:
    """A server and what is in its store."""

    address: str
    store: Store
    working: MadeRun
    ended: MadeRun
    harmful: MadeRun


PAGES = ("/", "/runs/{0.working.id}", "/runs/{0.ended.id}", "/runs/{0.harmful.id}", "/runs/none")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    url = f"sqlite:///{tmp_path_factory.mktemp('browser') / 'nws.db'}"
    with open_store(url) as store:
        ended = MadeRun(store, name="two encoders on the same 30 articles", kept=True)
        ended.write(30)
        ended.end()
        long = "a-very-long-name-without-a-blank-" * 6
        harmful = MadeRun(store, HARM + long, (f"m|{HARM}", "lead", "random"), name=HARM + long)
        harmful.write(3)
        harmful.fail()
        working = MadeRun(store, address="http://127.0.0.1:8265")
        working.write(5)
        working.fail()
        with serving(url) as port:
            yield Site(f"http://127.0.0.1:{port}", store, working, ended, harmful)


def opened(browser: Browser, address: str, **options: object) -> Page:
    """The page, once no report is being written any more."""
    page = opened_pages.opened(browser, address, **options)
    expect(page.locator("meta[http-equiv=refresh]")).to_have_count(0, timeout=60_000)
    return page


def quiet(page: Page) -> None:
    """Nothing was refused by the policy, failed, or came from elsewhere; and close the page."""
    own = f"request: {'/'.join(page.url.split('/')[:3])}"
    assert [told for told in TOLD if "404" not in told and not told.startswith((own, "request: data:"))] == []
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", PAGES)
def test_axe_finds_nothing_and_no_page_is_wider_than_the_screen(
    browser: Browser, site: Site, address: str, scheme: str
) -> None:
    # axe is put into the page as a script, which the page's policy refuses.
    page = opened(browser, site.address + address.format(site), color_scheme=scheme, bypass_csp=True)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        found = Axe().run(page).response["violations"]
        faults = [(width, one["id"], one["nodes"][0]["html"][:200]) for one in found]
        assert not faults, json.dumps(faults, indent=1)
    assert page.title() != "owned"
    assert page.locator("main img, main script").count() == 0
    page.context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_what_a_driver_writes_is_seen_without_a_reload(browser: Browser, site: Site, width: int) -> None:
    run = MadeRun(site.store, name=f"live {width}")
    page = opened(browser, f"{site.address}/runs/{run.id}", viewport={"width": width, "height": 900})
    expect(page.locator("#written")).to_contain_text("Nothing has been written yet.")
    run.write()
    expect(page.locator("#progress")).to_contain_text("sweep: 1/30 articles, 0 failed")
    expect(page.locator("#written")).to_contain_text("m|textrank wrote 7 of news0")
    run.fail()
    run.beat()
    expect(page.locator("#failures")).to_contain_text("EmptyArticleError: no word in news")
    expect(page.locator("#log")).to_contain_text("stored 1 of news")
    run.end()
    expect(page.locator("#state")).to_have_text("done")
    page.locator("#to-report").click()
    expect(page.locator("h1")).to_have_text("How many words keep how much content?", timeout=60_000)
    quiet(page)


def test_the_list_changes_and_keeps_what_was_chosen(browser: Browser, site: Site) -> None:
    page = opened(browser, f"{site.address}/?q=news")
    page.get_by_label(f"Choose {site.ended.id}").check()
    page.locator(f"#to-{site.working.id}").focus()
    before = site.working.done
    site.working.write()
    line = page.locator("tr", has_text=site.working.id)
    expect(line).to_contain_text(f"{before + 1}/30 articles")
    expect(page.get_by_label(f"Choose {site.ended.id}")).to_be_checked()
    expect(page.locator(f"#to-{site.working.id}")).to_be_focused()
    new = MadeRun(site.store, name="just begun")
    expect(page.locator("tr", has_text="just begun")).to_be_visible()
    page.get_by_label(f"Choose {site.working.id}").check()
    page.get_by_role("button", name="Report on the ticked runs").click()
    expect(page.get_by_label("Way back").get_by_role("link")).to_have_count(3, timeout=60_000)
    new.end()
    quiet(page)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chart_of_what_was_found_is_drawn_in_the_colours_of_the_style_sheet(
    browser: Browser, site: Site, scheme: str, width: int
) -> None:
    page = opened(
        browser, f"{site.address}/runs/{site.ended.id}", color_scheme=scheme, viewport={"width": width, "height": 900}
    )
    style = "([path, name]) => getComputedStyle(document.querySelector(path))[name]"
    line = "#answer svg.chart .line2d path[stroke='var(--c0)']"
    assert page.evaluate(style, [line, "stroke"]) == {"light": "rgb(0, 114, 178)", "dark": "rgb(74, 168, 224)"}[scheme]
    assert page.evaluate(style, [line, "fill"]) == "none"
    quiet(page)


def test_everything_but_the_news_reads_without_javascript(browser: Browser, site: Site) -> None:
    page = opened(browser, site.address, java_script_enabled=False)
    page.locator(f"#to-{site.ended.id}").click()
    expect(page.locator("#answer")).to_contain_text("m|textrank keeps significantly more than lead")
    page.locator("#to-report").click()
    expect(page.locator("#answer")).to_contain_text("Content kept", timeout=60_000)
    page.context.close()


def test_a_server_that_is_gone_is_said(browser: Browser, tmp_path) -> None:
    url = f"sqlite:///{tmp_path / 'nws.db'}"
    with open_store(url) as store, serving(url) as port:
        run = MadeRun(store)
        page = opened(browser, f"http://127.0.0.1:{port}/runs/{run.id}")
        expect(page.locator("#state")).to_contain_text("running")
    expect(page.locator("#connection")).to_have_text("This page may be out of date. Failed to fetch")
    page.context.close()
