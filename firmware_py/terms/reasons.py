"""Why something is so, as a code with its figures: what results, journals and pages have.

The words come at the edge: `en.toml` has the device's English, the host tools other languages. The
name of a part says what it may be. Numbers are rounded here, to a hundredth or as `DECIMALS` says:
so a record has the same bytes on every machine.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, Final, Self

from firmware_py.terms.calibration_states import CHECKS
from firmware_py.terms.printable import printable
from firmware_py.terms.record_checks import number, one_of, refusal
from firmware_py.terms.route import EARS, ROUTE_NAMES, Route, spell_routes

NUMBER_MAX: Final = 2.0**53  # a wide bound, which only keeps nonsense out
SEVERAL_MAX: Final = 100  # in one part
NESTED_MAX: Final = 4  # reasons in one another; the firmware's are at most three deep


class Code(Enum):
    """What is the reason: its word in a record, and the names of its parts."""

    def __init__(self, word: str, *parts: str) -> None:
        self.word = word
        self.parts = parts
        self.has_levels = any(part.endswith("_db_hl") for part in parts)

    # Why an ear ended.
    NARROW_ENOUGH = "narrow-enough", "half_width_db", "frequency_hz"
    WIDE_STILL = "wide-still", "half_width_db", "frequency_hz", "wanted_db"
    NEXT_ANSWER_TELLS = "next-answer-tells", "information_bits"
    ALL_HEARD = "all-heard", "floor_db_hl"
    ALL_HEARD_AT_EACH = "all-heard-at-each", "low_db_hl", "high_db_hl"
    NO_RESPONSE = "no-response", "limit_db_hl"
    NO_RESPONSE_AT_EACH = "no-response-at-each", "low_db_hl", "high_db_hl"
    CAP = "cap", "tones_max"
    CAP_KEPT = "cap-kept", "tones_max", "tones", "kept"
    CAP_TOO_FEW = "cap-too-few", "tones_max", "tones", "left"
    PERHAPS_BEYOND = "perhaps-beyond", "limit_db_hl", "frequencies_hz"
    PERHAPS_BEYOND_EACH = "perhaps-beyond-each", "limits"
    LIMIT_AT = "limit-at", "limit_db_hl", "frequency_hz"

    # What shows that a listener does not attend.
    MISSES = "misses", "missed", "asked"
    PRESSED_IN_PAUSES = "pressed-in-pauses", "pressed", "count"
    RUN_AWAY = "run-away", "away"
    AWAY = "away", "away", "tones"
    FALSE_ALARMS = "false-alarms", "alarms", "catches"
    FALSE_ALARMS_UNSURE = "false-alarms-unsure", "alarms", "catches", "unsure"
    INATTENTIVE = "inattentive", "signs"

    # What seems to have happened in place of listening.
    FELL_SILENT = "fell-silent", "count"
    FELL_SILENT_SINCE = "fell-silent-since", "count", "began"
    FELL_SILENT_BONE = "fell-silent-bone", "count"
    FELL_SILENT_SINCE_BONE = "fell-silent-since-bone", "count", "began"
    PRESSES_ANYWAY = "presses-anyway"
    PRESSES_ANYWAY_SINCE = "presses-anyway-since", "began"
    PRESSES_UNRELATED = "presses-unrelated"
    ANOTHER_LISTENER = "another-listener", "began"
    ANOTHER_LISTENER_BONE = "another-listener-bone", "began"
    MOVED_POORER = "moved-poorer", "began", "by_db"
    MOVED_POORER_BONE = "moved-poorer-bone", "began", "by_db"
    MOVED_BETTER = "moved-better", "began", "by_db"
    LEAKS = "leaks", "began", "by_db", "below_hz"
    NEAR_A_PITCH = "near-a-pitch", "frequency_hz"
    ANSWERS_UNHEARD = "answers-unheard"
    ONLY_LOUDER = "only-louder"
    BROKEN_OFF = "broken-off", "ear", "checks", "why"
    ENOUGH_BEFORE = "enough-before", "ear", "tones"

    # Why the test of an ear is no valid one, or is in doubt.
    NOT_BEGUN_YET = "not-begun-yet"
    NOTHING_HEARD = "nothing-heard"
    NOTHING_HEARD_BONE = "nothing-heard-bone"
    WHO_HEARS = "who-hears"
    WHO_HEARS_BONE = "who-hears-bone"
    ENDED_EARLY = "ended-early"
    EARS_CONTRADICTED = "ears-contradicted"
    BONE_POORER = "bone-poorer", "ear"
    SEVERAL_BOARDS = "several-boards", "boards"

    # Why a test waits for the operator, who knows who sits there.
    WAITS_LONG = "waits-long", "ago"
    WAITS_PAUSED = "waits-paused", "ago"
    WAITS_CLOCK = "waits-clock"
    WAITS_DIFFERS = "waits-differs", "differs"
    WAITS_TEST = "waits-test", "number"
    FOREIGN_BOARD = "foreign-board", "differs"
    FOREIGN_AID = "foreign-aid", "differs"
    DAYS = "ago-days", "count"
    HOURS = "ago-hours", "count"
    MINUTES = "ago-minutes", "count"

    # In what two sessions differ, or a session and what is there now.
    DIFFERS = "differs", "field", "one", "other"
    DIFFERS_NOW = "differs-now", "field", "was", "now"
    ANOTHER_PERSONS = "another-persons"

    # Of the question which ear is which.
    WHICH_EAR = "which-ear"
    TURN_EARPHONES = "turn-earphones", "ear"
    PLACE_VIBRATOR = "place-vibrator", "ear"
    PLACE_VIBRATOR_COVERED = "place-vibrator-covered", "ear", "covered"
    LOOK_AT_NOISE = "look-at-noise", "ear"
    PLACE_EARPHONES = "place-earphones"
    EARS_NOT_CONFIRMED = "ears-not-confirmed"

    # Of the noise of the room.
    ROOM = "room", "dba", "spectrum"
    ROOM_UNKNOWN = "room-unknown", "dba", "level_db_hl"
    ROOM_UNKNOWN_BONE = "room-unknown-bone", "dba", "level_db_hl", "bone_db_hl"
    ROOM_FLOORS = "room-floors", "limits"
    ROOM_FLOORS_BONE = "room-floors-bone", "limits"
    ROOM_TOO_LOUD = "room-too-loud", "level_db_hl", "frequency_hz", "highest_db_hl"
    ROOM_CONTRADICTED = "room-contradicted", "dba", "heard_dba"
    MICROPHONE_DEAD = "microphone-dead"
    MICROPHONE_CLIPPED = "microphone-clipped"

    # Remarks on a result.
    OF_EAR = "of-ear", "ear", "doubt"
    RETEST_DIFFERS = "retest-differs", "ear", "verdict", "difference_db"
    MOSTLY_UNSURE = "mostly-unsure", "unsure", "answered"
    MASKING_UNCERTAIN = "masking-uncertain", "ear", "frequencies_hz", "why"
    EQUIPMENT_HEARD = "equipment-heard", "ear", "hearer"
    EARS_BY_BOARDS = "ears-by-boards", "by_ear"
    BOARDS_OF_EAR = "boards-of-ear", "ear", "boards"
    NEVER_ANSWERED = "never-answered"
    GAP_EXPLAINS = "gap-explains", "gap_db", "ear"
    MOVES_WITH_NOISE = "moves-with-noise", "level_db_hl", "frequency_hz", "noise_db_hl", "ear"

    # Why a tone has noise in the other ear, or none.
    CROSS_HEARD = "cross-heard"
    CROSSES = "crosses", "level_db_hl", "ear", "crossing_db_hl", "cochlea_db_hl"
    MASKING_OFF = "masking-is-off"
    CHECKED = "checked", "ear", "gap_db"
    NO_NOISE = "no-noise"
    NOISE_LOST = "noise-lost", "ear"
    NOISE_REACHES = "noise-reaches", "ear"
    NO_TRANSDUCER = "no-transducer", "ear"
    NOT_MASKED_NEARBY = "not-masked-nearby"
    NOT_MEASURED = "not-measured", "ear"
    DILEMMA = "dilemma"
    NOISE_LIMIT = "noise-limit"
    NOISE_REFUSED = "noise-refused", "told"

    # Why a presentation came to nothing.
    NOT_BEGUN = "not-begun"
    CUT_SHORT = "cut-short"
    TOO_EARLY = "too-early"
    NOISE_ENDED = "noise-ended"
    ROOM_HID = "room-hid"

    # Why the test did, or what it needs was lost.
    ABORTED = "aborted"
    RESET = "reset"
    NOT_PLAYED = "not-played", "number"
    NOT_PLAYED_BUT = "not-played-but", "number", "why"
    TONE_REFUSED = "tone-refused", "told"
    TONE_TOO_LOUD = "tone-too-loud", "level_db_hl", "highest_db_hl"
    NOISE_TOO_LOUD = "noise-too-loud", "level_db_hl", "highest_db_hl"
    EVENTS_LOST = "events-lost", "count"
    BOARD_LOST = "board-lost", "told"
    AID_LOST = "aid-lost", "told"
    AID_REFUSED = "aid-refused", "command", "told"

    # What is known of the calibration, and of the other parts of the device.
    CALIBRATED = "calibrated", "date", "due"
    CALIBRATED_BUT = "calibrated-but", "date", "due", "lacking"
    OVERDUE = "overdue", "date", "due"
    CLOCK_IS_WRONG = "clock-is-wrong", "date", "today"
    NOMINAL = "nominal"
    SIMULATED_BOARD = "simulated-board"
    NOMINAL_SINCE = "nominal-since", "told"
    ANOTHER_BOARDS = "another-boards", "was", "now"
    WIRE_COUNTS = "wire-counts", "garbled", "repeats"
    SILENT = "silent"
    NOT_PRESSED = "not-pressed"
    PRESSES = "presses", "presses"
    HELD_DOWN = "held-down", "button"
    FREE = "free", "free_mb"
    NO_ROOM = "no-room", "free_kb", "needed_kb"
    CLOCK_SAYS = "clock-says", "time"
    NEVER_SET = "never-set", "time"
    TOLD = "told", "told"
    WARMS_UP = "warms-up", "told", "seconds"

    # Remarks on a tuning.
    NO_WISH = "no-wish"
    CHANGED = "changed"
    NOT_SURE = "not-sure"
    NOT_PREFERRED = "not-preferred", "won", "asked"
    RANGE_END = "range-end", "dimension", "change_db"


EARPHONE_MOVED: Final = (
    Code.MOVED_POORER, Code.MOVED_POORER_BONE, Code.MOVED_BETTER, Code.LEAKS
)  # fmt: skip
CODES: Final[Mapping[str, Code]] = {code.word: code for code in Code}
# Of these the words name what the operator is to look after: the vibrator, in place of earphones.
# Journals of a test by bone had the others once, and are read as they are.
OF_BONE: Final[Mapping[Code, Code]] = {
    Code.FELL_SILENT: Code.FELL_SILENT_BONE,
    Code.FELL_SILENT_SINCE: Code.FELL_SILENT_SINCE_BONE,
    Code.ANOTHER_LISTENER: Code.ANOTHER_LISTENER_BONE,
    Code.MOVED_POORER: Code.MOVED_POORER_BONE,
    Code.NOTHING_HEARD: Code.NOTHING_HEARD_BONE,
    Code.WHO_HEARS: Code.WHO_HEARS_BONE,
}

# Decimals of numbers that are always written with so many; all others have two at most.
DECIMALS: Final[Mapping[str, int]] = {
    "half_width_db": 1, "information_bits": 2, "difference_db": 0, "gap_db": 0, "cochlea_db_hl": 0,
    # of rows alone
    "level": 0, "low": 0, "high": 0, "mean_level": 1, "offset_db": 1, "sd_db": 1, "most_db": 1,
    "retest_db": 1, "minutes": 1, "trial_s": 1, "percent": 0, "ms": 0, "half": 0, "shift": 0,
    "rate": 1, "ratio": 1, "change_db": 1,
    "whole_low": 0, "whole_high": 0,
}  # fmt: skip
SIGNED: Final = ("difference_db", "retest_db", "shift", "change_db")  # written with a plus too

# Of the levels in a reason. Without it they are dB HL; no journal has it, see `in_nominal_db`.
UNIT: Final = "unit"
NOMINAL_DB: Final = "nominal-db"

# Parts that are words of a list; the table of a language has them as "ear-left".
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "dimension": ("overall-db", "tilt-db", "mid-db", "soft-db"),
    "ear": ROUTE_NAMES,
    "covered": EARS,
    "verdict": ("doubtful", "rejected"),
    "hearer": ("operator", "other-ear"),
    "lacking": CHECKS,
    "spectrum": ("office", "speech", "third-octaves", "microphone"),
    "field": (
        "identifier", "sex", "born-year", "device", "board-kind", "board", "measured",
        "calibration", "transducer", "earphones", "vibrator", "aid", "fit",
    ),
    UNIT: ("db-hl", NOMINAL_DB),
}  # fmt: skip
# Parts that somebody else wrote; "" of what two sessions differ in: there is none.
TEXTS: Final = ("told", "time", "command", "boards", "one", "other", "was", "now")
TEXT_CHARACTERS_MAX: Final = 500  # what is longer is cut: a record has room for several
CUT: Final = "..."
DATES: Final = ("date", "due", "today")  # ISO 8601
TIMES: Final = ("begun_at", "left_at", "resumed_at")  # ISO 8601, of rows alone
DATE: Final = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
REASONS: Final = ("why", "doubt", "ago", "differs", "signs", "limits", "by_ear")
# Of several each, and what stands between two of these.
SEVERAL: Final[Mapping[str, str]] = {
    "frequencies_hz": ", ", "boards": ", ", "signs": ", ", "limits": ", ", "by_ear": "; ",
    "lacking": ", ",
    "parts": "; ", "begun_at": "; ", "criteria": "; ", "findings": " ",  # of rows alone
}  # fmt: skip

Part = Any  # a number, a text, a reason, or a tuple of these


@dataclass(frozen=True)
class Reason:
    """A code, and its parts by name in the order of the code; `reason` makes one."""

    code: Code
    parts: tuple[tuple[str, Any], ...] = ()

    @property
    def codes(self) -> frozenset[Code]:
        parts = (part if isinstance(part, tuple) else (part,) for _, part in self.parts)
        nested = (each for several in parts for each in several if isinstance(each, Reason))
        return frozenset({self.code}).union(*(each.codes for each in nested))

    def to_record(self) -> dict[str, Any]:
        return {"code": self.code.word, **{name: as_json(part) for name, part in self.parts}}

    @classmethod
    def from_record(cls, place: str, record: object, deep: int = NESTED_MAX) -> Self:
        """Check what `to_record` wrote, and take it, or raise a `ResultError`."""
        word = record.get("code") if isinstance(record, dict) else None
        if not isinstance(record, dict) or word not in tuple(CODES):
            raise refusal(f"{place}.code", word, f"are the {len(CODES)} codes of reasons")
        code = CODES[word]
        told = (UNIT,) if code.has_levels and UNIT in record else ()
        if record.keys() != {"code", *code.parts, *told}:
            raise refusal(place, [*record], f"is an object of {', '.join(('code', *code.parts))}")
        if deep == 0:
            raise refusal(place, word, f"are {NESTED_MAX} reasons in one another")
        names = (*code.parts, *told)
        parts = ((name, _part(f"{place}.{name}", name, record[name], deep)) for name in names)
        return cls(code, tuple(parts))


Reasons = tuple[Reason, ...]  # why: one or more; none: there is no why


def reason(code: Code, **parts: Any) -> Reason:
    """Return a reason; a part that is missing, or not what its name says, is a `ResultError`."""
    return Reason.from_record(code.word, {"code": code.word, **parts})


def reason_by(route: Route, code: Code, **parts: Any) -> Reason:
    """Return a reason of a test by a route, as `reason`: by bone its words name the vibrator."""
    return reason(OF_BONE.get(code, code) if route.by_bone else code, **parts)


def reasons_at(place: str, value: object) -> Reasons:
    if not isinstance(value, list) or len(value) > SEVERAL_MAX:
        raise refusal(place, value, f"is a list of 0 to {SEVERAL_MAX} reasons")
    return tuple(Reason.from_record(f"{place}[{i}]", each) for i, each in enumerate(value))


def in_nominal_db(value: Any) -> Any:
    """Return reasons as told without a calibration, in no dB HL; what is no reason stays."""
    if isinstance(value, tuple):
        return tuple(map(in_nominal_db, value))
    if not isinstance(value, Reason):
        return value
    parts = {name: in_nominal_db(part) for name, part in value.parts}
    if value.code.has_levels:
        parts[UNIT] = NOMINAL_DB
    return replace(value, parts=tuple(parts.items()))


def as_json(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)  # plain, where it is one of several
    if isinstance(value, Reason):
        return value.to_record()
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    if not is_dataclass(value):
        return value
    parts = spell_routes({field.name: getattr(value, field.name) for field in fields(value)})
    return {name: as_json(each) for name, each in parts.items()}


def _part(place: str, name: str, value: Any, deep: int) -> Part:
    if name not in SEVERAL:
        return _one(place, name, value, deep)
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= SEVERAL_MAX:
        raise refusal(place, value, f"is a list of 1 to {SEVERAL_MAX}")
    return tuple(_one(f"{place}[{i}]", name, each, deep) for i, each in enumerate(value))


def _one(place: str, name: str, value: Any, deep: int) -> Part:
    if name in REASONS:
        return value if isinstance(value, Reason) else Reason.from_record(place, value, deep - 1)
    if name in WORDS:
        return str(one_of(*WORDS[name])(place, value))
    if name in TEXTS:
        if not isinstance(value, str):
            raise refusal(place, value, "is a text")
        text = printable(value)
        cut = text[: TEXT_CHARACTERS_MAX - len(CUT)] + CUT
        return text if len(text) <= TEXT_CHARACTERS_MAX else cut
    if name in DATES:
        if not isinstance(value, str) or not DATE.fullmatch(value):
            raise refusal(place, value, "is a date such as 2026-11-25")
        return value
    value = float(value) if isinstance(value, float) else value  # of NumPy
    return round_part(name, number(-NUMBER_MAX, NUMBER_MAX, "")(place, value))


def round_part(name: str, value: float) -> float:
    """Return a number as a reason or a row has it, by the name of its part."""
    if isinstance(value, int):
        return value
    return round(value, DECIMALS.get(name, 2)) + 0.0  # there is no -0
