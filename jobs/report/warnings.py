"""Warnings of what is told before the work begins: articles, systems and predictions that will not give an answer."""

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from nws.core.metrics.metric import Row
from nws.core.systems.predictions import Predictions
from nws.core.text.alike import find_alike
from nws.core.text.dataset import OpenDataset
from nws.core.text.language import LANGUAGE_NAMES, Language, find_foreign
from nws.core.text.text_marks import find_marks
from nws.jobs.report.numerals import counted
from nws.jobs.report.system_names import system_names

if TYPE_CHECKING:
    from nws.jobs.recipes.plan import Plan

# Of the texts that are looked at. A quotation, or a row that slipped in, is not worth a warning.
_MOST_FOREIGN = 0.1
_SAMPLE_SIZE = 50
_LOOKED_AT = 2_000
"""The first rows, for what is all over a dataset or nowhere: marks, and what articles have alike."""
_LEAST_MARKED = 0.01
"""Of the rows, and two of them. One article in thousands quotes a tag or has "R&amp;D"; no mean shows that."""
_LACKING = {
    "random": "no gain at equal n can be told",
    "lead": "no system can be compared with the first n words of the article",
}


def warn_of_corpora(corpora: Iterable[OpenDataset], language: Language, console: Console) -> None:
    """Warn of each dataset whose articles look like another language, have marks that are no words, or are alike.

    It is read once: 50 articles spread over it for the language (the first 50 of a stream), and the first 2,000.
    """
    for corpus in corpora:
        if corpus.split != "all":
            console.print(f"Reading the split {corpus.split} of {corpus.name}.", markup=False)
        numbers = np.arange(_LOOKED_AT if corpus.ids is None else len(corpus.ids))
        spread = numbers % (1 if corpus.ids is None else max(1, len(numbers) // _SAMPLE_SIZE)) == 0
        chosen = spread | (numbers < _LOOKED_AT)
        articles = list(itertools.islice(corpus.read(chosen), _LOOKED_AT + _SAMPLE_SIZE))
        texts = [article.text for article in itertools.compress(articles, spread[chosen])]
        label = f"articles of {corpus.name} ({corpus.split})"
        _warn_of_language(label, texts[:_SAMPLE_SIZE], language, console)
        label = f"{'first ' if len(articles) > _LOOKED_AT else ''}{label}"
        rows = [(article.text, *article.references) for article in articles[:_LOOKED_AT]]
        references = [len(row) - 1 for row in rows if len(row) > 1]
        _warn_of_marks(label, rows, references, corpus.dataset.preparation.clean_texts, console)
        different = dict.fromkeys(text for text, *_ in rows)
        if again := sum(bool(text) for text, *_ in rows) - len(different.keys() - {""}):
            line = f"Warning: Texts stand again in {again} of the {len(rows)} {label}: each is one more article."
            console.print(f"{line} Rows with one id and one text are one article.", markup=False, soft_wrap=True)
        if alike := "; ".join(find_alike(different)):
            line = f"Warning: Of the {len(different)} {label}, {alike}."
            console.print(f"{line} Systems take that for news: cut out what is none.", markup=False, soft_wrap=True)


def warn_of_rows(place: str, rows: Sequence[Row], removed: Collection[str], console: Console) -> None:
    """Warn of marks in predictions, references and sources, but for kinds that are removed; tell of references."""
    texts = [(row.prediction, *row.references, row.source or "") for row in rows[:_LOOKED_AT]]
    label = f"{'first ' if len(rows) > _LOOKED_AT else ''}rows of {place}"
    _warn_of_marks(label, texts, [len(row.references) for row in rows[:_LOOKED_AT]], removed, console)


def _warn_of_marks(
    label: str, rows: Sequence[Sequence[str]], references: Sequence[int], removed: Collection[str], console: Console
) -> None:
    """Warn of kinds of marks, and say how many references rows have where they may be the sentences of one."""
    counts, examples = Counter[str](), dict[str, str]()
    for row in rows:
        found = {kind: example for text in reversed(row) for kind, example in find_marks(text).items()}
        counts.update(found.keys())
        examples = found | examples
    least = max(2, _LEAST_MARKED * len(rows))
    if kinds := [kind for kind in sorted(examples) if kind not in removed and counts[kind] >= least]:
        told = ", ".join(f"{kind} in {counts[kind]} ({examples[kind]!r})" for kind in kinds)
        line = f"Warning: Of the {len(rows)} {label}, texts have signs that count as words and are none: {told}."
        console.print(f"{line} To remove them: --clean-texts {','.join(kinds)}", markup=False, soft_wrap=True)
    if sum(references) > len(references):
        each = "" if min(references) < max(references) else f", {references[0]} of each"
        line = f"{sum(references)} references of {len(references)} {label}{each}: the best one counts."
        console.print(f"{line} If they are the sentences of one: --join-references", markup=False, soft_wrap=True)


def _warn_of_language(label: str, texts: Sequence[str], language: Language, console: Console) -> None:
    foreign = find_foreign(texts, language)
    if foreign.total() > _MOST_FOREIGN * len(texts):
        name, codes = LANGUAGE_NAMES[language], ", ".join(code for code, _ in foreign.most_common())
        console.print(
            f"Warning: {foreign.total()} of {len(texts)} {label} may be in another language than {name} "
            f"(ISO 639: {codes}). Those in another script fail. The others are treated as {name}, so the results may "
            "be meaningless.",
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
    from nws.core.findings.policy_findings import split_seed
    from nws.core.types import POLICY

    trained = [POLICY + name for name in plan.policies]
    systems = {*plan.systems, *trained}
    names = system_names(systems | {split_seed(system)[0] for system in systems})
    names.labelled(plan.recipe.labels, "the recipe")


def warn_of_misfits(plan: "Plan", console: Console) -> None:
    """Say which predictions are of no article, which articles have none, and which marks predictions have.

    Raises:
        RecipeError: a file of predictions does not fit the articles of the run at all.
    """
    from nws.jobs.recipes.outside import misfits  # which those who score or summarise need not wait for

    for line in misfits(plan):
        console.print(f"Warning: {line}", markup=False, soft_wrap=True)
    for system in itertools.chain.from_iterable(stage.systems for stage in plan.stages):
        if isinstance(system, Predictions):
            texts = [(text or "",) for text in itertools.islice(system.texts.values(), _LOOKED_AT)]
            removed = plan.corpora[0].dataset.preparation.clean_texts
            _warn_of_marks(f"predictions {system.name}", texts, (), removed, console)
