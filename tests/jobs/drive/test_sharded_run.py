"""A sharded run: what its shards have together is, bit by bit, what one run has, whoever dies meanwhile."""

import shlex
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from failing_work import failing_work
from fake_head import FakeHead
from hypothesis import given
from hypothesis import strategies as st
from stored_rows import Stored, everything, rows
from undisturbed import QUIET

from bench import stub_work
from nws.core.errors import ClusterError, RecipeError
from nws.core.provenance import software
from nws.jobs.drive import driver, sharded_run
from nws.jobs.drive.driver import parts_of
from nws.jobs.drive.pools import MakeWork, stage_work
from nws.jobs.drive.run import Outcome
from nws.jobs.drive.sharded_run import ShardDriver, cluster_drivers, drive_shards, local_drivers
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import RunInfo, Store
from nws.jobs.store.runs import DRIVER_DIED

STUB = stub_work.work
HOST = socket.gethostname()
DEAD = 2**22 + 1
"""No process has this number."""
NAME = "phase1-20261124-abcdef"


class Killed(Exception):
    """In place of a signal: nothing but the end of a driver comes of it."""


@dataclass
class DriversHere:
    """Starts drivers in this process, each to its end before the next.

    `before` is called with each shard that one has claimed, and may raise in place of its work.
    """

    store: Store
    run_id: str
    make_work: MakeWork = stage_work
    before: Callable[[RunInfo], None] = lambda shard: None
    driven: list[int | None] = field(default_factory=list)

    def __call__(self, epoch: int) -> ShardDriver:
        death = ""
        try:
            drive_shards(self.store, self.run_id, epoch, self._drive, QUIET)
        except Killed as error:
            death = f"was killed: {error}"
        return ShardDriver("here", lambda: death)

    def _drive(self, store: Store, shard: str, epoch: int) -> Outcome:
        claimed = store.run_info(shard)
        self.driven.append(claimed.shard)
        self.before(claimed)
        return driver.resume(store, shard, "inline", None, None, QUIET, epoch=epoch, make_work=self.make_work)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharded_run, "_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(sharded_run, "_WAIT_SECONDS", 0.0)
    monkeypatch.setenv("NWS_STUB_SECONDS", "0")


def planned(**changes: object) -> Plan:
    return plan_job("phase1", "sample", {"n": [3, 7], "bundle_size": 2, **changes})


@pytest.fixture
def news(tmp_path: Path) -> Path:
    """A folder of three files, of 5, 4 and 8 articles, of which two are repeats."""
    folder = tmp_path / "news"
    folder.mkdir()
    stub_work.write_articles(tmp_path / "all.jsonl", 15, words=12)
    lines = (tmp_path / "all.jsonl").read_text().splitlines(keepends=True)
    lines = [*lines[:7], lines[2], *lines[7:14], lines[9], lines[14]]
    for name, begin, end in (("a", 0, 5), ("b", 5, 9), ("c", 9, 17)):
        (folder / f"{name}.jsonl").write_text("".join(lines[begin:end]))
    return folder


@pytest.fixture
def plan(news: Path) -> Plan:
    return planned(datasets=[{"name": str(news)}])


@pytest.fixture
def undisturbed(store: Store, plan: Plan) -> Stored:
    """The rows of one run."""
    return everything(store, driver.start(store, plan, "inline", QUIET, STUB).run_id)


def start(store: Store, plan: Plan, shards: int | None = None, articles: int | None = None) -> list[str]:
    return driver.create_sharded_run(store, NAME, plan, plan.run_spec(), 1, shards, articles)


def here(store: Store, before: Any = lambda shard: None, make_work: MakeWork = stub_work.work) -> DriversHere:
    return DriversHere(store, NAME, make_work, before)


def drive(store: Store, drivers: DriversHere, at_once: int = 1, **more: Any) -> Any:
    return sharded_run.drive_sharded_run(store, NAME, drivers, at_once, QUIET, **more)


