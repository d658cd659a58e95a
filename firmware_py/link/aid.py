"""The line to the hearing aid: commands out, one answer each; and that a sound is over.

The other end is `device/hearing_aid/serve.py`, on the same machine; its page has the lines. Bytes
come in and go out; ports and clocks are elsewhere.
"""

import shlex
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import unquote

from firmware_py.link.frames import FrameError, LineReader, parse_decimal, parse_whole
from firmware_py.terms.person import Person
from firmware_py.terms.printable import show

LINE_BYTES_MAX: Final = 1024  # newline included
NAME_CHARACTERS_MAX: Final = 64  # of the aid, of its version, of the digest of its fit
SOUND_NUMBERS: Final = (0, 999_999_999)
RANGE_DB: Final = (-80.0, 80.0)  # of a number of a setting: more than any aid has
PRIOR_SD_DB: Final = (0.0, 80.0)
ANSWER_US_MAX: Final = 10_000_000  # an engine that begins to play may take its time
SPEECH_US_MAX: Final = 60_000_000  # the aid takes no speech that is longer than 30 s
NUMBERS: Final = ("overall_db", "tilt_db", "mid_db", "soft_db")
DIGITS_MAX: Final = 24  # with sign and point: more than any number of a line needs
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class AidGreeted:
    """The aid answers: what it is, and what it may be set to."""

    aid: str  # name and version
    fit: str  # the digest of its fit
    ranges_db: tuple[tuple[float, float], ...]  # of each number of a setting
    prior_sd_db: tuple[float, ...]  # of what people may want of it
    person: str | None = None  # whose fit it is, by an identifier; None: it does not say


@dataclass(frozen=True)
class SpeechBegan:
    """The aid plays the speech with this number, and says what comes out of its setting."""

    number: int
    comes_out_db: tuple[float, ...]


@dataclass(frozen=True)
class SpeechPlayed:
    """The aid has played the speech with this number to its end."""

    number: int


@dataclass(frozen=True)
class AidRefused:
    """The aid refused a command, `why` in its own words."""

    command: str
    why: str


@dataclass(frozen=True)
class AidGone:
    """The aid does not answer any more, cannot play, or says what nobody can read."""

    why: str


AidNotice = AidGreeted | SpeechBegan | SpeechPlayed | AidRefused | AidGone


class AidClient:
    """Speaks to the hearing aid: one command at a time, each with its answer."""

    def __init__(self) -> None:
        self.connected = False
        self._reader = LineReader(LINE_BYTES_MAX)
        self._waiting: deque[str] = deque()  # commands not sent yet
        self._asked = ""  # the command under way
        self._answer_by_us: int | None = None
        self._playing: int | None = None
        self._played_by_us: int | None = None

    @property
    def busy(self) -> bool:
        return self._asked != "" or bool(self._waiting)

    def connect(self) -> None:
        self.disconnect()
        self._waiting.append("hello")

    def disconnect(self) -> None:
        self.connected = False
        self._reader, self._asked = LineReader(LINE_BYTES_MAX), ""
        self._waiting.clear()
        self._answer_by_us = self._played_by_us = self._playing = None

    def play(self, number: int, setting_db: tuple[float, ...]) -> None:
        self._waiting.append(f"play number={number} {_setting(setting_db)}")

    def use(self, setting_db: tuple[float, ...]) -> None:
        self._waiting.append(f"set {_setting(setting_db)}")

    def stop(self) -> None:
        """Have the aid fall silent; what was not played yet is not played."""
        self._waiting = deque(command for command in self._waiting if command[:4] != "play")
        self._playing = self._played_by_us = None
        self._waiting.append("stop")

    def transmit(self, now_us: int) -> bytes:
        if self._asked or not self._waiting:
            return b""
        self._asked = self._waiting.popleft()
        self._answer_by_us = now_us + ANSWER_US_MAX
        return f"{self._asked}\n".encode("ascii")

    def next_deadline_us(self) -> int | None:
        """Return when something has to have come, None for any time."""
        waits = [us for us in (self._answer_by_us, self._played_by_us) if us is not None]
        return min(waits, default=None)

    def receive(self, data: bytes, now_us: int) -> list[AidNotice]:
        told: list[AidNotice] = []
        for line in self._reader.feed(data):
            told += self._line(line.removesuffix(b"\n"), now_us)
        if self._reader.dropped:
            return [*told, AidGone(f"it sends a line of more than {LINE_BYTES_MAX} bytes")]
        deadline_us = self.next_deadline_us()
        if deadline_us is not None and now_us > deadline_us:
            what = f"no answer to {self._asked.split()[0]!r}" if self._asked else "speech not over"
            return [*told, AidGone(f"{what} in time")]
        return told

    def _line(self, line: bytes, now_us: int) -> list[AidNotice]:
        try:
            text = line.decode("ascii").strip()
            if not text.isprintable():
                raise ValueError(text)
            verb, *words = shlex.split(text)
            told = dict(word.split("=", 1) for word in words)
        except ValueError:
            return [AidGone(f"it says {line[:60]!r}, which is no line of an aid")]
        match verb:
            case "played":
                return self._take_play(told)
            case "lost":
                return [AidGone(told.get("why", "it does not say why"))]
            case "ok" | "error" if self._asked:
                command, self._asked, self._answer_by_us = self._asked, "", None
                if verb == "error":
                    return [self._refusal(command, told)]
                return self._take_answer(command, told, now_us)
        return [AidGone(f"it says {text[:60]!r}, which nothing asked for")]

    def _take_answer(self, command: str, told: Mapping[str, str], now_us: int) -> list[AidNotice]:
        verb, *words = command.split()
        if verb == "play":
            self._playing = int(words[0].partition("=")[2])
            self._played_by_us = now_us + SPEECH_US_MAX
            return _began(self._playing, told)
        if verb != "hello":
            return []
        try:
            greeted = AidGreeted(
                f"{_name('aid', told)} {_name('version', told)}",
                _name("fit", told),
                tuple(_range(name, told) for name in NUMBERS),
                tuple(_prior_sd_db(f"{n.removesuffix('_db')}_sd_db", told) for n in NUMBERS),
                _person(told),
            )
        except KeyError as error:
            return [AidGone(f"its greeting lacks {error}")]
        except ValueError as error:
            return [AidGone(f"its greeting: {error}")]
        self.connected = True
        return [greeted]

    def _take_play(self, told: Mapping[str, str]) -> list[AidNotice]:
        try:
            number = whole_between(told.get("number", ""), *SOUND_NUMBERS)
        except ValueError as error:
            return [AidGone(f"it says that a sound is over: {error}")]
        if number != self._playing:
            return []  # of a sound that was stopped meanwhile
        self._playing = self._played_by_us = None
        return [SpeechPlayed(number)]

    @staticmethod
    def _refusal(command: str, told: Mapping[str, str]) -> AidNotice:
        why = " ".join(f"{name} {value}" for name, value in told.items())
        return AidRefused(command.split(maxsplit=1)[0], why or "it does not say why")


