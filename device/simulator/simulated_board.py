"""A tone generator whose sound and time are simulated, with a listener at its buttons.

It is the board's own program (`device/tone_generator/server.py`) with another output. There is no
clock and no port here: bytes and times come in, bytes come out. Everything that happens by itself
(a tone's end, a press) has a due time in board time and happens at exactly that time, however far
`SimulatedBoard.advance` goes at once.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from device.simulator.hand import Hand
from device.simulator.listener import Ear, Listener, Noise, tone_by
from device.simulator.microphones import SimulatedMicrophone
from device.simulator.room_around import QUIET, RoomAround
from device.tone_generator.server import ToneGenerator
from firmware_py.calibration.calibration import NOISE_CORRECTION
from firmware_py.calibration.simulated import BOARD_NAME, FULL_SCALE_DB_HL, SERIAL
from firmware_py.link.messages import HOST_SILENCE_US
from firmware_py.terms.route import BY_AIR, ROUTE_KINDS, Route

PLAYED_MAX: Final = 4096  # tones remembered for tests; a session has a few hundred
_EARS: Final[tuple[Ear, Ear]] = ("left", "right")


@dataclass(frozen=True)
class PlayedNoise:
    """Noise that comes out of an earphone: ear, centre of its band, RMS re full scale."""

    ear: Ear
    frequency_hz: float
    level_dbfs: float


@dataclass(frozen=True)
class PlayedTone:
    """A tone that came out of the earphones, and the noise that was in the other ear by then.

    `cut`: it was silenced before its end; False while it sounds. `via`: the transducer, as on the
    wire.
    """

    tone_id: str
    ear: Ear
    frequency_hz: float
    level_dbfs: float
    onset_us: int
    cut: bool
    noise: PlayedNoise | None = None
    via: int = BY_AIR.wire_number

    @property
    def route(self) -> Route:
        (kind,) = (kind for kind in ROUTE_KINDS if kind.wire_number == self.via)
        return Route(self.ear, kind.transducer)


class SimulatedOutput:
    """An output of the tone generator's program whose tones begin at once and end in time.

    `end_us`: when the tone that sounds will end; None: none sounds.
    """

    def __init__(
        self,
        has_noise: bool,
        transducers: int,
        when_begun: Callable[[Ear, float, float], None],
        when_over: Callable[[bool], None],  # is told whether it was cut
        microphone: SimulatedMicrophone,
    ) -> None:
        self.has_noise = has_noise
        self.transducers = transducers
        self.via = BY_AIR.wire_number  # of the tone that sounds, or is about to
        self.began_us: int | None = None
        self.ended_us: int | None = None
        self.end_us: int | None = None
        self.noise: PlayedNoise | None = None
        self.now_us = 0
        self._when_begun = when_begun
        self._when_over = when_over
        self._microphone = microphone

    def lead(self, _ear: int, via: int) -> None:
        """Have what comes next come out of this transducer; noise knows but the earphones."""
        self.via = via

    def play(
        self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: tuple[int, ...]
    ) -> None:
        """Take a tone: on, off, number of pulses, rise."""
        on_ms, off_ms, pulses, _ = times_ms
        self.began_us, self.ended_us = self.now_us, None
        self.end_us = self.now_us + 1000 * (pulses * on_ms + (pulses - 1) * off_ms)
        self._microphone.tone_began(self.now_us, frequency_hz, level_dbfs, times_ms)
        self._when_begun(_EARS[ear], frequency_hz, level_dbfs)

    def cut(self) -> None:
        self.end_us = None
        self._over(cut=True)

    def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
        self.noise = PlayedNoise(_EARS[ear], frequency_hz, level_dbfs)
        self._microphone.noise_changed(self.now_us, masked=True)

    def unmask(self) -> None:
        self.noise = None
        self._microphone.noise_changed(self.now_us, masked=False)

    def advance(self, now_us: int) -> None:
        self.now_us = self._microphone.now_us = now_us
        if self.end_us is not None and now_us >= self.end_us:
            self.ended_us, self.end_us = self.end_us, None
            self._over(cut=False)

    def _over(self, cut: bool) -> None:
        self._microphone.tone_over(self.now_us)
        self._when_over(cut)


class SimulatedBoard:
    """A tone generator with a listener at its buttons.

    Parameters
    ----------
    listener : Listener
        Who presses the buttons.
    boot : int
        The number of this start of the board, 0 to 2**32 - 1.
    serial : str
        Of the board, for ever: 1 to 32 characters.
    output_limit_dbfs : float
        Tones and noise above this level are refused.
    host_silence_us : int
        Tone and noise are cut when no valid frame came for so long, in board time, above 0.
    has_noise : bool
        Whether it knows `mask` and `unmask`.
    has_vibrator : bool
        Whether it has a bone vibrator, and tells so; a board of before has none.
    name : str
        What it calls itself.
    room : RoomAround
        Whose noise its microphone hears, if it has one, and its listener, as the mean of a tone.
    """

    server_type: type[ToneGenerator] = ToneGenerator

    def __init__(  # noqa: PLR0913 - each is a part of the board
        self,
        listener: Listener,
        *,
        boot: int = 1,
        serial: str = SERIAL,
        output_limit_dbfs: float = 0.0,
        host_silence_us: int = HOST_SILENCE_US,
        has_noise: bool = True,
        has_vibrator: bool = True,
        name: str = BOARD_NAME,
        room: RoomAround = QUIET,
    ) -> None:
        self._room = room
        self.host_silence_us = host_silence_us
        self.now_us = 0
        self.hand = Hand(listener)
        self._played: deque[PlayedTone] = deque(maxlen=PLAYED_MAX)
        kinds = ROUTE_KINDS if has_vibrator else (BY_AIR,)
        transducers = sum(1 << kind.wire_number for kind in kinds)
        microphone = room.placed_microphone()
        self._output = SimulatedOutput(
            has_noise, transducers, self._tone_began, self._tone_over, microphone
        )
        limits_dbfs = (output_limit_dbfs,) * (2 + has_vibrator)
        hears_room = microphone if room.microphone else None
        self.server = self.server_type(
            self._output, limits_dbfs, boot, serial, name, host_silence_us, hears_room
        )

    @property
    def noise(self) -> PlayedNoise | None:
        return self._output.noise

    @property
    def tone(self) -> PlayedTone | None:
        return None if self._output.end_us is None else self._played[-1]

    @property
    def played(self) -> list[PlayedTone]:
        """The newest tones that were played, oldest first, at most `PLAYED_MAX`."""
        return list(self._played)

    def next_deadline_us(self) -> int | None:
        due = (self._output.end_us, self.server.silence_due_us(), self.hand.due_us())
        return min((us for us in due if us is not None), default=None)

    def advance(self, now_us: int) -> None:
        """Let time pass; a ValueError if it goes backwards."""
        if now_us < self.now_us:
            raise ValueError(f"now_us is {now_us}, allowed is {self.now_us} or later")
        while (due_us := self.next_deadline_us()) is not None and due_us <= now_us:
            self._pass_to(due_us)
            moved = self.hand.move(due_us)
            if moved is not None:
                self.server.button(*moved, due_us)
        self._pass_to(now_us)

    def receive(self, data: bytes, now_us: int) -> None:
        self.advance(now_us)
        self.server.receive(data, now_us, now_us)

    def transmit(self, frames_max: int | None = None) -> bytes:
        return self.server.outbox.take(frames_max)

    def _pass_to(self, now_us: int) -> None:
        self.now_us = now_us
        self._output.advance(now_us)
        self.server.advance(now_us)

    def _tone_began(self, ear: Ear, frequency_hz: float, level_dbfs: float) -> None:
        tone = PlayedTone(
            self.server.sounds.tone_id,
            ear,
            frequency_hz,
            level_dbfs,
            self.now_us,
            False,
            self.noise,
            self._output.via,
        )
        self._played.append(tone)
        self._listen(tone)

    def _listen(self, tone: PlayedTone) -> None:
        sound = tone.frequency_hz, self._level_db_hl(tone)
        span_us = tone.onset_us, self._output.end_us or tone.onset_us
        room_db_hl = self._room.masking_db_hl(tone.route, tone.frequency_hz, span_us)
        heard = tone_by(tone.route, tone.tone_id, sound, self._noise_heard(), room_db_hl)
        press = self.hand.listener.answer(heard)
        self.hand.tone_began(tone.onset_us, press)

    def _tone_over(self, cut: bool) -> None:
        self._played[-1] = replace(self._played[-1], cut=cut)
        self.hand.tone_over(self._played[-1].tone_id, self.now_us, cut)

    def _level_db_hl(self, sound: PlayedTone | PlayedNoise) -> float:
        # Of a tone, and of one with the power of the noise.
        return sound.level_dbfs + FULL_SCALE_DB_HL

    def _noise_heard(self) -> Noise | None:
        noise = self.noise
        if noise is None:
            return None
        measured_hz = min(
            max(noise.frequency_hz, BY_AIR.calibrated_hz[0]), BY_AIR.calibrated_hz[-1]
        )
        level_db_hl = self._level_db_hl(noise) - NOISE_CORRECTION.at(measured_hz)
        return Noise(noise.ear, noise.frequency_hz, level_db_hl)
