import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_scores import Point, in_columns
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from nws.core.analysis.content_kept import (
    PERSON,
    KeptByArticle,
    articles_for_one_step,
    content_kept,
    first_kept,
    interval_of_n,
)
from nws.core.analysis.intervals import above_zero_p, mean_interval, moments, skewed_intervals
from nws.core.analysis.points import Points
from nws.core.findings.comparisons import FEWEST_ARTICLES
from nws.core.findings.content import CONTENT_KEPT, ContentKept
from nws.core.findings.scores import ONE_SIDED_LEVEL, Interval

LENGTHS = (1, 7, 21)


def made(
    shares: dict[str, NDArray[np.float64]], person: float | None = None, lengths: tuple[int, ...] = LENGTHS
) -> Points:
    """The points of systems that keep these shares, (articles, lengths), and of a person's whole summaries."""
    points = [
        Point("made", f"{article:03d}", system, n, n, {CONTENT_KEPT: float(value)})
        for system, values in shares.items()
        for article, at in enumerate(values)
        for n, value in zip(lengths, at, strict=True)
    ]
    if person is not None:
        articles = dict.fromkeys(point.article_id for point in points)
        points += [Point("made", article, PERSON, 0, 1, {CONTENT_KEPT: person}, "oracle") for article in articles]
    return in_columns(points)


def of(kept: tuple[ContentKept, ...], system: str, ceiling: str) -> ContentKept:
    (found,) = [one for one in kept if (one.system, one.ceiling) == (system, ceiling)]
    return found


def around(means: tuple[float, ...], articles: int, spread: float = 0.1) -> NDArray[np.float64]:
    noise = np.random.default_rng(0).normal(size=(articles, 1))
    return np.array(means) + spread * (noise - noise.mean())


def test_a_share_is_the_mean_over_articles() -> None:
    kept = of(content_kept(made({"lexrank": around((0.125, 0.375, 0.6875), 60)})), "lexrank", "reference")
    assert [share.share.mean for share in kept.lengths] == pytest.approx([0.125, 0.375, 0.6875])
    assert (kept.longest, kept.articles, kept.dropped) == (21, 60, 0)
    low, high = kept.lengths[1].share.low, kept.lengths[1].share.high
    assert low is not None
    assert high is not None
    assert low < 0.375 < high
    answers = {answer.share: (answer.n, answer.claimed) for answer in kept.smallest}
    assert answers == {0.25: (7, 7), 0.5: (21, 21), 0.8: (None, None), 0.9: (None, None)}


def test_shares_of_a_person_and_of_the_own_longest() -> None:
    points = made({"lexrank": around((0.125, 0.375, 0.5), 60)}, person=0.5)
    of_person = of(content_kept(points), "lexrank", "person")
    assert [share.share.mean for share in of_person.lengths] == pytest.approx([0.25, 0.75, 1.0])
    own = of(content_kept(points), "lexrank", "longest")
    assert [share.share.mean for share in own.lengths] == pytest.approx([0.25, 0.75, 1.0])
    assert own.lengths[-1].share.low is None  # 1 of itself, always
    assert not [one for one in content_kept(points) if one.system == PERSON]


def test_few_articles_claim_nothing_and_an_answer_has_no_end_beyond_the_longest() -> None:
    kept = of(content_kept(made({"lexrank": around((0.125, 0.375, 0.5), 11)})), "lexrank", "reference")
    quarter, half = kept.smallest[:2]
    assert (quarter.n, quarter.claimed) == (7, None)
    assert (half.n, half.high) == (21, None)
    assert quarter.articles_for_one_step is not None
    assert kept.smallest[-1].articles_for_one_step is None


def test_an_article_that_lacks_a_length_is_left_out_and_counted() -> None:
    points = made({"lexrank": around((0.125, 0.375, 0.5), 30)})
    points = points.take(~((points.article == 3) & (points.n == 21)))
    kept = of(content_kept(points), "lexrank", "reference")
    assert (kept.articles, kept.dropped) == (29, 1)


@given(st.lists(st.lists(st.floats(-1, 1), min_size=4, max_size=4), min_size=1, max_size=5), st.floats(-1, 1))
def test_the_first_kept_is_the_smallest_from_which_on_all_keep_the_share(shares: list[list[float]], x: float) -> None:
    expected = [next((i for i in range(4) if all(v >= x for v in row[i:])), 4) for row in shares]
    assert first_kept(np.array(shares), x).tolist() == expected


def test_the_influence_of_an_article_is_what_leaving_it_out_changes() -> None:
    """To first order, the ceiling's change included (Efron's infinitesimal jackknife against the jackknife)."""
    rng = np.random.default_rng(2)
    values, ceiling = rng.uniform(0.1, 0.6, (200, 2)), rng.uniform(0.4, 0.8, 200)
    kept = KeptByArticle(values, ceiling)
    for i in (0, 77):
        rest = np.arange(200) != i
        without = KeptByArticle(values[rest], ceiling[rest]).shares
        assert -199 * (without - kept.shares) == pytest.approx(kept.influence[i], abs=0.01)


