"""Scores from Python are those of `nws score`, and what cannot be scored is named."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nws
from nws.core.errors import CorpusError, LanguageError, NwsError, PluginError, RecipeError

PREDICTIONS = ["Snow closed the schools.", "The mayor opened a bridge.", "Trams run all night."]
REFERENCES = ["Snow has closed all schools.", ["A new bridge was opened.", "The mayor opened it."], "Night trams run."]


def test_the_scores_are_those_of_nws_score(nws_command, tmp_path: Path) -> None:
    rows = [{"prediction": p, "references": r} for p, r in zip(PREDICTIONS, REFERENCES, strict=True)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    metrics = ["rouge2", "bleu", "bertscore"]
    told = nws_command(*("score", "p.jsonl", "-m", ",".join(metrics), "--stemmer", "--seed", "5", "--json")).json
    found = nws.score(PREDICTIONS, REFERENCES, metrics, stemmer=True, seed=5)
    assert found.signatures == told["signatures"]
    for row in found.to_pandas().to_dict("records"):
        assert row["score"] == told["metrics"][row["metric"]][row["part"]]
        ends = [None if math.isnan(end) else end for end in (row["low"], row["high"])]
        assert ends == told["intervals"][row["metric"]][row["part"]]
        assert row["interval"] == told["interval_methods"][row["metric"]]
        assert row["signature"] == told["signatures"][row["metric"]]
    assert found.rows()["words"].tolist() == [4, 5, 4]
    assert found.rows()["rouge2_f1"].mean() == pytest.approx(told["metrics"]["rouge2"]["f1"])


def same(summary: str, references: list[str]) -> float:
    return summary in references


def test_a_function_is_a_metric_with_an_interval_and_a_signature(nws_command, tmp_path: Path) -> None:
    predictions = [REFERENCES[0], *PREDICTIONS[1:]]
    found = nws.score(predictions, REFERENCES, ["rouge1", same])
    assert found.rows()["same_score"].tolist() == [1.0, 0.0, 0.0]
    (row,) = found.to_pandas().query("metric == 'same'").to_dict("records")
    assert (row["part"], row["score"], row["interval"]) == ("score", pytest.approx(1 / 3), "student-t")
    assert re.fullmatch(r"same\|plugin:this session\|sha256:[0-9a-f]{12}", row["signature"])
    assert nws.score(predictions, REFERENCES, same).signatures == {"same": row["signature"]}

    (tmp_path / "mine.py").write_text("METRICS = {'same': lambda summary, references: summary in references}\n")
    rows = [{"prediction": p, "references": r} for p, r in zip(predictions, REFERENCES, strict=True)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    told = nws_command("score", "p.jsonl", "-m", "rouge1", "--plugin", "mine.py", "--json").json
    assert told["metrics"]["same"] == {"score": pytest.approx(1 / 3)}
    assert told["signatures"]["same"].startswith("same|plugin:mine.py|sha256:")
    assert list(told["metrics"]) == ["rouge1", "same"]


def test_a_function_that_fails_is_named_with_its_row() -> None:
    with pytest.raises(PluginError, match=r"broken of .* failed on row 2: KeyError: 'A new bridge.*' \(line \d+\)"):
        nws.score(PREDICTIONS, REFERENCES, broken)
    with pytest.raises(RecipeError, match="Two metrics share a name: same, same"):
        nws.score(PREDICTIONS, REFERENCES, [same, same])


def broken(summary: str, references: list[str]) -> float:
    return {"Snow has closed all schools.": 1.0}[references[0]]


def test_columns_of_a_frame_are_lists_of_texts() -> None:
    frame = pd.DataFrame({"mine": PREDICTIONS, "theirs": REFERENCES, "article": PREDICTIONS})
    found = nws.score(frame["mine"], frame["theirs"], "density", sources=frame["article"])
    assert found.to_pandas().score.tolist() == [1.0]
    assert repr(found).startswith("Scores of 3 rows: density 1.0000")
    assert "<td>density</td>" in found._repr_html_()


@pytest.mark.parametrize(
    ("predictions", "references", "arguments", "error", "message"),
    [
        ([], [], {}, CorpusError, "predictions holds no row"),
        (["a"], [], {}, CorpusError, "There are 1 predictions but 0 references. Give one for each"),
        ("a", ["a"], {}, CorpusError, "`predictions` is a single text, but must be a list"),
        (["a", 3], ["a", "b"], {}, CorpusError, "predictions, row 2: Field 'prediction' holds 3, not text"),
        (["a"], ["a"], {"metrics": []}, RecipeError, "There is no metric to compute"),
        (["서울에 눈이 왔다"], ["눈이 왔다"], {}, LanguageError, "predictions, row 1"),
    ],
)
def test_what_cannot_be_scored_is_named(
    predictions: list[str], references: list[str], arguments: dict[str, object], error: type[NwsError], message: str
) -> None:
    with pytest.raises(error, match=message):
        nws.score(predictions, references, **arguments)


def test_functions_may_be_given_by_names() -> None:
    found = nws.score(["a b"], ["a"], metrics={"length": lambda summary, references: len(summary.split())})
    assert found.to_pandas().set_index("metric").score.to_dict() == {"length": 2.0}
    with pytest.raises(PluginError, match="rouge1"):
        nws.score(["a"], ["a"], metrics={"rouge1": lambda summary, references: 1.0})


def test_rows_have_the_index_of_the_series_that_was_scored() -> None:
    frame = pd.DataFrame({"mine": PREDICTIONS, "theirs": REFERENCES}, index=[7, 3, 5])
    expected = nws.score(PREDICTIONS, REFERENCES).rows()
    for found in (nws.score(frame["mine"], frame["theirs"]), nws.score(PREDICTIONS, frame["theirs"])):
        assert found.rows().index.tolist() == [7, 3, 5]
        assert found.rows().reset_index(drop=True).equals(expected)
    assert expected.index.tolist() == [0, 1, 2]


def test_columns_of_one_frame_in_different_orders_are_refused() -> None:
    frame = pd.DataFrame({"mine": PREDICTIONS, "theirs": REFERENCES}, index=[7, 3, 5])
    turned = frame["mine"][::-1]
    for call in (nws.score, lambda a, b: nws.compare(a, a, b)):
        with pytest.raises(CorpusError, match="the same index in different orders"):
            call(turned, frame["theirs"])
    assert len(nws.score(turned.tolist(), frame["theirs"]).rows()) == 3
    assert len(nws.score(turned.reset_index(drop=True), frame["theirs"]).rows()) == 3  # other labels say nothing


@pytest.mark.parametrize("make", [set, dict.fromkeys, lambda texts: pd.DataFrame({"mine": texts})])
@pytest.mark.parametrize("name", ["predictions", "references", "sources"])
def test_what_is_no_list_of_texts_is_refused(name: str, make: Callable[[list[str]], object]) -> None:
    texts = {"predictions": PREDICTIONS, "references": PREDICTIONS, "sources": PREDICTIONS}
    with pytest.raises(CorpusError, match=f"`{name}` must be a list of texts or a column of a frame, not a "):
        nws.score(**texts | {name: make(PREDICTIONS)})
    assert nws.score(**{key: iter(values) for key, values in texts.items()}).rows().words.tolist() == [4, 5, 4]


def test_a_layer_a_tokenizer_and_numbers_of_numpy_are_taken() -> None:
    found = nws.score(PREDICTIONS, REFERENCES, ["bertscore", "bleu"], bertscore_layer=np.int64(2), seed=np.int64(3))
    assert "|layer:2|" in found.signatures["bertscore"]
    assert "tok:unicode" in nws.score(PREDICTIONS, REFERENCES, "rouge1", tokenizer="unicode").signatures["rouge1"]
    assert json.dumps(found.found.as_dict())


def test_messages_name_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LanguageError) as raised:
        nws.score(["서울에 눈이 왔다"], ["눈이 왔다"])
    assert raised.value.__notes__ == ["Arguments that help: lang, tokenizer."]
    nws.score(["<b>a</b> b"] * 2, [["<b>a</b>", "b"]] * 2)
    told = capsys.readouterr().err
    assert 'To remove it, use clean_texts="html" with' in told
    assert "If they are the sentences of one reference, use join_references with" in told
    assert "--" not in told
