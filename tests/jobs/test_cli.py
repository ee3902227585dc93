"""The command line in this process: what it prints where, and with which exit code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nws.jobs.drive import driver

SUBMIT = ("submit", "phase1", "--engine", "inline", "--limit", "3", "--n", "1,7")

ROOT = Path(__file__).parents[2]


def test_submit_then_look_at_it_in_every_way(nws, tmp_path: Path) -> None:
    submitted = nws(*SUBMIT, "--name", "first", "--note", "three articles", "--json")
    assert submitted.code == 0
    outcome = submitted.json
    assert outcome.pop("seconds") > 0
    counts = {"articles": 3, "summaries": 42, "reused": 0, "failures": 0}
    assert outcome == {"run_id": outcome["run_id"], "state": "done", **counts}
    assert "3/3 · done" in submitted.err
    assert "Its rows are in sqlite:///nws.db.\n" in submitted.err
    assert f"nws report {outcome['run_id']} -o report.html\n" in nws("report").out
    assert (tmp_path / "nws.db").exists()

    listed = nws("ls")
    assert outcome["run_id"] in listed.out
    assert "3/3" in listed.out
    assert re.search(r"  sample +1, 7 +\d words? keeps? .* \(.*\) +first .*  three articles$", listed.out)
    assert nws("ls", "--json").json[0]["id"] == outcome["run_id"]

    status = nws("status")
    assert status.code == 0
    assert "name         first\n" in status.out
    assert "note         three articles\n" in status.out
    assert "bertscore|model:sentence-transformers/all-MiniLM-L6-v2@1110a243" in status.out
    assert nws("status", outcome["run_id"], "--json").json["failed_articles"] == []

    assert len(nws("query", "select * from sweep_curve", "--json").json) == 14

    report = nws("report")
    assert report.code == 0
    assert "lead" in report.out
    assert (tmp_path / "reports" / outcome["run_id"] / "curves.png").stat().st_size > 10_000
    assert nws("report", "--json", "--out", "elsewhere").json
    assert (tmp_path / "elsewhere" / "curves.svg").exists()

    assert "no metric 'rouge' to report. The metrics are" in " ".join(nws("report", "--metric", "rouge").err.split())

    again = nws(*SUBMIT, "--resume", "--json")
    assert again.json | {"seconds": 0} == outcome | {"seconds": 0}
    resumed = nws("resume", outcome["run_id"], "--engine", "inline", "--json")
    assert resumed.json | {"seconds": 0} == outcome | {"seconds": 0}
    assert f"Nothing was left to compute. {outcome['run_id']} was done before." in resumed.err


def test_what_another_run_has_is_copied_unless_one_says_otherwise(nws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NWS_NO_REUSE")
    assert "14 summaries, 0 failures." in nws(*SUBMIT[:4], "--limit", "2", "--n", "7").out
    assert "42 summaries (12 of them reused), 0 failures." in nws(*SUBMIT).out
    assert "summaries    42, 12 of them reused" in nws("status").out
    assert nws(*SUBMIT, "--no-reuse", "--json").json["reused"] == 0


def test_a_dry_run_says_what_would_run_and_runs_nothing(nws, tmp_path: Path) -> None:
    plan = nws("submit", "phase1", "--dry-run", "--json").json
    assert (plan["articles"], plan["rows"]) == (24, 24 * 7 * 11)
    assert plan["encoders"] == {
        "all-MiniLM-L6-v2": "sentence-transformers/all-MiniLM-L6-v2@1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
    }
    shown = nws("submit", "phase1", "--dry-run")
    assert shown.code == 0
    assert "rows          1848 (articles x systems x n" in shown.out
    assert "time          unknown: the store has no finished run of this recipe" in shown.out
    # A model that cannot be had is an error now, and not at night.
    refused = nws("submit", "phase1", "--dry-run", "--encoder", "bert-base-uncased")
    assert "86b5e0934494bd15c9632b12f734a8a67f723594" in refused.out
    assert (refused.code, "is not in the local cache" in refused.err) == (1, True)
    assert list(tmp_path.iterdir()) == []


def test_the_backbone_of_bertscore_can_be_named(nws, tiny_models) -> None:
    job = "phase1"
    backbone = ("--bertscore-model", str(tiny_models["bert"]))
    plan = nws("submit", job, "--dry-run", "--json", *backbone, "--bertscore-layer", "2").json
    assert plan["bertscore"].startswith(f"{tiny_models['bert']}@sha256:")
    assert "|layer:2|" in plan["metrics"]["bertscore"]
    assert "|layer:4|" in nws("submit", job, "--dry-run", "--bertscore-layer", "4").out
    refused = nws("submit", job, "--dry-run", *backbone)
    assert refused.code == 2
    assert refused.err.endswith("no tuned layer for tiny-bert: name one. (--bertscore-layer)\n")


FRENCH = "Le conseil municipal a décidé de réparer le vieux pont avant le début de l'hiver, dit le maire."


def test_french_is_warned_of_when_it_comes_in_as_english(nws, tmp_path: Path) -> None:
    rows = [{"text": f"{i} {FRENCH}", "summary": f"Le pont {i}.", "prediction": f"{i} {FRENCH}"} for i in range(2)]
    (tmp_path / "mixed.jsonl").write_text("\n".join(json.dumps({**row, "id": i}) for i, row in enumerate(rows)))
    submitted = nws("submit", "phase1", "--dry-run", "--dataset", "mixed.jsonl")
    assert submitted.err.count("Warning: 2 of 2 articles of mixed.jsonl (all) look like another language") == 1
    scored = nws("score", "mixed.jsonl")
    assert "Warning: 2 of 2 predictions of mixed.jsonl look like another language" in scored.err
    assert "(ISO 639: fr)" in scored.err
    told = nws("score", "mixed.jsonl", "--tokenizer", "char").err  # for texts in any language
    assert "Warning" not in told
    assert "Warning" not in nws("submit", "phase2", "--dry-run").err


def test_a_second_interruption_says_how_to_resume(nws, monkeypatch: pytest.MonkeyPatch) -> None:
    real = driver.start

    def interrupted_as_it_ends(*args: object, **kwargs: object) -> None:
        real(*args, **kwargs)
        raise KeyboardInterrupt  # while Ray is being stopped

    monkeypatch.setattr(driver, "start", interrupted_as_it_ends)
    result = nws(*SUBMIT)
    (run,) = nws("ls", "--json").json
    assert result.code == 130
    assert result.err.splitlines()[-1].endswith(f"resume it with: nws resume {run['id']}")


def test_a_name_is_no_markup(nws, tmp_path: Path) -> None:
    (tmp_path / "news[bold].jsonl").write_text('{"article": "The town opened a bridge.", "summary": "Bridge."}')
    assert "news[bold].jsonl" in nws("submit", "phase1", "--dataset", "news[bold].jsonl", "--n", "1", "--dry-run").out


def test_a_name_that_is_no_utf8_is_an_error(nws, tmp_path: Path) -> None:
    name = "caf\udce9.jsonl"
    (tmp_path / name).write_text('{"article": "The town opened a bridge.", "summary": "Bridge."}')
    refused = nws("submit", "phase1", "--dataset", name, "--n", "1", "--engine", "inline")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.splitlines()[2:] == ["Error: The name 'caf\\udce9.jsonl' is not valid UTF-8. Rename the file."]
    assert not (tmp_path / "nws.db").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "printed"),
    [
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "a – b"),
        ({"PYTHONIOENCODING": "latin-1"}, "a \\u2013 b"),
    ],
)
def test_an_encoding_without_the_characters_prints_them_all_the_same(tmp_path: Path, environment, printed: str) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"}
    for command in (["db", "upgrade"], ["query", "SELECT 'a ' || char(8211) || ' b' AS told"]):
        asked = [sys.executable, "-m", "nws", *command, "--store", f"sqlite:///{tmp_path / 'nws.db'}"]
        ran = subprocess.run(asked, env=kept | environment, capture_output=True, cwd=ROOT, check=False)
        assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False), ran.stderr
    assert printed in ran.stdout.decode()


def test_failed_articles_make_the_exit_code_one_and_are_all_that_a_resumed_run_had_left(nws, tmp_path: Path) -> None:
    rows = ['{"article": "The town opened a bridge.", "summary": "Bridge."}', '{"article": "", "summary": "None."}']
    (tmp_path / "news.jsonl").write_text("\n".join(rows))
    result = nws("submit", "phase1", "--engine", "inline", "--dataset", "news.jsonl", "--n", "1", "--json")
    assert (result.code, result.json["failures"], result.json["state"]) == (1, 1, "done")
    assert "EmptyArticleError" in nws("status").out
    run_id = result.json["run_id"]
    assert result.err.splitlines()[-1] == f"1 article failed. See why: nws status {run_id}"
    resumed = nws("resume", "--engine", "inline").err
    assert "was done before, except for 1 article that failed again.\n" in resumed
    assert "Nothing was left to compute. " in resumed


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("submit", "phase1", "--engine", "slurm"), 2, "not one of 'ray', 'inline'"),
        (("submit", "phase1", "--limit", "0"), 2, "--limit"),
        (("submit", "phase1", "--dataset", "absent.jsonl"), 1, "no file absent.jsonl"),
        (("submit", "phase1", "--dataset", "[/a].jsonl"), 1, "No file of [/a].jsonl ends in"),
        (("submit", "phase1", "--dataset", "sample-ko", "--pipeline", "en_core_web_sm"), 1, "is not for"),
        (("submit", "phase1", "--pipeline", "en_core_web_xx"), 1, "python -m spacy download en_core_web_xx"),
        (("ls",), 1, "nws.db"),
        (("ls", "--store", "mysql://u:secret@h/d"), 1, "its database is not supported"),
    ],
)
def test_errors_say_what_to_do_without_a_traceback(nws, arguments, code: int, message: str) -> None:
    result = nws(*arguments)
    assert result.code == code
    assert message in result.err
    assert "Traceback" not in result.err
    assert "secret" not in result.err
    assert result.out == ""


@pytest.mark.parametrize("command", ["resume", "cancel", "rm"])
def test_no_store_is_made_for_a_run_that_it_cannot_have(nws, tmp_path: Path, command: str) -> None:
    result = nws(command, "absent")
    assert result.code == 1
    assert f"there is no store at {tmp_path / 'nws.db'}" in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    cat = {"id": "a", "prediction": "the cat sat", "reference": "the cat sat down", "source": "The cat sat down."}
    shares = {"id": "b", "prediction": "shares fell", "references": ["shares rose", "the shares fell"], "source": "No."}
    file = tmp_path / "predictions.jsonl"
    file.write_text("\n".join(map(json.dumps, (cat, shares))))
    return file


def test_score_prints_a_table_that_fits(nws, predictions: Path) -> None:
    lines = nws(
        "score", predictions.name, "--metrics", "rouge1,rougeSU4,bleu2,sacrebleu,dialogsum,density"
    ).out.splitlines()
    assert lines[0] == "2 rows, seed 0"
    assert all(len(line) <= 80 for line in lines)
    table = {line.split()[0]: line.split()[1:] for line in lines[3:9]}
    assert table["rouge1"] == ["1.0000", "0.7083", "0.8286", "0.4655", "to", "1.1916"]


def test_score_as_json_and_per_row(nws, predictions: Path, tmp_path: Path) -> None:
    found = nws("score", predictions.name, "--json", "-o", "rows.jsonl", "--seed", "5", "--references", "mean").json
    assert (found["rows"], found["seed"]) == (2, 5)
    assert list(found["metrics"]) == ["rouge1", "rouge2", "rougeL"]  # the default
    assert found["signatures"]["rouge1"].endswith("refs:mean")
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["a", "b"]
    mean = sum(row["metrics"]["rouge1"]["f1"] for row in rows) / 2
    assert found["metrics"]["rouge1"]["f1"] == pytest.approx(mean)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--metrics", "rouge1,bluе"), 2, "There is no metric 'bluе'. The metrics are rouge1"),
        (("--lang", "fr"), 2, "no language 'fr'"),
        (("--per-row", "absent/rows.jsonl"), 2, "no folder absent"),
        (("--metrics", "bertscore", "--lang", "ko", "--tokenizer", "char"), 2, "--bertscore-model"),
    ],
)
def test_score_says_what_is_wrong(nws, predictions: Path, arguments, code: int, message: str) -> None:
    result = nws("score", predictions.name, *arguments)
    assert (result.code, result.out) == (code, "")
    assert message in " ".join(result.err.replace("│", " ").split())


def test_score_says_how_to_get_synonyms(nws, predictions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nltk.data.path", [])
    monkeypatch.setattr("nws.core.metrics.meteor.SYSTEM_FOLDERS", ())
    result = nws("score", predictions.name, "--metrics", "meteor", "--json")
    assert result.code == 0
    assert "|match:exact,porter|" in result.json["signatures"]["meteor"]
    assert "wordnet-base" in result.err
    assert "wordnet-base" not in nws("score", predictions.name).err
