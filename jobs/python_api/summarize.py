"""Summaries of single texts by trained policies."""

from pathlib import Path

from core.errors import RecipeError


def summarize(text: str, n: int | None = None, *, policy: str | Path, max_chars: int | None = None) -> str:
    """Write a summary of exactly n words, or of all words where the text has fewer, as `nws summarize` does.

    Args:
        text: an article, in the language that the policies were trained on.
        n: words of the summary; 9 unless given. A length that the policies were not trained for is written by those of
            the nearest.
        policy: the folder that `nws export RUN --policy FOLDER` wrote.
        max_chars: in place of n: at most so many characters, and whole words. The policies write as many as fit.

    Raises:
        ModelError: there are no policies in that folder, or a model of theirs cannot be loaded.
        RecipeError: n or max_chars is less than 1, or both are given.
        EmptyArticleError: the text holds no word.
        LanguageError: it is in another language than the policies were trained on.

    With policies in the folder `my-policy`:

    >>> import nws
    >>> text = (
    ...     "Trams in the harbour town will run all night from Monday, the mayor said. Nurses and dockers had asked "
    ...     "for them for years. A ticket costs two euros."
    ... )
    >>> summary = nws.summarize(text, n=9, policy="my-policy")
    >>> len(summary.split())
    9
    >>> len(nws.summarize(text, max_chars=50, policy="my-policy")) <= 50
    True

    To write many summaries, load the policies once:

    >>> from core.learning.writer import load_writer
    >>> writer = load_writer("my-policy")
    >>> writer.write(text, [9]) == [summary]
    True
    """
    if n is not None and max_chars is not None:
        raise RecipeError("Give n (words) or max_chars (characters), not both.")

    from core.learning.writer import load_writer  # and with it PyTorch

    writer = load_writer(policy)
    if max_chars is not None:
        (summary,) = writer.write(text, [max_chars], "characters")
    else:
        (summary,) = writer.write(text, [9 if n is None else n])
    return summary