def _began(number: int, told: Mapping[str, str]) -> list[AidNotice]:
    """Return what comes out of a setting; an aid that does not say it does what it is asked."""
    if not any(name in told for name in NUMBERS):
        return []
    try:
        return [SpeechBegan(number, tuple(_decimal(n, told[n], RANGE_DB) for n in NUMBERS))]
    except KeyError as error:
        return [AidGone(f"what it plays lacks {error}")]
    except ValueError as error:
        return [AidGone(f"what it plays: {error}")]


def _name(name: str, told: Mapping[str, str]) -> str:
    text = told[name]
    if not 0 < len(text) <= NAME_CHARACTERS_MAX or not text.isascii() or not text.isprintable():
        raise ValueError(
            f"{name} is {show(text)}; allowed are 1 to {NAME_CHARACTERS_MAX} letters of ASCII "
            "that can be printed"
        )
    return text


def _range(name: str, told: Mapping[str, str]) -> tuple[float, float]:
    low, comma, high = told[name].partition(",")
    if not comma:
        raise ValueError(f"{name} is {show(told[name])}; allowed is LOW,HIGH")
    return _decimal(name, low, RANGE_DB), _decimal(name, high, RANGE_DB)


def _prior_sd_db(name: str, told: Mapping[str, str]) -> float:
    return _decimal(name, told[name], PRIOR_SD_DB)


def _decimal(name: str, text: str, limits: tuple[float, float]) -> float:
    try:
        return decimal_between(text, *limits)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _person(told: Mapping[str, str]) -> str | None:
    return Person(identifier=unquote(told["person"]) if "person" in told else None).identifier


def _setting(setting_db: tuple[float, ...]) -> str:
    pairs = zip(NUMBERS, setting_db, strict=True)
    return " ".join(f"{name}={value_db:g}" for name, value_db in pairs)


def whole_between(text: str, low: int, high: int) -> int:
    """Read a whole number of somebody else's line; `ValueError` if it is none, or not in range."""
    return _between(parse_whole, text, low, high)


def decimal_between(text: str, low: float, high: float) -> float:
    """Read a decimal of somebody else's line; `ValueError` if it is none, or not in range."""
    return _between(parse_decimal, text, low, high)


def _between(parse: Callable[[str], Number], text: str, low: Number, high: Number) -> Number:
    if len(text) > DIGITS_MAX:
        raise FrameError(f"number of {len(text)} characters; allowed are {DIGITS_MAX}")
    value = parse(text)
    if not low <= value <= high:
        raise FrameError(f"number {text}; allowed is {low:g} to {high:g}")
    return value
