"""What several test folders share: real data where it is there, real MiniLM, tiny checkpoints, offline libraries."""

import gc
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import torch
from playwright.sync_api import Browser, sync_playwright

# A machine that stands still for a moment is no fault of the code: timings are measured in bench/.
hypothesis.settings.register_profile("nws", deadline=None)
hypothesis.settings.load_profile("nws")

# Before any library of Hugging Face is imported: the suite needs no network, and an accidental download must fail.
os.environ["HF_HUB_OFFLINE"] = "1"

# Many tests compare two runs of one store, and a copy equals itself. Those of reuse ask for it.
os.environ["NWS_NO_REUSE"] = "1"

# Ray's workers and the processes that tests start find the helpers, and `bench`, too. Not as `tests.…`: others install
# a package of that name.
os.environ["PYTHONPATH"] = str(Path(__file__).parent / "support")

# It starts hundreds of processes, which need not all compile the same modules.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Ray's own value, 15, lets a test of Ray wait for whatever the other test process does.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (this is its name)

# A suite that is started in the background is born with Ctrl-C ignored, one under nohup with SIGHUP, and so would be
# the processes that tests send them to.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """Leave the objects of the imported libraries, half a million of them, out of every later garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="module", autouse=True)
def _finalized(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a file with Ray has left is finalized while it is still that file's turn."""
    yield
    if request.node.get_closest_marker("ray"):
        gc.collect()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, one a file: while it is open Playwright's event loop runs, and no second one can start."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real articles beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"real data is not here: {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of tiny checkpoints by architecture."""
    from tiny_checkpoints import MAKERS

    folder = tmp_path_factory.mktemp("checkpoints")
    return {name: make(folder / f"tiny-{name}") for name, make in MAKERS.items()}


@pytest.fixture(scope="session")
def word_kinds() -> str:
    """The signature of the kinds of words that this machine can tell."""
    from nws.core.text.word_kinds import PIPELINES, find_kinds

    return find_kinds("en") or pytest.skip(f"none of the pipelines {' and '.join(PIPELINES)} is installed")


@pytest.fixture(scope="session")
def sample_rows() -> list[dict[str, str]]:
    """The bundled English articles as plain rows."""
    from nws.core.text.dataset import BUNDLED

    return [json.loads(line) for line in BUNDLED["sample"].read_text(encoding="utf-8").splitlines()]
