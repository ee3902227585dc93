"""What `nws correlate` reads, refuses, computes and prints."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from scipy import stats

from nws.core.errors import CorpusError, RecipeError
from nws.jobs.tools.correlate import correlate_file, read_scores


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Six systems, eight documents; `flat` is constant, `near` follows the human scores closely."""
    rng = np.random.default_rng(0)
    human = rng.normal(size=(6, 1)) + rng.normal(size=(6, 8))
    human[:, 0] = 1.0
    near, far = human + rng.normal(scale=0.3, size=(6, 8)), human + rng.normal(scale=2, size=(6, 8))
    rows = [
        {"system": f"s{i}", "document": f"d{j}", "near": near[i, j], "far": far[i, j], "flat": 1, "human": human[i, j]}
        for i in range(6)
        for j in range(8)
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def by_scipy(rows: list[dict[str, Any]], metric: str) -> dict[tuple[str, str], float]:
    """By level and coefficient, the correlation over the rows that have both scores, by pandas and SciPy."""
    frame = pandas.DataFrame(rows).dropna(subset=[metric, "human"])
    means = frame.groupby("system")[[metric, "human"]].mean()
    documents = [one for _, one in frame.groupby("document") if one[metric].nunique() > 1 < one["human"].nunique()]
    found = {}
    for name, of in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        found["system", name] = of(means[metric], means["human"]).statistic
        found["summary", name] = np.mean([of(one[metric], one["human"]).statistic for one in documents])
    return found


def test_every_number_and_what_made_it(scores: Path) -> None:
    found = correlate_file(scores, ["near", "flat", "far"], "human", seed=4).as_dict()
    json.dumps(found, allow_nan=False)
    assert (found["systems"], found["documents"], found["human"], found["seed"]) == (6, 8, "human", 4)
    assert "kendall:tau-b" in found["signature"]
    assert "resamples:1000" in found["signature"]
    for (level, name), value in by_scipy(
        [json.loads(line) for line in scores.read_text().splitlines()], "near"
    ).items():
        assert found["metrics"]["near"][level][name]["value"] == pytest.approx(value)
    summary = found["metrics"]["near"]["summary"]["kendall"]
    assert summary["documents_left_out"] == 1
    assert summary["interval"][0] <= summary["value"] <= summary["interval"][1]
    assert found["metrics"]["flat"]["summary"]["pearson"]["value"] is None
    pairs = {(one["a"], one["b"]) for one in found["differences"]}
    assert pairs == {("near", "flat"), ("near", "far"), ("flat", "far")}
    assert correlate_file(scores, ["near", "flat", "far"], "human", seed=4).as_dict() == found


def test_the_page(nws, scores: Path) -> None:
    rows = scores.read_text().splitlines()[:-1]  # s5 lacks d7
    scores.write_text("\n".join(rows))
    page = nws("correlate", str(scores), "--metrics", "near, far,flat", "--human", "human")
    assert page.code == 0
    assert "Correlation with human: 6 systems, 8 documents, seed 0" in page.out
    assert "47 of 48 pairs of a system and a document have a human score." in page.out
    assert "47 of 48 pairs of a system and a document have a near score." in page.out
    assert "near: 1 of 8 documents have no correlation" in page.out
    assert "With 6 systems, the intervals" in page.out
    assert "near − far" in page.out
    assert "undefined" in page.out
    assert max(map(len, page.out.splitlines())) <= 80
    found = nws("correlate", str(scores), "--metrics", "near", "--human", "human", "--json").json
    value = found["metrics"]["near"]["system"]["pearson"]["value"]
    assert f"{value:.3f}".removeprefix("0") in page.out
    assert (found["pairs"], found["possible_pairs"]) == ({"near": 47, "human": 47}, 48)


TEXT = {1: "<think>Long thoughts.</think> A -- b.", 2: ["A b", "c."], 3: "A b c d."}  # of 2, 3 and 4 words


@pytest.mark.parametrize(
    ("field", "suffix"), [("prediction", "jsonl"), ("summary", "jsonl"), ("words", "csv"), ("words", "parquet")]
)
def test_what_length_alone_explains(nws, tmp_path: Path, field: str, suffix: str) -> None:
    rows = rows_of("abcd", range(5))
    for i, row in enumerate(rows):
        row |= {"m": row["m"] + i % 3, field: i % 3 + 2 if field == "words" else TEXT[i % 3 + 1]}
    frame, path = pandas.DataFrame(rows), tmp_path / f"s.{suffix}"
    {"jsonl": lambda to: written(to, rows), "csv": frame.to_csv, "parquet": frame.to_parquet}[suffix](path)
    found = nws("correlate", str(path), "-m", "m", "--human", "human", "--equal-length", "0", "--json").json
    counted = [row | {"words": i % 3 + 2} for i, row in enumerate(rows)]
    for (level, name), value in by_scipy(counted, "words").items():
        assert found["metrics"]["words"][level][name]["value"] == pytest.approx(value)
    assert (found["pairs"], found["differences"]) == ({"m": 20, "human": 20}, []), "not tested, since nobody named it"
    assert found["equal_length"]["words_apart"] == 0 < found["equal_length"]["pairs"]
    assert found["metrics"]["words"]["pair"]["share"]["value"] == 0.5
    page = nws("correlate", str(path), "-m", "m,words", "--human", "human", "--equal-length", "1").out
    assert re.search(r"Pairs of equal length\nmetric +Share\nm ", page)
    assert "m − words" in page, "where it is named, it is tested"


@pytest.mark.parametrize(
    ("field", "values"),
    [("x", [1]), ("words", ["many"]), ("prediction", [4.5]), ("words", [3, None]), ("prediction", ["a b c", None])],
)
def test_words_that_are_not_known_take_nothing_away(nws, tmp_path: Path, field: str, values: list[object]) -> None:
    rows = rows_of("abcd", range(5))
    bare = correlate_file(written(tmp_path / "b.jsonl", rows), ["m"], "human", 0)
    path = written(tmp_path / "s.jsonl", [row | {field: values[i % len(values)]} for i, row in enumerate(rows)])
    assert correlate_file(path, ["m"], "human", 0).correlations == bare.correlations
    page = " ".join(nws("correlate", str(path), "-m", "m", "--human", "human").out.split())
    assert (
        "need the length of every"
        in nws("correlate", str(path), "-m", "m", "--human", "human", "--equal-length", "2").err
    )
    missing = 20 if len(values) == 1 else 10
    assert f"There is no row 'words', since the length of {missing} summaries is unknown. The file must have" in page
    if None in values:  # gaps, as in any column
        assert correlate_file(path, ["m", "words"], "human", 0).pairs["words"] == 10
    else:
        with pytest.raises(CorpusError, match=r"line 1: Field '(words|prediction)' (is missing|holds)"):
            correlate_file(path, ["m", "words"], "human", 0)


def test_errors_name_the_columns(nws, scores: Path) -> None:
    result = nws("correlate", str(scores), "--metrics", "rouge9", "--human", "human")
    assert result.code == 1
    assert "'rouge9' is missing; the fields are: system, document, near, far, flat, human" in result.err
    assert nws("correlate", str(scores), "--metrics", "near", "--human", "near").code == 2


def rows_of(systems: str, documents: range) -> list[dict[str, object]]:
    return [
        {"system": s, "document": d, "m": i + d / 10, "human": i * d} for i, s in enumerate(systems) for d in documents
    ]


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_reads_jsonl_in_any_order(tmp_path: Path) -> None:
    rows = rows_of("abc", range(4))
    found = read_scores(written(tmp_path / "s.jsonl", rows), ["m", "human"])
    assert (found.systems, found.documents) == (("a", "b", "c"), ("0", "1", "2", "3"))
    assert found.scores["m"].tolist() == [[i + d / 10 for d in range(4)] for i in range(3)]
    mixed = read_scores(written(tmp_path / "m.jsonl", rows[::-1]), ["m"])
    assert (mixed.systems, mixed.documents) == (("c", "b", "a"), ("3", "2", "1", "0"))
    assert np.array_equal(mixed.scores["m"], found.scores["m"][::-1, ::-1])


GOOD = json.dumps({"system": "a", "document": 1, "m": 1.0})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"system": "a", "document": 2}', r"line 2: Field 'm' is missing; the fields are: system, document"),
        ('{"system": "a", "document": null, "m": 1}', r"line 2: Field 'document' holds nothing, not text or a whole"),
        ('{"system": "a", "document": 2, "m": "good"}', r"line 2: Field 'm' holds 'good', not a finite number"),
        ('{"system": "a", "document": 2, "m": Infinity}', r"line 2: Field 'm' holds inf, not a finite number"),
        ('{"system": "a", "document": 2, "m": true}', r"line 2: Field 'm' holds True, not a finite number"),
        ('{"system": "a", "document": 0.5, "m": 1}', r"line 2: Field 'document' holds 0.5, not text or a whole"),
        ('{"system": "a", "document": 2, "m": 1' + "0" * 400 + "}", r"line 2: Field 'm' holds 1000.*not a finite"),
        ('{"system": "a", "document": "1", "m": 2}', r"line 2: System 'a' already has document '1' in line 1"),
        ('{"system": "a", "document": 1.0, "m": 2}', r"line 2: System 'a' already has document '1' in line 1"),
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "s.jsonl").write_text(f"{GOOD}\n{row}\n")
    with pytest.raises(CorpusError, match=message):
        read_scores(tmp_path / "s.jsonl", ["m"])


