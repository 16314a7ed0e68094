"""Libraries that draw from Python's one global generator, made to draw from a seed of ours."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def seeded(seed: np.random.SeedSequence) -> Iterator[None]:
    """Within, the ``random`` module draws from ``seed``; afterwards it goes on as if nothing had been."""
    before = random.getstate()
    random.seed(int.from_bytes(seed.generate_state(4).tobytes(), "little"))
    try:
        yield
    finally:
        random.setstate(before)
