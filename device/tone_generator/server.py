"""The board's side of the wire: bytes, times and buttons in, frames and sound out.

`firmware_py/link/README.md` is the definition. There is no port and no clock here: times come in,
microseconds since the board's start. What is to be sent waits in a list until the port takes it.
"""

from device.tone_generator.synthesis import NOISE_LEVEL_DBFS_MAX
from firmware_py.link.frames import (
    FrameError,
    LineReader,
    decode,
    encode,
    parse_decimal,
    parse_whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    Pairs = tuple[tuple[str, str | int], ...]

    class Output(Protocol):
        """Where the sound goes; `outputs.py` says what each of these is."""

        has_noise: bool
        began: bool
        ended: bool
        began_us: int
        ended_us: int

        def play(
            self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: tuple[int, ...]
        ) -> None:
            """Take a tone: on, off, number of pulses, rise."""

        def cut(self) -> None:
            """Fall silent at once."""

        def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
            """Play noise."""

        def unmask(self) -> None:
            """Fade it."""


WIRE_VERSION = 1
BOARD_NAME = "pico"
BOARD_VERSION = "1"
NAME_AND_VERSION_CHARACTERS_MAX = 6
ID_CHARACTERS_MAX = 8
ECHOED_KEY_CHARACTERS_MAX = 16
NO_TONE = "-"

EVENTS_KEPT_MAX = 64
OUTPUT_FRAMES_MAX = 2 * EVENTS_KEPT_MAX + 16  # every event sent and asked again + answers
HOST_SILENCE_US = 1000000

EARS = ("l", "r")
FREQUENCY_HZ_RANGE = (100.0, 16000.0)
LEVEL_DBFS_RANGE = (-160.0, 0.0)
NOISE_LEVEL_DBFS_RANGE = (-160.0, NOISE_LEVEL_DBFS_MAX)
ON_MS_RANGE = (50, 5000)
OFF_MS_RANGE = (0, 5000)
PULSES_RANGE = (1, 20)
RISE_MS_RANGE = (5, 100)


class RefusedError(Exception):
    """A command that is answered by an error."""

    def __init__(self, code: str, fields: "Pairs" = ()) -> None:
        super().__init__(code)
        self.fields = (("code", code),) + fields


class ToneGenerator:
    """A tone generator as the host sees it.

    Parameters
    ----------
    output : Output
        Where the sound goes.
    limits_dbfs : tuple of float
        Left and right: the level that nothing exceeds, whatever is asked for.
    boot : int
        The number of this start of the board, 0 to 2**32 - 1.
    serial : str
        Of the board, for ever: 1 to 32 characters.
    name : str
        What kind of board it is; with its version at most 6 characters, or the answer to hello is
        too long.

    Attributes
    ----------
    dropped : int
        Frames dropped: garbage, numbers of long ago, full output.
    """

    def __init__(
        self,
        output: "Output",
        limits_dbfs: "tuple[float, float]",
        boot: int,
        serial: str,
        name: str = BOARD_NAME,
    ) -> None:
        assert len(name) + len(BOARD_VERSION) <= NAME_AND_VERSION_CHARACTERS_MAX
        self._output = output
        self._limits_dbfs = limits_dbfs
        self._boot = f"{boot:08x}"
        self._serial = serial
        self._name = name
        self._reader = LineReader()
        self._heard_host_us = 0
        self._now_us = self._told_us = 0
        self._host: str | None = None
        self._last_sequence = 0
        self._last_answer: bytes | None = None
        self._tone_id = NO_TONE  # the last one accepted
        self._tone_ear = 0
        self._accepted = False  # a tone that has not ended
        self._told_on = False
        self._noise_ear = -1
        self._noise_lost = False  # it ended by itself, and the host may not know
        self._events: list[tuple[int, bytes]] = []
        self._newest_event = 0
        self._down: list[int] = []  # buttons
        self._waiting: list[bytes] = []
        self.dropped = 0
        self._commands: dict[str, Callable[[Fields], Pairs]] = {
            "hello": self._hello,
            "serial": self._identify,
            "tone": self._play,
            "stop": self._stop,
            "ping": self._ping,
            "ack": self._acknowledge,
            "events": self._repeat_events,
        }
        if output.has_noise:
            self._commands["mask"] = self._mask
            self._commands["unmask"] = self._unmask

    @property
    def sounding(self) -> bool:
        """Return whether a tone or noise is playing."""
        return self._accepted or self._noise_ear >= 0

    def quiet_us(self, now_us: int) -> int:
        """Return for how long no frame has come."""
        return now_us - self._heard_host_us

    def next_frame(self) -> "bytes | None":
        """Return the next frame to be sent, None if there is none; `sent` forgets it."""
        return self._waiting[0] if self._waiting else None

    def sent(self) -> None:
        """Forget the frame that `next_frame` returned."""
        self._waiting.pop(0)

    def advance(self, now_us: int) -> None:
        """Tell what has happened, and fall silent when the host has.

        Parameters
        ----------
        now_us : int
            Board time, to which the output has been advanced.
        """
        self._now_us = now_us
        if self._accepted:
            output = self._output
            if output.began and not self._told_on:
                self._tell_on(output.began_us)
            if output.ended and self._told_on:
                self._accepted = False
                self._tell_off(output.ended_us, 0)
        if self.sounding and now_us - self._heard_host_us >= HOST_SILENCE_US:
            lost = self._noise_ear >= 0
            self._silence()
            self._noise_lost = lost

    def button(self, number: int, down: bool, at_us: int) -> None:
        """Tell that a button has gone down or up."""
        if down:
            self._down.append(number)
        elif number in self._down:
            self._down.remove(number)
        self._tell_button(number, down, at_us)

    def _tell_button(self, number: int, down: bool, at_us: int) -> None:
        fields: Pairs = (("us", at_us),)
        if number != 1:
            fields = (("us", at_us), ("button", number))
        self._happened("button-down" if down else "button-up", fields)

    def receive(self, data: bytes, now_us: int, told_us: int) -> None:
        """Take bytes from the host.

        Parameters
        ----------
        data : bytes
        now_us : int
            Board time.
        told_us : int
            Up to when everything that happened has been told: at most `now_us`.
        """
        for line in self._reader.feed(data):
            try:
                sequence, verb, fields = decode(line)
            except FrameError:
                self.dropped += 1
                continue
            self._heard_host_us = now_us
            self._now_us = now_us
            self._told_us = told_us
            self._take_command(sequence, verb, Fields(fields))

    # Events

    def _tell_on(self, at_us: int) -> None:
        self._told_on = True
        self._happened("tone-on", (("id", self._tone_id), ("us", at_us)))

    def _tell_off(self, at_us: int, cut: int) -> None:
        self._happened("tone-off", (("id", self._tone_id), ("us", at_us), ("cut", cut)))

    def _silence(self) -> None:
        # Whatever sounds is cut; a tone that had not begun yet has begun and ended now.
        self._noise_lost = False
        if self._noise_ear >= 0:
            self._noise_ear = -1
            self._output.unmask()
        if not self._accepted:
            return
        self._accepted = False
        self._output.cut()
        if not self._told_on:
            self._tell_on(self._now_us)
        self._tell_off(self._now_us, 1)

    def _happened(self, verb: str, fields: "Pairs") -> None:
        self._newest_event += 1
        frame = encode(self._newest_event, verb, fields)
        self._events.append((self._newest_event, frame))
        if len(self._events) > EVENTS_KEPT_MAX:
            self._events.pop(0)
        self._send(frame)

    def _send(self, frame: bytes, place: int = -1) -> None:
        if len(self._waiting) >= OUTPUT_FRAMES_MAX:
            self.dropped += 1
        elif place < 0:
            self._waiting.append(frame)
        else:
            self._waiting.insert(place, frame)

    # Commands

    def _take_command(self, sequence: int, verb: str, fields: "Fields") -> None:
        try:
            self._check_conversation(verb, fields)
        except RefusedError as refusal:  # outside any conversation: nothing to remember
            self._send(encode(sequence, "error", refusal.fields))
            return
        if self._last_answer is not None and sequence == self._last_sequence:
            self._send(self._last_answer)
        elif self._last_answer is not None and sequence < self._last_sequence and verb != "hello":
            self.dropped += 1
        else:
            place = len(self._waiting)
            answer = self._done(sequence, verb, fields)
            self._last_sequence, self._last_answer = sequence, answer
            self._send(answer, place)  # before the events the command caused

    def _check_conversation(self, verb: str, fields: "Fields") -> None:
        # A hello that is right, or a known host; a new host finds the line and the numbers fresh.
        if verb != "hello":
            if self._host is None:
                raise RefusedError("hello")
            return
        if fields.whole("wire", (0, 999999)) != WIRE_VERSION:
            raise RefusedError("version", (("wire", WIRE_VERSION),))
        host = fields.hex8("host")
        fields.end()
        if host != self._host:
            self._last_answer = None
            self._waiting = []

    def _done(self, sequence: int, verb: str, fields: "Fields") -> bytes:
        # Does a command and gives the answer.
        try:
            if verb not in self._commands:
                raise RefusedError("verb")
            return encode(sequence, "ok", self._commands[verb](fields))
        except RefusedError as refusal:
            return encode(sequence, "error", refusal.fields)

    def _hello(self, fields: "Fields") -> "Pairs":
        host = fields.hex8("host")
        is_new = host != self._host
        if is_new:
            self._host = host
            self._silence()
        newest = self._newest_event
        if is_new:  # who has just come cannot know what is held down
            for button in self._down:
                self._tell_button(button, True, self._now_us)
        return (
            ("wire", WIRE_VERSION),
            ("board", self._name),
            ("version", BOARD_VERSION),
            ("boot", self._boot),
            ("event", newest),
            ("tone", self._tone_id),
        )

    def _identify(self, fields: "Fields") -> "Pairs":
        fields.end()
        return (("serial", self._serial),)

    def _play(self, fields: "Fields") -> "Pairs":
        tone_id = fields.text("id")
        if len(tone_id) > ID_CHARACTERS_MAX or tone_id == NO_TONE:
            raise _refused("id")
        ear = fields.ear("ear")
        frequency_hz = fields.decimal("hz", FREQUENCY_HZ_RANGE)
        level_dbfs = fields.decimal("dbfs", LEVEL_DBFS_RANGE)
        on_ms = fields.whole("on", ON_MS_RANGE)
        off_ms = fields.whole("off", OFF_MS_RANGE)
        pulses = fields.whole("n", PULSES_RANGE)
        rise_ms = fields.whole("rise", RISE_MS_RANGE)
        if 2 * rise_ms > on_ms:
            raise _refused("rise")
        fields.end()
        if level_dbfs > self._limits_dbfs[ear]:
            raise RefusedError("limit")
        if self._accepted or self._noise_ear == ear:
            raise RefusedError("busy")
        if self._noise_lost:
            raise RefusedError("noise")
        self._output.play(ear, frequency_hz, level_dbfs, (on_ms, off_ms, pulses, rise_ms))
        self._accepted = True
        self._told_on = False
        self._tone_id = tone_id
        self._tone_ear = ear
        return ()

    def _stop(self, fields: "Fields") -> "Pairs":
        fields.end()
        self._silence()
        return ()

    def _mask(self, fields: "Fields") -> "Pairs":
        ear = fields.ear("ear")
        frequency_hz = fields.decimal("hz", FREQUENCY_HZ_RANGE)
        level_dbfs = fields.decimal("dbfs", NOISE_LEVEL_DBFS_RANGE)
        fields.end()
        if level_dbfs > self._limits_dbfs[ear]:
            raise RefusedError("limit")
        if self._accepted and self._tone_ear == ear:
            raise RefusedError("busy")
        self._output.mask(ear, frequency_hz, level_dbfs)
        self._noise_ear = ear
        self._noise_lost = False
        return ()

    def _unmask(self, fields: "Fields") -> "Pairs":
        fields.end()
        self._noise_lost = False
        if self._noise_ear >= 0:
            self._noise_ear = -1
            self._output.unmask()
        return ()

    def _ping(self, fields: "Fields") -> "Pairs":
        fields.end()
        return (("event", self._newest_event), ("us", self._told_us))

    def _acknowledge(self, fields: "Fields") -> "Pairs":
        event = fields.whole("event", (0, self._newest_event))
        fields.end()
        while self._events and self._events[0][0] <= event:
            self._events.pop(0)
        return ()

    def _repeat_events(self, fields: "Fields") -> "Pairs":
        after = fields.whole("after", (0, self._newest_event))
        fields.end()
        for number, frame in self._events:
            if number > after:
                self._send(frame)
        return (("event", self._newest_event),)


class Fields:
    """The fields of a command, read one by one and checked; what is not read is unknown.

    Parameters
    ----------
    given : dict of str to str
        As `decode` gives them.
    """

    def __init__(self, given: "dict[str, str]") -> None:
        self._given = given
        self._read: list[str] = []

    def text(self, key: str) -> str:
        """Return a value."""
        self._read.append(key)
        if key not in self._given:
            raise _refused(key)
        return self._given[key]

    def whole(self, key: str, limits: "tuple[int, int]") -> int:
        """Return a whole number within limits."""
        try:
            number = parse_whole(self.text(key))
        except FrameError:
            raise _refused(key) from None
        if not limits[0] <= number <= limits[1]:
            raise _refused(key)
        return number

    def decimal(self, key: str, limits: "tuple[float, float]") -> float:
        """Return a decimal within limits."""
        try:
            number = parse_decimal(self.text(key))
        except FrameError:
            raise _refused(key) from None
        if not limits[0] <= number <= limits[1]:
            raise _refused(key)
        return number

    def hex8(self, key: str) -> str:
        """Return eight lower-case hex digits."""
        text = self.text(key)
        if len(text) != 8:
            raise _refused(key)
        for character in text:
            if character not in "0123456789abcdef":
                raise _refused(key)
        return text

    def ear(self, key: str) -> int:
        """Return the channel of an ear."""
        text = self.text(key)
        if text not in EARS:
            raise _refused(key)
        return EARS.index(text)

    def end(self) -> None:
        """Refuse what nobody has read."""
        for key in self._given:
            if key not in self._read:
                raise _refused(key)


def _refused(key: str) -> RefusedError:
    return RefusedError("field", (("name", key[:ECHOED_KEY_CHARACTERS_MAX]),))
