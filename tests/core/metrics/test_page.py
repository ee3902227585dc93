"""The examples of docs/metrics.md give what the page says."""

import doctest
from pathlib import Path

from nws.core.metrics.registry import METRICS

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


def test_every_example() -> None:
    text = PAGE.read_text(encoding="utf-8").replace("```python", "").replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    report: list[str] = []
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(examples, out=report.append)
    assert found.failed == 0, "".join(report)
    assert found.attempted > 30


def test_every_metric_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in METRICS if f"`{name}`" not in text] == ["rouge3"]  # "…"
