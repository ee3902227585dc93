"""What a judge's reply is taken to say, and a judge as a metric of a plugin."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai_server import openai_server

from nws.core.errors import PluginError
from nws.core.metrics.judge import Scale, make_judge, read_score
from nws.core.metrics.metric import Row
from nws.core.plugins.adapters import function_metric

FIVE = Scale(1, 5)
SCORES = [
    *("4", " 4 ", "4.", "**4**", "4/5", "4 / 5", "4 out of 5", "4.0", "4점", "4 points", "(4)", "[[4]]", "“4”"),
    *("Score: 4", "score: **4**", "Rating: [[4]]", "The score is 4.", '{"score": 4}', "Score: 4/5. It says all."),
    *("It has all 3 facts. Score: 4", "Answer: 4. It leaves 2 facts out.", "<think>1? No, 5?</think> 4"),
    *("Score: 4 … so my final score: 4", "Score: 4.0", "Verdict = 4"),
    *("Score (1-5): 4", "Score (1 to 5): **4**", "Rating on a scale of 1 to 5: 4", "점수: 4", "점수는 4점입니다."),
    *("4\n\nThe summary tells the main point.", "**4**\nIt has 3 facts.", "It tells the main point.\n\n4/5"),
    *('{"score": 4, "reason": "It has 2 facts."}', "Score: 4 (good)", "Score: 4, because it tells all."),
    "Rating: 4 stars",
    *("Score: 4 - it tells 3 facts", "Score: **4**\n\nIt is short.", "'Score: 4'", "Score: 4 as it leaves 1 fact out"),
]
NO_SCORES = [
    *("", "good", "The summary has 3 mistakes.", "5 of the facts are missing", "1. It is short. 2. It is true."),
    *("4 or 5", "4-5", "Score: 4-5", "Score: 4 to 5", "Score: 3, no, score: 4", "4.5", "Score: 4.5", "4,5", "4½"),
    *("6", "0", "-4", "Score: -4", "Score: 4/10", "4/10", "4/50", "44", "Score: 44", "Score (1-5): good", "٤"),
    *("Verdict: 2 facts are missing", "Score: 5 would be too high, 3", "Answer: 3 sentences. Score: 4"),
    *("Score: 4 minus 1", "1.\nIt is short.\n2.\nIt is true.", "4\n5", "4\nScore: 3", "It lacks\n2\nfacts"),
    *("점수: 2개의 사실", "Score: 4 -1"),
    *("Rating (1-5)", "Score (1-5): 4 facts", "4 facts\n\nIt is good.", "-4\nIt is bad."),
    *("<think>Score: 4", "Score: 4 or 5", "9" * 5000, "four", "4 out of 10", "[[3]] or [[4]]", "A"),
]


@pytest.mark.parametrize("reply", SCORES)
def test_a_score_that_is_stated_is_read(reply: str) -> None:
    assert read_score(reply, FIVE) == 4


@pytest.mark.parametrize("reply", NO_SCORES, ids=lambda reply: reply[:20])
def test_nothing_is_guessed(reply: str) -> None:
    assert read_score(reply, FIVE) is None


@settings(max_examples=50)
@given(st.text(max_size=200), st.integers(0, 20), st.integers(1, 100))
def test_whatever_is_written_is_a_score_of_the_scale_or_none(reply: str, low: int, more: int) -> None:
    scale = Scale(low, low + more)
    score = read_score(reply, scale)
    assert score is None or (scale.low <= score <= scale.high and str(score) in reply)


@given(st.integers(0, 1000), st.text(st.characters(exclude_categories=["Nd", "Nl", "No"]), max_size=60))
def test_a_labelled_score_is_read_behind_any_words_without_a_number(score: int, words: str) -> None:
    reply = f"{words}\nFinal score: {score}"
    open_thought = "<think>" in reply
    assert read_score(reply, Scale(0, 1000)) == (None if open_thought else score)


def test_a_judge_is_a_metric_that_is_asked_with_the_article() -> None:
    with openai_server() as server:
        server.writes = lambda content: content.split()[3]
        metric = function_metric(make_judge("tiny", server.url, "How good? quality {summary} {article}"), "judged")
        rows = [Row(str(i), ("Snow.",), f"Snow fell {i}.") for i in (3, 4)]
        assert metric.statistics(rows).tolist() == [[3.0], [4.0]]
        asked = [body["messages"][0]["content"] for body in server.asked]
        assert asked == [f"How good? quality {i} Snow fell {i}." for i in (3, 4)]
        server.writes = lambda content: "Good."
        with pytest.raises(
            PluginError, match=r"judged of judge\.py failed on row 1: .*: tiny stated no score: 'Good\.'"
        ):
            metric.statistics(rows)
