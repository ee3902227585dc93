from collections.abc import Callable

import pytest
from made_scores import Point, in_columns, point_scores
from system_kinds import kind_of

F1 = Callable[[str, int, int], float]


@pytest.fixture
def make_points(list_points):
    """The points of `list_points` as the analysis reads them."""
    return lambda *args, **changes: in_columns(list_points(*args, **changes))


@pytest.fixture
def list_points():
    """Points from a function of (system, n, article index) to F1.

    `skip` says which of them do not exist, `words` and `text` what they hold.
    """

    def make(f1: F1, systems=("a|textrank|chunks", "random"), lengths=(1, 3, 5, 7, 9), articles=60, **kinds):
        skip = kinds.get("skip", lambda system, n, article: False)
        words = kinds.get("words", lambda system, n, article: n)
        text = kinds.get("text", lambda system, n, article: f"{system} {n}")
        return [
            Point(
                dataset=kinds.get("dataset", "news"),
                article_id=f"{article:04d}",
                system=system,
                n=n,
                words=words(system, n, article),
                scores=point_scores(
                    bertscore_f1=f1(system, n, article), rouge1_f1=f1(system, n, article) / 2, density=1.0, coverage=1.0
                ),
                kind=kind_of(system),
                text=text(system, n, article),
            )
            for system in systems
            for n in lengths
            for article in range(articles)
            if not skip(system, n, article)
        ]

    return make
