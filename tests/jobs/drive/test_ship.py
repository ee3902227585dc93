"""What is sent to a cluster, under which names, and how a run is followed there and ended."""

import functools
import os
import shlex
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_head import FakeHead

from bench import stub_work
from nws.core.errors import ClusterError, RecipeError
from nws.core.provenance import file_sha256
from nws.jobs.drive import driver, pools, ship
from nws.jobs.drive.ship import follow_run
from nws.jobs.installation import ROOT, VERSION_FILE, code_version
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import LogLine, Store

PASSWORD = "s3cret-w0rd"
URL = f"postgresql://nws:{PASSWORD}@db.example/results"
HEAD = "http://head:8265"


@pytest.fixture
def head(monkeypatch: pytest.MonkeyPatch) -> FakeHead:
    fake = FakeHead()
    monkeypatch.setattr(ship, "Head", lambda address: fake)
    return fake


@pytest.fixture
def plan() -> Plan:
    return plan_job("phase1", "sample", {})


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


ADDED = {"nws/.code_version", ".nws_store_url", ".nws_submission"}
LINKS = {"core": "core", "cluster": "cluster", "jobs": "jobs", "migrations": "alembic"}
SHIPPED = {"core/sample/english.jsonl", "core/text/length.py", "jobs/new.py", "alembic/versions/0001.py"}
KEPT = [
    *("jobs/nws.db", "jobs/nws.db-wal", "jobs/NWS.DB", "jobs/store.SQLite3", "jobs/dump.sql.gz", "data/news.jsonl"),
    *("core/.env", "core/server.pem", "core/Server.PEM", "core/id_rsa", "core/Credentials", "core/notes.txt"),
    *("core/news.jsonl", "core/articles.csv", "core/articles.parquet", "core/weights.safetensors", "core/recipe.yaml"),
    *("core/__pycache__/words.cpython-311.pyc", "tests/test_words.py", "data/code.py"),
]


