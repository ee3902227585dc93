"""Tables that were joined, cut or written in another way: read, or refused for their cause."""

import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from nws.core.errors import CorpusError
from nws.core.text.reader import read_rows
from nws.core.text.rows import LINE

ROWS = [{"id": "a", "article": "Snow fell.", "summary": "Snow."}, {"id": "b", "article": "Rain.", "summary": "Rain."}]


def read(path: Path, text: str) -> list[dict[str, object]]:
    path.write_text(text, newline="")
    return [row for _, row in read_rows(path)]


@pytest.mark.parametrize(
    "again", ["id,article\n", "article, id\r\n", "\ufeffid,article\n", '"id","article"\n', '\ufeff"id","article"\n']
)
def test_a_header_that_comes_again_is_named(tmp_path: Path, again: str) -> None:
    with pytest.raises(CorpusError, match=r"d\.csv, line 3: the header is repeated"):
        read(tmp_path / "d.csv", f"id,article\na,Snow fell.\n{again}b,Rain fell.\n")
    assert read(tmp_path / "d.csv", "id,article\nid,Rain fell.\n") == [{"id": "id", "article": "Rain fell."}]


@pytest.mark.parametrize(("separator", "name"), [("\t", "d.tsv"), ("|", "d.csv")])
def test_a_quote_that_swallows_rows_is_named(tmp_path: Path, separator: str, name: str) -> None:
    rows = ["id\tarticle\tsummary", "a\tSnow.\tSnow.", 'b\t"Rain fell.\tRain.', 'c\tFog."\tFog.', "d\tSun.\tSun."]
    with pytest.raises(CorpusError, match=rf"{name}, line 3: a quote opens a cell that has several lines"):
        read(tmp_path / name, "\n".join(rows).replace("\t", separator))


def test_a_quoted_cell_of_several_lines_is_one_text(tmp_path: Path) -> None:
    whole = 'id\tarticle\tsummary\na\t"Snow\tfell.\nRain\tfell.\nFog."\tSnow.\n'
    assert read(tmp_path / "d.tsv", whole)[0]["article"] == "Snow\tfell.\nRain\tfell.\nFog."


def test_lines_of_fairseq_are_put_in_order(tmp_path: Path) -> None:
    lines = "H-10\t-0.5\tTen.", "H-2\t-1.25e-05\tTwo\tparts.", "H-1\t-0.1\tOne."
    assert [row[LINE] for row in read(tmp_path / "f.txt", "\n".join(lines))] == ["One.", "Two\tparts.", "Ten."]
    assert [row[LINE] for row in read(tmp_path / "t.txt", "T-1\tB.\nT-0\tA.\n")] == ["A.", "B."]
    for wrong, place in (("H-2\t-0.1\tAgain.", 4), ("S-2\tSource.", 4), ("Generate test", 4)):
        with pytest.raises(CorpusError, match=rf"f\.txt, line {place}: .*fairseq"):
            read(tmp_path / "f.txt", "\n".join((*lines, wrong)))


def test_a_lone_carriage_return_ends_no_line_among_others(tmp_path: Path) -> None:
    assert [row[LINE] for row in read(tmp_path / "r.txt", "A.\rB.\nC.\n")] == ["A.\rB.", "C."]
    assert [row[LINE] for row in read(tmp_path / "r.txt", "A.\rB.\r")] == ["A.", "B."]
    with pytest.raises(CorpusError, match=r"d\.csv, line 2: .*carriage return") as refused:
        read(tmp_path / "d.csv", "id,article\na,Snow fell.\rRain fell.\nb,Fog.\n")
    assert "not valid" not in str(refused.value)


@pytest.mark.parametrize("kind", [pyarrow.binary(), pyarrow.large_binary()])
def test_texts_stored_as_bytes_are_read(tmp_path: Path, kind: pyarrow.DataType) -> None:
    columns = {
        "id": pyarrow.array([b"a", b"b"], kind),
        "article": pyarrow.array(["Schnee läg.".encode(), b"\xff"], kind),
        "references": pyarrow.array([[b"Schnee.", None], None], pyarrow.list_(kind)),
        "missing": pyarrow.array([None, None], pyarrow.list_(kind)),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "b.parquet")
    rows = read_rows(tmp_path / "b.parquet")
    assert next(rows)[1] == {"id": "a", "article": "Schnee läg.", "references": ["Schnee.", None], "missing": None}
    with pytest.raises(CorpusError, match=r"b\.parquet, row 2: field 'article' cannot be read"):
        next(rows)


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("between", ["\n", "", "\n\n"])
@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_objects_one_after_another_are_rows(tmp_path: Path, name: str, between: str, indent: int | None) -> None:
    text = between.join(json.dumps(row, indent=indent) for row in ROWS)
    assert read(tmp_path / name, text) == ROWS
    with pytest.raises(CorpusError, match=rf"{name}, line \d+: not valid JSON"):
        read(tmp_path / name, text + '\n{"id": ')


@pytest.mark.parametrize("text", ['{"data": [\n%s,\n%s\n]}', '{"data":\n [%s, %s]}'])
def test_a_list_by_its_name_may_have_several_lines(tmp_path: Path, text: str) -> None:
    assert read(tmp_path / "d.json", text % tuple(map(json.dumps, ROWS))) == ROWS


def test_lists_of_sentences_in_json_lines_are_one_row(tmp_path: Path) -> None:
    row = {"article": ["Snow fell.", "Schools closed."], "summary": ["A.", "B."]}
    line = json.dumps(row) + "\n"
    assert read(tmp_path / "d.jsonl", line) == [row]
    assert read(tmp_path / "d.jsonl", line * 2) == [row, row]
    assert read(tmp_path / "d.jsonl", json.dumps({**row, "summary": ["A."]})) == [{**row, "summary": ["A."]}]
    assert len(read(tmp_path / "d.json", line)) == 2  # a table of columns


def test_rows_that_do_not_fit_their_columns_are_named(tmp_path: Path) -> None:
    table = {"columns": ["id", "article"], "index": [5, 7], "data": [["a", "Snow."], ["b"]]}
    with pytest.raises(CorpusError, match=r"d\.json holds a table of 2 columns, but row 2 has more or fewer"):
        read(tmp_path / "d.json", json.dumps(table))
    with pytest.raises(CorpusError, match=r"d\.json holds .*, but row 2 has more or fewer cells, or no label"):
        read(tmp_path / "d.json", json.dumps({**table, "index": [5]}))
