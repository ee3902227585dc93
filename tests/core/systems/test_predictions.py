import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from documents import document, no_anchor, no_reference

from nws.core.article import Article
from nws.core.errors import CorpusError, RecipeError, SegmentationError
from nws.core.systems import predictions
from nws.core.systems.predictions import Predictions, PredictionsSpec, parse_predictions, read_predictions
from nws.core.systems.system import Document, Draft, Stored, SummarizedArticle
from nws.core.text.length import UNCUT
from nws.core.text.segmentation import unsegmented


def written(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_rows_become_texts_by_key_on_one_line(tmp_path: Path) -> None:
    rows = [{"id": "a", "prediction": "One \n two\0."}, {"id": 7, "prediction": "seven", "model": "mine"}]
    path = written(tmp_path / "mine.jsonl", *rows)
    (found,) = read_predictions(path, "mine")
    assert found.texts == {"a": "One two\ufffd.", "7": "seven"}
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (found.signature, found.kind) == ("mine", "system")
    assert repr(found) == f"Predictions(name='mine', sha256='{found.sha256}')"  # what reuse compares


def batch(body: object) -> dict[str, object]:
    return {"id": "r", "custom_id": "a", "response": {"status_code": 200, "body": body}, "error": None}


PARTS = [{"type": "text", "text": "One two."}]


@pytest.mark.parametrize(
    ("row", "named"),
    [
        (batch({"choices": [{"message": {"content": "One two."}}]}), {}),
        (batch({"choices": [{"message": {"content": PARTS}}]}), {}),
        (batch({"choices": [{"text": "One two."}]}), {}),
        (batch({"output": [{"type": "reasoning", "summary": []}, {"type": "message", "content": PARTS}]}), {}),
        ({"custom_id": "a", "result": {"type": "succeeded", "message": {"content": PARTS}}}, {}),
        ({"doc_id": 0, "doc": {"id": "a"}, "resps": [["One two. So"]], "filtered_resps": ["One two."]}, {}),
        ({"doc_id": "a", "doc": {}, "resps": [["One two."]], "filtered_resps": [["One two."]]}, {}),
        ({"id": "b", "prediction": "no", "my": {"id": "a", "told": ["no", "One two."]}},
         {"id": "my.id", "prediction": "my.told.-1"}),
    ],
)  # fmt: skip
def test_predictions_stand_where_other_tools_put_them(
    tmp_path: Path, row: dict[str, object], named: dict[str, str]
) -> None:
    path = written(tmp_path / "mine.jsonl", row)
    assert [found.texts for found in read_predictions(path, "mine", named)] == [{"a": "One two."}]
    with pytest.raises(CorpusError, match=r"mine\.jsonl, line 1: Field 'my\.text' is missing; the fields are:"):
        read_predictions(path, "mine", {"prediction": "my.text"})


def test_each_value_of_the_field_system_is_a_system_unless_there_is_only_one(tmp_path: Path) -> None:
    rows = [{"id": i, "prediction": f"By {name}.", "system": name} for name in ("bart", 7) for i in ("a", "b")]
    found = read_predictions(written(tmp_path / "both.jsonl", *rows), "both")
    assert {one.name: one.texts for one in found} == {
        "bart": {"a": "By bart.", "b": "By bart."},
        "7": {"a": "By 7.", "b": "By 7."},
    }
    (alone,) = read_predictions(written(tmp_path / "one.jsonl", *rows[:2], {"id": "c", "prediction": ""}), "one")
    assert (alone.name, [*alone.texts]) == ("one", ["a", "b", "c"])
    with pytest.raises(CorpusError, match=r"gap\.jsonl, line 5: Field 'system' is missing"):
        read_predictions(written(tmp_path / "gap.jsonl", *rows, {"id": "c", "prediction": ""}), "gap")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "a", "prediction": "x"}, {"prediction": "x"}], r"line 2: Field 'id' is missing; .*: prediction\.$"),
        ([{"id": "a", "prediction": "x"}, {"id": "b", "prediction": "y"}, {"id": "a", "prediction": "z"}],
         r"line 3: line 1 has the id 'a', too"),
        ([{"id": "a", "prediction": 3}], r"line 1: Field 'prediction' holds 3, not text"),
        ([{"id": None, "prediction": "x"}], r"line 1: Field 'id' holds nothing, not a text or a number"),
        ([{"id": "r", "custom_id": "a", "response": None, "error": {}}], r"has no prediction"),  # the request failed
        ([{"id": "a", "prediction": "w " * 3001}], r"line 1: A summary has 3001 words; at most 3000"),
        ([], r"has no prediction"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, rows: list[object], message: str) -> None:
    with pytest.raises((CorpusError, SegmentationError), match=rf"mine\.jsonl.*{message}"):
        read_predictions(written(tmp_path / "mine.jsonl", *rows), "mine")


