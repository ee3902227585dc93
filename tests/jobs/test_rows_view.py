import io

from rich.console import Console

from jobs.rows_view import print_rows


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
