"""What a benchmark ran on, what it cost there, and where its result is kept."""

import contextlib
import json
import platform
from pathlib import Path

import psutil

RESULTS = Path(__file__).parent / "results"


def cpu_model() -> str:
    """The CPU's name, e.g. `AMD EPYC`."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def keep(name: str, text: str, report: object) -> None:
    """Print what was found, and keep it as text and as JSON."""
    print(text, end="")
    (RESULTS / f"{name}.txt").write_text(text, encoding="utf-8")
    (RESULTS / f"{name}.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


class CpuSeconds:
    """The CPU time of a process and of all below it, those that have ended between two looks among them."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._seconds: dict[psutil.Process, float] = {}

    def all_so_far(self) -> float:
        for member in (self._process, *self._process.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                self._seconds[member] = sum(member.cpu_times()[:2])
        return sum(self._seconds.values())
