"""What `nws --help` lists."""

import typer.main

from jobs.cli import app


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
