"""Samples of how busy a GPU is. nvidia-smi is a script that prints like it."""

from pathlib import Path

import pytest

from jobs.drive.gpu_busy import GpuWatch


@pytest.mark.parametrize(
    ("prints", "expected"), [("40\\n60\\n", 0.5), ("[N/A]\\n", None), ("No devices were found\\n", None)]
)
def test_samples_are_averaged(
    prints: str, expected: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, printed = tmp_path / "nvidia-smi", tmp_path / "printed"
    script.write_text(f"#!/bin/sh\nprintf '{prints}'\ntouch {printed}\nexec sleep 60\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    watch = GpuWatch()
    watch.start()
    while not printed.exists():
        pass
    assert watch.stop() == expected


def test_nothing_is_known_without_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    watch = GpuWatch()
    watch.start()
    assert watch.stop() is None
