import math
import os

import pytest

from sandlot.kernels import kernel
from sandlot.kernels.fused import fma


@kernel()
def fused(a: float, b: float, c: float) -> float:
    return fma(a, b, c)


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="rounds the product with Numba off")
def test_the_product_is_not_rounded():
    small = math.ldexp(1.0, -30)
    a, b = 1.0 + small, 1.0 - small
    assert a * b - 1.0 == 0.0
    assert fused(a, b, -1.0) == -small * small


def test_plain_numbers():
    assert fused(2.0, 3.0, 4.0) == fma(2.0, 3.0, 4.0) == 10.0
