"""Sentences about content kept, of made-up sweeps whose means are known."""

from dataclasses import replace

import numpy as np
import pytest
from made_scores import in_columns, kept_points, list_kept_points

from nws.core.analysis.answer import answer_of
from nws.core.analysis.points import Points
from nws.jobs.report import kept_limits
from nws.jobs.report.kept_answer import (
    COMPARED,
    NEXT,
    basis,
    headline,
    named_by_answer,
    ranked_systems,
    sentences,
)
from nws.jobs.report.kept_limits import TRUTH
from nws.jobs.report.system_names import FULL_NAMES

LENGTHS = (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21)
NEWS = {1: 0.12, 3: 0.23, 5: 0.27, 7: 0.30, 9: 0.32, 11: 0.35, 13: 0.36, 15: 0.38, 17: 0.39, 19: 0.40, 21: 0.41}


def shifted(by, lengths=NEWS):
    return {n: share + by for n, share in lengths.items()}


def said(shares, references=None, **how):
    points = kept_points(shares, **how)
    lengths = {"news": references} if references else {}
    return dict(sentences(answer_of(replace(points, reference_lengths=lengths)), "news"))


def test_best_first_and_at_most_three_systems_and_five_lines():
    shares = {name: shifted(by) for name, by in (("b", 0.0), ("d", -0.1), ("a", 0.05), ("c", -0.05), ("random", 0.2))}
    found = sentences(answer_of(kept_points(shares)), "news")
    assert [name for name, _ in found] == ["a", "b", "c", COMPARED]
    assert dict(found)["b"] == (
        "3 words keep 23 %, 7 keep 30 %, 21 keep 41 % (38–44 %). With 11 words (35 %) it keeps 80 % of what it keeps "
        "with 21 (sure from 11 on)."
    )
    assert "of the reference's content" in found[0][1]
    unknown = headline(answer_of(Points.none()), "news")
    assert unknown.endswith("is not known here: it takes references of other articles, too.")


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
def test_systems_come_before_controls_and_upper_bounds_and_other_articles_never(shares, ranked):
    assert ranked_systems(answer_of(kept_points(shares)), "news") == ranked


def test_rulers_stand_beside_the_systems():
    reference = {n: min(1.0, n / 22) for n in LENGTHS}
    person, other = {0: 0.59} | shifted(0.1), shifted(-0.25)
    rulers = {"random": shifted(-0.1), "reference-words": reference, "person": person, "other-article": other}
    assert said({"a": NEWS, **rulers})[COMPARED] == (
        "With 21 words, random phrases keep 31 %, the nearest other article's summary 16 % and the reference's "
        "first words 95 %. Another person's whole summary keeps 59 % (56–62 %)."
    )


def test_shares_of_what_another_person_keeps():
    person = {0: 0.5} | shifted(0.1)
    found = said({"a": NEWS, "person": person})
    assert "7 keep 30 %. With 21 it keeps 82 % of what another person keeps." in found["a"]
    assert "With 19 words (40 %) it keeps 80 % of what a person keeps (sure from 21 on)." in found["a"]
    assert "of what it keeps" not in found["a"]


@pytest.mark.parametrize(
    ("shares", "spread", "told"),
    [
        ({3: 0.3, 5: 0.4, 7: 0.55}, 0.05, "With 7 words (55 %), the longest tried, it keeps half (sure from 7 on)."),
        ({3: 0.6, 5: 0.7, 7: 0.75}, 0.05, "With 3 words (60 %), the shortest tried, it keeps half (sure from 3 on)."),
        ({1: 0.6, 5: 0.7}, 0.05, "With 1 word (60 %), the shortest tried, it keeps half (sure from 1 on)."),
        ({3: 0.3, 5: 0.6, 7: 0.95}, 0.05, "With 7 words (95 %), the longest tried, it keeps 90 % (sure from 7 on)."),
        ({3: 0.1, 5: 0.2, 7: 0.495}, 0.05, "7 words may keep half."),
        ({3: 0.3, 5: 0.4, 7: 0.51}, 0.1, "With 7 words (51 %), the longest tried, it keeps half (not sure up to 7)."),
    ],
)
def test_an_answer_at_an_end_of_the_grid_is_said_with_it(shares, spread, told):
    assert told in said({"a": shares}, spread=spread)["a"]


def test_below_twenty_articles_nothing_is_claimed():
    found = said({"a": {3: 0.3, 5: 0.6, 7: 0.7}}, articles=19)
    assert "With 19 articles no n is claimed: take at least 20." in found[NEXT]
    assert "sure" not in " ".join(found.values())
    assert "may keep" not in " ".join(said({"a": {3: 0.3, 5: 0.4, 7: 0.49}}, articles=19).values())


