"""Random numbers that are the same everywhere and for ever, and do not depend on any order.

A number is a raw word of the Philox-4x64 counter generator (Salmon et al., SC 2011) under the key
(seed, stream) at the counter (index): a pure function, so that a resumed session draws what an
uninterrupted one draws.
"""

from typing import Final

import numpy as np

PAUSE_STREAM: Final = 1
CATCH_STREAM: Final = 2


def uniform(seed: int, stream: int, index: int) -> float:
    """Return a number in [0, 1), a multiple of 2**-53."""
    generator = np.random.Philox(key=np.array([seed, stream], dtype=np.uint64), counter=index)
    word = int(generator.random_raw())
    return (word >> 11) * 2.0**-53
