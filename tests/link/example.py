"""A board and a host made from the wire page alone: an example for whoever builds a board.

`ExampleBoard` is a whole tone generator but for the sound: where a comment says so, a real one
plays. It shares no code with the product; `test_conformance.py` holds this board and the product's
own to the same promises, so that the page is enough to build one. To try a board of yours, let
`ExampleHost` talk to it.
"""

import re
import zlib
from typing import Final, NamedTuple, Protocol

FRAME_BYTES_MAX: Final = 128
EVENTS_KEPT_MAX: Final = 64
SILENCE_US: Final = 1_000_000
FRAME: Final = re.compile(
    r"([1-9][0-9]{0,8}) ([a-z-]+)((?: [a-z_]+=[!-)+-<>-~]+)*) \*([0-9a-f]{8})\n"
)
WHOLE: Final = r"0|-?[1-9][0-9]*"
DECIMAL: Final = rf"({WHOLE}|-0)(\.[0-9]+)?"
TONE: dict[str, str | int] = {
    "id": "r1", "ear": "r", "hz": "1000.00", "dbfs": "-80.00",
    "on": 200, "off": 100, "n": 3, "rise": 25,
}  # fmt: skip


class Frame(NamedTuple):
    number: int
    verb: str
    fields: dict[str, str]


def write(number: int, verb: str, **fields: str | int) -> bytes:
    text = " ".join([str(number), verb, *(f"{key}={value}" for key, value in fields.items())])
    return f"{text} *{zlib.crc32(text.encode()):08x}\n".encode()


def read(line: bytes) -> Frame | None:
    match = FRAME.fullmatch(line.decode("latin-1"))
    if match is None or len(line) > FRAME_BYTES_MAX:
        return None
    number, verb, rest, crc = match.groups()
    pairs = [(key, value) for key, _, value in (part.partition("=") for part in rest.split())]
    fields = dict(pairs)
    if len(fields) < len(pairs) or int(crc, 16) != zlib.crc32(line.rpartition(b" *")[0]):
        return None
    return Frame(int(number), verb, fields)


class Error(Exception):
    """A command that is answered by `error`."""

    def __init__(self, code: str, **fields: str | int) -> None:
        self.fields: dict[str, str | int] = {"code": code, **fields}


# A field is allowed what its pattern matches and, if it is a number, what lies in its range.
FIELDS: Final[dict[str, tuple[str, float, float]]] = {
    "wire": (WHOLE, 0, 999_999),
    "host": (r"[0-9a-f]{8}", 0, 0),
    "id": (r"(?!-$).{1,8}", 0, 0),
    "ear": (r"l|r", 0, 0),
    "hz": (DECIMAL, 100, 16_000),
    "dbfs": (DECIMAL, -160, 0),
    "on": (WHOLE, 50, 5000),
    "off": (WHOLE, 0, 5000),
    "n": (WHOLE, 1, 20),
    "rise": (WHOLE, 5, 100),
    "via": (WHOLE, 0, 1),
    "buttons": (WHOLE, 0, 3),
    "press": (WHOLE, 0, 5000),
    "hi": (WHOLE, 0, 1),
    "event": (WHOLE, 0, 999_999_999),
    "after": (WHOLE, 0, 999_999_999),
}
OPTIONAL: Final = ("via", "buttons", "press", "hi")  # in their order; 0 where they are missing
COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "hello": ("wire", "host"),
    "serial": (),
    "tone": ("id", "ear", "hz", "dbfs", "on", "off", "n", "rise"),
    "stop": (),
    "ping": (),
    "ack": ("event",),
    "events": ("after",),
    "mask": ("ear", "hz", "dbfs"),
    "unmask": (),
}


def check(key: str, fields: dict[str, str]) -> None:
    """Refuse a field that is missing, malformed or out of range."""
    pattern, low, high = FIELDS[key]
    value = fields.get(key, "")
    if re.fullmatch(pattern, value) is None:
        raise Error("field", name=key)
    if pattern in (WHOLE, DECIMAL) and not low <= float(value) <= high:
        raise Error("field", name=key)


