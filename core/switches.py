"""Environment variables with which the libraries of a run compute other numbers."""

import os

# How many threads compute is set by `core.sweep.take_share`, and MKL_CBWR is named with MKL (`core/arithmetic.py`).
_SWITCHES = (
    *("ATEN_CPU_CAPABILITY", "DNNL_DEFAULT_FPMATH_MODE", "DNNL_MAX_CPU_ISA", "GLIBC_TUNABLES", "KIWI_ARCH_TYPE"),
    *("MKL_DEBUG_CPU_TYPE", "MKL_ENABLE_INSTRUCTIONS", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES"),
    *("BLIS_ARCH_TYPE", "ONEDNN_DEFAULT_FPMATH_MODE", "ONEDNN_MAX_CPU_ISA", "OPENBLAS_CORETYPE", "USE_HUB_KERNELS"),
    *("CUBLASLT_WORKSPACE_SIZE", "CUBLAS_WORKSPACE_CONFIG", "DISABLE_ADDMM_CUDA_LT", "NVIDIA_TF32_OVERRIDE"),
    *("DNNL_CPU_ISA_HINTS", "ONEDNN_CPU_ISA_HINTS", "PYTORCH_TUNABLEOP_ENABLED", "TORCH_BLAS_PREFER_CUBLASLT"),
)


def set_switches() -> list[str]:
    """Those that are set in this process, each as `NAME=value`."""
    return [f"{name}={os.environ[name]}" for name in _SWITCHES if os.environ.get(name)]
