import dataclasses

import pytest

from core.analysis import lengths_text
from jobs.report.sweep.answer import headline, recommendation, sentences, what_is_known
from jobs.report.sweep.numbers import analyse
from jobs.terminal.numerals import interval_text


def first(numbers):
    return numbers.magic_numbers[0]


def test_a_recommendation_names_the_n_and_its_largest_gain(run, make_points):
    number = first(analyse(run, make_points()))
    told = lengths_text(tuple(gain.n for gain in number.gains), number.recommended)
    gain = number.largest_gain
    assert 0 < len(number.recommended) < 11
    assert recommendation(number) == (
        f"n = {told} recommended (largest gain over random, +{gain.gain.mean:.3f} at {gain.n}, "
        f"95 % interval {interval_text(gain.gain)}).".replace("+0.", "+.")
    )


def test_where_no_n_is_ruled_out_none_is_recommended(run, make_points):
    number = first(analyse(run, make_points(lengths=(8, 9, 10), articles=12)))
    assert number.recommended == (8, 9, 10)
    assert not number.is_conclusive
    said = recommendation(number)
    assert said.startswith("no n can be recommended yet: with 12 articles no length could be ruled out (largest gain")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        ({"articles": 8}, "no n can be recommended yet: 8 articles cannot tell 11 n apart ("),
        ({"systems": ("a", "lead")}, "no n can be recommended yet: no random in this run."),
        ({"systems": ("oracle", "random")}, "no n is recommended: it is an upper bound, which saw the reference."),
        ({"systems": ("random",)}, "no n is recommended: it is the control that others are compared with."),
        ({"lengths": (9,)}, "n = 9 is the only length here, and better than random ("),
        ({"articles": 1}, "no n can be recommended yet: 1 article cannot tell 11 n apart (largest gain over random, +"),
    ],
)
def test_why_none_is_recommended(run, make_points, make, said):
    assert recommendation(first(analyse(run, make_points(**make)))).startswith(said)


def test_a_system_that_does_not_beat_random(run, make_points):
    points = [dataclasses.replace(p, bertscore_f1=p.n / 100) for p in make_points()]
    numbers = analyse(run, points)
    assert recommendation(first(numbers)) == (
        "no n can be recommended: not shown to beat random at any n (largest gain over random, .000 at 1, no interval)."
    )
    assert headline(numbers, "news") == "No length can be recommended."


def test_an_n_that_too_few_articles_have_is_not_counted_among_those_that_could_be_ruled_out(run, make_points):
    points = [p for p in make_points(lengths=(8, 9, 10), articles=12) if p.n != 10 or p.article_id < "0003"]
    said = recommendation(first(analyse(run, points)))
    assert "with 12 articles none of the 2 lengths they have could be ruled out" in said


def test_the_headline_counts_systems(run, make_points):
    assert headline(analyse(run, make_points()), "news") == "A length can be recommended for 2 of 2 systems."
    assert headline(analyse(run, make_points(("a", "lead", "random"))), "news") == "A length can be recommended."
    assert (
        headline(analyse(run, make_points(lengths=(8, 9, 10), articles=12)), "news")
        == "No length can be recommended yet."
    )
    assert headline(analyse(run, make_points(("oracle", "random"))), "news").startswith("There is no system here")


def test_a_sentence_for_each_system_that_is_no_control(run, make_points):
    numbers = analyse(run, make_points(("a", "oracle", "lead", "random")))
    assert [system for system, _ in sentences(numbers, "news")] == ["a", "oracle"]
    assert sentences(numbers, "other") == ()


def test_what_is_known(run, make_points):
    numbers = analyse(run, make_points())
    assert what_is_known(numbers, "news") == (
        "It rests on 40 articles at 11 lengths from 1 to 21, in BERTScore F1.",
        "Of 2 systems, 2 are shown to beat lead at some n.",
        "The best n by mean is partly an effect of length: random alone does best at n = 21.",
        "Recommended means: not ruled out as the n with the largest gain over random (95 % confidence for each "
        "system). It tells where choosing words pays most, not how much of the meaning is left.",
    )
    few = what_is_known(analyse(run, make_points(("a", "lead"), (9,), 12)), "news")
    assert few[:3] == (
        "It rests on 12 articles at n = 9, in BERTScore F1.",
        "With 12 articles the intervals understate the uncertainty: treat them as indicative.",
        "The system is shown to beat lead at every n.",
    )
    assert len(few) == 3
    without = what_is_known(analyse(run, make_points(("a", "lead"), (7, 9), 12)), "news")
    assert without[3].endswith("no random in this run to tell how much.")


def test_a_metric_that_does_not_confirm_it_is_named(run, make_points):
    points = [dataclasses.replace(p, rouge1_f1=0.5 if p.system == "lead" else 0.1) for p in make_points()]
    told = what_is_known(analyse(run, points), "news")
    assert told[2] == "But 2 of them are worse than lead at some n in ROUGE-1 F1."
    one = [p for p in points if p.system != "m|textrank|sentences"]
    assert "But m|textrank|chunks is worse than lead at some n in ROUGE-1 F1." in what_is_known(
        analyse(run, one), "news"
    )


def test_one_length_is_no_choice(run, make_points):
    assert headline(analyse(run, make_points(lengths=(9,))), "news").startswith("Only n = 9 was tried")


def test_gains_per_word_have_a_decimal_more(run, make_points):
    points = [dataclasses.replace(p, efficiency=p.bertscore_f1 / p.n) for p in make_points()]
    numbers = analyse(run, points, "efficiency")
    assert f"at {first(numbers).largest_gain.n}, 95 % interval" in recommendation(first(numbers), "efficiency")
    gain = f"+{first(numbers).largest_gain.gain.mean:.4f}".replace("0.", ".")
    assert gain in recommendation(first(numbers), "efficiency")
    assert "choose n by another metric" in headline(numbers, "news")
    assert "in BERTScore F1 per word" in what_is_known(numbers, "news")[0]
