import functools
import os
import shlex
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench import stub_work
from cluster.job_api import RayJob
from core.errors import ClusterError, RecipeError
from core.provenance import file_sha256
from jobs import cli
from jobs.drive import driver, pools, ship
from jobs.drive.ship import START, Place, follow_run
from jobs.installation import ROOT, VERSION_FILE, code_version
from jobs.recipes.job import make_plan, plan_job
from jobs.recipes.load import load_recipe
from jobs.recipes.plan import Plan
from jobs.recipes.sweep_recipe import Phase1Recipe
from jobs.store import LogLine, Store, open_store

PASSWORD = "s3cret-w0rd"
URL = f"postgresql://nws:{PASSWORD}@db.example/results"


class FakeHead:
    """A head that takes every job, or refuses with an error; `shipped` looks at what it is sent."""

    def __init__(self, error: ClusterError | None = None, jobs: tuple[RayJob, ...] = ()) -> None:
        self.address = "http://head:8265"
        self.error = error
        self.found = list(jobs)
        self.calls: list[tuple[object, ...]] = []
        self.shipped: dict[str, str] = {}

    def submit_job(self, *arguments: object) -> None:
        if self.error:
            raise self.error
        self.calls.append(arguments)
        folder = Path(str(arguments[2]))
        self.shipped = {str(path.relative_to(folder)): path.read_text() for path in files(folder)}

    def jobs(self) -> list[RayJob]:
        return self.found

    def job(self, name: str) -> RayJob:
        return next(job for job in self.found if job.submission_id == name)

    def stop(self, name: str) -> bool:
        self.calls.append(("stop", name))
        return True

    def log(self, name: str) -> str:
        return f"{name}: No module named 'core'\n"


@pytest.fixture
def head(monkeypatch: pytest.MonkeyPatch) -> FakeHead:
    fake = FakeHead()
    monkeypatch.setattr(ship, "Head", lambda address: fake)
    return fake


@pytest.fixture
def store(tmp_path: Path):
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        yield opened


@pytest.fixture
def plan() -> Plan:
    return make_plan(load_recipe(Phase1Recipe, "sample", {}))


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def make_checkout(root: Path) -> Path:
    """A checkout with what must be shipped, and with what must not."""
    contents = {
        "core/text/words.py": "words",
        "core/sample/english.jsonl": "{}",
        "jobs/new.py": "not added to git yet",
        "alembic/versions/0001.py": "",
        "jobs/nws.db": "",
        "jobs/nws.db-wal": "",
        "core/.env": PASSWORD,
        "core/server.pem": PASSWORD,
        "core/__pycache__/words.cpython-311.pyc": "",
        "core/Server.PEM": PASSWORD,
        "core/id_rsa": PASSWORD,
        "core/Credentials": PASSWORD,
        "core/news.jsonl": "data",
        "core/articles.csv": "data",
        "core/articles.parquet": "data",
        "core/weights.safetensors": "data",
        "core/notes.txt": "",
        "core/recipe.yaml": "",
        "jobs/NWS.DB": "",
        "jobs/store.SQLite3": "",
        "jobs/dump.sql.gz": "",
        "data/news.jsonl": "",
        "tests/test_words.py": "",
    }
    for name, text in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "jobs" / "link.py").symlink_to(root / "core" / "server.pem")
    (root / "jobs" / "linked").symlink_to(root / "data", target_is_directory=True)
    (root / "data" / "code.py").write_text("behind a link")
    return root


ADDED = [".nws_code_version", ".nws_store_url", ".nws_submission"]
SHIPPED = ["alembic/versions/0001.py", "core/sample/english.jsonl", "core/text/words.py", "jobs/new.py"]


def test_code_is_shipped_and_neither_databases_nor_data_nor_secrets(tmp_path: Path) -> None:
    checkout, target = make_checkout(tmp_path / "checkout"), tmp_path / "target"
    target.mkdir()
    ship.stage(target, URL, "r1", checkout)
    assert [str(path.relative_to(target)) for path in files(target)] == [*ADDED, *SHIPPED]


def test_all_code_of_this_checkout_is_shipped(tmp_path: Path) -> None:
    ship.stage(tmp_path, URL, "r1")
    assert (tmp_path / "nws_start.py").is_file()
    for folder in ("core", "cluster", "jobs", "nws", "alembic"):
        code = {
            path.relative_to(ROOT) for kind in ("py", "j2", "css", "js") for path in (ROOT / folder).rglob(f"*.{kind}")
        }
        assert code <= {path.relative_to(tmp_path) for path in files(tmp_path / folder)}
        assert code


