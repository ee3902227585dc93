"""Plugins as they are read. What they have is in the tests of either kind."""

import re
from pathlib import Path

import pytest
from documents import document

from nws.core.errors import PluginError
from nws.core.plugins.adapters import plugin_metrics, plugin_systems
from nws.core.plugins.load import PluginSpec, read_plugin


@pytest.mark.parametrize("page", ["docs/your-own.md", "README.md"])
def test_the_examples_of_the_pages_are_plugins(page: str, tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    examples = [block for block in blocks if "SYSTEMS = {" in block or "METRICS = {" in block]
    assert len(examples) == (4 if page.startswith("docs") else 1)
    storm = "Storm closes port.", ["A storm closed the port."], "it"
    known = {"article": "A storm in Hull.", "n": 3, "language": "en"}
    for number, example in enumerate(examples):
        path = tmp_path / f"{number}.py"
        path.write_text(example)
        plugin = read_plugin(PluginSpec(path.name), path)
        for system in plugin_systems(plugin, ["enc"]):
            assert [draft.n for draft in system.summarize(document(), [1, 3]) if draft.n] == [1, 3]
        for metric in plugin_metrics(plugin):
            assert isinstance(metric.judge(*storm, **known), float)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"The plugin my_package is not a \.py file\. To use an installed package"):
        read_plugin(PluginSpec("my_package"), Path("my_package"))
    with pytest.raises(PluginError, match=r"The plugin absent\.py does not exist\. Check the path"):
        read_plugin(PluginSpec("absent.py"), tmp_path / "absent.py")
