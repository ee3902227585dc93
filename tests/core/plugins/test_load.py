"""Plugins as they are read. What they have is in the tests of either kind."""

import re
from pathlib import Path

import pytest
from documents import document

from core.errors import PluginError
from core.plugins.adapters import Judged, plugin_metrics, plugin_systems
from core.plugins.load import PluginSpec, read_plugin

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


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"The plugin my_package is no file ending in \.py\. Of an installed package"):
        read_plugin(PluginSpec("my_package"), Path("my_package"))
    with pytest.raises(PluginError, match=r"There is no plugin absent\.py: this file does not exist\. Check the path"):
        read_plugin(PluginSpec("absent.py"), tmp_path / "absent.py")
