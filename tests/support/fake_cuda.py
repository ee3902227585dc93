"""A GPU where there is none: torch's own functions run, on what stands here for the compiled part below them.

So which arguments are refused, and how, is decided by the installed torch: `torch.cuda` is not patched, only the
functions of `torch._C` that it calls, which a torch for CPUs lacks. They refuse what the compiled ones do: an index
beyond the GPUs there are, and what is no index.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import torch

T4 = ("Tesla T4", (7, 5))


@dataclass
class FakeCuda:
    """GPUs of one kind, and what was asked of them.

    Attributes:
        kind: name and compute capability.
        count: how many GPUs; with 0, torch has CUDA and finds no GPU.
        current: the index of the one in use.
        fractions: by index, what was set as this process's share.
    """

    kind: tuple[str, tuple[int, int]] = T4
    count: int = 1
    current: int = 0
    fractions: dict[int, float] = field(default_factory=dict)

    def install(self, patch: pytest.MonkeyPatch) -> "FakeCuda":
        """Put it below `torch.cuda`, which has not been initialised then."""
        compiled = {
            "_cuda_getDeviceCount": lambda: self.count,
            "_cuda_init": self._init,
            "_cuda_getDevice": lambda: self.current,
            "_cuda_exchangeDevice": self._exchange,
            "_cuda_maybeExchangeDevice": self._exchange,
            "_cuda_setDevice": self._exchange,
            "_cuda_isInBadFork": lambda: False,
            "_cuda_setMemoryFraction": self._set_fraction,
        }
        for name, function in compiled.items():
            patch.setattr(torch._C, name, function, raising=False)
        cuda: dict[str, Any] = {
            "_initialized": False,
            "_cached_device_count": None,
            "_queued_calls": [],
            "_lazy_seed_tracker": type(torch.cuda._lazy_seed_tracker)(),  # what earlier tests have seeded
            "_cudart": SimpleNamespace(),
            "_is_in_bad_fork": lambda: False,
            "_device_count_nvml": lambda: self.count,
            "_exchange_device": self._exchange,
            "_maybe_exchange_device": self._exchange,
            "_get_device_properties": self._properties,
        }
        for name, value in cuda.items():
            patch.setattr(torch.cuda, name, value, raising=False)
        return self

    def _init(self) -> None:
        if not self.count:
            raise RuntimeError("No CUDA GPUs are available")

    def _checked(self, index: object) -> int:
        if type(index) is not int:
            raise TypeError(f"incompatible function arguments: {index!r} is no index of a device")
        if not 0 <= index < self.count:
            raise torch.AcceleratorError("CUDA error: invalid device ordinal")
        return index

    def _exchange(self, index: int) -> int:
        before = self.current
        self.current = before if index == -1 else self._checked(index)
        return before

    def _set_fraction(self, fraction: float, index: int) -> None:
        self.fractions[self._checked(index)] = fraction

    def _properties(self, index: int) -> SimpleNamespace:
        self._checked(index)
        name, (major, minor) = self.kind
        return SimpleNamespace(name=name, major=major, minor=minor)
