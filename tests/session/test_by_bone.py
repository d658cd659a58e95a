"""An ear by bone that is asked again with noise, or behind noise that may be too much."""

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.hearing import SimulatedTest
from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture import bone_prior
from firmware_py.session import bone_conduction
from firmware_py.session.by_bone import BehindNoise, Bone
from firmware_py.session.way import Again
from firmware_py.terms import events, tells
from firmware_py.terms.outcomes import MaskingMark, Outcome, Purpose
from firmware_py.terms.presentation import NO_COVER, Cover, Presentation
from tests.session.test_bone_conduction import DEAD, HZ, LEFT, RIGHT, at_octaves, run

# Thresholds by air and the gap of the right ear, which is asked again.
CONDUCTIVE = (36.0, 22.0, 14.0)
LESS = (42.0, 28.0, 3.0)


class Bands:
    """Mean and SD of an ear's thresholds, when it begins anew and just before."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, share: float) -> None:
        self.found: list[tuple[Array, Array]] = []
        self.silences = 0
        self._ask_again = Bone.ask_again

        def ask_again(way: Bone, again: Again) -> None:
            self._see(way, again)

        monkeypatch.setattr(bone_conduction, "OWN_SHARE", share)
        monkeypatch.setattr(Bone, "ask_again", ask_again)

    def _see(self, way: Bone, again: Again) -> None:
        self.silences = sum(each.heard is False for each in way.ear.observations)
        self.found.append(way.ear.estimator.threshold(HZ))
        self._ask_again(way, again)
        self.found.append(way.ear.estimator.threshold(HZ))


def run_anew(about: tuple[float, ...], seed: int) -> None:
    """Run a test anew, whose procedure has changed."""
    run.__wrapped__(*about, seed=seed)


@pytest.mark.parametrize(("about", "seed"), [(CONDUCTIVE, 1), (LESS, 2)])
def test_an_answer_counts_once(
    monkeypatch: pytest.MonkeyPatch, about: tuple[float, ...], seed: int
) -> None:
    """If it was this ear that answered, and the skull took nothing, nothing more is known of it.

    Silences given once more to the estimator made these SDs smaller by 10 to 30 %.
    """
    bands = Bands(monkeypatch, share=1.0)
    for name in ("SKULL_SD_DB", "SKULL_SHAPE_SD_DB"):
        monkeypatch.setattr(bone_prior, name, 0.0)
    run_anew(about, seed)

    (mean_db_hl, sd_db), (mean_anew_db_hl, sd_anew_db) = bands.found
    assert bands.silences > 3
    assert mean_anew_db_hl == pytest.approx(mean_db_hl, abs=0.1)
    assert sd_anew_db == pytest.approx(sd_db, rel=0.02)


def test_what_the_other_one_answered_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then air does: most ears have no gap. The left cochlea is the better one."""
    bands = Bands(monkeypatch, share=0.0)
    run_anew(CONDUCTIVE, 1)

    (without_noise_db_hl, _), (mean_db_hl, sd_db) = bands.found
    air_db_hl, other_db_hl, _ = CONDUCTIVE
    assert without_noise_db_hl == pytest.approx(other_db_hl, abs=9.0)
    assert all(air_db_hl - 15.0 < mean < air_db_hl for mean in mean_db_hl)
    assert all(3.0 < sd < 10.0 for sd in sd_db), "silences are this ear's, too"


def test_what_no_noise_can_mask_is_not_asked_when_nothing_else_is_left() -> None:
    """A dead ear that hears nothing where it can be masked; at 500 Hz it cannot."""
    gap_left = Audiogram((500.0, 1000.0, 4000.0), (38.0, 20.0, 10.0))
    test = run(DEAD, 40.0, 0.0, gap_left, level_max_db_hl=100.0)

    left_out_hz = test.test.ears[RIGHT].levels.left_out_hz
    assert 500 in left_out_hz
    again = next(
        place
        for place, (_, action) in enumerate(test.log)
        if isinstance(action, tells.EarAgainTold) and action.route == RIGHT
    )
    actions = [action for _, action in test.log[again:]]
    masked = {each.number for each in actions if isinstance(each, events.Mask)}
    plays = [each for each in actions if isinstance(each, events.Play) and each.route == RIGHT]
    assert plays
    assert not {each.frequency_hz for each in plays if each.number not in masked} & {*left_out_hz}
    assert len(plays) < 12
    low, *others = at_octaves(test, RIGHT)
    assert low.threshold_db_hl == pytest.approx(5.0, abs=9.0)
    asked = [each for each in others if each.frequency_hz not in left_out_hz]
    assert {str(each.mark) for each in asked} == {"no-response"}


