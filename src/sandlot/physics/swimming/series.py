"""Sine and cosine as power series: unlike those of the library, they vectorise."""

from sandlot.kernels import kernel


@kernel(inline="always")
def sine(x: float) -> float:
    """Sine to 1e-9 for angles up to a joint's limit."""
    y = x * x
    return x * (
        1.0
        + y * (-1 / 6 + y * (1 / 120 + y * (-1 / 5040 + y * (1 / 362880 + y * (-1 / 39916800 + y * (1 / 6227020800))))))
    )


@kernel(inline="always")
def cosine(x: float) -> float:
    """Cosine to 1e-9 for angles up to a joint's limit."""
    y = x * x
    high = 1 / 40320 + y * (-1 / 3628800 + y * (1 / 479001600 + y * (-1 / 87178291200)))
    return 1.0 + y * (-0.5 + y * (1 / 24 + y * (-1 / 720 + y * high)))
