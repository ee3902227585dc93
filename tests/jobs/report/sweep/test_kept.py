"""Content kept in a report: its JSON and its rows, its table for papers, its chart, and what is printed."""

import dataclasses
import io
import re

import pytest
from made_scores import kept_points, report_of
from rich.console import Console

from nws.core.analysis.build_document import build_document
from nws.core.analysis.points import Points
from nws.jobs.report.drawing import draw
from nws.jobs.report.printed_report import print_report
from nws.jobs.report.report_files import curve_rows, kept_latex
from nws.jobs.report.result_tables import kept_table
from nws.jobs.report.sweep_charts import WHOLE_PERSON, kept_chart, kept_sheet, zoomed
from nws.jobs.report.system_names import FULL_NAMES

LENGTHS = (1, 3, 5, 7, 9, 11, 13, 15, 17, 20)
SHARES = {
    "a_b": {3: -0.03, 7: 0.42, 21: 0.55},
    "random": {3: 0.1, 21: 0.3},
    "person": {0: 0.6, 3: 0.4, 7: 0.5, 21: 0.6},
}


@pytest.fixture
def report(run):
    points = [kept_points(SHARES), kept_points({"a_b": {9: 0.3}}, dataset="talks", articles=5)]
    return of(run, Points.together(points))


def of(run, points):
    return report_of(dataclasses.replace(run, signatures=run.signatures | {"kept": "kept|made"}), points, "kept")


def test_a_run_without_the_metric_has_none(run, make_points):
    plain = report_of(run, make_points())
    assert plain.document.kept == ()
    assert not any(name.startswith("kept") for row in curve_rows(plain) for name in row)


def test_curves_have_the_share_of_the_reference_beside_the_mean(report):
    (row,) = (row for row in curve_rows(report) if (row["system"], row["n"]) == ("a_b", 7))
    assert list(row)[-3:] == ["kept", "kept_low", "kept_high"]
    assert row["kept_low"] < row["kept"] < row["kept_high"]
    assert row["kept"] == pytest.approx(0.42)


def test_a_table_for_papers_has_shares_and_where_half_is_kept(report):
    text = kept_latex(report)
    assert "% news: content kept by n, 60 articles, 3 lengths from 3 to 21 words\n" in text
    assert "$n$ & 3 & 7 & 21 & half \\\\" in text
    assert re.search(
        r"a\\_b & \$-\$3 \(\$-\$\d to \$?-?\$?\d\) & 42 \(\d\d--\d\d\) & 55 \(\d\d--\d\d\) & 21 \(21--", text
    )
    assert re.search(r"random \(control\) & 10 \(\d+--\d+\) & -- & 30 \(\d\d--\d\d\) & \$>\$21 \\\\", text)


def test_no_share_in_a_table_is_minus_nothing():
    table = kept_table(
        build_document(kept_points({"a": {3: -0.002, 21: 0.4}}, spread=0.01), "kept"), "news", FULL_NAMES
    )
    assert [cell.text for cell in table.rows[0][1:3]] == ["0", "40"]


def test_lines_are_in_per_cent_and_a_whole_summary_is_level(run):
    lines = {line.name: line for line in kept_chart(of(run, kept_points(SHARES)), "news").series}
    assert set(lines) == {"a_b", "random (control)", "person (oracle)", WHOLE_PERSON}
    assert [(at.x, pytest.approx(at.y)) for at in lines["a_b"].points] == [(3, -3), (7, 42), (21, 55)]
    assert all(at.low < at.y < at.high for at in lines["a_b"].points[1:])
    assert [(at.x, pytest.approx(at.y)) for at in lines[WHOLE_PERSON].points] == [(3, 60), (21, 60)]
    assert lines["a_b"].points[1].text == "42 % (39–45 %, 60 articles)"
    assert lines[WHOLE_PERSON].points[0].text == "60 %, 25 words on average"


def test_the_figure_has_a_panel_for_each_dataset(report):
    sheet = kept_sheet(report)
    assert any("Content kept does not measure truth" in note for note in sheet.notes)
    figure = draw(sheet)
    news, talks = figure.axes
    assert news.get_title(loc="left") == "news · 60 articles, 3 lengths from 3 to 21 words"
    assert talks.get_title(loc="left") == "talks · 5 articles, 9 words"
    assert {"half", "a_b", WHOLE_PERSON} <= {text.get_text() for text in news.texts}
    assert WHOLE_PERSON not in {text.get_text() for text in talks.texts}
    assert news.get_ylim()[1] == 80


def test_a_chart_is_zoomed_to_what_saw_no_reference(run):
    chart = kept_chart(of(run, kept_points(SHARES)), "news", "d0")
    near = zoomed(chart)
    assert near.series == chart.series[:1] + chart.series[-2:-1]
    assert [line.name for line in near.series] == ["a_b", "random (control)"]
    assert (chart.top, near.top) == (80, 60)
    assert list(near.guides.values()) == ["half"]
    assert near.id != chart.id
    assert zoomed(near) is None
    assert zoomed(kept_chart(of(run, kept_points({"oracle": {3: 0.5, 9: 0.6}})), "news")) is None


def test_no_band_lies_above_the_whole_reference(run):
    (line,) = kept_chart(of(run, kept_points({"reference-words": {3: 0.5, 21: 0.99}})), "news").series
    short, long = line.points
    assert short.high < long.high == 100


def test_the_short_report_has_six_rows_and_at_most_25_lines_of_100_columns(run):
    shares = {name: {n: 0.2 + i / 20 + n / 50 for n in LENGTHS} for i, name in enumerate("abcdef")}
    shares |= {name: {n: n / 50 for n in LENGTHS} for name in ("lead", "random", "reference-words")}
    console = Console(file=io.StringIO(), width=100)
    print_report(of(run, kept_points(shares)), console)
    lines = console.file.getvalue().splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    title = lines.index("news: content kept, in % of the reference (60 articles)")
    assert lines[title + 1].split() == ["words", *map(str, LENGTHS), "95", "%", "CI", "at", "20"]
    assert [line.split()[0] for line in lines[title + 2 : title + 8]] == [
        "f",
        "e",
        "d",
        "lead",
        "random",
        "reference-words",
    ]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_terminal_shows_fewer_lengths(run, width):
    points = kept_points({"a": {n: n / 50 for n in range(1, 22)}, "lead": {n: n / 60 for n in range(1, 22)}})
    console = Console(file=io.StringIO(), width=width)
    print_report(of(run, points), console)
    (header,) = (line for line in console.file.getvalue().splitlines() if line.startswith("words"))
    lengths = [int(n) for n in header.split("95 %")[0].split()[1:]]
    assert (lengths[0], lengths[-1]) == (1, 21)
    assert 2 <= len(lengths) < 21
    assert f"\n{21 - len(lengths)} more lengths: nws report --full\n" in console.file.getvalue()
