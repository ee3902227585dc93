"""What `nws correlate` computes and prints."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from core.errors import RecipeError
from jobs.tools.correlate import correlate_file


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Six systems, eight documents; `flat` is constant, `near` follows the human scores closely."""
    rng = np.random.default_rng(0)
    human = rng.normal(size=(6, 1)) + rng.normal(size=(6, 8))
    human[:, 0] = 1.0
    near, far = human + rng.normal(scale=0.3, size=(6, 8)), human + rng.normal(scale=2, size=(6, 8))
    rows = [
        {"system": f"s{i}", "document": f"d{j}", "near": near[i, j], "far": far[i, j], "flat": 1, "human": human[i, j]}
        for i in range(6)
        for j in range(8)
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_every_number_and_what_made_it(scores: Path) -> None:
    found = correlate_file(scores, ["near", "flat", "far"], "human", seed=4).as_dict()
    json.dumps(found, allow_nan=False)
    assert (found["systems"], found["documents"], found["human"], found["seed"]) == (6, 8, "human", 4)
    assert "kendall:tau-b" in found["signature"]
    assert "resamples:1000" in found["signature"]
    rows = [json.loads(line) for line in scores.read_text().splitlines()]
    near, human = (np.array([row[name] for row in rows]).reshape(6, 8) for name in ("near", "human"))
    system = found["metrics"]["near"]["system"]["spearman"]
    assert system["value"] == pytest.approx(stats.spearmanr(near.mean(axis=1), human.mean(axis=1)).statistic)
    summary = found["metrics"]["near"]["summary"]["kendall"]
    each = [stats.kendalltau(near[:, d], human[:, d]).statistic for d in range(1, 8)]
    assert (summary["value"], summary["documents_left_out"]) == (pytest.approx(np.mean(each)), 1)
    assert summary["interval"][0] <= summary["value"] <= summary["interval"][1]
    assert found["metrics"]["flat"]["summary"]["pearson"]["value"] is None
    pairs = {(one["a"], one["b"]) for one in found["differences"]}
    assert pairs == {("near", "flat"), ("near", "far"), ("flat", "far")}
    assert correlate_file(scores, ["near", "flat", "far"], "human", seed=4).as_dict() == found


def test_no_metric_is_refused(scores: Path) -> None:
    with pytest.raises(RecipeError, match="--metrics names no column"):
        correlate_file(scores, [], "human", seed=0)


def test_the_page(nws, scores: Path) -> None:
    rows = scores.read_text().splitlines()[:-1]  # s5 lacks d7
    scores.write_text("\n".join(rows))
    page = nws("correlate", str(scores), "--metrics", "near, far,flat", "--human", "human")
    assert page.code == 0
    assert "Correlation with human: 6 systems, 7 documents, seed 0" in page.out
    assert "Left out: 1 document that a system lacks; --json names them." in page.out
    assert "near: 1 of 7 documents have no correlation" in page.out
    assert "With 6 systems the intervals" in page.out
    assert "near − far" in page.out
    assert "undefined" in page.out
    assert max(map(len, page.out.splitlines())) <= 80
    found = nws("correlate", str(scores), "--metrics", "near", "--human", "human", "--json").json
    value = found["metrics"]["near"]["system"]["pearson"]["value"]
    assert f"{value:.3f}".removeprefix("0") in page.out
    assert found["documents_lacking_systems"] == {"d7": ["s5"]}


def test_errors_name_the_columns(nws, scores: Path) -> None:
    result = nws("correlate", str(scores), "--metrics", "rouge9", "--human", "human")
    assert result.code == 1
    assert "'rouge9' is missing; the fields are: system, document, near, far, flat, human" in result.err
    assert nws("correlate", str(scores), "--metrics", "near", "--human", "near").code == 2