@pytest.mark.parametrize("installed", [False, True], ids=["checkout", "installed wheel"])
def test_code_is_shipped_and_neither_databases_nor_data_nor_secrets(installed: bool, tmp_path: Path) -> None:
    checkout, target = tmp_path / "checkout", tmp_path / "target"
    (checkout / "nws").mkdir(parents=True)
    for link, folder in LINKS.items():
        if installed:
            (checkout / "nws" / link).mkdir()
        else:
            (checkout / folder).mkdir()
            (checkout / "nws" / link).symlink_to(Path("..", folder))
    package = {f"nws/{name}".replace("nws/alembic/", "nws/migrations/") for name in SHIPPED}
    # Beside an installed package lies what others have installed.
    for name in (*package, *(f"nws/{name}" for name in KEPT), "nws/plugins.py", "alembic/op.py", "theirs/__init__.py"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("")
    (checkout / "nws" / "jobs" / "link.py").symlink_to(checkout / "nws" / "core" / "server.pem")
    (checkout / "nws" / "jobs" / "linked").symlink_to(checkout / "nws" / "data", target_is_directory=True)
    target.mkdir()
    ship.stage(target, URL, "r1", checkout)
    assert files(target) == {*ADDED, *package, "nws/plugins.py", *(() if installed else ["nws/migrations/op.py"])}


def test_all_code_is_shipped_and_the_password_is_in_the_file_for_the_driver_alone(tmp_path: Path) -> None:
    ship.stage(tmp_path, URL, "r1")
    shipped = files(tmp_path)
    for link, folder in LINKS.items():
        code = {path for kind in ("py", "j2", "css", "js") for path in (ROOT / folder).rglob(f"*.{kind}")}
        assert code
        assert {f"nws/{link}/{path.relative_to(ROOT / folder)}" for path in code} <= shipped
    assert {"nws/plugins.py", "nws/jobs/recipes/bundled/phase1/paper.yaml", "nws/core/sample/korean.jsonl"} <= shipped
    assert "nws/core/models/headlines.txt" in shipped
    assert [name for name in shipped if PASSWORD in (tmp_path / name).read_text()] == [ship.URL_FILE]
    assert stat.S_IMODE((tmp_path / ship.URL_FILE).stat().st_mode) == 0o600
    assert (tmp_path / VERSION_FILE).read_text() == code_version()


def test_the_staged_checkout_runs_finds_its_store_and_forgets_it(tmp_path: Path) -> None:
    ship.stage(tmp_path, "sqlite:///relative.db", "r1")
    script = (
        "from nws.jobs.drive.ship import take_store_url; from nws.jobs.installation import code_version; "
        "print(code_version(), take_store_url(), take_store_url())"
    )
    command = [sys.executable, "-c", script]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert told == f"{code_version()} sqlite:///{Path.cwd() / 'relative.db'} None\n"
    assert not (tmp_path / ship.URL_FILE).exists()


def test_the_job_has_the_name_of_the_run_and_tells_no_password(store: Store, head: FakeHead, plan: Plan) -> None:
    run_id = ship.ship_run(store, plan, HEAD)
    assert head.entrypoints == {run_id: f"python -m nws.jobs.cli drive {run_id} --epoch 0"}
    assert head.metadata == {"run_id": run_id, "job": "phase1", "store": store.shown_url}
    assert [name for name, text in head.shipped.items() if store.url in text] == [ship.URL_FILE]
    run = store.run_info(run_id)
    assert (run.state, run.address) == ("pending", HEAD)


def test_predictions_go_along_with_every_submission_of_their_run(store: Store, head: FakeHead, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": "a", "prediction": "a text"}')
    named = {"systems": ["lead"], "predictions": [{"name": "mine", "file": str(file)}]}
    shipped = f".nws_files/{file_sha256(file)}.jsonl"
    run_id = ship.ship_run(store, plan_job("baselines", "sample", named), HEAD)
    assert head.shipped[shipped] == file.read_text()
    ship.ship_again(store, run_id, HEAD, None, None, True)
    assert head.shipped[shipped] == file.read_text()
    file.write_text('{"id": "a", "prediction": "another"}')
    with pytest.raises(RecipeError, match="was changed"):
        ship.ship_again(store, run_id, HEAD, None, None, True)


def test_a_refused_submission_leaves_no_pending_run(store: Store, head: FakeHead, plan: Plan) -> None:
    head.error = ClusterError("the head is full")
    with pytest.raises(ClusterError):
        ship.ship_run(store, plan, HEAD)
    (run,) = store.list_runs()
    assert (run.state, run.error) == ("failed", "the head is full")


def test_a_run_is_submitted_again_under_the_next_name_and_only_jobs_that_live_are_stopped(
    store: Store, head: FakeHead, plan: Plan
) -> None:
    run_id = ship.ship_run(store, plan, HEAD)
    for name in (f"{run_id}-a10", f"{run_id}-a2", run_id, "another", f"{run_id}x", f"{run_id}-ab"):
        head.becomes(name, "STOPPED")
    assert ship.ship_again(store, run_id, HEAD, "T4", 2, True) == (f"{run_id}-a11", 1)
    assert head.entrypoints[f"{run_id}-a11"].endswith(f"drive {run_id} --epoch 1 --accelerator T4 --actors 2")
    head.becomes(f"{run_id}-a2", "RUNNING")
    assert ship.jobs_of(head, run_id) == [run_id, f"{run_id}-a2", f"{run_id}-a10", f"{run_id}-a11"]
    assert ship.stop_jobs(head, run_id) == [f"{run_id}-a2", f"{run_id}-a11"] == head.stopped
    head.known = {}  # the head was started again
    assert ship.ship_again(store, run_id, HEAD, None, None, False) == (run_id, 2)


def test_a_job_that_never_drove_is_an_error_and_ends_the_run(store: Store, head: FakeHead, plan: Plan) -> None:
    run_id = ship.ship_run(store, plan, HEAD)
    head.becomes(run_id, "FAILED", "exit code 1")
    with pytest.raises(ClusterError, match=r"exit code 1(.|\n)*No module named 'nws'"):
        follow_run(store, run_id, lambda line: None, epoch=0, job=(head, run_id))
    run = store.run_info(run_id)
    assert run.state == "failed"
    assert "No module named 'nws'" in str(run.error)


def test_following_waits_for_a_new_end_and_hands_on_new_lines(store: Store, head: FakeHead, plan: Plan) -> None:
    run_id = ship.ship_run(store, plan, HEAD)
    said: list[str] = []

    def drive(text: str) -> None:
        epoch = store.claim_run(run_id, socket.gethostname(), os.getpid())
        now = store.run_info(run_id).created_at
        store.writer(run_id, epoch).heartbeat([LogLine(now, text), LogLine(now, "the end")])

    drive("one")
    store.writer(run_id, 1).finish("interrupted")
    assert follow_run(store, run_id, lambda line: said.append(line.text)).state == "interrupted"
    assert said == ["one", "the end"]
    drive("two")
    head.becomes(run_id, "SUCCEEDED")

    def say_and_finish(line: LogLine) -> None:
        said.append(line.text)
        if line.text == "the end":
            store.writer(run_id, 2).finish("done")

    assert follow_run(store, run_id, say_and_finish, 1, 2, (head, run_id)).state == "done"
    assert said == ["one", "the end", "two", "the end"]


@pytest.fixture
def in_store(nws: Any, store: Store, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`nws`, with this store."""
    monkeypatch.setenv("NWS_STORE", store.url)
    return nws


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--address", "10.0.0.1:6379"), "http://HEAD:8265"),
        (("--address", "ray://10.0.0.1:10001"), "unset RAY_ADDRESS"),
        (("--address", f"http://me:{PASSWORD}@head:8265"), "must not have a user or password"),
        (("--address", HEAD, "--engine", "inline"), "Leave one out"),
    ],
)
def test_an_address_that_cannot_be_meant_is_refused(nws: Any, arguments: tuple[str, ...], message: str) -> None:
    for command in (("submit", "phase1"), ("submit", "baselines"), ("resume", "some-run")):
        refused = nws(*command, *arguments)
        assert (refused.code, refused.out, message in refused.err) == (2, "", True), refused.err
        assert PASSWORD not in refused.err


def test_ray_address_means_the_cluster_and_an_empty_one_this_machine(nws: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert nws("submit", "phase1").code == 2
    monkeypatch.setenv("RAY_ADDRESS", "")
    assert nws("submit", "phase1", "--engine", "inline", "--limit", "1", "--n", "1").code == 0


def test_cancelling_ends_a_run_without_a_driver_and_names_a_driver_that_does_not_react(
    in_store: Any, store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = store.create_run(plan.run_spec())
    assert in_store("cancel", run_id).out == f"Run {run_id} is interrupted.\n"
    told = in_store("cancel", run_id, "--json").json
    assert told == {"run_id": run_id, "state": "interrupted", "stopped_jobs": []}
    monkeypatch.setattr("nws.jobs.commands.manage._PATIENCE_SECONDS", 0.0)
    store.claim_run(run_id, socket.gethostname(), os.getpid())
    cancelled = in_store("cancel", run_id)
    assert (cancelled.code, cancelled.out) == (1, f"Run {run_id} is running.\n")
    assert f"pid {os.getpid()} on {socket.gethostname()}, has not reacted yet" in cancelled.err


@pytest.fixture
def news(tmp_path: Path) -> Path:
    stub_work.write_articles(tmp_path / "news.jsonl", 4)
    return tmp_path / "news.jsonl"


@pytest.fixture
def submitted(store: Store, head: FakeHead, news: Path) -> str:
    """A run that waits for its job."""
    changes = {"datasets": [{"name": str(news)}], "n": [1, 3]}
    return ship.ship_run(store, plan_job("phase1", "sample", changes), HEAD)


@pytest.fixture
def begin(in_store: Any, head: FakeHead, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Any]:
    """Runs the entrypoint of the head's n-th job, with work that costs nothing, on the in-process pool."""
    monkeypatch.setattr(driver, "open_pools", lambda recipe, engine, *rest: pools.open_pools(recipe, "inline", *rest))
    monkeypatch.setattr(driver, "resume", functools.partial(driver.resume, make_work=stub_work.work))
    return lambda number: in_store(*shlex.split(list(head.entrypoints.values())[number])[3:])


def test_of_two_jobs_of_a_pending_run_the_later_one_drives_it(
    store: Store, submitted: str, news: Path, begin: Callable[[int], Any]
) -> None:
    ship.ship_again(store, submitted, HEAD, None, None, False)
    text = news.read_text()
    news.unlink()
    earlier = begin(0)  # it could not drive the run, either
    assert (earlier.code, "no longer this job's" in earlier.err) == (1, True), earlier.err
    assert store.run_info(submitted).state == "pending"
    news.write_text(text)
    assert begin(1).code == 0
    assert store.run_info(submitted).state == "done"
    assert begin(0).code == begin(1).code == 1
    run = store.run_info(submitted)
    assert (run.state, run.articles_done, run.error) == ("done", 4, None)


def test_a_driver_that_cannot_begin_ends_the_run_and_says_why(
    store: Store, submitted: str, news: Path, begin: Callable[[int], Any]
) -> None:
    news.unlink()
    failed = begin(0)
    assert (failed.code, "must be at the same path on the head" in failed.err) == (1, True), failed.err
    run = store.run_info(submitted)
    assert (run.state, "must be at the same path on the head" in str(run.error)) == ("failed", True)


def test_a_job_of_a_cancelled_run_does_not_drive_it(store: Store, submitted: str, begin: Callable[[int], Any]) -> None:
    assert not store.cancel_run(submitted, "elsewhere")
    assert begin(0).code == 1
    assert (store.run_info(submitted).state, store.run_info(submitted).summaries) == ("interrupted", 0)


@pytest.mark.faults
def test_a_job_that_is_killed_before_it_drives_leaves_no_pending_run(
    store: Store, head: FakeHead, submitted: str, in_store: Any, begin: Callable[[int], Any]
) -> None:
    waits = f"pending: waiting for its Ray job at {HEAD} to begin. If it has died: nws resume {submitted}"
    assert waits in " ".join(in_store("status", submitted).out.split())
    # The driver gets ready: it reads its datasets, here without an end.
    script = (
        "import sys, time; from nws.jobs import cli; from nws.jobs.drive import driver; "
        "driver.plan_again = lambda *arguments: (print('ready', flush=True), time.sleep(600)); cli.main()"
    )
    job = subprocess.Popen(
        [sys.executable, "-c", script, *shlex.split(head.entrypoints[submitted])[3:]],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )
    assert job.stdout is not None
    assert job.stdout.readline() == b"ready\n"
    job.kill()
    job.communicate()
    run = store.run_info(submitted)
    assert (run.state, run.driver_pid) == ("running", job.pid)
    ship.ship_again(store, submitted, HEAD, None, None, False)  # the driver is seen to be gone
    assert begin(1).code == 0
    assert store.run_info(submitted).state == "done"
