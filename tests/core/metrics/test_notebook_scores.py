"""The table of scores in the study's notebook: what was computed there, and what it says."""

import json
from pathlib import Path

import pytest

from nws.core.metrics.metric import Row
from nws.core.metrics.registry import make_metric

F1 = 2


@pytest.fixture(scope="module")
def notebook(shared_data: Path) -> dict[str, dict[str, dict[str, float]]]:
    path = shared_data / "notebook_scores.json"
    if not path.is_file():
        pytest.skip(f"the notebook's texts are not here: {path}")
    return json.loads(path.read_text(encoding="utf-8"))


def test_its_rouge_is_that_of_the_printed_texts_against_another_article(notebook) -> None:
    """Summaries of one article (train, place 10), scored against the text of another one (test, place 10)."""
    assert sorted(notebook["summaries"]) == ["bart", "gpt2", "t5"]
    for system, text in notebook["summaries"].items():
        for name in ("rouge1", "rouge2", "rougeL"):
            metric = make_metric(name)
            found = metric.score(metric.statistics([Row(text, (notebook["reference"],))]))[F1]
            assert round(float(found), 6) == notebook["printed"][system][name], (system, name)
