"""What an ear by bone begins with, when it is asked again with noise: each answer counts once."""

import pytest

from device.simulator.audiogram import Audiogram
from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture import bone_prior
from firmware_py.session import bone_conduction
from firmware_py.session.by_bone import Bone
from firmware_py.session.way import Again
from firmware_py.terms import events, tells
from tests.session.test_bone_conduction import DEAD, HZ, RIGHT, at_octaves, run

# Thresholds by air and the gap of the right ear, which is asked again.
CONDUCTIVE = (50.0, 10.0, 40.0)
LESS = (60.0, 20.0, 20.0)


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
    """Then air does: most ears have no gap. The left cochlea, at 10 dB HL, is the better one."""
    bands = Bands(monkeypatch, share=0.0)
    run_anew(CONDUCTIVE, 1)

    (without_noise_db_hl, _), (mean_db_hl, sd_db) = bands.found
    air_db_hl, other_db_hl, _ = CONDUCTIVE
    assert without_noise_db_hl == pytest.approx(other_db_hl, abs=9.0)
    assert all(air_db_hl - 15.0 < mean < air_db_hl for mean in mean_db_hl)
    assert all(5.0 < sd < 10.0 for sd in sd_db)


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
    assert {str(each.mark) for each in others} == {"no-response"}
