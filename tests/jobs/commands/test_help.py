"""What `nws --help` lists, and what `nws doctor` says of models that come in packages."""

import pytest
import typer.main

from nws.core.text import segmentation
from nws.core.text.segmentation import DEFAULT_TRAINED_PIPELINE
from nws.jobs.cli import app
from nws.jobs.commands import doctor


def test_every_command_is_told_in_one_whole_sentence_and_submit_comes_first() -> None:
    group = typer.main.get_command(app)
    context = group.make_context("nws", [], resilient_parsing=True)
    told = group.get_help(context).split("Commands:\n")[1].splitlines()
    assert told[0].split()[0] == "submit"
    assert len(told) > 20
    assert [line for line in told if not line.endswith(".") or line.endswith("...")] == []


def test_the_options_of_a_job_stand_in_groups() -> None:
    submit = typer.main.get_command(app).commands["submit"]
    for job, command in submit.commands.items():
        told = command.get_help(command.make_context(f"nws submit {job}", [], resilient_parsing=True))
        headings = [line for line in told.splitlines() if line.endswith(":") and not line.startswith(" ")]
        assert headings == ["Options:", "Articles:", "Systems:", "Metrics:", "Machines:", "Run:"], job
        assert "<" not in told, "each value has a word of its own"


@pytest.mark.parametrize(
    ("there", "state", "says"),
    [
        ((DEFAULT_TRAINED_PIPELINE,), "ok", f"{DEFAULT_TRAINED_PIPELINE}@1 "),
        ((), "missing", "python -m spacy download en_core_web_sm"),
    ],
)
def test_the_studys_pipeline(monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], state: str, says: str) -> None:
    monkeypatch.setattr(segmentation, "is_installed", there.__contains__)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1")
    check = doctor._check("spaCy", "missing", doctor._trained_pipeline)
    assert check.state == state
    assert says in check.text
    assert segmentation.resolve_pipeline("auto") == "blank", "whatever is installed"
