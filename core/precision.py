"""What models compute in, and what runs record of how they multiply."""

from typing import Literal

# The floating-point type that a model computes in. Less than float32 is faster on a GPU, and gives other numbers.
Precision = Literal["float32", "float16", "bfloat16"]

ROWS_DEPEND = "rows depend on their batch"
"""What a description says where nothing can be promised to the last bit, see `core.arithmetic`."""
