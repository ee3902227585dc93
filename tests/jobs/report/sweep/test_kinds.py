"""What survives of each kind of word, and the words that are saved: sentences, table, chart, files and JSON."""

import csv
import dataclasses
import io
import json

import numpy as np
import pytest
from made_scores import kept_points
from rich.console import Console

from nws.core.analysis.build_document import build_document
from nws.core.analysis.kept_by_kind import KindTerms
from nws.core.text.checks.all_checks import Finding
from nws.core.text.word_kinds import KINDS
from nws.jobs.report.brief import MOST_SENTENCES, brief_sentences
from nws.jobs.report.page.sections import sweep_section
from nws.jobs.report.printed_report import print_full, print_report
from nws.jobs.report.report_files import report_json, write_report
from nws.jobs.report.result_tables import kinds_table
from nws.jobs.report.run_report import RunReport
from nws.jobs.report.system_names import names_of
from nws.jobs.report.wording import sentences

SHARES = {"a": {3: 0.3, 7: 0.5}, "lead": {3: 0.2, 7: 0.3}}
KEPT_OF = {"who": 0.7, "where": 0.6, "number": 0.2}


def cells(system: str, alike: bool, articles: int = 60) -> list[KindTerms]:
    rng = np.random.default_rng(len(system))
    shares = np.array([KEPT_OF.get(kind, 0.45) if not alike else 0.45 for kind in KINDS])
    whole = np.full((articles, len(KINDS)), 0.125)
    whole[:, KINDS.index("when")] = np.nan
    made = [whole * (shares * n / 7 + rng.normal(0, 0.1, whole.shape)) for n in (3, 7)]
    terms = [np.hstack([kept, whole]).astype(np.float16) for kept in made]
    return [KindTerms("news", system, n, np.arange(articles), of) for n, of in zip((3, 7), terms, strict=True)]


@pytest.fixture
def report_with(run):
    def make(*kinds: KindTerms, shares=SHARES, articles=60) -> RunReport:
        signed = dataclasses.replace(run, signatures=run.signatures | {"kept": "kept|made"})
        points, made_of = kept_points(shares, articles), "made of words" if kinds else ""
        document = build_document(points, "kept", kinds=kinds, word_kinds=made_of)
        return RunReport(signed, document, names_of([signed], {*document.kinds}))

    return make


def printed(report: RunReport, show=print_report) -> str:
    console = Console(file=io.StringIO(), width=150)
    show(report, console)
    return console.file.getvalue()


def test_the_best_and_the_worst_kind_are_told_where_they_differ_significantly(report_with):
    told = sentences(report_with(*cells("a", alike=False)).document, "news", report_with().names)
    says = "At 7 words, a keeps significantly more of the references' names ("
    assert any(line.startswith(says) and " %) than of their numbers (" in line for line in told)
    alike = sentences(report_with(*cells("a", alike=True)).document, "news", report_with().names)
    assert not any("of the references'" in line for line in alike)


def test_kinds_take_no_other_sentence_out_of_the_short_report(report_with):
    """Whether a pipeline is installed changes nothing else."""
    shares = {"lead": {3: 0.1, 7: 0.2}, "b": {3: 0.05, 7: 0.25}, **{name: {3: 0.3, 7: 0.4} for name in "ac"}}
    without, with_kinds = report_with(shares=shares), report_with(*cells("a", alike=False), shares=shares)
    said = brief_sentences(without, "news")
    assert len(said) == MOST_SENTENCES
    added = [line for line in brief_sentences(with_kinds, "news") if line not in said]
    assert brief_sentences(with_kinds, "news") == [*said[:2], *added, *said[2:]]
    assert len(added) == 1


def test_a_dataset_is_not_told_of_lower_cased_references_of_another(report_with):
    report = report_with(*cells("a", alike=False))
    found = [Finding("lower_cased", "references", place, 9, 9) for place in ("news (all)", "old news (all)")]
    table = kinds_table(report.document.model_copy(update={"findings": tuple(found)}), "news", "a", report.names)
    assert [note for note in table.notes if "capital letter" in note] == [str(found[0])]


def test_the_words_that_the_best_system_saves_are_told(report_with):
    saved = [line for line in sentences(report_with().document, "news", report_with().names) if "as much as" in line]
    (sentence,) = saved
    much = "a keeps as much as the text's first 7 words (lead)"
    assert sentence == f"With 3 words, {much}. With 95 % confidence, 7 words are enough."
    few = report_with(shares=SHARES, articles=12)
    assert "(lead), but not with 95 % confidence." in " ".join(sentences(few.document, "news", few.names))
    worse = report_with(shares={"a": {3: 0.1, 7: 0.31}, "lead": SHARES["lead"]})
    assert not any("as much as the text" in line for line in sentences(worse.document, "news", worse.names))


def test_one_table_and_one_chart_for_each_system_the_best_first(report_with):
    report = report_with(*cells("a", alike=False), *cells("lead", alike=False))
    shown = printed(report, print_full)
    assert "news: what a keeps of each kind of word, by n" in shown
    assert "what lead keeps of each kind" not in shown
    drawn = sweep_section("d0", "news", report)["kinds"]
    assert [panel.name for panel in drawn] == ["a", "lead"]
    rows = [[str(getattr(cell, "text", cell)) for cell in row] for row in drawn[0].table.rows]
    assert [row[0] for row in rows] == [
        *("names", "places", "numbers", "verbs", "nouns", "adjectives and adverbs", "other words")
    ]
    assert [row[-1] for row in rows] == ["60"] * 7
    assert [line.name for line in drawn[0].chart.series] == [row[0] for row in rows[:-1]], "other words have no line"


def test_files_have_every_number_and_what_made_it(report_with, tmp_path):
    report = report_with(*cells("a", alike=False), *cells("lead", alike=False))
    write_report(report, tmp_path)
    rows = list(csv.DictReader((tmp_path / "kept_by_kind.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 2 * 2 * 7
    assert {row["signature"] for row in rows} == {"made of words"}
    for_json = report_json(report)
    assert [of["system"] for of in for_json["kept_by_kind"]] == ["a", "a", "lead", "lead"]
    contrast = for_json["kept_by_kind"][1]["contrast"]
    assert (contrast["most"], contrast["least"], contrast["significant"]) == ("who", "number", True)
    assert for_json["words_saved"][0]["smallest"]["n"] == 3
    latex = (tmp_path / "kept_by_kind.tex").read_text(encoding="utf-8")
    assert "% content kept by kind of word: made of words" in latex
    assert r"names & " in latex
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["word_kinds"] == "made of words"


def test_a_run_without_kinds_says_nothing_of_them(report_with, tmp_path):
    """As one of Korean texts."""
    report = report_with()
    write_report(report, tmp_path)
    assert not [path for path in tmp_path.rglob("*kind*")]
    assert "kind of word" not in printed(report) + printed(report, print_full)
    assert sweep_section("d0", "news", report)["kinds"] == []
