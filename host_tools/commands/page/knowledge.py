"""What the operator's page knows of the console: the firmware's own tables, as JSON values."""

from dataclasses import fields
from typing import Any, Final, get_args

from firmware_py.console.arguments import Argument, Choice, Number
from firmware_py.console.command_row import Command
from firmware_py.console.console import OWN_COMMANDS
from firmware_py.operator.commands import COMMANDS
from firmware_py.operator.result_desk import COMMANDS as OF_RESULTS
from firmware_py.operator.room_desk import COMMANDS as OF_ROOM
from firmware_py.operator.setting_desk import COMMANDS as OF_SETTINGS
from firmware_py.operator.tuning_desk import COMMANDS as OF_TUNING
from firmware_py.platform.version import full_version
from firmware_py.sessions.identity import RULES, Meeting
from firmware_py.terms import reasons
from firmware_py.terms.discomfort_levels import LEVEL_LIMITS_DB_HL, LEVELS_HZ
from firmware_py.terms.reasons import Code
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.settings import CONDUCTS, LOUD_DB_HL, Settings
from host_tools.catalogue import ENGLISH, LANGUAGES, REASONS, catalogue_of, has_words, language_of
from host_tools.commands.export.document_session import JSON_FORMAT

PLACE: Final = "page"
INSTRUCTION: Final = "instruction"
PAPER: Final = "paper"
FORMAT: Final = "format"
CLOCK_NOT_SET: Final = f"{FORMAT}-clock_not_set"
OF_ROWS: Final = (REASONS, PAPER)  # their sentences go by their codes
OF_THE_PAGE: Final = (PLACE, INSTRUCTION, FORMAT)  # whose codes begin with the name of the table
OF_EVERY_DEVICE: Final = (*OWN_COMMANDS, *COMMANDS, *OF_RESULTS, *OF_ROOM, *OF_SETTINGS)
# Groups of commands that a device may lack, by name.
TUNING: Final = "tuning"
# Why a presentation or a test came to nothing, a tuning waits, or noise plays: told where the
# page does not look. And what only papers of the host have, by the beginnings of their codes.
UNSHOWN: Final = (
    Code.CROSS_HEARD, Code.NOT_BEGUN, Code.CUT_SHORT, Code.TOO_EARLY, Code.NOISE_ENDED,
    Code.ABORTED, Code.RESET, Code.NOT_PLAYED, Code.NOT_PLAYED_BUT, Code.TONE_REFUSED,
    Code.TONE_TOO_LOUD, Code.NOISE_TOO_LOUD, Code.EVENTS_LOST, Code.BOARD_LOST, Code.AID_LOST,
    Code.AID_REFUSED, Code.WAITS_TEST, Code.FOREIGN_AID, Code.FOREIGN_BOARD, Code.ANOTHER_PERSONS,
    Code.CHECKED,
)  # fmt: skip
OF_THE_HOST: Final = ("what-if", "as-recorded", "damaged")


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
        "discomfort": dict(
            zip(("frequencies_hz", "low", "high"), (LEVELS_HZ, *LEVEL_LIMITS_DB_HL), strict=True)
        ),
        "json_format": JSON_FORMAT,
        "visits": RULES[Meeting.VISITS],  # what follows where two sessions differ
        "instruction": [*catalogue_of(ENGLISH).tables[INSTRUCTION]],
        "languages": LANGUAGES,
        "codes": [*sentences_of(ENGLISH)],  # of the words, in their order in every language
        "words": {language: [*sentences_of(language).values()] for language in LANGUAGES},
        "figures": {
            "words": [*reasons.WORDS],
            "dates": reasons.DATES,
            "times": reasons.TIMES,
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
    flags = {"optional": argument.optional, "any_script": argument.any_script}
    told: dict[str, Any] = {"name": argument.name, **flags}
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


def sentences_of(language: str) -> dict[str, str]:
    """Return the sentences of a language by their codes; what it lacks is English."""
    english = catalogue_of(ENGLISH).tables
    said = {**english, **catalogue_of(language).tables}
    sentences = language_of(language).sentences
    own = {
        f"{place}-{key}": said[place].get(key, text)
        for place in OF_THE_PAGE
        for key, text in english[place].items()
    }
    unset = said["people"].get("clock_not_set", english["people"]["clock_not_set"])
    return own | {CLOCK_NOT_SET: unset} | {code: sentences[code] for code in codes_of_rows()}


def codes_of_rows() -> list[str]:
    tables = catalogue_of(ENGLISH).tables
    left_out = {code.word for code in UNSHOWN}
    codes = (code for place in OF_ROWS for code in tables[place] if code not in left_out)
    return [code for code in codes if not code.startswith(OF_THE_HOST)]


def lacking(language: str) -> list[str]:
    """Return which sentences of the page a language lacks, as "TABLE.CODE"."""
    english, tables = catalogue_of(ENGLISH).tables, catalogue_of(language).tables
    return [
        f"{place}.{code}"
        for place in (*OF_THE_PAGE, *OF_ROWS)
        for code, sentence in english.get(place, {}).items()
        if code not in tables.get(place, {}) and has_words(sentence)
    ]
