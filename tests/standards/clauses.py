"""The rows of `firmware_py/CONFORMANCE.md`: what standards want, and what is here.

The figures of what is here are those of the code. Nobody who wrote this had the texts; each
standard says from whom its figures are. A test is named by its node id.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from device.build.budget import rows, worked_build
from device.build.parts import BUILDS, EARPHONES
from device.calibration.before_wearing import CROSSTALK_DB, NOISE_DB_HL, SOFTER_DB, STEP_DB
from device.calibration.readings import LINEAR_DB
from device.calibration.retfl import VIBRATORS
from device.calibration.retspl import TABLES
from firmware_py.board.board_connection import WARM_UP_S
from firmware_py.calibration.calibration import NOISE_CORRECTION
from firmware_py.calibration.checked import (
    DISTORTION_BY_BONE_DB_HL,
    DISTORTION_BY_BONE_MAX_PERCENT,
    DISTORTION_DB_HL,
    DISTORTION_MAX_PERCENT,
)
from firmware_py.calibration.file import DUE_DAYS_MAX
from firmware_py.ear.familiarisation import FAMILIAR_DOWN_DB, FAMILIAR_UP_DB
from firmware_py.ear.retest import RETEST_REPEATABLE_DB, RETEST_STEP_DB
from firmware_py.findings import whole_band
from firmware_py.findings.iso7029 import TABLE
from firmware_py.findings.norms import (
    AGE_MAX_YEARS,
    AGE_MIN_YEARS,
    INFORMATIVE_ABOVE_HZ,
    INFORMATIVE_ABOVE_YEARS,
    TENTH_SDS,
    AgeNorm,
    spread_until_years,
)
from firmware_py.link.messages import HOST_SILENCE_US
from firmware_py.session.masking import EXTERNAL_DB, GAP_MASKED_DB
from firmware_py.session.room import AIR_LIMITS_DB_SPL, BONE_LIMITS_DB_SPL, FLOOR_ABOVE_DB
from firmware_py.terms.room import BANDS_HZ
from firmware_py.terms.route import BY_AIR, BY_BONE
from firmware_py.terms.settings import (
    CLINICAL,
    LOUD_DB_HL,
    PLATEAU_MS_MIN,
    RISE_TIME_MS,
    STEP_UP_MAX_DB,
    Settings,
)


@dataclass(frozen=True)
class Clause:
    """One row: of `shown_by` and `not_met` one at least is told."""

    clause: str  # its number, or its subject where the number was not at hand
    wants: str
    here: str
    shown_by: str = ""  # FILE::FUNCTION below tests
    not_met: str = ""  # of what is wanted, and why
    bench: bool = False  # each device is checked by `gp-pta calibrate`


@dataclass(frozen=True)
class Standard:
    """One table of the page."""

    name: str
    about: str  # what is declared, and from whom the figures are
    clauses: tuple[str, ...]  # each has a row, in this order
    rows: tuple[Clause, ...]


OCTAVES_ON: Final = "from 125 to 8000 Hz"  # and 750, 1500, 3000, 6000 Hz: as devices are calibrated


def several(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def between(values: Iterable[float], unit: str) -> str:
    low, *_, high = sorted(values)
    return f"{low:g} to {high:g} {unit}"


def by_frequency(levels: Mapping[int, float]) -> str:
    told = {f: levels[f] for f in BY_AIR.calibrated_hz if f in levels}
    at_hz = f"at {several(told)} Hz" if len(told) < len(BY_AIR.calibrated_hz) else OCTAVES_ON
    return f"{several(told.values())} dB {at_hz}"


def by_hz(levels: Mapping[int, float]) -> str:
    return f"{several(levels.values())} dB HL at {several(levels)} Hz"


def retspl(name: str) -> str:
    found = TABLES[name]
    return f"`{name}`, on {found.coupler} ({found.source}): {by_frequency(found.levels_db_spl)}"


def reach_db_hl(earphone: str, build: str) -> float:
    """Return what a build is computed to give at all frequencies from 500 Hz on."""
    found = rows(worked_build(build, EARPHONES[earphone]))
    return min(round(row.highest.db_hl) for row in found if row.frequency_hz >= 500)


def reaches(build: str) -> str:
    told = (f"{reach_db_hl(name, build):g} dB HL with `{name}`" for name in EARPHONES)
    return f"build {build} gives {', '.join(told)}"


def part(name: str, found: whole_band.PartDb) -> str:
    return f"{name} {found.low_db:g} and {found.high_db:g}"


S: Final = Settings(conduct=CLINICAL)
PHONOMETRY: Final = "standards/test_conformance.py::test_phonometry_has_the_same_figures"
SAME_LEVELS: Final = "device/calibration/test_retspl.py::test_another_program_has_the_same_levels"
TYPE_4_DB_HL: Final = 90
TOO_SOFT: Final = [f"`{name}` in build {build}" for build in BUILDS for name in EARPHONES
                   if reach_db_hl(name, build) < TYPE_4_DB_HL]  # fmt: skip
NOT_MEASURED: Final = "no box has been measured"
HALF, TENTH = (AgeNorm(60.0, "M").threshold_db_hl(4000, sds) for sds in (0.0, TENTH_SDS))
SPREADS_YEARS: Final = [spread_until_years("M", f) for sex, f in TABLE if sex == "M"]

IEC_60645_1: Final = Standard(
    "IEC 60645-1:2017",
    "Declared: **type 4**, air conduction for screening, as far as this table goes. Of **type 3** "
    "there are bone conduction and masking; what of its clauses is met, and what not, stands here "
    "too. Second-hand: 5.3 to 5.5 by a public excerpt of BS EN 60645-1:2017 "
    "(freestandardsdownload.com), 5.2 by one of AS IEC 60645.1, the edition of 2001 "
    "(iecstandardsonline.com); the types by South Africa's noise regulations (N5953, acts.co.za); "
    "how far a level may be off by phonometry, from ISO 8253-1, A.3.3; the band of the noise by "
    "the manual of a GSI Pello. Of rise, plateau, pulses, steps and distortion the project has "
    "figures without a source. Numbers of other clauses were not at hand, nor was its table of "
    "facilities and levels by type.",
    (
        "type 4", "type 3", "table of facilities", "5.2 acoustic safety", "5.3 environment: stated",
        "5.3 environment: met", "5.4 warm-up", "5.5.1 power for 5 s", "5.5.2 mains", "frequency",
        "distortion", "distortion: where it is measured", "levels", "level control",
        "rise and fall", "pulses", "noise: band",
        "noise: level", "unwanted sound", "answers", "transducers", "marking, manual",
        "electrical safety",
    ),
    (
        Clause(
            "type 4", f"air conduction from 500 to 8000 Hz, -10 to {TYPE_4_DB_HL} dB HL",
            f"{OCTAVES_ON}, {between(BY_AIR.levels_db_hl, 'dB HL')}, as far as the calibration "
            f"reaches. Computed from 500 Hz on: {' and '.join(map(reaches, BUILDS))}",
            "device/build/test_page.py::test_the_table_of_first_limits_has_them_all",
            f"less than {TYPE_4_DB_HL} dB HL with {', '.join(TOO_SOFT)}", bench=True,
        ),
        Clause(
            "type 3", "air as type 4, bone conduction, and masking",
            f"bone at {several(BY_BONE.calibrated_hz)} Hz, and where the vibrator is calibrated "
            f"there at {several(BY_BONE.where_calibrated_hz)}, {BY_BONE.levels_db_hl[0]:g} to "
            f"{several(sorted({*BY_BONE.highest_db_hl_at.values()}))} dB HL by frequency, on the "
            "mastoid; noise in the other ear",
            "terms/test_route.py::test_what_a_transducer_gives_and_from_when_on_the_skin_feels_it",
            "the forehead; 125 Hz has no place in the audiogram", bench=True,
        ),
        Clause(
            "table of facilities", "which facilities and levels each type has at least",
            "nothing is claimed of it", not_met="the table was not at hand",
        ),
        Clause(
            "5.2 acoustic safety",
            "the operator sees, and does not only hear, that the level is above 100 dB HL",
            "a steady sign on the page and at the board while more than "
            f"{LOUD_DB_HL:g} dB HL is on",
            "board/test_sounds.py::test_what_is_above_100_db_hl_is_told_as_loud_with_the_sound_itself",
        ),
        Clause(
            "5.3 environment: stated",
            "temperature, humidity and pressure at the calibration are stated",
            "they stand in the calibration file and on paper, with the expanded uncertainty of the "
            "levels; what is outside the limits below is remarked upon",
            "calibration/test_file.py::"
            "test_what_a_certificate_expands_is_half_of_it_and_the_air_is_held_against_iec_60645_1",
            bench=True,
        ),
        Clause(
            "5.3 environment: met",
            "all is met at 15 to 35 °C, 30 to 90 % humidity and 98 to 104 kPa",
            "digital levels do not depend on them; DAC and earphones do", not_met=NOT_MEASURED,
        ),
        Clause(
            "5.4 warm-up",
            "the maker states a time of at most 10 min, after which all is met",
            f"{WARM_UP_S:g} s by the tone generator's own clock; before that no calibrated test "
            "begins, and `gp-pta calibrate` waits",
            "operator/test_warm_up.py::"
            "test_a_test_is_refused_with_the_seconds_that_are_left_and_begins_then",
            "that all is met then, for " + NOT_MEASURED,
        ),
        Clause(
            "5.5.1 power for 5 s",
            "after an interruption nothing endangers the ear, and no result is wrong",
            f"the board is silent {HOST_SILENCE_US / 1e6:g} s after its host; every answer is on "
            "the disk before the next tone, and the test goes on with it",
            "journal/test_journal_crash.py::test_power_lost_anywhere_loses_nothing_synced",
        ),
        Clause(
            "5.5.2 mains", "all is met with 10 % more or less voltage",
            "a power supply with USB, of another maker", not_met=NOT_MEASURED,
        ),
        Clause(
            "frequency", "a tolerance by type, which was not at hand",
            "that of a crystal; what synthesis and clock divider add is less than a hundredth of "
            "a percent",
            "device/tone_generator/test_synthesis.py::"
            "test_frequency_and_distortion_are_within_a_thousandth",
        ),
        Clause(
            "distortion",
            f"at most {DISTORTION_MAX_PERCENT:g} % by air, {DISTORTION_BY_BONE_MAX_PERCENT:g} % "
            "by bone",
            f"more is refused, or played {SOFTER_DB:g} dB softer, which is then the highest level",
            "device/calibration/test_before_wearing.py::"
            "test_distortion_is_that_of_the_standard_or_the_tone_is_softer", bench=True,
        ),
        Clause(
            "distortion: where it is measured",
            "at levels by frequency; by bone as the manual of a Natus AURICAL Aud quotes them, by "
            "air in no public text that was found",
            f"by air {by_hz(DISTORTION_DB_HL)}; by bone {by_hz(DISTORTION_BY_BONE_DB_HL)}; "
            "or the highest level of the device, where that is less",
            "device/calibration/test_before_wearing.py::"
            "test_distortion_is_measured_at_the_levels_that_iec_60645_1_names",
            "that these are the standard's by air: nobody could compare them", bench=True,
        ),
        Clause(
            "levels", "off by at most 3 dB to 4 kHz and 5 dB above; by bone 4 and 5 dB",
            "each frequency of each ear is measured, and levels follow the readings; without a "
            "calibration no level is called dB HL",
            "calibration/test_file.py::test_without_one_levels_are_nominal_and_it_says_so",
            bench=True,
        ),
        Clause(
            "level control", "steps of 5 dB or less, each as large as it says",
            f"steps of {S.level_step_db:g} dB; each step of {STEP_DB:g} dB is right within "
            f"{LINEAR_DB:g} dB; no tone is more than {STEP_UP_MAX_DB:g} dB above those before it",
            "device/calibration/test_before_wearing.py::"
            "test_each_step_of_10_db_is_right_within_1_db_down_to_the_lowest_level", bench=True,
        ),
        Clause(
            "rise and fall", f"{between(RISE_TIME_MS, 'ms')} from -20 to -1 dB",
            f"a raised cosine of {S.rise_ms} ms; no setting leaves these limits",
            "device/tone_generator/test_synthesis.py::"
            "test_rises_and_plateaus_are_those_of_iec_60645_1", bench=True,
        ),
        Clause(
            "pulses",
            f"on and off 225 ms, 35 ms more or less, at -5 dB; a plateau of {PLATEAU_MS_MIN} ms; "
            "20 dB down between",
            f"{S.pulses} pulses of {S.pulse_on_ms} ms from the start of the rise to the end of "
            f"the fall, {S.pulse_off_ms} ms of silence between",
            "device/tone_generator/test_synthesis.py::test_a_test_has_pulses_and_gaps_of_225_ms",
            bench=True,
        ),
        Clause(
            "noise: band", "a third to half an octave around the tone",
            "a fifth wider than a third of an octave",
            "device/tone_generator/test_synthesis.py::"
            "test_noise_is_between_a_third_and_half_an_octave_wide",
        ),
        Clause(
            "noise: level", "in effective masking level (ISO 389-4)",
            f"{several(NOISE_CORRECTION.levels_db)} dB above the tone, {OCTAVES_ON}",
            "firmware/test_masking.py::"
            "test_calibrated_noise_is_as_loud_as_it_has_to_be_and_within_what_was_measured",
        ),
        Clause(
            "unwanted sound", "nothing else is heard, and nothing in the other ear",
            f"crosstalk above what masking counts with is refused, {CROSSTALK_DB:g} dB is the "
            f"goal; noise of less than {NOISE_DB_HL:g} dB HL is the goal",
            "device/calibration/test_before_wearing.py::"
            "test_crosstalk_has_a_goal_of_70_db_and_masking_needs_40", bench=True,
        ),
        Clause(
            "answers", "the listener has a signal, and the operator sees it and the tone",
            "a button, whose time the board notes; every tone and answer is told as it happens",
            "session/test_course.py::test_the_operator_is_told_every_tone_and_answer",
        ),
        Clause(
            "transducers", "of a type with reference levels, with its force, on its coupler",
            "type, serial numbers, coupler and source of the levels are in the file, and on every "
            "paper",
            "calibration/test_file.py::test_a_file_is_read_whole",
            "the force of a headband, which is the maker's",
        ),
        Clause(
            "marking, manual",
            "maker, type and serial number on the box; a manual with these figures",
            "the serial number of the tone generator is in the file, and in every result",
            "calibration/test_file.py::"
            "test_with_another_board_than_was_measured_levels_are_nominal",
            "the box has no plate",
        ),
        Clause(
            "electrical safety", "IEC 60601-1 and its part on electromagnetic compatibility",
            "5 V from a bought supply", not_met="nobody has assessed it",
        ),
    ),
)  # fmt: skip

ISO_8253_1: Final = Standard(
    "ISO 8253-1:2010",
    "Second-hand: by phonometry (J. M. Requena-Plens), which read BS EN ISO 8253-1:2010; its main "
    "branch at commits 5a93956 (`phonometry.hearing.audiometry`) and d0e38a7 (its tests). Releases "
    "up to 4.0.0rc1 do not have that module, so that its rules were not run here. What it has of "
    "Tables 2 to 4 is typed into a test, and the vibrotactile levels and A.3.2 to A.3.6 were "
    "compared by hand on 30 November 2026: none differs. `conduct = \"clinical\"` is meant in all "
    "rows.",
    (
        "preparation", "6.2: tones", "6.2: which ear first", "6.2: familiarisation",
        "6.2.3.2, step 1: order", "6.2.3.2, step 2, and 6.2.4: method",
        "6.2.3.2, step 3: agreement", "6.2.3.2, step 3: no agreement", "6.2.3.2: cross-hearing",
        "6: masking", "6.3, 7: tracing", "8: bone", "8.1: masking", "8.4: felt", "11.1: the room",
        "11.1: low bands", "audiogram", "calibration", "A.3: repetition, fit, type",
        "A.3.3: equipment", "A.5: expanded",
    ),
    (
        Clause(
            "preparation", "otoscopy, rest, and an instruction before the test",
            "the instruction is given, in four languages, to be read to the listener",
            "host/catalogue/test_catalogue.py::test_every_sentence_is_a_sentence",
            "otoscopy and rest, which are the operator's",
        ),
        Clause(
            "6.2: tones", "1 to 2 s, pauses between them irregular and not shorter",
            f"{S.tone_ms} ms, which a press ends; pauses of {S.pause_ms_min} to {S.pause_ms_max} "
            "ms",
            "presenting/test_pace.py::test_pauses_are_their_least_and_a_truncated_exponential_time",
        ),
        Clause(
            "6.2: which ear first", "the better one", "as the familiarisation of both finds it",
            "session/test_course.py::test_the_better_ear_is_measured_first",
        ),
        Clause(
            "6.2: familiarisation", "at 1 kHz, well heard, down until silent, up until heard",
            f"{BY_AIR.familiar_hz:g} Hz from {S.familiar_level_db_hl:g} dB HL, "
            f"{FAMILIAR_DOWN_DB:g} dB down, {FAMILIAR_UP_DB:g} dB up",
            "ear/test_familiarisation.py::test_it_ends_with_a_tone_that_was_surely_heard",
        ),
        Clause(
            "6.2.3.2, step 1: order", "1 kHz and upward, then downward",
            "by what the next answer is expected to tell", not_met="another method",
        ),
        Clause(
            "6.2.3.2, step 2, and 6.2.4: method",
            "10 dB down, 5 dB up; a threshold is heard in more than half of the ascents, three "
            "times of at most five",
            "a model of all answers, with a 95 % band; the threshold that an ascending method "
            "finds is told beside it. `confirm` measures chosen frequencies by ASHA's rule, which "
            "is satisfied with two",
            "ear/test_confirmation.py::test_the_rule_is_that_of_another_implementation",
            "another method",
        ),
        Clause(
            "6.2.3.2, step 3: agreement", "1 kHz of the first ear once more, within 5 dB",
            f"of each ear, by one ascent in steps of {RETEST_STEP_DB:g} dB, within "
            f"{RETEST_REPEATABLE_DB:g} dB",
            "ear/test_retest.py::"
            "test_within_5_db_it_is_repeatable_and_beyond_10_rejected_unless_one_in_50_does_that",
        ),
        Clause(
            "6.2.3.2, step 3: no agreement",
            "from 10 dB on, further frequencies are tested again until they agree within 5 dB",
            "a remark says so, where more than 5 dB are improbable by the answers",
            "paper/test_quality.py::test_a_doubtful_retest_says_what_iso_8253_1_has_done_then",
            not_met="the device does not do it by itself: its bands contain both readings",
        ),
        Clause(
            "6.2.3.2: cross-hearing", "caution from 40 dB HL on, in either ear",
            f"noise, or the mark `uncertain`, where the tone less {EXTERNAL_DB:g} dB (inserts "
            "more) reaches the other cochlea",
            "session/test_masking.py::"
            "test_what_the_other_ear_may_have_heard_is_marked_without_noise_too",
        ),
        Clause(
            "6: masking", "noise in the other ear where it may hear the tone",
            "its level is computed from both ears, never above its limit; one point of the "
            "plateau is looked at",
            "session/test_masking.py::test_noise_hides_what_crosses_and_never_the_tone",
            "the level is not found by steps until the threshold stays, as a tester does",
        ),
        Clause(
            "6.3, 7: tracing", "how a tracing gives a threshold", "no tracing",
            not_met="not offered",
        ),
        Clause(
            "8: bone", "the vibrator on mastoid or forehead, the ear of the same side open",
            "the mastoid; the operator is told where vibrator and earphone go, and nothing is "
            "played before",
            "session/test_bone_conduction.py::test_it_waits_until_the_vibrator_is_in_place",
            "the forehead",
        ),
        Clause(
            "8.1: masking", "for one ear alone the other has noise at every level",
            f"an ear that hears {GAP_MASKED_DB:g} dB and more better by bone than by air, beside "
            "the usual gap, is asked again with noise in the other; else the threshold is the "
            "better cochlea's",
            "session/test_way.py::test_bone_10_db_better_than_usual_may_be_the_other_ears",
            "noise at every level: where no gap could be the other ear's there is none",
        ),
        Clause(
            "8.4: felt",
            "at 250, 500 and 1000 Hz from about 40, 60 and 70 dB HL on the skin may feel a tone",
            f"from {several(BY_BONE.felt_from_db_hl.values())} dB HL on, as a probability; what "
            "was perhaps felt is a bound",
            "session/test_bone_conduction.py::"
            "test_what_the_skin_may_have_felt_is_no_threshold_of_hearing",
        ),
        Clause(
            "11.1: the room",
            "third octaves that move 0 dB HL by at most 2 dB: Table 2 (air), 4 (bone), with Table "
            "3 for other earphones",
            f"{several(AIR_LIMITS_DB_SPL)} dB SPL by air and {several(BONE_LIMITS_DB_SPL)} by "
            f"bone, at {several(BANDS_HZ)} Hz. A louder room is told or heard, and nothing is "
            f"asked less than {FLOOR_ABOVE_DB:g} dB above its noise",
            "standards/test_conformance.py::"
            "test_rooms_and_earphones_have_the_limits_that_phonometry_has",
        ),
        Clause(
            "11.1: low bands", "limits from 31.5 Hz on", f"bands from {min(BANDS_HZ)} Hz on",
            not_met="what is below: the page of the procedure says which rooms are none for that",
        ),
        Clause(
            "audiogram", "level downward, an octave as wide as 20 dB, the symbols of both ears",
            "the same, with a band; `uncertain` has symbols of its own",
            "host/commands/report/test_picture.py::"
            "test_an_octave_is_as_wide_as_20_db_and_level_goes_downward",
        ),
        Clause(
            "calibration", "checked by ear each day, and measured at intervals",
            f"`*TST?` says what is not right; a file is due after {DUE_DAYS_MAX} days at most, "
            "and a result says OVERDUE",
            "calibration/test_file.py::test_it_holds_up_to_its_due_date",
            "nobody is asked to listen to the device each day", bench=True,
        ),
        Clause(
            "A.3: repetition, fit, type",
            "to 4 kHz and above: repetition 2.5 and 4, by bone 3 and 5; fit 2.5 and 3; type 1.5 "
            "and 2.5; masking 2 and 2 dB",
            f"{part('repetition', whole_band.REPETITION)}; {part('fit', whole_band.FIT)}; "
            f"{part('type', whole_band.TYPE)}; {part('masking', whole_band.MASKING)} dB",
            "findings/test_whole_band.py::test_table_a_2_of_iso_8253_1_comes_out",
            "repetition by bone: two visits are compared by air alone",
        ),
        Clause(
            "A.3.3: equipment",
            "what IEC 60645-1 allows and half a step, both rectangular; or the certificate",
            f"{part('by air', whole_band.CALIBRATION_BY_AIR)}, "
            f"{part('by bone', whole_band.CALIBRATION_BY_BONE)} dB, with a step of "
            f"{S.level_step_db:g} dB; or what the file states",
            "findings/test_whole_band.py::"
            "test_a_stated_calibration_takes_the_place_of_the_usual_and_a_known_room_counts",
        ),
        Clause(
            "A.5: expanded", "twice the combined uncertainty",
            f"a band of 95 %, {whole_band.BAND_SDS:.2f} SDs to either side, beside that of the "
            "answers",
            "findings/test_whole_band.py::"
            "test_the_band_reaches_as_far_as_answers_and_all_else_together",
        ),
    ),
)  # fmt: skip

ISO_389: Final = Standard(
    "ISO 389-1, -2, -3 and -8",
    "Second-hand: by the quotations that each table of `device/calibration` names. A thorough "
    "test holds both tables of ISO 389-1, and the field of ISO 389-7 with which aids are "
    "reckoned, against the release 4.0.0rc1 of phonometry, which read ISO 389-1:1998 and ISO "
    "389-7:2005. A calibration file keeps the levels that it was made with.",
    ("389-1, Table 1: TDH 39", "389-1, Table 1: DT 48", "389-1, Table 2: others", "389-2: "
    "inserts, 2 cm³ coupler",
     "389-2: inserts, ear simulator", "389-3: mastoid", "389-3: forehead", "389-8: circumaural"),
    (
        Clause(
            "389-1, Table 1: TDH 39", "the levels here, but 7.5 dB at 750 Hz", retspl("tdh39"),
            PHONOMETRY,
            "750 Hz, where ANSI S3.6 has 0.5 dB more; write 7.5 into the file where ISO is to hold",
        ),
        Clause(
            "389-1, Table 1: DT 48", "a table of its own", "none; write it into the file",
            not_met="nobody builds with it",
        ),
        Clause(
            "389-1, Table 2: others", "on the ear simulator", retspl("supra-aural"),
            PHONOMETRY,
        ),
        Clause(
            "389-2: inserts, 2 cm³ coupler", "ER-3A and its like", retspl("er3a"),
            "device/calibration/test_retspl.py::test_spot_values",
        ),
        Clause(
            "389-2: inserts, ear simulator", "the same, on the occluded-ear simulator",
            retspl("er3a-711"), SAME_LEVELS,
        ),
        Clause(
            "389-3: mastoid", "by frequency, dB re 1 µN",
            f"{' and '.join(f'`{name}`' for name in VIBRATORS)} ({VIBRATORS['b71'].source}): "
            f"{by_frequency(VIBRATORS['b71'].levels_db_un)}",
            "device/calibration/test_retspl.py::"
            "test_every_table_of_forces_is_as_quoted_and_serves_for_a_calibration",
        ),
        Clause(
            "389-3: forehead", "the same, of the forehead", "none; a file for it is refused",
            "calibration/test_bone.py::test_what_it_may_not_say_is_refused",
            "no table that two sources have",
        ),
        Clause("389-8: circumaural", "Sennheiser HDA 200", retspl("hda200"), SAME_LEVELS),
    ),
)  # fmt: skip

ISO_7029: Final = Standard(
    "ISO 7029:2017",
    "Second-hand: by two sources that agree in every coefficient. A thorough test holds all of "
    "them against the release 4.0.0rc1 of phonometry. The amendment of 2024 was not at hand.",
    ("4.2: median", "4.3: spread", "4.4: shares of people", "scope: ages", "amendment of 2024"),
    (
        Clause(
            "4.2: median", "a power of the years above 18, by sex and frequency",
            f"{OCTAVES_ON}; at 4 kHz {HALF:.1f} dB above 18 years for a man of 60",
            PHONOMETRY,
        ),
        Clause(
            "4.3: spread", "two halves of normal distributions, their SDs polynomials of age",
            "up to the age at which the polynomial is widest, of men "
            f"{between(SPREADS_YEARS, 'years')} by frequency: it bends down where no population "
            "narrows",
            PHONOMETRY,
            "the spread of older people, who are told the median alone",
        ),
        Clause(
            "4.4: shares of people", "the median and so many SDs",
            f"a tenth, half and nine tenths; one man of 60 in ten has more than {TENTH:.1f} dB at "
            "4 kHz",
            PHONOMETRY,
        ),
        Clause(
            "scope: ages", "18 to 80 years to 2 kHz, to 70 above",
            f"{AGE_MIN_YEARS:g} to {AGE_MAX_YEARS:g} years; above {INFORMATIVE_ABOVE_YEARS:g} at "
            f"more than {INFORMATIVE_ABOVE_HZ} Hz the paper says that it is for information",
            "paper/test_follows.py::"
            "test_above_2_khz_and_70_years_the_norm_is_said_to_be_for_information",
        ),
        Clause(
            "amendment of 2024", "not known", "nothing of it", not_met="the text was not at hand",
        ),
    ),
)  # fmt: skip

STANDARDS: Final = (IEC_60645_1, ISO_8253_1, ISO_389, ISO_7029)
