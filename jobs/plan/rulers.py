"""Which rulers a run has: what content kept is read against depends on its articles."""

from collections.abc import Sequence

from core.errors import RecipeError
from core.summarizers.rulers import PERSON, REFERENCE_WORDS
from core.text.corpus import Corpus


def with_person(systems: Sequence[str], corpora: Sequence[Corpus]) -> tuple[str, ...]:
    """The names, and `person` among those with `reference-words` where every article has two references.

    Raises:
        RecipeError: `person` is among them, and a dataset has articles without a second reference.
    """
    lacking = [corpus.name for corpus in corpora if corpus.fewest_references < 2]
    if PERSON in systems and lacking:
        raise RecipeError(
            f"There is no {PERSON!r} on {', '.join(lacking)}: it is an article's second reference, which each article "
            "must have. (Of a streamed dataset, nobody knows.) Leave it out: it is added where it can be."
        )
    if REFERENCE_WORDS in systems and PERSON not in systems and not lacking:
        return (*systems, PERSON)
    return tuple(systems)
