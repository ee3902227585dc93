import io
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow.parquet
import pytest

from core.errors import StoreError
from jobs.report.parquet_file import parquet_bytes


def test_each_column_has_the_type_of_its_values() -> None:
    at = datetime(2026, 11, 22, tzinfo=UTC)
    rows = [(None, 1, "=1", at, b"\0", {"a": ["둘"]}, Decimal("0.5")), (7, 2.5, None, at, memoryview(b"x"), [], None)]
    table = pyarrow.parquet.read_table(io.BytesIO(parquet_bytes("abcdefg", rows)))
    assert [str(field.type) for field in table.schema] == [
        *("int64", "double", "string", "timestamp[us, tz=UTC]", "binary", "string", "double")
    ]
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (None, 1.0, "=1", at, b"\0", '{"a": ["둘"]}', 0.5),
        (7, 2.5, None, at, b"x", "[]", None),
    ]


def test_no_rows_are_a_file_of_columns() -> None:
    assert pyarrow.parquet.read_table(io.BytesIO(parquet_bytes(("a", "b"), []))).column_names == ["a", "b"]


def test_what_no_reader_could_tell_apart_is_refused() -> None:
    with pytest.raises(StoreError, match="called 'a'"):
        parquet_bytes(("a", "a"), [(1, 2)])
    with pytest.raises(StoreError, match=r"column 'a' holds values of several types .*use CAST"):
        parquet_bytes(("a",), [("x",), (1,)])
