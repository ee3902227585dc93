"""Where a process computes with other software or in another way, it is said and recorded, and no other run copies."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from bench import stub_work
from nws.cluster.dispatcher import WorkerInfo, rows_warning
from nws.core.arithmetic import ROWS_DEPEND  # without this module nobody knows how this process multiplies
from nws.core.provenance import software
from nws.jobs.drive import driver
from nws.jobs.drive.pools import PoolWatch
from nws.jobs.drive.progress import Span
from nws.jobs.drive.run import Outcome, Run
from nws.jobs.recipes.job import plan_job
from nws.jobs.report.run_view import View, facts
from nws.jobs.store import RunInfo, RunWriter, Store

OTHER = ("NWS 0123456789ab", *software()[1:])


def run(store: Store, said: io.StringIO | None = None) -> Outcome:
    plan = plan_job("phase1", "sample", {"datasets.limit": 4, "n": [3], "bundle_size": 2})
    console = Console(file=said or io.StringIO(), width=2000)
    return driver.start(store, plan, "inline", console, stub_work.work, reuse=True)


def resume(store: Store, run_id: str, said: io.StringIO) -> RunInfo:
    console = Console(file=said, width=2000)
    driver.resume(store, run_id, "inline", None, None, console, make_work=stub_work.work)
    return store.run_info(run_id)


@pytest.mark.parametrize(
    ("where", "theirs", "told"),
    [
        ("what cuts", OTHER, "NWS 0123456789ab"),
        ("what summarises", OTHER, "NWS 0123456789ab"),
        ("a worker", tuple("torch 0.1" if name.startswith("torch ") else name for name in software()), "torch 0.1"),
        ("a worker", software()[:-1], f"no {software()[-1]}"),
    ],
)
def test_rows_of_other_software_are_told_recorded_and_never_copied(
    store: Store, monkeypatch: pytest.MonkeyPatch, where: str, theirs: tuple[str, ...], told: str
) -> None:
    said = io.StringIO()
    answers = {"what cuts": [theirs, software()], "what summarises": [software(), theirs]}.get(where)
    with monkeypatch.context() as patch:
        if answers is None:
            patch.setattr("nws.cluster.dispatcher.software", lambda: theirs)
        else:
            asked = iter(range(1000))
            patch.setattr("nws.cluster.article_work.software_now", lambda: answers[next(asked) % 2])
        outcome = run(store, said)
    assert (outcome.state, outcome.articles) == ("done", 4)
    assert said.getvalue().count(f"Warning: a process of this run computes with {told}") == 1
    info = store.run_info(outcome.run_id)
    assert (info.mixed, info.code_version.endswith(f", {told}")) == (True, True)
    again = run(store)
    assert (again.reused, store.run_info(again.run_id).mixed) == (0, False)
    assert run(store).reused == again.summaries


def test_a_run_is_mixed_before_the_first_row_of_other_software_is_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run could copy it in between."""
    record, seen = RunWriter.record, []

    def watched(self: RunWriter, *arguments: object) -> None:
        seen.append(store.run_info(self.id).mixed)
        record(self, *arguments)

    monkeypatch.setattr(RunWriter, "record", watched)
    monkeypatch.setattr("nws.cluster.article_work.software_now", lambda: OTHER)
    run(store)
    assert seen == [True, True]


