"""Bands that mean what they say: the posterior is calibrated, or it is known how far it is not.

A few hundred sessions each; `make sbc` draws thousands (calibration.py).
"""

from typing import Final

import numpy as np
import pytest

from tests.inference.coverage import METHODS, cover, distance, ranks, unlikeliness

SESSIONS: Final = 150
FEW_SESSIONS: Final = 30
TONES: Final = 12
UNLIKELY: Final = 1e-3  # of a chi-square of uniform ranks; the seeds are fixed


def test_of_few_sessions_too_the_ranks_are_uniform() -> None:
    rank = ranks("default", TONES, range(FEW_SESSIONS))
    assert np.all((rank >= 0.0) & (rank <= 1.0))
    assert np.all(unlikeliness(rank) > UNLIKELY)
    assert np.all(distance(rank) < 1.95 / np.sqrt(FEW_SESSIONS))


@pytest.mark.thorough
@pytest.mark.parametrize("method", [m for m in METHODS if m.startswith("default")])
def test_the_default_posterior_is_calibrated(method: str) -> None:
    rank = ranks(method, TONES, range(SESSIONS))
    assert np.all((rank >= 0.0) & (rank <= 1.0))
    assert np.all(unlikeliness(rank) > UNLIKELY)
    assert np.all(distance(rank) < 1.95 / np.sqrt(SESSIONS))  # Kolmogorov, once in a thousand
    assert np.all(np.abs(cover(rank, 0.95) - 0.95) < 0.07)


@pytest.mark.thorough
def test_the_paper_is_too_sure_of_itself() -> None:
    """What bench/README.md says of it: do not rely on its bands."""
    paper = ranks("gp-pta-2015", TONES, range(SESSIONS))
    assert np.all(cover(paper, 0.95) < 0.7)
    assert np.all(unlikeliness(paper) < UNLIKELY)


def test_the_alarm_rings() -> None:
    rng = np.random.default_rng(1)
    uniform = rng.random((SESSIONS, 3))
    too_sure = np.clip(0.5 + 2.0 * (uniform - 0.5), 0.0, 1.0)
    assert np.all(unlikeliness(uniform) > UNLIKELY)
    assert np.all(unlikeliness(too_sure) < UNLIKELY)
    assert np.all(distance(too_sure) > distance(uniform))
    assert cover(uniform, 1.0).tolist() == [1.0, 1.0, 1.0]
