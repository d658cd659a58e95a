"""Plant another value of each constant of the procedure, and see whether a test finds it.

    python -m tests.faults.constants

Rules are left out in the same way. First the people of `tests/bench/recorded_people.py` are tested;
what changes none of them is tried with the tests that `ELSEWHERE` names.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from bench.panel.constants import constants
from bench.panel.rules import RULES
from tests.faults.draw import ROOT

PEOPLE: Final = "tests/bench/test_people.py"
ELSEWHERE: Final[dict[str, str]] = {
    "caps.CONFIRM_TONES_MAX":
        "tests/ear/test_confirmation.py"
        "::test_who_is_never_consistent_has_no_threshold_after_the_last_tone",
    "caps.MINUTE_PRESENTATIONS_MAX":
        "tests/platform/test_room_on_disk.py"
        "::test_what_goes_on_by_itself_after_a_minute_has_a_presentation_a_second",
    "catch_trials.CATCHES_ANSWERED_HIGH":
        "tests/ear/test_catch_trials.py::test_an_unsure_silence_is_half_a_false_alarm",
    "catch_trials.CATCHES_TO_JUDGE":
        "tests/ear/test_catch_trials.py::test_an_unsure_silence_is_half_a_false_alarm",
    "catch_trials.UNRELIABLE_SHARE":
        "tests/ear/test_catch_trials.py::test_an_unsure_silence_is_half_a_false_alarm",
    "catch_trials.UNSURE_ALARM":
        "tests/ear/test_catch_trials.py::test_an_unsure_silence_is_half_a_false_alarm",
    "confirmation.ABOVE_DB":
        "tests/ear/test_confirmation.py::test_it_begins_10_db_above_what_was_found_in_steps_of_5",
    "confirmation.SILENT_AT_LIMIT":
        "tests/ear/test_confirmation.py::test_two_silences_at_the_loudest_level_are_no_response",
    "ear.NORMAL_DB_HL":
        "tests/ear/test_threshold_estimates.py"
        "::test_by_bone_twice_the_band_will_do_where_none_by_air_is_above_20_db_hl",
    "evidence.PAUSES_PRESSED_MIN":
        "tests/ear/test_model_checks.py"
        "::test_two_clear_tones_or_a_tenth_of_five_pauses_are_no_accident",
    "evidence.PAUSES_PRESSED_SHARE":
        "tests/ear/test_model_checks.py"
        "::test_two_clear_tones_or_a_tenth_of_five_pauses_are_no_accident",
    "inferred_bands.EXPECTED_DB":
        "tests/ear/test_inferred_bands.py"
        "::test_each_end_moves_by_the_distance_to_the_neighbour_on_its_side",
    "levels.NEAR_OCTAVES":
        "tests/ear/test_level_limits.py::test_an_octave_is_near_and_a_little_more_is_not",
    "listening.DOUBTED":
        "tests/session/test_listening.py"
        "::test_another_listener_who_is_as_probable_as_one_in_five_is_a_doubt",
    "listening.LAST_TONES_MAX":
        "tests/session/test_listening.py"
        "::test_a_doubt_about_twelve_tones_is_settled_before_the_ear_ends",
    "listening.LATE_TONES_MAX":
        "tests/session/test_listening.py"
        "::test_from_4_to_14_silences_are_a_late_start_if_odds_are_better_than_one_in_50",
    "listening.LATE_TONES_MIN":
        "tests/session/test_listening.py"
        "::test_from_4_to_14_silences_are_a_late_start_if_odds_are_better_than_one_in_50",
    "listening.LOG_LATE":
        "tests/session/test_listening.py"
        "::test_from_4_to_14_silences_are_a_late_start_if_odds_are_better_than_one_in_50",
    "marks.MOVED_DB":
        "tests/ear/test_marks.py"
        "::test_noise_moves_a_tone_that_it_silences_5_db_above_one_heard_without",
    "marks.THIRD_OCTAVE":
        "tests/ear/test_marks.py::test_a_frequency_is_measured_if_both_sides_were_answered_there",
    "model_checks.MISSED_MIN":
        "tests/ear/test_model_checks.py"
        "::test_two_clear_tones_or_a_tenth_of_five_pauses_are_no_accident",
    "model_checks.MISSED_SHARE":
        "tests/ear/test_model_checks.py"
        "::test_two_clear_tones_or_a_tenth_of_five_pauses_are_no_accident",
    "model_checks.RETEST_IMPROBABLE":
        "tests/ear/test_retest.py"
        "::test_within_5_db_it_is_repeatable_and_beyond_10_rejected_unless_one_in_50_does_that",
    "reasons_to_ask.ASK_ALL_SPARE_TONES":
        "tests/ear/test_reasons_to_ask.py"
        "::test_it_is_asked_when_four_tones_more_are_left_than_that_takes",
    "retest.RETEST_ACCEPTED_DB":
        "tests/ear/test_retest.py"
        "::test_within_5_db_it_is_repeatable_and_beyond_10_rejected_unless_one_in_50_does_that",
    "retest.RETEST_REPEATABLE_DB":
        "tests/ear/test_retest.py"
        "::test_within_5_db_it_is_repeatable_and_beyond_10_rejected_unless_one_in_50_does_that",
    "threshold_estimates.ROUGH":
        "tests/ear/test_threshold_estimates.py"
        "::test_by_bone_twice_the_band_will_do_where_none_by_air_is_above_20_db_hl",
}  # fmt: skip
# What no test finds, and why it stays.
LEFT: Final[dict[str, str]] = {}


def finds(change: str, tests: str) -> bool:
    """Return whether these tests fail with a change of the panel."""
    options = ["-x", "-q", "--under-numba", "-p", "no:cacheprovider", "-p", "tests.faults.changed"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests.split()], cwd=ROOT,
        env=os.environ | {"GP_PTA_CHANGED": change, "GP_PTA_KERNELS": "jit"},
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 1


def found_by(change: str) -> str:
    """Return the tests that find a change; "": none does."""
    name = change.rpartition(" ")[0] if change in constants() else change
    tried = [PEOPLE, *filter(None, [ELSEWHERE.get(change) or ELSEWHERE.get(name)])]
    return next((tests for tests in tried if finds(change, tests)), "")


def main() -> int:
    """Try them all, and say what none of the tests finds; return 1 if that was not known."""
    changes = [*RULES, *constants()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(changes, pool.map(found_by, changes), strict=True))
    missed = [name for name, by in found.items() if not by]
    for name in missed:
        print(f"{name}: not found; {LEFT.get(name, 'that is new')}")
    print(f"{len(changes) - len(missed)} of {len(changes)} found")
    return int({*missed} != {*LEFT})


if __name__ == "__main__":
    sys.exit(main())
