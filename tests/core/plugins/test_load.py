"""Plugins as they are read: files, and entry points of both groups. What they have is in the tests of either kind."""

import hashlib
import importlib
import os
import py_compile
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from documents import document

from core.errors import PluginError
from core.fingerprint import files_sha256
from core.plugins import load
from core.plugins.load import PluginSpec, read_plugin
from core.plugins.plugin_metric import Judged, plugin_metrics
from core.plugins.plugin_system import plugin_systems
from core.summarizers.systems import Draft

COVERAGE = """
def word_recall(summary, references):
    return max(len({*summary.split()} & {*text.split()}) / len({*text.split()}) for text in references)
"""


def test_a_file_may_have_systems_and_metrics_or_one_of_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    source = COVERAGE + "def first(text, n):\n    return ' '.join(text.split()[:n])\n"
    ends = {"SYSTEMS = {'first': first}": (1, 0), "METRICS = {'word_recall': word_recall}": (0, 1)}
    for end, counts in {**ends, "\n".join(ends): (1, 1)}.items():
        path.write_text(f"{source}{end}\n")
        plugin = read_plugin(PluginSpec("mine.py"), path)
        assert (len(plugin.systems()), len(plugin.metrics())) == counts
        assert (len(plugin_systems(plugin, [])), len(plugin_metrics(plugin))) == counts


