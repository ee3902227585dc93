"""What the page says without JavaScript: its HTML."""

import base64
import gzip
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_disk import full_disk

from nws.core.errors import NwsError, StoreError
from nws.core.metrics.specs import METRICS
from nws.jobs.recipes.load import parse_recipe
from nws.jobs.recipes.sweep_recipe import Phase1Recipe
from nws.jobs.report import policy_report, wording
from nws.jobs.report.metric_names import metric_name
from nws.jobs.report.page.page import Page, write_page
from nws.jobs.report.run_report import read_report
from nws.jobs.store import Store


def viewed(page: Page) -> dict[str, Any]:
    """What the viewer is told first."""
    index: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(page.archive.index)))
    return index


def read(path: Path) -> str:
    """The page's text."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", body)))


@pytest.fixture(scope="module")
def page(store: Store, swept: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "new" / "report.html"
    write_page(store, [swept], path)
    return path


def values(source: str, chart: str) -> dict[str, dict[str, str]]:
    """What a chart says at each n of each system."""
    svg = source.partition(f'aria-labelledby="{chart}-t')[2].partition("</svg>")[0]
    found = re.findall(r'<rect class="at" .*?><title>.*?: (\d+)\n(.*?)</title>', svg, re.DOTALL)
    return {n: dict(line.split(": ", 1) for line in said.split("\n")) for n, said in found}


KEPT = {"a": 0.3, "lead": 0.1, "random": 0.05, "person": 0.5}


def test_how_much_is_kept_comes_first_with_a_chart_and_every_number(
    store: Store, run_of_points, tmp_path: Path
) -> None:
    run = run_of_points((*KEPT,), (0, 7, 21), kept=KEPT)
    write_page(store, [run], tmp_path / "x.html")
    report = read_report(store, store.run_info(run))
    asked = report.document, "news", report.names
    text, source = read(tmp_path / "x.html"), (tmp_path / "x.html").read_text("utf-8")
    told = [wording.headline(*asked), wording.articles_and_lengths(report.document, "news"), *wording.sentences(*asked)]
    told += [wording.INTERVALS_EXPLAINED, wording.CONTENT_KEPT_EXPLAINED]
    for sentence in told:
        assert sentence in text
    assert text.index(told[0]) < text.index("Curves by n")
    assert 'id="d0-kept-bands" class="bands-on" checked' in source
    shown = values(source, "d0-kept")
    assert list(shown) == ["7", "21"]
    for by_system in shown.values():
        assert set(by_system) == {"a", "lead (control)", "random (control)", "person (oracle)", "person, in full"}
    for said in (
        "half",
        "90 %",
        "person, in full",
        "the smallest n from which on a system keeps this share of the reference",
    ):
        assert said in text
    assert shown["7"]["a"].startswith("37 % (")
    assert "<td>37<small>" in source
    assert "keeps this share of what another person keeps" in text


def test_no_line_ends_before_a_per_cent_sign_or_within_an_n(store: Store, run_of_points, tmp_path: Path) -> None:
    write_page(store, [run_of_points((*KEPT,), (0, 7, 21), kept=KEPT)], tmp_path / "x.html")
    source = (tmp_path / "x.html").read_text(encoding="utf-8")
    (headline,) = re.findall(r'<p class="headline">(.*?)</p>', source)
    assert "\xa0%" in headline
    answers = "".join(re.findall(r'<ul class="answers">(.*?)</ul>', source, re.DOTALL))
    assert not re.search(r" %|n =| = \d", answers)


def test_runs_that_do_not_measure_in_the_same_way(store: Store, run_of_points, tmp_path: Path) -> None:
    runs = [run_of_points(kept=KEPT), run_of_points(lengths=(5, 7))]
    assert viewed(write_page(store, runs, tmp_path / "x.html"))["lengths"] == [5, 7, 9]
    assert "measure content kept in different ways" in read(tmp_path / "x.html")


def test_failures_are_listed_with_their_reason(store: Store, swept: str, page: Path) -> None:
    (failure,) = store.failures(swept)
    assert failure.key == "empty"
    assert f"{failure.error_class}: {failure.message}" in read(page)


def test_nothing_from_outside_is_markup(store: Store, run_of_points, tmp_path: Path) -> None:
    """Names of systems and datasets, keys and messages: they stand in the HTML itself."""
    harm = "<script>alert(1)</script>\x1b[2J"
    run = run_of_points(systems=(harm, "lead", "random"), dataset=harm, failure=harm, ended=False)
    write_page(store, [run], tmp_path / "x.html")
    assert "The run has not finished: these numbers will change." in read(tmp_path / "x.html")
    source = (tmp_path / "x.html").read_text(encoding="utf-8")
    before_data = source.split('<script type="application/octet-stream"', 1)[0]
    assert "<script" not in before_data
    assert before_data.count("&lt;script&gt;") > 10
    assert "\x1b" not in before_data


def test_a_single_n_has_tables_and_nothing_drawn_by_n(store: Store, run_of_points, tmp_path: Path) -> None:
    write_page(store, [run_of_points((*KEPT,), (7,), kept=KEPT)], tmp_path / "x.html")
    text, source = read(tmp_path / "x.html"), (tmp_path / "x.html").read_text(encoding="utf-8")
    assert 'class="chart"' not in source
    assert "Curves by n" not in text
    assert all(f"news: mean {metric_name(metric)} by n" in text for metric in (*METRICS, "kept"))


def test_it_asks_nothing_of_a_network(page: Path) -> None:
    source = page.read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href)=["']?(?!#|data:)[^"'\s>]+""", source.replace("src=x", ""))
    assert "default-src 'none'" in source


