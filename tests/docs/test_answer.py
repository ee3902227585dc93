"""The rates of docs/answer.md are those of bench/results/content_kept*.txt."""

import re
from collections import defaultdict

from doc_pages import ROOT

DATA = {"news ": "_cnn_dailymail", "XSum ": "_frank_xsum", "dialogues ": "_dialogsum"}
PAGE = (ROOT / "docs" / "answer.md").read_text(encoding="utf-8")


def told(name: str) -> str:
    return (ROOT / "bench" / "results" / name).read_text(encoding="utf-8")


def tables(name: str) -> dict[str, list[dict[str, str]]]:
    """The rows of each table of a file of results by the line above it, which ends at its first comma, colon or ("."""
    text = told(f"content_kept{name}.txt")
    found = {}
    for line, heading, rows in re.findall(r"^([A-Z9].*)\n(\|.*\|)\n\| ---.*\n((?:\|.*\|\n?)+)", text, re.MULTILINE):
        names = [cell.strip() for cell in heading.strip("|").split("|")]
        cells = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines())
        found[re.split("[,:(]", line)[0].strip()] = [dict(zip(names, row, strict=True)) for row in cells]
    return found


def cells_of(table: str, column: str, articles: set[str]) -> dict[str, list[str]]:
    """By what was measured, a cell for each of these numbers of articles."""
    cells: dict[str, list[str]] = defaultdict(list)
    for data, name in DATA.items():
        for row in tables(name)[table]:
            if row["articles"] in articles:
                cells[data + row["of"]].append(row[column].replace("%", " %"))
    return cells


def require_on_page(rows: list[str], count: int) -> None:
    """That these are so many rows, and each is on the page."""
    assert (len(rows), [row for row in rows if row not in PAGE]) == (count, [])


def said(sentence: str) -> bool:
    """Whether the page has it, wherever its lines end."""
    return sentence in " ".join(PAGE.split())


def test_the_rates_are_those_measured() -> None:
    wrong = cells_of("Claims that are wrong", "most", {"20", "24", "60", "200"})
    rows = [f"| {what} | {' | '.join(rates)} |" for what, rates in wrong.items()]
    require_on_page(rows, 7)


def of_all(table: str, column: str, articles: str) -> list[float]:
    return [float(cell.strip("% ")) for cells in cells_of(table, column, {articles}).values() for cell in cells]


def test_how_sure_it_is_to_be_sure_is_that_measured() -> None:
    shares, n = "95 % intervals of shares that hold the truth", "The smallest n of 1"
    rows: dict[str, list[str]] = defaultdict(list)
    for articles in ("20", "60"):
        wide, above = of_all(n, "steps wide", articles), of_all(n, "claimed, steps above", articles)
        rows["true share in at least"].append(f"{min(of_all(shares, 'least', articles))} %")
        rows["true $n^*$ in at least"].append(f"{min(of_all(n, 'at the edge, least', articles))} %")
        rows["of $n^*$, in steps"].append(f"{min(wide)} to {max(wide)}")
        rows["above $n^*$, in steps"].append(f"{min(above)} to {max(above)}")
        rows["nothing is claimed, up to"].append(f"{max(of_all(n, 'no claim', articles)):.0f} %")
    assert [name for name, cells in rows.items() if f"{name} | {' | '.join(cells)} |" not in PAGE] == []


def test_what_kept_does_not_see_is_that_measured() -> None:
    text = told("kept_misses.txt")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    require_on_page(rows, 8)
    shuffled, denied, raised, *systems = (line.split(": ") for line in text.splitlines() if ": " in line)
    assert said(f'A reference keeps {denied[1]} with one "not" added, and {raised[1]} with each digit raised by one.')
    assert said(f"words, shuffled, keep {shuffled[1]}.")
    assert len(systems) == 5
    cells = {name: shares.removesuffix(" %").replace(", ", " % | ") for name, shares in systems}
    assert [name for name, shares in cells.items() if f"| `{name}` | {shares} % |" not in PAGE] == []


def test_how_often_systems_are_wrongly_said_to_have_stopped_is_that_measured() -> None:
    rates = [float(rate) for rate in re.findall(r"([.\d]+) %", told("late_gains.txt").partition("\n")[2])]
    assert len(rates) == 12
    assert max(rates) <= 5
    assert said(f"at most {max(rates)} % of studies say wrongly that such a system has stopped, in the worst case")


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
    text = told("kept_weights.txt")
    dialogues, short, news = (
        {cells[1].strip(): [cells[2].strip(), cells[4].strip()] for cells in map(lambda row: row.split("|"), table)}
        for table in (part.strip().splitlines() for part in re.findall(r"equal length \|\n.*\n((?:\|.*\n)+)", text))
    )
    rows = [[*dialogues[name], short[name][1], *news[name]] for name in PEOPLE]
    lines = [f"| {called} | {' | '.join(cells)} |" for called, cells in zip(PEOPLE.values(), rows, strict=True)]
    assert [line for line in lines if line.replace("| 0.", "| .") not in PAGE] == []


def test_the_cost_is_that_measured_and_within_bounds() -> None:
    text = told("kept_cost.txt")
    ratios: dict[str, list[str]] = defaultdict(list)
    for arm, least, median in re.findall(r"^\| (content kept.*?) \| \S+ \| (\S+) \| (\S+) \|", text, re.MULTILINE):
        ratios[arm].append(median)
        assert max(float(least), float(median)) <= 1.15
    rows = [f"| {arm} | {' | '.join(found)} |" for arm, found in ratios.items()]
    require_on_page(rows, 2)


def rows_after(name: str, line: str) -> list[str]:
    """The rows of the table below a line of a file of results, without their heading."""
    _, below = told(name).split(line)
    table = re.findall(r"(?:^\|.*\n)+", below, re.MULTILINE)[0]
    return table.splitlines()[2:]


def test_what_is_kept_of_kinds_of_words_is_that_measured() -> None:
    name = "kept_by_kind.txt"
    rows = [row for line in ("frank_cnn: ", "frank_xsum: ", "any, at most") for row in rows_after(name, line)]
    require_on_page(rows, 4 + 4 + 9)


def test_intervals_and_verdicts_of_kinds_are_as_often_right_as_is_said() -> None:
    rows = [row.strip("|").split("|") for row in rows_after("kept_by_kind.txt", "any, at most")]
    least = [float(rate) for row in rows for cell in row[1:-2] for rate in re.findall(r"\((\S+) %\)", cell)]
    assert min(least) >= 93
    assert max(float(row[-2].strip(" %")) for row in rows) <= 5


def test_the_words_saved_are_those_measured_and_claims_are_seldom_too_small() -> None:
    name = "words_saved.txt"
    rates = rows_after(name, "aim: 5 %")
    rows = [row for line in ("frank_cnn: ", "frank_xsum: ") for row in rows_after(name, line)] + rates
    require_on_page(rows, 3 + 3 + 9)
    assert max(float(rate) for row in rates for rate in re.findall(r"(\S+) %", row)) <= 5


def test_the_facts_that_people_found_are_those_measured() -> None:
    rows = [" | ".join(row.split(" | ")[1:6]) for row in rows_after("kinds_and_people.txt", "58 documents, ")]
    require_on_page(rows, 5)