def test_one_n_is_said_simply():
    found = said({"a": {9: 0.33}, "random": {9: 0.2}})
    assert found == {
        "a": "9 words keep 33 % of the reference's content (30–36 %).",
        COMPARED: "With 9 words, random phrases keep 20 %.",
    }
    assert "With 9 words (70 %), the only n tried, it keeps half (sure from 9 on)." in said({"a": {9: 0.7}})["a"]
    assert said({"a": {1: 0.1}})["a"].startswith("1 word keeps 10 %")


@pytest.mark.parametrize(
    ("shares", "references", "advice"),
    [
        (NEWS, 19, None),
        ({7: 0.2, 11: 0.3}, 19, "Try n above 11, such as 17 and 22."),
        (NEWS, 52, "Try n above 21, such as 32 and 42."),
        ({3: 0.3, 5: 0.4, 7: 0.55}, 52, "Try n above 7, such as 11, 14 and 21."),
        ({17: 0.6}, 19, "Try n below 17, such as 12, 9 and 6."),
        ({1: 0.6, 9: 0.7}, 19, None),
        (NEWS, None, None),
    ],
)
def test_other_n_are_advised_in_one_direction_and_not_far_beyond_the_references(shares, references, advice):
    assert said({"a": shares}, references, spread=0.05).get(NEXT) == advice


def test_how_many_articles_would_narrow_the_answer():
    few = said({"a": NEWS}, articles=20, spread=0.2)
    assert "articles would narrow the interval of a's 11 words to one step of n." in few[NEXT]
    assert NEXT not in said({"a": NEWS}, articles=200, spread=0.05)


def test_what_it_rests_on():
    listed = list_kept_points({"a": NEWS, "b": NEWS})
    points = [p for p in listed if (p.system, p.n, p.article_id) != ("b", 3, "0000")]
    assert basis(answer_of(in_columns(points)), "news") == (
        "59 to 60 articles, 11 lengths from 1 to 21 words; left out: at most 1 article of a system, for lack of an n"
    )
    assert basis(answer_of(kept_points({"a": {9: 0.3}})), "news") == "60 articles, n = 9"
    assert basis(answer_of(kept_points({"a": NEWS})), "other") == ""


def test_the_n_that_the_answer_names():
    def named(shares):
        return named_by_answer(answer_of(kept_points(shares)), "news")

    assert named({"a": NEWS}) == ("a", 11)  # 80 % of what it keeps with 21
    assert named({"a": shifted(0.2), "b": NEWS}) == ("a", 7)  # half, of the best
    assert named({"a": {5: 0.1, 7: 0.3, 9: 0.6}}) == ("a", 9)  # both lie at the end of those tried
    assert named({"person": NEWS}) is None
    assert named({"a": NEWS, "person": {0: 0.59} | shifted(0.1)})[1] in LENGTHS


def test_the_headline_names_the_first_words_where_they_do_as_well():
    def told(system, lead):
        return headline(answer_of(kept_points({"a": system, "lead": lead}, spread=0.01)), "news")

    low, middle, high = {3: 0.2, 5: 0.3, 7: 0.4}, {3: 0.3, 5: 0.55, 7: 0.6}, {3: 0.3, 5: 0.45, 7: 0.6}
    assert (
        told(low, shifted(-0.1, low))
        == "7 words keep 40 % (39.7–40.3 %) of the reference's content (a); no n tried keeps half."
    )
    assert told(low, shifted(0.02, low)).endswith("content (a); the text's first 7 words keep 42 % (lead).")
    assert told(low, middle).endswith("content (a); the text's first 5 words already keep half (lead).")
    assert told(middle, middle) == (
        "5 words keep half of the reference's content (a, sure from 5 on); "
        "the text's first 5 words keep half, too (lead)."
    )
    assert (
        told(middle, high) == told(middle, low) == "5 words keep half of the reference's content (a, sure from 5 on)."
    )


def test_the_best_system_is_held_against_the_others_at_the_longest_n_that_all_have():
    def compared(shares, **how):
        return said({"a": NEWS, **shares}, **how).get(COMPARED)

    assert compared({}) is None
    near = {"b": NEWS, "c": NEWS}
    far = {"d": shifted(-0.1), "e": shifted(-0.1)}
    assert compared(near, spread=0.05) == "With 21 words, a is not shown to keep more than b or c."
    assert compared(near | far, spread=0.05) == (
        "With 21 words, a is shown to keep more than d and e, and not shown to keep more than b or c."
    )
    swapped = {"a": shifted(-0.1), "b": NEWS}  # the best is the second of its pair
    assert said(swapped, spread=0.05)[COMPARED] == "With 21 words, b is shown to keep more than a."
    many = {f"s{i}": shifted(-0.1) for i in range(5)}
    assert compared(many, spread=0.05) == "With 21 words, a is shown to keep more than 5 others."
    shorter = {"b": {n: share - 0.1 for n, share in NEWS.items() if n <= 13}}
    assert compared(shorter, spread=0.05) == "With 13 words, a is shown to keep more than b."


