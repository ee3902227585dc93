from dataclasses import replace

from made_scores import point_scores

from core.analysis import Point, Points
from jobs.report.page.page import combine


def point(system: str, article: str = "a", text: str = "t", f1: float = 0.5, n: int = 7) -> Point:
    kind = "control" if system == "random" else "system"
    return Point("d", article, system, n, n, point_scores(bertscore_f1=f1), kind, text)


def rows(points: Points) -> set[tuple[str, str, float]]:
    return {
        (points.systems[s], points.articles[a][1], f1)
        for s, a, f1 in zip(points.system, points.article, points.scores["bertscore_f1"].tolist(), strict=True)
    }


def of(*points: Point) -> Points:
    return replace(Points.of(points), repeated_words=None)


def test_one_run_stays_as_it_is() -> None:
    points = of(point("x"), point("random"))
    found, (source,) = combine([("one", points)])
    assert found is points
    assert source.names == {"x": "x", "random": "random"}


def test_a_system_that_wrote_the_same_is_one_system() -> None:
    found, (_, second) = combine(
        [("one", of(point("x"))), ("two", of(point("x", f1=0.5 + 1e-9), point("x", "b", f1=0.2)))]
    )
    assert rows(found) == {("x", "a", 0.5), ("x", "b", 0.2)}
    assert second.names == {"x": "x"}


def test_systems_of_runs_over_other_articles_are_one_system() -> None:
    found, _ = combine([("one", of(point("x"))), ("two", of(point("x", "b", text="u")))])
    assert rows(found) == {("x", "a", 0.5), ("x", "b", 0.5)}


def test_a_system_that_wrote_something_else_is_named_after_its_run() -> None:
    found, (first, second) = combine([("one", of(point("x"))), ("two", of(point("x", text="u"), point("y")))])
    assert rows(found) == {("x", "a", 0.5), ("x @two", "a", 0.5), ("y", "a", 0.5)}
    assert first.names == {"x": "x"}
    assert second.names == {"x": "x @two", "y": "y"}


def test_other_scores_of_the_same_text_are_another_metric() -> None:
    found, _ = combine([("one", of(point("x"))), ("two", of(point("x", f1=0.6)))])
    assert rows(found) == {("x", "a", 0.5), ("x @two", "a", 0.6)}


def test_kinds_stay() -> None:
    found, _ = combine([("one", of(point("random"))), ("two", of(point("random", text="u")))])
    assert dict(zip(found.systems, found.kinds, strict=True)) == {"random": "control", "random @two": "control"}
