"""Runs through Ray on one GPU: with one actor, with two that share it, and with one that is killed."""

import time
from pathlib import Path

import psutil
import pytest
import torch
from nws_process import Rows, finish, rows, start, wait_for_rows

pytestmark = [pytest.mark.gpu, pytest.mark.ray, pytest.mark.timeout(600)]

ARTICLES = 24
RECIPE = """
datasets: [{name: sample}]
pipeline: blank
n: [1, 7, 13]
bundle_size: 2
encoders: [all-MiniLM-L6-v2]
bertscore: {model: all-MiniLM-L6-v2, num_layers: 6}
"""


def started(folder: Path, device: torch.device, actors: int, store: str):
    """`nws submit` with actors that share one GPU equally."""
    where = f"gpus_per_actor: {1 / actors:g}\n" if device.type == "cuda" else "accelerator: cpu\n"
    recipe = folder / f"{store}.yaml"
    recipe.write_text(f"{RECIPE}actors: {actors}\n{where}")
    words = ("submit", "phase1", "--recipe", recipe.name, "--json", "--no-reuse", "--store", f"sqlite:///{store}.db")
    return start(folder, *words)


def run(folder: Path, device: torch.device, actors: int, store: str) -> Rows:
    assert finish(started(folder, device, actors, store), 0)["articles"] == ARTICLES
    return rows(folder, f"{store}.db")


@pytest.fixture(scope="module")
def undisturbed(device: torch.device, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return run(tmp_path_factory.mktemp("one"), device, 1, "one")


def test_two_actors_on_one_gpu_give_every_bit_of_one(device: torch.device, tmp_path: Path, undisturbed: Rows) -> None:
    assert run(tmp_path, device, 2, "two") == undisturbed


def test_a_killed_actor_is_replaced_and_no_row_changes(device: torch.device, tmp_path: Path, undisturbed: Rows) -> None:
    process = started(tmp_path, device, 2, "killed")
    wait_for_rows(tmp_path / "killed.db", process)
    sweep_actors(process.pid)[0].kill()
    outcome = finish(process, 0)
    assert (outcome["articles"], outcome["failures"]) == (ARTICLES, 0)
    assert rows(tmp_path, "killed.db") == undisturbed


def sweep_actors(pid: int) -> list[psutil.Process]:
    """The actors of the run of this process."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        children = psutil.Process(pid).children(recursive=True)
        found = [child for child in children if "".join(child.cmdline()[:1]).startswith("ray::Sweep")]
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("no actor is at work")
