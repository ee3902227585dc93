"""Linear layers that multiply with oneDNN instead of MKL: the same numbers to float32 rounding, faster on some CPUs.

PyTorch ships both libraries and takes MKL for `nn.Linear`. On an AMD core with AVX-512 (Zen 5) MKL reaches
100 GFLOP/s and oneDNN, with the weight matrix laid out for it once, 230. These layers are most of a sweep's time:
`python -m bench.sweep` shows it with and without.
"""

import functools
from pathlib import Path

import torch
from torch import nn

CPUINFO = Path("/proc/cpuinfo")
# The largest difference allowed between the two libraries, relative to the largest output. Seen: 1e-6.
_TOLERANCE = 1e-5


class PackedLinear(nn.Module):
    """`nn.Linear` for inference on a CPU. The weight matrix is held in oneDNN's own layout alone."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        super().__init__()
        # Opaque, but it has a dtype, which is what some models ask their layers' `weight` for (T5).
        self.weight: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.detach())
        self.bias = None if bias is None else bias.detach()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """From (..., in features) to (..., out features)."""
        if inputs.numel() == inputs.shape[-1]:
            # oneDNN sums a single row in another order than the same row among others: see core/arithmetic.py.
            return self._multiply(inputs.expand(2, *inputs.shape))[0]
        return self._multiply(inputs)

    def _multiply(self, inputs: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = torch.ops.mkldnn._linear_pointwise(inputs, self.weight, self.bias, "none", [], "")
        return output


def speed_up_linear_layers(model: nn.Module) -> None:
    """Replace the float32 CPU `nn.Linear` layers inside `model`, in place, where that is known to be faster.

    The choice follows from the kind of CPU, not from a timing, so that it is the same in every worker of a machine.
    """
    if not onednn_is_faster():
        return
    for parent in list(model.modules()):
        for name, layer in parent.named_children():
            # The exact class: a subclass may be used otherwise than by calling it.
            if type(layer) is nn.Linear and layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32:
                setattr(parent, name, PackedLinear(layer.weight, layer.bias))


@functools.cache
def onednn_is_faster() -> bool:
    """Whether this CPU is of a kind on which oneDNN beats MKL, and oneDNN gives the right numbers here."""
    return is_amd(CPUINFO) and torch.backends.cpu.get_cpu_capability() == "AVX512" and onednn_works()


def is_amd(cpuinfo: Path) -> bool:
    """Whether Linux's description of the CPUs names AMD; False on other systems, which have no such file."""
    return cpuinfo.is_file() and "AuthenticAMD" in cpuinfo.read_text(encoding="utf-8", errors="replace")


def onednn_works() -> bool:
    """Try a layer. PyTorch does not promise these operations, and may be told to run them in less than float32."""
    generator = torch.Generator().manual_seed(0)
    inputs, weight = torch.randn(70, 384, generator=generator), torch.randn(96, 384, generator=generator)
    bias = torch.randn(96, generator=generator)
    expected = nn.functional.linear(inputs, weight, bias)
    try:
        outputs = PackedLinear(weight, bias)(inputs)
    except (AttributeError, RuntimeError, TypeError):  # no such operation, not for this CPU, other arguments
        return False
    return bool((outputs - expected).abs().max() <= _TOLERANCE * expected.abs().max())
