"""A board that is watched while it plays, and a listener with moods."""

from collections.abc import Callable
from typing import Any, Final

from device.simulator.board import PlayedNoise, PlayedTone, SimulatedBoard
from device.simulator.listener import Ear, Listener, Noise, Press
from firmware_py.calibration.levels import Calibration
from tests.simulation.violation import Violation

HOST_SILENCE_US: Final = 1_000_000  # the wire page: silent after one second without the host
AWAKE: Final = "awake"
ASLEEP: Final = "asleep"
ANSWERS_EVERYTHING: Final = "answers everything"
EAGER: Final = Press(delay_us=150_000, hold_us=100_000)

Played = Callable[["WatchedBoard"], None]
Acknowledged = Callable[["WatchedBoard", int, int], None]


class MoodyListener:
    """Somebody who is not always there, or presses whatever comes."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.mood = AWAKE

    def answer(
        self, tone_id: str, ear: Ear, frequency_hz: float, level_db_hl: float,
        noise: Noise | None = None,
    ) -> Press | None:  # fmt: skip
        if self.mood == ASLEEP:
            return None
        if self.mood == ANSWERS_EVERYTHING:
            return EAGER
        return self._listener.answer(tone_id, ear, frequency_hz, level_db_hl, noise)

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        if self.mood == ASLEEP:
            return None
        return self._listener.spontaneous_press(after_id, slot)


class WatchedBoard(SimulatedBoard):
    """A board whose tones and acknowledgements are looked at as they happen.

    Parameters
    ----------
    listener : Listener
    boot : int
    serial : str
    has_noise : bool
    truth : Calibration or None
        How loud amplifier and earphones are; None: as nominal.
    played, acknowledged : callable
        Called when a tone begins, and when events are acknowledged: after the first number, up to
        the second.

    Attributes
    ----------
    newest_met : int
        The last event that there was when a host came: one that does not know the board passes
        over everything up to it.
    """

    host_silence_us = HOST_SILENCE_US

    def __init__(
        self, listener: Listener, boot: int, serial: str, has_noise: bool,
        truth: Calibration | None, played: Played, acknowledged: Acknowledged,
    ) -> None:  # fmt: skip
        super().__init__(
            listener, boot=boot, serial=serial, has_noise=has_noise,
            host_silence_us=self.host_silence_us,
        )  # fmt: skip
        self.happened: dict[int, tuple[str, dict[str, str | int]]] = {}
        self.acknowledged = self.newest_met = 0
        self._truth = truth
        self._when_played = played
        self._when_acknowledged = acknowledged
        self._byte_us = 0  # of the last one that came from the host

    @property
    def boot(self) -> str:
        """Return its boot as the wire has it."""
        return f"{self._boot:08x}"

    def receive(self, data: bytes, now_us: int) -> None:
        self.advance(now_us)
        if data:
            self._byte_us = now_us
        super().receive(data, now_us)

    def advance(self, now_us: int) -> None:
        super().advance(now_us)
        sounds = self._tone is not None or self.noise is not None
        if sounds and now_us - self._byte_us > HOST_SILENCE_US:
            raise Violation(f"the board sounds {now_us - self._byte_us} us after its host's word")

    def hold(self, press: Press) -> None:
        """Have a finger move, now."""
        self._intend(press, self._now_us, spontaneous=False)

    def hurry(self) -> None:
        """Have all fingers let go, as soon as time passes."""
        for finger in self._fingers:
            if finger.is_down:
                finger._release_us = self._now_us

    def _level_db_hl(self, sound: PlayedTone | PlayedNoise) -> float:
        if self._truth is None:
            return super()._level_db_hl(sound)
        full_scale_db_spl = self._truth.sensitivity_db_spl[sound.ear].at(sound.frequency_hz)
        retspl_db_spl = self._truth.retspl_db_spl.at(sound.frequency_hz)
        return sound.level_dbfs + full_scale_db_spl - retspl_db_spl

    def _listen(self, tone: PlayedTone) -> None:
        super()._listen(tone)
        self._when_played(self)

    def _happened(self, verb: str, fields: dict[str, str | int]) -> None:
        super()._happened(verb, fields)
        self.happened[self._events.newest] = verb, fields

    def _hello(self, fields: Any) -> dict[str, str | int]:
        answer = super()._hello(fields)
        self.newest_met = int(answer["event"])
        return answer

    def _acknowledge(self, fields: Any) -> dict[str, str | int]:
        answer = super()._acknowledge(fields)
        ring = self._events._ring
        upto = ring[0][0] - 1 if ring else self._events.newest
        if upto > self.acknowledged:
            before, self.acknowledged = self.acknowledged, upto
            self._when_acknowledged(self, before, upto)
        return answer
