"""docs/operations.md says what can fail, docs/security.md what is promised; each row names the tests that show it.

That the tests exist is tested with all that pages name.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"`tests/[\w/]+\.py::\w+`")


@pytest.mark.parametrize(
    ("page", "begin", "end", "fewest"),
    [
        ("security.md", "## What is promised", "## What is not promised", 10),
        ("operations.md", "### What decides a row", "## Remove runs", 11),
        ("operations.md", "\n## What can fail\n", "## Exactly once", 16),
    ],
)
def test_every_row_of_the_table_names_tests(page: str, begin: str, end: str, fewest: int) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    section = text[text.index(begin) : text.index(end)]
    table = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(table) >= fewest
    for line in table:
        assert NAMED.search(line.removesuffix(" |").rpartition(" | ")[2]), line
