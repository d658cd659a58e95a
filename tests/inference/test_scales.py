"""The frequency scales and the prior mean on them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.inference.laplace.model import mean_line
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from firmware_py.inference.profiles import units_per_bark
from firmware_py.inference.scales import scale_named
from tests import reference
from tests.reference import Scale

NAMES: list[Scale] = ["bark", "traunmuller", "mel", "log2"]
names = st.sampled_from(NAMES)
frequencies_hz = st.floats(20.0, 20000.0)


@given(names, frequencies_hz)
def test_unwarp_undoes_warp(name: Scale, frequency_hz: float) -> None:
    scale = scale_named(name)
    assert scale.unwarp(scale.warp(frequency_hz)) == pytest.approx(frequency_hz, rel=1e-12)


@given(names, frequencies_hz)
def test_warp_is_the_published_formula(name: Scale, frequency_hz: float) -> None:
    expected = float(reference.warp(frequency_hz, name))
    assert scale_named(name).warp(frequency_hz) == pytest.approx(expected, rel=1e-14, abs=2e-15)


@pytest.mark.parametrize("name", NAMES)
def test_prior_mean_is_the_least_squares_line(name: Scale) -> None:
    assert mean_line(name) == pytest.approx(reference.prior_mean_line(name), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_lengths_keep_their_part_of_the_axis(name: Scale) -> None:
    expected = reference.length_in_units_of(name, 4.0)
    assert 4.0 * units_per_bark(name) == pytest.approx(expected, rel=1e-13)


def test_audiograms_are_those_of_the_reference() -> None:
    """Both were typed in from the paper, by different people."""
    assert FREQUENCIES_HZ == reference.AUDIOGRAM_FREQUENCIES_HZ
    assert STANDARD_AUDIOGRAMS_DB_HL == reference.STANDARD_AUDIOGRAMS_DB_HL


@pytest.mark.parametrize("name", ["erb", "", "Bark", None, 3, ["bark"]])
def test_unknown_scale_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"scale is .*; allowed are bark, traunmuller, mel, log2"):
        scale_named(name)
