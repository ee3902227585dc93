import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from nws.core.errors import StoreError
from nws.jobs.report.table import MISSING, Cell, Table, latex_cell, shown, write_csv

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
    assert Table(("system", "f1 (%)"), rows).latex() == (
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
    write_csv(tmp_path / "a.csv", Table(("dataset", "n"), [(formula, 7)]))
    assert cells(tmp_path / "a.csv") == [["dataset", "n"], [f"'{formula}", "7"]]


def test_numbers_stay_numbers_and_texts_that_are_harmless_stay_as_they_are(tmp_path: Path) -> None:
    row = (-0.25, -3, None, 1e-7, "all-MiniLM-L6-v2|lexrank|chunks", "'=1", "", "a=b, c")
    write_csv(tmp_path / "a.csv", Table("abcdefgh", [row]))
    assert cells(tmp_path / "a.csv")[1] == ["-0.25", "-3", "", "1e-07", *row[4:]]


def printed(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> list[str]:
    stream = io.StringIO()
    Table(columns, rows).print_lines(Console(file=stream, width=20))
    return stream.getvalue().splitlines()


def test_numbers_to_the_right_and_nothing_cut() -> None:
    long = "a text that no narrow terminal may cut [bold] or\nbreak"
    escaped = long.replace("\n", "\\n")
    assert printed(("name", "f1", "n"), [(long, 0.123456789, 1), ("b", None, 21)]) == [
        f"{'name':<{len(escaped)}}        f1   n",
        f"{'----':<{len(escaped)}}        --   -",
        f"{escaped}  0.123457   1",
        f"{'b':<{len(escaped)}}      NULL  21",
    ]
    assert printed(("a", "b"), []) == ["a  b", "-  -"]


def test_rows_as_json_objects() -> None:
    assert Table(("a", "b"), [(1, float("inf")), (None, 0.5)]).objects() == [{"a": 1, "b": None}, {"a": None, "b": 0.5}]
    with pytest.raises(StoreError, match="called 'a'"):
        Table(("a", "a"), [(1, 2)]).objects()


def test_a_value_for_people_is_short_and_on_one_line() -> None:
    values = (None, 0.1234567890123, 1_234_567, "a\nb\x1b[31m", {"a": ["둘"]})
    assert [shown(value) for value in values] == ["", "0.123457", "1234567", r"a\nb\x1b[31m", '{"a": ["둘"]}']
    assert shown(None, "NULL") == "NULL"


def test_a_paper_has_marks_and_intervals_in_its_own_way() -> None:
    cells = (Cell("-.432", "±.012", "*"), Cell(".4", mark="°"), Cell("9", "8–>21"), Cell(">21"), MISSING)
    assert [latex_cell(cell) for cell in cells] == [
        *(r"\textbf{$-$.432}$_{\pm.012}$", r".4$^{\circ}$", "9 (8--$>$21)", "$>$21", "--")
    ]