class ExampleBoard:
    """A board that keeps the page's promises and plays nothing.

    Parameters
    ----------
    boot : int
        Another one at every start.
    limit_dbfs : float
        The level that nothing exceeds.
    has_noise : bool
        Whether it knows `mask` and `unmask`.
    """

    def __init__(self, boot: int, limit_dbfs: float = 0.0, has_noise: bool = True) -> None:
        self._boot = boot
        self._limit_dbfs = limit_dbfs
        self._has_noise = has_noise
        self._now_us = self._heard_us = 0
        self._incoming = b""
        self._outgoing: list[bytes] = []
        self._events: list[tuple[int, bytes]] = []
        self._newest = 0  # event
        self._host = ""
        self._answered: tuple[int, bytes] | None = None
        self._tone_id = "-"
        self._tone_ear = self._noise_ear = ""  # of what sounds
        self._tone_on_us = self._tone_end_us = 0
        self._press_us = self._press_buttons = 0  # which press ends it
        self._noise_lost = False
        self._down: list[int] = []

    def receive(self, data: bytes, now_us: int) -> None:
        self.advance(now_us)
        *lines, self._incoming = (self._incoming + data).split(b"\n")
        self._incoming = self._incoming[-FRAME_BYTES_MAX:]
        for line in lines:
            frame = read(line + b"\n")
            if frame is not None:
                self._heard_us = now_us
                self._take(frame)

    def advance(self, now_us: int) -> None:
        """Let time pass: a tone ends, and all ends a second after the host's last word."""
        silent_us = self._heard_us + SILENCE_US
        if self._tone_ear and self._tone_end_us <= min(now_us, silent_us):
            self._tone_ear = ""
            self._tell("tone-off", id=self._tone_id, us=self._tone_end_us, cut=0)
        if silent_us <= now_us:
            noise = self._noise_ear
            if noise or self._tone_ear:
                self._now_us = silent_us
                self._fall_silent()
                self._noise_lost = noise != ""
        self._now_us = now_us

    def transmit(self) -> bytes:
        """Return what is to be sent, and forget it."""
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        return data

    def button(self, button: int, down: bool, at_us: int) -> None:
        """Take in that a button, debounced, went down or up."""
        self._down = [one for one in self._down if one != button] + [button] * down
        which = {} if button == 1 else {"button": button}
        self._tell("button-down" if down else "button-up", us=at_us, **which)
        since_us = at_us - self._tone_on_us
        if down and self._press_buttons & button and since_us >= self._press_us:
            self._cut()

    def _tell(self, verb: str, **fields: str | int) -> None:
        self._newest += 1
        line = write(self._newest, verb, **fields)
        self._events = [*self._events, (self._newest, line)][-EVENTS_KEPT_MAX:]
        if self._host:
            self._outgoing.append(line)

    def _take(self, frame: Frame) -> None:
        number, verb, fields = frame
        try:
            if verb != "hello" and not self._host:
                raise Error("hello")
            if verb == "hello":
                self._check_hello(fields)
        except Error as error:  # it leaves no trace
            self._outgoing.append(write(number, "error", **error.fields))
            return
        if self._answered is not None and number == self._answered[0]:
            self._outgoing.append(self._answered[1])
            return
        if self._answered is not None and number < self._answered[0] and verb != "hello":
            return
        before = len(self._outgoing)
        try:
            answer = write(number, "ok", **self._do(verb, fields))
        except Error as error:
            answer = write(number, "error", **error.fields)
        self._answered = number, answer
        self._outgoing.insert(before, answer)  # before the events that it caused

    def _check_hello(self, fields: dict[str, str]) -> None:
        check("wire", fields)
        if fields["wire"] != "1":
            raise Error("version", wire=1)
        self._check_fields("hello", fields)
        if fields["host"] != self._host:
            self._answered = None
            self._outgoing.clear()

    def _check_fields(self, verb: str, fields: dict[str, str]) -> None:
        if verb not in COMMANDS or (verb in ("mask", "unmask") and not self._has_noise):
            raise Error("verb")
        for key in COMMANDS[verb]:
            check(key, fields)
        if verb == "tone" and 2 * int(fields["rise"]) > int(fields["on"]):
            raise Error("field", name="rise")
        allowed = COMMANDS[verb] + {"tone": OPTIONAL, "mask": ("hi",)}.get(verb, ())
        for key in OPTIONAL:
            if key in fields and key in allowed:
                check(key, fields)
        for key in fields:
            if key not in allowed:
                raise Error("field", name=key[:16])

    def _do(self, verb: str, fields: dict[str, str]) -> dict[str, str | int]:
        self._check_fields(verb, fields)
        match verb:
            case "hello":
                return self._hello(fields["host"])
            case "serial":
                noise = {"in_noise": 1} if self._has_noise else {}
                return {"serial": "example-1", "press_ends": 1, "transducers": 3, **noise, "hi": 1}
            case "tone":
                self._play(fields)
            case "mask":
                self._mask(fields)
            case "unmask":
                self._noise_ear, self._noise_lost = "", False
            case "stop":
                self._fall_silent()
            case "ping":
                return {"event": self._newest, "us": self._now_us}
            case "ack":
                upto = self._event("event", fields)
                self._events = [event for event in self._events if event[0] > upto]
            case "events":
                after = self._event("after", fields)
                self._outgoing += [line for number, line in self._events if number > after]
                return {"event": self._newest}
        return {}

    def _event(self, key: str, fields: dict[str, str]) -> int:
        if int(fields[key]) > self._newest:
            raise Error("field", name=key)
        return int(fields[key])

    def _hello(self, host: str) -> dict[str, str | int]:
        newest = self._newest
        if host != self._host:
            self._host = host
            self._fall_silent()
            newest = self._newest
            for button in self._down.copy():
                self.button(button, True, self._now_us)
        return {
            "wire": 1, "board": "mine", "version": "1", "boot": f"{self._boot:08x}",
            "event": newest, "tone": self._tone_id,
        }  # fmt: skip

    def _play(self, fields: dict[str, str]) -> None:
        if float(fields["dbfs"]) > self._limit_dbfs:
            raise Error("limit")
        quiet = float(fields["dbfs"]) <= -20.0 and fields.get("via", "0") == "0"
        if self._tone_ear or (self._noise_ear == fields["ear"] and not quiet):
            raise Error("busy")
        if self._noise_lost:
            raise Error("noise")
        on_ms, off_ms, pulses = (int(fields[key]) for key in ("on", "off", "n"))
        self._tone_id, self._tone_ear = fields["id"], fields["ear"]
        self._press_us = 1000 * int(fields.get("press", 0))
        self._press_buttons = int(fields.get("buttons", 0))
        self._tone_on_us = self._now_us
        self._tone_end_us = self._now_us + 1000 * (pulses * on_ms + (pulses - 1) * off_ms)
        self._tell("tone-on", id=self._tone_id, us=self._now_us)  # a real board plays it now

    def _mask(self, fields: dict[str, str]) -> None:
        if float(fields["dbfs"]) > -10.0:
            raise Error("field", name="dbfs")
        if float(fields["dbfs"]) > self._limit_dbfs:
            raise Error("limit")
        if self._tone_ear == fields["ear"]:
            raise Error("busy")
        self._noise_ear, self._noise_lost = fields["ear"], False  # a real board plays it now

    def _fall_silent(self) -> None:
        self._noise_ear, self._noise_lost = "", False
        self._cut()

    def _cut(self) -> None:
        if self._tone_ear:
            self._tone_ear = ""
            self._tell("tone-off", id=self._tone_id, us=self._now_us, cut=1)


