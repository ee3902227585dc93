"""The benchmark of a GPU, with a CPU in its place and tiny models."""

import stat
from pathlib import Path

import pytest
import torch
from fake_cuda import FakeCuda

from bench import gpu
from bench.gpu import Speed, actors_to_feed, as_text, main, measure, paper_hours, peak_tflops, prepare, utilisation
from core.device import find_device

CPU = torch.device("cpu")


def test_without_a_gpu_it_says_so_and_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    FakeCuda(count=0).install(monkeypatch)
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "no NVIDIA GPU" in err


def test_a_run_on_the_cpu_measures_all_but_what_only_a_gpu_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu, "RESULTS", tmp_path)
    assert main(["--device", "cpu", "--articles", "2", "--layers", "1", "--hidden", "32"]) == 0
    printed = capsys.readouterr().out
    for part in (
        "articles: 2",
        "summaries: 176",
        "tokens/s",
        "TFLOP/s of",
        "hours",
        "random weights",
        "busy: not known",
    ):
        assert part in printed
    assert list(tmp_path.iterdir()) == [], "only what a GPU did is kept"


def test_flop_are_those_of_the_layers(tmp_path: Path) -> None:
    plan, articles, seconds = prepare(tmp_path, layers=1, hidden_size=64, dataset="sample", limit=1)
    speed = measure(plan, articles, CPU, "float32")
    assert seconds > 0
    assert len(articles) == 1
    of_token = 2 * 12 * 64**2  # four matrices of attention, two of the inner layer
    flop = speed.tflops * 1e12 / speed.tokens_per_second
    # Beside the linear layers: attention itself, matching, and padding, of which one article's few batches have much.
    assert of_token < flop < 4 * of_token
    assert speed.busy_share is speed.actors is None


def test_utilisation_is_read_from_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text(
        f"#!/bin/sh\n[ $2 = GPU-abc ] || exit 1\nprintf '90\\n70\\n[N/A]\\n'\ntouch {tmp_path}/said\nexec sleep 60\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    FakeCuda(uuid="abc").install(monkeypatch)
    on = find_device("cuda")
    with utilisation(on) as samples:
        while not (tmp_path / "said").exists():
            pass
    assert samples == [90.0, 70.0]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with utilisation(on) as samples:
        pass
    assert samples == []
    with utilisation(CPU) as samples:
        pass
    assert samples == []


@pytest.mark.parametrize(("busy", "actors"), [(0.95, 1), (0.9, 1), (0.8, 2), (0.45, 2), (0.4, 4), (0.02, 4)])
def test_actors_share_a_gpu_until_it_is_busy(busy: float, actors: int) -> None:
    assert actors_to_feed(busy) == actors


def test_the_paper_is_extrapolated_by_words() -> None:
    assert paper_hours(1000) == pytest.approx((11_490 * 781 + 11_334 * 431) / 1000 / 3600)


def test_the_result_names_share_of_peak_and_actors() -> None:
    speed = Speed("float16", 10.0, 4000.0, 20_000.0, 0.9, 0.5, 3.0, 12.0, 3.9, 2)
    text = as_text({"device": "Tesla T4"}, [speed])
    for part in ("device: Tesla T4", "float16:", "(25%)", "device busy: 50%", "gpus_per_actor: 0.5", "3.9 hours"):
        assert part in text


def test_the_peak_of_a_matrix_product_is_positive() -> None:
    assert peak_tflops(CPU, torch.float32) > 0
