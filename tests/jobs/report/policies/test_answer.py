import dataclasses
import re

import numpy as np
from policy_results import make_results

from nws.jobs.report.policy_numbers import analyse_policies
from nws.jobs.report.policy_report import examples_table, headline, sentences, what_is_known
from nws.jobs.store import ArticleTexts


def test_what_a_policy_is_shown_to_be_beside_others(run):
    numbers = analyse_policies(run, make_results())
    at = numbers.of("news")["policy|reinforce"]
    assert all(at[n].versus["textrank"].better for n in at)
    ((system, said),) = sentences(numbers, "news")
    assert system == "reinforce"
    assert "better than" in said
    assert "textrank at n = 7–13" in said
    assert "of the gap between textrank and the oracle." in said


def test_worse_and_not_different_are_said(run):
    others = {"textrank": 0.3, "lead": 0.08, "lead2+chunks": -0.3}
    ((_, said),) = sentences(analyse_policies(run, make_results(others=others)), "news")
    assert said == (
        "shown to be better than lead2+chunks at n = 7–13 and worse than textrank at n = 7–13; "
        "not shown to differ from lead at any n."
    )


def test_what_training_adds_is_said(run):
    others = {"untrained|greedy": -0.2, "untrained|rerank-8": 0.3}
    ((_, said),) = sentences(analyse_policies(run, make_results(others=others)), "news")
    assert said == "shown to be better than untrained at n = 7–13."


def test_content_kept_is_said_beside_f1_where_articles_have_it(run):
    results = make_results(others={"untrained|greedy": -0.2, "lead3-search": 0.3, "lead": 0})
    points = results.points
    level = {"untrained|greedy": 0.2, "lead3-search": 0.32, "lead": 0.1}
    noise = np.random.default_rng(0).normal(0, 0.01, len(points))
    kept = np.array([level.get(points.systems[i], 0.3) for i in points.system]) + noise
    kept[points.article == 0] = np.nan

    def said(kept):
        with_kept = dataclasses.replace(points, scores={**points.scores, "kept": kept})
        return dict(sentences(analyse_policies(run, dataclasses.replace(results, points=with_kept)), "news"))[
            "reinforce"
        ]

    found = said(kept)
    assert re.fullmatch(
        r".* With 13 words it keeps 30 % of the reference's content: \+(9\.\d|10\.\d) points \(9\.\d to 10\.\d\) over "
        r"untrained and -(1\.\d|2\.\d) points \(-2\.\d to -1\.\d\) over lead3-search\.",
        found,
    )
    assert found.startswith("shown to be better than untrained at n = 7–13")
    without = dict(sentences(analyse_policies(run, results), "news"))["reinforce"]
    assert without == said(np.full(len(points), np.nan)) == found[: len(without)]


def test_fluency_is_said_beside_the_words_of_the_article(run):
    results = make_results(others={"lead": 0})
    points = results.points
    noise = np.random.default_rng(0).normal(0, 0.01, len(points))
    fluency = np.array([2.4 if points.systems[i] == "lead" else 1.6 for i in points.system]) + noise
    scored = dataclasses.replace(points, scores={**points.scores, "fluency": fluency})
    ((_, said),) = sentences(analyse_policies(run, dataclasses.replace(results, points=scored)), "news")
    assert re.search(r" Its fluency then is 1\.(59|60)\d: -\.(79|80)\d \(-\.8\d\d to -\.7\d\d\) beside lead\.$", said)


def test_some_summaries_stand_beside_the_reference(run):
    best, untrained = "policy|reinforce|rerank-8", "untrained|rerank-8"
    results = make_results(others={"lead3-search": -0.2, "lead": -0.3, "textrank": -0.3})
    systems = [f"{best}|seed={seed}" for seed in (1, 0)] + [untrained, "untrained|greedy", "lead", "textrank"]
    texts = tuple({"system": system, "n": n, "text": f"{system} {n}"} for system in systems for n in (7, 9, 11, 13))
    article = ArticleTexts("a", "news", "all", "key", "text", ("A\nreference.",), texts)
    points = dataclasses.replace(
        results.points,
        systems=tuple(name.replace("reinforce", "reinforce|rerank-8") for name in results.points.systems),
    )
    numbers = analyse_policies(run, dataclasses.replace(results, points=points, examples=[article]))
    assert examples_table(numbers, "news").rows == [
        ("key", ""),
        ("reinforce", f"{best}|seed=0 11"),
        (untrained, f"{untrained} 11"),
        ("lead", "lead 11"),
        ("reference", "A reference."),
    ]


def test_what_is_known(run):
    numbers = analyse_policies(run, make_results(articles=6))
    assert what_is_known(numbers, "news") == (
        "It rests on 6 test articles at 4 lengths from 7 to 13, in BERTScore F1.",
        "With 6 articles the intervals understate the uncertainty: treat them as indicative.",
    )
    one = dataclasses.replace(make_results(articles=40), points=make_results(lengths=(9,)).points)
    assert what_is_known(analyse_policies(run, one, "rouge1_f1"), "news") == (
        "It rests on 40 test articles at n = 9, in ROUGE-1 F1.",
    )


def test_the_headline_counts_policies_that_are_better(run):
    def told(**how):
        return headline(analyse_policies(run, make_results(**how)), "news")

    said = "Policies that are shown to be better at some n: "
    assert told(others={"textrank": 0.3, "lead": 0.08, "lead2+chunks": -0.3}) == (
        said + "1 of 1 than lead2+chunks, none of 1 than textrank and none of 1 than lead."
    )
    two = {"reinforce": 150, "other": 150}
    assert told(others={"textrank": -0.3}, methods=two) == said + "2 of 2 than textrank."
    assert told(others={}) == "There is no other system to compare the policies with."
