"""Which script a text is in, so that no tokenizer silently deletes it."""

from core.errors import LanguageError
from core.types import Article


def latin_share(text: str) -> float:
    """Share of the letters of `text` that are a-z or A-Z, in [0, 1]; 1 for a text without letters."""
    letters = [char for char in text if char.isalpha()]
    return sum(char.isascii() for char in letters) / len(letters) if letters else 1.0


def require_latin_script(article: Article) -> None:
    """Refuse an article whose text or reference is mostly in another script.

    The ROUGE tokenizer keeps only a-z and 0-9: identical Korean, Greek or Chinese texts would score 0.

    Raises:
        LanguageError: more than half of the letters of the text or of a reference are not a-z.
    """
    for text in (article.text, *article.references):
        if latin_share(text) < 0.5:
            raise LanguageError(
                f"Article {article.key!r} of {article.dataset} is not in Latin script (Korean, for example). This job "
                "scores with English tokenizers, which would delete its text and report 0; it takes English articles."
            )
