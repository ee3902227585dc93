"""docs/operations.md says what can fail; each row of its table names the test that shows it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| [^|]+ \| [^|]+ \|[^|]*\| (?P<tests>`tests/[^|]+) \|$")
NAMED = re.compile(r"`(?P<file>tests/[\w/]+\.py)::(?P<name>\w+)`")


def test_every_promise_of_the_page_on_security_is_a_test_that_exists() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    promises = page[page.index("## What is promised") : page.index("## What is not promised")]
    table = [line for line in promises.splitlines() if line.startswith("|")][2:]
    assert len(table) >= 10
    for line in table:
        found = list(NAMED.finditer(line))
        assert found, line
        for test in found:
            assert f"def {test['name']}(" in (ROOT / test["file"]).read_text(encoding="utf-8"), test[0]


def test_all_that_decides_a_row_has_a_test_that_exists() -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    section = page[page.index("### What decides a row") : page.index("## Remove runs")]
    table = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(table) > 10
    for line in table:
        found = list(NAMED.finditer(line.rpartition(" | ")[2]))
        assert found, line
        for test in found:
            assert f"def {test['name']}(" in (ROOT / test["file"]).read_text(encoding="utf-8"), test[0]


def test_every_row_of_the_table_is_a_test_that_exists() -> None:
    lines = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").splitlines()
    begin = lines.index("## What can fail")
    table = [line for line in lines[begin : lines.index("## Exactly once")] if line.startswith("|")][2:]
    assert len(table) > 15
    for line in table:
        row = ROW.match(line)
        assert row is not None, line
        found = list(NAMED.finditer(row["tests"]))
        assert found, line
        for test in found:
            assert f"def {test['name']}(" in (ROOT / test["file"]).read_text(encoding="utf-8"), test[0]
