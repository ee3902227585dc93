"""The benchmark of a GPU, with a CPU in its place and tiny models."""

import json
import stat
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from fake_cuda import FakeCuda

from bench import gpu
from bench.arms import plan_of
from bench.device import Deadline, OutOfTimeError, peak_of, utilisation
from bench.gpu import flop_of, main, measure, measure_all, measure_libraries, prepare
from bench.gpu_results import Report, Speed, as_text
from bench.parts import MODELS
from bench.sweep import Agreement
from core.gpu_arithmetic import find_device

pytestmark = pytest.mark.slow

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
        "of peak",
        "hours",
        "random weights",
        "not known",
        "libraries called once for everything",
        "176/176",
        "tokenizing",
        "all but models",
    ):
        assert part in printed
    assert list(tmp_path.iterdir()) == [], "only what a GPU did is kept"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory):
    pinned, articles, seconds = prepare(tmp_path_factory.mktemp("tiny") / "m", 1, 64, "sample", 3)
    assert seconds > 0
    assert len(articles) == 3
    return pinned, articles


def test_flop_are_those_of_the_layers(tiny) -> None:
    pinned, articles = tiny
    plan = plan_of(pinned)
    flop = flop_of(plan, articles[:1], CPU)
    speed, rows = measure(plan, articles[:1], CPU, "float32", flop, Deadline(60))
    of_token = 2 * 12 * 64**2  # four matrices of attention, two of the inner layer
    flop_of_token = speed.tflops * 1e12 / speed.tokens_per_second
    # Beside the linear layers: attention itself, matching, and padding, of which one article's few batches have much.
    assert of_token < flop_of_token < 4 * of_token
    assert speed.busy_share is speed.actors is None
    assert speed.part_ms[MODELS] > 0
    assert len(rows) == plan.summaries_per_article


def test_flop_of_one_bundle_stand_for_all_by_words(tiny) -> None:
    pinned, articles = tiny
    plan = plan_of(pinned)
    words = [len(article.words) for article in articles]
    one = flop_of(plan, articles[:1], CPU)
    assert flop_of(plan, articles, CPU, bundle=1) == pytest.approx(one * sum(words) / words[0])
    assert flop_of(plan, articles, CPU) != pytest.approx(one * sum(words) / words[0])


def test_the_libraries_give_the_rows_of_the_sweep(tiny) -> None:
    """Random's, too, whose scores are means over several draws."""
    pinned, articles = tiny
    report = measure_all({}, pinned, articles, CPU, ["float32"], Deadline(120))
    assert report.libraries is not None
    assert report.left_out == []
    agreement = report.agreements["float32"]
    assert agreement.equal_texts == agreement.texts == 3 * plan_of(pinned).summaries_per_article
    assert agreement.rouge_exact
    assert max(agreement.delta) < 1e-5


def test_what_does_not_fit_before_the_deadline_is_left_out_and_said(
    tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pinned, articles = tiny
    with pytest.raises(OutOfTimeError):
        measure_libraries(pinned, articles * 1000, CPU, Deadline(20))
    report = measure_all({}, pinned, articles, CPU, ["float32"], Deadline(0))
    assert (report.speeds, report.libraries, report.left_out) == ([], None, ["float32", "libraries"])
    assert "Left out" in as_text(report)
    assert "float32, libraries." in as_text(report)


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


def speed(**changed) -> Speed:
    parts = {"tokenizing": 3.0, MODELS: 40.0, "else": 5.5}
    values = {"precision": "float16", "busy_share": 0.5, "tflops": 3.0, "peak_tflops": 12.0, "part_ms": parts}
    return Speed(
        **(
            {"articles_per_second": 10.0, "words_per_second": 4000.0, "tokens_per_second": 9.0}
            | values
            | {"cpu_share": 0.9}
            | changed
        )
    )


@pytest.mark.parametrize(("busy", "actors"), [(0.95, 1), (0.9, 1), (0.8, 2), (0.45, 2), (0.4, 4), (0.02, 4)])
def test_actors_share_a_gpu_until_it_is_busy(busy: float, actors: int) -> None:
    assert speed(busy_share=busy).actors == actors


def test_the_result_names_share_of_peak_host_time_ratio_and_actors() -> None:
    agreement = Agreement(99, 100, (1e-4, 2e-4, 1.5e-4), False)
    report = Report({"device": "Tesla T4"}, [speed()], 4.0, {"float16": agreement}, ["bfloat16"])
    text = as_text(report)
    for part in ("device: Tesla T4", "float16", "(25%)", "50%", "gpus_per_actor: 0.5", "1.0 hours"):
        assert part in text
    for part in ("2.50", "99/100", "2e-04", "differs", "8.5", "bfloat16."):
        assert part in text
    assert json.loads(json.dumps(asdict(report)))["agreements"]["float16"]["equal_texts"] == 99


def test_the_peak_of_a_matrix_product_is_positive_and_no_switch_stays_on() -> None:
    before = torch.backends.cuda.matmul.allow_tf32
    assert peak_of(CPU, "float32") > 0
    assert peak_of(CPU, "tf32") > 0
    assert torch.backends.cuda.matmul.allow_tf32 == before
