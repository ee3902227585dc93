"""The figures of the pages are those of `bench/results/`, rounded as the pages round them."""

import json
import re
from collections import defaultdict
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
    inline, ray = results("waiting")["submissions"]
    assert f"is {ray['rate'] / inline['rate']:.1f} times as fast as one process" in told


def test_the_readme_says_what_the_page_on_speed_says() -> None:
    told, news = page("README.md"), results("sweep")[1]
    assert f"needs {news['arms']['NWS']['cpu']:.2f} s of CPU" in told
    assert f"{news['cpu_ratios']['NAIVE / NWS']:.1f} times as fast as a notebook's loop" in told
    assert f"{news['cpu_ratios']['LIB / NWS']:.1f} times as fast as the same libraries" in told


def test_the_report_page_is_as_large_and_fast_as_measured() -> None:
    told, found = page("docs/report.md"), results("page")
    assert f"{found['in_viewer']:,} articles fit into {found['megabytes']:.1f} MB" in told
    assert f"{found['seconds']:.0f} s to write" in told
    assert f"painted after {found['first_paint'] / 1000:.1f} s" in told
    assert f"moving n takes {found['move_median']:.0f} ms, {found['move_most']:.0f} at most" in told


def test_driver_and_store_cost_what_was_measured() -> None:
    told = page("docs/scale.md")
    runs = [results(name) for name in ("overhead-million", "overhead", "overhead-postgres", "overhead-amd")]
    rows = {"ms wall": "wall", "ms CPU an article, driver": "driver_cpu", "with actors and Ray": "all_cpu"}
    for row, key in rows.items():
        assert re.search(rf"{row}[^|]*\| " + r" \| ".join(f"{run['per_article_ms'][key]:.2f}" for run in runs), told), (
            row
        )
    growth = " | ".join(f"{run['driver_growth_mb']:.1f}" for run in runs)
    assert f"(aim: below 150) | {growth} |" in told
    rates = [f"{run['rate_of_last_tenth']:.0%}".replace("%", " %") for run in runs[:3]]
    assert f"(aim: 90 %) | {rates[0]} | {rates[1]} | {rates[2]} (busy at first) |" in told
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


DATA = {"": "", "news ": "_cnn_dailymail", "dialogues ": "_dialogsum"}
ANSWER = (ROOT / "docs" / "answer.md").read_text(encoding="utf-8")


def tables(name: str) -> dict[str, list[dict[str, str]]]:
    """The rows of each table of a file of results by the line above it, which ends at its first comma, colon or ("."""
    text = (ROOT / "bench" / "results" / f"content_kept{name}.txt").read_text(encoding="utf-8")
    found = {}
    for told, heading, rows in re.findall(r"^([A-Z9].*)\n(\|.*\|)\n\| ---.*\n((?:\|.*\|\n?)+)", text, re.MULTILINE):
        names = [cell.strip() for cell in heading.strip("|").split("|")]
        cells = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines())
        found[re.split("[,:(]", told)[0].strip()] = [dict(zip(names, row, strict=True)) for row in cells]
    return found


def by_articles(table: str, column: str) -> list[str]:
    """A row of the page for each thing measured, with a cell for each number of articles."""
    cells: dict[str, list[str]] = defaultdict(list)
    for data, name in DATA.items():
        for row in tables(name).get(table, []):
            cells[data + row["of"]].append(row[column].replace("%", " %"))
    return [f"| {what} | {' | '.join(found)} |" for what, found in cells.items()]


def test_the_rates_are_those_measured() -> None:
    rows = [
        *by_articles("Claims that are wrong", "most"),
        *by_articles("95 % intervals of shares that hold the truth", "least"),
        *by_articles("The smallest n of 1", "at the edge, least"),
        *by_articles("The smallest n of 1", "steps wide"),
        *by_articles("The smallest n of 1", "claimed, steps above"),
        *by_articles("The smallest n of 1", "no claim"),
    ]
    assert len(rows) == 7 + 5 + 5 + 4 * 5
    assert [row for row in rows if row not in ANSWER] == []


def test_no_claim_errs_more_often_than_is_said() -> None:
    rates = [
        float(row["most"].strip("%"))
        for name in DATA.values()
        for row in tables(name)["Claims that are wrong"]
        if "sigma 1.5" not in row["of"]
    ]
    assert 3 < max(rates) <= 5


def test_the_agreement_with_people_is_that_measured() -> None:
    text = (ROOT / "bench" / "results" / "realsumm.txt").read_text(encoding="utf-8")
    levels = [re.findall(r"^(\S+_\S+) +(\.\d.*)$", part, re.MULTILINE) for part in text.split("level: mean")[1:]]
    by_metric: dict[str, list[str]] = defaultdict(list)
    for metric, numbers in (row for level in levels for row in level[:5]):
        pearson, _, kendall = re.findall(r"(\.\d+) +(\.\d+ to \.\d+)", numbers)
        by_metric[metric] += [f"{value} ({interval})" for value, interval in (pearson, kendall)]
    rows = [f"| `{metric}` | {' | '.join(cells)} |" for metric, cells in by_metric.items()]
    assert len(rows) == 5
    assert [row for row in rows if row not in ANSWER] == []
