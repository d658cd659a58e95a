"""The random numbers: Philox words as published, the same everywhere and for ever."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.procedure.randomness import CATCH_STREAM, PAUSE_STREAM, uniform

deterministic = settings(deadline=None, derandomize=True, print_blob=True, database=None)

MASK = 2**64 - 1
seeds = st.integers(0, 2**63 - 1)
indices = st.integers(0, 2**40)


def philox4x64(counter: tuple[int, ...], key: tuple[int, int]) -> tuple[int, ...]:
    """Philox4x64-10 as in Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2E7470EE14C6C93 * c0, 0xCA5A826395121157 * c2
        c0, c1, c2, c3 = (p1 >> 64) ^ c1 ^ k0, p1 & MASK, (p0 >> 64) ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & MASK, (k1 + 0xBB67AE8584CAA73B) & MASK
    return c0, c1, c2, c3


PI = (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89)
PI_KEY = (0x452821E638D01377, 0xBE5466CF34E90C6C)


@pytest.mark.parametrize(
    ("counter", "key", "first_word"),
    [
        ((0, 0, 0, 0), (0, 0), 0x16554D9ECA36314C),
        ((MASK, MASK, MASK, MASK), (MASK, MASK), 0x87B092C3013FE90B),
        (PI, PI_KEY, 0xA528F45403E61D95),
    ],
)
def test_the_reference_gives_the_words_known_of_random123(
    counter: tuple[int, ...], key: tuple[int, int], first_word: int
) -> None:
    assert philox4x64(counter, key)[0] == first_word


@deterministic
@given(seeds, st.sampled_from([PAUSE_STREAM, CATCH_STREAM]), indices)
def test_a_number_is_a_philox_word_of_seed_stream_and_index(
    seed: int, stream: int, index: int
) -> None:
    word = philox4x64((index + 1, 0, 0, 0), (seed, stream))[0]  # NumPy counts before it draws

    assert uniform(seed, stream, index) == (word >> 11) / 2**53


@pytest.mark.parametrize(
    ("seed", "stream", "index", "number"),
    [
        (1, PAUSE_STREAM, 1, 0.8586995772913664),
        (1, CATCH_STREAM, 1, 0.018993736349934065),
        (2**63 - 1, PAUSE_STREAM, 9999, 0.10765959130341174),
    ],
)
def test_numbers_stay_what_they_were_in_the_first_version(
    seed: int, stream: int, index: int, number: float
) -> None:
    assert uniform(seed, stream, index) == number


def test_the_streams_of_a_session_are_different_ones() -> None:
    assert len({PAUSE_STREAM, CATCH_STREAM}) == 2


@deterministic
@given(seeds, indices)
def test_a_number_is_at_least_0_and_below_1(seed: int, index: int) -> None:
    assert 0.0 <= uniform(seed, PAUSE_STREAM, index) < 1.0
