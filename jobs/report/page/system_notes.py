"""What the built-in systems do, in a line each, for readers of the page who have not read the docs."""

from collections.abc import Iterable

SYSTEM_NOTES = {
    "lead": "takes the first n words",
    "lead3": "takes the first three sentences",
    "lead2+chunks": "takes the phrases of the first two sentences that are nearest to the whole text in meaning",
    "lead3-search": "searches the text for phrases that together say most of its first three sentences",
    "textrank": "takes phrases of sentences that many other sentences are near to in meaning",
    "centroid": "takes phrases of sentences that are near to the whole text in meaning",
    "textrank-words": "takes phrases of sentences that share words with many others",
    "lexrank": "takes phrases of sentences whose rare words many other sentences have, too",
    "position": "takes phrases of sentences; earlier sentences weigh more",
    "random": "takes phrases at random",
    "random-words": "takes single words at random",
    "reference-words": "takes the first n words of the reference, which no system can see",
    "person": "takes the first n words of a second person's summary",
    "other-article": "takes the first n words of the reference of the most similar other article",
    "oracle": "searches the text for the best phrases, and sees the reference",
    "window-oracle": "searches for the best n words in a row, and sees the reference",
}


def system_notes(systems: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """For each system that is known here, its full name and what it does, in the order given.

    A system of Phase 1 has the method within its name, such as "all-MiniLM-L6-v2|lexrank|chunks".
    """
    found = ((system, next((part for part in system.split("|") if part in SYSTEM_NOTES), None)) for system in systems)
    return tuple((system, SYSTEM_NOTES[part]) for system, part in found if part is not None)
