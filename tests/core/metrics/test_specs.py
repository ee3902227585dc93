"""The stored metrics: their columns, and what the documentation says of them."""

from pathlib import Path

import pytest

from nws.core.metrics.specs import BY_COLUMN, OPTIONAL, SPECS, as_columns
from nws.core.types import Score

METRICS_PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


def test_scores_go_to_the_columns_of_their_spec() -> None:
    scores = {spec.name: Score(0.1, 0.2, 0.3) if spec.has_parts else 0.5 for spec in SPECS}
    columns = as_columns(scores)
    assert [*columns, *OPTIONAL] == list(BY_COLUMN)
    assert [columns[f"rouge1_{part}"] for part in ("precision", "recall", "f1")] == [0.1, 0.2, 0.3]
    assert columns["density"] == 0.5
    with pytest.raises(KeyError, match="density"):
        as_columns({name: score for name, score in scores.items() if name != "density"})


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_the_page_of_metrics_tells_the_bounds(spec) -> None:
    rows = [line.split("|") for line in METRICS_PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    told = next(cells[3].strip() for cells in rows if f"`{spec.name}`" in cells[1].lower())
    assert told.startswith(("-1 to 1", "as BERTScore") if spec.name in ("bertscore", "efficiency") else "0 to 1")
