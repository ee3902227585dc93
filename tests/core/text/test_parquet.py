from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from core.errors import CorpusError
from core.text.dataset import Dataset, open_dataset

NOT_UTF8 = pyarrow.array([b"\xff\xfe", b"fine"]).cast(pyarrow.binary()).view(pyarrow.string())
BEFORE_ALL_DATES = pyarrow.array([-(2**31), 0], pyarrow.int32()).cast(pyarrow.date32())
AFTER_ALL_DATES = pyarrow.array([2**62, 0], pyarrow.int64()).cast(pyarrow.timestamp("us"))


def write(path: Path, **columns: object) -> Path:
    pyarrow.parquet.write_table(pyarrow.table({"article": ["One.", "Two."], "summary": ["1.", "2."], **columns}), path)
    return path


@pytest.mark.parametrize("column", [NOT_UTF8, BEFORE_ALL_DATES, AFTER_ALL_DATES])
def test_only_columns_that_are_needed_are_read(tmp_path: Path, column: pyarrow.Array) -> None:
    path = write(tmp_path / "news.parquet", printed=column)
    assert [article.text for article in open_dataset(Dataset(str(path)))] == ["One.", "Two."]
    with pytest.raises(CorpusError, match=r"news.parquet, row 1: field 'printed' cannot be read \("):
        open_dataset(Dataset(str(path), key_field="printed"))


def test_a_field_that_is_not_there_is_named_beside_those_that_are(tmp_path: Path) -> None:
    path = write(tmp_path / "news.parquet", printed=NOT_UTF8)
    with pytest.raises(CorpusError, match=r"news.parquet, row 1: .*'body'; the fields are: article, summary, printed"):
        open_dataset(Dataset(str(path), text_field="body"))


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "news.parquet"
    table = pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 3, names=["article", "article", "summary"])
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(CorpusError, match="several columns 'article'"):
        open_dataset(Dataset(str(path)))


@pytest.fixture
def memory() -> Iterator[pyarrow.MemoryPool]:
    """What Arrow takes from here on."""
    usual = pyarrow.default_memory_pool()
    counted = pyarrow.proxy_memory_pool(usual)
    yield counted
    pyarrow.set_memory_pool(usual)


def test_one_long_article_again_and_again_is_read_with_bounded_memory(
    tmp_path: Path, memory: pyarrow.MemoryPool
) -> None:
    path = tmp_path / "bomb.parquet"
    texts = pyarrow.array(["word " * 4_000_000])
    repeated = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 256, pyarrow.int32()), texts)
    table = pyarrow.table({"article": repeated, "summary": ["x"] * 256, "id": list(map(str, range(256)))})
    pyarrow.parquet.write_table(table, path, compression="zstd")
    pyarrow.set_memory_pool(memory)
    (article,) = open_dataset(Dataset(str(path), limit=1))
    assert len(article.text) == 20_000_000
    assert memory.max_memory() < 300_000_000  # of all 256 it is 5 GB
