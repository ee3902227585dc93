import io
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from cluster.dispatcher import WorkerInfo, rows_warning
from core.types import ROWS_DEPEND
from jobs.drive.pools import PoolWatch
from jobs.drive.progress import Span
from jobs.drive.run import Run
from jobs.recipes.job import plan_job
from jobs.report.run_view import View, facts
from jobs.store import RunInfo, open_store

HERE, THERE = WorkerInfo("Xeon", "here", "AVX512, MKL"), WorkerInfo("EPYC", "there", "AVX512, oneDNN layers")


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def run(tmp_path: Path, said: io.StringIO) -> Iterator[Run]:
    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        run_id = store.create_run(plan_job("phase1", "sample", {}).run_spec())
        epoch = store.claim_run(run_id, "here", 1)
        yield Run(store, run_id, epoch, Console(file=said))


def actors(*workers: WorkerInfo) -> SimpleNamespace:
    return SimpleNamespace(workers=workers)


def info(run: Run) -> RunInfo:
    return run.store.run_info(run.id)


def test_workers_are_told_to_the_store_when_they_change(run: Run, said: io.StringIO) -> None:
    watch = PoolWatch(run, "2 x 1 CPU")
    watch.look(actors(HERE))
    assert (info(run).device, info(run).arithmetic) == ("2 x 1 CPU: Xeon on here", [HERE.arithmetic])
    watch.look(actors(HERE, WorkerInfo("Xeon", "there", HERE.arithmetic)))
    assert info(run).device == "2 x 1 CPU: Xeon on here, Xeon on there"
    assert said.getvalue() == ""


def test_a_run_that_is_resumed_on_another_kind_of_cpu_says_so_once(run: Run, said: io.StringIO) -> None:
    PoolWatch(run, "1 x 1 CPU").look(actors(HERE))
    for _ in range(2):
        PoolWatch(run, "1 x 1 CPU").look(actors(THERE))
    assert said.getvalue().count("multiply in 2 ways: AVX512, MKL; AVX512, oneDNN layers") == 1
    assert (info(run).arithmetic, info(run).mixed) == ([HERE.arithmetic, THERE.arithmetic], True)


@pytest.mark.parametrize(
    ("mode", "is_advised"), [("MKL AVX2", True), ("MKL AUTO,STRICT", False), ("without MKL", False)]
)
def test_rows_that_depend_on_their_batch_are_told_of_once_with_what_may_help(
    run: Run, said: io.StringIO, mode: str, is_advised: bool
) -> None:
    for instructions in ("AVX2", "AVX512"):  # of two machines
        PoolWatch(run, "1 x 1 CPU").look(actors(WorkerInfo("Xeon", "here", f"{instructions}, {mode}, {ROWS_DEPEND}")))
    told = said.getvalue()
    assert (told.count("agree to about 1e-6 only"), "Unset MKL_CBWR" in told) == (1, is_advised)
    assert ("warning", rows_warning(info(run).arithmetic)) in facts(View(info(run), None, Span(0.0, 0)))
