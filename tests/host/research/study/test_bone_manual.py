"""Manual bone conduction audiometry, on heads whose plateaus can be told beforehand."""

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.listener import Press, SimulatedListener, Tone
from firmware_py.terms.outcomes import MaskingMark
from host_tools.research.methods.staircase import HEARS_ALL, NOT_REACHED
from host_tools.research.study.bone_manual import ManualTest, limits_db_hl, thresholds_by_air
from host_tools.research.study.bone_people import SCORED_HZ
from host_tools.research.study.listener import Answering
from host_tools.research.study.sitting import Sitting

SURE = Answering(response_noise_db=0.01, lapse_rate=0.0, false_alarm_rate=0.0)
NOT_MASKED, MASKED, UNCERTAIN = MaskingMark


def sitting(right_db_hl: float, left_db_hl: float, head: Head) -> Sitting:
    """Return somebody whose ears hear all frequencies alike, and who is sure of every tone."""
    both = {"right": right_db_hl, "left": left_db_hl}
    truths = {ear: Audiogram((1000.0,), (level,)) for ear, level in both.items()}
    return Sitting(truths, SURE, 1, head=head)  # type: ignore[arg-type]


def found(who: Sitting) -> ManualTest:
    return ManualTest(who, "somebody", 1)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[Tone]:
    """Tones that any listener is asked."""
    tones: list[Tone] = []
    answer = SimulatedListener.answer

    def note(listener: SimulatedListener, tone: Tone) -> Press | None:
        tones.append(tone)
        return answer(listener, tone)

    monkeypatch.setattr(SimulatedListener, "answer", note)
    return tones


CONDUCTIVE = sitting(51.0, 3.0, Head({"right": 40.0}, 50.0, 3.0))


def test_a_conductive_ear_has_a_plateau_at_its_own_threshold(played: list[Tone]) -> None:
    """Without noise the left cochlea hears 6 dB HL, the right one 11."""
    test = found(CONDUCTIVE)
    right, left = test.ears["right"], test.ears["left"]
    for f in SCORED_HZ:
        assert right.by_air[f].level_db_hl == 55.0
        assert (right.by_bone[f].level_db_hl, right.by_bone[f].masking) == (15.0, MASKED)
        assert right.by_bone[f].heard_half_db_hl == 12.5
        assert (left.by_bone[f].level_db_hl, left.by_bone[f].masking) == (5.0, NOT_MASKED)
    assert (right.mean_gap_db, left.mean_gap_db) == (40.0, 0.0)
    assert test.placings == 3
    by_bone = [tone for tone in played if tone.by_bone]
    assert right.tones_masked == sum(tone.noise is not None for tone in by_bone) > 0
    assert right.tones + left.tones + right.tones_masked == len(by_bone)
    assert (left.tones_masked, len({tone.tone_id for tone in by_bone})) == (0, len(by_bone))


@pytest.mark.parametrize(
    ("left_db_hl", "left_gap_db", "first_db_hl"),
    [
        (3.0, 0.0, {500: 35.0, 1000: 25.0, 2000: 15.0, 4000: 15.0}),
        (18.0, 15.0, {500: 35.0, 1000: 30.0, 2000: 30.0, 4000: 30.0}),
    ],
)
def test_noise_begins_10_db_above_the_other_ear_and_its_occlusion(
    played: list[Tone], left_db_hl: float, left_gap_db: float, first_db_hl: dict[int, float]
) -> None:
    """Occlusion of 20 dB at 500 Hz and 10 at 1000, less the gap, which the ear has already."""
    found(sitting(51.0, left_db_hl, Head({"right": 40.0, "left": left_gap_db}, 50.0, 3.0)))
    for f, first in first_db_hl.items():
        behind = [
            tone.noise.level_db_hl
            for tone in played
            if tone.noise and tone.ear == "right" and tone.frequency_hz == f
        ]
        assert [*dict.fromkeys(behind)] == [first, first + 10.0, first + 20.0]
        assert behind[-2:] == [first + 10.0, first + 20.0], "one tone is enough if it is heard"


def test_a_shadow_rises_with_the_noise_until_the_ear_itself_hears() -> None:
    test = found(sitting(62.0, 2.0, Head({}, 60.0, 0.0)))
    for f in SCORED_HZ:
        shadow = test.ears["right"].by_bone[f]
        assert (shadow.level_db_hl, shadow.masking) == (65.0, MASKED)


def test_what_is_heard_at_the_lowest_level_has_a_plateau_there_and_no_number() -> None:
    test = found(sitting(20.0, -30.0, Head({"right": 40.0}, 70.0, 3.0)))
    for each in test.ears["right"].by_bone.values():
        assert (each.level_db_hl, each.masking) == (-10.0, MASKED)
        assert (each.outcome, each.heard_half_db_hl) == (HEARS_ALL, None)


def test_in_the_dilemma_no_plateau_is_told() -> None:
    """Noise of 75 dB is 30 in the other cochlea, 20 above its threshold, and rises from there."""
    test = found(sitting(61.0, 61.0, Head({"right": 50.0, "left": 50.0}, 45.0, 0.0)))
    for ear in test.ears.values():
        assert {each.masking for each in ear.by_bone.values()} == {UNCERTAIN}
        assert ear.mean_gap_db is None


def test_a_tone_at_its_limit_ends_the_search() -> None:
    """The right cochlea hears 92 dB HL, which no vibrator gives: all that is heard is a shadow."""
    test = found(sitting(92.0, 2.0, Head({}, 60.0, 0.0)))
    right = test.ears["right"]
    for f in SCORED_HZ:
        assert right.by_bone[f].masking == UNCERTAIN
        assert 50.0 <= right.by_bone[f].level_db_hl <= limits_db_hl(f)[1]
    assert right.mean_gap_db is None


def test_where_nothing_is_heard_there_is_no_number_and_no_noise() -> None:
    test = found(sitting(95.0, 95.0, Head({}, 60.0, 0.0)))
    for ear in test.ears.values():
        assert {each.outcome for each in ear.by_bone.values()} == {NOT_REACHED}
        assert {each.heard_half_db_hl for each in ear.by_bone.values()} == {None}
        assert (ear.tones_masked, ear.mean_gap_db) == (0, None)
    assert test.placings == 2


def test_by_air_no_ear_hears_for_the_other() -> None:
    who = sitting(88.0, 2.0, Head({}, 40.0, 0.0))
    assert {found.level_db_hl for found in thresholds_by_air(who, "right").values()} == {90.0}
