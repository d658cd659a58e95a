"""The messages of the wire, declared once: the verbs, their fields, and what a field may hold.

The client, the board's server and the tests read and write messages by these tables, and a test
holds the page (README.md here) to them. CPython and MicroPython run this module alike.
"""

from firmware_py.link.frames import decimal, parse_decimal, parse_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WIRE_VERSION = 1
ID_CHARACTERS_MAX = 8
NO_TONE = "-"  # stands for the id of a tone where there was none yet
SERIAL_CHARACTERS_MAX = 32
NAME_AND_VERSION_CHARACTERS_MAX = 6  # together: the longest answer to hello fits its frame
ECHOED_KEY_CHARACTERS_MAX = 16  # of a key that a board refuses
FREQUENCY_HZ_RANGE = (100.0, 16000.0)
LEVEL_DBFS_RANGE = (-160.0, 0.0)
NOISE_DBFS_MAX = -10.0  # a louder noise would be clipped at four times its RMS
EVENTS_KEPT_MAX = 64  # unacknowledged ones, by the board: some 15 trials of four events
HOST_SILENCE_US = 1000000  # without a frame from the host: then a board falls silent by itself

_HEX_DIGITS = "0123456789abcdef"


class FieldError(ValueError):
    """A field that is missing, malformed, out of range or unknown; `key` says which."""

    def __init__(self, key: str) -> None:
        super().__init__("field " + key)
        self.key = key


class Text:
    """A field that is a text.

    Parameters
    ----------
    key : str
    symbol : str
        What stands for its value on the page.
    characters_max : int
    but : str
        The one text that is not allowed.
    """

    default = None

    def __init__(self, key: str, symbol: str, characters_max: int, but: str = "") -> None:
        self.key = key
        self.symbol = symbol
        self.characters_max = characters_max
        self._but = but

    def read(self, text: str) -> "Any":
        """Return the value that a text stands for; raise ValueError if it stands for none."""
        if len(text) > self.characters_max or text == self._but:
            raise FieldError(self.key)
        return text

    def write(self, value: "Any") -> "str | int":
        """Return what stands for a value on the wire."""
        return value  # type: ignore[no-any-return]


class Hex8(Text):
    """A field of eight lower-case hex digits."""

    def __init__(self, key: str) -> None:
        super().__init__(key, "HEX8", 8)

    def read(self, text: str) -> "Any":
        """Return the digits."""
        if len(text) != 8:
            raise FieldError(self.key)
        for character in text:
            if character not in _HEX_DIGITS:
                raise FieldError(self.key)
        return text


class Choice(Text):
    """A field that is one of a few texts; its value is the place of the text among them."""

    def __init__(self, key: str, choices: "tuple[str, ...]") -> None:
        super().__init__(key, "|".join(choices), 1)
        self.choices = choices

    def read(self, text: str) -> "Any":
        """Return the place."""
        if text not in self.choices:
            raise FieldError(self.key)
        return self.choices.index(text)

    def write(self, value: "Any") -> "str | int":
        """Return the text at a place."""
        return self.choices[value]  # type: ignore[no-any-return]


class Whole:
    """A field that is a whole number.

    Parameters
    ----------
    key, symbol : str
        As for `Text`.
    limits : tuple of int, optional
        The lowest and the highest value; by default there is no highest, and 0 is the lowest.
    default : int, optional
        The value where the field is missing; such a field is never written with it.
    half_of : str
        The key of a field whose half the value may not exceed.
    """

    def __init__(
        self,
        key: str,
        symbol: str,
        limits: "tuple[int, int] | None" = None,
        default: "int | None" = None,
        half_of: str = "",
    ) -> None:
        self.key = key
        self.symbol = symbol
        self.limits = limits
        self.default = default
        self.half_of = half_of

    def read(self, text: str) -> "Any":
        """Return the number; raise ValueError if it is none, or out of its range."""
        return _within(self.key, parse_whole(text), self.limits or (0, None))

    def write(self, value: "Any") -> "str | int":
        """Return the number."""
        return value  # type: ignore[no-any-return]


