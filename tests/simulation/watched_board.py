"""A board that is watched while it plays."""

from collections.abc import Callable
from typing import Any

from device.simulator.listener import Listener, Press
from device.simulator.room_around import QUIET, RoomAround
from device.simulator.simulated_board import PlayedNoise, PlayedTone, SimulatedBoard
from device.tone_generator.server import ToneGenerator
from firmware_py.calibration.calibration import Calibration
from firmware_py.link.messages import HOST_SILENCE_US
from firmware_py.terms.route import Route
from tests.link.misfits import MisfitOutbox, MisfitServer
from tests.simulation.violation import Violation

Played = Callable[["WatchedBoard"], None]
Acknowledged = Callable[["WatchedBoard", int, int], None]


class WornClock:
    """A clock that goes as it likes, and tells the true time until then."""

    def __init__(self) -> None:
        self._since_us = self._told_us = 0
        self._rate = 1.0
        self._wraps_at_us = 0

    def __call__(self, us: int) -> int:
        told_us = self._told_us + round(self._rate * (us - self._since_us))
        return told_us % self._wraps_at_us if self._wraps_at_us else told_us

    def go(self, now_us: int, rate: float = 1.0, jump_us: int = 0, wraps_at_us: int = 0) -> None:
        self._told_us, self._since_us = self(now_us) + jump_us, now_us
        self._rate, self._wraps_at_us = rate, wraps_at_us


class WatchedOutbox(MisfitOutbox):
    """Remembers what happened, and when truly."""

    def __init__(self) -> None:
        super().__init__()
        self.happenings: dict[int, tuple[str, dict[str, Any]]] = {}

    def put_event(self, verb: str, values: dict[str, Any]) -> None:
        super().put_event(verb, values)
        self.happenings[self.newest_event] = verb, values


class WatchedServer(MisfitServer):
    """The program of a board whose events and acknowledgements are looked at as they happen.

    `newest_met`: the last event that there was when a host came: one that does not know the board
    passes over everything up to it.
    """

    outbox_type = WatchedOutbox

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.worn_clock = WornClock()
        self.set_clock(self.worn_clock)
        self.newest_met = self.acknowledged = 0
        self.when_acknowledged: Callable[[int, int], None] = lambda _before, _upto: None

    @property
    def happened(self) -> dict[int, tuple[str, dict[str, Any]]]:
        assert isinstance(self.outbox, WatchedOutbox)
        return self.outbox.happenings

    def _hello(self, values: dict[str, Any]) -> dict[str, Any]:
        answer = super()._hello(values)
        self.newest_met = answer["event"]
        return answer

    def _acknowledge(self, values: dict[str, Any]) -> dict[str, Any]:
        answer = super()._acknowledge(values)
        # What a full outbox let go before is lost, and the host is told so: nobody acknowledged it.
        upto = values["event"]
        if upto > self.acknowledged:
            before, self.acknowledged = self.acknowledged, upto
            self.when_acknowledged(before, upto)
        return answer


class WatchedBoard(SimulatedBoard):
    """A board whose tones and acknowledgements are looked at as they happen.

    `truth`: how loud amplifier, earphones and vibrator are; None, and what it lacks: as nominal.
    """

    server: WatchedServer
    server_type: type[ToneGenerator] = WatchedServer
    silent_after_us = HOST_SILENCE_US

    def __init__(
        self, listener: Listener, boot: int, serial: str, has_noise: bool,
        truth: Calibration | None, played: Played, acknowledged: Acknowledged,
        room: RoomAround = QUIET,
    ) -> None:  # fmt: skip
        super().__init__(
            listener, boot=boot, serial=serial, has_noise=has_noise,
            host_silence_us=self.silent_after_us, room=room,
        )  # fmt: skip
        self.serial = serial
        self._truth = truth
        self._when_played = played
        self.server.when_acknowledged = lambda before, upto: acknowledged(self, before, upto)
        self._byte_us = 0  # of the last one that came from the host

    @property
    def boot(self) -> str:
        return self.server.boot

    @property
    def happened(self) -> dict[int, tuple[str, dict[str, Any]]]:
        return self.server.happened

    @property
    def newest_met(self) -> int:
        return self.server.newest_met

    def receive(self, data: bytes, now_us: int) -> None:
        self.advance(now_us)
        if data:
            self._byte_us = now_us
        super().receive(data, now_us)

    def advance(self, now_us: int) -> None:
        super().advance(now_us)
        if self.server.sounding and now_us - self._byte_us > HOST_SILENCE_US:
            raise Violation(f"the board sounds {now_us - self._byte_us} us after its host's word")

    def hold(self, press: Press) -> None:
        """Have a finger move, now."""
        self.hand.intend(press, self.now_us)

    def mend(self) -> None:
        """Have it be as the wire page has it from now on; its clock goes on from where it is."""
        server = self.server
        server.worn_clock.go(self.now_us)
        server.set_clock(server.worn_clock)
        server.without_fields, server.deaf_to = False, ""

    def hurry(self) -> None:
        """Have all fingers let go, as soon as time passes."""
        for finger in self.hand.fingers:
            if finger.release_us is not None:
                finger.release_us = self.now_us

    def _level_db_hl(self, sound: PlayedTone | PlayedNoise) -> float:
        route = sound.route if isinstance(sound, PlayedTone) else Route(sound.ear)
        if self._truth is None or not self._truth.has(route):
            return super()._level_db_hl(sound)
        full_scale_db = self._truth.sensitivity_db_spl[route].at(sound.frequency_hz)
        reference_db = self._truth.retspl_db_spl[route.transducer].at(sound.frequency_hz)
        return sound.level_dbfs + full_scale_db - reference_db

    def _listen(self, tone: PlayedTone) -> None:
        super()._listen(tone)
        self._when_played(self)
