"""The benchmark of a GPU, with a CPU in its place and tiny models."""

from pathlib import Path

import pytest
import torch

from bench import machine
from bench.arms import stage_of
from bench.gpu import main, measure_all, prepare

pytestmark = pytest.mark.slow

CPU = torch.device("cpu")


def test_a_run_on_the_cpu_measures_all_but_what_only_a_gpu_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "RESULTS", tmp_path)
    assert main(["--device", "cpu", "--articles", "2", "--layers", "1", "--hidden", "32"]) == 0
    printed = capsys.readouterr().out
    some = ("articles: 2", "summaries: 176", "176/176", "libraries called once for everything", "tokens/s")
    for part in (*some, "of peak", "hours", "random weights", "not known", "tokenizing", "all but models"):
        assert part in printed
    assert list(tmp_path.iterdir()) == [], "only what a GPU did is kept"


def test_the_libraries_give_the_rows_of_the_sweep(tmp_path: Path) -> None:
    """Random's, too, whose scores are means over several draws."""
    plan, articles, seconds = prepare(tmp_path / "tiny", 1, 64, "sample", 3)
    assert seconds > 0
    assert len(articles) == 3
    report = measure_all({}, plan, articles, CPU, ["float32"])
    agreement = report.agreements["float32"]
    assert agreement.equal_texts == agreement.texts == 3 * len(stage_of(plan).places)
    assert agreement.rouge_exact
    assert max(agreement.delta) < 1e-5
