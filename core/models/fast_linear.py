"""Linear layers that multiply with oneDNN instead of MKL: faster on some CPUs, equal to float32 rounding.

PyTorch ships both libraries and takes MKL for `nn.Linear`. On an AMD core with AVX-512 (Zen 5) MKL reaches
100 GFLOP/s and oneDNN, with the weight matrix laid out for it once, 230. These layers are most of a sweep's time:
`python -m bench.sweep` shows it with and without.
"""

import functools
from pathlib import Path

import torch
from torch import nn

CPUINFO = Path("/proc/cpuinfo")


class PackedLinear(nn.Module):
    """`nn.Linear` for inference on a CPU, with the weight matrix in oneDNN's layout only."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        super().__init__()
        # Opaque, but with a dtype, which some models (T5) read from their layers' `weight`.
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
    """Replace the float32 `nn.Linear` layers of a model on a CPU, in place, where oneDNN is faster.

    The kind of CPU decides, and no timing, so that every worker of a machine decides alike.
    """
    if not onednn_is_faster():
        return
    for parent in list(model.modules()):
        for name, layer in parent.named_children():
            # Only the exact class, since a model may use a subclass otherwise than by calling it.
            if type(layer) is nn.Linear and layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32:
                setattr(parent, name, PackedLinear(layer.weight, layer.bias))


@functools.cache
def onednn_is_faster() -> bool:
    """Whether oneDNN is faster than MKL on this kind of CPU, and PyTorch has these layers."""
    # Linux's description of the CPUs; other systems have no such file.
    is_amd = CPUINFO.is_file() and "AuthenticAMD" in CPUINFO.read_text(encoding="utf-8", errors="replace")
    return is_amd and torch.backends.cpu.get_cpu_capability() == "AVX512" and onednn_works()


def onednn_works() -> bool:
    """Whether a packed layer can be computed: PyTorch does not promise these operations."""
    try:
        PackedLinear(torch.eye(4), None)(torch.eye(4))
    except (AttributeError, RuntimeError, TypeError):  # no such operation, not for this CPU, other arguments
        return False
    return True
