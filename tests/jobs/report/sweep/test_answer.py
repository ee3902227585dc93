import dataclasses

import pytest
from made_scores import rescored

from jobs.report.sweep.gain_answer import candidates_text, headline, recommendation, sentences, what_is_known
from jobs.report.sweep.numbers import analyse
from jobs.terminal.numerals import interval_text


def first(numbers):
    return numbers.magic_numbers[0]


def largest_gain_of(number):
    gain = number.largest_gain
    mean = f"+{gain.gain.mean:.3f}".replace("+0.", "+.")
    return f"largest gain over random {mean} at n = {gain.n}, 95 % interval {interval_text(gain.gain)}"


def with_candidates(number, *candidates):
    return dataclasses.replace(number, recommended=candidates)


def test_n_that_could_not_be_ruled_out_are_called_candidates(run, make_points):
    number = first(analyse(run, make_points()))
    assert 1 < len(number.recommended) < 11
    assert recommendation(number) == (
        f"{candidates_text(number)} remain candidates for the largest gain over random, so far "
        f"{largest_gain_of(number).removeprefix('largest gain over random ')}."
    )


def test_an_n_is_recommended_only_where_it_is_the_only_one_left(run, make_points):
    number = with_candidates(first(analyse(run, make_points())), 9)
    assert recommendation(number) == (
        f"n = 9 is recommended, since all other n are ruled out; {largest_gain_of(number)}."
    )


@pytest.mark.parametrize(
    ("candidates", "said"),
    [
        ((5, 17), "n = 5 and 17"),
        ((1, 3, 5, 17), "n = 1–5 and 17"),
        ((1, 5, 17), "n = 1, 5 and 17"),
        ((1, 3, 5, 9, 11, 13, 15, 17, 19, 21), "all n but 7"),
        ((1, 3, 7, 9, 11, 15, 17, 19, 21), "all n but 5 and 13"),
    ],
)
def test_candidates_or_what_is_ruled_out_whichever_is_shorter(run, make_points, candidates, said):
    assert candidates_text(with_candidates(first(analyse(run, make_points())), *candidates)) == said


def test_reasons_that_differ_stand_with_their_systems(run, make_points):
    made = make_points(("a", "b", "random"), lengths=(8, 9, 10), articles=12)
    like_random = {(p.article_id, p.n): p.scores["bertscore_f1"] for p in made if p.system == "random"}
    points = [rescored(p, bertscore_f1=like_random[p.article_id, p.n]) if p.system == "b" else p for p in made]
    numbers = analyse(run, points)
    assert headline(numbers, "news") == "No n can be recommended yet."
    said = dict(sentences(numbers, "news"))
    assert said["a"].startswith("with 12 articles no length could be ruled out; largest gain over random +")
    assert said["b"].startswith("not shown to beat random at any n; largest gain over random .000 at n = ")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        ({"articles": 8}, "no n can be recommended yet: 8 articles cannot tell 11 n apart; largest gain over random "),
        ({"systems": ("a", "lead")}, "no n can be recommended yet: no random in this run."),
        ({"systems": ("oracle", "random")}, "no n is recommended: it is an upper bound, which saw the reference."),
        ({"systems": ("random",)}, "no n is recommended: it is the control that others are compared with."),
        ({"lengths": (9,)}, "n = 9 is the only length here, and better than random; largest gain over random "),
        ({"articles": 1}, "no n can be recommended yet: 1 article cannot tell 11 n apart; largest gain over random +"),
    ],
)
def test_why_none_is_recommended(run, make_points, make, said):
    assert recommendation(first(analyse(run, make_points(**make)))).startswith(said)


@pytest.mark.parametrize(
    ("candidates", "said"),
    [
        ([(5, 17), (5, 7)], "2 of 2 systems: some n surely do not have the largest gain."),
        ([(5,), (5, 7)], "One n can be recommended for 1 of 2 systems. For 1 more some n can be ruled out."),
        ([(5,), (9,)], "One n can be recommended for 2 of 2 systems."),
        ([(5, 17)], "Some n can be ruled out, but no single n can be recommended."),
        ([(5,)], "One n can be recommended."),
    ],
)
def test_the_headline_counts_systems(run, make_points, candidates, said):
    numbers = analyse(run, make_points())
    magic = tuple(with_candidates(number, *n) for number, n in zip(numbers.magic_numbers, candidates, strict=False))
    assert headline(dataclasses.replace(numbers, magic_numbers=magic), "news") == said


def test_a_sentence_for_each_system_that_is_no_control(run, make_points):
    numbers = analyse(run, make_points(("a", "oracle", "lead", "random")))
    assert [system for system, _ in sentences(numbers, "news")] == ["a", "oracle"]
    assert sentences(numbers, "other") == ()


def test_what_is_known(run, make_points):
    numbers = analyse(run, make_points())
    assert what_is_known(numbers, "news") == (
        "It rests on 40 articles at 11 lengths from 1 to 21, in BERTScore F1.",
        "Of 2 systems, 2 are shown to beat lead at some n.",
        "Means depend on length: even random is best at n = 21.",
        "A candidate is an n that is not ruled out as the one with the largest gain over random (95 % confidence "
        "for each system). The gain tells where choosing words pays most, not how much of the content is kept.",
    )
    few = what_is_known(analyse(run, make_points(("a", "lead"), (9,), 12)), "news")
    assert few[:3] == (
        "It rests on 12 articles at n = 9, in BERTScore F1.",
        "With 12 articles the intervals understate the uncertainty: treat them as indicative.",
        "The system is shown to beat lead at every n.",
    )
    without = what_is_known(analyse(run, make_points(("a", "lead"), (7, 9), 12)), "news")
    assert without[-1].endswith("no random in this run to tell how much.")


def test_verdicts_on_skewed_differences_are_named(run, make_points):
    def skewed(a, towards):
        return rescored(a, bertscore_f1=0.3 + towards * (a.system == "m") * (1 + 9 * (a.article_id < "0003")))

    warning = "Less sure, because the differences are skewed (wrong in perhaps more than 7 % of cases): "
    points = [skewed(point, 0.01 if point.n == 7 else 0) for point in make_points(("m", "lead", "random"), (7, 9))]
    assert warning + "m over random at n = 7; m vs. lead at n = 7 in BERTScore F1." in what_is_known(
        analyse(run, points), "news"
    )
    # Where there is no verdict there is nothing to warn of.
    assert not any(said.startswith(warning) for said in what_is_known(analyse(run, make_points(("lead",))), "news"))
    long = [skewed(point, 0.01) for point in make_points(("m", "lead", "random"), (7, 9))]
    more = analyse(
        run, [rescored(p, rouge1_f1=p.scores["bertscore_f1"], rouge2_f1=p.scores["bertscore_f1"]) for p in long]
    )
    assert any(
        said.startswith(warning) and said.endswith("; 2 more (report.json).") for said in what_is_known(more, "news")
    )


def test_a_metric_that_does_not_confirm_it_is_named(run, make_points):
    points = [rescored(p, rouge1_f1=0.5 if p.system == "lead" else 0.1) for p in make_points()]
    told = what_is_known(analyse(run, points), "news")
    assert told[2] == "In ROUGE-1 F1, chunks and sentences are shown to be worse than lead at some n."
    one = [p for p in points if p.system != "m|textrank|sentences"]
    assert "In ROUGE-1 F1, textrank is shown to be worse than lead at some n." in what_is_known(
        analyse(run, one), "news"
    )
