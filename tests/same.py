"""Whether what two worlds say is the same, to the last bit."""

import numpy as np


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert set(one) == set(other)
        for key in one:
            assert_same(one[key], other[key])
    else:
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_array_equal(one, other)
