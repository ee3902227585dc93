"""Content kept in a report: its JSON and its rows, its table for papers, its chart, and what is printed."""

import dataclasses
import io
import json
import re

import pytest
from made_scores import kept_points
from rich.console import Console

from nws.core.analysis.answer import Answer, answer_of
from nws.core.analysis.content_kept import content_kept
from nws.core.analysis.points import Points
from nws.jobs.report.drawing import draw
from nws.jobs.report.kept_answer import headline, sentences
from nws.jobs.report.printed_report import print_kept, print_kept_notes
from nws.jobs.report.report_files import kept_latex
from nws.jobs.report.result_tables import kept_table
from nws.jobs.report.sweep_charts import WHOLE, kept_chart, kept_kinds, kept_sheet
from nws.jobs.report.sweep_numbers import analyse, curve_rows, report_json
from nws.jobs.report.system_names import FULL_NAMES

SHARES = {
    "a_b": {3: -0.03, 7: 0.42, 21: 0.55},
    "random": {3: 0.1, 21: 0.3},
    "person": {0: 0.6, 3: 0.4, 7: 0.5, 21: 0.6},
}


@pytest.fixture
def numbers(run):
    scored = dataclasses.replace(run, signatures=run.signatures | {"kept": "kept|made"})
    return analyse(
        scored, Points.together([kept_points(SHARES), kept_points({"a_b": {9: 0.3}}, dataset="talks", articles=5)])
    )


def test_a_report_has_the_answer_of_the_analysis(numbers):
    report = json.loads(json.dumps(report_json(numbers)))
    assert list(report)[7:9] == ["kept", "curves"]  # behind what made the numbers
    found = content_kept(kept_points(SHARES))
    told = [of for of in report["kept"] if of["dataset"] == "news"]
    assert [(of["system"], of["of"]) for of in told] == [(of.system, of.of) for of in found]
    (told,) = (of for of in told if (of["system"], of["of"]) == ("a_b", "reference"))
    (kept,) = (of for of in found if (of.system, of.of) == ("a_b", "reference"))
    assert (told["longest"], told["is_control"], told["articles"]) == (21, False, 60)
    at = kept.lengths[1]
    assert told["lengths"][1] == {
        "n": 7, "share": at.share.mean, "low": at.share.low, "high": at.share.high, "articles": 60, "words": 7,
    }  # fmt: skip
    half = kept.by_share[0.5]
    assert told["smallest_n"]["0.5"] == {
        "n": half.n, "low": half.low, "high": half.high, "claimed": half.claimed, "at": "longest",
        "articles_for_one_step": half.articles_for_one_step,
    }  # fmt: skip
    assert half.n == 21
    assert list(told["smallest_n"]) == ["0.25", "0.5", "0.8", "0.9"]
    assert told["smallest_n"]["0.9"]["n"] is None


def test_a_run_without_the_metric_has_none(run, make_points):
    numbers = analyse(run, make_points())
    assert numbers.kept == Answer()
    assert report_json(numbers)["kept"] == []
    assert not any(name.startswith("kept") for row in curve_rows(numbers) for name in row)


def test_curves_have_the_share_of_the_reference_beside_the_mean(numbers):
    (row,) = (row for row in curve_rows(numbers) if (row["system"], row["n"]) == ("a_b", 7))
    assert list(row)[-3:] == ["kept", "kept_low", "kept_high"]
    assert row["kept_low"] < row["kept"] < row["kept_high"]
    assert row["kept"] == pytest.approx(0.42)


def test_a_table_for_papers_has_shares_and_where_half_is_kept(numbers):
    text = kept_latex(numbers)
    assert "% news: content kept by n, 60 articles, 3 lengths from 3 to 21 words\n" in text
    assert "$n$ & 3 & 7 & 21 & half \\\\" in text
    assert re.search(
        r"a\\_b & \$-\$3 \(\$-\$\d to \$?-?\$?\d\) & 42 \(\d\d--\d\d\) & 55 \(\d\d--\d\d\) & 21 \(21--", text
    )
    assert re.search(r"random \(control\) & 10 \(\d+--\d+\) & -- & 30 \(\d\d--\d\d\) & \$>\$21 \\\\", text)


def test_no_share_in_a_table_is_minus_nothing():
    table = kept_table(answer_of(kept_points({"a": {3: -0.002, 21: 0.4}}, spread=0.01)), "news", FULL_NAMES)
    assert [cell.text for cell in table.rows[0][1:3]] == ["0", "40"]


def test_lines_are_in_per_cent_and_a_whole_summary_is_level():
    numbers = answer_of(kept_points(SHARES))
    lines = {line.name: line for line in kept_chart(numbers, "news").series}
    assert set(lines) == {"a_b", "random (control)", "person (upper bound)", WHOLE}
    assert [(at.x, pytest.approx(at.y)) for at in lines["a_b"].points] == [(3, -3), (7, 42), (21, 55)]
    assert all(at.low < at.y < at.high for at in lines["a_b"].points[1:])
    assert [(at.x, pytest.approx(at.y)) for at in lines[WHOLE].points] == [(3, 60), (21, 60)]
    assert lines["a_b"].points[1].text == "42 % (39–45 %, 60 articles)"
    assert lines[WHOLE].points[0].text == "60 %, 25 words on average"
    assert kept_kinds(numbers) == {"a_b": "system", "random": "control", "person": "upper bound", WHOLE: "upper bound"}


def test_the_figure_has_a_panel_for_each_dataset(numbers):
    sheet = kept_sheet(numbers)
    assert any("does not see what is true" in note for note in sheet.notes)
    figure = draw(sheet)
    news, talks = figure.axes
    assert news.get_title(loc="left") == "news · 60 articles, 3 lengths from 3 to 21 words"
    assert talks.get_title(loc="left") == "talks · 5 articles, n = 9"
    assert {"half", "a_b", WHOLE} <= {text.get_text() for text in news.texts}
    assert WHOLE not in {text.get_text() for text in talks.texts}
    assert news.get_ylim()[1] == 80


def test_no_band_lies_above_the_whole_reference():
    numbers = answer_of(kept_points({"reference-words": {3: 0.5, 21: 0.99}}))
    (line,) = kept_chart(numbers, "news").series
    short, long = line.points
    assert short.high < long.high == 100


def test_each_dataset_has_a_heading_and_at_most_six_lines_in_the_terminal():
    shares = {name: {3: 0.3 + i / 10, 21: 0.4 + i / 10} for i, name in enumerate(("[a]", "b", "c", "d", "random"))}
    numbers = answer_of(Points.together([kept_points(shares), kept_points(shares, dataset="talks")]))
    console = Console(file=io.StringIO(), width=1_000)
    print_kept(numbers, numbers.datasets, console)
    parts = console.file.getvalue().strip().split("\n\n")
    assert [part.splitlines()[0] for part in parts] == [
        f"{dataset}: how many words keep how much? (60 articles, 2 lengths from 3 to 21 words)"
        for dataset in ("news", "talks")
    ]
    assert all(2 <= len(part.splitlines()) - 1 <= 6 for part in parts)
    told = [f"{name}: {said}" for name, said in sentences(numbers, "news")]
    assert parts[0].splitlines()[1:] == [headline(numbers, "news"), *told]
    print_kept_notes(numbers, console)
    assert "the reference has 99 % with “not” put in, and 97 % with changed numbers" in console.file.getvalue()
