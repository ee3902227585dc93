import dataclasses
import statistics
from collections import defaultdict

import numpy as np
import pytest
from stored_rows import objects

from nws.core.article import Article
from nws.core.metrics.specs import F1S, METRICS, SPECS
from nws.core.types import BundleResult

SYSTEMS = ("lead", "mini|textrank", "표절")
LENGTHS = (0, 1, 3, 5)
VIEWS = ("sweep_curve", "best_n", "leaderboard", "learning_curve")
POLICIES = ("reinforce|seed=1", "A", "가")


@pytest.fixture
def recorded(store, spec, summary):
    """Two runs over two datasets: (run_id, dataset, summary) for all; F1 has one decimal in 'wide', so it ties."""
    rng = np.random.default_rng(7)
    articles = [Article(d, "test", str(i), f"{d} {i}", ("r",)) for d in ("daily", "wide") for i in range(5)]
    articles.append(Article("single", "test", "0", "alone", ("r",)))
    found = []
    for size in (len(articles), 7):
        run_id = store.create_run(spec)
        epoch = store.claim_run(run_id, "host", 1)
        for article in articles[:size]:
            summaries = []
            for system in SYSTEMS:
                for n in LENGTHS:
                    f1 = float(rng.uniform(-0.1, 1))
                    made = summary(article, system, n, round(f1, 1) if article.dataset == "wide" else f1)
                    summaries.append(made)
                    found.append((run_id, article.dataset, made))
            store.writer(run_id, epoch).record([([article], BundleResult(tuple(summaries), ()))])
    return found


def test_the_kind_of_a_system_is_what_its_run_says(store, spec, summary):
    article = Article("daily", "test", "0", "one", ("r",))
    for kinds in ({"tail": "control", "peek": "oracle", "lead": "system"}, {}):
        run_id = store.create_run(spec)
        epoch = store.claim_run(run_id, "host", 1)
        for _ in range(2):  # a driver that resumes the run says it again
            store.writer(run_id, epoch).start(None, "0.1.0", kinds)
        made = tuple(summary(article, system, 3) for system in ("lead", "peek", "tail"))
        store.writer(run_id, epoch).record([([article], BundleResult(made, ()))])
        expected = {system: kinds.get(system, "system") for system in ("lead", "peek", "tail")}
        points = store.points(run_id)
        assert dict(zip(points.systems, points.kinds, strict=True)) == expected
        for view in ("sweep_curve", "best_n", "leaderboard"):
            assert {row["system"]: row["kind"] for row in table(store, view) if row["run_id"] == run_id} == expected


def table(store, view):
    return objects(store, f"SELECT * FROM {view}")


def groups(recorded):
    grouped = defaultdict(list)
    for run_id, dataset, made in recorded:
        grouped[run_id, dataset, made.system, made.n].append(made.scores)
    return grouped


def test_sweep_curve_has_numpys_means_and_deviations(store, recorded):
    expected = groups(recorded)
    found = {(row["run_id"], row["dataset"], row["system"], row["n"]): row for row in table(store, "sweep_curve")}
    assert found.keys() == expected.keys()
    for place, scores in expected.items():
        row = found[place]
        assert row["articles"] == len(scores)
        for metric in F1S:
            values = [score[metric] for score in scores]
            assert row[f"{metric}_mean"] == pytest.approx(np.mean(values), abs=1e-12)
            if len(values) == 1:
                assert row[f"{metric}_sd"] is None
            else:
                assert row[f"{metric}_sd"] == pytest.approx(np.std(values, ddof=1), abs=1e-7)
        for metric in METRICS + tuple(part for spec in SPECS if spec.part_means for part in spec.parts):
            assert row[f"{metric}_mean"] == pytest.approx(np.mean([score[metric] for score in scores]), abs=1e-12)
    assert {row["articles"] for row in found.values()} == {1, 2, 5}
    assert all(row["articles"] == row["of_articles"] for row in found.values())


def test_best_n_is_the_shortest_of_the_best(store, recorded):
    expected = defaultdict(list)
    for run_id, dataset, made in recorded:
        if made.n > 0:
            place = (run_id, made.article_id, dataset, made.system)
            expected[place].append((-made.scores["bertscore_f1"], made.n))
    found = {
        (row["run_id"], row["article_id"], row["dataset"], row["system"]): (-row["bertscore_f1"], row["n"])
        for row in table(store, "best_n")
    }
    assert found == {place: min(candidates) for place, candidates in expected.items()}


