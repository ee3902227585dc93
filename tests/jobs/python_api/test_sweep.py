"""A sweep from Python gives what the command line gives, from whatever holds the articles."""

import gc
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from matplotlib.figure import Figure
from threadpoolctl import threadpool_info

import nws
from nws.core.errors import CorpusError, NwsError, PluginError, RecipeError
from nws.core.metrics.specs import METRICS
from nws.core.text.dataset import BUNDLED
from nws.jobs.python_api.sweep import ALWAYS

SYSTEMS = ["textrank", "lead3", "oracle"]


@pytest.fixture(scope="module")
def rows(sample_rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Five articles, more than a bundle holds."""
    return [row | {"article": " ".join(row["article"].split()[:60])} for row in sample_rows[:5]]


@pytest.fixture(scope="module")
def found(rows: list[dict[str, str]]) -> nws.Result:
    return nws.sweep(rows, n=[3, 7], systems=SYSTEMS, seed=3)


@pytest.mark.slow
def test_the_numbers_are_those_of_the_command_line(
    rows: list[dict[str, str]], found: nws.Result, nws_command, tmp_path: Path
) -> None:
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    systems = [word for name in (*SYSTEMS, *ALWAYS) for word in ("--system", name)]
    submitted = nws_command(
        *("submit", "baselines", "--engine", "inline", "--dataset", "news.jsonl", "--n", "3,7", "--seed", "3"), *systems
    )
    assert submitted.code == 0
    with nws.open_store(f"sqlite:///{tmp_path / 'nws.db'}") as store:
        run = store.run(store.runs().id[0])
        stored, curves = run.summaries(), run.curves()
    frame = found.summaries()
    assert len(frame) == 5 * 7 * 2 + 5  # lead3 has uncut summaries, too
    for name in ("key", "system", "n", "text", "words"):
        assert frame[name].tolist() == stored[name].tolist()
    for metric in METRICS:
        assert frame[metric].tolist() == pytest.approx(stored[metric].tolist(), abs=1e-6)
    assert frame.attrs["signatures"] == stored.attrs["signatures"]
    assert frame.attrs["revisions"]["encoders"] == stored.attrs["revisions"]["encoders"]
    assert (frame.attrs["seed"], frame.attrs["code_version"]) == (3, stored.attrs["code_version"])
    for name in ("system", "n", "signature", "mean", "low", "gain_mean", "gain_high"):
        ours, theirs = found.curves()[name].tolist(), curves[name].tolist()
        assert ours == (pytest.approx(theirs, abs=1e-6, nan_ok=True) if name not in ("system", "signature") else theirs)


@pytest.mark.slow
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist, datasets.Dataset.from_list, iter])
def test_articles_are_read_from_whatever_holds_them(
    rows: list[dict[str, str]], found: nws.Result, make: Callable[[list[dict[str, str]]], object]
) -> None:
    again = nws.sweep(make(rows), n=7, systems="textrank", seed=3)
    chosen = ("textrank", *ALWAYS, "other-article")
    expected = found.summaries().query(f"n == 7 and system in {chosen}")
    assert again.summaries().text.tolist() == expected.text.tolist()
    assert again.summaries().article_id.tolist() == expected.article_id.tolist()


def test_several_references_in_a_frame_with_holes() -> None:
    frame = pd.DataFrame(
        {
            "body": ["Snow closed the schools of the town.", None, "A bridge was opened by the mayor."],
            "abstracts": [["Schools are closed.", "Snow!"], ["Nothing."], ["A new bridge."]],
        }
    )
    found = nws.sweep(frame, n=3, systems=[], text_field="body", reference_field="abstracts")
    assert found.summaries().key.unique().tolist() == ["row-0", "row-2"]
    (failure,) = found.failures().to_dict("records")
    assert (failure["key"], failure["error_class"]) == ("row-1", "EmptyArticleError")
    assert (
        found._description()
        == "A sweep of 2 articles: lead, other-article, random, reference-words at n = 3. 1 article failed."
    )


def test_a_notebook_shows_the_answer_and_the_plot(found: nws.Result, tmp_path: Path) -> None:
    html = found._repr_html_()
    assert '<th scope="row">reference-words (oracle)</th>' in html
    share = found.curves().query("system == 'textrank' and n == 7")["kept"].item()
    assert f"<td>{100 * share:.0f}</td>" in html
    assert "data:image/png;base64,iVBOR" in html
    plot = found.plot("bertscore_f1")
    assert isinstance(plot, Figure)
    assert plot._repr_png_().startswith(b"\x89PNG")
    plot.savefig(tmp_path / "curves.svg")
    drawn = (tmp_path / "curves.svg").read_text(encoding="utf-8")
    assert "textrank" in drawn
    assert "MiniLM-L6-v2@1110a24" in drawn  # in its metadata
    assert "content kept" in found.plot().sheet.made_by[0]


def test_nothing_is_left_of_a_sweep_that_is_dropped_or_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = nws.sweep([GOOD], n=3, systems=[])
    assert len(list(tmp_path.iterdir())) == 1
    del found
    gc.collect()
    with pytest.raises(CorpusError, match="No article could be summarised"):
        nws.sweep([GOOD | {"article": "..."}], n=3, systems=[])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_any_number_of_equal_failures_leaves_the_rest() -> None:
    found = nws.sweep([*({**GOOD, "article": "." * i} for i in range(1, 61)), GOOD], n=3, systems=[])
    assert (len(found.failures()), found.run.articles_done) == (60, 1)


def test_the_threads_of_the_process_stay_as_they_are(rows: list[dict[str, str]]) -> None:
    torch.set_num_threads(2)
    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    try:
        nws.sweep(rows[:1], n=3, systems=[])
        nws.score(["a cat"], ["the cat"], "bertscore")
        assert torch.get_num_threads() == 2
        assert [library for library in threadpool_info() if library["user_api"] == "blas"] == blas
    finally:
        torch.set_num_threads(1)


GOOD = {"article": "Snow closed the schools of the town.", "summary": "Schools are closed."}
ONE = datasets.Dataset.from_list([GOOD])


@pytest.mark.parametrize(
    ("articles", "arguments", "error", "message"),
    [
        ([], {}, CorpusError, "`articles` is empty"),
        ("news.jsonl", {}, CorpusError, "There is no file news.jsonl"),
        (datasets.DatasetDict(train=datasets.Dataset.from_list([GOOD])), {}, CorpusError, "not DatasetDict"),
        (7, {}, CorpusError, "or the path of a file, not int"),
        ([GOOD, "news"], {}, CorpusError, "row 2: a row must be a dict, not str"),
        ([GOOD, {"article": "a b"}], {}, CorpusError, "row 2: Field 'summary' is missing"),
        (pd.DataFrame({"article": ["a", 3]}), {}, CorpusError, "The frame of articles cannot be read"),
        ([GOOD], {"n": [7, 0]}, RecipeError, "n: should be greater than or equal to 1, not 0"),
        ([GOOD], {"text_field": "body"}, CorpusError, "no field 'body'; the fields are: article, summary"),
    ],
)
def test_what_cannot_be_swept_is_named(
    articles: object, arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as raised:
        nws.sweep(articles, **arguments)
    assert "sample" not in str(raised.value)


def test_an_error_names_the_arguments_that_help() -> None:
    with pytest.raises(CorpusError) as raised:
        nws.sweep([{"body": "a", "summary": "b"}])
    assert raised.value.__notes__ == ["Arguments that help: text_field."]


@pytest.mark.slow
def test_files_of_ones_own_are_systems_and_metrics(
    rows: list[dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "SYSTEMS = {'mine': lambda text, n: ' '.join(text.split()[-n:])}\n"
        "METRICS = {'ratio': lambda prediction, references: len(prediction) / len(references[0])}\n"
    )
    predictions = [json.dumps({"id": row["id"], "prediction": row["article"]}) for row in rows]
    (tmp_path / "whole.jsonl").write_text("\n".join(predictions))
    sweep = nws.sweep(rows, n=[3], systems="lead", plugins="mine.py", predictions=["copied=whole.jsonl"])
    frame = sweep.summaries()
    assert set(frame.system) == {"lead", "random", "reference-words", "other-article", "mine", "copied"}
    assert (frame.ratio > 0).all()
    leads, copied = (frame[(frame.system == name) & (frame.n == 3)].text.tolist() for name in ("lead", "copied"))
    assert leads == copied


def tail(text: str, n: int) -> str:
    return " ".join(text.split()[-n:])


def ratio(summary: str, references: list[str], article: str) -> float:
    return len(summary) / len(article)


def test_functions_are_systems_and_metrics(rows: list[dict[str, str]]) -> None:
    found = nws.sweep(rows, n=[3], systems=["lead", tail], metrics={"share": ratio})
    frame = found.summaries().set_index(["system", "key"]).sort_index()
    assert frame.text["tail"].to_dict() == {row["id"]: tail(row["article"], 3) for row in rows}
    assert (frame.share > 0).all()
    assert found.curves("share").system.isin(["tail", "lead", "random", "reference-words", "other-article"]).all()
    again = nws.sweep(rows, n=[3], systems=tail, metrics=[ratio])
    assert again.summaries().query("system == 'tail'").ratio.tolist() == frame.share["tail"].tolist()
    assert again.run.signatures["ratio"].startswith("ratio|plugin:this session|sha256:")


def broken(text: str, n: int) -> str:
    raise ValueError("no")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"systems": [7]}, RecipeError, "7 in `systems` is neither a name nor a function"),
        ({"systems": [tail, tail]}, RecipeError, "Two functions in `systems` are called 'tail'"),
        ({"systems": [lambda text: text]}, NwsError, "lambda"),
        (
            {"systems": [broken]},
            PluginError,
            r"broken of test_sweep\.py failed: ValueError: no \(line .* NWS tried it on",
        ),
        (
            {"systems": [], "metrics": {"mine": lambda summary: 1.0}},
            PluginError,
            r"mine of test_sweep\.py failed on article .*: TypeError: .* NWS tried it on",
        ),
    ],
)
def test_what_is_no_system_or_metric_is_named(
    arguments: dict[str, Any], error: type[Exception], message: str, rows: list[dict[str, str]]
) -> None:
    with pytest.raises(error, match=message):
        nws.sweep(rows, n=3, **arguments)


def test_a_layer_a_tokenizer_and_numbers_of_numpy_are_swept() -> None:
    found = nws.sweep(
        [GOOD], n=np.array([3]), systems=[], bertscore_layer=np.int64(2), tokenizer="char", seed=np.int8(1)
    )
    assert "|layer:2|" in found.run.signatures["bertscore"]
    assert "tok:char" in found.run.signatures["rouge"]
    assert nws.sweep([GOOD], n=np.int64(3), systems=[]).run.recipe["n"] == [3]


def test_a_split_of_a_folder_is_swept(tmp_path: Path) -> None:
    datasets.DatasetDict(train=ONE).save_to_disk(str(tmp_path))
    with pytest.raises(CorpusError, match="no split 'test'") as raised:
        nws.sweep(str(tmp_path), n=3, systems=[])
    assert raised.value.__notes__ == ["Arguments that help: split."]
    assert nws.sweep(str(tmp_path), n=3, systems=[], split="train").run.articles_done == 1


def test_a_korean_sweep_names_arguments_for_its_models() -> None:
    articles = pd.read_json(BUNDLED["sample-ko"], lines=True).head(1)
    with pytest.raises(RecipeError, match='such as encoder="sentence-transformers') as raised:
        nws.sweep(articles, n=3, systems=[])
    assert "or systems with a checkpoint" in str(raised.value)
    assert "--" not in str(raised.value)
