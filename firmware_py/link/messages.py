"""The messages of the wire, declared once: the verbs, their fields, and what a field may hold.

The client, the board's server and the tests read and write messages by these tables, and a test
holds the page (README.md here) to them. CPython and MicroPython run this module alike.
"""

from firmware_py.link.frames import SEQUENCE_MAX, decimal, parse_decimal, parse_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WIRE_VERSION = 1
ID_CHARACTERS_MAX = 8
NO_TONE = "-"  # stands for the id of a tone where there was none yet
SERIAL_CHARACTERS_MAX = 32
NAME_AND_VERSION_CHARACTERS_MAX = 6  # together: the longest answer to hello fits its frame
ECHOED_KEY_CHARACTERS_MAX = 16  # of a key that a board refuses
LOWEST_DBFS = -160.0
NOISE_DBFS_MAX = -10.0  # a louder noise would be clipped at four times its RMS
IN_NOISE_DBFS_MAX = -20.0  # of a tone in the ear of the noise: nothing is clipped together
EARPHONES_ONLY = 1  # `transducers` of a board with nothing else
TRANSDUCER_BITS_MAX = 255  # there may be more than this page knows
TRANSDUCERS = 2  # of an ear: `wire_number` of the routes
US_MAX = 2**63 - 1  # of the board's time: it never comes to that
EVENTS_KEPT_MAX = 64  # unacknowledged ones, by the board: some 15 trials of four events
HOST_SILENCE_US = 1000000  # without a frame from the host: then a board falls silent by itself

ROOM_BANDS_HZ = (125, 250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000)
ROOM_STEPS_PER_DB = 2
ROOM_STEPS_MAX = 255  # of what is louder, or too high to be measured, as well

TEXT, HEX, CHOICE, WHOLE, DECIMAL = "text", "hex", "choice", "whole", "decimal"
LEVELS = "levels"


class FieldError(ValueError):
    """A field that is missing, malformed, out of range or unknown; `key` says which."""

    def __init__(self, key: str) -> None:
        super().__init__("field " + key)
        self.key = key


class Field:
    """One ``KEY=VALUE`` of a message: what may stand there, and what it means.

    `symbol` stands for its value on the page. `low` and `high` are of a number, or of how many
    characters a text has; None: there is no highest. `choices` are those of a choice, whose value
    is its place; of a text what is not allowed. Levels are third octaves of the room's noise, dB
    SPL. With a `default` it may be missing, and is never written with that value. It may be at most
    half of the field `half_of`.
    """

    def __init__(
        self,
        key: str,
        symbol: str,
        kind: str,
        low: float = 0,
        high: "float | None" = None,
        choices: "tuple[str, ...]" = (),
        default: "int | tuple[float, ...] | None" = None,
        half_of: str = "",
    ) -> None:
        self.key = key
        self.symbol = symbol
        self.kind = kind
        self.low = low
        self.high = high
        self.choices = choices
        self.default = default
        self.half_of = half_of

    def read(self, text: str) -> "Any":
        if self.kind == CHOICE:
            return self.choices.index(text)
        value: Any = text
        if self.kind == WHOLE:
            value = parse_whole(text)
        elif self.kind == DECIMAL:
            value = parse_decimal(text)
        size = len(text) if value is text else value
        if size < self.low or (self.high is not None and size > self.high) or text in self.choices:
            raise FieldError(self.key)
        if self.kind in (HEX, LEVELS):
            for character in text:
                if character not in "0123456789abcdef":
                    raise FieldError(self.key)
        return read_levels(text) if self.kind == LEVELS else value

    def write(self, value: "Any") -> "str | int":
        if self.kind == CHOICE:
            value = self.choices[value]
        elif self.kind == DECIMAL:
            value = decimal(value)
        elif self.kind == LEVELS:
            value = write_levels(value)
        return value  # type: ignore[no-any-return]


def read_levels(text: str) -> "tuple[float, ...]":
    return tuple([int(text[at : at + 2], 16) / ROOM_STEPS_PER_DB for at in range(0, len(text), 2)])


def write_levels(levels_db_spl: "tuple[float, ...]") -> str:
    return "".join([f"{_steps(level):02x}" for level in levels_db_spl])


def _steps(level_db_spl: float) -> int:
    steps = ROOM_STEPS_PER_DB * level_db_spl
    # What is not a number was not measured.
    return round(max(steps, 0)) if steps < ROOM_STEPS_MAX else ROOM_STEPS_MAX


