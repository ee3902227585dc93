"""What a process computes with is told as it was imported."""

import os
import py_compile
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core import software as module
from core.software import (
    UNKNOWN,
    are_as_imported,
    code_as_imported,
    differences,
    read_sources,
    software,
)

ROOT = Path(__file__).parents[2]
OURS = ("NWS 1a", "numpy 2", "torch 2.9")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with the part of `core` that hashes, a module `core.late`, and the other packages, empty."""
    for package in ("core", "cluster", "jobs", "nws"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "nws_start.py").touch()
    for name in ("__init__.py", "software.py", "bytecode.py", "errors.py", "fingerprint.py", "libraries.py"):
        shutil.copy(ROOT / "core" / name, tmp_path / "core" / name)
    (tmp_path / "core" / "late.py").write_text("VALUE = 1\n")
    return tmp_path


@pytest.mark.parametrize("change", ["content", "name", "more", "fewer", "entry", "api"])
def test_every_source_counts_by_name_and_content(root: Path, change: str) -> None:
    before = read_sources(root)
    late = root / "core" / "late.py"
    {
        "content": lambda: late.write_text("VALUE = 2\n"),
        "name": lambda: late.rename(root / "core" / "later.py"),
        "more": lambda: (root / "jobs" / "new.py").touch(),
        "fewer": late.unlink,
        "entry": lambda: (root / "nws_start.py").write_text("VALUE = 2\n"),
        "api": lambda: (root / "nws" / "plugins.py").write_text("VALUE = 2\n"),
    }[change]()
    assert read_sources(root).sha256 != before.sha256


def test_a_wheel_and_its_checkout_have_one_hash(root: Path, tmp_path: Path) -> None:
    """A wheel has the migrations inside of `jobs`, and lies elsewhere."""
    for leaves_out in ("jobs/store/migrations", "core/__pycache__"):
        (root / leaves_out).mkdir(parents=True)
        before = read_sources(root).sha256
        (root / leaves_out / "x.py").write_text("1")
        assert read_sources(root).sha256 == before
    shutil.copytree(root / "core", tmp_path / "elsewhere" / "core")
    for package in ("cluster", "jobs", "nws"):
        shutil.copytree(root / package, tmp_path / "elsewhere" / package)
    shutil.copy(root / "nws_start.py", tmp_path / "elsewhere")
    assert read_sources(tmp_path / "elsewhere").sha256 == before


@pytest.mark.parametrize(
    ("meanwhile", "is_known", "is_as_imported"),
    [
        ("", True, True),
        ("late.write_text('VALUE = 2')", False, False),
        ("late.write_text('VALUE = 2'); import core.late; late.write_text('VALUE = 1\\n')", False, False),
        ("import core.late; code_as_imported(); late.write_text('VALUE = 2')", True, False),
        ("late.with_name('new.py').write_text('import core.late'); import core.new", False, False),
        ("late.unlink()\ntry: import core.late\nexcept ImportError: pass", True, False),
        ("late.with_name('__pycache__').mkdir(exist_ok=True); import core.late", True, True),
    ],
)
def test_a_module_that_is_imported_after_its_file_was_written_to_is_of_unknown_code(
    root: Path, meanwhile: str, is_known: bool, is_as_imported: bool
) -> None:
    """Even if the file is as it was by the time that somebody looks."""
    program = f"""
