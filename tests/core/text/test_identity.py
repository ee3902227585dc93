"""Which rows are one article: exact repeats, several references in several rows, and ids in every form."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nws.core.errors import CorpusError
from nws.core.text.dataset import Dataset, OpenDataset, open_dataset

SNOW = {"article": "Snow fell all night in Hull.", "summary": "Snow in Hull."}
FERRY = {"article": "The ferry to Ansholm gets a second ship.", "summary": "A second ship."}


def opened(path: Path, *rows: dict[str, Any], **settings: Any) -> OpenDataset:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return open_dataset(Dataset(str(path), **settings))


def told(corpus: OpenDataset) -> list[tuple[str, tuple[str, ...]]]:
    return [(article.key, article.references) for article in corpus]


@pytest.mark.parametrize("ids", [("a", "a", "b", "a"), (None,) * 4])
def test_exact_repeats_are_left_out_with_and_without_an_id(tmp_path: Path, ids: tuple[str | None, ...]) -> None:
    rows = [text | ({"id": key} if key else {}) for text, key in zip((SNOW, SNOW, FERRY, SNOW), ids, strict=True)]
    corpus = opened(tmp_path / "d.jsonl", *rows)
    assert (corpus.size, corpus.repeats) == (2, 2)
    assert [key for key, _ in told(corpus)] == (["a", "b"] if ids[0] else ["row-0", "row-2"])


def test_the_same_text_stays_several_articles_under_other_ids_or_with_other_references(tmp_path: Path) -> None:
    other = SNOW | {"summary": "It snowed."}
    assert opened(tmp_path / "no-id.jsonl", SNOW, other).size == 2
    assert opened(tmp_path / "ids.jsonl", SNOW | {"id": "a"}, SNOW | {"id": "b"}).size == 2


def test_rows_of_one_id_are_one_article_with_the_references_of_all(tmp_path: Path) -> None:
    rows = [SNOW | {"id": 1}, SNOW | {"id": 1, "summary": "It snowed."}, SNOW | {"id": 1}, FERRY | {"id": 2}]
    corpus = opened(tmp_path / "d.jsonl", *rows)
    assert told(corpus) == [("1", ("Snow in Hull.", "It snowed.")), ("2", ("A second ship.",))]
    assert (corpus.repeats, corpus.positions.tolist(), corpus.fewest_references) == (1, [0, 3], 1)
    cut = open_dataset(Dataset(str(tmp_path / "d.jsonl"), limit=1))
    assert told(cut) == told(corpus)[:1]
    assert [*corpus.read(corpus.positions > 0)] == [*corpus][1:]


@pytest.mark.parametrize(
    "again", [SNOW | {"article": "Another text of some words."}, FERRY, SNOW | {"summary": "It snowed."}]
)
def test_an_id_of_two_articles_is_refused(tmp_path: Path, again: dict[str, str]) -> None:
    rows = SNOW | {"id": "a"}, FERRY | {"id": "b"}, again | {"id": "a"}
    with pytest.raises(CorpusError, match=r"d\.jsonl, line 3: an earlier row has the id 'a'") as refused:
        opened(tmp_path / "d.jsonl", *rows)
    assert refused.value.settings == ("key_field",)
    if again["article"] != SNOW["article"]:  # also where the rows follow each other
        with pytest.raises(CorpusError, match=r"d\.jsonl, line 2: an earlier row has the id 'a'"):
            opened(tmp_path / "d.jsonl", rows[0], rows[2])


def test_a_limit_that_ends_with_a_file_has_the_revision_of_that_file(tmp_path: Path) -> None:
    for name, text in (("a.jsonl", SNOW), ("b.jsonl", FERRY)):
        (tmp_path / name).write_text(json.dumps(text | {"id": name}))
    whole, first = (open_dataset(Dataset(f"{tmp_path}/", limit=limit)) for limit in (None, 1))
    assert first.revision == whole.part_revision(1) == open_dataset(Dataset(str(tmp_path / "a.jsonl"))).revision


def test_an_id_is_the_same_in_every_format(tmp_path: Path) -> None:
    ids: dict[str, list[Any]] = {
        "whole.jsonl": [1, 12345678901234567],
        "float.jsonl": [1.0, 12345678901234567],
        "text.jsonl": ["1", "12345678901234567 "],
        "float-text.csv": [" 1.0", "12345678901234567.0"],
        "whole.parquet": [1, 12345678901234567],
    }
    for name, column in ids.items():
        frame = pd.DataFrame([SNOW, FERRY]).assign(id=pd.Series(column, dtype=object if "jsonl" in name else None))
        if name.endswith("parquet"):
            frame.to_parquet(tmp_path / name)
        elif name.endswith("csv"):
            frame.to_csv(tmp_path / name, index=False)
        else:
            frame.to_json(tmp_path / name, orient="records", lines=True)
        keys = [key for key, _ in told(open_dataset(Dataset(str(tmp_path / name))))]
        assert (name, keys) == (name, ["1", "12345678901234567"])
    pd.DataFrame([SNOW | {"id": 7.0}]).to_parquet(tmp_path / "float.parquet")
    assert told(open_dataset(Dataset(str(tmp_path / "float.parquet")))) == [("7", ("Snow in Hull.",))]


@pytest.mark.parametrize("empty", ["", "  ", None, float("nan")])
def test_an_empty_id_is_refused(tmp_path: Path, empty: object) -> None:
    with pytest.raises(CorpusError, match=r"d\.jsonl, line 1: Field 'id' holds .*, not a text or a number"):
        opened(tmp_path / "d.jsonl", SNOW | {"id": empty})