def test_too_few_of_anything_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    with pytest.raises(CorpusError, match="no row"):
        read_scores(written(file, []), ["m"])
    gaps = [row | {"human": None if row["system"] in "cd" else 1} for row in rows_of("abcd", range(9))]
    for rows in (rows_of("ab", range(9)), gaps):
        with pytest.raises(
            CorpusError, match=r"2 systems \(a, b\) and 9 documents have a score of each of m, human; .* 3"
        ):
            correlate_file(written(file, rows), ["m"], "human", seed=0)


def test_pairs_that_are_there_are_correlated(tmp_path: Path, scores: Path) -> None:
    rows = [json.loads(line) for line in scores.read_text().splitlines()]
    drawn = np.random.default_rng(1)
    for row in rows:
        row |= {name: None for name in ("near", "human") if drawn.random() < 0.15}
        row |= {"human": math.nan} if row["system"] == "s1" else {}  # nobody judged it
    whole = correlate_file(written(tmp_path / "gaps.jsonl", rows), ["near", "far"], "human", seed=4).as_dict()
    assert (whole["systems"], whole["signature"][-12:]) == (5, "gaps:by-pair")
    shared = pandas.DataFrame(rows).dropna().to_dict("records")
    for metric in ("near", "far"):
        for (level, name), value in by_scipy(shared, metric).items():
            assert whole["metrics"][metric][level][name]["value"] == pytest.approx(value)
    # A row that is not there is a gap, too.
    alone = correlate_file(written(tmp_path / "shared.jsonl", shared), ["near", "far"], "human", seed=4).as_dict()
    assert [one["p"] for one in alone["differences"]] == [one["p"] for one in whole["differences"]]


