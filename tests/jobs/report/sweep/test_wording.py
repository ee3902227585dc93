"""What is said of made-up sweeps whose means are known: which statements are made, and in which words."""

from dataclasses import replace

import numpy as np
import pytest
from made_scores import in_columns, kept_points, list_kept_points

from nws.core.analysis.build_document import build_document
from nws.core.analysis.points import Points
from nws.core.findings.content import CONTENT_KEPT
from nws.jobs.report.system_names import FULL_NAMES
from nws.jobs.report.wording import CONTENT_KEPT_UNKNOWN, articles_and_lengths, headline, worded

LENGTHS = (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21)
NEWS = {1: 0.12, 3: 0.23, 5: 0.27, 7: 0.30, 9: 0.32, 11: 0.35, 13: 0.36, 15: 0.38, 17: 0.39, 19: 0.40, 21: 0.41}


def shifted(by, lengths=NEWS):
    return {n: share + by for n, share in lengths.items()}


def document(points):
    return build_document(points, CONTENT_KEPT)


def texts(points):
    """By the type of a statement, what is said, a line for each."""
    found = {}
    for one in document(points).statements.get("news", ()):
        found.setdefault(one.type, []).append(worded(one, FULL_NAMES))
    return {kind: "\n".join(lines) for kind, lines in found.items()}


def said(shares, references=None, **how):
    lengths = {"news": references} if references else {}
    return texts(replace(kept_points(shares, **how), reference_lengths=lengths))


@pytest.mark.parametrize(
    ("shares", "ranked"),
    [
        ({"longer": shifted(-0.02) | {41: 0.6}, "better": NEWS}, ("better", "longer")),  # at the longest n of both
        (
            {"lead": shifted(0.01), "random": NEWS, "reference-words": shifted(0.2), "other-article": shifted(0.1)},
            ("lead", "random"),
        ),
        ({"person": NEWS}, ()),
    ],
)
def test_systems_come_before_controls_and_oracles_and_other_articles_never(shares, ranked):
    assert document(kept_points(shares)).ranking["news"] == ranked


def test_without_content_kept_the_headline_says_why():
    assert headline(document(Points.none()), "news", FULL_NAMES) == CONTENT_KEPT_UNKNOWN


@pytest.mark.parametrize(
    ("shares", "n"),
    [
        ({"a": NEWS}, 21),  # none keeps half
        ({"a": shifted(0.2), "b": NEWS}, 7),  # half, of the best
        ({"a": {5: 0.1, 7: 0.3, 9: 0.6}}, 9),  # at the end of those tried
    ],
)
def test_the_headline_names_the_n_that_keeps_half_or_the_longest(shares, n):
    found = document(kept_points(shares)).headline("news")
    assert (found.system, found.n) == ("a", n)


def test_the_headline_names_the_first_words_where_they_do_as_well():
    def told(system, lead):
        return headline(document(kept_points({"a": system, "lead": lead}, spread=0.01)), "news", FULL_NAMES)

    low, middle, high = {3: 0.2, 5: 0.3, 7: 0.4}, {3: 0.3, 5: 0.55, 7: 0.6}, {3: 0.3, 5: 0.45, 7: 0.6}
    share = "7 words keep 40 % of the reference's content (a, 95 % CI 39.7–40.3 %). No system keeps half."
    half = "5 words keep half of the reference's content (a, with 95 % confidence from 5 words on)."
    assert told(low, shifted(-0.1, low)) == share
    assert told(low, shifted(0.02, low)) == f"{share} The text's first 7 words keep 42 % (lead)."
    assert told(low, middle) == f"{share} The text's first 5 words keep half, too (lead)."
    assert told(middle, middle) == f"{half} The text's first 5 words keep half, too (lead)."
    assert told(middle, high) == told(middle, low) == half
    assert said({"a": {1: 0.1}})["headline"].startswith("1 word keeps 10 %")


def test_shares_of_what_another_person_keeps():
    found = said({"a": NEWS, "person": {0: 0.5} | shifted(0.1)})["smallest_length"]
    assert found == (
        "At 19 words, a already keeps 80 % of what another person keeps (with 95 % confidence from 21 on)."
    )


@pytest.mark.parametrize(
    ("shares", "spread", "told"),
    [
        (
            {3: 0.3, 5: 0.4, 7: 0.55},
            0.05,
            "At 7 words, the longest tried, a already keeps half of the reference's content (with 95 % confidence from "
            "7 on).",
        ),
        (
            {1: 0.6, 5: 0.7},
            0.05,
            "At 1 word, the shortest tried, a already keeps half of the reference's content (with 95 % confidence from "
            "1 on).",
        ),
        (
            {3: 0.3, 5: 0.6, 7: 0.95},
            0.05,
            "At 7 words, the longest tried, a already keeps 90 % of the reference's content (with 95 % confidence from "
            "7 on).",
        ),
        (
            {3: 0.3, 5: 0.4, 7: 0.51},
            0.1,
            "At 7 words, the longest tried, a already keeps half of the reference's content.",
        ),
        ({9: 0.7}, 0.05, "At 9 words, the only length tried, a already keeps half of the reference's content"),
    ],
)
def test_an_answer_at_an_end_of_the_grid_is_said_with_it(shares, spread, told):
    assert told in said({"a": shares}, spread=spread)["smallest_length"]


