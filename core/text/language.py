"""Which script a text is in, so that no tokenizer silently deletes it."""

from core.errors import LanguageError
from core.types import Article


def hangul_share(text: str) -> float:
    """Share of the letters of `text` that are Hangul, in [0, 1]; 0 for a text without letters."""
    letters = [char for char in text if char.isalpha()]
    hangul = sum("\uac00" <= char <= "\ud7a3" or "\u1100" <= char <= "\u11ff" for char in letters)
    return hangul / len(letters) if letters else 0.0


def require_no_hangul(article: Article) -> None:
    """Refuse an article whose text or reference is mostly Hangul.

    The ROUGE tokenizer keeps only a-z and 0-9: identical Korean texts would score 0.

    Raises:
        LanguageError: more than half of the letters are Hangul.
    """
    for text in (article.text, *article.references):
        if hangul_share(text) > 0.5:
            raise LanguageError(
                f"Article {article.key!r} of {article.dataset} is Korean. This job scores with English tokenizers, "
                "which would delete the text and report 0; it takes English articles only."
            )
