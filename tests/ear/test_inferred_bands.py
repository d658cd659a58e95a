"""What nobody asked for is as unsure as the step between its neighbours makes it."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.simulator.hearing import SimulatedTest
from device.simulator.listener import EARS, SimulatedListener
from device.simulator.odd_ears import odd_ear
from firmware_py.ear.threshold_estimates import Estimate, suppose
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.reasons import as_json
from firmware_py.terms.settings import Settings

MEASURED, INFERRED = Outcome.MEASURED, Outcome.INFERRED


def estimate(
    frequency_hz: int, mark: Outcome, mean_db_hl: float, fall_db: float = 10.0, rise_db: float = 8.0
) -> Estimate:
    low_db_hl, high_db_hl = mean_db_hl - fall_db, mean_db_hl + rise_db
    return Estimate(frequency_hz, MEASURED, mark, mean_db_hl, 4.5, low_db_hl, high_db_hl)


def test_each_end_moves_by_the_distance_to_the_neighbour_on_its_side() -> None:
    """They are 24 dB below and 6 dB above: 20 and 2 dB more than the 4 that are expected."""
    below, above = (estimate(f, MEASURED, t) for f, t in ((1000, 6.0), (2000, 36.0)))
    between = estimate(1500, INFERRED, 30.0)

    for neighbours in ((below, above), (above, below)):
        first, found, last = suppose([neighbours[0], between, neighbours[1]])

        assert (first, last) == neighbours
        assert found.low_db_hl == pytest.approx(30.0 - 10.0 - 20.0)
        assert found.high_db_hl == pytest.approx(30.0 + 8.0 + 2.0)
        assert found.sd_db == pytest.approx(4.5 * 40.0 / 18.0)
        assert found.mean_db_hl == 30.0


MARKS = st.sampled_from([
    MEASURED, Outcome.NO_RESPONSE, Outcome.HEARS_ALL, Outcome.INCOMPLETE, INFERRED, INFERRED,
])  # fmt: skip
LEVELS, HALVES = st.floats(-10.0, 120.0), st.floats(0.1, 60.0)


@given(st.lists(st.tuples(MARKS, LEVELS, HALVES, HALVES), max_size=11))
def test_a_band_only_grows_and_reaches_both_neighbours_to_what_is_expected(
    drawn: list[tuple[Outcome, float, float, float]],
) -> None:
    before = [estimate(125 * (i + 1), *each) for i, each in enumerate(drawn)]
    after = suppose(before)

    asked = [i for i, each in enumerate(before) if each.mark != INFERRED]
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        neighbours = [*[j for j in asked if j < i][-1:], *[j for j in asked if j > i][:1]]
        if i in asked or len(neighbours) < 2:
            assert new == old, "at an end of the range there is no step"
            continue
        wider = {"sd_db": new.sd_db, "low_db_hl": new.low_db_hl, "high_db_hl": new.high_db_hl}
        assert asdict(new) == {**asdict(old), **wider}, "nothing else is changed"
        assert new.low_db_hl <= old.low_db_hl + 1e-9
        assert new.high_db_hl >= old.high_db_hl - 1e-9
        for j in neighbours:
            assert new.low_db_hl - 4.0 <= before[j].mean_db_hl <= new.high_db_hl + 4.0


def test_the_edge_of_a_ski_slope_is_within_the_band_of_what_was_not_asked() -> None:
    """1500 Hz is heard as 1 kHz is, where the straight line to 2 kHz lies 30 dB higher."""
    ear = odd_ear("cliff", 1)
    listener = SimulatedListener(dict.fromkeys(EARS, ear), response_noise_db=2.0, seed=1)
    result = SimulatedTest(Settings(ears="right", seed=1, masking="off"), listener).run()

    (found,) = (each for each in as_json(result.ears[0].thresholds) if each["frequency_hz"] == 1500)
    true_db_hl = ear.threshold_db_hl(1500)
    assert found["mark"] == INFERRED
    assert found["threshold_db_hl"] - true_db_hl > 20.0
    assert found["low_db_hl"] <= true_db_hl <= found["high_db_hl"]
