"""Both ears have a gap, and the head lets much through: nothing wrong is said to be measured.

Noise and tones cross alike, and nearly every threshold may be the other ear's. Without the gap that
bone conduction told of the ear itself (`Air._own_gap_db`) each of these heads has a number that is
wrong; without the doubt beside uncertain thresholds (`_said_beside_db`) the second one.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.hearing import SimulatedTest, ear_named
from device.simulator.listener import SimulatedListener
from device.simulator.operator import Operator
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.results import EarResult
from firmware_py.terms.settings import Settings
from host_tools.research.study.robustness_judged import false_statements

HZ = (250.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0, 6000.0)
N5 = Audiogram(HZ, (65.0, 70.0, 75.0, 80.0, 80.0, 80.0, 80.0, 80.0))
N6 = Audiogram(HZ, (75.0, 80.0, 85.0, 90.0, 90.0, 95.0, 100.0, 100.0))
HEAD = Head({"right": 40.0, "left": 40.0}, interaural_attenuation_db=40.0)
FAR_DB = 10.0


@pytest.mark.parametrize(
    ("right", "left", "noise_db", "seed"),
    [
        (N5, N5, 2.0, 1405025027926194),
        (N5, N6, 2.0, 2187263735575138),
        (N5, N5, 4.0, 6522630750037752),
    ],
)
def test_nothing_that_is_said_to_be_measured_is_far_off(
    right: Audiogram, left: Audiogram, noise_db: float, seed: int
) -> None:
    by_air = {"right": right, "left": left}
    truths = {ear_named(ear): truth for ear, truth in by_air.items()}
    listener = SimulatedListener(
        truths, response_noise_db=noise_db, lapse_rate=0.01, false_alarm_rate=0.01, seed=seed,
        head=HEAD,
    )  # fmt: skip
    settings = Settings(routes="air, bone", seed=seed)
    test = SimulatedTest(settings, listener, operator=Operator(hears="operator"))

    result = test.run()

    assert [each for ear in result.ears for each in far_off(ear, by_air)] == []
    of_air = replace(result, ears=tuple(ear for ear in result.ears if not ear.route.by_bone))
    assert [*false_statements(of_air, truths)] == [], "grades among them"


def far_off(ear: EarResult, by_air: dict[str, Audiogram]) -> Iterator[str]:
    """Yield what is said to be measured of this ear, and is neither near the truth nor in doubt."""
    for each in ear.thresholds:
        if each.mark != Outcome.MEASURED or each.masking == MaskingMark.UNCERTAIN:
            continue
        side, f = ear.route.ear, each.frequency_hz
        true = {by_air[side].threshold_db_hl(f)}
        if ear.route.by_bone:
            true = {HEAD.bone_threshold_db_hl(by_air, side, f, alone=a) for a in (True, False)}
        assert each.threshold_db_hl is not None
        assert each.low_db_hl is not None
        assert each.high_db_hl is not None
        near = min(true) - FAR_DB <= each.threshold_db_hl <= max(true) + FAR_DB
        if not near and not (each.low_db_hl <= max(true) and min(true) <= each.high_db_hl):
            yield f"{ear.route} {f} Hz: {each.threshold_db_hl:.0f}, true {true}"