def test_leaderboard_ranks_systems_of_equal_length(store, recorded):
    means = {place: np.mean([s["bertscore_f1"] for s in scores]) for place, scores in groups(recorded).items()}
    found = table(store, "leaderboard")
    assert len(found) == len(means)
    for row in found:
        run_id, dataset, system, n = row["run_id"], row["dataset"], row["system"], row["n"]
        rivals = [mean for (r, d, _, k), mean in means.items() if (r, d, k) == (run_id, dataset, n)]
        better = sum(mean > row["bertscore_f1"] + 1e-12 for mean in rivals)
        assert row["rank"] == better + 1
        scores = groups(recorded)[run_id, dataset, system, n]
        assert row["articles"] == len(scores)
        for metric in ("bertscore_f1", "rouge1_f1", "rouge2_f1", "rougel_f1", "efficiency", "density", "coverage"):
            assert row[metric] == pytest.approx(np.mean([score[metric] for score in scores]), abs=1e-12)


def test_a_system_that_lacks_articles_is_marked_and_has_no_rank(store, run, summary):
    articles = [Article("daily", "test", str(i), f"text {i}", ("r",)) for i in range(3)]
    # The first article is the easy one, and one system has it alone.
    for system, of in (("few", articles[:1]), ("all", articles), ("other", articles)):
        made = tuple(summary(a, system, 3, 0.9 if a is articles[0] else 0.1 + (system == "all") / 10) for a in of)
        store.writer(*run).record([(of, BundleResult(made, ()))])
    found = {row["system"]: (row["rank"], row["articles"], row["of_articles"]) for row in table(store, "leaderboard")}
    assert found == {"few": (None, 1, 3), "all": (1, 3, 3), "other": (2, 3, 3)}
    curve = {row["system"]: (row["articles"], row["of_articles"]) for row in table(store, "sweep_curve")}
    assert curve == {"few": (1, 3), "all": (3, 3), "other": (3, 3)}


def test_the_learning_curve_has_pythons_means_and_deviations(store, training, articles, make_round):
    expected, seeds = defaultdict(list), {}
    for update in range(3):
        # The last update has one episode at each n.
        of, samples = (articles[:1], 1) if update == 2 else (articles, 3)
        round_results = [make_round(of, name, update, (9, 7, 11), samples, greedy=update == 2) for name in POLICIES]
        for result in round_results:
            seeds[result.checkpoint.name] = result.checkpoint.seed
            for gradient in result.gradients:
                expected[result.checkpoint.name, gradient.n, update] += gradient.samples
        store.writer(*training).record_round(round_results)
    curve = store.learning_curve(training[0])
    assert [(row.policy, row.n, row.update_number) for row in curve] == sorted(expected)
    assert {row.episodes for row in curve} == {12, 1}
    for row in curve:
        drawn = expected[row.policy, row.n, row.update_number]
        assert (row.seed, row.episodes) == (seeds[row.policy], len(drawn))
        for name in ("reward", "advantage_baseline", "entropy", "log_probability"):
            mean = statistics.fmean(getattr(sample, name) for sample in drawn)
            assert getattr(row, name) == pytest.approx(mean, abs=1e-12)
        if len(drawn) == 1:
            assert row.reward_sd is None
        else:
            assert row.reward_sd == pytest.approx(statistics.stdev(s.reward for s in drawn), abs=1e-7)


def test_equal_values_have_no_deviation(store, training, articles, make_round, summary):
    """0.1 three times: the sum of squares comes out below the square of the sum."""
    for system, f1 in (("a", 0.1), ("b", 0.7), ("c", 1 / 3)):
        made = tuple(summary(article, system, 3, f1) for article in articles[:3])
        store.writer(*training).record([(articles[:3], BundleResult(made, ()))])
    assert [row["bertscore_f1_sd"] for row in table(store, "sweep_curve")] == pytest.approx([0, 0, 0], abs=1e-7)
    result = make_round(articles[:1], "p", lengths=(7,))
    [gradient] = result.gradients
    level = tuple(dataclasses.replace(sample, reward=0.1) for sample in gradient.samples)
    level_result = dataclasses.replace(result, gradients=[dataclasses.replace(gradient, samples=level)])
    store.writer(*training).record_round([level_result])
    [row] = store.learning_curve(training[0])
    assert (row.reward, row.reward_sd) == (pytest.approx(0.1), pytest.approx(0, abs=1e-7))
