"""The command line in this process: what it prints where, and with which exit code."""

import json
from pathlib import Path

import pytest

from jobs import cli


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> object:
        return json.loads(self.out.splitlines()[-1])


@pytest.fixture
def nws(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Runs `nws …` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("signal.signal", lambda *args: None)

    def run(*arguments: str) -> Result:
        monkeypatch.setattr("sys.argv", ["nws", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        captured = capsys.readouterr()
        return Result(int(stopped.value.code or 0), captured.out, captured.err)

    return run


SUBMIT = ("submit", "phase1", "--engine", "inline", "--limit", "3", "--n", "1,7")


def test_submit_then_look_at_it_in_every_way(nws, tmp_path: Path) -> None:
    submitted = nws(*SUBMIT, "--json")
    assert submitted.code == 0
    outcome = submitted.json
    assert outcome == {
        "run_id": outcome["run_id"],
        "state": "done",
        "articles": 3,
        "summaries": 24,
        "failures": 0,
    }
    assert "3/3 articles" in submitted.err
    assert (tmp_path / "nws.db").exists()

    listed = nws("ls")
    assert outcome["run_id"] in listed.out
    assert "3/3" in listed.out
    assert nws("ls", "--json").json[0]["id"] == outcome["run_id"]

    status = nws("status")
    assert status.code == 0
    assert "bertscore|model:sentence-transformers/all-MiniLM-L6-v2@1110a243" in status.out
    assert nws("status", outcome["run_id"], "--json").json["failed_articles"] == []

    query = nws("query", "select system, n, avg(bertscore_f1) as f1 from summaries group by 1, 2 order by 1, 2")
    assert query.out.splitlines()[0].split() == ["system", "n", "f1"]
    assert len(query.out.splitlines()) == 2 + 8
    assert len(nws("query", "select * from sweep_curve", "--json").json) == 8

    report = nws("report")
    assert report.code == 0
    assert "lead" in report.out
    assert (tmp_path / "reports" / outcome["run_id"] / "curves.png").stat().st_size > 10_000
    assert nws("report", "--json", "--out", "elsewhere").json
    assert (tmp_path / "elsewhere" / "curves.svg").exists()

    again = nws(*SUBMIT, "--resume", "--json")
    assert again.json == outcome
    assert nws("resume", outcome["run_id"], "--engine", "inline", "--json").json == outcome


def test_a_dry_run_says_what_would_run_and_runs_nothing(nws, tmp_path: Path) -> None:
    plan = nws("submit", "phase1", "--dry-run", "--json").json
    assert (plan["articles"], plan["rows"]) == (24, 24 * 4 * 11)
    assert plan["encoders"] == {
        "all-MiniLM-L6-v2": "sentence-transformers/all-MiniLM-L6-v2@1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
    }
    shown = nws("submit", "phase1", "--dry-run", "--encoder", "bert-base-uncased", "--accelerator", "T4").out
    assert "bert-base-uncased|textrank|chunks" in shown
    assert "86b5e0934494bd15c9632b12f734a8a67f723594" in shown
    assert "not on this machine" in shown
    assert list(tmp_path.iterdir()) == []


def test_failed_articles_make_the_exit_code_one(nws, tmp_path: Path) -> None:
    rows = ['{"article": "The town opened a bridge.", "summary": "Bridge."}', '{"article": "", "summary": "None."}']
    (tmp_path / "news.jsonl").write_text("\n".join(rows))
    result = nws("submit", "phase1", "--engine", "inline", "--dataset", "news.jsonl", "--n", "1", "--json")
    assert (result.code, result.json["failures"], result.json["state"]) == (1, 1, "done")
    assert "EmptyArticleError" in nws("status").out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("submit", "phase1", "--n", "seven"), 2, "such as 7,9,11,13"),
        (("submit", "phase1", "--engine", "slurm"), 2, "ray or inline"),
        (("submit", "phase1", "--recipe", "none"), 2, "no recipe 'none'"),
        (("submit", "phase1", "--limit", "0"), 2, "--limit"),
        (("submit", "phase1", "--dataset", "absent.jsonl"), 1, "no file absent.jsonl"),
        (("submit", "phase1", "--dataset", "sample-ko"), 1, "Korean"),
        (("submit", "phase1", "--pipeline", "en_core_web_xx"), 1, "python -m spacy download en_core_web_xx"),
        (("ls",), 1, "nws.db"),
        (("ls", "--store", "mysql://u:secret@h/d"), 1, "unsupported database"),
    ],
)
def test_errors_say_what_to_do_without_a_traceback(nws, arguments, code: int, message: str) -> None:
    result = nws(*arguments)
    assert result.code == code
    assert message in result.err
    assert "Traceback" not in result.err
    assert "secret" not in result.err
    assert result.out == ""


def test_unknown_runs_are_answered_with_the_known_ones(nws) -> None:
    run_id = nws(*SUBMIT, "--json").json["run_id"]
    for command in ("resume", "status", "report"):
        result = nws(command, "absent")
        assert result.code == 1
        assert run_id in result.err


def test_a_query_cannot_write(nws) -> None:
    nws("db", "upgrade")
    result = nws("query", "delete from runs")
    assert result.code == 1
    assert "read-only" in result.err


def test_the_schema_commands(nws) -> None:
    assert nws("db", "current").code == 1
    assert "none -> 0001" in nws("db", "upgrade").out
    assert nws("db", "current").code == 0


def test_the_environment_gives_flags(nws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NWS_LIMIT", "2")
    monkeypatch.setenv("NWS_N", "3,5")
    plan = nws("submit", "phase1", "--dry-run", "--json", "--n", "9").json
    assert (plan["articles"], plan["n"]) == (2, [9])
