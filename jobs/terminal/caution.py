"""What every table says when its numbers are over few articles."""

from core.analysis.intervals import FEW_ARTICLES


def few(count: int, what: str = "articles") -> str | None:
    """The caution for `count` of `what`; None where there are enough."""
    if count >= FEW_ARTICLES or count < 2:  # one has no interval
        return None
    return f"Few {what} ({count}): the intervals may be too narrow. Take them as a hint."