@pytest.mark.parametrize("cell", ["", " ", "nan", "NaN", "null", "None", "NA", "n/a", "<NA>"])
def test_cells_without_a_score_are_gaps(tmp_path: Path, cell: str) -> None:
    lines = [f"{row['system']},{row['document']}.0,{row['m']},{row['human']}" for row in rows_of("abc", range(4))]
    gap = f"c,4,1.0,{cell}"
    (tmp_path / "s.csv").write_text("\n".join(["system,document,m,human", *lines, gap]) + "\n")
    found = correlate_file(tmp_path / "s.csv", ["m"], "human", seed=0).as_dict()
    assert (found["pairs"], found["possible_pairs"], found["documents"]) == ({"m": 13, "human": 12}, 15, 4)
    assert read_scores(tmp_path / "s.csv", ["m"]).documents == ("0", "1", "2", "3", "4")


def test_columns_that_are_no_scores_are_refused(tmp_path: Path, scores: Path) -> None:
    with pytest.raises(RecipeError, match="--metrics names no column"):
        correlate_file(scores, [], "human", seed=0)


def judged_by_three(rows: list[dict[str, Any]]) -> list[list[float]]:
    """Scores of three annotators around each human score; the second one skips every fifth row."""
    drawn = np.random.default_rng(2).integers(-2, 3, size=(len(rows), 3)).tolist()
    return [
        [row["human"] + given for j, given in enumerate(scores) if j != 1 or i % 5]
        for i, (row, scores) in enumerate(zip(rows, drawn, strict=True))
    ]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("form", ["rows", "lists"])