def test_a_run_whose_sources_are_edited_while_it_works_is_mixed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is imported late may be of the edited ones."""
    record, edited = RunWriter.record, []

    def editing(self: RunWriter, *arguments: object) -> None:
        record(self, *arguments)
        edited.append(True)

    said = io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "record", editing)
        patch.setattr("nws.jobs.drive.pools.are_as_imported", lambda: not edited)
        outcome = run(store, said)
    assert said.getvalue().count("Warning: NWS's sources were edited") == 1
    assert store.run_info(outcome.run_id).mixed
    assert run(store).reused == 0


def test_a_run_that_is_resumed_with_other_code_says_so_and_gives_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, said = run(store), io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr("nws.jobs.drive.driver.code_version", lambda: "0123456789ab-dirty+ba9876543210")
        after = resume(store, outcome.run_id, said)
    before = after.code_version.split(", ")[0]
    assert f"0123456789ab-dirty+ba9876543210 (before: {before}). New numbers may differ" in said.getvalue()
    assert any("those stored before. No other run copies" in line.text for line in store.newest_log(outcome.run_id, 9))
    assert (after.mixed, after.code_version) == (True, f"{before}, 0123456789ab-dirty+ba9876543210")
    assert run(store).reused == 0


def test_a_run_that_is_resumed_with_other_libraries_names_both_and_gives_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, said = run(store), io.StringIO()
    before = store.run_info(outcome.run_id)
    others = {**before.revisions["libraries"], "numpy": "0.0.1", "apex": "2"}
    del others["scipy"]
    with monkeypatch.context() as patch:
        patch.setattr("nws.jobs.recipes.plan.library_versions", lambda: others)
        for _ in range(2):
            after = resume(store, outcome.run_id, said)
    assert f"numpy 0.0.1 (before: {before.revisions['libraries']['numpy']}), no scipy (before: " in said.getvalue()
    assert after.revisions == before.revisions
    assert (after.mixed, after.code_version) == (True, f"{before.code_version}, numpy 0.0.1, no scipy, apex 2")
    assert run(store).reused == 0


HERE, THERE = WorkerInfo("Xeon", "here", "AVX512, MKL"), WorkerInfo("EPYC", "there", "AVX512, oneDNN for layers")


def test_workers_are_recorded_when_they_change_and_another_kind_of_machine_is_told_of_once(store: Store) -> None:
    said = io.StringIO()
    run_id = store.create_run(plan_job("phase1", "sample", {}).run_spec())
    watched = Run(store, run_id, store.claim_run(run_id, "here", 1), Console(file=said, width=2000))

    def look(watch: PoolWatch, *workers: WorkerInfo) -> RunInfo:
        watch.check_actors(SimpleNamespace(workers=workers))  # type: ignore[arg-type]
        return store.run_info(run_id)

    watch = PoolWatch(watched, "2 x 1 CPU")
    info = look(watch, HERE)
    assert (info.device, info.arithmetic) == ("2 x 1 CPU: Xeon on here", [HERE.arithmetic])
    assert look(watch, HERE, WorkerInfo("Xeon", "there", HERE.arithmetic)).device == (
        "2 x 1 CPU: Xeon on here, Xeon on there"
    )
    assert said.getvalue() == ""
    for _ in range(2):  # drivers that resume the run
        info = look(PoolWatch(watched, "1 x 1 CPU"), THERE)
    assert said.getvalue().count("multiply in 2 ways: AVX512, MKL; AVX512, oneDNN for layers") == 1
    assert (info.arithmetic, info.mixed) == ([HERE.arithmetic, THERE.arithmetic], True)


@pytest.mark.parametrize(
    ("mode", "is_advised"), [("MKL AVX2", True), ("MKL AUTO,STRICT", False), ("without MKL", False)]
)
def test_rows_that_depend_on_their_batch_are_told_of_once_with_what_may_help(
    store: Store, mode: str, is_advised: bool
) -> None:
    said = io.StringIO()
    run_id = store.create_run(plan_job("phase1", "sample", {}).run_spec())
    watched = Run(store, run_id, store.claim_run(run_id, "here", 1), Console(file=said, width=2000))
    for instructions in ("AVX2", "AVX512"):  # of two machines
        worker = WorkerInfo("Xeon", "here", f"{instructions}, {mode}, {ROWS_DEPEND}")
        PoolWatch(watched, "1 x 1 CPU").check_actors(SimpleNamespace(workers=(worker,)))  # type: ignore[arg-type]
    told, info = said.getvalue(), store.run_info(run_id)
    assert (told.count("agree only to about 1e-6"), "Unset MKL_CBWR" in told) == (1, is_advised)
    assert ("warning", rows_warning(info.arithmetic)) in facts(View(info, None, Span(0.0, 0)))
