"""What the operator's page knows of the console: the firmware's own tables, as JSON values."""

from dataclasses import fields
from typing import Any, Final, get_args

from firmware_py.console.arguments import Argument, Choice, Number
from firmware_py.console.command_row import Command
from firmware_py.console.console import OWN_COMMANDS
from firmware_py.findings.air_bone_gap import LossType
from firmware_py.findings.asymmetry import CRITERIA
from firmware_py.operator.commands import COMMANDS
from firmware_py.operator.result_desk import COMMANDS as OF_RESULTS
from firmware_py.operator.setting_desk import COMMANDS as OF_SETTINGS
from firmware_py.operator.tuning_desk import COMMANDS as OF_TUNING
from firmware_py.platform.version import full_version
from firmware_py.procedure import reasons
from firmware_py.procedure.mean_threshold import GRADES_DB_HL
from firmware_py.procedure.outcomes import WhichEar
from firmware_py.procedure.reasons import Code
from firmware_py.procedure.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.procedure.settings import CONDUCTS, LOUD_DB_HL, Settings
from firmware_py.sessions.identity import RULES, Meeting
from host_tools.catalogue import ENGLISH, LANGUAGES, REASONS, catalogue_of
from host_tools.commands.export.document_session import JSON_FORMAT
from host_tools.recordings.verdicts import PLACE as OF_VERDICTS

PLACE: Final = "page"
INSTRUCTION: Final = "instruction"
REPORT: Final = "report"
RECORD: Final = "record"
PRESCRIPTION: Final = "prescription"
REMARK: Final = "remark"
VERDICT: Final = "verdict"
# Of a report: ears, what a retest said, states of a calibration, mean thresholds and grades.
SHARED: Final = (
    "left_ear", "right_ear", "left-bone_ear", "right-bone_ear", "calibrated", "overdue",
    "uncalibrated", "simulated", "pta4_and_grade", "gaps", "pta4_outside",
    "pta4_none", "pta4", "mean", "mean_at_least", "mean_at_most", "mean_clinical", "convention_50",
    "convention_clinical", "convention_rules", "convention_rules_ears", "convention_confirmed",
    "confirmed_beside", "nominal_why", "mean_beyond",
    "mean_inferred",
    "mean_doubtful", "grade_share", "grade_at_least", "grade_at_most", "grade_open", "nominal",
    "person_grade", "person_grade_inferred", "person_unilateral", "person_one_ear", "person_boards",
)  # fmt: skip
# Of the record of a test: whether the listener confirmed which ear is which.
OF_RECORD: Final = ("which_ear", *(f"which_ear_{each.replace('-', '_')}" for each in WhichEar))
# Of the paper of a session, in the record's words and in those of a report.
PAPER: Final = "paper"
RECORD_ON_PAPER: Final = (
    "audiogram", "final", "not_final", "name", "tested", "identifier", "session", "birth_date",
    "tester", "age_sex", "place", "broken_off", "waited", "device", "board", "calibration",
    "transducer", "vibrator", "meter", "method", "conduct", "masking", "not_told", "session_value",
    "device_value", "device_alone", "of_ear", "broken_off_value", "broken_off_unknown",
    "transducer_value", "transducer_unknown", "transducer_simulated", "vibrator_value",
    "kind_supra_aural", "kind_circumaural", "kind_insert", "calibration_value",
    "meter_value", "method_value", "method_both", "profile_default", "profile_own",
    "conduct_brisk", "conduct_clinical", "conduct_confirmed", "masking_automatic",
    "masking_not_needed", "masking_off", "comments", "signed", "signed_on", "signed_name",
    "noise_of", "noise_range",
)  # fmt: skip
REPORT_ON_PAPER: Final = (
    "status_complete", "status_aborted", "status_failed", "status_unfinished", "age", "age_one",
    "female", "male", "simulated_mark", "simulated_means", "clock_mark", "clock_ran",
    "clock_of_board", "overdue_means", "uncalibrated_means", "column_sd", "quality", "tones",
    "tones_value", "tones_unsure", "tones_aside", "tones_unsure_aside", "set_aside",
    "set_aside_one", "silence", "silence_pauses", "silence_catches",
    "silence_catches_unsure", "checks_missed", "clear_missed", "doubted", "retest", "retest_none",
    "retest_value", "trial_time",
    "retest_repeatable", "retest_scattered", "retest_doubtful", "retest_rejected", "posterior_sd",
    "posterior_sd_value", "remarks", "whole", "presses", "presses_one", "ended_by",
    "ear_sentence", "part_measured", "part_measured_one", "part_wide", "part_wide_one",
    "part_above", "part_at_most", "part_perhaps_above", "part_unknown", "part_inferred",
    "part_unreliable", "part_incomplete", "part_doubtful", "response_time", "response_value",
    "response_middle", "column_usual", "column_peers", "norm", "norm_note", "norm_note_50",
    "no_norm", "norm_women", "norm_men", "norm_informative", "norm_needs", "norm_needs_age",
    "norm_needs_sex", "norm_age", "mark_norm",
    "difference", "difference_at_least", "differences_more", "asymmetry", "asymmetry_doubt",
    "asymmetry_may", "asymmetry_by_bone",
    "gap_mean", "gap_mean_bound", "gap_share_open", "gap_none", "gap_missing", "gap_value",
    "gap_at_least", "gap_at_most", "gap_rule", "gap_examination", "gap_impossible", "gap_negative",
    "gap_either", "loss_probably",
    *(f"loss_{each}" for each in LossType),
    "asymmetry_by_air", "asymmetry_sensorineural", "asymmetry_mixed", "asymmetry_unknown",
    *(each.key for each in CRITERIA),
)  # fmt: skip
OF_EVERY_DEVICE: Final = (*OWN_COMMANDS, *COMMANDS, *OF_RESULTS, *OF_SETTINGS)
# Groups of commands that a device may lack, by name.
TUNING: Final = "tuning"
# Why a presentation or a test came to nothing, a tuning waits, or noise plays: told where the
# page does not look.
UNSHOWN: Final = (
    Code.CROSS_HEARD, Code.NOT_BEGUN, Code.CUT_SHORT, Code.TOO_EARLY, Code.NOISE_ENDED,
    Code.ABORTED, Code.RESET, Code.NOT_PLAYED, Code.NOT_PLAYED_BUT, Code.TONE_REFUSED,
    Code.TONE_TOO_LOUD, Code.NOISE_TOO_LOUD, Code.EVENTS_LOST, Code.BOARD_LOST, Code.AID_LOST,
    Code.AID_REFUSED, Code.WAITS_TEST, Code.FOREIGN_AID, Code.FOREIGN_BOARD, Code.ANOTHER_PERSONS,
    Code.CHECKED,
)  # fmt: skip


