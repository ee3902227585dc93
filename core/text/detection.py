"""Which language a text looks like, by py3langid (after Lui and Baldwin 2012, "langid.py").

The script alone tells Korean (`core.text.language`), but not French from English.
"""

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from core.text.language import Language, is_korean

# Shorter texts are names, numbers and greetings as often as not.
_LEAST_LETTERS = 20
# Below that probability a text is not in a language. Of 1,718 lines of English dialogue with 20 letters one was below,
# of 982 articles and summaries none; of 120 such sentences in 19 other languages all but one were.
_LEAST_PROBABILITY = 0.01


@dataclass(frozen=True, slots=True)
class Foreign:
    """How many of `texts` texts are in another language than expected, by ISO 639 code, the most frequent first."""

    texts: int
    languages: dict[str, int]

    @property
    def count(self) -> int:
        """How many texts are in any other language."""
        return sum(self.languages.values())


def foreign_language(text: str, expected: Language) -> str | None:
    """The ISO 639 code of the language that `text` looks like; None if that is `expected`, or the text too short."""
    if sum(map(str.isalpha, text)) < _LEAST_LETTERS or (expected == "ko" and is_korean(text)):
        return None
    ranked = _identifier().rank(text)
    if expected == "en" and dict(ranked)["en"] >= _LEAST_PROBABILITY:
        return None
    return next(str(code) for code, _ in ranked if code != expected)


def find_foreign(texts: Iterable[str], expected: Language) -> Foreign:
    """Which of `texts` look like another language than `expected`."""
    languages = [foreign_language(text, expected) for text in texts]
    return Foreign(len(languages), dict(Counter(code for code in languages if code is not None).most_common()))


@functools.cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