def test_of_an_installed_wheel_our_packages_are_shipped_and_no_library(tmp_path: Path) -> None:
    packages, target = make_checkout(tmp_path / "site-packages"), tmp_path / "target"
    (packages / "jobs/store/migrations").mkdir(parents=True)
    (packages / "jobs/store/migrations/env.py").write_text("")
    target.mkdir()
    ship.stage(target, URL, "r1", packages)
    found = {str(path.relative_to(target)) for path in files(target)}
    assert found == {*ADDED, *SHIPPED[1:], "jobs/store/migrations/env.py"}


def test_the_password_is_in_the_file_for_the_driver_alone(tmp_path: Path) -> None:
    ship.stage(tmp_path, URL, "r1")
    assert [path.name for path in files(tmp_path) if PASSWORD in path.read_text()] == [ship.URL_FILE]
    secret = tmp_path / ship.URL_FILE
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert (tmp_path / VERSION_FILE).read_text() == code_version()
    assert {
        "core/sweep.py",
        "jobs/recipes/bundled/phase1/paper.yaml",
        "alembic/env.py",
        "core/sample/korean.jsonl",
    } <= {str(path.relative_to(tmp_path)) for path in files(tmp_path)}


def test_the_staged_checkout_runs_finds_its_store_and_forgets_it(tmp_path: Path) -> None:
    ship.stage(tmp_path, "sqlite:///relative.db", "r1")
    script = (
        "from jobs.drive.ship import take_store_url; from jobs.installation import code_version; "
        "print(code_version(), take_store_url(), take_store_url())"
    )
    command = [str(Path(os.sys.executable)), "-c", script]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert told == f"{code_version()} sqlite:///{Path.cwd() / 'relative.db'} None\n"
    assert not (tmp_path / ship.URL_FILE).exists()


def test_the_job_has_the_name_of_the_run_and_tells_no_password(store: Store, head: FakeHead, plan: Plan) -> None:
    run_id = ship.ship_run(store, plan, "http://head:8265")
    (call,) = head.calls
    assert call[:2] == (run_id, f"python -m jobs.cli drive {run_id} --epoch 0")
    assert call[4] == {"run_id": run_id, "job": "phase1", "store": store.shown_url}
    assert [name for name, text in head.shipped.items() if store.url in text] == [ship.URL_FILE]
    assert not Path(str(call[2])).exists()
    run = store.run_info(run_id)
    assert (run.state, run.address) == ("pending", "http://head:8265")