def test_the_same_run_gives_the_same_bytes(store: Store, swept: str, page: Path, tmp_path: Path) -> None:
    write_page(store, [swept], tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


def test_the_recipe_on_the_page_is_that_of_the_run(store: Store, swept: str, page: Path) -> None:
    found = re.search(
        r"<summary>recipe.yaml</summary><pre[^>]*>(.*?)</pre>", page.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found
    values = yaml.safe_load(html.unescape(found[1]))
    assert parse_recipe(Phase1Recipe, values, "page").model_dump(mode="json") == store.run_info(swept).recipe


def test_two_runs_beside_each_other(store: Store, swept: str, reseeded: str, tmp_path: Path) -> None:
    page = write_page(store, [swept, reseeded], tmp_path / "two.html")
    names = {system["name"] for system in viewed(page)["systems"]}
    assert {"lead", "random", f"random @{reseeded}"} <= names
    assert f"lead @{reseeded}" not in names
    assert f"random @{reseeded} vs. random" in read(tmp_path / "two.html")


@pytest.mark.slow
def test_a_training_is_asked_about_its_policies(store: Store, trained: str, tmp_path: Path) -> None:
    write_page(store, [trained], tmp_path / "trained.html")
    text, source = read(tmp_path / "trained.html"), (tmp_path / "trained.html").read_text(encoding="utf-8")
    assert "Are the policies better?" in source[source.index("<h1>") : source.index("</h1>")]
    report = read_report(store, store.run_info(trained))
    (dataset,) = report.document.policies.scored
    headline = policy_report.headline(report, dataset)
    assert re.findall(r'<p class="headline">(.*?)</p>', source) == [headline]
    assert "the magic number" not in text
    assert text.index("Learning curves") < text.index("Curves by n")
    for told in ("Gain over lead ", "Mean reward at n = 7", "Test articles of", "vs. textrank (Δ)"):
        assert told in text


def test_runs_with_other_metrics_are_refused(store: Store, swept: str, trained: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="BERTScore F1 is not the same metric"):
        write_page(store, [swept, trained], tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()


def test_on_a_full_disk_an_older_page_is_as_it_was(store: Store, swept: str, page: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(page.read_bytes())
    told = r"page cannot be written to .*report\.html: File too large\. Choose another file"
    with pytest.raises(NwsError, match=told), full_disk(4096):
        write_page(store, [swept], path)
    assert [found.read_bytes() for found in tmp_path.iterdir()] == [page.read_bytes()]
