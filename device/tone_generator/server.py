"""The board's side of the wire: bytes, times and buttons in, frames and sound out.

`firmware_py/link/README.md` is the definition. There is no port and no clock here: times come in,
microseconds since the board's start. What is to be sent waits in a list until the port takes it.
"""

from device.tone_generator.outbox import Outbox
from firmware_py.link.frames import FrameError, LineReader, decode, encode
from firmware_py.link.messages import (
    COMMANDS,
    ECHOED_KEY_CHARACTERS_MAX,
    HOST_SILENCE_US,
    NAME_AND_VERSION_CHARACTERS_MAX,
    NO_TONE,
    WIRE,
    WIRE_VERSION,
    FieldError,
    read,
    write,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    Pairs = tuple[tuple[str, str | int], ...]
    Values = dict[str, Any]  # of the fields of a message

    class Output(Protocol):
        """Where the sound goes; `began` and `ended` are those of the tone, in board time.

        Whoever has made it calls its `advance` every few milliseconds, which sets them.
        """

        has_noise: bool
        began: bool
        ended: bool
        began_us: int
        ended_us: int

        def play(
            self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: tuple[int, ...]
        ) -> None:
            """Take a tone (on, off, number of pulses, rise); it begins as soon as it can."""

        def cut(self) -> None:
            """Fall silent at once, and forget the tone."""

        def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
            """Play noise."""

        def unmask(self) -> None:
            """Fade it."""


BOARD_NAME = "pico"
BOARD_VERSION = "1"


class RefusedError(Exception):
    """A command that is answered by an error; `code` as on the wire page."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


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
    host_silence_us : int
        Tone and noise end when no frame came for so long.

    Attributes
    ----------
    boot : str
        The number of this start, as the wire has it.
    tone_id : str
        Of the last tone that was accepted.
    outbox : Outbox
        What is to be sent.
    """

    def __init__(
        self,
        output: "Output",
        limits_dbfs: "tuple[float, float]",
        boot: int,
        serial: str,
        name: str = BOARD_NAME,
        host_silence_us: int = HOST_SILENCE_US,
    ) -> None:
        if len(name) + len(BOARD_VERSION) > NAME_AND_VERSION_CHARACTERS_MAX:
            raise ValueError(f"name {name!r} is too long for the answer to hello")
        self._output = output
        self.limits_dbfs = limits_dbfs
        self.boot = f"{boot:08x}"
        self._serial = serial
        self._name = name
        self._host_silence_us = host_silence_us
        self._reader = LineReader()
        self._heard_host_us = self._now_us = self._told_us = 0
        self._host: str | None = None
        self._last_sequence = self._dropped = 0
        self._last_answer: bytes | None = None
        self.tone_id = NO_TONE
        self._tone_ear = 0
        self._press_us = self._press_buttons = 0  # which press ends the tone; 0: of no button
        self._accepted = False  # a tone that has not ended
        self._told_on = False
        self._noise_ear = -1
        self._noise_lost = False  # it ended by itself, and the host may not know
        self.outbox = Outbox()
        self._down: list[int] = []  # buttons
        self._commands: dict[str, Callable[[Values], Values]] = {
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
    def dropped(self) -> int:
        """Return how many frames were dropped: garbage, numbers of long ago, full output."""
        return self._dropped + self._reader.dropped + self.outbox.dropped

    @property
    def sounding(self) -> bool:
        """Return whether a tone or noise is playing."""
        return self._accepted or self._noise_ear >= 0

    def quiet_us(self, now_us: int) -> int:
        """Return for how long no frame has come."""
        return now_us - self._heard_host_us

    def silence_due_us(self) -> "int | None":
        """Return when the board falls silent if no frame comes; None: nothing sounds."""
        return self._heard_host_us + self._host_silence_us if self.sounding else None

    def advance(self, now_us: int, changes: "Sequence[tuple[int, int, bool]]" = ()) -> None:
        """Tell what has happened, in its order, and fall silent when the host has.

        All is known up to `now_us`, board time, and of the output up to the last of these changes
        of buttons, which were not told: when, which, whether it is down.
        """
        self._now_us = now_us
        for at_us, number, down in sorted(changes):
            self.button(number, down, at_us)
        self._tell_tone(now_us)
        if self.sounding and now_us - self._heard_host_us >= self._host_silence_us:
            lost = self._noise_ear >= 0
            self._silence()
            self._noise_lost = lost

    def button(self, number: int, down: bool, at_us: int) -> None:
        """Tell that a button has gone down or up; a press may end the tone."""
        self._tell_tone(at_us)  # what came first
        sounds = self._accepted and self._told_on and not self._output.ended
        ends = sounds and down and self._press_buttons & number
        ends = ends and at_us - self._output.began_us >= self._press_us
        if ends:
            self._accepted = False
            self._output.cut()  # before it is told, which takes milliseconds
        if down:
            self._down.append(number)
        elif number in self._down:
            self._down.remove(number)
        verb = "button-down" if down else "button-up"
        self.outbox.happened(verb, {"us": at_us, "button": number})
        if ends:
            self._tell_off(max(self._now_us, at_us), 1)

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
                self._dropped += 1
                continue
            self._heard_host_us = now_us
            self._now_us = now_us
            self._told_us = told_us
            self._take_command(sequence, verb, fields)
            self._tell_tone(told_us)

    # Events

    def _tell_tone(self, upto_us: int) -> None:
        # What came after that waits: a press before it may not have been told yet.
        output = self._output
        if self._accepted and output.began and not self._told_on and output.began_us <= upto_us:
            self._tell_on(output.began_us)
        if self._accepted and output.ended and self._told_on and output.ended_us <= upto_us:
            self._accepted = False
            self._tell_off(output.ended_us, 0)

    def _tell_on(self, at_us: int) -> None:
        self._told_on = True
        self.outbox.happened("tone-on", {"id": self.tone_id, "us": at_us})

    def _tell_off(self, at_us: int, cut: int) -> None:
        self.outbox.happened("tone-off", {"id": self.tone_id, "us": at_us, "cut": cut})

    def _silence(self) -> None:
        # Whatever sounds is cut; a tone that had not begun yet has begun and ended now.
        self._end_noise()
        self._tell_tone(self._now_us)
        if not self._accepted:
            return
        self._accepted = False
        self._output.cut()
        if not self._told_on:
            self._tell_on(self._now_us)
        self._tell_off(self._now_us, 1)

    def _end_noise(self) -> None:
        self._noise_lost = False
        if self._noise_ear >= 0:
            self._noise_ear = -1
            self._output.unmask()

    # Commands

    def _take_command(self, sequence: int, verb: str, fields: "dict[str, str]") -> None:
        refusal = self._check_conversation(verb, fields)
        if refusal:  # outside any conversation: nothing to remember
            self.outbox.send(encode(sequence, "error", refusal))
        elif self._last_answer is not None and sequence == self._last_sequence:
            self.outbox.send(self._last_answer)
        elif self._last_answer is not None and sequence < self._last_sequence and verb != "hello":
            self._dropped += 1
        else:
            place = len(self.outbox.waiting)
            answer = self._done(sequence, verb, fields)
            self._last_sequence, self._last_answer = sequence, answer
            self.outbox.send(answer, place)  # before the events the command caused

    def _check_conversation(self, verb: str, fields: "dict[str, str]") -> "Pairs":
        # Gives the error for what is outside any conversation: a wrong hello, or none yet. A new
        # host finds nothing on the line, and its numbers are fresh.
        if verb != "hello":
            return (("code", "hello"),) if self._host is None else ()
        try:
            if read((WIRE,), fields, others=True)["wire"] != WIRE_VERSION:
                return (("code", "version"), ("wire", WIRE_VERSION))
            host = read(COMMANDS["hello"][0], fields)["host"]
        except FieldError as error:
            return _wrong_field(error)
        if host != self._host:
            self._last_answer = None
            self.outbox.waiting.clear()
        self.outbox.greeted = True
        return ()

    def _done(self, sequence: int, verb: str, fields: "dict[str, str]") -> bytes:
        # Does a command and gives the answer.
        try:
            if verb not in self._commands:
                raise RefusedError("verb")
            wanted, told = COMMANDS[verb]
            answer = self._commands[verb](read(wanted, fields))
            return encode(sequence, "ok", write(told, answer))
        except FieldError as error:
            return encode(sequence, "error", _wrong_field(error))
        except RefusedError as refusal:
            return encode(sequence, "error", (("code", refusal.code),))

    def _hello(self, values: "Values") -> "Values":
        newest = self.outbox.newest_event
        if values["host"] != self._host:
            self._host = values["host"]
            self._silence()
            newest = self.outbox.newest_event
            for button in self._down:  # who has just come cannot know what is held down
                self.outbox.happened("button-down", {"us": self._now_us, "button": button})
        return {
            "wire": WIRE_VERSION,
            "board": self._name,
            "version": BOARD_VERSION,
            "boot": self.boot,
            "event": newest,
            "tone": self.tone_id,
        }

    def _identify(self, _values: "Values") -> "Values":
        return {"serial": self._serial, "press_ends": 1}

    def _play(self, values: "Values") -> "Values":
        ear, level_dbfs = values["ear"], values["dbfs"]
        if level_dbfs > self.limits_dbfs[ear]:
            raise RefusedError("limit")
        if self._accepted or self._noise_ear == ear:
            raise RefusedError("busy")
        if self._noise_lost:
            raise RefusedError("noise")
        self.tone_id, self._tone_ear = values["id"], ear
        self._press_us, self._press_buttons = 1000 * values["press"], values["buttons"]
        times_ms = (values["on"], values["off"], values["n"], values["rise"])
        self._output.play(ear, values["hz"], level_dbfs, times_ms)
        self._accepted = True
        self._told_on = False
        return {}

    def _stop(self, _values: "Values") -> "Values":
        self._silence()
        return {}

    def _mask(self, values: "Values") -> "Values":
        ear, level_dbfs = values["ear"], values["dbfs"]
        if level_dbfs > self.limits_dbfs[ear]:
            raise RefusedError("limit")
        if self._accepted and self._tone_ear == ear:
            raise RefusedError("busy")
        self._output.mask(ear, values["hz"], level_dbfs)
        self._noise_ear = ear
        self._noise_lost = False
        return {}

    def _unmask(self, _values: "Values") -> "Values":
        self._end_noise()
        return {}

    def _ping(self, _values: "Values") -> "Values":
        return {"event": self.outbox.newest_event, "us": self._told_us}

    def _acknowledge(self, values: "Values") -> "Values":
        self._check_event("event", values)
        self.outbox.forget(values["event"])
        return {}

    def _repeat_events(self, values: "Values") -> "Values":
        self._check_event("after", values)
        self.outbox.repeat(values["after"])
        return {"event": self.outbox.newest_event}

    def _check_event(self, key: str, values: "Values") -> None:
        if values[key] > self.outbox.newest_event:
            raise FieldError(key)


def has_host(board: ToneGenerator, now_us: int) -> bool:
    """Return whether a host has greeted and is not silent."""
    return board.outbox.greeted and board.quiet_us(now_us) < HOST_SILENCE_US


def _wrong_field(error: FieldError) -> "Pairs":
    return (("code", "field"), ("name", error.key[:ECHOED_KEY_CHARACTERS_MAX]))
