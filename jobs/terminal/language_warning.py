"""A warning if texts look like another language than a command treats them as."""

import itertools
from collections.abc import Iterable, Sequence

from rich.console import Console

from core.text.corpus import Corpus
from core.text.language import Language, find_foreign

NAMES: dict[Language, str] = {"en": "English", "ko": "Korean"}
# Of the texts that are looked at. A quotation, or a row that slipped in, is not worth a warning.
_MOST_FOREIGN = 0.1
_LOOKED_AT = 50


def warn_of_corpora(corpora: Iterable[Corpus], language: Language, console: Console) -> None:
    """Warn of each dataset whose articles look like another language; 50 spread over it, the first 50 of a stream."""
    for corpus in corpora:
        step = max(1, (corpus.size or 0) // _LOOKED_AT)
        articles = itertools.islice(corpus, 0, step * _LOOKED_AT, step)
        _warn(f"articles of {corpus.name} ({corpus.split})", [article.text for article in articles], language, console)


def warn_of_texts(label: str, texts: Sequence[str], language: Language, console: Console) -> None:
    """Warn if `texts`, called `label` in the warning, look like another language. 50 of them are looked at."""
    step = max(1, len(texts) // _LOOKED_AT)
    _warn(label, texts[: step * _LOOKED_AT : step], language, console)


def _warn(label: str, texts: Sequence[str], language: Language, console: Console) -> None:
    foreign = find_foreign(texts, language)
    if foreign.count > _MOST_FOREIGN * foreign.texts:
        codes = ", ".join(foreign.languages)
        console.print(
            f"Warning: {foreign.count} of {foreign.texts} {label} may be in another language than "
            f"{NAMES[language]} (ISO 639: {codes}). They are treated as {NAMES[language]}, so the results may be "
            "meaningless.",
            markup=False,
        )