import core.software
from pathlib import Path
from core.software import are_as_imported, code_as_imported
late = Path("core/late.py")
{meanwhile}
try: import core.late
except ImportError: pass
print(code_as_imported(), are_as_imported())
"""
    before = read_sources(root).sha256[:12]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [before if is_known else UNKNOWN, str(is_as_imported)]


def run_late(root: Path) -> list[str]:
    """What a new process imports as `core.late`, and which code it says that it has."""
    program = "import core.late; print(core.late.VALUE, core.software.code_as_imported())"
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bytecode_of_an_older_source_is_unknown_code(root: Path) -> None:
    """An edit within a second that keeps the length: Python does not see it."""
    late = root / "core" / "late.py"
    os.utime(late, ns=(10**18, 10**18))
    assert run_late(root) == ["1", read_sources(root).sha256[:12]]
    late.write_text("VALUE = 2\n")
    os.utime(late, ns=(10**18 + 10**8, 10**18 + 10**8))
    (bytecode,) = (root / "core" / "__pycache__").glob("late.*")
    os.utime(bytecode, ns=(10**18 + 10**7, 10**18 + 10**7))
    assert run_late(root) == ["1", UNKNOWN]
    os.utime(late, ns=(10**18, 10**18))  # as `touch -r` sets a file's time back
    assert run_late(root) == ["1", UNKNOWN]
    bytecode.unlink()
    assert run_late(root) == ["2", read_sources(root).sha256[:12]]


def test_bytecode_of_a_source_that_was_put_back_while_python_compiled_it_is_unknown_code(root: Path) -> None:
    """It is written after that, and so is newer than the source."""
    late = root / "core" / "late.py"
    before = late.stat().st_mtime_ns
    late.write_text("VALUE = 2\n")
    os.utime(late, ns=(before, before))
    run_late(root)
    (bytecode,) = (root / "core" / "__pycache__").glob("late.*")
    compiled = bytecode.read_bytes()
    late.write_text("VALUE = 1\n")
    os.utime(late, ns=(before, before))
    bytecode.write_bytes(compiled)
    assert run_late(root) == ["2", UNKNOWN]


def test_a_module_that_is_loaded_again_after_an_edit_is_of_unknown_code(root: Path) -> None:
    """As a notebook's `%autoreload` does."""
    program = f"""
import importlib, core.late, core.software
from core.software import code_as_imported
print(code_as_imported())
importlib.reload(core.late)
print(code_as_imported())
open({str(root / "core" / "late.py")!r}, "w").write("VALUE = 2222")
print(code_as_imported())
importlib.reload(core.late)
print(core.late.VALUE, code_as_imported())
"""
    known = read_sources(root).sha256[:12]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [known, known, known, "2222", UNKNOWN]


def test_what_takes_core_alone_has_a_version(root: Path) -> None:
    shutil.rmtree(root / "jobs")
    assert len(read_sources(root).sha256) == 64


@pytest.mark.parametrize("how", ["unchecked", "copied"])
def test_bytecode_that_python_takes_without_a_look_is_compared(root: Path, tmp_path: Path, how: str) -> None:
    late = root / "core" / "late.py"
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH if how == "unchecked" else None
    os.utime(late, ns=(10**18, 10**18))
    py_compile.compile(str(late), invalidation_mode=mode)
    late.write_text("VALUE = 2\n")
    os.utime(late, ns=(10**18, 10**18))
    if how == "copied":  # with all times, some time later
        (bytecode,) = (root / "core" / "__pycache__").glob("late.*")
        os.utime(bytecode, ns=(10**18 + 10**9, 10**18 + 10**9))
        root = Path(shutil.copytree(root, tmp_path / "copy"))
    program = "import core.late; print(core.late.VALUE, core.software.code_as_imported())"
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", UNKNOWN]


def test_bytecode_of_a_copied_installation_is_known_code(root: Path, tmp_path: Path) -> None:
    """Where all files are as new, whatever their times say."""
    program = "import core.late; print(core.late.VALUE, core.software.code_as_imported())"
    for times in range(2):
        if times:  # its own clock says later than that of its bytecode
            (root / "core" / "late.py").chmod(0o600)
        done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["1", read_sources(root).sha256[:12]]


def test_what_editors_leave_is_no_source(root: Path) -> None:
    before = read_sources(root).sha256
    (root / "core" / ".#late.py").symlink_to("me@host.1")
    assert read_sources(root).sha256 == before


def test_sources_are_hashed_in_milliseconds() -> None:
    times = []
    for _ in range(5):
        started = time.process_time()
        read_sources(ROOT)
        times.append(time.process_time() - started)
    assert min(times) < 0.05  # 7 ms on a 2 GHz Xeon


def test_this_process_has_what_it_imported() -> None:
    assert code_as_imported() == module._SOURCES.sha256[:12]
    assert are_as_imported()
    assert software()[:2] == (f"NWS {code_as_imported()}", f"python {sys.version.split()[0]}")


def test_other_versions_are_told_and_unknown_code_always_differs() -> None:
    assert differences(OURS, OURS) == []
    assert differences(("NWS 1a", "numpy 2", "torch 2.8"), OURS) == ["torch 2.8"]
    assert differences(("NWS 1b", "numpy 2", "torch 2.9", "apex 1"), OURS) == ["NWS 1b", "apex 1"]
    assert differences(("NWS 1a", "torch 2.9"), OURS) == ["no numpy 2"]
    unknown = (f"NWS {UNKNOWN}", *OURS[1:])
    assert differences(unknown, unknown) == [f"NWS {UNKNOWN}"]
    edited = (*OURS, "nltk 3 of unknown files")
    assert differences(edited, edited) == ["nltk 3 of unknown files"]