def test_an_installed_entry_point_is_pinned_by_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, info = tmp_path / "tails_of_mine.py", tmp_path / "tails_of_mine-1.2.dist-info"
    module.write_text("def tail(text, n):\n    return ' '.join(text.split()[-n:][:9 // n])\n" + COVERAGE)
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tails-of-mine\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(
        "[nws.systems]\ntail = tails_of_mine:tail\nbroken = not_there:tail\nboth = tails_of_mine:tail\n"
        "[nws.metrics]\nword_recall = tails_of_mine:word_recall\nboth = tails_of_mine:word_recall\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "tails_of_mine", raising=False)

    plugin = read_plugin(PluginSpec("tail"), Path("tail"))
    assert (plugin.version, plugin.source) == ("tails-of-mine 1.2", None)
    assert plugin.sha256 == hashlib.sha256(module.read_bytes()).hexdigest()
    (system,) = plugin_systems(plugin, [])
    assert system.summarize(document(), [1]) == [Draft(1, "left.")]

    with pytest.raises(PluginError, match=r"^tail of tails_of_mine\.py failed: ZeroDivisionError: .* \(line 2\)$"):
        system.summarize(document(), [0])

    plugin = read_plugin(PluginSpec("word_recall"), Path("word_recall"))
    assert plugin.systems() == {}
    (metric,) = plugin_metrics(plugin)
    assert metric.judge(Judged("a b", ["a c"], "row 1")) == 0.5
    with pytest.raises(PluginError, match=r"^word_recall of tails_of_mine\.py failed on row 1: Zero.* \(line 5\)$"):
        metric.judge(Judged("a b", [""], "row 1"))
    sha256 = hashlib.sha256(module.read_bytes()).hexdigest()
    assert metric.signature == f"word_recall|plugin:word_recall|sha256:{sha256[:12]}|version:tails-of-mine-1.2"

    with pytest.raises(PluginError, match=r"Several installed plugins are called 'both': .*metrics.*systems"):
        read_plugin(PluginSpec("both"), Path("both"))
    with pytest.raises(PluginError, match=r"There is no plugin 'tial': .*installed \(.*broken.*, tail, word_recall\)"):
        read_plugin(PluginSpec("tial"), Path("tial"))
    with pytest.raises(PluginError, match="The installed plugin broken cannot be imported: ModuleNotFoundError"):
        read_plugin(PluginSpec("broken"), Path("broken"))
    with pytest.raises(PluginError, match=r"installed plugin word_recall differs here.*Install tails-of-mine 1\.2"):
        replace(plugin, sha256="0" * 64).metrics()


def test_a_package_is_pinned_by_all_its_files_and_what_they_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, info = tmp_path / "my_tails", tmp_path / "my_tails-1.2.dist-info"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tails.py").write_text("from my_tails.words import cut\ndef tail(text, n):\n    return cut(text, n)\n")
    (package / "words.py").write_text(
        "import numpy, sklearn\ndef cut(text, n):\n    return ' '.join(text.split()[-n:])\n"
    )
    (package / "stop.txt").write_text("the")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-tails\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[nws.systems]\nmy-tail = my_tails.tails:tail\n")
    monkeypatch.syspath_prepend(tmp_path)

    plugin = read_plugin(PluginSpec("my-tail"), Path("my-tail"))
    assert dict(plugin.libraries).keys() == {"numpy", "sklearn"}
    assert plugin.systems().keys() == {"my-tail"}
    for file in ("words.py", "stop.txt"):
        (package / file).write_text((package / file).read_text() + " ")
        with pytest.raises(PluginError, match="installed plugin my-tail was edited after this process imported it"):
            read_plugin(PluginSpec("my-tail"), Path("my-tail"))
        for module in [name for name in sys.modules if name.startswith("my_tails")]:
            monkeypatch.delitem(sys.modules, module)  # as a new process has none of them
        other = read_plugin(PluginSpec("my-tail"), Path("my-tail"))
        assert other.sha256 != plugin.sha256
        with pytest.raises(PluginError, match=r"installed plugin my-tail differs here.*Install my-tails 1\.2"):
            replace(other, sha256=f"{plugin.sha256[:-1]}?").systems()
        plugin = other


def test_a_package_that_was_edited_before_anybody_looked_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook, which has imported it."""
    source, info = tmp_path / "my_early_tails.py", tmp_path / "my_early_tails-1.dist-info"
    source.write_text("def tail(text, n):\n    return text\n")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-early-tails\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[nws.systems]\nmy-early-tail = my_early_tails:tail\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("my_early_tails")
    source.write_text("def tail(text, n):\n    return text.upper()\n")
    with pytest.raises(PluginError, match="installed plugin my-early-tail was edited after this process imported it"):
        read_plugin(PluginSpec("my-early-tail"), Path("my-early-tail"))
    monkeypatch.delitem(sys.modules, "my_early_tails")
    read_plugin(PluginSpec("my-early-tail"), Path("my-early-tail"))


def test_a_package_in_a_namespace_is_pinned_by_all_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, info = tmp_path / "my_shared_space" / "tails", tmp_path / "my_space_tails-1.dist-info"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "words.py").write_text("CUT = 1\n")
    (package / "tails.py").write_text("from .words import CUT\ndef tail(text, n):\n    return text\n")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-space-tails\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[nws.systems]\nmy-space-tail = my_shared_space.tails.tails:tail\n")
    monkeypatch.syspath_prepend(tmp_path)
    pinned = set()
    for content in ("CUT = 1\n", "CUT = 22\n"):
        (package / "words.py").write_text(content)
        pinned.add(read_plugin(PluginSpec("my-space-tail"), Path("my-space-tail")).sha256)
        for module in [name for name in sys.modules if name.startswith("my_shared_space")]:
            monkeypatch.delitem(sys.modules, module)
    assert len(pinned) == 2


def test_a_helper_that_hides_a_module_of_python_is_pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load.imported_versions("import this, json, math, sys, _thread, zipimport, os.path") == {}
    monkeypatch.syspath_prepend(tmp_path)
    versions = set()
    for content in ("CUT = 1\n", "CUT = 22\n"):
        (tmp_path / "this.py").write_text(content)
        versions.add(load.imported_versions("import this")["this"])
    assert len(versions) == 2


def test_what_a_file_imports_is_pinned_and_compared_where_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    helper, path = tmp_path / "my_helper.py", tmp_path / "mine.py"
    helper.write_text("LAST = 1\n")
    path.write_text(
        "import re, numpy as np\nfrom core.types import Article\n"
        "def tail(text, n):\n    import my_helper, sklearn.svm, not_installed_anywhere\n    return text\n"
        "SYSTEMS = {'tail': tail}\n"
    )
    plugin = read_plugin(PluginSpec(str(path)), path)
    versions = dict(plugin.libraries)
    assert versions.keys() == {"numpy", "sklearn", "my_helper"}
    assert versions["sklearn"].startswith("scikit-learn ")
    assert plugin.systems().keys() == {"tail"}
    helper.write_text("LAST = 2\n")
    other = read_plugin(PluginSpec(str(path)), path)
    assert other.sha256 == plugin.sha256
    assert dict(other.libraries)["my_helper"] != versions["my_helper"]
    elsewhere = replace(other, libraries=(("numpy", "0.1"), ("sklearn", versions["sklearn"])))
    told = r"What the plugin mine\.py imports differs here: numpy was 0\.1 and is .*my_helper was absent and is sha256"
    with pytest.raises(PluginError, match=told):
        elsewhere.systems()


@pytest.mark.parametrize("is_worked_on", ["editable", "beside its sources", "before an installed one"])
def test_an_editable_package_and_a_file_before_an_installed_one_are_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_worked_on: str
) -> None:
    """What is worked on keeps its version."""
    name = "pip" if is_worked_on == "before an installed one" else "mylab"  # which nothing has imported here
    if name == "mylab":
        info = tmp_path / "mylab-0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mylab\nVersion: 0.1\n")
        (info / "top_level.txt").write_text("mylab\n")
    if is_worked_on == "editable":
        (info / "direct_url.json").write_text('{"dir_info": {"editable": true}, "url": "file:///lab"}')
    monkeypatch.syspath_prepend(tmp_path)
    load._owners.cache_clear()
    versions = set()
    for source in ("CUT = 1\n", "CUT = 2\n"):
        (tmp_path / f"{name}.py").write_text(source)
        versions |= set(load.imported_versions(f"import {name}").values())
    load._owners.cache_clear()
    assert len(versions) == 2
    assert all(version.startswith("sha256:") for version in versions)


def test_every_folder_of_a_namespace_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one beside the folder of an installed package, as `google` has."""
    seen = set()
    for folder in ("a", "b"):
        (tmp_path / folder / "my_namespace").mkdir(parents=True)
        (tmp_path / folder / "my_namespace" / f"{folder}.py").touch()
        monkeypatch.syspath_prepend(tmp_path / folder)
    for folder in ("a", "b", "a"):
        seen |= set(load.imported_versions("import my_namespace.a").values())
        file = tmp_path / folder / "my_namespace" / f"{folder}.py"
        file.write_text(file.read_text() + "CUT = 1\n")
    assert len(seen) == 3


def test_a_helper_that_was_edited_after_it_was_imported_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    helper, path = tmp_path / "my_edited_helper.py", tmp_path / "mine.py"
    helper.write_text("CUT = 1\n")
    path.write_text("import my_edited_helper\nSYSTEMS = {'tail': lambda text, n: text}\n")
    read_plugin(PluginSpec(str(path)), path).systems()
    read_plugin(PluginSpec(str(path)), path)
    helper.write_text("CUT = 2\n")
    with pytest.raises(PluginError, match="plugin cannot be used: my_edited_helper was edited after this process"):
        read_plugin(PluginSpec(str(path)), path)


def test_a_helper_that_was_edited_and_forgotten_after_it_was_imported_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plugin has not forgotten it."""
    monkeypatch.syspath_prepend(tmp_path)
    helper, path = tmp_path / "my_forgotten_helper.py", tmp_path / "mine.py"
    helper.write_text("CUT = 1\n")
    path.write_text("import my_forgotten_helper\nSYSTEMS = {'tail': lambda text, n: text}\n")
    read_plugin(PluginSpec(str(path)), path).systems()
    helper.write_text("CUT = 22\n")
    monkeypatch.delitem(sys.modules, "my_forgotten_helper")
    with pytest.raises(PluginError, match="my_forgotten_helper was edited after this process imported it"):
        read_plugin(PluginSpec(str(path)), path)


@pytest.mark.parametrize("hides", [False, True])
def test_a_helper_in_a_folder_that_the_plugin_adds_to_the_path_is_pinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hides: bool
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    name = f"my_side_helper_{hides}".lower()
    helper, path = tmp_path / "side" / f"{name}.py", tmp_path / "mine.py"
    helper.parent.mkdir()
    helper.write_text("CUT = 1\n")
    if hides:  # another one, which is found before the plugin is imported
        (tmp_path / f"{name}.py").write_text("CUT = 22\n")
    added = f"import sys\nsys.path.insert(0, {str(helper.parent)!r})\n"
    path.write_text(f"{added}import {name}\nSYSTEMS = {{'tail': lambda text, n: text}}\n")
    monkeypatch.setattr("core.libraries._BEGAN_NS", time.time_ns())  # a process that begins now
    plugin = read_plugin(PluginSpec(str(path)), path)
    expected = files_sha256(helper.parent, [helper])
    assert dict(plugin.libraries) == {name: f"sha256:{expected[:12]}"}
    assert plugin.systems()
    other = replace(plugin, name="elsewhere.py", libraries=((name, "sha256:0123456789ab"),))
    with pytest.raises(PluginError, match=f"{name} was sha256:0123456789ab and is sha256:"):
        other.systems()


def test_a_helper_that_was_edited_before_anybody_looked_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook, which has imported it: the plugin runs, and nobody can tell with which of its code."""
    monkeypatch.syspath_prepend(tmp_path)
    helper, path = tmp_path / "my_early_helper.py", tmp_path / "mine.py"
    helper.write_text("CUT = 1\n")
    importlib.import_module("my_early_helper")
    helper.write_text("CUT = 22\n")
    path.write_text("import my_early_helper\nSYSTEMS = {'tail': lambda text, n: text}\n")
    plugin = read_plugin(PluginSpec(str(path)), path)
    assert dict(plugin.libraries) == {"my_early_helper": "unknown files"}
    assert plugin.systems()
    monkeypatch.delitem(sys.modules, "my_early_helper")  # as in an actor, which imports the newer one
    elsewhere = replace(plugin, name="elsewhere.py")
    assert elsewhere.systems()


def test_a_helper_behind_older_bytecode_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    helper = tmp_path / "my_stale_helper.py"
    for cut in (1, 2):
        helper.write_text(f"CUT = {cut}\n")
        os.utime(helper, ns=(10**18, 10**18))
        if cut == 1:
            load.imported_versions("import my_stale_helper")
            py_compile.compile(str(helper))
    with pytest.raises(PluginError, match=r"older bytecode in place of .*my_stale_helper"):
        load.imported_versions("import my_stale_helper")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"There is no plugin absent\.py: this file does not exist\. Check the path"):
        read_plugin(PluginSpec("absent.py"), tmp_path / "absent.py")
