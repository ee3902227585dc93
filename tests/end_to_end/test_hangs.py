"""What dies or stops under a run without telling it: the run goes on or ends with the cause, and never waits for ever.

The Ray is the one that `nws submit` starts on this machine; its processes are found below the driver, and ended by pid.
"""

import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import yaml
from nws_process import STUB, end, finish, start, wait_for_rows

from bench import stub_work
from nws.jobs.recipes.load import load_recipe
from nws.jobs.recipes.sweep_recipe import Phase1Recipe

pytestmark = [pytest.mark.ray, pytest.mark.faults, pytest.mark.timeout(400)]

ARTICLES, ROWS_AN_ARTICLE = 300, 7 * 2
STORE = ("--store", "sqlite:///nws.db")
SECONDS_AN_ARTICLE = "0.5"
"""With two actors the run takes 75 s, so that it is at work when what has stopped is missed."""


@dataclass(frozen=True, slots=True)
class Running:
    """A run in work: its driver, and every process that the driver has started."""

    folder: Path
    driver: subprocess.Popen[str]
    below: list[psutil.Process]

    def named(self, title: str) -> psutil.Process:
        return next(one for one in self.below if one.is_running() and "".join(one.cmdline()[:1]).endswith(title))

    def run(self) -> sqlite3.Row:
        with sqlite3.connect(self.folder / "nws.db") as connection:
            connection.row_factory = sqlite3.Row
            (row,) = connection.execute("select * from runs")
        assert isinstance(row, sqlite3.Row)
        return row

    def log(self) -> str:
        with sqlite3.connect(self.folder / "nws.db") as connection:
            return "\n".join(text for (text,) in connection.execute("select text from log_lines order by number"))

    def resumes(self) -> None:
        """And has everything then, once."""
        options = ("--engine", "inline", *STORE, "--json")
        again = start(self.folder, "resume", self.run()["id"], *options, program=STUB, NWS_STUB_SECONDS="0")
        outcome = finish(again, 0)
        assert (outcome["state"], outcome["summaries"]) == ("done", ARTICLES * ROWS_AN_ARTICLE)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    stub_work.write_articles(tmp_path / "news.jsonl", ARTICLES)
    asked = {"datasets": [{"name": "news.jsonl"}], "n": [1, 7], "bundle_size": 4, "accelerator": "cpu", "actors": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        recipe = load_recipe(Phase1Recipe, "sample", {**asked, "stuck_after": 5}).model_dump(mode="json")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(recipe))
    driver = start(
        tmp_path, "submit", "phase1", "--recipe", "mine.yaml", *STORE, program=STUB, NWS_STUB_SECONDS=SECONDS_AN_ARTICLE
    )
    below: list[psutil.Process] = []
    try:
        wait_for_rows(tmp_path / "nws.db", driver)
        below += psutil.Process(driver.pid).children(recursive=True)
        yield Running(tmp_path, driver, below)
    finally:
        for process in below:
            if process.is_running():
                process.kill()
        end(driver)


@pytest.mark.parametrize(
    ("title", "told"), [("raylet", "The raylet of Ray on "), ("gcs_server", "The GCS of Ray has not answered")]
)
@pytest.mark.parametrize("stroke", [signal.SIGKILL, signal.SIGSTOP])
def test_the_end_of_the_local_ray_is_the_reason_of_the_run(
    running: Running, title: str, told: str, stroke: signal.Signals
) -> None:
    running.named(title).send_signal(stroke)
    _, said = running.driver.communicate(timeout=200)
    assert running.driver.returncode == 1, said
    assert told in said
    assert "Traceback" not in said
    run = running.run()
    assert run["state"] == "failed"
    assert told in run["error"]
    left = [one for one in running.below if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    assert psutil.wait_procs(left, timeout=30)[1] == []
    running.resumes()


def test_an_actor_that_is_stopped_is_replaced(running: Running) -> None:
    running.named("ray::SweepActor.sweep").suspend()
    _, said = running.driver.communicate(timeout=200)
    assert running.driver.returncode == 0, said
    run = running.run()
    assert (run["state"], run["error"]) == ("done", None)
    assert "is stuck: no answer for" in running.log()
    assert "is stuck: no answer for" in said
