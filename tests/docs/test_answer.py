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


PEOPLE = {
    "kept": "**`kept`**",
    "layers 0 and 6, one matching, idf": "layers 0 and 6, idf (floor of all other documents)",
    "layers 0 and 6, mean of recalls, idf": "the same, but the mean of two recalls",
    "layers 0 and 6, one matching, content": "layers 0 and 6, content tokens alone",
    "layers 4 and 6, one matching, idf": "layers 4 and 6, idf",
    "layer 0, idf": "layer 0, idf",
    "layer 6, idf": "layer 6, idf",
    "layer 6, equal": "layer 6, equal weights",
    "kept_words": "`kept_words`",
    "bertscore recall": "BERTScore recall",
    "bertscore F1": "BERTScore F1",
    "rouge1 recall": "ROUGE-1 recall",
    "rouge1 F1": "ROUGE-1 F1",
    "words": "number of words",
}


def test_the_agreement_with_people_is_that_measured() -> None:
    text = (ROOT / "bench" / "results" / "kept_weights.txt").read_text(encoding="utf-8")
    dialogues, short, news = (
        {cells[1].strip(): [cells[2].strip(), cells[4].strip()] for cells in map(lambda row: row.split("|"), table)}
        for table in (part.strip().splitlines() for part in re.findall(r"equal length \|\n.*\n((?:\|.*\n)+)", text))
    )
    rows = [[*dialogues[name], short[name][1], *news[name]] for name in PEOPLE]
    lines = [f"| {called} | {' | '.join(cells)} |" for called, cells in zip(PEOPLE.values(), rows, strict=True)]
    assert [line for line in lines if line.replace("| 0.", "| .") not in PAGE] == []


def test_the_cost_is_that_measured_and_within_bounds() -> None:
    text = (ROOT / "bench" / "results" / "kept_cost.txt").read_text(encoding="utf-8")
    ratios: dict[str, list[str]] = defaultdict(list)
    for arm, least, median in re.findall(r"^\| (content kept.*?) \| \S+ \| (\S+) \| (\S+) \|", text, re.MULTILINE):
        ratios[arm].append(median)
        assert max(float(least), float(median)) <= 1.15
    rows = [f"| {arm} | {' | '.join(found)} |" for arm, found in ratios.items()]
    assert len(rows) == 2
    assert [row for row in rows if row not in PAGE] == []
