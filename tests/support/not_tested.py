"""At the end of a test run: what was not tested, because a program or data are not installed, and what brings them.

A part of pytest's plugin in `tests/conftest.py`.
"""

from collections import Counter
from collections.abc import Iterable

import pytest

# What tests need, by how the reasons for their being skipped begin, and Debian's packages that have it.
_NEEDED = {
    "Chromium is not installed": ("Chromium", ("chromium",)),
    "WordNet's data is not here": ("WordNet", ("wordnet-base", "wordnet-sense-index")),
}


def sentences(reasons: Iterable[str]) -> list[str]:
    """What was not tested, given why each test was skipped; and one command. Nothing if nothing is missing."""
    counts = Counter(begins for reason in reasons for begins in _NEEDED if reason.startswith(begins))
    if not counts:
        return []
    packages = [package for begins in _NEEDED if begins in counts for package in _NEEDED[begins][1]]
    tests = [f"{n} test{'s' * (n > 1)} that need{'s' * (n == 1)} {_NEEDED[begins][0]}" for begins, n in counts.items()]
    return [f"Not tested: {' and '.join(tests)}.", f"To test all of it: apt-get install -y {' '.join(packages)}"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print them."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [
        str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped if isinstance(report.longrepr, tuple)
    ]
    if found := sentences(reasons):
        terminalreporter.section("not tested", yellow=True)
        for sentence in found:
            terminalreporter.line(sentence)
