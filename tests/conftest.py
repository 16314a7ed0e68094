"""What all tests share."""

import numpy as np
from hypothesis import settings
from numba import config

settings.register_profile("sandlot", deadline=None, max_examples=30, print_blob=True)
settings.load_profile("sandlot")

if config.DISABLE_JIT:
    # Random streams wrap around on purpose; compiled code does so silently, NumPy's scalars warn.
    np.seterr(over="ignore")
