"""Rows that are not wanted are passed over, and a line is parsed as the json module parses its bytes."""

import json
import tempfile
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.errors import CorpusError
from core.text.files import LocatedRow, read_rows

VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=5)


@given(
    st.lists(VALUES, max_size=8), st.lists(st.booleans(), max_size=10), st.sampled_from([".jsonl", ".csv", ".parquet"])
)
def test_rows_that_are_not_wanted_are_passed_over(values: list[str], wanted: list[bool], suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"d{suffix}"
        if suffix == ".jsonl":
            path.write_text("".join(f"{json.dumps({'text': value})}\n\n" for value in values))
        elif suffix == ".csv":
            cells = (value.replace('"', '""') for value in values)
            path.write_text("text\n" + "".join(f'"{cell}"\n' for cell in cells), encoding="utf-8", newline="")
        else:
            pyarrow.parquet.write_table(pyarrow.table({"text": pyarrow.array(values, pyarrow.string())}), path)
        every = list(read_rows(path, lambda names: names))
        assert [row["text"] for _, row in every] == values
        asked = [*wanted, *[True] * len(every)]  # all behind the last that was asked about
        assert list(read_rows(path, lambda names: names, wanted)) == [
            row for row, is_wanted in zip(every, asked, strict=False) if is_wanted
        ]


def _rows(content: bytes) -> list[LocatedRow] | None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "d.jsonl").write_bytes(content)
        try:
            return list(read_rows(Path(folder) / "d.jsonl", lambda names: names))
        except CorpusError:
            return None


@given(
    st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.floats(allow_nan=False), st.lists(st.text()))),
    st.booleans(),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16-be", "utf-32-be"]),
)
@example({"a": "\ud83d"}, False, "utf-8")
def test_a_line_is_parsed_as_its_bytes_are(row: dict[str, object], is_ascii: bool, encoding: str) -> None:
    line = json.dumps(row, ensure_ascii=is_ascii).encode(encoding, "surrogatepass")
    if b"\n" not in line:
        assert _rows(line) == [("line 1", json.loads(line))]


@pytest.mark.parametrize("line", [b'{"a": "\xff"}', b'{"a": "\x00"}', b"{", b"\xff\xfe{", b'{"a": 1} 2'])
def test_what_is_no_json_as_bytes_is_none_as_text(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (UnicodeDecodeError and JSONDecodeError)
        json.loads(line)
    assert _rows(line) is None
