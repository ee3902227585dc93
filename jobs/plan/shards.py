"""The shards of a run: its articles, cut between bundles, so that every bundle is one of the undivided run."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.errors import RecipeError
from core.text.dataset import OpenDataset
from jobs.plan.pinned import Pinned
from jobs.plan.revisions import dataset_revisions
from jobs.store import RunSpec, ShardSpec

MOST_SHARDS = 10_000
"""Each is a row that `nws ls` adds up, and takes seconds to begin."""


def shards_of(pinned: Pinned, spec: RunSpec, shards: int | None, articles: int | None) -> list[ShardSpec]:
    """The shards of a run: so many, or as many as it takes for each to have at most so many articles.

    The datasets lie one behind the other, and a shard is what stands between two places of that row. It has a part of
    one dataset, or of several. No shard is empty: there are fewer of them if there are fewer bundles.

    Args:
        pinned: the whole run.
        spec: of the whole run, from which those of the shards differ by their articles.
        shards: how many.
        articles: of each, a number that is rounded up to whole bundles; `shards` is None then.

    Raises:
        RecipeError: policies are trained, articles are streamed, or there would be too many shards.
    """
    if pinned.training is not None:
        raise RecipeError("A training is one run: leave out --shards.")
    streamed = [corpus.name for corpus in pinned.corpora if corpus.ids is None]
    if streamed:
        raise RecipeError(f"Shards need to know all articles, and {', '.join(streamed)} is streamed: download it.")
    size = pinned.recipe.bundle_size
    bundles = [-(-len(corpus.ids) // size) for corpus in pinned.corpora if corpus.ids is not None]
    if shards is None:
        assert articles is not None
        shards = -(-sum(bundles) // -(-articles // size))
    shards = min(shards, sum(bundles))
    if shards > MOST_SHARDS:
        raise RecipeError(f"That is {shards} shards; there may be {MOST_SHARDS}.")
    return [_shard(pinned, spec, parts) for parts in parts_of(bundles, size, shards)]


def parts_of(bundles: Sequence[int], size: int, shards: int) -> Iterator[list[tuple[int, int] | None]]:
    """For each shard, which articles of each dataset it has: from one number (from 0) to before another, or none.

    Args:
        bundles: how many each dataset has.
        size: articles of a bundle. The last of a dataset may have fewer: an end may lie behind its last article.
        shards: how many, at most as many as there are bundles. They differ by one bundle at most.
    """
    total = sum(bundles)
    for number in range(shards):
        begin, end = number * total // shards, (number + 1) * total // shards
        parts: list[tuple[int, int] | None] = []
        first = 0
        for count in bundles:
            low, high = max(begin - first, 0), min(end - first, count)
            parts.append((low * size, high * size) if low < high else None)
            first += count
        yield parts


def _shard(pinned: Pinned, spec: RunSpec, parts: Sequence[tuple[int, int] | None]) -> ShardSpec:
    datasets, corpora = [], list[OpenDataset]()
    articles = 0
    for dataset, corpus, part in zip(pinned.recipe.datasets, pinned.corpora, parts, strict=True):
        if part is None or corpus.ids is None:
            continue
        begin, end = part[0], min(part[1], len(corpus.ids))
        datasets.append(replace(dataset, skip=dataset.skip + begin, limit=end - begin))
        corpora.append(replace(corpus, revision=corpus.part_revision(end)))
        articles += end - begin
    recipe = pinned.recipe.model_copy(update={"datasets": tuple(datasets)})
    own = replace(
        spec,
        recipe=recipe.model_dump(mode="json"),
        recipe_hash=recipe.hash,
        revisions={**spec.revisions, "datasets": dataset_revisions(corpora)},
    )
    return ShardSpec(own, articles)
