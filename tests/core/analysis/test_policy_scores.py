import numpy as np
import pytest

from nws.core.analysis import mean_interval, policy_scores
from nws.core.analysis.points import Points

SEEDS = ("policy|reinforce|seed=0", "policy|reinforce|seed=1")
SYSTEMS = (*SEEDS, "textrank", "lead", "lead2+chunks", "oracle")
NOISE = np.random.default_rng(0).normal(0, 0.05, (len(SYSTEMS), 14, 60))
HEIGHT = {"textrank": 0.4, "lead": 0.35, "lead2+chunks": 0.5, "oracle": 0.7}


def f1(system, n, article):
    return float(HEIGHT.get(system, 0.5) + 0.01 * n + NOISE[SYSTEMS.index(system), n, article])


def all_scores(points, training=None):
    return policy_scores(points, training or {})


def score_of(scores, system, n=7):
    (found,) = (score for score in scores if (score.system, score.n) == (system, n))
    return found


def test_seeds_are_averaged_article_by_article(make_points):
    found = score_of(all_scores(make_points(f1, SYSTEMS, (7, 9))), "policy|reinforce", 9)
    by_seed = 0.59 + NOISE[:2, 9]
    assert (found.dataset, found.articles, found.is_policy) == ("news", 60, True)
    assert list(found.seeds) == [0, 1]
    assert list(found.seeds.values()) == pytest.approx(by_seed.mean(axis=1))
    assert found.seed_sd == pytest.approx(by_seed.mean(axis=1).std(ddof=1))
    assert found.means["bertscore_f1"] == pytest.approx(by_seed.mean())
    assert found.means["rouge1_f1"] == pytest.approx(by_seed.mean() / 2)
    assert found.means["density"] == 1


def test_differences_are_paired_with_the_mean_over_seeds(make_points):
    found = score_of(all_scores(make_points(f1, SYSTEMS, (7,))), "policy|reinforce")
    mine = 0.57 + NOISE[:2, 7].mean(axis=0)
    assert set(found.versus) == {"textrank", "lead", "lead2+chunks"}
    for other, versus in found.versus.items():
        expected = mean_interval(mine - (HEIGHT[other] + 0.07 + NOISE[SYSTEMS.index(other), 7]))
        assert (versus.difference.mean, versus.difference.low, versus.difference.high) == pytest.approx(
            (expected.mean, expected.low, expected.high), abs=1e-12
        )
        assert versus.articles == 60


def test_other_systems_are_compared_where_it_makes_sense(make_points):
    scores = all_scores(make_points(f1, SYSTEMS, (7,)))
    assert [score.system for score in scores] == ["policy|reinforce", "lead2+chunks", "textrank", "lead", "oracle"]
    assert [sorted(score.versus) for score in scores] == [
        ["lead", "lead2+chunks", "textrank"],
        ["lead", "textrank"],
        ["lead", "lead2+chunks"],
        ["lead2+chunks", "textrank"],
        [],
    ]
    assert [score.is_policy for score in scores] == [True, False, False, False, False]
    assert [score.kind for score in scores] == ["system", "system", "system", "control", "oracle"]
    assert {score.seed_sd for score in scores[1:]} == {None}


def test_policies_are_compared_with_untrained_ones_that_write_alike(make_points):
    level = {"untrained|greedy": 0.3, "untrained|rerank-9": 0.4, "lead": 0.35}
    systems = (*SEEDS, "policy|reinforce|rerank-9|seed=0", *level)
    scores = all_scores(make_points(lambda s, n, a: level.get(s, 0.5), systems, (7,), 3))
    gains = {
        score.system: round(score.versus["untrained"].difference.mean, 6)
        for score in scores
        if "untrained" in score.versus
    }
    assert gains == {"policy|reinforce": 0.2, "policy|reinforce|rerank-9": 0.1}
    assert [sorted(score.versus) for score in scores if score.system in level] == [["lead"], ["lead"], []]


