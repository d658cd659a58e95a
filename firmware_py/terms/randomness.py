"""Random numbers that are the same everywhere and for ever, and do not depend on any order.

A number is a raw word of the Philox-4x64 counter generator (Salmon et al., "Parallel random
numbers: as easy as 1, 2, 3", SC 2011) under the key (seed, stream) at the counter (index): a pure
function, so that a resumed session draws what an uninterrupted one draws. NumPy has the same
generator, in a module of 10 MB.
"""

from typing import Final

PAUSE_STREAM: Final = 1
CATCH_STREAM: Final = 2
ORDER_STREAM: Final = 3  # of the two sounds of a comparison
EAR_STREAM: Final = 4  # in which ear a clear tone begins

_ROUNDS: Final = 10
_WORD: Final = 2**64 - 1
_MULTIPLIERS: Final = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_KEY_STEPS: Final = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the four 64-bit words of Philox-4x64-10 at this counter, under this key."""
    a, b, c, d = counter
    left, right = key
    for _ in range(_ROUNDS):
        from_a, from_c = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
        a, c = (from_c >> 64) ^ b ^ left, (from_a >> 64) ^ d ^ right
        b, d = from_c & _WORD, from_a & _WORD
        left, right = (left + _KEY_STEPS[0]) & _WORD, (right + _KEY_STEPS[1]) & _WORD
    return a, b, c, d


def uniform(seed: int, stream: int, index: int) -> float:
    """Return a number in [0, 1), a multiple of 2**-53: that of NumPy's Philox at this counter."""
    word = philox((index + 1, 0, 0, 0), (seed, stream))[0]  # NumPy counts before it draws
    return (word >> 11) * 2.0**-53
