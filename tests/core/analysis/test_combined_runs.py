from dataclasses import replace

import pytest
from made_scores import Point, in_columns, point_scores

from nws.core.analysis import Points
from nws.core.analysis.points import combine


def point(system: str, article: str = "a", text: str = "t", f1: float = 0.5, n: int = 7) -> Point:
    kind = "control" if system == "random" else "system"
    return Point("d", article, system, n, n, point_scores(bertscore_f1=f1), kind, text)


def rows(points: Points) -> set[tuple[str, str, float]]:
    return {
        (points.systems[s], points.articles[a][1], f1)
        for s, a, f1 in zip(points.system, points.article, points.scores["bertscore_f1"].tolist(), strict=True)
    }


def of(*points: Point) -> Points:
    return replace(in_columns(points), repeated_words=None)


def test_one_run_stays_as_it_is() -> None:
    points = of(point("x"), point("random"))
    found, sources = combine([("one", points)])
    assert found is points
    assert sources == {"one": {"x": "x", "random": "random"}}


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ([point("x")], [point("x", f1=0.5 + 1e-9), point("x", "b", f1=0.2)], {("x", "a", 0.5), ("x", "b", 0.2)}),
        ([point("x")], [point("x", "b", text="u")], {("x", "a", 0.5), ("x", "b", 0.5)}),  # of other articles
        (
            [point("x")],
            [point("x", text="u"), point("y")],  # another text
            {("x", "a", 0.5), ("x @two", "a", 0.5), ("y", "a", 0.5)},
        ),
        ([point("x")], [point("x", f1=0.6)], {("x", "a", 0.5), ("x @two", "a", 0.6)}),  # another metric
    ],
)
def test_what_wrote_something_else_is_named_after_its_run(
    first: list[Point], second: list[Point], found: set[tuple[str, str, float]]
) -> None:
    points, sources = combine([("one", of(*first)), ("two", of(*second))])
    assert rows(points) == found
    assert sources["one"] == {"x": "x"}
    other = set(sources["two"].values())
    assert other == {system for system, _, _ in found} - ({"x"} - other)


def test_kinds_stay() -> None:
    found, _ = combine([("one", of(point("random"))), ("two", of(point("random", text="u")))])
    assert dict(zip(found.systems, found.kinds, strict=True)) == {"random": "control", "random @two": "control"}