def test_what_may_keep_half_is_said():
    found = said({"a": {3: 0.1, 5: 0.2, 7: 0.495}}, spread=0.05)
    assert found["may_keep_half"] == "a may keep half with 7 words: the 95 % CI at this length includes half."


def test_below_twenty_articles_nothing_is_claimed_or_called_significant():
    shares = {"a": {3: 0.3, 5: 0.6, 7: 0.7}, "b": {3: 0.1, 5: 0.2, 7: 0.3}, "lead": {3: 0.1, 5: 0.2, 7: 0.3}}
    found = said(shares, articles=19)
    assert found["take_articles"] == "With 19 articles nothing is called significant: take at least 20."
    assert "confidence from" not in " ".join(found.values())
    assert not {"differences", "over_lead"} & found.keys()
    assert "may_keep_half" not in said({"a": {3: 0.3, 5: 0.4, 7: 0.49}}, articles=19)
    assert {"differences", "over_lead"} <= said(shares, articles=20).keys()


def test_below_ten_articles_no_interval_is_told():
    assert "CI" in said({"a": NEWS}, articles=10)["headline"]
    assert "CI" not in said({"a": NEWS}, articles=9)["headline"]


@pytest.mark.parametrize(
    ("shares", "references", "advice"),
    [
        (NEWS, 19, None),
        ({7: 0.2, 11: 0.3}, 19, "Next, try lengths above 11, such as 17 and 22."),
        (NEWS, 52, "Next, try lengths above 21, such as 32 and 42."),
        ({3: 0.3, 5: 0.4, 7: 0.55}, 52, "Next, try lengths above 7, such as 11, 14 and 21."),
        ({17: 0.6}, 19, "Next, try lengths below 17, such as 12, 9 and 6."),
        ({1: 0.6, 9: 0.7}, 19, None),
        (NEWS, None, None),
    ],
)
def test_other_n_are_advised_in_one_direction_and_not_far_beyond_the_references(shares, references, advice):
    assert said({"a": shares}, references, spread=0.05).get("try_lengths") == advice


def test_how_many_articles_would_narrow_the_answer():
    few = said({"a": NEWS}, articles=20, spread=0.2)["take_articles"]
    assert few.startswith("About ")
    assert few.endswith("articles would narrow the 95 % CI of the 11 words named for a to two neighbouring lengths.")
    assert "take_articles" not in said({"a": NEWS}, articles=200, spread=0.05)


def test_what_it_rests_on():
    listed = list_kept_points({"a": NEWS, "b": NEWS})
    points = [p for p in listed if (p.system, p.n, p.article_id) != ("b", 3, "0000")]
    assert articles_and_lengths(document(in_columns(points)), "news") == (
        "59 to 60 articles, 11 lengths from 1 to 21 words; left out: at most 1 article per system (a length is missing)"
    )
    assert articles_and_lengths(document(kept_points({"a": {9: 0.3}})), "news") == "60 articles, 9 words"
    assert articles_and_lengths(document(kept_points({"a": NEWS})), "other") == ""


def test_the_best_system_is_held_against_the_others_at_the_longest_n_that_all_have():
    def compared(shares, **how):
        return said({"a": NEWS, **shares}, **how).get("differences")

    assert compared({}) is None
    near = {"b": NEWS, "c": NEWS}
    far = {"d": shifted(-0.1), "e": shifted(-0.1)}
    assert compared(near, spread=0.05) == "The three systems do not differ significantly at 21 words."
    assert compared(near | far, spread=0.05) == (
        "At 21 words, a keeps significantly more than d and e, but not significantly more than b or c."
    )
    swapped = {"a": shifted(-0.1), "b": NEWS}  # the best is the second of its pair
    assert said(swapped, spread=0.05)["differences"] == "At 21 words, b keeps significantly more than a."
    many = {f"s{i}": shifted(-0.1) for i in range(5)}
    assert compared(many, spread=0.05) == "At 21 words, a keeps significantly more than 5 systems."
    shorter = {"b": {n: share - 0.1 for n, share in NEWS.items() if n <= 13}}
    assert compared(shorter, spread=0.05) == "At 13 words, a keeps significantly more than b."