def test_the_scores_of_several_annotators_are_averaged(nws, tmp_path: Path, form: str, suffix: str) -> None:
    rows = rows_of("abcd", range(5))
    for i, row in enumerate(rows):
        row["m"] += i % 3
    given = judged_by_three(rows)
    means = [row | {"human": math.fsum(scores) / len(scores)} for row, scores in zip(rows, given, strict=True)]
    each = [row | {"human": score} for row, scores in zip(rows, given, strict=True) for score in scores]
    lists = [row | {"human": scores} for row, scores in zip(rows, given, strict=True)]
    path, several = tmp_path / f"s.{suffix}", {"rows": each[::-1], "lists": lists}[form]
    if suffix == "jsonl":
        written(path, several)
    else:
        pandas.DataFrame(several).to_parquet(path)
    found = nws("correlate", str(path), "-m", "m", "--human", "human", "--json").json
    for (level, name), value in by_scipy(means, "m").items():
        assert found["metrics"]["m"][level][name]["value"] == pytest.approx(value)
    assert (found["averaged_pairs"], found["possible_pairs"]) == (20, 20)
    assert found["signature"].endswith("|human:mean-over-annotators")
    page = nws("correlate", str(path), "-m", "m", "--human", "human").out
    assert "20 pairs of a system and a document have several human scores: their mean" in page


def test_rows_of_annotators_that_differ_elsewhere_are_refused(tmp_path: Path) -> None:
    rows = rows_of("abc", range(3))
    file = written(tmp_path / "s.jsonl", [*rows, rows[0] | {"m": 0.5}])
    with pytest.raises(CorpusError, match=r"line 10: System 'a' .* in line 1\. Rows of several .* only in 'human'"):
        correlate_file(file, ["m"], "human", seed=0)


@pytest.mark.parametrize("factor", [1e-200, 1e-300, 1e200])
def test_very_small_and_large_scores_correlate_as_others(tmp_path: Path, scores: Path, factor: float) -> None:
    rows = [json.loads(line) for line in scores.read_text().splitlines()]
    scaled = [row | {"near": row["near"] * factor} for row in rows]
    expected = correlate_file(scores, ["near"], "human", seed=0).correlations
    found = correlate_file(written(tmp_path / "scaled.jsonl", scaled), ["near"], "human", seed=0).correlations
    assert [one.value for one in found] == pytest.approx([one.value for one in expected])
    assert found[0].low == pytest.approx(expected[0].low)


def test_a_reason_is_given_only_where_it_holds(nws, tmp_path: Path) -> None:
    rows = [row for row in rows_of("abcd", range(9)) if "abcd".index(row["system"]) == int(row["document"]) % 4]
    page = nws("correlate", str(written(tmp_path / "s.jsonl", rows)), "-m", "m", "--human", "human").out
    assert "9 of 9 documents have no correlation, since 9 have only one system." in " ".join(page.split())
    assert "the same score" not in page
    flat = [row | {"human": 1} for row in rows_of("abcd", [9, 10])]
    page = nws("correlate", str(written(tmp_path / "s.jsonl", rows + flat)), "-m", "m", "--human", "human").out
    told = "11 of 11 documents have no correlation, since 9 have only one system and 2 have the same score of every"
    assert told in " ".join(page.split())


def test_blanks_around_a_name_make_no_other_system(tmp_path: Path) -> None:
    rows = rows_of("abc", range(4))
    rows[0]["system"] += " "
    rows[5]["document"] = f" {rows[5]['document']}"
    found = read_scores(written(tmp_path / "s.jsonl", rows), ["m"])
    assert (found.systems, found.documents) == (("a", "b", "c"), ("0", "1", "2", "3"))
