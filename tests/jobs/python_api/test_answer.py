"""The answer of a sweep in Python: sentences and frames of the same numbers."""

import json

import pandas as pd
import pytest
from made_scores import kept_points

from nws.core.analysis.answer import answer_of
from nws.core.analysis.points import Points
from nws.jobs.python_api.answer import ShownAnswer
from nws.jobs.report.sweep_numbers import kept_json
from nws.jobs.report.system_names import FULL_NAMES

SHARES = {
    "a": {3: 0.3, 7: 0.42, 21: 0.55},
    "<b>": {3: 0.2, 7: 0.3, 21: 0.4},
    "person": {0: 0.6, 3: 0.4, 7: 0.5, 21: 0.6},
}
POINTS = Points.together([kept_points(SHARES), kept_points({"a": {3: 0.1, 7: 0.2}}, dataset="talks", articles=5)])


@pytest.fixture
def answer() -> ShownAnswer:
    return ShownAnswer(answer_of(POINTS), FULL_NAMES)


def test_it_reads_as_sentences(answer: ShownAnswer) -> None:
    assert answer.headlines[0].startswith("21 words keep 55 % (52–58 %) of the reference's content (a)")
    assert answer.sentences[0].startswith("a: 3 words keep 30 % of the reference's content, 7 keep 42 %. ")
    shown = str(answer)
    assert all(sentence in shown for sentence in (*answer.headlines, *answer.sentences))
    assert shown.index("news: how many words keep how much? (60 articles, 3 lengths from 3 to 21 words)") == 0
    assert "\ntalks: how many words keep how much? (5 articles, 2 lengths from 3 to 7 words)\n" in shown
    assert "97 % with changed numbers" in shown


def test_shares_by_n(answer: ShownAnswer) -> None:
    frame = answer.to_pandas()
    assert len(frame) == sum(len(kept.lengths) for kept in answer_of(POINTS).of_systems) + 1
    at = frame.query("dataset == 'news' and system == 'a' and of == 'reference'")
    assert at[["n", "articles"]].to_numpy().tolist() == [[3, 60], [7, 60], [21, 60]]
    assert at.share.tolist() == pytest.approx([0.3, 0.42, 0.55])
    assert (at.low < at.share).all()
    assert (at.share < at.high).all()
    (whole,) = frame.query("n == 0").to_dict("records")
    assert (whole["system"], whole["kind"], whole["share"]) == ("person", "upper bound", pytest.approx(0.6))


def test_the_smallest_n_is_that_of_report_json(answer: ShownAnswer) -> None:
    frame = answer.smallest_n().set_index(["dataset", "system", "of", "x"])
    for kept in kept_json(answer_of(POINTS)):
        for x, at in json.loads(json.dumps(kept["smallest_n"])).items():
            row = frame.loc[kept["dataset"], kept["system"], kept["of"], float(x)]
            assert {name: None if pd.isna(row[name]) else row[name] for name in at} == at
    assert frame.loc[("news", "a", "reference", 0.5), "at"] == "longest"


def test_a_notebook_shows_it_with_every_text_escaped(answer: ShownAnswer) -> None:
    html = answer._repr_html_()
    assert "<li><b>&lt;b&gt;</b>: 3 words keep 20 %" in html
    assert "<b>b</b>" not in html
