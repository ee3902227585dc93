"""Names as people type them, which may be no names."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question to append to an error: the known name that is most similar to this one, ignoring case.

    Empty if none is similar enough by `difflib`, which has the measure of Ratcliff and Obershelp.
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""