def test_a_summary_without_the_metric_is_not_there() -> None:
    points = made({"lexrank": around((0.125, 0.375, 0.5), 30)}, person=0.5)
    for place in np.flatnonzero(((points.article == 3) & (points.n == 21)) | ((points.article == 4) & (points.n == 0))):
        points.scores[CONTENT_KEPT][place] = np.nan
    kept = content_kept(points)
    assert [(of(kept, "lexrank", to).articles, of(kept, "lexrank", to).dropped) for to in ("reference", "person")] == [
        (29, 1),
        (28, 1),
    ]
    assert content_kept(Points.none()) == ()


def test_nothing_is_a_share_of_a_ceiling_that_keeps_nothing() -> None:
    kept = content_kept(made({"random": around((0.0, -0.1, -0.2), 30)}, person=-0.1))
    assert [one.ceiling for one in kept] == ["reference"]


def p_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return above_zero_p(len(values), moments(values))


def test_a_p_is_that_of_t_or_larger_the_more_so_the_more_a_tail_lies_below() -> None:
    rng = np.random.default_rng(3)
    tail = rng.exponential(size=(60, 1))
    tail = (tail - tail.mean()) / tail.std()
    right, left = p_of(0.3 + tail), p_of(0.3 - tail)
    plain = ttest_1samp(0.3 + tail, 0, alternative="greater").pvalue
    assert right == pytest.approx(plain)
    assert left > 1.2 * plain
    # A sample that looks normal may come from what has a tail: less may be said of few.
    few, many = (np.tile([-1.0, 1.0], k)[:, None] + 2.5 / (2 * k) ** 0.5 for k in (6, 500))
    of_t = [ttest_1samp(values, 0, alternative="greater").pvalue for values in (few, many)]
    assert p_of(few)[0] / of_t[0][0] > 1.3 > 1.1 > p_of(many)[0] / of_t[1][0] >= 1


def test_equal_values_show_what_they_are() -> None:
    assert p_of(np.full((12, 3), [0.1, 0.0, -0.1])).tolist() == [0.0, 1.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("tail", ["none", "above", "below"])
@pytest.mark.parametrize("articles", [12, 60])
def test_a_claim_is_wrong_in_few_studies(tail: str, articles: int) -> None:
    """At the null that is hardest: the length before the claimed one keeps just less than the share."""
    rng, wrong, studies = np.random.default_rng(4), 0, 1_000
    for _ in range(studies):
        skewed = rng.exponential(size=(articles, 1)) - 1
        own = {"none": rng.normal(size=(articles, 1)), "above": skewed, "below": -skewed}[tail]
        above = own + 0.1 * rng.normal(size=(articles, 3)) + np.array([-0.001, 1.5, 1.6])
        wrong += interval_of_n(above)[1] == 0
    assert wrong / studies <= 0.05


def test_an_interval_of_a_share_ends_where_the_test_begins_to_show() -> None:
    rng = np.random.default_rng(8)
    for articles in (20, 200):
        values = 0.5 - 0.1 * rng.exponential(size=(articles, 1))
        (interval,) = skewed_intervals(values)
        assert interval.low is not None
        assert interval.high is not None
        assert p_of(interval.high - values) == pytest.approx(ONE_SIDED_LEVEL)
        if articles == 200:
            assert p_of(values - interval.low) == pytest.approx(ONE_SIDED_LEVEL)
        else:  # a tail of few articles would make it many times as wide
            assert p_of(values - interval.low) > 2 * ONE_SIDED_LEVEL
        plain = mean_interval(values[:, 0])
        assert plain.low is not None
        assert interval.low < plain.low
    assert skewed_intervals(np.full((1, 1), 0.3)) == [Interval(0.3, None, None)]


@pytest.mark.slow
def test_an_interval_holds_the_smallest_length_also_where_it_keeps_just_the_share() -> None:
    rng, held, studies = np.random.default_rng(6), 0, 500
    for _ in range(studies):
        tail = 1 - rng.exponential(size=(24, 1))
        low, high = interval_of_n(tail + 0.3 * rng.normal(size=(24, 4)) + np.array([-0.6, 0.0, 0.5, 0.9]))
        held += low <= 1 <= high
    assert held / studies >= 0.95


@pytest.mark.slow
def test_with_the_articles_advised_most_studies_are_sure_to_one_step() -> None:
    """Of 60 articles the truth: others are drawn from them."""
    rng = np.random.default_rng(7)
    values = np.array([0.1, 0.3, 0.44, 0.56, 0.7]) + 0.2 * rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 5))
    points = made({"lexrank": values}, lengths=(1, 3, 5, 7, 9))
    answer = next(answer for answer in of(content_kept(points), "lexrank", "reference").smallest if answer.share == 0.5)
    assert answer.articles_for_one_step is not None
    drawn = (values[rng.integers(0, 60, answer.articles_for_one_step)] - 0.5 for _ in range(500))
    narrow = [high - low <= 1 for low, high in map(interval_of_n, drawn)]
    assert 0.7 <= np.mean(narrow) <= 0.95


def test_articles_for_one_step_where_all_keep_the_same_or_none_keeps_the_share() -> None:
    rng = np.random.default_rng(4)
    above = np.full((30, 3), [-0.1, 0.0, 0.1])
    assert articles_for_one_step(above) == FEWEST_ARTICLES
    above[:, 1] = 0.1 * rng.normal(size=30)
    assert articles_for_one_step(above) == FEWEST_ARTICLES  # only one length is not known
    assert articles_for_one_step(-above) is None
    assert articles_for_one_step(above[:1]) is None
