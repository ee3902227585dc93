"""The rates of docs/answer.md are those of bench/results/content_kept*.txt."""

import re
from collections import defaultdict

from doc_pages import ROOT

DATA = {"news ": "_cnn_dailymail", "dialogues ": "_dialogsum"}
PAGE = (ROOT / "docs" / "answer.md").read_text(encoding="utf-8")


def tables(name: str) -> dict[str, list[dict[str, str]]]:
    """The rows of each table of a file of results by the line above it, which ends at its first comma, colon or ("."""
    text = (ROOT / "bench" / "results" / f"content_kept{name}.txt").read_text(encoding="utf-8")
    found = {}
    for told, heading, rows in re.findall(r"^([A-Z9].*)\n(\|.*\|)\n\| ---.*\n((?:\|.*\|\n?)+)", text, re.MULTILINE):
        names = [cell.strip() for cell in heading.strip("|").split("|")]
        cells = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines())
        found[re.split("[,:(]", told)[0].strip()] = [dict(zip(names, row, strict=True)) for row in cells]
    return found


def cells_of(table: str, column: str, articles: set[str]) -> dict[str, list[str]]:
    """By what was measured, a cell for each of these numbers of articles."""
    cells: dict[str, list[str]] = defaultdict(list)
    for data, name in DATA.items():
        for row in tables(name)[table]:
            if row["articles"] in articles:
                cells[data + row["of"]].append(row[column].replace("%", " %"))
    return cells


def test_the_rates_are_those_measured() -> None:
    wrong = cells_of("Claims that are wrong", "most", {"12", "24", "60", "200"})
    with_60 = [
        cells_of("95 % intervals of shares that hold the truth", "least", {"60"}),
        *(
            cells_of("The smallest n of 1", column, {"60"})
            for column in ("at the edge, least", "steps wide", "claimed, steps above", "no claim")
        ),
    ]
    rows = [f"| {what} | {' | '.join(wrong[what])} |" for what in wrong]
    rows += [f"| {what} | {' | '.join(cells[what][0] for cells in with_60)} |" for what in wrong]
    assert len(rows) == 10
    assert [row for row in rows if row not in PAGE] == []


def test_how_often_systems_are_wrongly_said_to_have_stopped_is_that_measured() -> None:
    rows = (ROOT / "bench" / "results" / "late_gains.txt").read_text(encoding="utf-8").splitlines()[3:]
    assert rows
    assert [row for row in rows if row not in PAGE] == []
    assert max(float(rate) for row in rows for rate in re.findall(r"([.\d]+) %", row)) <= 5


def test_no_claim_errs_more_often_than_is_said() -> None:
    rates = [
        float(row["most"].strip("%"))
        for name in ("", *DATA.values())
        for row in tables(name)["Claims that are wrong"]
        if "sigma 1.5" not in row["of"]
    ]
    assert 3 < max(rates) <= 5


def test_the_agreement_with_people_is_that_measured() -> None:
    text = (ROOT / "bench" / "results" / "realsumm.txt").read_text(encoding="utf-8")
    levels = [re.findall(r"^(\S+_\S+) +(\.\d.*)$", part, re.MULTILINE) for part in text.split("level: mean")[1:]]
    by_metric: dict[str, list[str]] = defaultdict(list)
    for metric, numbers in (row for level in levels for row in level[:5]):
        value, interval = re.findall(r"(\.\d+) +(\.\d+ to \.\d+)", numbers)[2]  # behind Pearson and Spearman: Kendall
        by_metric[metric].append(f"{value} ({interval})")
    rows = [f"| `{metric}` | {' | '.join(cells)} |" for metric, cells in by_metric.items()]
    assert len(rows) == 5
    assert [row for row in rows if row not in PAGE] == []


SETTINGS = {
    "layer 6, 12 others": "as the report has it: layer 6 of MiniLM, 12 others",
    "layer 5": "layer 5",
    "layer 3": "layer 3",
    "content words": "content words (`kept_words`)",
    "every other n": "n = 1, 5, 9, 13, 17, 21",
}


def test_the_answer_by_setting_is_that_measured() -> None:
    cells: dict[str, list[str]] = defaultdict(list)
    for data, shown in (("cnn_dailymail", "lexrank"), ("dialogsum", "position")):
        text = (ROOT / "bench" / "results" / f"kept_settings_{data}.txt").read_text(encoding="utf-8")
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[4:]]
        for setting, system, kept, smallest, _ in rows:
            if system == shown:
                cells[setting] += [kept.split(", ")[1].replace("%", " %"), smallest]
    lines = [f"| {called} | {' | '.join(cells[setting])} |" for setting, called in SETTINGS.items()]
    assert [line for line in lines if line not in PAGE] == []


def test_the_cost_is_that_measured_and_within_bounds() -> None:
    text = (ROOT / "bench" / "results" / "kept_cost.txt").read_text(encoding="utf-8")
    ratios: dict[str, list[str]] = defaultdict(list)
    for arm, least, median in re.findall(r"^\| (content kept.*?) \| \S+ \| (\S+) \| (\S+) \|", text, re.MULTILINE):
        ratios[arm].append(median)
        assert max(float(least), float(median)) <= 1.15
    rows = [f"| {arm} | {' | '.join(found)} |" for arm, found in ratios.items()]
    assert len(rows) == 2
    assert [row for row in rows if row not in PAGE] == []
