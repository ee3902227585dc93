"""Sweeps in this process. Those on Ray are in test_sweeps_on_ray.py."""

from collections.abc import Iterator

import fakes
import pytest

from cluster.article_work import Work
from cluster.sweep_pool import inline_sweeps
from core.errors import ModelError
from core.types import Article


def test_inline_pool_builds_once_and_pulls_bundles_lazily() -> None:
    pulled: list[int] = []

    def source() -> Iterator[list[Article]]:
        for i, bundle in enumerate(fakes.bundles(3, 2)):
            pulled.append(i)
            yield bundle

    results = inline_sweeps(fakes.WORK).map(source())
    ((bundle, result),) = next(results)
    assert pulled == [0, 1], "no further than the next one"
    assert {s.article_id for s in result.summaries} == {a.id for a in bundle}
    assert [len(group) for group in results] == [1, 1]


def test_inline_pool_lets_a_factory_error_through() -> None:
    with pytest.raises(ModelError, match="no-such-model"):
        inline_sweeps(Work(fakes.make_segmenter, fakes.make_nothing))


def test_an_error_of_the_source_comes_after_what_had_landed() -> None:
    bundles = fakes.bundles(2, 2)

    def source() -> Iterator[list[Article]]:
        yield from bundles
        raise ModelError("the source broke")

    groups = inline_sweeps(fakes.WORK).map(source())
    landed = [list(bundle) for _ in bundles for bundle, _ in next(groups)]
    assert landed == bundles
    with pytest.raises(ModelError, match="the source broke"):
        next(groups)