def knowledge() -> dict[str, Any]:
    """Return all that the page has from the firmware and the catalogue."""
    own = {each.short: _command(each) for each in OF_EVERY_DEVICE}
    tuning = {each.short: _command(each, TUNING) for each in OF_TUNING}
    return {
        "version": full_version(),
        "commands": own | tuning,
        "settings": {field.name: _limits_of(field.type) for field in fields(Settings)},
        "conducts": CONDUCTS,
        "loud_db_hl": LOUD_DB_HL,
        "frequencies_hz": AUDIOGRAM_FREQUENCIES_HZ,
        "json_format": JSON_FORMAT,
        "visits": RULES[Meeting.VISITS],  # what follows where two sessions differ
        "instruction": [*catalogue_of(ENGLISH).tables[INSTRUCTION]],
        "keys": [*words_of(ENGLISH)],  # of the words, in their order in every language
        "words": {language: [*words_of(language).values()] for language in LANGUAGES},
        "remarks": {
            "words": [*reasons.WORDS],
            "dates": reasons.DATES,
            "several": reasons.SEVERAL,
            "decimals": reasons.DECIMALS,
            "signed": reasons.SIGNED,
        },
    }


def _command(command: Command, group: str = "") -> dict[str, Any]:
    """Return a row of the table of commands; of a `group` a device may have none."""
    told = {
        "usage": command.usage,
        "arguments": [_argument(each) for each in command.arguments],
        "named": command.named,
        "group": group,
        "optional": bool(group),
    }
    return {name: value for name, value in told.items() if value}


def _argument(argument: Argument) -> dict[str, Any]:
    told: dict[str, Any] = {"name": argument.name, "optional": argument.optional}
    match argument.kind:
        case Choice() as kind:
            told["choices"] = [*kind.choices]
        case Number() as kind:
            told |= {"number": True, "unit": kind.unit, "whole": kind.whole}
            if kind.limits is not None:
                told["low"], told["high"] = kind.limits
    return {name: value for name, value in told.items() if value is not False}


def _limits_of(annotation: Any) -> dict[str, Any]:
    """Return the choices of a setting, or its lowest, highest and unit; a switch has neither."""
    _, *about = get_args(annotation) or (None,)
    if not about:
        return {}
    allowed = about[0]
    if isinstance(allowed[0], str):
        return {"choices": list(allowed)}
    if isinstance(allowed[-1], str):
        low, high, unit = allowed
        return {"low": low, "high": high, "unit": unit}
    return {"several": list(allowed)}


def words_of(language: str) -> dict[str, str]:
    """Return the sentences of the page, what is read to the listener, and others', by key."""
    tables = catalogue_of(language).tables
    spoken = {f"{INSTRUCTION}_{key}": text for key, text in tables[INSTRUCTION].items()}
    grades = (f"grade_{grade.replace(' ', '_')}" for grade in GRADES_DB_HL)
    shared = {key: tables[REPORT][key] for key in (*grades, *SHARED)}
    shared |= {key: tables[RECORD][key] for key in OF_RECORD}
    shared |= {f"{PAPER}_{key}": tables[RECORD][key] for key in RECORD_ON_PAPER}
    shared |= {f"{PAPER}_{key}": tables[REPORT][key] for key in REPORT_ON_PAPER}
    shared |= {f"{PAPER}_{key}": tables["format"][key] for key in ("time", "and")}
    shared[f"{PAPER}_clock_not_set"] = tables["people"]["clock_not_set"]
    shared[f"{PAPER}_footer"] = tables[PRESCRIPTION]["footer"]
    unshown = {code.word for code in UNSHOWN}
    told = {
        f"{REMARK}_{code.replace('-', '_')}": text
        for code, text in tables[REASONS].items()
        if code not in unshown
    }
    shared |= {f"{VERDICT}_{key}": text for key, text in tables[OF_VERDICTS].items()}
    shared["format_percent"] = tables["format"]["percent"]
    return {**tables[PLACE], **spoken, **shared, **told}