def test_systems_are_judged_on_the_articles_that_all_have(make_points):
    lacking = {("textrank", 0), (SEEDS[0], 1), (SEEDS[1], 2)}
    scores = all_scores(make_points(f1, SYSTEMS, (7,), skip=lambda s, n, a: (s, a) in lacking))
    found = score_of(scores, "policy|reinforce")
    assert {(score.articles, score.comparable) for score in scores} == {(57, True)}
    assert found.seeds[0] == pytest.approx(np.delete(0.57 + NOISE[0, 7], [0, 1, 2]).mean())
    # Pairs are over the articles that both have, as `nws compare` has them.
    assert {other: versus.articles for other, versus in found.versus.items()} == {
        other: 57 if other == "textrank" else 58 for other in found.versus
    }
    differences = 0.1 + np.delete(NOISE[:2, 7].mean(axis=0) - NOISE[2, 7], [0, 1, 2])
    assert found.versus["textrank"].difference.mean == pytest.approx(differences.mean())


def test_the_share_of_the_gap_by_hand(make_points):
    level = {SEEDS[0]: 0.5, SEEDS[1]: 0.6, "textrank": 0.4, "lead": 0.3, "lead2+chunks": 0.4, "oracle": 0.8}
    scores = all_scores(make_points(lambda s, n, a: level[s], SYSTEMS, (7,), 3))
    shares = {score.system: score.gap_closed for score in scores}
    assert shares["policy|reinforce"] == pytest.approx(0.15 / 0.4)
    assert shares["lead"] == pytest.approx(-0.25)
    assert shares["lead2+chunks"] == 0
    assert shares["textrank"] is shares["oracle"] is None
    no_gap = make_points(lambda s, n, a: 0.4 if s == "oracle" else level[s], SYSTEMS, (7,), 3)
    one_end = make_points(lambda s, n, a: level[s], [s for s in SYSTEMS if s != "textrank"], (7,), 3)
    assert {score.gap_closed for points in (no_gap, one_end) for score in all_scores(points)} == {None}


def test_the_gap_is_over_articles_that_all_three_have(make_points):
    skip = {("textrank", 0), ("oracle", 1), (SEEDS[0], 2)}
    level = {"textrank": 0.4, "oracle": 0.8}
    points = make_points(
        lambda s, n, a: 9.0 if a < 3 else level.get(s, 0.5), SYSTEMS, (7,), 20, skip=lambda s, n, a: (s, a) in skip
    )
    assert score_of(all_scores(points), "policy|reinforce").gap_closed == pytest.approx(0.25)


def test_repeated_words_are_those_of_the_texts(make_points):
    def text(system, n, article):
        if (system, article) == (SEEDS[1], 1):
            return "a a"
        return "a b a b" if system == SEEDS[0] else "a b c"

    scores = all_scores(make_points(f1, SYSTEMS, (7,), 2, text=text))
    assert score_of(scores, "policy|reinforce").repeated_words == pytest.approx((0.5 + 0.5 + 0 + 0.5) / 4)
    assert score_of(scores, "lead").repeated_words == 0


def test_training_articles(make_points):
    points = make_points(f1, SYSTEMS, (7, 9))
    scores = all_scores(points, training={("policy|reinforce", 7): 0.6})
    found = score_of(scores, "policy|reinforce")
    assert found.training_f1 == 0.6
    assert found.test_vs_training == pytest.approx(found.means["bertscore_f1"] - 0.6)
    others = [score for score in scores if score is not found]
    assert {(score.training_f1, score.test_vs_training) for score in others} == {(None, None)}


def test_datasets_and_methods_are_apart_and_uncut_summaries_left_out(make_points):
    def level(system, n, article):
        return 0.2 if "as-written" in system else 0.6

    systems = ("policy|as-written|seed=0", *SEEDS, "bart")
    xsum = make_points(level, systems, (0, 7, 9), 2, dataset="xsum")
    points = Points.together([xsum, make_points(level, systems, (7,), dataset="cnn")])
    scores = all_scores(points)
    assert [(score.dataset, score.system, score.n) for score in scores] == [
        (dataset, system, n)
        for dataset, lengths in (("cnn", (7,)), ("xsum", (7, 9)))
        for system in ("policy|as-written", "policy|reinforce", "bart")
        for n in lengths
    ]
    assert scores[0].means["bertscore_f1"] == pytest.approx(0.2)
    assert scores[1].means["bertscore_f1"] == pytest.approx(0.6)
    assert scores[0].seeds == {0: pytest.approx(0.2)}
