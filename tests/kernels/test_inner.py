"""Kernels that kernels call are linked into their callers, and compiled once."""

import gc

import numba
import numpy as np
import pytest
from numba.core import config

from sandlot.kernels import kernel

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


def test_a_variable_that_begins_as_zero_compiles_what_it_is_given_to_once():
    @kernel(allocates=False)
    def add(total, value):
        return total + value

    @kernel(allocates=False)
    def count(values):
        total = 0
        for k in range(len(values)):
            total = add(total, int(values[k]))
        return total

    assert count(np.arange(5.0)) == 10
    inner = add.get_overload.__self__
    assert list(inner.overloads) == [(numba.int64, numba.int64)]
    assert not add.overloads  # nothing for Python, which has not called it
    assert add(2, 3) == 5
    assert gc.isenabled()


def test_a_linked_kernel_keeps_its_arguments_for_others():
    """Within one caller it may lose arguments that it does not need there; other callers must not run that form."""

    @kernel(allocates=False, error_model="numpy")
    def scaled(values, factor, unused):
        total = 0.0
        for k in range(len(values)):
            total += factor * values[k] + unused[k % len(unused)]
        return total

    @kernel(allocates=False, error_model="numpy")
    def twice(values, unused):
        return scaled(values, 2.0, unused) + scaled(values, 2.0, unused)

    @numba.njit
    def by_other(values, factor, unused):
        return scaled(values, factor, unused) - scaled(unused, factor, values)

    values, nothing = np.arange(4.0), np.zeros(3)
    assert twice(values, nothing) == 24.0
    assert by_other(values, 3.0, nothing) == pytest.approx(18.0 - 3.0)
    assert scaled(values, 1.0, nothing) == 6.0
