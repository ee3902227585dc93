import io
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from cluster.worker_info import WorkerInfo, this_worker
from core.arithmetic import ROWS_DEPEND, describe_arithmetic
from jobs.drive import driver
from jobs.drive.pools import PoolWatch
from jobs.drive.run import Run
from jobs.recipes.job import plan_job
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
    return SimpleNamespace(workers=workers, busy=())


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


def test_workers_of_two_kinds_are_told_of_at_once(run: Run, said: io.StringIO) -> None:
    PoolWatch(run, "2 x 1 CPU").look(actors(HERE, THERE))
    assert "A training that is resumed here may draw other summaries" in said.getvalue()


def test_a_cpu_on_which_nothing_is_promised_to_the_last_bit_is_told_of_once(run: Run, said: io.StringIO) -> None:
    for _ in range(2):
        PoolWatch(run, "1 x 1 CPU").look(actors(WorkerInfo("Xeon", "here", f"AVX2, MKL AVX2, {ROWS_DEPEND}")))
    assert said.getvalue().count("agree to about 1e-6 only") == 1


def test_a_real_run_records_how_it_multiplied(tmp_path: Path) -> None:
    plan = plan_job("phase1", "sample", {"datasets.limit": 1, "n": [3]})
    with open_store(f"sqlite:///{tmp_path}/nws.db") as store:
        outcome = driver.start(store, plan, "inline", Console(file=io.StringIO()))
        assert store.run_info(outcome.run_id).arithmetic == [describe_arithmetic()] == [this_worker().arithmetic]
