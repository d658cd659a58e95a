"""The random numbers: Philox words as published, the same everywhere and for ever."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.terms.randomness import CATCH_STREAM, PAUSE_STREAM, philox, uniform

MASK = 2**64 - 1
words = st.integers(0, MASK)
seeds = st.integers(0, 2**63 - 1)
indices = st.integers(0, 2**40)


@given(st.tuples(words, words), st.tuples(words, words, words, words))
def test_all_words_are_those_of_numpy(
    key: tuple[int, int], counter: tuple[int, int, int, int]
) -> None:
    """An independent reference; it counts before it draws."""
    generator = np.random.Philox(key=np.array(key, np.uint64), counter=np.array(counter, np.uint64))
    after = (sum(w << (64 * i) for i, w in enumerate(counter)) + 1) & (2**256 - 1)
    next_counter = tuple((after >> (64 * i)) & MASK for i in range(4))

    assert philox(next_counter, key) == tuple(generator.random_raw(4).tolist())  # type: ignore[arg-type]


@given(seeds, st.sampled_from([PAUSE_STREAM, CATCH_STREAM]), indices)
def test_a_number_below_1_is_a_philox_word_of_seed_stream_and_index(
    seed: int, stream: int, index: int
) -> None:
    generator = np.random.Philox(key=np.array([seed, stream], np.uint64), counter=index)

    assert 0.0 <= uniform(seed, stream, index) < 1.0
    assert uniform(seed, stream, index) == (int(generator.random_raw()) >> 11) / 2**53


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