def test_predictions_go_along_with_every_submission_of_their_run(store: Store, head: FakeHead, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": "a", "prediction": "a text"}')
    named = {"systems": ["lead"], "predictions": [{"name": "mine", "file": str(file)}]}
    run_id = ship.ship_run(store, plan_job("baselines", "sample", named), "http://head:8265")
    shipped = f".nws_files/{file_sha256(file)}.jsonl"
    assert head.shipped[shipped] == file.read_text()

    head.shipped = {}
    ship.ship_again(store, run_id, "http://head:8265", None, None, True)
    assert head.shipped[shipped] == file.read_text()
    file.write_text('{"id": "a", "prediction": "another"}')
    with pytest.raises(RecipeError, match="was changed"):
        ship.ship_again(store, run_id, "http://head:8265", None, None, True)


def test_a_refused_submission_leaves_no_pending_run(store: Store, head: FakeHead, plan: Plan) -> None:
    head.error = ClusterError("the head is full")
    with pytest.raises(ClusterError):
        ship.ship_run(store, plan, "http://head:8265")
    (run,) = store.list_runs()
    assert (run.state, run.error) == ("failed", "the head is full")


def test_a_run_is_submitted_again_under_the_next_name(store: Store, head: FakeHead, plan: Plan) -> None:
    run_id = ship.ship_run(store, plan, "http://head:8265")
    others = (f"{run_id}-a10", f"{run_id}-a2", run_id, "another", f"{run_id}x", f"{run_id}-ab")
    head.found = [RayJob(name, "STOPPED", "") for name in others]
    assert ship.ship_again(store, run_id, "http://head:8265", "T4", 2, True) == (f"{run_id}-a11", 1)
    assert head.calls[-1][1] == f"python -m jobs.cli drive {run_id} --epoch 1 --accelerator T4 --actors 2"
    assert ship.jobs_of(head, run_id) == [run_id, f"{run_id}-a2", f"{run_id}-a10"]

    head.found = []  # the head was started again
    assert ship.ship_again(store, run_id, "http://head:8265", None, None, False) == (f"{run_id}-a2", 2)


def test_only_jobs_that_live_are_stopped(head: FakeHead) -> None:
    head.found = [
        RayJob("r", "FAILED", ""),
        RayJob("r-a2", "RUNNING", ""),
        RayJob("r-a3", "PENDING", ""),
        RayJob("q", "RUNNING", ""),
    ]
    assert ship.stop_jobs(head, "r") == ["r-a2", "r-a3"]


def test_a_job_that_never_drove_is_an_error_and_ends_the_run(store: Store, head: FakeHead, plan: Plan) -> None:
    run_id = ship.ship_run(store, plan, "http://head:8265")
    head.found = [RayJob(run_id, "FAILED", "exit code 1")]
    with pytest.raises(ClusterError, match=r"exit code 1(.|\n)*No module named 'core'"):
        follow_run(store, run_id, Place(0, 0), lambda line: None, (head, run_id))
    run = store.run_info(run_id)
    assert run.state == "failed"
    assert "No module named 'core'" in str(run.error)


def test_following_waits_for_a_new_end_and_hands_on_new_lines(store: Store, head: FakeHead, plan: Plan) -> None:
    run_id = ship.ship_run(store, plan, "http://head:8265")
    said: list[str] = []

    def drive(text: str) -> Callable[[LogLine], None]:
        epoch = store.claim_run(run_id, socket.gethostname(), os.getpid())
        now = store.run_info(run_id).created_at
        store.writer(run_id, epoch).heartbeat([LogLine(now, text), LogLine(now, "the end")])
        return lambda line: said.append(line.text)

    say = drive("one")
    store.writer(run_id, 1).finish("interrupted")
    assert follow_run(store, run_id, START, say).state == "interrupted"
    assert said == ["one", "the end"]

    say = drive("two")
    head.found = [RayJob(run_id, "SUCCEEDED", "")]

    def say_and_finish(line: LogLine) -> None:
        say(line)
        if line.text == "the end":
            store.writer(run_id, 2).finish("done")

    assert follow_run(store, run_id, Place(1, 2), say_and_finish, (head, run_id)).state == "done"
    assert said == ["one", "the end", "two", "the end"]


def test_a_driver_that_is_gone_is_told(
    store: Store, head: FakeHead, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = ship.ship_run(store, plan, "http://head:8265")
    ended = subprocess.Popen(["true"])
    ended.wait()
    store.claim_run(run_id, socket.gethostname(), ended.pid)
    monkeypatch.setattr("jobs.drive.ship.SILENT_SECONDS", 0.5)
    with pytest.raises(ClusterError, match=f"is gone.*nws resume {run_id}"):
        follow_run(store, run_id, Place(0, 0), lambda line: None)


@pytest.fixture
def nws(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("signal.signal", lambda *args: None)
    monkeypatch.setenv("NWS_STORE", f"sqlite:///{tmp_path / 'store.db'}")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["nws", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return int(stopped.value.code or 0), *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--address", "10.0.0.1:6379"), "http://HEAD:8265"),
        (("--address", "ray://10.0.0.1:10001"), "RAY_ADDRESS unset"),
        (("--address", f"http://me:{PASSWORD}@head:8265"), "must hold no user or password"),
        (("--address", "http://head:8265", "--engine", "inline"), "leave one out"),
    ],
)
def test_an_address_that_cannot_be_meant_is_refused(nws, arguments: tuple[str, ...], message: str) -> None:
    for command in (("submit", "phase1"), ("submit", "baselines"), ("resume", "some-run")):
        code, out, err = nws(*command, *arguments)
        assert (code, out) == (2, "")
        assert message in err
        assert PASSWORD not in err


def test_ray_address_means_the_cluster_and_an_empty_one_this_machine(nws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert nws("submit", "phase1")[0] == 2
    monkeypatch.setenv("RAY_ADDRESS", "")
    assert nws("submit", "phase1", "--engine", "inline", "--limit", "1", "--n", "1")[0] == 0


def test_a_driver_that_cannot_begin_ends_the_run_and_says_why(nws, store: Store, tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text('{"article": "The town opened a bridge.", "summary": "Bridge."}')
    dataset = [{"name": str(tmp_path / "news.jsonl")}]
    plan = make_plan(load_recipe(Phase1Recipe, "sample", {"datasets": dataset}))
    run_id = store.create_run(plan.run_spec("http://head:8265"))
    (tmp_path / "news.jsonl").unlink()
    code, _, err = nws("drive", run_id)
    assert code == 1
    assert "must lie at the same path on the head" in err
    run = store.run_info(run_id)
    assert run.state == "failed"
    assert "must lie at the same path on the head" in str(run.error)


def test_logs_of_a_run_are_lines_with_times(nws, store: Store) -> None:
    assert nws("submit", "phase1", "--engine", "inline", "--limit", "2", "--n", "1")[0] == 0
    run_id = store.list_runs()[0].id
    code, out, _ = nws("logs", run_id)
    assert code == 0
    assert f"Run {run_id} in sqlite:///" in out.splitlines()[0]
    assert nws("logs", run_id, "--follow")[1] == out
    code, _, err = nws("logs", run_id, "--job")
    assert code == 2
    assert "was not submitted to a cluster" in err


def test_a_run_that_no_driver_has_is_cancelled_at_once(nws, store: Store, plan: Plan) -> None:
    run_id = store.create_run(plan.run_spec())
    assert nws("cancel", run_id)[:2] == (0, f"Run {run_id} is interrupted.\n")
    assert (
        nws("cancel", run_id, "--json")[1] == f'{{"run_id": "{run_id}", "state": "interrupted", "stopped_jobs": []}}\n'
    )


def test_a_local_driver_that_does_not_react_is_named(
    nws, store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.commands.manage._PATIENCE_SECONDS", 0.0)
    run_id = store.create_run(plan.run_spec())
    store.claim_run(run_id, socket.gethostname(), os.getpid())
    code, out, err = nws("cancel", run_id)
    assert (code, out) == (1, f"Run {run_id} is running.\n")
    assert f"pid {os.getpid()} on {socket.gethostname()}, has not reacted yet" in err


@pytest.fixture
def news(tmp_path: Path) -> Path:
    stub_work.write_articles(tmp_path / "news.jsonl", 4)
    return tmp_path / "news.jsonl"


@pytest.fixture
def begin(nws, head: FakeHead, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], tuple[int, str, str]]:
    """Runs the entrypoint of the head's n-th job, with work that costs nothing, on the in-process pool."""

    def inline(recipe, engine, *rest):
        return pools.open_pools(recipe, "inline", *rest)

    monkeypatch.setattr(driver, "open_pools", inline)
    monkeypatch.setattr(driver, "resume", functools.partial(driver.resume, make_work=stub_work.work))

    def job(number: int) -> tuple[int, str, str]:
        return nws(*shlex.split(str(head.calls[number][1]))[3:])

    return job


def pinned_to(news: Path) -> Plan:
    return make_plan(load_recipe(Phase1Recipe, "sample", {"datasets": [{"name": str(news)}], "n": [1, 3]}))


def test_of_two_jobs_of_a_pending_run_the_later_one_drives_it(
    store: Store, head: FakeHead, news: Path, begin: Callable[[int], tuple[int, str, str]]
) -> None:
    run_id = ship.ship_run(store, pinned_to(news), "http://head:8265")
    ship.ship_again(store, run_id, "http://head:8265", None, None, False)
    text = news.read_text()
    news.unlink()
    code, _, err = begin(0)  # it could not drive the run, either
    assert code == 1
    assert store.run_info(run_id).state == "pending", err
    assert "no longer this job's" in err

    news.write_text(text)
    assert begin(1)[0] == 0
    assert store.run_info(run_id).state == "done"
    assert begin(0)[0] == begin(1)[0] == 1
    run = store.run_info(run_id)
    assert (run.state, run.articles_done, run.error) == ("done", 4, None)


def test_a_job_of_a_cancelled_run_does_not_drive_it(
    store: Store, news: Path, begin: Callable[[int], tuple[int, str, str]]
) -> None:
    run_id = ship.ship_run(store, pinned_to(news), "http://head:8265")
    assert not store.cancel_run(run_id, "elsewhere")
    assert begin(0)[0] == 1
    assert (store.run_info(run_id).state, store.run_info(run_id).summaries) == ("interrupted", 0)


@pytest.mark.faults
def test_a_job_that_is_killed_before_it_drives_leaves_no_pending_run(
    store: Store, head: FakeHead, news: Path, tmp_path: Path, begin: Callable[[int], tuple[int, str, str]], nws
) -> None:
    run_id = ship.ship_run(store, pinned_to(news), "http://head:8265")
    waits = f"pending, waits for its Ray job at http://head:8265. If that is gone: nws resume {run_id}"
    assert waits in nws("status", run_id)[1]
    # The driver gets ready: it reads its datasets, here without an end.
    script = (
        "import sys, time; from jobs import cli; from jobs.drive import driver; "
        "driver.plan_again = lambda *arguments: (print('ready', flush=True), time.sleep(600)); cli.main()"
    )
    job = subprocess.Popen(
        [sys.executable, "-c", script, *shlex.split(str(head.calls[0][1]))[3:]],
        env={**os.environ, "PYTHONPATH": str(ship.ROOT), "NWS_STORE": f"sqlite:///{tmp_path / 'store.db'}"},
        stdout=subprocess.PIPE,
    )
    assert job.stdout is not None
    assert job.stdout.readline() == b"ready\n"
    job.kill()
    job.communicate()
    run = store.run_info(run_id)
    assert (run.state, run.driver_pid) == ("running", job.pid)

    ship.ship_again(store, run_id, "http://head:8265", None, None, False)  # the driver is seen to be gone
    assert begin(1)[0] == 0
    assert store.run_info(run_id).state == "done"
