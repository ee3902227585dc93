"""The precision that models compute in, and what a run records about its products."""

from typing import Literal

# What a model computes in. Less than float32 is faster on a GPU, and gives other numbers. `tf32` keeps float32 numbers
# and multiplies them with 10 bits behind the point.
Precision = Literal["float32", "tf32", "float16", "bfloat16"]

ROWS_DEPEND = "rows depend on their batch"
"""Part of a description where results are not reproducible to the last bit, see `core.arithmetic`."""

AMPERE = (8, 0)
"""GPUs of this compute capability and above (A100, L4, H100) have TF32 and bfloat16; a T4 has 7.5."""
