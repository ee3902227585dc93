"""Stops a run in which article after article fails for one reason: the next thousand would, too."""

import re
from collections.abc import Sequence

from core.errors import RepeatedFailureError
from core.types import Article, Failure, Landed


class EqualFailures:
    """Counts the articles that failed in a row with the same class and message, over all that one driver computes.

    "In a row" is in order of landing, with no article done in between.

    Args:
        run_id: of the run, for the message.
        most: so many of them stop the run; None: no number does.
    """

    def __init__(self, run_id: str, most: int | None) -> None:
        self._run_id = run_id
        self._most = most
        self._reason: tuple[str, str] | None = None
        self._count = 0

    def look(self, landed: Sequence[Landed]) -> None:
        """Take in what has landed, and was stored.

        Raises:
            RepeatedFailureError: this was one too many.
        """
        for bundle, result in landed:
            failures = {failure.article_id: failure for failure in result.failures}
            for article in bundle:
                self._add(article, failures.get(article.id))

    def _add(self, article: Article, failure: Failure | None) -> None:
        reason = None if failure is None else (failure.error_class, _without_names(failure.message, article))
        self._count = self._count + 1 if reason == self._reason else 1
        self._reason = reason
        if failure is not None and self._most is not None and self._count >= self._most:
            raise RepeatedFailureError(
                f"{self._count} articles in a row failed for the same reason, so the run was stopped. The last one, "
                f"{article.key!r}: {failure.error_class}: {failure.message} Mend the cause, then: nws resume "
                f"{self._run_id}. It tries them again, and then all that were not tried. To let a run go on "
                "regardless, set stop_after_equal_failures to null in its recipe."
            )


def _without_names(message: str, article: Article) -> str:
    names = "|".join(re.escape(name) for name in (article.id, article.key) if name)
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", "", message)
