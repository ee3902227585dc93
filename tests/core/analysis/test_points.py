import dataclasses

import numpy as np
import pytest
from made_scores import in_columns

from nws.core.analysis.grids import build_grids
from nws.core.analysis.points import Points, elsewhere, short_articles
from nws.core.errors import StoreError


def test_every_score_has_its_place(make_points):
    points = make_points(
        lambda s, n, a: n + a / 100, ("random", "b"), (3, 1), 4, words=lambda s, n, a: n - (a == 2 and s == "b")
    )
    (grid,) = build_grids(points, "bertscore_f1")
    assert (grid.systems, grid.lengths) == (("b", "random"), (1, 3))
    assert grid.articles == ("0000", "0001", "0002", "0003")
    np.testing.assert_allclose(grid.values[1], [[1, 1.01, 1.02, 1.03], [3, 3.01, 3.02, 3.03]])
    np.testing.assert_array_equal(grid.words[0], [[1, 1, 0, 1], [3, 3, 2, 3]])
    assert grid.present.all()


def test_articles_with_fewer_words_than_n_are_left_out_for_every_system(list_points):
    # A generator stops where it likes.
    words = {"words": lambda s, n, a: min(n, 4) if a == 1 else n - (s == "bart")}
    listed = list_points(lambda *_: 0.5, ("a", "bart", "lead"), (3, 5, 7), 3, **words)
    points = in_columns(listed)
    assert short_articles(points) == {("news", "0001", 5), ("news", "0001", 7)}
    (grid,) = build_grids(points, "bertscore_f1")
    assert np.argwhere(grid.short).tolist() == [[1, 1], [2, 1]]
    assert np.argwhere(~grid.present).tolist() == [[system, n, 1] for system in range(3) for n in (1, 2)]
    left = points.take(elsewhere(points, short_articles(points)))
    columns = zip(left.system, left.article, left.n, strict=True)
    kept = [(left.systems[system], left.articles[article][1], n) for system, article, n in columns]
    assert kept == [(p.system, p.article_id, p.n) for p in listed if p.article_id != "0001" or p.n == 3]
    # Without a control nobody knows how long an article is.
    assert short_articles(in_columns([point for point in listed if point.system != "lead"])) == frozenset()


def test_two_summaries_for_one_place_are_refused(list_points):
    points = list_points(lambda *_: 0.5, articles=2)
    with pytest.raises(StoreError, match="An article of news has two summaries by one system at one n"):
        list(build_grids(in_columns([*points, points[-1]]), "bertscore_f1"))


def test_a_short_reference_of_another_article_says_nothing_of_this_one(make_points):
    written = lambda s, n, a: min(n, 4) if s == "other-article" else n  # noqa: E731
    points = make_points(lambda *_: 0.5, ("lead", "other-article"), (3, 9), 3, words=written)
    assert short_articles(points) == frozenset()


def of_characters(points, *lengths: int) -> Points:
    """The points, of articles of these lengths in characters."""
    return dataclasses.replace(points, article_characters=np.array(lengths, dtype=np.int32))


def test_of_characters_those_articles_are_short_that_fit_whole(make_points):
    made = make_points(lambda *_: 0.5, ("a", "lead"), (30, 50), 3, words=lambda s, n, a: n // 6)
    points = of_characters(made, 400, 50, 30)
    assert points.length_unit == "characters"
    assert short_articles(points) == {("news", "0001", 50), ("news", "0002", 30), ("news", "0002", 50)}
    left = points.take(elsewhere(points, short_articles(points)))
    assert {left.articles[article][1]: left.article_characters[article] for article in left.article} == {
        "0000": 400,
        "0001": 50,
    }


def test_points_of_words_and_of_characters_are_not_put_together(make_points):
    points = make_points(lambda *_: 0.5, articles=2)
    other = make_points(lambda *_: 0.5, ("b", "random"), articles=3)
    with pytest.raises(StoreError, match="n words and of n characters"):
        Points.together([points, of_characters(other, 1, 2, 3)])
    together = Points.together([of_characters(points, 7, 8), of_characters(other, 7, 8, 9)])
    assert together.article_characters is not None
    assert together.article_characters.tolist() == [7, 8, 9]
