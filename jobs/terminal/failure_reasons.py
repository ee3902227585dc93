"""Why articles of a run failed: equal reasons together, the most frequent first."""

from collections.abc import Sequence
from dataclasses import dataclass

from jobs.store import FailureInfo
from jobs.terminal.numerals import counted

_NAMED = 3
"""How many articles or machines of a reason are named."""


@dataclass(frozen=True, slots=True)
class FailureReason:
    """One reason, and the failures that have it: at least one, all in one stage.

    `message` is theirs, with `'…'` for the key of the article if there are several.
    """

    stage: str
    error_class: str
    message: str
    failures: tuple[FailureInfo, ...]

    @property
    def line(self) -> str:
        """For `nws status`."""
        one = self.failures[0]
        nodes = _some(sorted({failure.node for failure in self.failures}))
        if len(self.failures) == 1:
            tried = f"({counted(one.attempts, 'attempt')}, on {nodes})"
            return f"{self.stage}, {one.dataset} {one.key}: {self.error_class}: {self.message} {tried}"
        articles = _some([f"{failure.dataset} {failure.key}" for failure in self.failures])
        many = counted(len(self.failures), "article")
        return f"{self.stage}, {many}: {self.error_class}: {self.message} ({articles}; on {nodes})"


def failure_reasons(failures: Sequence[FailureInfo]) -> list[FailureReason]:
    """The reasons of these failures, the most frequent first. The names of the articles make no difference."""
    groups: dict[tuple[str, str, str], list[FailureInfo]] = {}
    for failure in failures:
        message = failure.message.replace(repr(failure.key), "'…'")
        groups.setdefault((failure.stage, failure.error_class, message), []).append(failure)
    reasons = [
        FailureReason(stage, error_class, message if len(group) > 1 else group[0].message, tuple(group))
        for (stage, error_class, message), group in groups.items()
    ]
    return sorted(reasons, key=lambda reason: -len(reason.failures))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
