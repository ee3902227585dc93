"""What somebody may have meant who named something that there is not."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question to put behind an error: the known name that is most like this one, whatever the case.

    Nothing where none is much like it, by the measure of Ratcliff and Obershelp that `difflib` has.
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""
