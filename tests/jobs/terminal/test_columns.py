import io

import pytest
from rich.console import Console

from core.errors import StoreError
from jobs.terminal.columns import ColumnSpec, as_objects, columns_of, file_rows, plain, print_rows, text


def printed(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> list[str]:
    stream = io.StringIO()
    print_rows(columns_of(columns, rows), rows, Console(file=stream, width=20))
    return stream.getvalue().splitlines()


def test_numbers_to_the_right_and_nothing_cut() -> None:
    long = "a text that no narrow terminal may cut [bold] or\nbreak"
    shown = long.replace("\n", "\\n")
    assert printed(("name", "f1", "n"), [(long, 0.123456789, 1), ("b", None, 21)]) == [
        f"{'name':<{len(shown)}}        f1   n",
        f"{'----':<{len(shown)}}        --   -",
        f"{shown}  0.123457   1",
        f"{'b':<{len(shown)}}      NULL  21",
    ]


def test_no_rows() -> None:
    assert printed(("a", "b"), []) == ["a  b", "-  -"]


def test_control_characters_cannot_reach_the_terminal() -> None:
    assert printed(("a",), [("\x1b[31mred\x07",)])[2] == r"\x1b[31mred\x07"


def test_rows_as_json_objects() -> None:
    assert as_objects(("a", "b"), [(1, float("inf")), (None, 0.5)]) == [{"a": 1, "b": None}, {"a": None, "b": 0.5}]
    with pytest.raises(StoreError, match="called 'a'"):
        as_objects(("a", "a"), [(1, 2)])


def test_a_value_for_a_file_keeps_all_its_digits() -> None:
    values = (None, 0.1234567890123, 7, "=1", b"ab", memoryview(b"abc"), {"a": ["둘"]})
    assert [plain(value) for value in values] == [
        *(None, 0.1234567890123, 7, "=1", "<2 bytes>", "<3 bytes>", '{"a": ["둘"]}')
    ]


def test_a_value_for_people_is_short_and_on_one_line() -> None:
    values = (None, 0.1234567890123, 1_234_567, "a\nb\x1b[31m", {"a": ["둘"]})
    assert [text(value) for value in values] == ["", "0.123457", "1234567", r"a\nb\x1b[31m", '{"a": ["둘"]}']
    assert text(None, "NULL") == "NULL"


def test_a_column_of_numbers_may_lack_some() -> None:
    rows = [(1, "1", None), (None, 2, 0.5)]
    assert [column.align for column in columns_of("abc", rows)] == ["right", "left", "right"]


def test_one_column_says_what_files_and_people_have() -> None:
    half: ColumnSpec[float] = ColumnSpec("half", lambda row: row / 2, "a\nhalf", lambda row: f"{row / 2:.1f}")
    twice: ColumnSpec[float] = ColumnSpec("twice", lambda row: 2 * row)
    assert list(file_rows([half, twice], [1.0, 0.3])) == [[0.5, 2.0], [0.15, 0.6]]
    column = half.column([1.0, 0.3])
    assert (column.heading, [cell.plain for cell in column.cells]) == ("a\nhalf", ["0.5", "0.1"])
    assert (twice.column([0.1]).heading, twice.cell(1 / 3).plain) == ("twice", "0.666667")
