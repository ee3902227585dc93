"""What is said of a claim about lengths, in words and on the command line."""

import pytest
from made_scores import kept_points

from nws.core.analysis.build_document import build_document
from nws.jobs.python_api.result import open_store
from nws.jobs.report.claim_answer import headline, sentences

CURVE = {1: 0.10, 3: 0.30, 5: 0.40, 7: 0.44, 9: 0.46}


def claimed(system, claim: str):
    points = kept_points({"a": system, "random": {1: 0.05, 3: 0.14, 5: 0.22, 7: 0.29, 9: 0.35}})
    return build_document(points, "kept", claim=claim).claims[0]


@pytest.mark.parametrize(
    ("system", "claim", "told"),
    [
        (CURVE, "3-5", "Every word adds content, and each adds less than the one before. 3 to 5 words keep 65 to "),
        (CURVE, "3-5", " to 87 % of what 9 words keep (63–67 % and 86–88 %): no test singles these lengths out."),
        (CURVE, "1", ". 1 word keeps 22 % of what 9 words keep (17–27 %): no test"),
        (
            CURVE | {9: 0.44},
            "3",
            "More words keep significantly more content only at n = 3–7; each adds significantly less than ",
        ),
        (CURVE | {9: 0.6}, "3", "Every word adds content; each adds significantly less than the one before only at"),
        (
            {3: 0.2, 7: 0.15, 9: 0.1},
            "3-7",
            "More words keep significantly more content at no n; each adds significantly less ",
        ),
    ],
)
def test_what_is_shown_is_said_and_what_is_not_too(system, claim, told) -> None:
    assert told in headline(claimed(system, claim), "words")


def test_what_it_rests_on() -> None:
    assert [text for _, text in sentences(claimed(CURVE, "3-5"), "words")] == [
        "at n = 1 by ROUGE-1 F1 (unclear), 5 by content kept (5) and 5 by BERTScore F1 (5).",
        "at n = 3 (3) if 3 is the longest, 5 (5) if 5 is the longest and 5 (5) if 9 is the longest.",
        "10.0 from 1 to 3, 5.0 from 3 to 5, 2.0 from 5 to 7 and 1.0 from 7 to 9.",
    ]


def test_it_is_printed_and_written(nws) -> None:
    assert not nws("submit", "baselines", "--engine", "inline", "--limit", "2", "--system", "lead", "--n", "3,5,7").code
    told = nws("report", "--claim", "3-5", "--out", "out").out
    assert "sample: 3 to 5 words? (lead, 2 articles)" in told
    assert "With 2 articles nothing is tested: take at least 20." in " ".join(told.split())
    assert nws("report", "--claim", "3", "--json", "--out", "out").json["claims"][0]["low"] == 3
    assert open_store().run().claim("3-5")[0]["high"] == 5
    assert "has no n = 9: the nearest of its n (3, 5, 7) is 7." in " ".join(nws("report", "--claim", "9").err.split())
    assert "not on a page" in nws("report", "--claim", "3", "-o", "x.html").err
