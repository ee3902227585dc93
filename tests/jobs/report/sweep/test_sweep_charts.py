"""The chart of content kept holds the shares, and what to compare them with."""

import dataclasses

import pytest
from made_scores import kept_points

from core.analysis.answer import answer_of
from jobs.report.drawing import draw
from jobs.report.sweep.numbers import analyse
from jobs.report.sweep.sweep_charts import WHOLE, kept_chart, kept_kinds, kept_sheet

SHARES = {
    "a": {3: 0.3, 7: 0.42, 21: 0.55},
    "random": {3: 0.1, 7: 0.2, 21: 0.3},
    "person": {0: 0.6, 3: 0.4, 7: 0.5, 21: 0.6},
}


@pytest.fixture
def scored(run):
    return dataclasses.replace(run, signatures=run.signatures | {"kept": "kept|made"})


def test_lines_are_in_per_cent_and_a_whole_summary_is_level():
    numbers = answer_of(kept_points(SHARES))
    lines = {line.name: line for line in kept_chart(numbers, "news").series}
    assert set(lines) == {"a", "random (control)", "person (upper bound)", WHOLE}
    assert [(at.x, pytest.approx(at.y)) for at in lines["a"].points] == [(3, 30), (7, 42), (21, 55)]
    assert all(at.low < at.y < at.high for at in lines["a"].points)
    assert [(at.x, pytest.approx(at.y)) for at in lines[WHOLE].points] == [(3, 60), (21, 60)]
    assert lines["a"].points[1].told == "42 % (39–45 %, 60 articles)"
    assert lines[WHOLE].points[0].told == "60 %, 25 words on average"
    assert kept_kinds(numbers) == {"a": "system", "random": "control", "person": "upper bound", WHOLE: "upper bound"}


def test_without_a_person_there_is_no_such_line():
    numbers = answer_of(kept_points({"a": {3: 0.3}}))
    assert [line.name for line in kept_chart(numbers, "news").series] == ["a"]
    assert kept_kinds(numbers) == {"a": "system"}


def test_the_figure_has_a_panel_for_each_dataset(scored):
    points = [*kept_points(SHARES), *kept_points({"a": {9: 0.3}}, dataset="talks", articles=5)]
    sheet = kept_sheet(analyse(scored, points))
    assert any("does not see what is true" in note for note in sheet.notes)
    figure = draw(sheet)
    assert figure.warning is None
    news, talks = figure.axes
    assert news.get_title(loc="left") == "news · 60 articles, 3 lengths from 3 to 21 words"
    assert talks.get_title(loc="left") == "talks · 5 articles, n = 9"
    assert {"half", "a", WHOLE} <= {text.get_text() for text in news.texts}
    assert news.get_ylim() == (0, 80)


def test_no_band_lies_above_the_whole_reference():
    numbers = answer_of(kept_points({"reference-words": {3: 0.5, 21: 0.99}}))
    (line,) = kept_chart(numbers, "news").series
    short, long = line.points
    assert short.high < long.high == 100
