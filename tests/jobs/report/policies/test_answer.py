import dataclasses
import re

import numpy as np
from policy_results import make_results

from nws.jobs.report.policy_report import basis_sentences, examples_table, headline, sentences
from nws.jobs.store import ArticleTexts


def said(run, results):
    (sentence,) = sentences(results.report(run), "news")
    return sentence


def test_what_a_policy_scores_significantly_more_than_is_said_first(run):
    others = {"textrank": 0.3, "lead": 0.08, "lead2+chunks": -0.3}
    assert re.fullmatch(
        r"At 13 words, reinforce \(trained policy, 2 seeds\) does not score significantly higher in BERTScore F1 than "
        r"lead \([+-]\.\d{3}, 95 % CI -?\.\d{3} to -?\.\d{3}\) or textrank \(-\.\d{3}, 95 % CI -\.\d{3} to "
        r"-\.\d{3}\)\.",
        said(run, make_results(others=others)),
    )
    better = said(run, make_results(others={"textrank": -0.3}))
    assert better.startswith(
        "At 13 words, reinforce (trained policy, 2 seeds) scores significantly higher in BERTScore F1 than textrank (+."
    )


def test_what_training_adds_is_said(run):
    told = said(run, make_results(others={"untrained|greedy": -0.2, "untrained|rerank-8": 0.3}))
    assert "significantly higher in BERTScore F1 than the same policy before training (+." in told


def test_content_kept_goes_before_f1_where_articles_have_it(run):
    results = make_results(others={"untrained|greedy": -0.2, "lead3-search": 0.3, "lead": 0})
    points = results.points
    level = {"untrained|greedy": 0.2, "lead3-search": 0.32, "lead": 0.1}
    noise = np.random.default_rng(0).normal(0, 0.01, len(points))
    kept = np.array([level.get(points.systems[i], 0.3) for i in points.system]) + noise
    kept[points.article == 0] = np.nan

    def told(kept):
        with_kept = dataclasses.replace(points, scores={**points.scores, "kept": kept})
        return said(run, dataclasses.replace(results, points=with_kept))

    assert re.match(
        r"At 13 words, reinforce \(trained policy, 2 seeds\) keeps significantly more content than lead "
        r"\(\+(19|20)\.\d points, 95 % CI 19\.\d to 20\.\d\) and the same policy before training "
        r"\(\+(9\.\d|10\.\d) points, 95 % CI 9\.\d to 10\.\d\)\. It does not keep significantly more content than "
        r"lead3-search \(-(1\.\d|2\.\d) points, 95 % CI -2\.\d to -1\.\d\)\.",
        told(kept),
    )
    assert said(run, results) == told(np.full(len(points), np.nan))


def test_fluency_is_said_beside_the_words_of_the_article(run):
    results = make_results(others={"lead": 0})
    points = results.points
    noise = np.random.default_rng(0).normal(0, 0.01, len(points))
    fluency = np.array([2.4 if points.systems[i] == "lead" else 1.6 for i in points.system]) + noise
    scored = dataclasses.replace(points, scores={**points.scores, "fluency": fluency})
    told = said(run, dataclasses.replace(results, points=scored))
    assert re.search(
        r" Its fluency is 1\.(59|60)\d, -\.(79|80)\d \(95 % CI -\.8\d\d to -\.7\d\d\) compared with lead\.$", told
    )


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
    report = dataclasses.replace(results, points=points).report(run)
    assert examples_table(report, "news", [article]).rows == [
        ("key", ""),
        ("reinforce|rerank-8", f"{best}|seed=0 11"),
        (untrained, f"{untrained} 11"),
        ("lead", "lead 11"),
        ("reference", "A reference."),
    ]


def test_what_is_known(run):
    assert tuple(basis_sentences(make_results(articles=6).report(run), "news")) == (
        "The tables below are of 6 test articles at 4 lengths from 7 to 13, in BERTScore F1.",
        "With 6 articles, no interval is printed and nothing is called significant: take at least 20.",
    )
    one = dataclasses.replace(make_results(articles=40), points=make_results(lengths=(9,)).points)
    assert tuple(basis_sentences(one.report(run, "rouge1_f1"), "news")) == (
        "The tables below are of 40 test articles at n = 9, in ROUGE-1 F1.",
    )


def test_the_headline_counts_policies_that_are_better(run):
    def told(**how):
        return headline(make_results(**how).report(run), "news")

    said = "Policies that score significantly higher at some length: "
    assert told(others={"textrank": 0.3, "lead": 0.08, "lead2+chunks": -0.3}) == (
        said + "than lead2+chunks 1 of 1, than textrank 0 of 1, than lead 0 of 1."
    )
    two = {"reinforce": 150, "other": 150}
    assert told(others={"textrank": -0.3}, methods=two) == said + "than textrank 2 of 2."
    assert told(others={}) == "There is no other system to compare the policies with."