def test_a_system_is_called_after_its_file_or_as_one_says() -> None:
    assert parse_predictions("out/gpt-4.1.jsonl") == PredictionsSpec("gpt-4.1", "out/gpt-4.1.jsonl")
    assert parse_predictions("llm=out/a=b.jsonl") == PredictionsSpec("llm", "out/a=b.jsonl")
    for name in ("", "policy|mine", "two words", "x" * 101):
        with pytest.raises(RecipeError, match=r"cannot be called .*: .* name=file"):
            PredictionsSpec(name, "mine.jsonl")


def test_the_text_is_kept_and_cut_to_each_length() -> None:
    drafts = Predictions("mine", "0" * 64, {"k": "One two, three."}).summarize(document(), [1, 2, 9])
    expected = [(UNCUT, "One two, three."), (1, "One"), (2, "One two,"), (9, "One two, three.")]
    assert [(draft.n, draft.text) for draft in drafts] == expected
    with pytest.raises(CorpusError, match="The predictions of mine have none for article '"):
        Predictions("mine", "0" * 64, {"another": "text"}).summarize(document(), [3])


def test_thoughts_are_left_out_and_nothing_is_an_empty_summary(tmp_path: Path) -> None:
    raw = "<think>\nHm.\n</think>\n\n**Two** words."
    rows = [{"id": "a", "prediction": raw}, {"id": "b", "prediction": None}, {"id": "c", "prediction": "<think>Hm"}]
    path = written(tmp_path / "mine.jsonl", *rows, '{"id": "d", "prediction": NaN}')
    (found,) = read_predictions(path, "mine")
    assert (found.texts, found.signature) == ({"a": "**Two** words.", "b": "", "c": None, "d": ""}, "mine")
    drafts = replace(found, texts={"k": found.texts["a"]}, raw={"k": found.raw["a"]}).summarize(document(), [1])
    assert [(draft.text, draft.extra) for draft in drafts] == [("**Two** words.", {"raw_text": raw}), ("**Two**", {})]
    with pytest.raises(CorpusError, match="'k' ends within its thoughts: raise the limit of tokens"):
        replace(found, texts={"k": None}).summarize(document(), [1])
    (kept,) = read_predictions(path, "mine", clean_outputs=())
    assert (kept.texts["c"], kept.raw, kept.signature) == ("<think>Hm", {}, "mine|clean_outputs=none")
    (kept,) = read_predictions(path, "mine", clean_outputs=("markup",))
    assert kept.signature == "mine|clean_outputs=markup"


def test_a_file_that_is_written_to_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "x.jsonl", {"id": "1", "prediction": "A word."})

    def rows(*_: object) -> Iterator[tuple[str, dict[str, str]]]:
        path.write_bytes(path.read_bytes() * 2)
        yield "line 1", {"id": "1", "prediction": "Another word."}

    monkeypatch.setattr(predictions, "read_rows", rows)
    with pytest.raises(CorpusError, match="was changed while it was read"):
        read_predictions(path, "mine")


def test_what_a_run_has_stored_is_written_again_with_all_draws() -> None:
    drafts = (("lead", Draft(3, "the first")), ("random", Draft(3, "a b", ("d e",))), ("lead", Draft(0, "all")))
    article = SummarizedArticle("d", "all", "1", "The first words of it.", ("Words.",), drafts)
    plain = Article("d", "all", "1", "The first words of it.", ("Words.",))
    stored, other = (Document(unsegmented(of), {}, no_reference, no_anchor) for of in (article, plain))
    assert Stored("lead").summarize(stored, [7]) == [drafts[0][1], drafts[2][1]]
    assert Stored("random").summarize(stored, [7]) == [drafts[1][1]]
    assert Stored("lead").summarize(other, [7]) == []
    assert (article.id, article.content_hash) == (plain.id, plain.content_hash)