class Decimal:
    """A field that is a decimal; `Whole` says what the parameters are."""

    DIGITS = 2  # after the point at most: a longer line would not fit its frame
    default = None

    def __init__(self, key: str, symbol: str, limits: "tuple[float, float]") -> None:
        self.key = key
        self.symbol = symbol
        self.limits = limits

    def read(self, text: str) -> "Any":
        """Return the number; raise ValueError if it is none, or out of its range."""
        return _within(self.key, parse_decimal(text), self.limits)

    def write(self, value: "Any") -> "str | int":
        """Return its text."""
        return decimal(value, self.DIGITS)


_EAR = Choice("ear", ("l", "r"))
_HZ = Decimal("hz", "F", FREQUENCY_HZ_RANGE)
_EVENT = Whole("event", "N")
_ID = Text("id", "ID", ID_CHARACTERS_MAX, but=NO_TONE)
_US = Whole("us", "T")
_BUTTON = Whole("button", "B", (1, 2), default=1)
WIRE = Whole("wire", str(WIRE_VERSION), (0, 999999))

# Every command: the fields of the command, and those of its answer `ok`.
COMMANDS = {
    "hello": (
        (WIRE, Hex8("host")),
        (
            WIRE,
            Text("board", "NAME", NAME_AND_VERSION_CHARACTERS_MAX),
            Text("version", "V", NAME_AND_VERSION_CHARACTERS_MAX),
            Hex8("boot"),
            _EVENT,
            Text("tone", "ID", ID_CHARACTERS_MAX),
        ),
    ),
    "serial": ((), (Text("serial", "S", SERIAL_CHARACTERS_MAX),)),
    "tone": (
        (
            _ID,
            _EAR,
            _HZ,
            Decimal("dbfs", "L", LEVEL_DBFS_RANGE),
            Whole("on", "MS", (50, 5000)),
            Whole("off", "MS", (0, 5000)),
            Whole("n", "N", (1, 20)),
            Whole("rise", "MS", (5, 100), half_of="on"),
        ),
        (),
    ),
    "stop": ((), ()),
    "ping": ((), (_EVENT, _US)),
    "ack": ((_EVENT,), ()),
    "events": ((Whole("after", "N"),), (Whole("event", "M"),)),
    "mask": ((_EAR, _HZ, Decimal("dbfs", "L", (LEVEL_DBFS_RANGE[0], NOISE_DBFS_MAX))), ()),
    "unmask": ((), ()),
}

EVENTS = {
    "tone-on": (_ID, _US),
    "tone-off": (_ID, _US, Choice("cut", ("0", "1"))),
    "button-down": (_US, _BUTTON),
    "button-up": (_US, _BUTTON),
}

# The codes of `error`, in the order in which a board looks for them.
ERRORS = ("hello", "version", "verb", "field", "limit", "busy", "noise")


def read(
    fields: "tuple[Any, ...]", given: "dict[str, str]", others: bool = False
) -> "dict[str, Any]":
    """Read the fields of a message.

    Parameters
    ----------
    fields : tuple
        As `COMMANDS` and `EVENTS` have them.
    given : dict of str to str
        As `decode` gives them.
    others : bool
        Whether there may be fields that are not known.

    Returns
    -------
    dict
        The values by key.

    Raises
    ------
    FieldError
        A field is missing, malformed, out of range, or unknown: of several the first.
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
        half_of = getattr(field, "half_of", "")
        if half_of and 2 * values[key] > values[half_of]:
            raise FieldError(key)
    for key in given:
        if key not in values and not others:
            raise FieldError(key)
    return values


def write(fields: "tuple[Any, ...]", values: "dict[str, Any]") -> "list[tuple[str, str | int]]":
    """Return the fields of a message as `encode` takes them.

    Parameters
    ----------
    fields : tuple
        As `COMMANDS` and `EVENTS` have them.
    values : dict
        A value for every one of them; the board that reads the message checks its range.
    """
    pairs = []
    for field in fields:
        value = values[field.key]
        if field.default is None or value != field.default:
            pairs.append((field.key, field.write(value)))
    return pairs


def _within(key: str, number: "Any", limits: "tuple[Any, Any]") -> "Any":
    low, high = limits
    if number < low or (high is not None and number > high):
        raise FieldError(key)
    return number
