"""Warnings of what is told before the work begins: articles, systems and predictions that will not give an answer."""

import itertools
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from rich.console import Console

from nws.core.systems.predictions import Predictions
from nws.core.text.checks.all_checks import LOOKED_AT, Finding, check_rows, finding_lines
from nws.core.text.checks.finding import CheckedRow, Context
from nws.core.text.dataset import OpenDataset
from nws.core.text.language import Language
from nws.jobs.report.numerals import counted
from nws.jobs.report.system_names import system_names

if TYPE_CHECKING:
    from nws.jobs.recipes.plan import Plan

_LANGUAGES = 50
"""Of these rows, so many tell the language."""
_WITHOUT_CONTROL = {
    "random": "gains at equal n cannot be computed",
    "lead": "systems cannot be compared with the first n words of the article",
}


def check_corpora(corpora: Iterable[OpenDataset], language: Language, console: Console) -> list[Finding]:
    """Check the first articles of each dataset, and print what was found. It is read once, up to there."""
    found: list[Finding] = []
    for corpus in corpora:
        if corpus.split != "all":
            console.print(f"Reading the split {corpus.split} of {corpus.name}.", markup=False)
        articles = list(itertools.islice(corpus, LOOKED_AT))
        rows = [CheckedRow(article.key, article.text, article.references) for article in articles]
        context = Context(language, every=max(1, len(rows) // _LANGUAGES))
        place = f"{corpus.name} ({corpus.split}){', the first ones' * (len(rows) == LOOKED_AT)}"
        found += check_rows(rows, place, context, corpus.dataset.preparation.clean_texts)
    print_findings(found, console)
    return found


def print_findings(findings: Iterable[Finding], console: Console) -> None:
    """Print what checks found, see `finding_lines`."""
    for line in finding_lines(findings):
        console.print(f"Warning: {line}", markup=False, soft_wrap=True)


def warn_of_repeats(corpora: Iterable[OpenDataset], console: Console) -> None:
    """Say how many rows of each dataset are left out since they repeat another. Of a stream this is not known."""
    for corpus in corpora:
        if corpus.repeats:
            verb = "repeats another row and is" if corpus.repeats == 1 else "repeat another row and are"
            rows = counted(corpus.repeats, "row")
            console.print(f"Warning: {rows} of {corpus.name} {verb} left out.", markup=False)


def print_lengths(plan: "Plan", console: Console, option: str = "--n") -> None:
    """Say which lengths `n: auto` has become, where references have told, and what sets others."""
    if plan.lengths_end:
        lengths = ", ".join(map(str, plan.recipe.n))
        console.print(f"n = {lengths}: up to {plan.lengths_end}; {option} sets others", markup=False, soft_wrap=True)


def warn_of_controls(systems: Collection[str], console: Console) -> None:
    """Say what cannot be told without the controls that are not among these systems."""
    for control, lacking in _WITHOUT_CONTROL.items():
        if control not in systems:
            console.print(f"Warning: Without the system {control}, {lacking}. Add --system {control}.", markup=False)


def require_labels_fit(plan: "Plan") -> None:
    """Refuse labels of a recipe that no system of the run would have, or two would.

    Raises:
        RecipeError: names the label.
    """
    if not plan.recipe.labels:
        return
    from nws.core.findings.policy_findings import split_seed
    from nws.core.types import POLICY

    trained = [POLICY + name for name in plan.policies]
    systems = {*plan.systems, *trained}
    names = system_names(systems | {split_seed(system)[0] for system in systems})
    names.labelled(plan.recipe.labels, "the recipe")


def check_predictions(plan: "Plan", console: Console) -> list[Finding]:
    """Say which predictions are of no article, and which articles have none; then check the first predictions.

    Raises:
        RecipeError: a file of predictions does not fit the articles of the run at all.
    """
    from nws.jobs.recipes.outside import misfits  # which those who score or summarise need not wait for

    for line in misfits(plan):
        console.print(f"Warning: {line}", markup=False, soft_wrap=True)
    found: list[Finding] = []
    removed = plan.corpora[0].dataset.preparation.clean_texts
    systems = [one for stage in plan.stages for one in stage.systems if isinstance(one, Predictions)]
    articles = list(itertools.islice(itertools.chain.from_iterable(plan.corpora), LOOKED_AT)) if systems else []
    for system in systems:
        rows = [row for article in articles if (row := system.checked_row(article)) is not None]
        found += check_rows(rows, system.name, Context(plan.language), removed, "predictions")
    print_findings(found, console)
    return found