class Board(Protocol):
    """What `ExampleHost` talks to."""

    def receive(self, data: bytes, now_us: int) -> None:
        """Take bytes from the host."""

    def advance(self, now_us: int) -> None:
        """Let time pass."""

    def transmit(self) -> bytes:
        """Return what is to be sent, and forget it."""


class ExampleHost:
    """The other end of the line, with a clock that its user turns."""

    def __init__(self, board: Board, hello: bool = True) -> None:
        self.board = board
        self.now_us = 0
        self.sequence = 0
        if hello:
            self.ask("hello", wire=1, host="0000000a")

    def send(self, line: bytes) -> list[Frame]:
        self.board.receive(line, self.now_us)
        return self.read()

    def read(self) -> list[Frame]:
        frames = [read(line) for line in self.board.transmit().splitlines(keepends=True)]
        assert None not in frames, "the board sends garbage"
        return [frame for frame in frames if frame is not None]

    def ask(self, verb: str, **fields: str | int) -> list[Frame]:
        self.sequence += 1
        return self.send(write(self.sequence, verb, **fields))

    def answer(self, verb: str, **fields: str | int) -> tuple[str, dict[str, str]]:
        """Send a command; return the verb and the fields of its answer."""
        (answer,) = (f for f in self.ask(verb, **fields) if f.verb in ("ok", "error"))
        assert answer.number == self.sequence
        return answer.verb, answer.fields

    def until(self, now_us: int) -> list[Frame]:
        """Let time pass with pings often enough; return the events."""
        frames = []
        while self.now_us < now_us:
            self.now_us = min(self.now_us + 500_000, now_us)
            frames += self.ask("ping")
        return [frame for frame in frames if frame.verb not in ("ok", "error")]
