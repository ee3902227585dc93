"""Summaries of single texts by trained policies."""

from pathlib import Path


def summarize(text: str, n: int = 9, *, policy: str | Path) -> str:
    """Write a summary of exactly n words, or of all words where the text has fewer, as `nws summarize` does.

    Args:
        text: an article, in the language that the policies were trained on.
        n: words of the summary. A length that the policies were not trained for is written by those of the nearest.
        policy: the folder that `nws export RUN --policy FOLDER` wrote.

    Raises:
        ModelError: there are no policies in that folder, or a model of theirs cannot be loaded.
        RecipeError: n is less than 1.
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

    To write many summaries, load the policies once:

    >>> from core.learning.writer import load_writer
    >>> writer = load_writer("my-policy")
    >>> writer.write(text, [9]) == [summary]
    True
    """
    from core.learning.writer import load_writer  # and with it PyTorch

    (summary,) = load_writer(policy).write(text, [n])
    return summary
