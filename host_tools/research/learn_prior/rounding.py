"""The numbers of a prior file are rounded, so that people can read them."""

from typing import Final

import numpy as np

from firmware_py.inference.kernel import Array

WEIGHT_DECIMALS: Final = 6
DECIMALS: Final = 3


def rounded(numbers: Array) -> tuple[float, ...]:
    """Return numbers with `DECIMALS`."""
    return tuple(round(float(number), DECIMALS) + 0.0 for number in numbers)


def rounded_weights(weight: Array) -> list[float]:
    """Return weights that are together 1: what rounding leaves over goes to the largest."""
    shares = [round(float(w), WEIGHT_DECIMALS) for w in weight]
    largest = int(np.argmax(shares))
    others = sum(share for k, share in enumerate(shares) if k != largest)
    shares[largest] = round(1.0 - others, WEIGHT_DECIMALS)
    return shares
