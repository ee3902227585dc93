"""Names and labels of systems in what commands show, and in what they take."""

import csv
import json
import re
from pathlib import Path

import pytest

LEXRANK = "all-MiniLM-L6-v2|lexrank|chunks"
RECIPE = """
datasets: [{name: sample, limit: 6}]
importance: [textrank, lexrank]
n: [5, 9]
bertscore: {model: all-MiniLM-L6-v2}
labels: {textrank: TextRank}
"""


@pytest.fixture
def swept(nws, tmp_path: Path) -> None:
    Path("mine.yaml").write_text(RECIPE)
    assert nws("submit", "phase1", "--recipe", "mine.yaml", "--engine", "inline").code == 0


def test_what_is_shown_has_labels_files_have_full_names_and_either_can_be_typed(nws, swept) -> None:
    shown = nws("report", "--label", "lexrank=Lex Rank", "--out", "out").out
    assert "Shortened names: Lex Rank and TextRank leave out “all-MiniLM-L6-v2” and “chunks”." in " ".join(
        shown.split()
    )
    assert "|" not in shown.replace("|layer", "")
    for file in ("curves.tex", "kept.tex", "curves.svg", "kept.svg"):
        text = Path("out", file).read_text(encoding="utf-8")
        assert "Lex Rank" in text, file
        assert LEXRANK not in text, file
    with Path("out", "curves.csv").open(newline="") as file:
        assert LEXRANK in {row["system"] for row in csv.DictReader(file)}
    report = json.loads(Path("out", "report.json").read_text())
    assert report["labels"][LEXRANK] == "Lex Rank"
    assert LEXRANK in {curve["system"] for curve in report["metrics"][0]["curves"]}
    assert nws("report", "--label", "lexrank=Lex Rank", "-o", "page.html").code == 0
    assert '<th scope="row">Lex Rank</th>' in Path("page.html").read_text(encoding="utf-8")

    label = ("--label", "lexrank=Best")
    told = [nws("compare", "--system", name, "--system", "TextRank", *label) for name in ("Best", "lexrank", LEXRANK)]
    assert "A  Best\nB  TextRank\n" in told[0].out
    assert told[0].out == told[1].out == told[2].out
    assert "words of Best at" in nws("show", "--system", "Best", *label).out
    assert "--label takes a system and its label" in nws("report", "--label", "lexrank").err
    assert "'rank' fits 2 systems of run" in nws("compare", "--system", "rank", "--system", "lead").err


@pytest.mark.slow
def test_figures_for_a_paper_are_as_wide_as_its_columns_and_say_in_their_metadata_what_made_them(nws, swept) -> None:
    told = nws("report", "--style", "paper", "--out", "out")
    assert told.code == 0, told.err
    for name, width in (("1col", 3.35), ("2col", 6.9)):
        for figure in ("kept", "curves"):
            pdf = Path("out", f"{figure}-{name}.pdf").read_bytes()
            (box,) = re.findall(rb"/MediaBox \[ 0 0 ([0-9.]+) ", pdf)
            assert float(box) == pytest.approx(72 * width, abs=0.1)
            assert "phase1-".encode("utf-16-be") in pdf
    svg = Path("out", "kept.svg").read_text(encoding="utf-8")
    drawn = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for text in ("phase1-", "sha256", "bertscore|", "code "):
        assert text not in drawn
    assert "run phase1-" in svg
