"""Which articles a run still has to read, against the plain way: read all, and leave bundles out that are finished."""

from array import array
from dataclasses import dataclass
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from core.article_ids import ArticleIds
from core.text.dataset import Dataset, OpenDataset, open_rows
from core.types import Article
from jobs.drive.reuse import unfinished_bundles
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
