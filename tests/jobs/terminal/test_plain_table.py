import io

import pytest
from rich.console import Console

from core.errors import StoreError
from jobs.terminal.plain_table import as_objects, print_rows


def printed(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> list[str]:
    stream = io.StringIO()
    print_rows(columns, rows, Console(file=stream, width=20))
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
