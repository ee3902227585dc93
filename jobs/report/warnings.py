"""Warnings of what is told before the work begins: articles, systems and predictions that will not give an answer."""

import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from core.text.dataset import OpenDataset
from core.text.language import Language, find_foreign
from jobs.report.numerals import counted
from jobs.report.system_names import system_names

if TYPE_CHECKING:
    from jobs.recipes.plan import Plan

NAMES: dict[Language, str] = {"en": "English", "ko": "Korean"}
# Of the texts that are looked at. A quotation, or a row that slipped in, is not worth a warning.
_MOST_FOREIGN = 0.1
_SAMPLE_SIZE = 50
_LACKING = {
    "random": "no gain at equal n can be told",
    "lead": "no system can be compared with the first n words of the article",
}


def warn_of_corpora(corpora: Iterable[OpenDataset], language: Language, console: Console) -> None:
    """Warn of each dataset whose articles look like another language; 50 spread over it, the first 50 of a stream."""
    for corpus in corpora:
        if corpus.ids is None:
            articles = itertools.islice(corpus, _SAMPLE_SIZE)
        else:
            step = max(1, len(corpus.ids) // _SAMPLE_SIZE)
            articles = itertools.islice(corpus.read(np.arange(len(corpus.ids)) % step == 0), _SAMPLE_SIZE)
        _warn_of_language(
            f"articles of {corpus.name} ({corpus.split})", [article.text for article in articles], language, console
        )


def warn_of_texts(label: str, texts: Sequence[str], language: Language, console: Console) -> None:
    """Warn if `texts`, called `label` in the warning, look like another language. 50 of them are looked at."""
    step = max(1, len(texts) // _SAMPLE_SIZE)
    _warn_of_language(label, texts[: step * _SAMPLE_SIZE : step], language, console)


def _warn_of_language(label: str, texts: Sequence[str], language: Language, console: Console) -> None:
    foreign = find_foreign(texts, language)
    if foreign.total() > _MOST_FOREIGN * len(texts):
        codes = ", ".join(code for code, _ in foreign.most_common())
        console.print(
            f"Warning: {foreign.total()} of {len(texts)} {label} may be in another language than "
            f"{NAMES[language]} (ISO 639: {codes}). They are treated as {NAMES[language]}, so the results may be "
            "meaningless.",
            markup=False,
        )


def warn_of_repeats(corpora: Iterable[OpenDataset], console: Console) -> None:
    """Say how many rows of each dataset are left out since they repeat another. Of a stream this is not known."""
    for corpus in corpora:
        if corpus.repeats:
            verb = "repeats another row and is" if corpus.repeats == 1 else "repeat another row and are"
            rows = counted(corpus.repeats, "row")
            console.print(f"Warning: {rows} of {corpus.name} {verb} left out.", markup=False)


def tell_lengths(plan: "Plan", console: Console, option: str = "--n") -> None:
    """Say which lengths `n: auto` has become, where references have told, and what sets others."""
    if plan.lengths_end:
        lengths = ", ".join(map(str, plan.recipe.n))
        console.print(f"n = {lengths}: up to {plan.lengths_end}; {option} takes others", markup=False, soft_wrap=True)


def warn_of_controls(systems: Collection[str], console: Console) -> None:
    """Say what cannot be told without the controls that are not among these systems."""
    for control, lacking in _LACKING.items():
        if control not in systems:
            console.print(f"Warning: Without the system {control} {lacking}. Add --system {control}.", markup=False)


def require_labels_fit(plan: "Plan") -> None:
    """Refuse labels of a recipe that no system of the run would have, or two would.

    Raises:
        RecipeError: names the label.
    """
    if not plan.recipe.labels:
        return
    from core.analysis import POLICY, split_seed  # and with it SciPy, which few runs need before their end

    trained = [POLICY + name for name in plan.policies]
    systems = {*plan.systems, *trained}
    names = system_names(systems | {split_seed(system)[0] for system in systems})
    names.labelled(plan.recipe.labels, "the recipe")


def warn_of_misfits(plan: "Plan", console: Console) -> None:
    """Say which predictions are of no article, and which articles have none.

    Raises:
        RecipeError: a file of predictions does not fit the articles of the run at all.
    """
    from jobs.recipes.outside import misfits  # which those who score or summarise need not wait for

    for line in misfits(plan):
        console.print(f"Warning: {line}", markup=False, soft_wrap=True)
