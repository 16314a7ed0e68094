"""Types of arrays, named once."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]
Image: TypeAlias = NDArray[np.uint8]
"""(rows, columns, 3) red, green, blue."""
