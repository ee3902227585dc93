"""The figures of the pages are those of `bench/results/`, rounded as the pages round them."""

import json
import re
from typing import Any

from doc_pages import ROOT


def results(name: str) -> Any:
    return json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def page(name: str) -> str:
    """The text of a page on one line, so that no figure is cut by the end of one."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def test_speed_is_what_was_measured() -> None:
    told = page("docs/speed.md")
    sample, news = results("sweep")
    for arm, row in {"NAIVE": "for itself", "LIB": "once for everything", "NWS": "NWS"}.items():
        cells = re.search(rf"{row} \| ([\d.]+) \| ([\d.]+) \|", told)
        assert cells is not None, row
        assert cells.groups() == tuple(f"{one['arms'][arm]['cpu']:.2f}" for one in (sample, news))
    for other, name in {"NAIVE": "the loop", "LIB": "the libraries"}.items():
        ratios = [f"{one['cpu_ratios'][f'{other} / NWS']:.1f}" for one in (sample, news)]
        assert f"{ratios[0]} and {ratios[1]} times as fast as {name}" in told
    parts = [one["parts"]["seconds"] for one in (sample, news)]
    rest = [f"{1000 * (sum(one.values()) - one['models']):.0f}" for one in parts]
    assert f"{rest[0]} and {rest[1]} ms an article" in told
    ray = re.search(r"stores articles ([\d.]+) times", (ROOT / "bench/results/waiting.txt").read_text(encoding="utf-8"))
    assert ray is not None
    assert f"is {float(ray[1]):.1f} times as fast as one process" in told


def test_people_agree_as_was_measured() -> None:
    measured = (ROOT / "bench" / "results" / "realsumm.txt").read_text(encoding="utf-8").splitlines()
    example = (ROOT / "docs" / "correlate.md").read_text(encoding="utf-8").split("```")[-2].split("\n")
    assert [line for line in example if line not in (*measured, "…")] == []
    tables = re.findall(
        r"\n\| setting .*\n.*\n((?:\|.*\n)+)", (ROOT / "bench/results/kept_weights.txt").read_text("utf-8")
    )
    cells = [{row.split(" | ")[0]: row.split(" | ") for row in table.splitlines()} for table in tables[:3]]
    for name in [name for name in cells[0] if name.startswith("| article: ")] + ["| kept", "| words"]:
        each = [table[name] for table in cells]
        figures = " | ".join(f"{row[3].removeprefix('0')} | {row[6].removesuffix(' |')}" for row in each)
        assert f"| {figures} |" in page("docs/decisions/metrics.md"), name


def test_the_readme_says_what_the_page_on_speed_says() -> None:
    told, news = page("README.md"), results("sweep")[1]
    assert f"takes {news['arms']['NWS']['cpu']:.2f} s of CPU" in told
    assert f"{news['cpu_ratios']['NAIVE / NWS']:.1f} times as fast as a loop over single texts" in told
    assert f"{news['cpu_ratios']['LIB / NWS']:.1f} times as fast as the same libraries" in told


def test_the_report_page_is_as_large_and_fast_as_measured() -> None:
    told, found = page("docs/report.md"), results("page")
    assert f"{found['in_viewer']:,} articles fit into {found['megabytes']:.1f} MB" in told
    assert f"{found['seconds']:.0f} s to write" in told
    assert f"painted after {found['first_paint'] / 1000:.1f} s" in told
    assert f"moving n takes {found['move_median']:.0f} ms, {found['move_most']:.0f} at most" in told


def test_driver_and_store_cost_what_was_measured() -> None:
    told = page("docs/scale.md")
    runs = [results(name) for name in ("overhead-million", "overhead-amd")]
    rows = {"ms wall": "wall", "ms CPU an article, driver": "driver_cpu", "with actors and Ray": "all_cpu"}
    for row, key in rows.items():
        assert re.search(rf"{row}[^|]*\| " + r" \| ".join(f"{run['per_article_ms'][key]:.2f}" for run in runs), told), (
            row
        )
    growth = " | ".join(f"{run['driver_growth_mb']:.1f}" for run in runs)
    assert f"(aim: below 150) | {growth} |" in told
    rates = " | ".join(f"{run['rate_of_last_tenth']:.0%}".replace("%", " %") for run in runs)
    assert f"(aim: 90 %) | {rates} |" in told
    waits = " | ".join(f"{run['resume_s']['wall']:.0f}" for run in runs)
    assert f"seconds to the first bundle (aim: 25 at a million articles) | {waits} |" in told
    million = runs[0]["resume_s"]
    assert f"Of the {million['wall']:.1f} s, {million['cpu']:.1f} s are CPU" in told


def test_the_forecast_is_what_was_simulated() -> None:
    told, found = page("docs/scale.md"), results("forecast")
    assert f"the driver pays {found['forecast']['driver_ms']:.1f} ms for each" in told
    cells = " | ".join(f"{point['simulated']:.1f}" for point in found["forecast"]["points"])
    assert f"| {cells} |" in told
    measured, simulated = (
        "{:.1f}, {:.1f} and {:.1f}".format(*(point[key] for point in found["measured"]["points"]))
        for key in ("measured", "simulated")
    )
    assert f"1, 2 and 4 actors did {measured} articles a second" in told
    assert f"the simulation of the same says {simulated}," in told


def test_a_large_store_is_as_fast_as_measured() -> None:
    told = page("docs/scale.md")
    costs = {cost["what"]: cost for cost in results("large_store")["costs"]}
    for count, row in {"191,807": "192,000", "1,998,568": "2 million"}.items():
        cost = costs[f"report: {count} summaries"]
        assert f"`nws report` of {row} summaries | {cost['wall']:.0f} s, {cost['peak_mb']:.0f} MB |" in told
    best_n = costs["store: best_n"]["wall"], costs["query: count of best_n"]["wall"]
    assert f"{best_n[1]:.1f} s to count them, {best_n[0]:.1f} s to read them" in told


def test_claims_about_lengths_err_as_often_as_measured() -> None:
    measured = (ROOT / "bench" / "results" / "claimed_lengths.txt").read_text(encoding="utf-8")
    rows = [" ".join(line.split()) for line in measured.splitlines() if line.startswith("|")]
    assert [row for row in rows if row not in page("docs/magic-number.md")] == []
    rates = [float(rate) for row in rows if row.startswith("| adds ") for rate in re.findall(r"\| ([\d.]+) ", row)]
    assert sorted(rates)[7] < 6