def test_a_system_that_leads_by_easier_articles_is_not_said_to_keep_as_much():
    points = list_kept_points({"a": shifted(-0.05), "b": NEWS}, spread=0.1)
    easy = {p.article_id for p in points if p.system == "b" and p.n == 21 and p.scores["kept"] > NEWS[21] + 0.03}
    chosen = [p for p in points if p.system == "b" or p.article_id in easy]
    told = dict(sentences(answer_of(in_columns(chosen)), "news"))
    assert told[COMPARED] == "With 21 words, a is shown to keep less of the same articles than b."


def test_the_best_system_is_held_against_the_first_words():
    def compared(lead):
        return said({"a": NEWS, "lead": lead}, spread=0.05)[COMPARED]

    assert compared(shifted(-0.1)).endswith("a is shown to keep more than lead at n = 1–21.")
    assert compared(shifted(0.1)).endswith("a is shown to keep less than lead at n = 1–21.")
    assert compared(NEWS).endswith("No difference between a and lead is shown.")
    crossing = {n: share + (0.1 if n > 11 else 0.0 if n > 7 else -0.1) for n, share in NEWS.items()}
    assert compared(crossing).endswith(
        "a is shown to keep more than lead at n = 1–7 and less than lead at n = 13–21. "
        "lead is shown to overtake a near 13 words (less up to 7, more from 13)."
    )


def test_where_the_first_words_overtake_systems_that_are_not_the_best():
    ahead = {n: NEWS[n] + (-0.1 if n < 11 else 0.06) for n in LENGTHS}
    best, crossed = shifted(0.2), NEWS
    points = kept_points({"a": best, "b": crossed, "c": crossed, "lead": ahead}, spread=0.05)
    is_late = (points.system == points.systems.index("c")) & (points.n >= 11)
    points.scores["kept"][is_late] += np.random.default_rng(0).normal(0, 0.4, is_late.sum())
    told = dict(sentences(answer_of(points), "news"))[COMPARED]
    assert "lead is shown to overtake b near 11 words (less up to 9, more from 11)." in told
    assert told.endswith("lead is ahead of c at the longest n, but not significantly.")
    # A system that writes no more than 9 words is behind at 21 because it is shorter.
    stopped = [
        replace(of, words=min(of.words, 9)) if of.system == "b" else of
        for of in list_kept_points({"a": best, "b": crossed, "lead": ahead}, spread=0.05)
    ]
    assert "overtake" not in dict(sentences(answer_of(in_columns(stopped)), "news"))[COMPARED]


def test_to_beat_first_words_that_are_below_random_ones_is_no_praise():
    praise = "lead keeps less than random at n = 1–21: beating it there means little."
    shares = {"a": shifted(0.2), "lead": shifted(-0.1)}
    assert said(shares | {"random": NEWS}, spread=0.05)[COMPARED].endswith(praise)
    assert praise not in said(shares | {"random": shifted(-0.2)}, spread=0.05)[COMPARED]


@pytest.mark.parametrize(
    ("a", "b", "advice"),
    [
        (0.02, 0.05, "From 11 to 21 words the reference's first words gain 40 points, a and b less than a third"),
        (0.02, 0.2, None),  # one of them still gains
    ],
)
def test_the_systems_are_the_limit_where_none_gains_any_more(a, b, advice):
    gains = {"a": a, "b": b, "reference-words": 0.4}
    shares = {system: {5: 0.1, 11: 0.3, 21: 0.3 + gain} for system, gain in gains.items()}
    told = said(shares, 52, spread=0.01)[NEXT]
    assert (advice or "Try n above 21, such as 32 and 42.") in told
    assert ("Try a generator" in told) is ("Try n" not in told) is bool(advice)


def test_systems_of_their_own_length():
    own = {0: 0.41, 9: 0.3, 21: 0.4, 25: 0.41}
    shares = {"a file": own, "b": {9: 0.1, 21: 0.2, 25: 0.3}, "person": {0: 0.6}}
    listed = list_kept_points(shares, spread=0.02)
    points = [replace(of, words=17) if (of.system, of.n) == ("a file", 21) else of for of in listed]
    told = dict(sentences(answer_of(in_columns(points)), "news"))
    assert told[TRUTH].endswith("what a file writes is true. Measure it with --faithfulness-model.")
    assert "With 21 words (17.0 written, 40 %)" in told["a file"]
    assert told["a file"].endswith(
        "At its own length, 25.0 words, it keeps 41 % (40–42 %): 11.0 points more than b in as many (11.0–11.0)."
    )
    assert "Another person's whole summary keeps 60 % (59–61 %): 30.0 points more than b in" in told[COMPARED]
    faithful = in_columns([replace(of, scores=of.scores | {"faithfulness": 0.25}) for of in points])
    told = kept_limits.notes(answer_of(faithful), "news", FULL_NAMES)
    assert told[0] == "Content kept cannot see whether what a file writes is true. Mean faithfulness: a file .25."