def test_a_system_that_leads_by_easier_articles_is_not_said_to_keep_as_much():
    points = list_kept_points({"a": shifted(-0.05), "b": NEWS}, spread=0.1)
    easy = {p.article_id for p in points if p.system == "b" and p.n == 21 and p.scores["kept"] > NEWS[21] + 0.03}
    chosen = [p for p in points if p.system == "b" or p.article_id in easy]
    assert texts(in_columns(chosen))["differences"] == (
        "At 21 words, a keeps significantly less, over the articles that both have, than b."
    )


def test_the_best_systems_are_held_against_the_first_words():
    def compared(lead):
        return said({"a": NEWS, "lead": lead}, spread=0.05)

    assert compared(shifted(-0.1))["over_lead"] == "a keeps significantly more than lead at every length."
    assert compared(shifted(0.1))["over_lead"] == "a keeps significantly less than lead at every length."
    assert compared(NEWS)["over_lead"] == "a does not differ significantly from lead at any length."
    crossing = {n: share + (0.1 if n > 11 else 0.0 if n > 7 else -0.1) for n, share in NEWS.items()}
    told = compared(crossing)
    assert told["over_lead"] == (
        "a keeps significantly more than lead at 1–7 words and significantly less than lead at 13–21 words."
    )
    assert told["lead_overtakes"] == (
        "lead overtakes a near 13 words: lead keeps significantly less up to 7, and significantly more from 13 on."
    )
    both = said({"a": NEWS, "b": NEWS, "lead": shifted(-0.1)}, spread=0.05)["over_lead"]
    assert both == "Each of a and b keeps significantly more than lead at every length."


def test_where_the_first_words_overtake_systems_that_are_not_the_best():
    ahead = {n: NEWS[n] + (-0.1 if n < 11 else 0.06) for n in LENGTHS}
    best, crossed = shifted(0.2), NEWS
    points = kept_points({"a": best, "b": crossed, "c": crossed, "lead": ahead}, spread=0.05)
    is_late = (points.system == points.systems.index("c")) & (points.n >= 11)
    points.scores["kept"][is_late] += np.random.default_rng(0).normal(0, 0.4, is_late.sum())
    assert texts(points)["lead_overtakes"] == (
        "lead overtakes b near 11 words: lead keeps significantly less up to 9, and significantly more from 11 on.\n"
        "lead is ahead of c at the longest length, but not significantly."
    )
    # A system that writes no more than 9 words is behind at 21 because it is shorter.
    stopped = [
        replace(of, words=min(of.words, 9)) if of.system == "b" else of
        for of in list_kept_points({"a": best, "b": crossed, "lead": ahead}, spread=0.05)
    ]
    assert "lead_overtakes" not in texts(in_columns(stopped))


def test_to_beat_first_words_that_are_below_random_ones_is_no_praise():
    shares = {"a": shifted(0.2), "lead": shifted(-0.1)}
    assert said(shares | {"random": NEWS}, spread=0.05)["lead_is_low"] == (
        "lead keeps significantly less than random at every length, so exceeding lead proves little."
    )
    assert "lead_is_low" not in said(shares | {"random": shifted(-0.2)}, spread=0.05)


@pytest.mark.parametrize(
    ("a", "b", "advice"),
    [
        (
            0.02,
            0.05,
            "From 11 to 21 words, the reference's first words gain 40 points, and a and b gain less than a third",
        ),
        (0.02, 0.2, None),  # one of them still gains
    ],
)
def test_the_systems_are_the_limit_where_none_gains_any_more(a, b, advice):
    gains = {"a": a, "b": b, "reference-words": 0.4}
    shares = {system: {5: 0.1, 11: 0.3, 21: 0.3 + gain} for system, gain in gains.items()}
    told = said(shares, 52, spread=0.01)
    assert (advice or "") in told.get("systems_are_the_limit", "")
    assert ("try_lengths" in told) is (advice is None)


def test_systems_of_their_own_length():
    own = {0: 0.41, 9: 0.3, 21: 0.4, 25: 0.41}
    shares = {"a file": own, "b": {9: 0.1, 21: 0.2, 25: 0.3}, "person": {0: 0.6}}
    listed = list_kept_points(shares, spread=0.02)
    told = texts(in_columns(listed))
    assert told["truth_not_measured"] == (
        "Content kept does not show whether what a file writes is true. Measure faithfulness with --faithfulness-model."
    )
    assert told["uncut_content"].split("\n") == [
        "a file, uncut (25.0 words), keeps 41 % (40–42 %): 11.0 points more than length-matched summaries by b "
        "(95 % CI 11.0–11.0).",
        "Another person's whole summary (25.0 words) keeps 60 % (59–61 %): 30.0 points more than length-matched "
        "summaries by b (95 % CI 30.0–30.0).",
    ]
    faithful = in_columns([replace(of, scores=of.scores | {"faithfulness": 0.25}) for of in listed])
    assert texts(faithful)["truth_not_measured"].endswith("is true. Mean faithfulness: a file .25.")