# Behind noise: what is heard there is this ear's, and a silence tells nothing

NOISE = Cover(70.0)
TONE = Presentation(Purpose.PLATEAU, 1000, 40.0)
OTHER_TONE = Presentation(Purpose.PLATEAU, 500, 35.0)
# Both ears are conductive, so that the noise that masks one may cross to the other.
AIR_DB_HL = {"right": 60.0, "left": 50.0}
GAP_DB = {"right": 30.0, "left": 25.0}
TWO_GAPS = (*AIR_DB_HL.values(), *GAP_DB.values())


def behind_noise(test: SimulatedTest) -> list[tuple[events.Play, events.Mask]]:
    """Return the tones by bone that are asked for this, each with its noise."""
    actions = [action for _, action in test.log]
    masks = {each.number: each for each in actions if isinstance(each, events.Mask)}
    asked = {
        each.number
        for each in actions
        if isinstance(each, tells.AnswerTold) and each.purpose == Purpose.PLATEAU
    }
    plays = [each for each in actions if isinstance(each, events.Play) and each.number in asked]
    return [(each, masks[each.number]) for each in plays if each.route.by_bone]


def test_it_counts_what_was_heard_each_time() -> None:
    behind = BehindNoise()
    behind.want([TONE, OTHER_TONE])
    assert behind.due == [TONE, OTHER_TONE]

    assert behind.take_answer(TONE, True, NOISE) == []
    assert behind.due == [TONE, OTHER_TONE]
    counted = behind.take_answer(TONE, True, NOISE)
    assert [(each.heard, each.cover, each.presentation.is_asked) for each in counted] == [
        (True, NOISE, True)
    ] * 2
    assert behind.due == [OTHER_TONE]


def test_one_that_is_asked_before_its_turn_counts_for_itself() -> None:
    """The first may have no noise for a while, when more is known of the other ear."""
    behind = BehindNoise()
    behind.want([TONE, OTHER_TONE])
    behind.take_answer(TONE, True, NOISE)

    assert behind.take_answer(OTHER_TONE, True, NOISE) == []
    assert behind.take_answer(OTHER_TONE, False, NOISE) == []
    assert behind.due == [TONE]
    assert len(behind.take_answer(TONE, True, NOISE)) == 2


@pytest.mark.parametrize(
    "answers", [[(False, NOISE)], [(True, NOISE), (False, NOISE)], [(True, NO_COVER)]]
)
def test_a_silence_ends_it_without_an_answer_that_counts(answers: list[tuple[bool, Cover]]) -> None:
    """Nor does an answer without the noise."""
    behind = BehindNoise()
    behind.want([TONE])
    for heard, cover in answers:
        assert behind.take_answer(TONE, heard, cover) == []
    assert behind.due == []
    assert behind.new_ones([TONE, None, OTHER_TONE]) == (OTHER_TONE,), "once"


def test_what_is_heard_behind_enough_noise_is_this_ears() -> None:
    """Two ears with gaps of 30 and 25 dB, no noise of the right level for either."""
    test = run(*TWO_GAPS, attenuation_db=60.0, seed=2)

    missed = 0
    for route in (RIGHT, LEFT):
        own_db_hl = AIR_DB_HL[route.ear] - GAP_DB[route.ear]
        sure = [each for each in at_octaves(test, route) if each.masking == MaskingMark.MASKED]
        assert len(sure) >= 3
        assert {each.mark for each in sure} == {Outcome.MEASURED}
        for each in sure:
            assert abs((each.threshold_db_hl or 0.0) - own_db_hl) < 8.0
            missed += not (each.low_db_hl or 0.0) <= own_db_hl <= (each.high_db_hl or 0.0)
        others = {each.masking for each in at_octaves(test, route)} - {MaskingMark.MASKED}
        assert others <= {MaskingMark.UNCERTAIN}
    # Of 30 seeds 231 of 232 such bands hold the threshold; of one in twenty it may lie outside.
    assert missed <= 1


def test_its_noise_hides_the_tone_from_the_other_cochlea() -> None:
    asked = behind_noise(run(*TWO_GAPS, attenuation_db=60.0))

    assert asked
    for play, mask in asked:
        other = play.route.noise.ear
        assert mask.route.ear == other
        assert mask.level_db_hl >= AIR_DB_HL[other]
        assert mask.level_db_hl - GAP_DB[other] >= play.level_db_hl
