"""docs/operations.md says what can fail, docs/security.md what is promised; each row names the tests that show it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"`(?P<file>tests/[\w/]+\.py)::(?P<name>\w+)`")


@pytest.mark.parametrize(
    ("page", "begin", "end", "fewest"),
    [
        ("security.md", "## What is promised", "## What is not promised", 10),
        ("operations.md", "### What decides a row", "## Remove runs", 11),
        ("operations.md", "\n## What can fail\n", "## Exactly once", 16),
    ],
)
def test_every_row_of_the_table_names_tests_that_exist(page: str, begin: str, end: str, fewest: int) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    section = text[text.index(begin) : text.index(end)]
    table = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(table) >= fewest
    for line in table:
        found = list(NAMED.finditer(line.removesuffix(" |").rpartition(" | ")[2]))
        assert found, line
        for test in found:
            assert f"def {test['name']}(" in (ROOT / test["file"]).read_text(encoding="utf-8"), test[0]
