"""Words and figures as people read them."""

import pytest

from firmware_py.console.wording import figure, readable


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1000.0, "1000"), (0.6391510042, "0.639"), (41.39, "41.39"), (-0.0001, "0"), (0.0, "0"),
        (-10.0, "-10"), (1334.8398541700344, "1334.84"), (250.0625, "250.062"),
        (1e9, "1000000000"),
        (100.0, "100"), (2.5, "2.5"), (float("inf"), "inf"), (float("nan"), "nan"),
    ],
)  # fmt: skip
def test_a_figure_has_the_decimals_it_needs_and_three_at_most(value: float, written: str) -> None:
    assert figure(value) == written


def test_plus_or_minus_is_one_sign() -> None:
    assert readable("up to +-9.1 dB (8000 Hz), +-6 wanted; 1 kHz came out -10 dB") == (
        "up to ±9.1 dB (8000 Hz), ±6 wanted; 1 kHz came out -10 dB"
    )
