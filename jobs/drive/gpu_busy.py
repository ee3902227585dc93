"""How busy a GPU is, as nvidia-smi samples it."""

import os
import subprocess
from statistics import fmean

_QUERY = ("nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "250")


class GpuWatch:
    """Samples the first visible GPU four times a second, from `start` to `stop`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Begin, if nvidia-smi is here."""
        first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
        try:
            self._process = subprocess.Popen(
                (*_QUERY, "-i", first), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
            )
        except OSError:
            self._process = None

    def stop(self) -> float | None:
        """The part of the time that a kernel was running, in [0, 1]; None where that is not known."""
        if self._process is None:
            return None
        self._process.terminate()
        answer, _ = self._process.communicate()
        self._process = None
        samples = [int(line) for line in answer.split() if line.isdecimal()]
        return fmean(samples) / 100 if samples else None
