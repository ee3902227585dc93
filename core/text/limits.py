"""How long a text may be. Shorter texts take seconds on one CPU core, and longer ones are refused at once.

Embedding takes time in proportion to the words (16 s for 10,000 of them with MiniLM on a busy core), ranking in
proportion to the square of the sentences, ROUGE-L to the words of a summary times those of its reference (5 s and
100 MB for 3,000 times 3,000), and spaCy's tokenizer to the square of the characters between two blanks.
News articles have some hundreds of words, the longest reports of magazines ten thousand.
"""

from core.errors import SegmentationError
from core.text.words import count_words
from core.types import Article

MAX_WORDS = 10_000
MAX_CHARACTERS = 100_000
MAX_SENTENCES = 3_000
MAX_WORD_CHARACTERS = 500
MAX_SUMMARY_WORDS = 3_000


def require_length(article: Article) -> None:
    """Refuse an article that would take minutes.

    Raises:
        SegmentationError: it has more words or characters than may be, in all or between two blanks.
    """
    if len(article.text) > MAX_CHARACTERS:
        raise too_long(article, f"{len(article.text)} characters", MAX_CHARACTERS)
    if (words := count_words(article.text)) > MAX_WORDS:
        raise too_long(article, f"{words} words", MAX_WORDS)
    longest = max(map(len, article.text.split()), default=0)
    if longest > MAX_WORD_CHARACTERS:
        raise too_long(article, f"{longest} characters without a blank", MAX_WORD_CHARACTERS)


def require_summary_length(text: str) -> None:
    """Refuse a reference, or a summary of somebody else, that would take minutes to score.

    Raises:
        SegmentationError: it has more words or characters than may be.
    """
    if len(text) > MAX_CHARACTERS:
        raise SegmentationError(f"A summary has {len(text)} characters; at most {MAX_CHARACTERS} can be scored.")
    if (words := count_words(text)) > MAX_SUMMARY_WORDS:
        raise SegmentationError(f"A summary has {words} words; at most {MAX_SUMMARY_WORDS} can be scored.")


def too_long(article: Article, size: str, most: int) -> SegmentationError:
    """The error for an article that has `size`, where `most` is allowed."""
    return SegmentationError(
        f"Article {article.key!r} of {article.dataset} has {size}; at most {most} can be summarised. Split it."
    )
