"""The precision that models compute in, and what a run records about its products."""

from typing import Literal

# The floating-point type that a model computes in. Less than float32 is faster on a GPU, and gives other numbers.
Precision = Literal["float32", "float16", "bfloat16"]

ROWS_DEPEND = "rows depend on their batch"
"""Part of a description where results are not reproducible to the last bit, see `core.arithmetic`."""
