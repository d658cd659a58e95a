"""The tone generator's side of the wire as a pure object, with a listener at its buttons.

There is no clock and no port here: bytes and times come in, bytes come out. Everything that happens
by itself (a tone's end, a press) has a due time in board time and happens at exactly that time,
however far `SimulatedBoard.advance` goes at once. `firmware_py/link/README.md` is the definition.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from device.simulator.listener import (
    HEARD_BUTTON,
    IDLE_SLOT_S,
    START,
    UNSURE_BUTTON,
    Ear,
    Listener,
    Noise,
    Press,
)
from firmware_py.calibration.levels import FREQUENCIES_HZ, NOISE_CORRECTION, NOISE_DBFS_MAX
from firmware_py.link.frames import (
    FrameError,
    LineReader,
    decode,
    encode,
    parse_decimal,
    parse_whole,
)

WIRE_VERSION: Final = 1
BOARD_NAME: Final = "sim"
BOARD_VERSION: Final = "1"
SERIAL: Final = "51b0000000000001"  # of a board that is given no other
SERIAL_CHARACTERS_MAX: Final = 32
NAME_AND_VERSION_CHARACTERS_MAX: Final = 6  # or the longest answer to hello is too long
ID_CHARACTERS_MAX: Final = 8  # or the longest tone is too long
ECHOED_KEY_CHARACTERS_MAX: Final = 16  # of a key the board does not know, in its answer

EVENTS_KEPT_MAX: Final = 64  # unacknowledged: some 15 trials of four events
OUTPUT_FRAMES_MAX: Final = 2 * EVENTS_KEPT_MAX + 16  # every event sent and asked again + answers
PLAYED_MAX: Final = 4096  # tones remembered for tests; a session has a few hundred
HOST_SILENCE_US: Final = 1_000_000  # the wire page: 1 s
FULL_SCALE_DB_HL: Final = 120.0  # nominal, uncalibrated: dB HL of 0 dBFS

PRESSES_DUE_MAX: Final = 8  # nobody has more presses in mind
PRESS_GAP_US: Final = 50_000  # from a release to the next press at the soonest
REACTION_AFTER_CUT_US: Final = 300_000  # a press this soon after a cut was already on its way
_IDLE_SLOT_US: Final = round(IDLE_SLOT_S * 1e6)

FREQUENCY_HZ_RANGE: Final = (100.0, 16000.0)
LEVEL_DBFS_RANGE: Final = (-160.0, 0.0)
NOISE_DBFS_RANGE: Final = (-160.0, NOISE_DBFS_MAX)
ON_MS_RANGE: Final = (50, 5000)
OFF_MS_RANGE: Final = (0, 5000)
PULSES_RANGE: Final = (1, 20)
RISE_MS_RANGE: Final = (5, 100)

_EARS: Final[dict[str, Ear]] = {"l": "left", "r": "right"}
_HEX_DIGITS: Final = frozenset("0123456789abcdef")

assert len(BOARD_NAME) + len(BOARD_VERSION) <= NAME_AND_VERSION_CHARACTERS_MAX
assert OUTPUT_FRAMES_MAX > EVENTS_KEPT_MAX  # one answer to "events" is never cut short


@dataclass(frozen=True)
class PlayedTone:
    """A tone that came out of the earphones.

    Parameters
    ----------
    tone_id : str
    ear : Ear
    frequency_hz : float
    level_dbfs : float
    onset_us : int
        Board time.
    cut : bool
        It was silenced before its end. (False while it sounds.)
    noise : PlayedNoise or None
        That sounded in the other ear when it began.
    """

    tone_id: str
    ear: Ear
    frequency_hz: float
    level_dbfs: float
    onset_us: int
    cut: bool
    noise: "PlayedNoise | None" = None


@dataclass(frozen=True)
class PlayedNoise:
    """Noise that comes out of an earphone: ear, centre of its band, RMS re full scale."""

    ear: Ear
    frequency_hz: float
    level_dbfs: float


class SimulatedBoard:
    """A tone generator with a listener at its buttons.

    Parameters
    ----------
    listener : Listener
        Who presses the buttons.
    boot : int
        The number of this start of the board, 0 to 2**32 - 1.
    serial : str
        Of the board, for ever: 1 to 32 characters. Empty: it does not know the command, as boards
        of before did not.
    full_scale_db_hl : float
        The level in dB HL that 0 dBFS gives.
    output_limit_dbfs : float
        Tones and noise above this level are refused.
    host_silence_us : int
        Tone and noise are cut when no valid frame came for so long, in board time, above 0.
    has_noise : bool
        Whether it knows `mask` and `unmask`.

    Raises
    ------
    ValueError
        A parameter is out of its range.
    """

    def __init__(
        self,
        listener: Listener,
        *,
        boot: int = 1,
        serial: str = SERIAL,
        full_scale_db_hl: float = FULL_SCALE_DB_HL,
        output_limit_dbfs: float = 0.0,
        host_silence_us: int = HOST_SILENCE_US,
        has_noise: bool = True,
    ) -> None:
        if not 0 <= boot < 2**32:
            raise ValueError(f"boot is {boot}, allowed are 0 to {2**32 - 1}")
        if len(serial) > SERIAL_CHARACTERS_MAX:
            raise ValueError(
                f"serial is {serial!r}, allowed are up to {SERIAL_CHARACTERS_MAX} characters"
            )
        if not LEVEL_DBFS_RANGE[0] <= output_limit_dbfs <= LEVEL_DBFS_RANGE[1]:
            raise ValueError(
                f"output_limit_dbfs is {output_limit_dbfs}, allowed are {LEVEL_DBFS_RANGE[0]:g} to "
                f"{LEVEL_DBFS_RANGE[1]:g}"
            )
        if not math.isfinite(full_scale_db_hl):
            raise ValueError(f"full_scale_db_hl is {full_scale_db_hl}, allowed is a number")
        if host_silence_us <= 0:
            raise ValueError(f"host_silence_us is {host_silence_us}, allowed is above 0")
        self._listener = listener
        self._boot = boot
        self._serial = serial
        self._full_scale_db_hl = full_scale_db_hl
        self._output_limit_dbfs = output_limit_dbfs
        self._host_silence_us = host_silence_us

        self._now_us = 0
        self._heard_host_us = 0
        self._reader = LineReader()
        self._dropped = 0
        self._output: list[bytes] = []
        self._events = _Events()
        self._host: str | None = None
        self._last: tuple[int, bytes] | None = None  # the newest command's number and answer
        self._last_tone_id = START
        self._tone: _Sounding | None = None
        self._noise: PlayedNoise | None = None
        self._noise_lost = False  # it ended by itself, and the host may not know
        self._fingers = (_Finger(HEARD_BUTTON), _Finger(UNSURE_BUTTON))
        self._idle: _Idle | None = _Idle(START, 0, 0)
        self._played: deque[PlayedTone] = deque(maxlen=PLAYED_MAX)
        self._commands: dict[str, Callable[[_Fields], dict[str, str | int]]] = {
            "hello": self._hello,
            "tone": self._play,
            "stop": self._stop,
            "ping": self._ping,
            "ack": self._acknowledge,
            "events": self._repeat_events,
        }
        if serial:
            self._commands["serial"] = self._identify
        if has_noise:
            self._commands |= {"mask": self._mask, "unmask": self._unmask}

    @property
    def noise(self) -> PlayedNoise | None:
        """The noise that sounds, if any."""
        return self._noise

    @property
    def played(self) -> list[PlayedTone]:
        """The newest tones that were played, oldest first, at most `PLAYED_MAX`."""
        return list(self._played)

    @property
    def dropped(self) -> int:
        """Lines and frames dropped: garbage, over-long lines, numbers of long ago, full output."""
        return self._dropped + self._reader.dropped

    def next_deadline_us(self) -> int | None:
        """Give the board time of the next thing that happens by itself, if any."""
        due = [due_us for due_us, _ in self._agenda() if due_us is not None]
        return min(due, default=None)

    def advance(self, now_us: int) -> None:
        """Let time pass.

        Parameters
        ----------
        now_us : int
            Board time, not before the last one given.

        Raises
        ------
        ValueError
            Time went backwards.
        """
        if now_us < self._now_us:
            raise ValueError(f"now_us is {now_us}, allowed is {self._now_us} or later")
        while (due_us := self.next_deadline_us()) is not None and due_us <= now_us:
            self._now_us = due_us
            next(happen for at_us, happen in self._agenda() if at_us == due_us)()
        self._now_us = now_us

    def receive(self, data: bytes, now_us: int) -> None:
        """Take bytes from the host.

        Parameters
        ----------
        data : bytes
        now_us : int
            Board time of their arrival, not before the last time given.
        """
        self.advance(now_us)
        for line in self._reader.feed(data):
            try:
                sequence, verb, fields = decode(line)
            except FrameError:
                self._dropped += 1
                continue
            self._heard_host_us = now_us
            self._take_command(sequence, verb, fields)

    def transmit(self, frames_max: int | None = None) -> bytes:
        """Hand over what is to be sent to the host, whole frames, and forget it.

        Parameters
        ----------
        frames_max : int, optional
            At most so many; by default all there are.

        Returns
        -------
        bytes
        """
        frames = self._output[:frames_max]
        del self._output[:frames_max]
        return b"".join(frames)

    # What happens by itself

    def _agenda(self) -> tuple[tuple[int | None, Callable[[], None]], ...]:
        # Due times and deeds; of those due at once the first is done first.
        tone, idle = self._tone, self._idle
        watchdog_us = self._heard_host_us + self._host_silence_us
        return (
            (tone.end_us if tone else None, self._end_tone),
            (watchdog_us if tone or self._noise else None, self._lose_host),
            *((finger.due_us(), partial(self._move, finger)) for finger in self._fingers),
            (idle.start_us if idle else None, self._begin_idle_slot),
        )

    def _end_tone(self, cut: bool = False) -> None:
        assert self._tone is not None
        tone_id, self._tone = self._tone.tone_id, None
        self._idle = _Idle(tone_id, 0, self._now_us)
        self._happened("tone-off", {"id": tone_id, "us": self._now_us, "cut": int(cut)})

    def _lose_host(self) -> None:
        lost = self._noise is not None
        self._cut()
        self._noise_lost = lost

    def _cut(self) -> None:
        # Silence at once, if anything sounds.
        self._noise, self._noise_lost = None, False
        if self._tone is None:
            return
        self._played[-1] = replace(self._played[-1], cut=True)
        for finger in self._fingers:
            finger.forget_answers_after(self._now_us + REACTION_AFTER_CUT_US)
        self._end_tone(cut=True)

    def _intend(self, press: Press, since_us: int, *, spontaneous: bool) -> None:
        for finger in self._fingers:
            if finger.button == press.button:
                finger.intend(since_us + press.delay_us, press.hold_us, spontaneous=spontaneous)

    def _move(self, finger: "_Finger") -> None:
        self._tell_button(finger, finger.move())

    def _tell_button(self, finger: "_Finger", verb: str) -> None:
        which = {} if finger.button == HEARD_BUTTON else {"button": finger.button}
        self._happened(verb, {"us": self._now_us, **which})

    def _begin_idle_slot(self) -> None:
        assert self._idle is not None
        idle = self._idle
        press = self._listener.spontaneous_press(idle.after_id, idle.slot)
        if press is not None:
            self._intend(press, idle.start_us, spontaneous=True)
        self._idle = _Idle(idle.after_id, idle.slot + 1, idle.start_us + _IDLE_SLOT_US)

    def _happened(self, verb: str, fields: dict[str, str | int]) -> None:
        self._send(self._events.record(verb, fields))

    def _send(self, frame: bytes, place: int | None = None) -> None:
        if len(self._output) >= OUTPUT_FRAMES_MAX:
            self._dropped += 1
        else:
            self._output.insert(len(self._output) if place is None else place, frame)

    # Commands

    def _take_command(self, sequence: int, verb: str, given: dict[str, str]) -> None:
        fields = _Fields(given)
        try:
            self._check_conversation(verb, fields)
        except _RefusedError as refusal:  # outside any conversation: nothing to remember
            self._send(encode(sequence, "error", refusal.fields))
            return
        if self._last is not None and sequence == self._last[0]:
            self._send(self._last[1])
        elif self._last is not None and sequence < self._last[0] and verb != "hello":
            self._dropped += 1
        else:
            place = len(self._output)
            answer = self._done(sequence, verb, fields)
            self._last = (sequence, answer)
            self._send(answer, place)  # before the events the command caused

    def _check_conversation(self, verb: str, fields: "_Fields") -> None:
        # A hello that is right, or a known host; a new host finds the line and the numbers fresh.
        if verb != "hello":
            if self._host is None:
                raise _RefusedError("hello")
            return
        if fields.whole("wire", (0, 999_999)) != WIRE_VERSION:
            raise _RefusedError("version", wire=WIRE_VERSION)
        host = fields.hex8("host")
        fields.end()
        if host != self._host:
            self._last = None
            self._output.clear()

    def _done(self, sequence: int, verb: str, fields: "_Fields") -> bytes:
        # Does a command and gives the answer.
        try:
            if verb not in self._commands:
                raise _RefusedError("verb")
            return encode(sequence, "ok", self._commands[verb](fields))
        except _RefusedError as refusal:
            return encode(sequence, "error", refusal.fields)

    def _hello(self, fields: "_Fields") -> dict[str, str | int]:
        host = fields.hex8("host")
        is_new = host != self._host
        if is_new:
            self._host = host
            self._cut()
        newest = self._events.newest
        if is_new:  # who has just come cannot know what is held down
            for finger in self._fingers:
                if finger.is_down:
                    self._tell_button(finger, "button-down")
        return {
            "wire": WIRE_VERSION,
            "board": BOARD_NAME,
            "version": BOARD_VERSION,
            "boot": f"{self._boot:08x}",
            "event": newest,
            "tone": self._last_tone_id,
        }

    def _identify(self, fields: "_Fields") -> dict[str, str | int]:
        fields.end()
        return {"serial": self._serial}

    def _play(self, fields: "_Fields") -> dict[str, str | int]:
        tone, duration_us = _read_tone(fields, self._now_us)
        if tone.level_dbfs > self._output_limit_dbfs:
            raise _RefusedError("limit")
        noise = self._noise
        if self._tone is not None or (noise is not None and noise.ear == tone.ear):
            raise _RefusedError("busy")
        if self._noise_lost:
            raise _RefusedError("noise")
        tone = replace(tone, noise=noise)
        self._tone = _Sounding(tone.tone_id, tone.ear, self._now_us + duration_us)
        self._last_tone_id = tone.tone_id
        self._played.append(tone)
        self._happened("tone-on", {"id": tone.tone_id, "us": self._now_us})
        self._listen(tone)
        return {}

    def _listen(self, tone: PlayedTone) -> None:
        self._idle = None
        for finger in self._fingers:
            finger.forget_spontaneous()
        level_db_hl = self._level_db_hl(tone)
        press = self._listener.answer(
            tone.tone_id, tone.ear, tone.frequency_hz, level_db_hl, self._noise_heard()
        )
        if press is not None:
            self._intend(press, tone.onset_us, spontaneous=False)

    def _level_db_hl(self, sound: PlayedTone | PlayedNoise) -> float:
        # Of a tone, and of one with the power of the noise.
        return sound.level_dbfs + self._full_scale_db_hl

    def _noise_heard(self) -> Noise | None:
        noise = self._noise
        if noise is None:
            return None
        measured_hz = min(max(noise.frequency_hz, FREQUENCIES_HZ[0]), FREQUENCIES_HZ[-1])
        level_db_hl = self._level_db_hl(noise) - NOISE_CORRECTION.at(measured_hz)
        return Noise(noise.ear, noise.frequency_hz, level_db_hl)

    def _mask(self, fields: "_Fields") -> dict[str, str | int]:
        ear = fields.ear("ear")
        frequency_hz = fields.decimal("hz", FREQUENCY_HZ_RANGE)
        level_dbfs = fields.decimal("dbfs", NOISE_DBFS_RANGE)
        fields.end()
        if level_dbfs > self._output_limit_dbfs:
            raise _RefusedError("limit")
        if self._tone is not None and self._tone.ear == ear:
            raise _RefusedError("busy")
        self._noise, self._noise_lost = PlayedNoise(ear, frequency_hz, level_dbfs), False
        return {}

    def _unmask(self, fields: "_Fields") -> dict[str, str | int]:
        fields.end()
        self._noise, self._noise_lost = None, False
        return {}

    def _stop(self, fields: "_Fields") -> dict[str, str | int]:
        fields.end()
        self._cut()
        return {}

    def _ping(self, fields: "_Fields") -> dict[str, str | int]:
        fields.end()
        return {"event": self._events.newest, "us": self._now_us}

    def _acknowledge(self, fields: "_Fields") -> dict[str, str | int]:
        event = fields.whole("event", (0, self._events.newest))
        fields.end()
        self._events.forget(event)
        return {}

    def _repeat_events(self, fields: "_Fields") -> dict[str, str | int]:
        after = fields.whole("after", (0, self._events.newest))
        fields.end()
        for frame in self._events.after(after):
            self._send(frame)
        return {"event": self._events.newest}


@dataclass(frozen=True)
class _Sounding:
    # The tone that plays.
    tone_id: str
    ear: Ear
    end_us: int


@dataclass(frozen=True)
class _Idle:
    # The next slot in which nothing sounds.
    after_id: str
    slot: int
    start_us: int


@dataclass(frozen=True)
class _DuePress:
    at_us: int
    hold_us: int
    spontaneous: bool


class _Finger:
    # Presses of one button to come, and whether it is down.

    def __init__(self, button: int) -> None:
        self.button = button
        self._presses: list[_DuePress] = []  # by time
        self._release_us: int | None = None
        self._free_us = 0

    def intend(self, at_us: int, hold_us: int, *, spontaneous: bool) -> None:
        # One more press; it waits until the button has been free for a moment.
        if len(self._presses) < PRESSES_DUE_MAX:
            self._presses.append(_DuePress(at_us, hold_us, spontaneous))
            self._presses.sort(key=lambda press: press.at_us)

    def forget_spontaneous(self) -> None:
        self._presses = [press for press in self._presses if not press.spontaneous]

    def forget_answers_after(self, last_us: int) -> None:
        self._presses = [
            press for press in self._presses if press.spontaneous or press.at_us <= last_us
        ]

    @property
    def is_down(self) -> bool:
        return self._release_us is not None

    def due_us(self) -> int | None:
        if self._release_us is not None:
            return self._release_us
        if self._presses:
            return max(self._presses[0].at_us, self._free_us)
        return None

    def move(self) -> str:
        # Does what is due next; gives the verb of its event.
        due_us = self.due_us()
        assert due_us is not None
        if self._release_us is not None:
            self._release_us = None
            self._free_us = due_us + PRESS_GAP_US
            return "button-up"
        self._release_us = due_us + self._presses.pop(0).hold_us
        return "button-down"


class _Events:
    # The ring of events that are not acknowledged.

    def __init__(self) -> None:
        self.newest = 0
        self._ring: deque[tuple[int, bytes]] = deque(maxlen=EVENTS_KEPT_MAX)

    def record(self, verb: str, fields: dict[str, str | int]) -> bytes:
        self.newest += 1
        frame = encode(self.newest, verb, fields)
        self._ring.append((self.newest, frame))
        return frame

    def forget(self, up_to: int) -> None:
        while self._ring and self._ring[0][0] <= up_to:
            self._ring.popleft()

    def after(self, number: int) -> list[bytes]:
        return [frame for event, frame in self._ring if event > number]


class _RefusedError(Exception):
    # A command that is answered by an error.

    def __init__(self, code: str, **fields: str | int) -> None:
        super().__init__(code)
        self.fields: dict[str, str | int] = {"code": code, **fields}


class _Fields:
    # The fields of a command, read one by one and checked; what is not read is unknown.

    def __init__(self, given: dict[str, str]) -> None:
        self._given = given
        self._read: set[str] = set()

    def text(self, key: str) -> str:
        self._read.add(key)
        if key not in self._given:
            raise _refused(key)
        return self._given[key]

    def whole(self, key: str, limits: tuple[int, int]) -> int:
        try:
            number = parse_whole(self.text(key))
        except FrameError:
            raise _refused(key) from None
        return int(_within(key, number, limits))

    def decimal(self, key: str, limits: tuple[float, float]) -> float:
        try:
            number = parse_decimal(self.text(key))
        except FrameError:
            raise _refused(key) from None
        return _within(key, number, limits)

    def ear(self, key: str) -> Ear:
        text = self.text(key)
        if text not in _EARS:
            raise _refused(key)
        return _EARS[text]

    def hex8(self, key: str) -> str:
        text = self.text(key)
        if len(text) != 8 or not _HEX_DIGITS.issuperset(text):
            raise _refused(key)
        return text

    def end(self) -> None:
        for key in self._given:
            if key not in self._read:
                raise _refused(key)


def _refused(key: str) -> _RefusedError:
    return _RefusedError("field", name=key[:ECHOED_KEY_CHARACTERS_MAX])


def _within(key: str, number: float, limits: tuple[float, float]) -> float:
    if not limits[0] <= number <= limits[1]:
        raise _refused(key)
    return number


def _read_tone(fields: _Fields, onset_us: int) -> tuple[PlayedTone, int]:
    # The tone a command asks for, and how long it takes in microseconds.
    tone_id = fields.text("id")
    if len(tone_id) > ID_CHARACTERS_MAX or tone_id == START:
        raise _refused("id")
    ear = fields.ear("ear")
    frequency_hz = fields.decimal("hz", FREQUENCY_HZ_RANGE)
    level_dbfs = fields.decimal("dbfs", LEVEL_DBFS_RANGE)
    on_ms = fields.whole("on", ON_MS_RANGE)
    off_ms = fields.whole("off", OFF_MS_RANGE)
    pulses = fields.whole("n", PULSES_RANGE)
    if 2 * fields.whole("rise", RISE_MS_RANGE) > on_ms:
        raise _refused("rise")
    fields.end()
    tone = PlayedTone(tone_id, ear, frequency_hz, level_dbfs, onset_us, cut=False)
    return tone, 1000 * (pulses * on_ms + (pulses - 1) * off_ms)
