from decimal import Decimal

from jobs.report.table_cells import full_value, is_number, text


def test_a_value_for_a_file_keeps_all_its_digits() -> None:
    values = (None, 0.1234567890123, 7, "=1", Decimal("0.5"), b"ab", memoryview(b"abc"), {"a": ["둘"]})
    assert [full_value(value) for value in values] == [
        *(None, 0.1234567890123, 7, "=1", 0.5, "<2 bytes>", "<3 bytes>", '{"a": ["둘"]}')
    ]


def test_a_value_for_a_paper_is_short_and_on_one_line() -> None:
    values = (None, 0.1234567890123, 1_234_567, "a\nb\x1b[31m", Decimal("0.5"))
    assert [text(value) for value in values] == ["", "0.123457", "1234567", r"a\nb\x1b[31m", "0.5"]


def test_a_column_of_numbers_may_lack_some() -> None:
    rows = [(1, "1", None), (None, 2, Decimal(1))]
    assert [is_number(rows, i) for i in range(3)] == [True, False, True]
