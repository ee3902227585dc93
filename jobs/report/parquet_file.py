"""The answer to a query as a Parquet file."""

import io
import json
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet

from core.errors import StoreError


def parquet_bytes(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """The rows as a Parquet file, each column of the type that its values have; JSON as its text.

    Raises:
        StoreError: two columns have the same name, or one holds values of two types.
    """
    arrays = []
    for i, name in enumerate(columns):
        if columns.count(name) > 1:
            raise StoreError(f"two columns are called {name!r}: name one of them with AS")
        try:
            arrays.append(pa.array([_plain(row[i]) for row in rows]))
        except pa.ArrowException as error:
            raise StoreError(f"the column {name!r} holds values of several types ({error}): use CAST") from error
    file = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(arrays, names=list(columns)), file, compression="zstd")
    return file.getvalue()


def _plain(value: object) -> object:
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return float(value) if isinstance(value, Decimal) else value
