"""The same articles in the forms in which pandas, numpy, `datasets`, Excel and others write them."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pytest

from nws.core.errors import CorpusError
from nws.core.text.dataset import Dataset, has_splits, open_dataset

ROWS = [
    {"id": "a", "article": "It's a text, long; with | marks.\nTwo lines.", "summary": 'A "quoted" text.'},
    {"id": "b", "article": "The café of Hull\tcloses.", "summary": "Café closes."},
    {"id": "c", "article": "세 번째 글", "summary": "[Breaking] text [1]"},
]
FRAME = pd.DataFrame(ROWS)


def articles(path: Path, **settings: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(one.key, one.text, one.references) for one in open_dataset(Dataset(str(path), **settings))]


EXPECTED = [(row["id"], row["article"], (row["summary"],)) for row in ROWS]
FORMS: dict[str, Callable[[Path], object]] = {
    "default.jsonl": FRAME.to_json,
    "filtered.json": FRAME.set_axis([5, 2, 9]).to_json,
    "by-id.json": partial(FRAME.set_index("id").to_json, orient="index"),
    "columns-by-id.json": FRAME.set_index("id").to_json,
    "dict-of-lists.json": lambda path: path.write_text(json.dumps(FRAME.to_dict("list"))),
    "wrapped.json": lambda path: path.write_text(json.dumps({"articles": ROWS}, indent=1)),
    "cr.jsonl": lambda path: path.write_text("\r".join(map(json.dumps, ROWS)), newline=""),
    "cr.csv": partial(FRAME.to_csv, index=False, lineterminator="\r"),
    "utf-16.jsonl": lambda path: path.write_text("\n".join(map(json.dumps, ROWS)), "utf-16"),
    "utf-16.json": lambda path: path.write_text(json.dumps(ROWS, ensure_ascii=False, indent=1), "utf-16"),
    "table.feather": FRAME.to_feather,
    "saved": partial(datasets.Dataset.from_list(ROWS).save_to_disk, num_shards=2),
}
for orient in ("records", "columns", "index", "split", "table"):
    FORMS[f"{orient}.json"] = partial(FRAME.to_json, orient=orient)
    FORMS[f"indented-{orient}.json"] = partial(FRAME.to_json, orient=orient, indent=2)
for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
    for separator, name in ((",", "comma.csv"), ("\t", "tab.csv"), ("\t", "tab.tsv"), (";", "d.csv"), ("|", "bar.csv")):
        FORMS[f"{encoding}-{name}"] = partial(FRAME.to_csv, index=False, sep=separator, encoding=encoding)


@pytest.mark.parametrize("name", FORMS)
def test_a_table_is_read_in_each_form(tmp_path: Path, name: str) -> None:
    FORMS[name](tmp_path / name)
    assert articles(tmp_path / name) == EXPECTED


SPOKEN = ["It's one.", 'A "two".', "Both ' and \".", "A line\nand \\ more.", "[Three]"]


@pytest.mark.parametrize(
    ("cell", "references"),
    [
        *((str(np.array(texts, dtype=object)), texts) for texts in (SPOKEN, SPOKEN[:1], ["a " * 50, "b"] * 9)),
        (str([np.str_(text) for text in SPOKEN]), SPOKEN),
        (str(SPOKEN), SPOKEN),
        (json.dumps(SPOKEN), SPOKEN),
        (str(np.array(["a", None, float("nan")], dtype=object)), ["a"]),
        *((text, [text]) for text in ("[1] text [2]", "[… 1]", "['Twas night]", '["No" she said]', "[2.5]", "[[3]]")),
    ],
)
def test_a_list_in_a_cell_is_read_as_it_is_written(tmp_path: Path, cell: str, references: list[str]) -> None:
    pd.DataFrame({"article": [cell], "summary": [cell]}).to_csv(tmp_path / "d.csv", index=False)
    assert articles(tmp_path / "d.csv") == [("row-0", " ".join(references), tuple(references))]


CUT = str(np.array([f"n{i}" for i in range(2000)], dtype=object))
NESTED = str([["a", "b"], ["c"]]), str(np.array([["a"], ["b", "c"]], dtype=object))


@pytest.mark.parametrize("cell", [CUT, *NESTED, "['it's bad', 'b']"])
def test_a_list_that_is_cut_or_nested_is_refused_with_line_and_column(tmp_path: Path, cell: str) -> None:
    pd.DataFrame({"article": ["x y", "x"], "summary": ["z", cell]}).to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(CorpusError, match=r"d\.csv, line 3: Field 'summary' holds a list that is cut.*df\.to_json"):
        articles(tmp_path / "d.csv")


def test_fields_inside_fields_and_sentences_and_missing_references(tmp_path: Path) -> None:
    talk = [{"content": ["One.", "Two."]}, {"content": ["Said.", None, float("nan")]}]
    rows = [{"doc": {"n": 7}, "talk": talk, "doc.n": "literal"}]
    fields = {"text_field": "talk.0.content", "reference_field": "talk.-1.content", "key_field": "doc.n"}
    FRAME.from_records(rows).to_parquet(tmp_path / "d.parquet")
    (tmp_path / "d.jsonl").write_text(json.dumps(rows[0]))
    for name in ("d.jsonl", "d.parquet"):
        assert articles(tmp_path / name, **fields) == [("literal", "One. Two.", ("Said.",))]
        with pytest.raises(CorpusError, match=r"1: Field 'talk\.2\.content' is missing; the fields are: doc, talk"):
            articles(tmp_path / name, **fields | {"text_field": "talk.2.content"})


CARD = "---\nconfigs:\n- config_name: default\n  data_files:\n" + "".join(
    f"  - split: {split}\n    path: my-{split}ed.parquet\n" for split in ("train", "test")
)


@pytest.mark.parametrize("pattern", ["data/{}-00000-of-00001.parquet", "{}.parquet", "my-{}ed.parquet", "saved"])
def test_splits_of_a_folder_are_not_mixed(tmp_path: Path, pattern: str) -> None:
    folder, parts = tmp_path / "news", {"train": datasets.Dataset.from_list(ROWS)}
    parts["test"] = parts["train"].select([0, 2])
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_text(f"{CARD}---\n" if "my" in pattern else "News.")
    for name, part in parts.items():
        part.to_parquet(folder / pattern.format(name)) if pattern != "saved" else None
    if pattern == "saved":
        datasets.DatasetDict(parts).save_to_disk(folder)
    assert has_splits(str(folder))
    trained, tested = (open_dataset(Dataset(str(folder), split)) for split in parts)
    assert [(one.split, one.size) for one in (trained, tested)] == [("train", 3), ("test", 2)]
    assert open_dataset(Dataset(trained.pinned_name, "train")).revision == trained.revision != tested.revision
    assert trained.revision.startswith("sha256:")
    with pytest.raises(CorpusError, match=r"has no split 'dev'; it has: test, train\. Name one"):
        open_dataset(Dataset(str(folder), "dev"))


def test_lines_of_text_with_those_of_their_references(tmp_path: Path) -> None:
    source, target = tmp_path / "test.source", tmp_path / "test.target"
    source.write_text("One text.\r\nAnother\u2028text.\n\nThe last.")
    target.write_text("1.\n2.\n\n4.\n")
    found = articles(source, references_file=str(target))
    assert [(key, references) for key, _, references in found] == [
        *(("row-0", ("1.",)), ("row-1", ("2.",)), ("row-2", ()), ("row-3", ("4.",)))
    ]
    opened = open_dataset(Dataset(str(source), limit=2, references_file=str(target)))
    target.write_text("1.\n2.\n3.\n4.\n")
    with pytest.raises(CorpusError, match=r"SHA-256 of test\.target differs"):
        opened.require_unchanged()
    assert open_dataset(Dataset(str(source), limit=2, references_file=str(target))).revision != opened.revision
    target.write_text("1.\n2.\n3.\n")
    with pytest.raises(CorpusError, match=r"test\.source has 4 rows, but .*test\.target has 3 lines"):
        articles(source, references_file=str(target))
