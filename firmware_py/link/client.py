"""The firmware's end of the wire: a pure state machine between bytes and notices.

No port and no clock in it: received bytes and the time go in, notices and bytes to send come out.
One command is under way at a time; it is repeated until it is answered, and after `REPEATS_MAX` the
board counts as lost. Events are delivered in order, each once, and asked for again when one is
missing; what the board does not have any more is `Missed`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from firmware_py.link.board_start import BoardError, BoardStart, ClockCheck
from firmware_py.link.command import SOUND_VERBS, Command, Commands
from firmware_py.link.frames import FrameError, LineReader, decode
from firmware_py.link.messages import (
    COMMANDS,
    EARPHONES_ONLY,
    NO_TONE,
    WIRE_VERSION,
    FieldError,
    read,
)
from firmware_py.link.notices import Greeted, Lost, Missed, Notice, Refused, TimeTold, wrong_field
from firmware_py.terms.route import Route

REPEATS_MAX: Final = 8


@dataclass(frozen=True)
class Tone:
    """A tone as the board is told it: times are milliseconds.

    A press ends it from `press_ms` after its onset on, of a button whose bit `press_buttons` has.
    `loud`: it is above `LOUD_DB_HL`, for which a board may have a light.
    """

    tone_id: str
    route: Route
    frequency_hz: float
    level_dbfs: float
    on_ms: int
    off_ms: int
    pulses: int
    rise_ms: int
    press_ms: int = 0
    press_buttons: int = 0
    loud: bool = False


@dataclass
class Counters:
    """What went over the wire, for the self-test and the curious."""

    repeats: int = 0
    stale: int = 0
    garbled: int = 0
    events_missed: int = 0


class Client:
    """The host's side of the wire.

    `nonce` returns a new `HEX8` for every conversation. `press_ends`: the board itself ends a tone
    at a press. `transducers` has a bit for each. `hears_room`: it has a microphone for the noise of
    the room. All that happened before `told_until_us` of the board's time was told in this
    conversation.
    """

    def __init__(self, nonce: Callable[[], str], board_speed: float = 1.0) -> None:
        self._nonce = nonce
        self._reader = LineReader()
        self._commands = Commands()
        self._board = BoardStart(ClockCheck(board_speed))
        self._met: Greeted | None = None
        self._time_wanted = False
        self.told_until_us = 0
        self.connected = False
        self.can_mask = self.press_ends = self._in_noise = self._has_light = False
        self.transducers = EARPHONES_ONLY
        self.hears_room = False
        self.counters = Counters()

    def remember(self, boot: str, last_event: int, latest_us: int = 0) -> None:
        """Say up to which event, and time, of which boot everything is already recorded."""
        self._board = self._board.another(boot, last_event, latest_us)
        self._board.acknowledged = last_event

    @property
    def boot(self) -> str:
        """Return the boot of the board met last, empty before the first greeting."""
        return self._board.boot if self._met is None else self._met.boot

    @property
    def board(self) -> str:
        """Return which board was greeted last, see `Greeted.name`; "": none was."""
        return "" if self._met is None else self._met.name

    @property
    def busy(self) -> bool:
        return self._commands.busy

    def on_for_us(self, now_us: int) -> int:
        """Return for how long the board has been on at least, by its own clock."""
        return self._board.clock.passed_us(now_us)

    def reaches(self, route: Route) -> bool:
        return bool(self.transducers >> route.kind.wire_number & 1)

    @property
    def last_event(self) -> int:
        return self._board.last_event

    def connect(self, now_us: int) -> None:
        self.disconnect()
        self._reader = LineReader()
        self._send("hello", {"wire": WIRE_VERSION, "host": self._nonce()}, now_us)

    def disconnect(self) -> None:
        self.connected = self.press_ends = self.hears_room = self._has_light = False
        self._time_wanted = False
        self.told_until_us = 0
        self._commands.clear()

    def silence(self) -> None:
        """Stop tone and noise before anything else is done, and play none that waits."""
        if self.connected:
            self._commands.first("stop", {}, instead_of=SOUND_VERBS)

    def play(self, tone: Tone) -> None:
        """Have a tone played; where the board cannot end it at a press, `silence` has to."""
        self.request(
            "tone",
            id=tone.tone_id,
            **tone.route.wire,
            hz=tone.frequency_hz,
            dbfs=tone.level_dbfs,
            on=tone.on_ms,
            off=tone.off_ms,
            n=tone.pulses,
            rise=tone.rise_ms,
            buttons=tone.press_buttons if self.press_ends else 0,
            press=tone.press_ms if self.press_ends else 0,
            hi=int(tone.loud and self._has_light),
        )

    def mask(
        self, route: Route, frequency_hz: float, level_dbfs: float, *, loud: bool = False
    ) -> None:
        hi = int(loud and self._has_light)
        self.request("mask", **route.wire, hz=frequency_hz, dbfs=level_dbfs, hi=hi)

    def unmask(self) -> None:
        self.request("unmask")

    def ask_time(self) -> None:
        """Ask for a `TimeTold`; a second call before the answer has no effect."""
        self._time_wanted = True
        if not self._commands.waits("ping"):
            self.request("ping")

    def request(self, verb: str, **values: Any) -> None:
        self._commands.request(verb, values)

    def acknowledge(self, number: int) -> None:
        """Say that events up to this number are recorded."""
        if self.connected and number > self._board.acknowledged:
            self._board.acknowledged = number
            self._commands.last("ack", {"event": number})

    def receive(self, data: bytes, now_us: int) -> list[Notice]:
        if (waiting := self._commands.under_way) is not None:
            waiting.bytes_heard += len(data)
        notices: list[Notice] = []
        for line in self._reader.feed(data):
            try:
                sequence, verb, fields = decode(line)
            except FrameError:
                self.counters.garbled += 1
                continue
            if (waiting := self._commands.under_way) is not None:
                waiting.frames_heard += 1
            try:
                if verb in ("ok", "error"):
                    notices += self._take_answer(sequence, verb, fields, now_us)
                elif self.connected:
                    notices += self._event(sequence, verb, fields, now_us)
            except BoardError as error:
                self._board = self._board.another()  # when it is back it is one not met before
                notices += self._lose(str(error), disbelieved=True)
        return notices

    def advance(self, now_us: int) -> list[Notice]:
        """Repeat what was not answered, send what waits, keep the board alive."""
        command = self._commands.under_way
        if command is not None:
            if now_us < command.due_us:
                return []
            if command.sent > REPEATS_MAX:
                return self._lose(command.say_unanswered())
            self.counters.repeats += 1
            self._commands.transmit(command, now_us)
        elif self.connected and self._commands.numbers_run_out and not self._commands.busy:
            self.connect(now_us)
        elif self.connected:
            self._commands.send_due(self._board.last_event, now_us)
        return []

    def transmit(self) -> bytes:
        return self._commands.take()

    def next_deadline_us(self) -> int | None:
        """Return when `advance` wants to be called, None for not before something comes."""
        if self._commands.under_way is None and not self.connected:
            return None
        return self._commands.due_us()

    def _send(self, verb: str, values: dict[str, Any], now_us: int) -> None:
        self._commands.send(verb, values, self._board.last_event, now_us)

    def _take_answer(
        self, sequence: int, verb: str, fields: dict[str, str], now_us: int
    ) -> list[Notice]:
        command = self._commands.under_way
        if command is None or sequence != command.sequence:
            self.counters.stale += 1
            return []
        self._commands.under_way = None
        try:
            if verb == "error":
                return self._take_refusal(command, fields, now_us)
            return self._take_acceptance(
                command, read(COMMANDS[command.verb][1], fields, others=True), now_us
            )
        except FieldError as error:
            return self._lose(wrong_field(f"the answer to {command.verb!r}", error.key, fields))

    def _take_refusal(self, command: Command, fields: dict[str, str], now_us: int) -> list[Notice]:
        code = fields.get("code", "without a code")
        if command.verb in ("hello", "serial", "ping", "ack", "events") or code == "hello":
            why = f"the tone generator refused {command.verb!r}: {code}"
            if code == "version":
                spoken = fields.get("wire", "?")
                why = f"the tone generator speaks wire {spoken}, this firmware {WIRE_VERSION}"
            return self._lose(why)
        if command.verb == "unmask" and not self.connected:
            return self._take_greeting(can_mask=False)
        return [Refused(command.verb, code, fields.get("name", ""))]

    def _take_acceptance(
        self, command: Command, answer: dict[str, Any], now_us: int
    ) -> list[Notice]:
        match command.verb:
            case "hello":
                who = (answer["board"], answer["version"], answer["boot"], answer["tone"])
                self._met = Greeted(*who, serial="", event=answer["event"])
                self._send("serial", {}, now_us)
            case "serial" if self._met is not None:
                # A board that knows `unmask` has noise, and none plays from then on. It masks where
                # a tone in it can show that it does.
                self._met = replace(self._met, serial=answer["serial"])
                self.press_ends = answer["press_ends"] == 1
                self.transducers = answer["transducers"]
                self._in_noise = answer["in_noise"] == 1
                self.hears_room = answer["room"] == 1
                self._has_light = answer["hi"] == 1
                self._send("unmask", {}, now_us)
            case "unmask" if not self.connected:
                return self._take_greeting(can_mask=self._in_noise)
            case "ping":
                return self._take_ping(answer, command, now_us)
            case "events":
                self._board.asks += 1
        return []

    def _take_ping(self, answer: dict[str, Any], ping: Command, now_us: int) -> list[Notice]:
        newest, us = answer["event"], answer["us"]
        if newest < ping.told:
            raise BoardError(f"its newest event is {newest}, and it had told {ping.told} before")
        self._board.clock.bound(us, ping.asked_us, now_us)
        if self._board.owes(newest):
            self._ask_for_events()
            if self._time_wanted:
                self.ask_time()
            return []
        notices = self._count(self._board.pass_over(newest))
        self.told_until_us = self._board.clock.note_ping(us, ping.asked_us)
        told = [TimeTold(us, answer["room"])] if self._time_wanted else []
        self._time_wanted = False
        return [*notices, *told]

    def _take_greeting(self, can_mask: bool) -> list[Notice]:
        if self._met is None:
            return []
        boot, newest = self._met.boot, self._met.event
        self.connected, self.can_mask = True, can_mask
        if boot != self._board.boot or newest < self._board.last_event:
            # A board not met before: what happened there belongs to nothing under way here.
            self._board = self._board.another(boot, newest)
            self._met = replace(self._met, tone_id=NO_TONE)
        if not self._board.clock.bounded:
            self.request("ping")  # its answer has what is missing asked for
        elif newest > self._board.last_event:
            self._ask_for_events()
        self._met = replace(self._met, can_mask=can_mask, event=self._board.last_event)
        return [self._met]

    def _event(self, number: int, verb: str, fields: dict[str, str], now_us: int) -> list[Notice]:
        if number <= self._board.last_event or not self._board.clock.bounded:
            return []
        if self._board.owes(number - 1):
            self._ask_for_events()
            return []
        return self._count(self._board.event(number, verb, fields, now_us))

    def _count(self, notices: list[Notice]) -> list[Notice]:
        self.counters.events_missed += sum(n.count for n in notices if isinstance(n, Missed))
        return notices

    def _ask_for_events(self) -> None:
        if not self._commands.waits("events"):
            self._commands.first("events", {"after": self._board.last_event})

    def _lose(self, why: str, *, disbelieved: bool = False) -> list[Notice]:
        self.disconnect()
        return [Lost(why, disbelieved)]
