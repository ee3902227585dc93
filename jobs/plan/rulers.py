"""Which rulers a run has: what content kept is read against depends on its articles."""

from collections.abc import Sequence

from core.errors import RecipeError
from core.summarizers.rulers import OTHER_ARTICLE, PERSON, REFERENCE_WORDS
from core.text.corpus import Corpus


def with_rulers(systems: Sequence[str], corpora: Sequence[Corpus]) -> tuple[str, ...]:
    """The names of systems, and where `reference-words` is among them, the other rulers that the articles allow.

    `person` is one if every article has two references, `other-article` if every dataset has two articles.

    Raises:
        RecipeError: `person` is among them, and a dataset has articles without a second reference.
    """
    lacking = [corpus.name for corpus in corpora if corpus.fewest_references < 2]
    if PERSON in systems and lacking:
        raise RecipeError(
            f"There is no {PERSON!r} on {', '.join(lacking)}: it is an article's second reference, which each article "
            "must have. (Of a streamed dataset, nobody knows.) Leave it out: it is added where it can be."
        )
    if REFERENCE_WORDS not in systems:
        return tuple(systems)
    persons = () if lacking else (PERSON,)
    others = () if any(corpus.size == 1 for corpus in corpora) else (OTHER_ARTICLE,)
    return tuple(dict.fromkeys((*systems, *persons, *others)))
