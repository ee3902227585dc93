import pytest

from core.analysis import same_texts


def test_the_share_of_equal_texts_of_every_two_systems(make_points):
    def text(system, n, article):
        return "same" if system != "c" and article < 6 else f"{system} {article}"

    points = make_points(lambda *_: 0.5, ("a", "b", "c", "oracle", "lead"), (3, 5), 8, text=text)
    found = same_texts(points)
    assert [(pair.a, pair.b, pair.summaries, pair.equal) for pair in found] == [
        ("a", "b", 16, 12),
        ("a", "c", 16, 0),
        ("b", "c", 16, 0),
    ]
    assert found[0].share == 0.75


def test_only_summaries_that_both_have_count(make_points):
    points = make_points(
        lambda *_: 0.5, ("a", "b"), (0, 3), 8, skip=lambda s, n, a: s == "a" and a > 4, text=lambda *_: "same"
    )
    assert [(pair.summaries, pair.equal) for pair in same_texts(points)] == [(5, 5)]
    assert same_texts(make_points(lambda *_: 0.5, ("a", "b"), text=lambda *_: None)) == ()


def test_whole_articles_are_equal_by_force_and_do_not_count(make_points):
    points = make_points(
        lambda *_: 0.5,
        ("a", "b", "lead"),
        (9,),
        8,
        words=lambda s, n, a: 6 if a < 4 else n,
        text=lambda s, n, a: "whole" if a < 4 else s,
    )
    assert [(pair.summaries, pair.equal) for pair in same_texts(points)] == [(4, 0)]
    assert same_texts([]) == ()


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_points_leaves_no_trace(make_points, order):
    points = make_points(lambda *_: 0.5, ("a", "b", "c"), (3,), 4, text=lambda s, n, a: "x")
    assert [(pair.a, pair.b) for pair in same_texts(points[::order])] == [("a", "b"), ("a", "c"), ("b", "c")]