@pytest.mark.slow
def test_real_rows_are_those_of_one_run(store: Store) -> None:
    """Also content kept, whose panel is of all articles, and rulers."""
    plan = planned(n=[3], **{"datasets.limit": 5})
    one = driver.start(store, plan, "inline", QUIET)
    start(store, plan, shards=3)
    outcome = drive(store, here(store, make_work=stage_work))
    assert (outcome.state, outcome.articles, outcome.summaries) == ("done", one.articles, one.summaries)
    assert everything(store, NAME) == everything(store, one.run_id)
    assert [shard.total_articles for shard in store.shards(NAME)] == [2, 2, 1]
    # All that a report reads of a run.
    assert set(store.content_hashes(NAME)) == set(store.content_hashes(one.run_id))
    assert sorted(map(str, store.points(NAME).articles)) == sorted(map(str, store.points(one.run_id).articles))
    for (place, means), (same, of_one) in zip(
        store.curve_means(NAME).items(), store.curve_means(one.run_id).items(), strict=True
    ):
        assert (place[1:], means) == (same[1:], pytest.approx(of_one, abs=1e-12))


def test_files_of_shards(store: Store, plan: Plan, news: Path, undisturbed: Stored) -> None:
    """A change of a file behind those of a shard is no change of its articles."""
    ids = start(store, plan, articles=5)  # three bundles
    assert [store.run_info(shard).total_articles for shard in ids] == [4, 6, 5]

    last = (news / "c.jsonl").read_text()

    def change(shard: RunInfo) -> None:
        (news / "c.jsonl").write_text("broken" if shard.shard == 1 else last)

    assert drive(store, here(store, change)).state == "done"
    assert everything(store, NAME) == undisturbed


def test_rulers_and_language_are_those_of_the_whole(store: Store, tmp_path: Path) -> None:
    """The first half has a second person's summary, and the last article alone would be taken for Korean."""
    one_reference, two_references = '["A plan was made."]', '["A plan was made.", "They made a plan."]'
    lines = [
        f'{{"id": "{i}", "article": "Plan {i} was made in town {i}.", "summary": {two_references}}}\n' for i in range(4)
    ]
    lines += [f'{{"id": "5", "article": "한국어 기사입니다. 서울에서 발표했다.", "summary": {one_reference}}}\n']
    (tmp_path / "mixed.jsonl").write_text("".join(lines), encoding="utf-8")
    plan = planned(datasets=[{"name": str(tmp_path / "mixed.jsonl")}])
    assert "person" not in plan.systems
    one = driver.start(store, plan, "inline", QUIET, STUB)
    start(store, plan, shards=3)
    assert drive(store, here(store)).state == "done"
    assert everything(store, NAME) == everything(store, one.run_id)
    language, panels = store.parent_decided(f"{NAME}-03")
    assert (language, [len(panel.articles) for panel in panels or ()]) == ("en", [5])


def test_lengths_are_those_of_the_whole(store: Store, tmp_path: Path) -> None:
    """The references of the first shard are shorter, and those of the last one longer."""
    lines = [
        f'{{"id": "{i}", "article": "Plan {i} was made in town {i}.", "summary": "{"plan " * words}"}}\n'
        for i, words in enumerate((2, 2, 4, 4, 4, 9))
    ]
    (tmp_path / "news.jsonl").write_text("".join(lines))
    start(store, planned(datasets=[{"name": str(tmp_path / "news.jsonl")}], n="auto"), shards=3)
    assert drive(store, here(store)).state == "done"
    assert [run.recipe["n"] for run in (store.run_info(NAME), *store.shards(NAME))] == [[1, 2, 3, 4]] * 4


