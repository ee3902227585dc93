import contextlib
import csv
import dataclasses
import io
import json
import re

import pytest
from made_scores import report_of
from policy_results import make_results
from small_disk import full_disk

from nws.core.analysis.points import Points
from nws.core.errors import NwsError
from nws.core.metrics.specs import METRICS
from nws.jobs.report.numerals import decimals
from nws.jobs.report.report_files import means_latex, report_json, write_report


def test_writes_everything(run, make_points, tmp_path):
    report = report_of(run, make_points())
    files = write_report(report, tmp_path / "new" / "folder")
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == [
        "curves.csv",
        "curves.png",
        "curves.svg",
        "curves.tex",
        "report.json",
    ]
    assert files.plots[0].stat().st_size > 5_000
    assert json.loads(files.json.read_text("utf-8")) == json.loads(json.dumps(report_json(report)))


def test_the_csv_holds_curves_and_gains(run, make_points, tmp_path):
    points = make_points(("m|textrank|chunks", "m|textrank|sentences", "oracle", "random"))
    report = report_of(run, points)
    rows, found = read(write_report(report, tmp_path).tables[0]), report.document.of_metric()
    assert len(rows) == 4 * 11
    at, gain = found.curves[0].lengths[4], found.magic_numbers[0].gains[4].gain
    row = next(row for row in rows if (row["system"], row["n"]) == ("m|textrank|chunks", "9"))
    assert [float(row[name]) for name in ("mean", "low", "high")] == [at.mean, at.low, at.high]
    assert [float(row[f"gain_{name}"]) for name in ("mean", "low", "high")] == [gain.mean, gain.low, gain.high]
    assert (row["dataset"], row["is_control"], row["articles"]) == ("news", "0", "40")
    control = next(row for row in rows if row["system"] == "random")
    assert (control["is_control"], control["gain_mean"]) == ("1", "")
    assert {row["system"] for row in rows if row["is_oracle"] == "1"} == {"oracle"}


def _ordered(points: Points, step: int) -> Points:
    columns = {name: getattr(points, name)[::step] for name in ("system", "article", "n", "words", "text")}
    scores = {name: values[::step] for name, values in points.scores.items()}
    return dataclasses.replace(points, **columns, scores=scores, repeated_words=points.repeated_words[::step])


@pytest.mark.slow
def test_again_in_any_order_gives_the_same_files(run, make_points, tmp_path):
    results = make_results(articles=5)
    for folder, step in (("a", 1), ("b", -1)):
        write_report(report_of(run, _ordered(make_points(articles=6), step)), tmp_path / folder / "sweep")
        other = dataclasses.replace(results, points=_ordered(results.points, step))
        write_report(other.report(run), tmp_path / folder / "policies", curve=other.curve)
    files = [path.relative_to(tmp_path / "a") for path in (tmp_path / "a").glob("*/*")]
    assert len(files) == 5 + 8
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_run_of_uncut_summaries_has_no_curves(run, make_points, tmp_path):
    files = write_report(report_of(run, make_points(("bart",), (0,))), tmp_path)
    assert (files.tables, files.plots) == ((), ())
    assert json.loads(files.json.read_text("utf-8"))["metrics"][0]["uncut"][0]["system"] == "bart"


def test_on_a_full_disk_each_file_is_the_older_or_the_newer_one(run, make_points, tmp_path):
    for name, articles in (("here", 8), ("older", 8), ("newer", 9)):
        write_report(report_of(run, make_points(articles=articles)), tmp_path / name)
    newer = report_of(run, make_points(articles=9))
    sizes = sorted(path.stat().st_size for path in (tmp_path / "newer").iterdir())
    for room in (100, sizes[-1] - 1):
        told = r"cannot be written to .*here: File too large\. Choose another folder"
        with contextlib.redirect_stderr(io.StringIO()), pytest.raises(NwsError, match=told), full_disk(room):
            write_report(newer, tmp_path / "here")
        assert len(list((tmp_path / "here").iterdir())) == len(sizes)
        for path in (tmp_path / "here").iterdir():
            assert path.read_bytes() in [(tmp_path / name / path.name).read_bytes() for name in ("older", "newer")]


