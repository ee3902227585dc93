"""Garbage for fuzzing: texts, bytes, files and recipes that somebody might hand in by mistake, or on purpose."""

import json
import random
import string
from collections.abc import Sequence
from pathlib import Path

import pyarrow
import pyarrow.parquet

ALPHABETS = (
    string.ascii_letters + "     .,\n",
    string.printable,
    "()[]{}<>\"'`“”‘’«»-–—_=*#@%&/\\|~^…·•!?.,:; ab1",
    "가나다라마바사아자 .,\n안녕하세요",
    "\0\x01\x07\x08\x1b\x7f\x85\x9b\xa0\u200b\u200d\u2028\u2029\u202e\ufeff\ufffd a",
    "é\u0301\u0300ñ한\u1112\u1161\u11ab😀👩\u200d👩🏽‍🚀 𝔘𝔫𝔦 ﷺ ﬁ Ⅷ ½ ٣ ａ",
    "\ud800\udcff\udfff a",
    "0123456789+-.eE_,∞",
    "абвгд ヲンあいう 中文字 עברית عربي ไทย",
)
WORDS = (
    "",
    " ",
    "0",
    "-1",
    "1e999",
    "nan",
    "inf",
    "null",
    "true",
    "None",
    "9" * 30,
    "9" * 5000,
    "n" * 5000,
    "../..",
    "/",
    "~",
    "*",
)
VALUES = (None, True, 0, -1, 10**30, 1.5, "", " ", [], {}, [[]], [None], {"a": {}}, "[" * 3000 + "]" * 3000, "['a', 1]")


def text(draw: random.Random, longest: int = 400) -> str:
    """Text of one alphabet or of several."""
    alphabet = draw.choice(ALPHABETS) + (draw.choice(ALPHABETS) if draw.random() < 0.3 else "")
    found = "".join(draw.choices(alphabet, k=draw.randrange(longest)))
    return found * draw.choice((1, 1, 1, 1, 20))


def word(draw: random.Random) -> str:
    """A value of an option, or a name."""
    return draw.choice(WORDS) if draw.random() < 0.5 else text(draw, 30)


def mutated(draw: random.Random, content: bytes) -> bytes:
    """The bytes with some of them changed, cut out, doubled or put in."""
    found = bytearray(content)
    for _ in range(draw.choice((0, 1, 1, 2, 10))):
        start = draw.randrange(len(found) + 1)
        end = min(len(found), start + draw.choice((1, 1, 4, 50)))
        piece = bytes(found[start:end])
        found[start:end] = draw.choice(
            (b"", piece + piece, draw.randbytes(len(piece)), b"\xff", b"\0", b'"', b"[" * 2000, b"\n", b"*a", b": ")
        )
    return bytes(found)


def rows(draw: random.Random) -> list[dict[str, object]]:
    """Rows of a dataset or of predictions, some fields missing or of another type."""
    names = (
        "id",
        "article",
        "text",
        "highlights",
        "summary",
        "references",
        "prediction",
        "reference",
        "source",
        "x\x1b",
    )
    found: list[dict[str, object]] = []
    for number in range(draw.randrange(4)):
        row: dict[str, object] = {name: text(draw) for name in names if draw.random() < 0.7}
        row["id"] = number
        if draw.random() < 0.3:
            row[draw.choice(names)] = draw.choice(VALUES)
        found.append(row)
    return found


def data_file(draw: random.Random, folder: Path) -> Path:
    """A JSONL, CSV or Parquet file, whole or damaged."""
    kind = draw.choice(("jsonl", "csv", "parquet"))
    path = folder / f"fuzz.{kind}"
    if kind == "parquet":
        pyarrow.parquet.write_table(_table(draw), path, compression=draw.choice(("none", "zstd", "snappy")))
        content = path.read_bytes()
    elif kind == "jsonl":
        content = "\n".join(json.dumps(row) for row in rows(draw)).encode()
    else:
        cells = [["id", "article", "summary"], *([text(draw, 50) for _ in range(3)] for _ in range(draw.randrange(4)))]
        content = "\r\n".join(",".join(map(json.dumps, line)) for line in cells).encode()
    path.write_bytes(mutated(draw, content) if draw.random() < 0.7 else content)
    return path


def _table(draw: random.Random) -> pyarrow.Table:
    size = draw.randrange(4)
    columns: Sequence[pyarrow.Array] = (
        pyarrow.array([text(draw).encode("utf-8", "replace").decode() for _ in range(size)], pyarrow.string()),
        pyarrow.array([draw.randbytes(9) for _ in range(size)], pyarrow.binary()).view(pyarrow.string()),
        pyarrow.array([draw.randrange(-(2**31), 2**31) for _ in range(size)], pyarrow.int32()).cast(pyarrow.date32()),
        pyarrow.array([[] for _ in range(size)], pyarrow.list_(pyarrow.string())),
        pyarrow.array([None] * size, pyarrow.string()),
        pyarrow.array([draw.randrange(2**63) for _ in range(size)], pyarrow.int64()).view(pyarrow.duration("ns")),
    )
    names = ("article", "summary", "id", "printed", "reference", "prediction")
    return pyarrow.Table.from_arrays([draw.choice(columns) for _ in names], names=list(names))


def recipe(draw: random.Random, bundled: Sequence[Path]) -> bytes:
    """A bundled recipe with wrong values or damaged bytes."""
    lines = draw.choice(bundled).read_text(encoding="utf-8").splitlines()
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(lines))
        key, colon, _ = lines[at].partition(":")
        lines[at] = (
            f"{key}{colon} {draw.choice((word(draw), json.dumps(draw.choice(VALUES)), '2024-99-99', '*a', '!!x'))}"
        )
    return mutated(draw, "\n".join(lines).encode("utf-8", "surrogatepass"))