def test_a_shard_that_fails_is_resumed_alone(store: Store, plan: Plan, undisturbed: Stored) -> None:
    start(store, plan, shards=4)

    def fail(shard: RunInfo) -> None:
        if shard.shard == 2:
            raise ClusterError("no machine")

    failing = here(store, fail)
    with pytest.raises(
        ClusterError, match=f"Of the 4 shards of {NAME}, 1 are not done .*no machine.*nws resume {NAME}"
    ):
        drive(store, failing)
    assert failing.driven == [1, 2, 3, 4]
    assert store.run_info(NAME).state == "failed"
    again = here(store)
    assert drive(store, again).state == "done"
    assert again.driven == [2]
    assert everything(store, NAME) == undisturbed
    assert drive(store, none := here(store)).state == "done"
    assert none.driven == []


def test_what_shards_warn_of_stands_in_the_log_of_their_parent_once(
    store: Store, news: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(datasets=[{"name": str(news)}], precision="bfloat16")
    driver.create_sharded_run(store, NAME, plan, plan.run_spec(reuse=True), 1, 3, None)
    monkeypatch.setattr("nws.cluster.dispatcher.software", lambda: ("NWS ba9876543210", *software()[1:]))
    drive(store, here(store))
    said = [line.text for _, line in store.log(NAME)]
    for what in ("Warning: a process of this run computes with NWS ba9876543210", "Nothing is copied from other runs"):
        assert [text.partition(":")[0] for text in said if what in text] == ["Shard 1"]


def killed(store: Store, times: int) -> Any:
    """What kills drivers at their second shard, so many times."""
    left = [None] * times

    def kill(shard: RunInfo) -> None:
        if shard.shard == 2 and left:
            left.pop()
            store.claim_run(shard.id, HOST, DEAD, epoch=shard.driver_epoch)
            raise Killed("out of memory")

    return kill


def test_the_shard_of_a_driver_that_dies_is_claimed_by_another(store: Store, plan: Plan, undisturbed: Stored) -> None:
    start(store, plan, shards=3)
    drivers = here(store, killed(store, 9))
    with pytest.raises(ClusterError, match=r"1 are not done .*the last driver: was killed: out of memory"):
        drive(store, drivers)
    assert drivers.driven == [1, 2, 3, 2, 2], "those that wait come first, and a driver is started three times at most"
    drivers = here(store, killed(store, 2))
    assert drive(store, drivers).state == "done"
    assert drivers.driven == [2, 2, 2]
    assert everything(store, NAME) == undisturbed


def test_drivers_that_cannot_be_started_leave_shards_that_can_be_resumed(store: Store, plan: Plan) -> None:
    start(store, plan, shards=3)

    def refuse(epoch: int) -> Any:
        raise ClusterError("no agent")

    with pytest.raises(ClusterError, match=r"3 are not done .*no agent"):
        drive(store, refuse, at_once=2)  # type: ignore[arg-type]
    assert {shard.state for shard in store.shards(NAME)} == {"interrupted"}
    assert drive(store, here(store)).state == "done"


def test_shards_that_all_fail_stop_the_run(store: Store, plan: Plan) -> None:
    start(store, plan, shards=8)

    def fail(shard: RunInfo) -> None:
        raise ClusterError("the plugin is broken")

    drivers = here(store, fail)
    with pytest.raises(ClusterError, match=r"8 are not done .*the plugin is broken"):
        drive(store, drivers)
    assert drivers.driven == [1, 2, 3]
    assert {shard.state for shard in store.shards(NAME)} == {"failed", "interrupted"}
    store.remove_run(NAME, HOST)
    assert store.list_runs(with_shards=True) == []


@pytest.mark.parametrize("is_reported", [True, False])
def test_drivers_finish_a_run_whose_parent_process_was_killed(store: Store, plan: Plan, is_reported: bool) -> None:
    """Whether its watchdog could tell or not."""
    one = driver.start(store, plan, "inline", QUIET, STUB)
    start(store, plan, shards=3)
    epoch = store.claim_run(NAME, HOST, DEAD)
    if is_reported:
        store.writer(NAME, epoch).finish("failed", f"{DRIVER_DIED}: killed")
    drivers = here(store)
    drivers(epoch)
    assert drivers.driven == [1, 2, 3]
    info = store.run_info(NAME)
    assert (info.state, info.error, info.summaries) == ("done", None, one.summaries)
    assert len(store.curve_means(NAME)) == len(store.curve_means(one.run_id))
    assert rows(store, f"SELECT means_cached FROM runs WHERE id = '{NAME}'")[0][0]


def test_articles_that_failed_are_tried_again_by_resume(store: Store, plan: Plan, undisturbed: Stored) -> None:
    last = list(plan.corpora[0])[-1]
    start(store, plan, shards=2)
    drive(store, here(store, make_work=failing_work(lambda article: article == last, ValueError, "cannot")))
    assert (store.run_info(NAME).state, store.run_info(NAME).failures) == ("done", 1)
    drive(store, again := here(store))
    assert again.driven == [2]
    assert store.run_info(NAME).failures == 0
    assert everything(store, NAME) == undisturbed


def test_what_cannot_be_divided_is_refused(store: Store, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(start(store, plan, shards=100)) == 8, "there are no more shards than bundles"
    monkeypatch.setattr(driver, "MOST_SHARDS", 7)
    with pytest.raises(RecipeError, match="would be 8 shards, and a run has at most 7"):
        driver.create_sharded_run(store, "other", plan, plan.run_spec(), 1, None, 1)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.integers(1, 4), st.integers(1, 40))
def test_parts_hold_each_article_once_and_whole_bundles(counts: list[int], size: int, wanted: int) -> None:
    shards = min(wanted, sum(-(-count // size) for count in counts))
    parts = list(parts_of(counts, size, shards))
    assert len(parts) == shards
    for dataset, count in enumerate(counts):
        of_dataset = [(begin, end) for shard in parts for number, begin, end in shard if number == dataset]
        assert [place for begin, end in of_dataset for place in range(begin, end)] == list(range(count))
        assert all(begin % size == 0 for begin, _ in of_dataset)
    bundles = [sum(-(-(end - begin) // size) for _, begin, end in shard) for shard in parts]
    assert max(bundles) - min(bundles) <= 1


def end_of(started: ShardDriver) -> str:
    deadline = time.monotonic() + 60
    while (ended := started.ended()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return ended


def test_a_process_is_told_all_and_its_last_words_are_heard(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    file = shlex.quote(str(told))
    script = f'echo "$@" > {file}; echo $NWS_STORE >> {file}; echo no disk >&2; exit 3'
    monkeypatch.setattr(sharded_run, "NWS", ["sh", "-c", script, "nws"])
    assert end_of(local_drivers(store, NAME, "inline", actors=2)(5)) == "ended with code 3: no disk"
    assert told.read_text() == f"drive {NAME} --epoch 5 --engine inline --actors 2\n{store.url}\n"
    monkeypatch.setattr(sharded_run, "NWS", ["true"])
    assert end_of(local_drivers(store, NAME, "inline")(5)) == ""


def test_each_driver_on_a_cluster_is_a_job_with_a_name_of_its_own(store: Store, plan: Plan) -> None:
    start(store, plan, shards=2)
    head = FakeHead()
    start_there = cluster_drivers(store, NAME, head, accelerator="T4")  # type: ignore[arg-type]
    first, second = start_there(1), start_there(1)
    assert [first.name, second.name] == [f"job {NAME}", f"job {NAME}-a2"]
    assert head.entrypoints[f"{NAME}-a2"].endswith(f"drive {NAME} --epoch 1 --accelerator T4")
    assert first.ended() is None
    head.becomes(NAME, "FAILED", "no such image")
    head.becomes(f"{NAME}-a2", "SUCCEEDED")
    assert first.ended() == f"was FAILED (no such image). The end of its log:\n{NAME}: No module named 'nws'"
    assert second.ended() == ""
