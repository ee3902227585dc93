"""The lengths that the answer of a run names: those at which policies are worth training."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.analysis.content_kept import KEPT, ContentKept
from core.errors import RecipeError

if TYPE_CHECKING:
    from jobs.store import Store

LEAST, ENOUGH = 0.8, 0.9
"""Shares of what a system's longest n keeps: from where the first is kept to where the second is."""


def lengths_from(store: "Store", run_id: str) -> tuple[int, ...]:
    """The lengths of a run's grid that its answer names, see `named_lengths`.

    Raises:
        StoreError: there is no such run.
        RecipeError: the run has no content kept, or its lengths are not words, or its answer names no length.
    """
    run = store.run_info(run_id)
    if run.length_unit != "words":
        raise RecipeError(
            f"The n of run {run_id} are {run.length_unit}, and n names words: give the lengths themselves, as "
            "max_chars.",
            settings=("n",),
        )
    if KEPT not in run.signatures:
        raise RecipeError(
            f"Run {run_id} has no content kept, by which lengths are chosen: add it with nws add-metric {run_id} "
            f"{KEPT}, or give the lengths themselves.",
            settings=("n",),
        )
    lengths = named_lengths(store.answer(run_id).of_systems)
    if not lengths:
        raise RecipeError(
            f"No length of run {run_id} can be named: no system keeps any content at its longest n. Give the lengths "
            "themselves.",
            settings=("n",),
        )
    return lengths


def named_lengths(kept: Iterable[ContentKept]) -> tuple[int, ...]:
    """The n of the best system of each dataset from where it keeps `LEAST` of what its longest n keeps to `ENOUGH`.

    The best keeps most at its longest n. Controls and upper bounds do not count.
    """
    of_systems = {(one.dataset, one.system, one.of): one for one in kept if one.kind == "system"}
    whole = [one for one in of_systems.values() if one.of == "reference"]
    lengths = set[int]()
    for dataset in dict.fromkeys(one.dataset for one in whole):
        best = max((one for one in whole if one.dataset == dataset), key=lambda one: one.lengths[-1].share.mean)
        own = of_systems.get((dataset, best.system, "longest"))  # there is none of a system that keeps nothing
        if own is not None:
            at = {smallest.x: smallest.n for smallest in own.smallest}
            first, last = at[LEAST], at[ENOUGH]
            if first is not None and last is not None:
                lengths |= {share.n for share in own.lengths if first <= share.n <= last}
    return tuple(sorted(lengths))
