"""The answer of a sweep in Python: sentences and frames of the same numbers."""

from dataclasses import replace

import pandas as pd
import pytest
from made_scores import kept_points, report_of
from run_infos import run_info

from nws.core.analysis.build_document import build_document
from nws.core.analysis.points import Points
from nws.core.findings.content import CONTENT_KEPT, KeptByKind, KindShare
from nws.core.findings.scores import Interval
from nws.jobs.python_api.answer import ShownAnswer

SHARES = {
    "a": {3: 0.3, 7: 0.42, 21: 0.55},
    "<b>": {3: 0.2, 7: 0.3, 21: 0.4},
    "person": {0: 0.6, 3: 0.4, 7: 0.5, 21: 0.6},
}
POINTS = Points.together([kept_points(SHARES), kept_points({"a": {3: 0.1, 7: 0.2}}, dataset="talks", articles=5)])

DOCUMENT = build_document(POINTS, CONTENT_KEPT)


@pytest.fixture
def answer() -> ShownAnswer:
    return ShownAnswer(report_of(run_info(), POINTS, CONTENT_KEPT))


def test_it_reads_as_sentences(answer: ShownAnswer) -> None:
    assert answer.headlines[0] == "21 words keep 55 % of the reference's content (a, 95 % CI 52–58 %)."
    assert answer.sentences[0] == "At 21 words, a keeps significantly more than <b>."
    shown = str(answer)
    assert all(sentence in shown for sentence in (*answer.headlines, *answer.sentences))
    assert shown.index("news: how many words keep how much? (60 articles, 3 lengths from 3 to 21 words)") == 0
    assert "\ntalks: how many words keep how much? (5 articles, 2 lengths from 3 to 7 words)\n" in shown
    assert "\nWith 5 articles, no interval is printed and nothing is called significant" in shown
    assert "a reference with changed numbers 97 %" in shown


def test_shares_by_n(answer: ShownAnswer) -> None:
    frame = answer.to_pandas()
    assert len(frame) == sum(len(kept.lengths) for kept in DOCUMENT.kept) + 1
    at = frame.query("dataset == 'news' and system == 'a' and ceiling == 'reference'")
    assert at[["n", "articles"]].to_numpy().tolist() == [[3, 60], [7, 60], [21, 60]]
    assert at.share.tolist() == pytest.approx([0.3, 0.42, 0.55])
    assert (at.low < at.share).all()
    assert (at.share < at.high).all()
    (whole,) = frame.query("n == 0").to_dict("records")
    assert (whole["system"], whole["kind"], whole["share"]) == ("person", "oracle", pytest.approx(0.6))


def test_kinds_of_words(answer: ShownAnswer) -> None:
    assert answer.by_kind().empty
    share = KindShare("who", Interval(0.5, 0.4, 0.6), 60)
    document = DOCUMENT.model_copy(update={"kept_by_kind": (KeptByKind("news", "a", 7, (share,)),)})
    (row,) = ShownAnswer(replace(answer._report, document=document)).by_kind().to_dict("records")
    assert list(row.values()) == ["news", "a", 7, "who", 0.5, 0.4, 0.6, 60]


def test_the_smallest_n_is_that_of_the_document(answer: ShownAnswer) -> None:
    frame = answer.smallest_n().set_index(["dataset", "system", "ceiling", "share"])
    for kept in DOCUMENT.kept:
        for at in kept.smallest:
            row = frame.loc[kept.dataset, kept.system, kept.ceiling, at.share]
            found = [None if pd.isna(row[name]) else row[name] for name in ("n", "low", "high", "claimed", "at")]
            assert found == [at.n, at.low, at.high, at.claimed, kept.edge(at.n)]
    assert frame.loc[("news", "a", "reference", 0.5), "at"] == "longest"


def test_a_notebook_shows_it_with_every_text_escaped(answer: ShownAnswer) -> None:
    html = answer._repr_html_()
    assert "significantly more than &lt;b&gt;." in html
    assert "<b>." not in html
