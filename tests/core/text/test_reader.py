"""Files in every format, packed or not, and what is refused of them."""

import bz2
import gzip
import json
import lzma
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.errors import CorpusError
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.reader import is_data_file, read_rows

VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=5)


@given(st.lists(VALUES, max_size=8), st.sampled_from([".jsonl", ".csv", ".parquet"]))
def test_every_row_is_read(values: list[str], suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"d{suffix}"
        if suffix == ".jsonl":
            path.write_text("".join(f"{json.dumps({'text': value})}\n\n" for value in values))
        elif suffix == ".csv":
            cells = (value.replace('"', '""') for value in values)
            path.write_text("text\n" + "".join(f'"{cell}"\n' for cell in cells), encoding="utf-8", newline="")
        else:
            pyarrow.parquet.write_table(pyarrow.table({"text": pyarrow.array(values, pyarrow.string())}), path)
        assert [row["text"] for _, row in read_rows(path)] == values


def _zstd(content: bytes) -> bytes:
    packed = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(packed, "zstd") as file:
        file.write(content)
    return packed.getvalue().to_pybytes()


PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": _zstd}


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".tsv"])
def test_a_packed_text_is_unpacked(tmp_path: Path, suffix: str, packed: str) -> None:
    path = tmp_path / f"d{suffix}{packed}"
    path.write_bytes(PACK[packed](b'{"text": "a"}' if "json" in suffix else b"text\na\n"))
    assert [row for _, row in read_rows(path)] == [{"text": "a"}]
    assert is_data_file(path.name)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("d.json", b'[{"text": "a"}, 3]', "row 2: a row must be a JSON object, not int"),
        ("d.json", b'[{"text": "a"},', "not valid JSON"),
        ("d.jsonl", b'{"text": "a"}\n\n{"text": "b", \n', r"d\.jsonl, line 3: not valid JSON \([^()]*, column 15\)\.$"),
        ("d.jsonl", b'{"text": \n', r"d\.jsonl, line 1: not valid JSON \(Expecting value, column 10\)\.$"),
        (
            "d.jsonl",
            b'{"text": "\xff"}\n',
            "line 1: not valid UTF-8 .* It may be CP1252. To convert it: iconv -f CP1252 -t UTF-8",
        ),
        ("deep.jsonl", b'{"text":' * 100_000, "line 1: not valid JSON"),
        ("d.csv", b"id,article,summary,summary \na,b,c,d\n", "has several columns 'summary'"),
        ("d.jsonl", b'{"article": "a"}\n{"article": "b", "article": "c"}\n', "line 2: .* 'article' occurs twice"),
        ("d.json", b'[["a", "b"]]', r"row 1: a row must be a JSON object, not list\. Write .* df\.to_json"),
        ("d.json", b'{"body": {"a": "x"}, "title": {"a": "y"}}', "columns cannot be told from its rows. Write"),
        ("d.json", b'{"article": ["a", "b"], "summary": ["c"]}', r"\(1 to 2 cells\)"),
        (
            "d.csv",
            "article,summary\n가나다,글\n".encode("cp949"),
            "line 2: not valid UTF-8 .* CP949. To convert it: iconv -f CP949",
        ),
        ("d.csv", b'article,summary\n"He said \\"a\\".",b\n', r'line 2: .*In a cell, write a quote as "", not \\"'),
        ("d.csv", b"article\nA, b, c.\n", "line 2: the row has 3 cells, not 1, with ',' between them"),
        ("d.xlsx", b"PK\x03\x04\x14\x00", "is a file of Excel or zip, but its name does not say so"),
        ("d.arrow", b"none at all", "not a readable Arrow file"),
        ("d.csv", b'text,summary\na,b\n"x"y,b\n', "line 3: not valid CSV"),
        ("d.csv", b'text,summary\na,b\n"unclosed,b\nmore\n', "line 3: not valid CSV"),
        ("late.csv", b"text,summary\n" + b"a,b\n" * 5000 + b"\xff,b\n", "line 5002: not valid UTF-8"),
        ("d.csv", b'text,summary\n"two\nlines",b\nonly one cell\n', "line 4: the row has 1 cells, not 2"),
        ("d.csv.gz", gzip.compress(b"text,summary\na,b,c\n", mtime=0), "line 2: the row has 3 cells"),
        ("d.parquet", b"not parquet", "not a readable Parquet"),
        ("d.parquet.gz", b"", "ends in .jsonl, .json, .csv, .tsv"),
        ("d.gz", b"", "ends in"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=said) as refused:
        list(read_rows(tmp_path / name))
    assert name in str(refused.value)


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("damage", [lambda packed: packed[:-9], lambda packed: b"no such thing"])
def test_a_packed_file_that_is_damaged_is_named(tmp_path: Path, suffix: str, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"d.jsonl{suffix}"
    path.write_bytes(damage(PACK[suffix](b"".join(b'{"text": "%d"}\n' % n for n in range(10**4)))))
    with pytest.raises(CorpusError, match=rf"d\.jsonl{suffix} cannot be read"):
        list(read_rows(path))


NOT_UTF8 = pyarrow.array([b"\xff\xfe", b"fine"]).cast(pyarrow.binary()).view(pyarrow.string())
BEFORE_ALL_DATES = pyarrow.array([-(2**31), 0], pyarrow.int32()).cast(pyarrow.date32())
AFTER_ALL_DATES = pyarrow.array([2**62, 0], pyarrow.int64()).cast(pyarrow.timestamp("us"))


@pytest.mark.parametrize("column", [NOT_UTF8, BEFORE_ALL_DATES, AFTER_ALL_DATES])
def test_only_columns_that_are_needed_are_read(tmp_path: Path, column: pyarrow.Array) -> None:
    path = tmp_path / "news.parquet"
    table = pyarrow.table({"article": ["One.", "Two."], "summary": ["1.", "2."], "printed": column})
    pyarrow.parquet.write_table(table, path)
    assert [article.text for article in open_dataset(Dataset(str(path)))] == ["One.", "Two."]
    with pytest.raises(CorpusError, match=r"news.parquet, row 1: field 'printed' cannot be read \("):
        open_dataset(Dataset(str(path), key_field="printed"))
    with pytest.raises(CorpusError, match=r"news.parquet, row 1: .*'body'; the fields are: article, summary, printed"):
        open_dataset(Dataset(str(path), text_field="body"))


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
