"""The board's side of the wire: bytes, times and buttons in, frames and sound out.

`firmware_py/link/README.md` is the definition. There is no port and no clock here: times come in,
microseconds since the board's start. What is to be sent waits in a list until the port takes it.
"""

from device.tone_generator.outbox import Outbox
from device.tone_generator.sounding import RefusedError, Sounding
from device.tone_generator.synthesis import RIGHT
from firmware_py.link.frames import FrameError, LineReader, decode, encode
from firmware_py.link.messages import (
    COMMANDS,
    ECHOED_KEY_CHARACTERS_MAX,
    HOST_SILENCE_US,
    NAME_AND_VERSION_CHARACTERS_MAX,
    WIRE,
    WIRE_VERSION,
    FieldError,
    read,
    write,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from device.tone_generator.sounding import Microphone, Output, Values

    Pairs = tuple[tuple[str, str | int], ...]


BOARD_NAME = "pico"
BOARD_VERSION = "1"


class Conversation:
    """The host that talks, and the last answer to it, which is given again when it is asked again.

    `host` is None where none has greeted, and `heard_us` when its last frame came. `dropped` are
    garbage, and commands of long ago.
    """

    def __init__(self) -> None:
        self.host: str | None = None
        self.heard_us = 0
        self.dropped = 0
        self.answer: bytes | None = None
        self._sequence = 0  # of the command that was answered
        self._reader = LineReader()

    def frames(self, data: bytes, now_us: int) -> "Iterator[tuple[int, str, dict[str, str]]]":
        """Yield the commands that these bytes complete."""
        garbage = self._reader.dropped
        for line in self._reader.feed(data):
            try:
                frame = decode(line)
            except FrameError:
                self.dropped += 1
                continue
            self.heard_us = now_us
            yield frame
        self.dropped += self._reader.dropped - garbage

    def age(self, sequence: int) -> int:
        """Return by how much a command is older than the last that was answered; -1: it is new."""
        return -1 if self.answer is None else self._sequence - sequence

    def keep_answer(self, sequence: int, answer: bytes) -> None:
        self._sequence, self.answer = sequence, answer


class ToneGenerator:
    """A tone generator as the host sees it.

    `limits_dbfs` are the levels that nothing exceeds, left, right, and of the vibrator where there
    is one, whatever is asked for. `boot` is the number of this start of the board, 0 to 2**32 - 1,
    and `serial` the board's for ever, 1 to 32 characters. `name` is what kind of board it is; with
    its version it has at most 6 characters, or the answer to hello is too long. Tone and noise end
    when no frame came for `host_silence_us`. `microphone` hears the room, where there is one.
    """

    outbox_type = Outbox

    def __init__(
        self,
        output: "Output",
        limits_dbfs: "tuple[float, ...]",
        boot: int,
        serial: str,
        name: str = BOARD_NAME,
        host_silence_us: int = HOST_SILENCE_US,
        microphone: "Microphone | None" = None,
    ) -> None:
        if len(name) + len(BOARD_VERSION) > NAME_AND_VERSION_CHARACTERS_MAX:
            raise ValueError(f"name {name!r} is too long for the answer to hello")
        self.outbox = self.outbox_type()
        self.sounds = Sounding(output, self.outbox, microphone)
        self.limits_dbfs = limits_dbfs
        self.boot = f"{boot:08x}"
        self._serial = serial
        self._name = name
        self._host_silence_us = host_silence_us
        self._conversation = Conversation()
        self._now_us = self._told_us = 0
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
        return self._conversation.dropped + self.outbox.dropped

    @property
    def sounding(self) -> bool:
        return self.sounds.anything

    def quiet_us(self, now_us: int) -> int:
        return now_us - self._conversation.heard_us

    def silence_due_us(self) -> "int | None":
        """Return when the board falls silent if no frame comes; None: nothing sounds."""
        return self._conversation.heard_us + self._host_silence_us if self.sounding else None

    def advance(self, now_us: int, changes: "Sequence[tuple[int, int, bool]]" = ()) -> None:
        """Tell what has happened, in its order, and fall silent when the host has.

        All is known up to `now_us`, board time, and of the output up to the last of these changes
        of buttons, which were not told: when, which, whether it is down.
        """
        self._now_us = now_us
        for at_us, number, down in sorted(changes):
            self.button(number, down, at_us)
        self.sounds.tell(now_us)
        if self.sounding and self.quiet_us(now_us) >= self._host_silence_us:
            lost = self.sounds.noise_ear >= 0
            self.sounds.fall_silent(now_us)
            self.sounds.noise_lost = lost

    def button(self, number: int, down: bool, at_us: int) -> None:
        """Tell that a button has gone down or up; a press may end the tone."""
        self.sounds.tell(at_us)  # what came first
        # It is cut before anything is told, which takes milliseconds.
        ends = down and self.sounds.press(number, at_us)
        if down:
            self._down.append(number)
        elif number in self._down:
            self._down.remove(number)
        verb = "button-down" if down else "button-up"
        self.outbox.put_event(verb, {"us": at_us, "button": number})
        if ends:
            self.sounds.tell_cut(max(self._now_us, at_us))

    def receive(self, data: bytes, now_us: int, told_us: int) -> None:
        """Take bytes from the host, when everything up to `told_us`, at most now, has been told."""
        for sequence, verb, fields in self._conversation.frames(data, now_us):
            self._now_us = now_us
            self._told_us = told_us
            self._take_command(sequence, verb, fields)
            self.sounds.tell(told_us)

    # Commands

    def _take_command(self, sequence: int, verb: str, fields: "dict[str, str]") -> None:
        refusal, talk = self._check_conversation(verb, fields), self._conversation
        if refusal:  # outside any conversation: nothing to remember
            self.outbox.send(encode(sequence, "error", refusal))
        elif talk.answer is not None and talk.age(sequence) == 0:
            self.outbox.send(talk.answer)
        elif talk.age(sequence) > 0 and verb != "hello":
            talk.dropped += 1
        else:
            place = len(self.outbox.waiting)
            answer = self._do(sequence, verb, fields)
            talk.keep_answer(sequence, answer)
            self.outbox.send(answer, place)  # before the events the command caused

    def _check_conversation(self, verb: str, fields: "dict[str, str]") -> "Pairs":
        # Gives the error for what is outside any conversation: a wrong hello, or none yet. A new
        # host finds nothing on the line, and its numbers are fresh.
        if verb != "hello":
            return (("code", "hello"),) if self._conversation.host is None else ()
        try:
            if read((WIRE,), fields, others=True)["wire"] != WIRE_VERSION:
                return (("code", "version"), ("wire", WIRE_VERSION))
            host = read(COMMANDS["hello"][0], fields)["host"]
        except FieldError as error:
            return _wrong_field(error)
        if host != self._conversation.host:
            self._conversation.answer = None
            self.outbox.waiting.clear()
        self.outbox.greeted = True
        return ()

    def _do(self, sequence: int, verb: str, fields: "dict[str, str]") -> bytes:
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
        if values["host"] != self._conversation.host:
            self._conversation.host = values["host"]
            self.sounds.fall_silent(self._now_us)
            newest = self.outbox.newest_event
            for button in self._down:  # who has just come cannot know what is held down
                self.outbox.put_event("button-down", {"us": self._now_us, "button": button})
        return {
            "wire": WIRE_VERSION,
            "board": self._name,
            "version": BOARD_VERSION,
            "boot": self.boot,
            "event": newest,
            "tone": self.sounds.tone_id,
        }

    def _identify(self, _values: "Values") -> "Values":
        return {
            "serial": self._serial,
            "press_ends": 1,
            "transducers": self.sounds.transducers,
            "in_noise": 1 if self.sounds.has_noise else 0,
            "room": 0 if self.sounds.microphone is None else 1,
            "hi": 1,
        }

    def _play(self, values: "Values") -> "Values":
        via = values["via"]
        if not self.sounds.transducers >> via & 1:  # nothing else plays in its place
            raise FieldError("via")
        self._check_limit(values, values["ear"] if via == 0 else RIGHT + via)
        self.sounds.play(values)
        return {}

    def _stop(self, _values: "Values") -> "Values":
        self.sounds.fall_silent(self._now_us)
        return {}

    def _mask(self, values: "Values") -> "Values":
        self._check_limit(values, values["ear"])
        self.sounds.mask(values)
        return {}

    def _unmask(self, _values: "Values") -> "Values":
        self.sounds.unmask()
        return {}

    def _check_limit(self, values: "Values", number: int) -> None:
        # An output whose limit nobody has said plays nothing.
        if number >= len(self.limits_dbfs) or values["dbfs"] > self.limits_dbfs[number]:
            raise RefusedError("limit")

    def _ping(self, _values: "Values") -> "Values":
        microphone = self.sounds.microphone
        room = () if microphone is None else microphone.newest()
        return {"event": self.outbox.newest_event, "us": self._told_us, "room": room}

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
    return board.outbox.greeted and board.quiet_us(now_us) < HOST_SILENCE_US


def _wrong_field(error: FieldError) -> "Pairs":
    return (("code", "field"), ("name", error.key[:ECHOED_KEY_CHARACTERS_MAX]))