def read(path):
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def test_writes_everything_of_policies(run, tmp_path):
    results = make_results()
    report = results.report(run)
    files = write_report(report, tmp_path / "new" / "folder", curve=results.curve)
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == [
        *("learning.csv", "learning.png", "learning.svg"),
        *("policies.csv", "policies.png", "policies.svg", "policies.tex", "report.json"),
    ]
    assert files.plots[0].stat().st_size > 5_000
    assert json.loads(files.json.read_text("utf-8")) == json.loads(json.dumps(report_json(report)))


def test_the_csv_of_policies_holds_every_number(run, tmp_path):
    results = make_results()
    report = results.report(run)
    rows, scores = read(write_report(report, tmp_path).tables[0]), report.document.policies.scores
    assert len(rows) == len(scores) == 5 * 4
    for row, score in zip(rows, scores, strict=True):
        assert (row["run"], row["dataset"], row["system"], int(row["n"])) == ("p1-0421", "news", score.system, score.n)
        expected = [score.score.mean, score.score.low, score.score.high, score.repeated_words]
        assert [float(row[name]) for name in ("mean", "low", "high", "repeated_words")] == expected
        assert {name: float(row[name]) for name in METRICS} == {name: score.means[name] for name in METRICS}
        for other, versus in score.versus.items():
            found = [float(row[f"vs_{other}_{part}"]) for part in ("articles", "mean", "low", "high")]
            assert found == [40, versus.difference.mean, versus.difference.low, versus.difference.high]
    policy, oracle = rows[0], rows[-1]
    assert (policy["seeds"], float(policy["seed_sd"])) == ("0 1", scores[0].seed_sd)
    assert float(policy["gap_closed"]) == scores[0].gap_closed
    assert (oracle["is_oracle"], oracle["seeds"], oracle["vs_textrank_mean"]) == ("1", "", "")


def test_before_evaluation_there_is_a_learning_curve(run, tmp_path):
    results = make_results(points=Points.none(), greedy=[])
    files = write_report(results.report(run), tmp_path, curve=results.curve)
    assert [path.name for path in files.tables] == ["learning.csv"]
    for row, update in zip(read(files.tables[0]), make_results().curve, strict=True):
        assert (row["policy"], int(row["update_number"]), float(row["reward"])) == (
            update.policy,
            update.update_number,
            update.reward,
        )
    assert files.plots[1].exists()
    assert json.loads(files.json.read_text("utf-8"))["policies"]["scores"] == []


def latex_rows(text):
    """By the first cell, the others of each line of the table."""
    lines = [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if " & " in line]
    return {first: others for first, *others in lines}


def test_systems_by_n_with_the_highest_in_bold(run, make_points):
    report = report_of(run, make_points(("a_b", "lead", "oracle", "random"), (7, 9)))
    text = means_latex(report)
    table = latex_rows(text)
    assert set(table) == {"$n$", r"a\_b", "lead (control)", "oracle (oracle)", "random (control)"}
    assert table["$n$"] == ["7", "9"]
    at = {curve.system: curve.lengths[1] for curve in report.document.of_metric().curves}
    half = decimals(at["a_b"].half_width)
    assert table[r"a\_b"][1] == rf"\textbf{{{decimals(at['a_b'].mean)}}}$_{{\pm{half}}}$"
    assert table["oracle (oracle)"][1].startswith(decimals(at["oracle"].mean))  # above it, and no choice
    assert "textbf" not in "".join(table["lead (control)"] + table["random (control)"])


def test_a_table_for_each_dataset_in_booktabs_form_and_what_made_it(run):
    results = [make_results(dataset=name, articles=4) for name in ("a_b%", "c\nd")]
    both = make_results(points=Points.together([result.points for result in results]))
    text = means_latex(both.report(run, "rouge1_f1"), " on test articles")
    assert f"% Run {run.id}, done, seed 7, code 0.1.0+gabc1234.\n% ROUGE-1 F1: " in text
    assert re.findall(r"% (.+): mean ROUGE-1 F1 by n on test articles", text) == ["a_b%", r"c\nd"]
    for part in (r"\begin{tabular}{lrrrr}", r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"):
        assert text.count(part) == 2
    for line in text.splitlines():
        assert line.startswith("%") or not re.search(r"(?<!\\)[%#]", line)
        assert line.count("&") in (0, 4) or line.startswith("%")