_EAR = Field("ear", "l|r", CHOICE, choices=("l", "r"))
# An old board refuses a field that it does not know: so it plays nothing in place of a transducer
# that it lacks.
_TRANSDUCER = Field("via", "N", WHOLE, 0, TRANSDUCERS - 1, default=0)
_HZ = Field("hz", "F", DECIMAL, 100, 16000)
_EVENT = Field("event", "N", WHOLE, 0, SEQUENCE_MAX)
_ID = Field("id", "ID", TEXT, 1, ID_CHARACTERS_MAX, choices=(NO_TONE,))
_US = Field("us", "T", WHOLE, 0, US_MAX)
_BUTTON = Field("button", "B", WHOLE, 1, 2, default=1)
# Only to a board that has told it, as `press_ends`; the longest `tone` leaves no room for more.
_LOUD = Field("hi", "1", WHOLE, 0, 1, default=0)
_ROOM = Field("room", "HEX22", LEVELS, 2 * len(ROOM_BANDS_HZ), 2 * len(ROOM_BANDS_HZ), default=())
WIRE = Field("wire", str(WIRE_VERSION), WHOLE, 0, 999999)

# Every command: the fields of the command, and those of its answer `ok`.
COMMANDS: "dict[str, tuple[tuple[Field, ...], tuple[Field, ...]]]" = {
    "hello": (
        (WIRE, Field("host", "HEX8", HEX, 8, 8)),
        (
            WIRE,
            Field("board", "NAME", TEXT, 1, NAME_AND_VERSION_CHARACTERS_MAX),
            Field("version", "V", TEXT, 1, NAME_AND_VERSION_CHARACTERS_MAX),
            Field("boot", "HEX8", HEX, 8, 8),
            _EVENT,
            Field("tone", "ID", TEXT, 1, ID_CHARACTERS_MAX),
        ),
    ),
    "serial": (
        (),
        (
            Field("serial", "S", TEXT, 1, SERIAL_CHARACTERS_MAX),
            Field("press_ends", "1", WHOLE, 0, 1, default=0),
            # A bit for each, by its `via`; of a board that does not tell the earphone only.
            Field("transducers", "B", WHOLE, 0, TRANSDUCER_BITS_MAX, default=EARPHONES_ONLY),
            Field("in_noise", "1", WHOLE, 0, 1, default=0),
            Field("room", "1", WHOLE, 0, 1, default=0),
            _LOUD,
        ),
    ),
    "tone": (
        (
            _ID,
            _EAR,
            _TRANSDUCER,
            _HZ,
            Field("dbfs", "L", DECIMAL, LOWEST_DBFS, 0),
            Field("on", "MS", WHOLE, 50, 5000),
            Field("off", "MS", WHOLE, 0, 5000),
            Field("n", "N", WHOLE, 1, 20),
            Field("rise", "MS", WHOLE, 5, 100, half_of="on"),
            # Only to a board that has told `press_ends`: any other refuses or drops the line.
            Field("buttons", "B", WHOLE, 0, 3, default=0),
            Field("press", "MS", WHOLE, 0, 5000, default=0),
            _LOUD,
        ),
        (),
    ),
    "stop": ((), ()),
    "ping": ((), (_EVENT, _US, _ROOM)),
    "ack": ((_EVENT,), ()),
    "events": (
        (Field("after", "N", WHOLE, 0, SEQUENCE_MAX),),
        (Field("event", "M", WHOLE, 0, SEQUENCE_MAX),),
    ),
    "mask": ((_EAR, _HZ, Field("dbfs", "L", DECIMAL, LOWEST_DBFS, NOISE_DBFS_MAX), _LOUD), ()),
    "unmask": ((), ()),
}

EVENTS: "dict[str, tuple[Field, ...]]" = {
    "tone-on": (_ID, _US),
    "tone-off": (_ID, _US, Field("cut", "0|1", CHOICE, choices=("0", "1")), _ROOM),
    "button-down": (_US, _BUTTON),
    "button-up": (_US, _BUTTON),
}

# The codes of `error`, in the order in which a board looks for them.
ERRORS = ("hello", "version", "verb", "field", "limit", "busy", "noise")


def read(
    fields: "tuple[Field, ...]", given: "dict[str, str]", others: bool = False
) -> "dict[str, Any]":
    """Read the fields of a message, as `decode` gives them: the values by key.

    `FieldError` of the first field that is missing, malformed, out of range, or unknown; with
    `others` there may be fields that are not known.
    """
    values: dict[str, Any] = {}
    for field in fields:
        key = field.key
        if key not in given:
            if field.default is None:
                raise FieldError(key)
            values[key] = field.default
            continue
        try:
            values[key] = field.read(given[key])
        except ValueError:
            raise FieldError(key) from None
        if field.half_of and 2 * values[key] > values[field.half_of]:
            raise FieldError(key)
    for key in given:
        if key not in values and not others:
            raise FieldError(key)
    return values


def write(fields: "tuple[Field, ...]", values: "dict[str, Any]") -> "list[tuple[str, str | int]]":
    """Return the fields of a message as `encode` takes them; its reader checks the ranges."""
    pairs = []
    for field in fields:
        value = values[field.key]
        if field.default is None or value != field.default:
            pairs.append((field.key, field.write(value)))
    return pairs
