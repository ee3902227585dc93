"""Which articles a run still has to read, against the plain way: read all, and leave bundles out that are finished."""

from array import array
from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.article_ids import ArticleIds
from core.errors import CorpusError
from core.text.dataset import Dataset, OpenDataset, open_rows
from core.types import Article
from jobs.drive.reuse import has_unfinished, unfinished_bundles
from jobs.recipes.plan import Plan


@dataclass(frozen=True)
class Recipe:
    bundle_size: int


@dataclass(frozen=True)
class Work:
    """As much of a `Plan` as bundles are made of."""

    recipe: Recipe
    corpora: tuple[OpenDataset, ...]


def keyed(name: str, texts: list[int], streaming: bool, skip: int, limit: int | None) -> OpenDataset:
    rows = [{"text": f"Text {one}.", "summary": "x", "id": one} for one in texts]
    return open_rows(rows, name, name, "abc", Dataset(name, streaming=streaming, skip=skip, limit=limit))


# Numbers that come again are rows that are repeats.
TEXTS = st.lists(st.integers(0, 30), min_size=3, max_size=40).map(lambda texts: [100, 101, 102, *texts])


@given(st.data(), TEXTS, st.booleans(), st.integers(0, 2), st.one_of(st.none(), st.integers(1, 20)), st.integers(1, 7))
def test_what_is_read_is_every_bundle_with_an_unfinished_article(
    data: st.DataObject, texts: list[int], streaming: bool, skip: int, limit: int | None, size: int
) -> None:
    corpora = (keyed("a", texts, streaming, skip, limit), keyed("b", [7, 7, 8, 9], streaming, 0, None))
    whole = [Article("a", "test", str(one), f"Text {one}.", ("x",)) for one in dict.fromkeys(texts)][skip:][:limit]
    assert list(corpora[0]) == whole
    every = [
        tuple(articles[start : start + size])
        for articles in map(list, corpora)
        for start in range(0, len(articles), size)
    ]
    ids = [article.id for bundle in every for article in bundle]
    finished = data.draw(st.sets(st.sampled_from(ids)))
    announced = array("Q")
    plan = cast(Plan, Work(Recipe(size), corpora))
    found = list(unfinished_bundles(plan, ArticleIds.of(finished), announced))
    assert found == [bundle for bundle in every if any(article.id not in finished for article in bundle)]
    assert [f"{number:016x}" for number in announced] == ids
    assert has_unfinished(plan, ArticleIds.of(finished)) == bool(found)


def test_an_article_that_changed_behind_finished_ones_is_named_by_its_place() -> None:
    rows = [{"text": f"Text {one}.", "summary": "x"} for one in range(6)]
    opened = open_rows(rows, "a", "a", "abc", Dataset("a"))
    articles = list(opened)
    finished = ArticleIds.of(article.id for article in articles[:4])
    rows[4] = {"text": "Another.", "summary": "x"}
    with pytest.raises(CorpusError, match="there were 6 articles, and article 5 is not what it was"):
        list(unfinished_bundles(cast(Plan, Work(Recipe(2), (opened,))), finished, array("Q")))


def test_the_rows_of_what_is_finished_are_not_parsed() -> None:
    rows: list[dict[str, object]] = [{"text": f"Text {one}.", "summary": "x"} for one in range(6)]
    opened = open_rows(rows, "a", "a", "abc", Dataset("a"))
    articles = list(opened)
    for row in rows[:4]:
        row["text"] = 3  # would be an error
    finished = ArticleIds.of(article.id for article in articles[:4])
    found = list(unfinished_bundles(cast(Plan, Work(Recipe(2), (opened,))), finished, array("Q")))
    assert found == [tuple(articles[4:])]
