import csv
import io
import re
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.errors import StoreError
from jobs.report.formats import latex_cell, latex_table, markdown_table, parquet_bytes, write_csv
from jobs.terminal.columns import columns_of

MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})
# What each command prints, as the LaTeX Companion says; groups and escapes give what they hold.
PRINTED = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textasciigrave": "`",
    "textquotesingle": "'",
}
TOKEN = re.compile(r"\\([a-z]+)\{\}|\\([&%$#_{}])|\{([\[\]*])\}|(-)(?:\{\})?|([^\\{}&%$#_~^])")


def typeset(tex: str) -> str:
    """What LaTeX prints for a cell."""
    found, at = [], 0
    while at < len(tex):
        token = TOKEN.match(tex, at)
        assert token is not None, tex[at:]
        command, *plain = token.groups()
        found.append(PRINTED[command] if command else next(filter(None, plain)))
        at = token.end()
    return "".join(found)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("é한\u2013")))
def test_every_character_is_printed_as_it_is(text: str) -> None:
    assert typeset(latex_cell(text)) == text
    assert "--" not in latex_cell(text)  # a dash
    assert not re.match(r"\s*[\[*]", latex_cell(text))  # behind \\ an argument or a star


def test_a_table_in_latex() -> None:
    rows = [("m|lexrank", -0.123456789), ("a & b\nc", None)]
    assert latex_table(columns_of(("system", "f1 (%)"), rows), rows) == (
        "\\begin{tabular}{lr}\n"
        "\\toprule\n"
        "system & f1 (\\%) \\\\\n"
        "\\midrule\n"
        "m\\textbar{}lexrank & $-$0.123457 \\\\\n"
        "a \\& b\\textbackslash{}nc &  \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("begin", [*"=+-@\t\r\n", "＝", "＋", "－", "＠"])
def test_what_a_spreadsheet_would_compute_is_text(tmp_path: Path, begin: str) -> None:
    formula = begin + 'HYPERLINK("https://x.example";"F1")'
    write_csv(tmp_path / "a.csv", columns_of(("dataset", "n"), [(formula, 7)]), [(formula, 7)])
    assert cells(tmp_path / "a.csv") == [["dataset", "n"], [f"'{formula}", "7"]]


def test_numbers_stay_numbers_and_texts_that_are_harmless_stay_as_they_are(tmp_path: Path) -> None:
    row = (-0.25, -3, None, 1e-7, "all-MiniLM-L6-v2|lexrank|chunks", "'=1", "", "a=b, c")
    write_csv(tmp_path / "a.csv", columns_of("abcdefgh", [row]), [row])
    assert cells(tmp_path / "a.csv")[1] == ["-0.25", "-3", "", "1e-07", *row[4:]]


def test_each_column_has_the_type_of_its_values() -> None:
    at = datetime(2026, 11, 22, tzinfo=UTC)
    rows = [(None, 1, "=1", at, b"\0", {"a": ["둘"]}), (7, 2.5, None, at, memoryview(b"x"), [])]
    table = pyarrow.parquet.read_table(io.BytesIO(parquet_bytes(columns_of("abcdef", rows), rows)))
    assert [str(field.type) for field in table.schema] == [
        *("int64", "double", "string", "timestamp[us, tz=UTC]", "binary", "string")
    ]
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (None, 1.0, "=1", at, b"\0", '{"a": ["둘"]}'),
        (7, 2.5, None, at, b"x", "[]"),
    ]


def test_no_rows_are_a_file_of_columns() -> None:
    assert pyarrow.parquet.read_table(io.BytesIO(parquet_bytes(columns_of(("a", "b"), []), []))).column_names == [
        "a",
        "b",
    ]


def test_what_no_reader_could_tell_apart_is_refused() -> None:
    with pytest.raises(StoreError, match="called 'a'"):
        parquet_bytes(columns_of(("a", "a"), [(1, 2)]), [(1, 2)])
    with pytest.raises(StoreError, match=r"column 'a' holds values of several types .*use CAST"):
        parquet_bytes(columns_of(("a",), [("x",), (1,)]), [("x",), (1,)])


def read(table: str) -> list[list[str]]:
    """The cells that a parser of GitHub's Markdown finds, as plain text."""
    cells: list[list[str]] = []
    for token in MARKDOWN.parse(table):
        if token.type == "tr_open":
            cells.append([])
        elif token.type == "inline":
            children = token.children or []
            assert {child.type for child in children} <= {"text", "text_special"}, children
            cells[-1].append("".join(child.content for child in children))
    return cells


@given(st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126) | st.sampled_from("é한")), min_size=2))
@example(["a|b", "\\|", "`x`", "**b**", "[a](b)", "<b>", "&amp;", "~~s~~", "# h", "1. a", "---"])
def test_a_parser_reads_every_cell_as_it_is(texts: list[str]) -> None:
    table = markdown_table(columns_of(texts, []), [texts, texts[::-1]])
    assert read(table) == [texts, texts, texts[::-1]]


def test_a_table_in_markdown() -> None:
    rows = [("m|lead", 0.123456789), ("a\nb", None)]
    assert markdown_table(columns_of(("system", "f1"), rows), rows) == (
        "| system | f1 |\n| --- | ---: |\n| m\\|lead | 0.123457 |\n| a\\\\nb |  |\n"
    )
