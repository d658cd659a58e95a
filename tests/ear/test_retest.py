"""The retest: one ascent at 1 kHz in steps of 5 dB, and what its difference says."""

from collections.abc import Sequence

import pytest

from firmware_py.ear.levels import Levels, no_limit
from firmware_py.ear.retest import Retest
from firmware_py.inference.model import Hyperparameters
from firmware_py.session.hearing import HearingTest
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from firmware_py.terms.words import say

NO, SURE, DOUBT = False, True, None
QUIET = Hyperparameters(None, None, response_noise_db=2.0, lapse_rate=0.01, false_alarm_rate=0.01)
NEVER_PRESSES_WITHOUT = Hyperparameters(None, None, response_noise_db=2.0, lapse_rate=0.01)
NOISY = Hyperparameters(None, None, response_noise_db=6.0, lapse_rate=0.01, false_alarm_rate=0.01)


def answered(
    threshold_db_hl: float,
    answers: Sequence[bool | None],
    listener: Hyperparameters = QUIET,
    sd_db: float = 3.0,
) -> Retest:
    """Return a retest of an ear with this threshold that got these answers, and is over."""
    levels = Levels(Route("left"), Settings(), no_limit)
    levels.note_tone(Presentation(Purpose.MEASURE, 1000.0, 80.0))
    retest, first_db_hl = Retest(threshold_db_hl, levels, sd_db, listener), threshold_db_hl - 10.0
    for step, heard in enumerate(answers):
        assert not retest.over
        tone = retest.tone()
        assert tone == Presentation(Purpose.RETEST, 1000.0, round(first_db_hl) + 5.0 * step)
        retest.take_answer(tone.level_db_hl, heard)
    assert retest.over
    return retest


@pytest.mark.parametrize(
    ("threshold_db_hl", "answers", "above_first_db"),
    [
        (30.3, [SURE], -2.5),
        (30.3, [NO, NO, SURE], 7.5),
        (30.3, [NO, DOUBT, SURE], 5.0),  # between 2.5, where silence ended, and 7.5
        (30.3, [NO, DOUBT, DOUBT, DOUBT, SURE], 10.0),  # 2.5 and 17.5
        (30.3, [NO, DOUBT, NO, NO, SURE], 10.0),
        (30.3, [DOUBT, SURE], 0.0),  # -2.5 and 2.5
        (30.3, [DOUBT] * 6, 12.5),  # -2.5 and 27.5: never sure
        (30.3, [NO] * 6, 27.5),
        (95.3, [NO] * 4, 17.5),  # the limit ends it
    ],
)
def test_the_threshold_is_the_middle_between_the_end_of_silence_and_being_sure(
    threshold_db_hl: float, answers: list[bool | None], above_first_db: float
) -> None:
    expected_db = round(threshold_db_hl - 10.0) + above_first_db - threshold_db_hl
    found_db = answered(threshold_db_hl, answers).difference_db
    assert found_db == pytest.approx(expected_db, abs=1e-9)


@pytest.mark.parametrize(
    ("silences", "listener", "told"),
    [
        (2, QUIET, "repeatable"),  # 2.5 dB lower
        (4, QUIET, "scattered"),  # 7.5 dB higher: an ascent does that with an SD of 3 dB
        (5, QUIET, "rejected"),  # 12.5 dB higher
        (5, NOISY, "scattered"),  # the same of a listener whose answers are that noisy
        (0, QUIET, "scattered"),  # 12.5 dB lower: an accident in a hundred tones may do that
        (0, NEVER_PRESSES_WITHOUT, "rejected"),
    ],
)
def test_a_difference_is_remarked_upon_if_it_is_large_and_improbable_with_this_listener(
    silences: int, listener: Hyperparameters, told: str
) -> None:
    test = HearingTest(Settings(ears="left"))
    retest = answered(30.0, [NO] * silences + [SURE], listener)
    test.ears[Route("left")].retest = retest

    assert (retest.difference_db, retest.told) == (-12.5 + 5.0 * silences, told)
    assert [say(each) for each in test.result().remarks] == ([] if told != "rejected" else [
        f"left ear rejected: 1 kHz came out {retest.difference_db:+.0f} dB different in the "
        "retest; retest further frequencies, until one agrees within 5 dB (ISO 8253-1)"
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("threshold_db_hl", "answers", "lapse_rate", "told"),
    [
        (30.1, [NO, NO, NO, DOUBT, SURE], 0.01, "repeatable"),  # 4.9 dB higher
        (29.8, [NO, NO, NO, DOUBT, SURE], 0.01, "doubtful"),  # 5.2 dB
        (30.1, [NO, NO, NO, NO, DOUBT, SURE], 0.01, "doubtful"),  # 9.9 dB
        (29.8, [NO, NO, NO, NO, DOUBT, SURE], 0.01, "rejected"),  # 10.2 dB
        # 7.5 dB, by a miss 5 dB above the threshold.
        (30.0, [NO, NO, NO, NO, SURE], 0.0195, "doubtful"),
        (30.0, [NO, NO, NO, NO, SURE], 0.0205, "scattered"),
    ],
)
def test_within_5_db_it_is_repeatable_and_beyond_10_rejected_unless_one_in_50_does_that(
    threshold_db_hl: float, answers: list[bool | None], lapse_rate: float, told: str
) -> None:
    listener = Hyperparameters(None, None, response_noise_db=1.0, lapse_rate=lapse_rate)
    assert answered(threshold_db_hl, answers, listener, sd_db=0.1).told == told
