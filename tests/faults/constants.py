"""Plant another value of each constant of the procedure, and see whether a test finds it.

    python -m tests.faults.constants

Rules are left out in the same way. Most change a test of the people of
`tests/bench/recorded_people.py`; for the others `NAMED` has the test that finds them.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from bench.panel.changes import kernels_with
from bench.panel.constants import constants
from bench.panel.rules import RULES
from firmware_py.inference.library import JIT, VARIABLE
from tests.faults.draw import ROOT

CHANGES: Final = {**RULES, **constants()}
PEOPLE: Final = "tests/bench/test_people.py"
# By file and test: the constants that it finds.
NAMED: Final[dict[str, dict[str, str]]] = {
    "tests/ear/test_bracketing.py": {
        "test_a_threshold_depends_on_what_moves_it_by_more_than_6_db":
            "threshold_estimates.DEPENDS_DB",
    },
    "tests/ear/test_catch_trials.py": {
        "test_an_unsure_silence_is_half_a_false_alarm":
            "catch_trials.CATCHES_ANSWERED_HIGH catch_trials.CATCHES_TO_JUDGE "
            "catch_trials.UNRELIABLE_SHARE catch_trials.UNSURE_ALARM",
    },
    "tests/ear/test_confirmation.py": {
        "test_who_is_never_consistent_has_no_threshold_after_the_last_tone":
            "caps.CONFIRM_TONES_MAX",
        "test_it_begins_10_db_above_what_was_found_in_steps_of_5": "confirmation.ABOVE_DB",
        "test_two_silences_at_the_loudest_level_are_no_response": "confirmation.SILENT_AT_LIMIT",
    },
    "tests/ear/test_inferred_bands.py": {
        "test_each_end_moves_by_the_distance_to_the_neighbour_on_its_side":
            "between.EXPECTED_DB",
    },
    "tests/ear/test_level_limits.py": {
        "test_an_octave_is_near_and_a_little_more_is_not": "levels.NEAR_OCTAVES",
    },
    "tests/ear/test_marks.py": {
        "test_noise_moves_a_tone_that_it_silences_5_db_above_one_heard_without": "marks.MOVED_DB",
        "test_a_frequency_is_measured_if_both_sides_were_answered_there": "marks.THIRD_OCTAVE",
        "test_two_answers_against_a_threshold_leave_it_unmeasured": "marks.AGAINST_DB",
    },
    "tests/ear/test_model_checks.py": {
        "test_presses_in_five_pauses_and_a_tenth_of_them_are_no_accident":
            "evidence.PAUSES_PRESSED_MIN evidence.PAUSES_PRESSED_SHARE",
        "test_more_clear_tones_are_asked_after_a_miss_that_had_one_chance_in_ten":
            "attention.SURPRISING",
        "test_a_run_is_found_with_all_of_its_tones_and_single_misses_are_none":
            "model_checks.RUN_AWAY model_checks.RUN_MEMBER model_checks.RUN_TONES",
    },
    "tests/ear/test_otherwise.py": {
        "test_a_tone_is_asked_of_which_the_answer_tells":
            "caps.DECIDING_TONES_MAX listening.BELOW_NOISES listening.CLEAR_DB "
            "listening.DECIDED_NOISES listening.FAR_BELOW_DB listening.LOUDER_DB "
            "listening.MOSTLY listening.PERHAPS",
        "test_a_pitch_has_to_be_more_probable_to_be_told": "listening.DOUBTED_PITCH",
        "test_other_sizes_are_tried_where_the_own_one_is_worth_something":
            "otherwise.SIZES_DB otherwise.SIZES_MIN",
        "test_places_where_it_may_have_moved_are_the_best_and_not_neighbours":
            "otherwise.GAIN_MIN otherwise.PLACES_MAX otherwise.WORSE_MAX",
        "test_the_odds_of_a_move_are_those_of_its_size_its_place_and_its_direction":
            "otherwise.MOVED_SD_DB otherwise.NEIGHBOURS otherwise.SHARE_BETTER "
            "otherwise.SHARE_EVERYWHERE otherwise.SIZE_MAX_DB otherwise.SIZE_MIN_DB "
            "otherwise.WIDTH_DB",
        "test_the_odds_of_a_pitch_a_cue_and_a_habit_are_means_over_variants":
            "otherwise.CUE_SHARES otherwise.LOG_SHARE otherwise.PITCH_OCTAVES "
            "otherwise.PITCH_SHARES otherwise.RISING_DB",
        "test_a_vibrator_slips_at_any_tone_or_sits_too_weakly_from_the_first":
            "otherwise.LOG_SHARE_SLIPPED otherwise.SHARE_FROM_THE_FIRST otherwise.SLIPS_DB",
        "test_what_the_skull_or_noise_takes_away_is_no_slip": "otherwise.SKULL_DB",
        "test_two_tones_decide_if_it_is_where_it_was": "caps.IN_PLACE_TONES",
    },
    "tests/ear/test_reasons_to_ask.py": {
        "test_a_second_run_without_attention_ends_the_ear_and_both_are_said":
            "caps.RUNS_AGAIN_MAX",
        "test_it_is_asked_when_four_tones_more_are_left_than_that_takes":
            "reasons_to_ask.ASK_ALL_SPARE_TONES",
    },
    "tests/ear/test_retest.py": {
        "test_within_5_db_it_is_repeatable_and_beyond_10_rejected_unless_one_in_50_does_that":
            "model_checks.RETEST_IMPROBABLE retest.RETEST_ACCEPTED_DB "
            "retest.RETEST_REPEATABLE_DB",
    },
    "tests/ear/test_threshold_estimates.py": {
        "test_by_bone_twice_the_band_will_do_where_none_by_air_is_above_20_db_hl":
            "ear.NORMAL_DB_HL threshold_estimates.ROUGH",
        "test_a_band_of_more_than_20_db_is_told_as_a_supposition":
            "threshold_estimates.MEASURED_HALF_WIDTH_DB",
    },
    "tests/inference/test_own_loop.py": {
        "test_eight_answers_are_the_least": "enough.ANSWERS_MIN",
    },
    "tests/inference/test_stories.py": {
        "test_the_recursion_is_the_sum_over_all_beginnings":
            "stories.ACCIDENT stories.BEGINS stories.BEGINS_AT_ONCE stories.SILENCES_PRESSED "
            "stories.TONES_PRESSED",
        "test_answers_that_tell_nothing_of_each_other_leave_a_change_as_probable_as_before":
            "stories.CHANGES stories.PART_TONES_MIN",
    },
    "tests/platform/test_room_on_disk.py": {
        "test_what_goes_on_by_itself_after_a_minute_has_a_presentation_a_second":
            "caps.MINUTE_PRESENTATIONS_MAX caps.RUN_AGAIN_TONES",
    },
    "tests/presenting/test_pace.py": {
        "test_what_is_pressed_within_100_ms_tells_nothing_of_how_fast_somebody_is":
            "pace.FASTEST_US",
        "test_after_a_first_press_that_may_be_late_a_tone_is_waited_for_longer":
            "pace.FIRST_LATE_US pace.LONG_WAITS",
        "test_what_is_known_of_a_listener_is_what_can_be_meant_for_one_tone_only":
            "pace.LONG_WAITS",
        "test_a_press_begins_a_pause_anew_within_reason": "pace.PAUSE_TOTAL_US_MAX",
    },
    "tests/presenting/test_presentation.py": {
        "test_a_second_press_belongs_to_the_answer_before_and_holds_up_nothing":
            "pace.AGAIN_US_MAX",
    },
    "tests/presenting/test_silent_time.py": {
        "test_who_presses_twice_for_less_than_half_of_the_tones_presses_in_silence":
            "silent_time.TWICE_USUAL",
    },
    "tests/session/test_listening.py": {
        "test_another_listener_who_is_as_probable_as_one_in_five_is_a_doubt": "listening.DOUBTED",
        "test_a_doubt_about_twelve_tones_is_settled_before_the_ear_ends":
            "listening.LAST_TONES_MAX",
        "test_from_4_to_14_silences_are_a_late_start_if_odds_are_better_than_one_in_50":
            "listening.LATE_TONES_MAX listening.LATE_TONES_MIN listening.LOG_LATE",
    },
    "tests/session/test_masking.py": {
        "test_no_gap_is_greater_than_what_the_ear_hears_less_than_the_best": "masking.GAP_MAX_DB",
        "test_what_earphones_keep_from_the_other_ear":
            "masking.INSERT_HIGH_DB masking.INSERT_LOW_DB",
        "test_by_how_much_an_ear_that_is_closed_hears_better_by_bone":
            "masking.INSERT_OCCLUSION_DB masking.OCCLUSION_DB",
        "test_noise_that_crosses_stays_5_db_below_the_tone_by_bone": "masking.OWN_MARGIN_DB",
        "test_a_check_is_asked_5_db_above_the_threshold_or_more": "plateau.CHECK_ABOVE_DB_MIN",
        "test_the_noise_of_a_check": "plateau.GAP_DB plateau.GAP_DB_MIN",
        "test_two_checks_are_enough_from_250_to_8000_hz": "plateau.REACH_TIMES",
    },
    "tests/session/test_bone_conduction.py": {
        "test_an_ear_by_bone_takes_30_tones_and_20_more_with_noise_at_most":
            "caps.AFTER_AIR_TONES_MAX",
    },
    "tests/session/test_gap_of_both_routes.py": {
        "test_what_was_felt_as_likely_as_one_in_twenty_is_perhaps_above":
            "bone_conduction.FELT_MAX",
    },
    "tests/session/test_noise_check.py": {
        "test_the_tone_is_clear_of_the_threshold_and_the_noise_20_db_above_it":
            "noise_check.AUDIBLE_DB noise_check.HIDDEN_DB",
        "test_where_no_level_would_tell_nothing_is_asked":
            "noise_check.AUDIBLE_DB_MIN noise_check.BELOW_FULL_SCALE_DB "
            "noise_check.HIDDEN_DB_MIN",
        "test_one_answer_may_be_an_accident_and_one_look_may_mend_it":
            "noise_check.LOOKS_MAX noise_check.TRIES_MAX",
    },
    "tests/session/test_remarks.py": {
        "test_clear_tones_missed_are_remarked_upon_where_lapses_are_believed_of_4_percent":
            "model_checks.LAPSE_RATE_MAX",
    },
    "tests/session/test_room.py": {
        "test_an_office_of_40_dba_makes_so_much_noise_in_an_ear":
            "room.AIR_LIMITS_DB_SPL room.BONE_LIMITS_DB_SPL",
        "test_every_part_of_a_floor_counts_by_a_tenth_of_a_decibel":
            "room.OF_LIMIT_DB_HL room.FLOOR_ABOVE_DB room.MICROPHONE_UNCERTAINTY_DB",
        "test_noise_hides_a_tone_that_is_less_than_4_db_above_it": "room.HIDES_DB",
        "test_a_fifth_of_the_time_may_be_quieter": "room.QUIET_PART",
        "test_half_a_minute_is_remembered": "room.HEARD_MAX",
        "test_a_microphone_hears_no_softer_room_than_its_own_noise":
            "room.HEARD_MIN room.SELF_NOISE_DB_SPL",
        "test_a_microphone_is_dead_6_db_below_its_own_noise": "room.DEAD_DB",
        "test_an_overdriven_microphone_tells_nothing_of_the_room": "room.CLIPPED_DB_SPL",
        "test_more_than_10_db_between_what_is_told_and_heard_is_said":
            "room.CONTRADICTS_DB room.OWN_DBA",
        "test_no_floor_above_35_db_hl_leaves_a_test": "room.TOO_LOUD_DB_HL",
    },
    "tests/session/test_unsure.py": {
        "test_more_than_nine_unsure_answers_of_ten_are_said": "remarks.UNSURE_SHARE_HIGH",
    },
    "tests/session/test_way.py": {
        "test_an_ear_poorer_by_20_db_is_expected_to_want_noise_by_bone":
            "bone_conduction.POORER_DB",
        "test_from_a_gap_of_15_db_on_that_the_other_ear_showed_noise_begins_with_the_first_tone":
            "by_bone.NOISE_AT_ONCE_DB",
        "test_a_gap_that_explains_some_thresholds_explains_more":
            "masking.GAP_ALSO_DB masking.GAP_REST_DB masking.GAP_SAID_DB",
        "test_bone_10_db_better_than_usual_may_be_the_other_ears": "masking.GAP_MASKED_DB",
    },
    "tests/session/test_which_ear.py": {
        "test_without_a_word_it_goes_on_after_a_minute": "which_ear.ASKED_US_MAX",
        "test_the_test_begins_at_the_same_ear_or_when_nobody_can_say_twice": "which_ear.UNSURE_MAX",
    },
}  # fmt: skip


def _elsewhere() -> dict[str, str]:
    """Return the tests that find each constant, as pytest is given them."""
    found: dict[str, list[str]] = {}
    for path, tests in NAMED.items():
        for test, names in tests.items():
            for name in names.split():
                found.setdefault(name, []).append(f"{path}::{test}")
    return {name: " ".join(tests) for name, tests in found.items()}


ELSEWHERE: Final = _elsewhere()

# What no test finds, and why it stays.
LEFT: Final[dict[str, str]] = {}


def finds(change: str, tests: str) -> bool:
    """Return whether these tests fail with a change of the panel."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0"]
    env, kernels = os.environ | {"GP_PTA_CHANGED": change}, kernels_with(CHANGES[change])
    if tests == PEOPLE or kernels != JIT:  # the others are tried with the library, if there is one
        env |= {VARIABLE: kernels}
    command += ["--under-numba"] if tests == PEOPLE else []
    done = subprocess.run(
        [*command, "-p", "tests.faults.changed", *tests.split()], cwd=ROOT, env=env,
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 1


def found_by(change: str) -> str:
    """Return the tests that find a change; "": none does."""
    elsewhere = ELSEWHERE.get(change.rpartition(" ")[0])
    tried = [PEOPLE] if elsewhere is None else [elsewhere, PEOPLE]
    return next((tests for tests in tried if finds(change, tests)), "")


def main() -> int:
    """Try them all, and say what none of the tests finds; return 1 if that was not known."""
    missed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, by in zip(CHANGES, pool.map(found_by, CHANGES), strict=True):
            if not by:
                missed.append(name)
                print(f"{name}: not found; {LEFT.get(name, 'that is new')}", flush=True)
    print(f"{len(CHANGES) - len(missed)} of {len(CHANGES)} found")
    return int({*missed} != {*LEFT})


if __name__ == "__main__":
    sys.exit(main())
