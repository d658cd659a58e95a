"""The line to the hearing aid: commands out, one answer each; and that a sound is over.

The other end is `device/hearing_aid/serve.py`, on the same machine; its page has the lines. Bytes
come in and go out; ports and clocks are elsewhere.
"""

import shlex
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from firmware_py.procedure.person import Person

LINE_BYTES_MAX: Final = 1024
ANSWER_US_MAX: Final = 10_000_000  # an engine that begins to play may take its time
SPEECH_US_MAX: Final = 60_000_000  # the aid takes no speech that is longer than 30 s
NUMBERS: Final = ("overall_db", "tilt_db", "mid_db", "soft_db")


@dataclass(frozen=True)
class AidGreeted:
    """The aid answers: what it is, and what it may be set to."""

    aid: str  # name and version
    fit: str  # the digest of its fit
    ranges_db: tuple[tuple[float, float], ...]  # of each number of a setting
    prior_sd_db: tuple[float, ...]  # of what people may want of it
    person: str | None = None  # whose fit it is, by an identifier; None: it does not say


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


AidNotice = AidGreeted | SpeechPlayed | AidRefused | AidGone


class AidClient:
    """Speaks to the hearing aid: one command at a time, each with its answer."""

    def __init__(self) -> None:
        self.connected = False
        self._partial = b""
        self._waiting: deque[str] = deque()  # commands not sent yet
        self._asked = ""  # the command under way
        self._answer_by_us: int | None = None
        self._playing: int | None = None
        self._played_by_us: int | None = None

    @property
    def busy(self) -> bool:
        """Return whether the aid owes an answer."""
        return self._asked != "" or bool(self._waiting)

    def connect(self) -> None:
        """Begin a conversation; what was under way is forgotten."""
        self.disconnect()
        self._waiting.append("hello")

    def disconnect(self) -> None:
        """Forget everything of this conversation."""
        self.connected = False
        self._partial, self._asked = b"", ""
        self._waiting.clear()
        self._answer_by_us = self._played_by_us = self._playing = None

    def play(self, number: int, setting_db: tuple[float, ...]) -> None:
        """Have the speech played once at this setting."""
        self._waiting.append(f"play number={number} {_setting(setting_db)}")

    def use(self, setting_db: tuple[float, ...]) -> None:
        """Have the aid go over to this setting, and stay there."""
        self._waiting.append(f"set {_setting(setting_db)}")

    def stop(self) -> None:
        """Have the aid fall silent; what was not played yet is not played."""
        self._waiting = deque(command for command in self._waiting if command[:4] != "play")
        self._playing = self._played_by_us = None
        self._waiting.append("stop")

    def transmit(self, now_us: int) -> bytes:
        """Return what is to be sent now."""
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
        """Take in bytes and the time, and return what they tell."""
        self._partial += data
        *lines, self._partial = self._partial.split(b"\n")
        told: list[AidNotice] = []
        for line in lines:
            told += self._line(line, now_us)
        if len(self._partial) > LINE_BYTES_MAX:
            return [*told, AidGone("it sends a line without an end")]
        deadline_us = self.next_deadline_us()
        if deadline_us is not None and now_us > deadline_us:
            what = f"no answer to {self._asked.split()[0]!r}" if self._asked else "speech not over"
            return [*told, AidGone(f"{what} in time")]
        return told

    def _line(self, line: bytes, now_us: int) -> list[AidNotice]:
        try:
            text = line.decode("ascii").strip()
            verb, *words = shlex.split(text)
            told = dict(word.split("=", 1) for word in words)
        except ValueError:
            return [AidGone(f"it says {line[:60]!r}, which is no line of an aid")]
        match verb:
            case "played":
                return self._played(told)
            case "lost":
                return [AidGone(told.get("why", "it does not say why"))]
            case "ok" | "error" if self._asked:
                command, self._asked, self._answer_by_us = self._asked, "", None
                if verb == "error":
                    return [self._refused(command, told)]
                return self._done(command, told, now_us)
        return [AidGone(f"it says {text[:60]!r}, which nothing asked for")]

    def _done(self, command: str, told: Mapping[str, str], now_us: int) -> list[AidNotice]:
        verb, *words = command.split()
        if verb == "play":
            self._playing = int(words[0].partition("=")[2])
            self._played_by_us = now_us + SPEECH_US_MAX
        if verb != "hello":
            return []
        try:
            greeted = AidGreeted(
                f"{told['aid']} {told['version']}",
                told["fit"],
                tuple(_range(told[name]) for name in NUMBERS),
                tuple(float(told[f"{name.removesuffix('_db')}_sd_db"]) for name in NUMBERS),
                Person(identifier=unquote(told["person"]) if "person" in told else None).identifier,
            )
        except (KeyError, ValueError) as error:
            return [AidGone(f"its greeting lacks or garbles {error}")]
        self.connected = True
        return [greeted]

    def _played(self, told: Mapping[str, str]) -> list[AidNotice]:
        number = told.get("number", "")
        if not number.isdecimal() or int(number) != self._playing:
            return []  # of a sound that was stopped meanwhile
        self._playing = self._played_by_us = None
        return [SpeechPlayed(int(number))]

    @staticmethod
    def _refused(command: str, told: Mapping[str, str]) -> AidNotice:
        why = " ".join(f"{name} {value}" for name, value in told.items())
        return AidRefused(command.split(maxsplit=1)[0], why or "it does not say why")


def _range(text: str) -> tuple[float, float]:
    low, high = text.split(",")
    return float(low), float(high)


def _setting(setting_db: tuple[float, ...]) -> str:
    pairs = zip(NUMBERS, setting_db, strict=True)
    return " ".join(f"{name}={value_db:g}" for name, value_db in pairs)
