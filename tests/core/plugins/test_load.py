"""Plugins as they are read: files, and entry points of both groups. What they have is in the tests of either kind."""

import hashlib
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from documents import document

from core.errors import PluginError
from core.plugins.adapters import Judged, plugin_metrics, plugin_systems
from core.plugins.load import Plugin, PluginSpec, _installed, read_plugin
from core.systems.system import Draft

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


def test_a_package_is_pinned_by_all_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lies in a namespace, which others share."""
    package, info = tmp_path / "my_shared_space" / "tails", tmp_path / "my_space_tails-1.dist-info"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "stop.txt").write_text("the")
    (package / "tails.py").write_text("def tail(text, n):\n    return text\n")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-space-tails\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[nws.systems]\nmy-space-tail = my_shared_space.tails.tails:tail\n")
    monkeypatch.syspath_prepend(tmp_path)

    def read() -> Plugin:
        return read_plugin(PluginSpec("my-space-tail"), Path("my-space-tail"))

    pinned = read()
    (package / "stop.txt").write_text("a")
    assert read() == pinned, "which this process has imported"
    assert pinned.systems()
    _installed.cache_clear()  # as in another process
    with pytest.raises(PluginError, match=r"my-space-tail differs here: .* Install my-space-tails 1 on every machine"):
        pinned.systems()


@pytest.mark.parametrize("page", ["docs/your-own.md", "README.md"])
def test_the_examples_of_the_pages_are_plugins(page: str, tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    examples = [block for block in blocks if "SYSTEMS = {" in block or "METRICS = {" in block]
    assert len(examples) == (4 if page.startswith("docs") else 1)
    storm = Judged("Storm closes port.", ["A storm closed the port."], "it", "A storm in Hull.", 3, "en")
    for number, example in enumerate(examples):
        path = tmp_path / f"{number}.py"
        path.write_text(example)
        plugin = read_plugin(PluginSpec(path.name), path)
        for system in plugin_systems(plugin, ["enc"]):
            assert [draft.n for draft in system.summarize(document(), [1, 3]) if draft.n] == [1, 3]
        for metric in plugin_metrics(plugin):
            assert isinstance(metric.judge(storm), float)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"There is no plugin absent\.py: this file does not exist\. Check the path"):
        read_plugin(PluginSpec("absent.py"), tmp_path / "absent.py")
