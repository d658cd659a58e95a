"""A tone and noise in one stereo block: all that an output of samples needs but the time.

`Voices` has one voice for tones and one for noise. `play`, `cut`, `mask` and `unmask` are called by
the program, `fill` by the output whenever it wants a block, between any two steps of the program:
what `fill` may not see half done is set last.
"""

import math
from array import array

from device.tone_generator.constant import Constant
from device.tone_generator.synthesis import (
    CHANNELS,
    COARSE,
    CORNER,
    FINE,
    GAIN,
    NOISE_STATE,
    PHASE,
    QUARTER,
    RAMP,
    RAMP_STEP,
    SEED,
    SHIFT,
    STEP,
    TONE_STATE,
    fill_noise,
    fill_tone,
    gain_and_shift,
    hold,
    phase_step,
    sine_table,
)
from firmware_py.link.messages import NOISE_DBFS_MAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CUT_MS = 5  # a tone is silenced by a fall so long: at once, and yet no click
NOISE_RISE_MS = 50
NOISE_BANDWIDTH = 0.29  # -3 dB to -3 dB, of the centre: between a third of an octave and a half
_TWO_POLES = 0.6436  # -3 dB of two equal one-pole filters, of the corner of one
_NOISE_RMS = 8192  # of the noise before its gain, a quarter of full scale

_LONG = 1 << 24  # frames of noise, some minutes, after which it goes on

# What a voice is doing.
_IDLE, _RISE, _STEADY, _FALL, _GAP, _CUT = 0, 1, 2, 3, 4, 5


class Voices:
    """One tone and one noise at a time, above a constant.

    Nothing begins before the constant is ready. Who knows whether it is wanted says it there.
    `began_frame` and `ended_frame` are where in the block of the last `fill` a tone began, or ended
    that was not cut; -1: it did not. `silent_frames`: how many blocks' frames in a row had neither
    pulse nor noise, at most `_LONG`.
    """

    def __init__(self, rate_hz: float) -> None:
        table = sine_table()
        self._tone = ToneVoice(table, rate_hz)
        self._noise = NoiseVoice(table, rate_hz)
        self.constant = Constant(rate_hz)
        self._block: array[int] | None = None  # of the last `fill`
        self._holds = -1  # all of it, if it is not -1
        self._wanted = False  # the tone that plays has not been cut
        self.began_frame = self.ended_frame = -1
        self.silent_frames = 0

    def play(
        self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: "tuple[int, ...]"
    ) -> None:
        self._tone.start(ear, frequency_hz, level_dbfs, times_ms)

    def cut(self) -> None:
        """Let the tone fall silent within a fade; it does not end then."""
        self._wanted = False
        self._tone.cut()

    def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
        self._noise.start(ear, frequency_hz, level_dbfs)

    def unmask(self) -> None:
        self._noise.cut()

    @property
    def masks(self) -> bool:
        return self._noise.channel >= 0

    def fill(self, block: "array[int]", frames: int) -> None:
        """Write the next block. Nothing is allocated here."""
        tone, noise, constant = self._tone, self._noise, self.constant
        constant.advance(tone.channel < 0 and noise.channel < 0, frames)
        if block is not self._block or self._holds != constant.sample:
            hold(block, CHANNELS * frames, constant.sample)
            self._block = block
            self._holds = constant.sample
        tone.held = not constant.ready or noise.is_to_change(tone.next_channel)
        noise.held = not constant.ready or noise.next_channel == tone.channel
        sounds = tone.fill(block, frames)
        self.began_frame = tone.began_frame
        if self.began_frame >= 0:
            self._wanted = True
        self.ended_frame = tone.ended_frame if self._wanted else -1
        if noise.fill(block, frames) or sounds:
            self._holds = -1
        if tone.sounded or noise.sounded:
            self.silent_frames = 0
        elif self.silent_frames < _LONG:
            self.silent_frames += frames


class Wave:
    """What plays in a voice: a kernel that computes the samples, and its state of numbers."""

    def __init__(
        self,
        kernel: "Callable[[array[int], int, int, array[int], array[int]], int]",
        state: int,
        table: "array[int]",
    ) -> None:
        self.state = array("i", [0] * state)
        self._kernel = kernel
        self._table = table

    def add(self, out: "array[int]", start: int, frames: int) -> None:
        """Add the next frames to a channel of a block, from this place in it."""
        self._kernel(out, start, frames, self.state, self._table)


class Voice:
    """What a voice for tones and one for noise have in common: it plays into one channel.

    `start` and `cut` are called by the program, `fill` by the output. `following` is how many
    numbers say what is to be played next: channel, phase step, gain, shift, and what the kind of
    voice adds. `held`: do not begin yet, for something else still fades in that channel, or the
    constant moves. `began_frame` and `ended_frame` are as of `Voices`. `sounded`: the last block
    has some of it, not only a gap between pulses.
    """

    def __init__(self, wave: Wave, rate_hz: float, following: int, cut_ms: int) -> None:
        self._wave = wave
        self._rate_hz = rate_hz
        self._next = array("i", [0] * following)
        self._cut_step = max(1, QUARTER // self._frames(cut_ms))
        self._waiting = False
        self._cut = False
        self.held = self.sounded = False
        self._doing = _IDLE
        self._channel = self._left = 0
        self.began_frame = self.ended_frame = -1

    @property
    def channel(self) -> int:
        """Return the channel that sounds, -1 if none does."""
        return -1 if self._doing == _IDLE else self._channel

    @property
    def next_channel(self) -> int:
        """Return the channel of what waits, or has waited last."""
        return self._next[0]

    def cut(self) -> None:
        """Fall silent from the next block on; what waits is not played."""
        self._waiting = False
        self._cut = True

    def is_to_change(self, channel: int) -> bool:
        """Return whether it fades in a channel, or is about to begin there."""
        fades = self._cut or self._doing == _CUT
        return (fades and self.channel == channel) or (
            self._waiting and self.next_channel == channel
        )

    def fill(self, out: "array[int]", frames: int) -> bool:
        """Add the next piece to what a block holds; return whether there was any.

        Nothing is allocated here.
        """
        self.began_frame = self.ended_frame = -1
        self.sounded = False
        if self._cut:
            self._fall_silent()
        if self._doing == _IDLE:
            if self.held or not self._waiting:
                return False
            self._take_next()
            self._begin()
            self.began_frame = 0
        at = 0
        while at < frames and self._doing != _IDLE:
            count = self._left
            if count > frames - at:
                count = frames - at
            if self._doing != _GAP:
                self._wave.add(out, 2 * at + self._channel, count)
                self.sounded = True
            at += count
            self._left -= count
            while self._left == 0 and self._doing != _IDLE:
                self._go_on()
        if self._doing == _IDLE:
            self.ended_frame = at
        return True

    def _frames(self, time_ms: int) -> int:
        return int(time_ms * self._rate_hz / 1000.0 + 0.5)

    def _take_next(self) -> None:
        following, state = self._next, self._wave.state
        self._waiting = False
        self._channel = following[0]
        state[STEP] = following[1]
        state[GAIN] = following[2]
        state[SHIFT] = following[3]

    def _begin(self) -> None:
        # Goes up with the rest of what is next.
        raise NotImplementedError

    def _go_on(self) -> None:
        # The piece is over; the next one may be empty.
        raise NotImplementedError

    def _ramp(self, doing: int, frames: int, ramp: int, ramp_step: int) -> None:
        self._doing = doing
        self._left = frames
        self._wave.state[RAMP] = ramp
        self._wave.state[RAMP_STEP] = ramp_step

    def _fall_silent(self) -> None:
        self._cut = False
        if self._doing != _IDLE and self._doing != _CUT:
            ramp = self._wave.state[RAMP]
            self._ramp(_CUT, ramp // self._cut_step, ramp, -self._cut_step)


class ToneVoice(Voice):
    """Plays one tone at a time, pulse by pulse."""

    def __init__(self, table: "array[int]", rate_hz: float) -> None:
        super().__init__(Wave(fill_tone, TONE_STATE, table), rate_hz, 8, CUT_MS)
        self._rise = self._plateau = self._off = self._pulses = 0

    def start(
        self, channel: int, frequency_hz: float, level_dbfs: float, times_ms: "tuple[int, ...]"
    ) -> None:
        """Play a tone from the next block on, or from when the one before has faded.

        `times_ms` are on, off, number of pulses, rise.
        """
        on_ms, off_ms, pulses, rise_ms = times_ms
        following = self._next
        self._waiting = False
        rise = self._frames(rise_ms)
        following[0] = channel
        following[1] = phase_step(frequency_hz, self._rate_hz)
        following[2], following[3] = gain_and_shift(level_dbfs)
        following[4] = rise
        following[5] = self._frames(on_ms) - 2 * rise
        following[6] = self._frames(off_ms)
        following[7] = pulses
        if following[5] < 0:
            raise ValueError(f"rise {rise_ms} ms, allowed is at most half of {on_ms} ms")
        self._waiting = True

    def _begin(self) -> None:
        following = self._next
        self._wave.state[PHASE] = 0
        self._rise = following[4]
        self._plateau = following[5]
        self._off = following[6]
        self._pulses = following[7]
        self._go_up()

    def _go_up(self) -> None:
        self._ramp(_RISE, self._rise, 0, QUARTER // self._rise)

    def _go_on(self) -> None:
        if self._doing == _RISE:
            self._ramp(_STEADY, self._plateau, QUARTER, 0)
        elif self._doing == _STEADY:
            self._ramp(_FALL, self._rise, QUARTER, -(QUARTER // self._rise))
        elif self._doing == _FALL:
            self._pulses -= 1
            if self._pulses == 0:
                self._doing = _IDLE
            else:
                self._doing = _GAP
                self._left = self._off
        elif self._doing == _GAP:
            self._go_up()
        else:
            self._doing = _IDLE


class NoiseVoice(Voice):
    """Plays narrow-band noise until it is told not to."""

    def __init__(self, table: "array[int]", rate_hz: float) -> None:
        super().__init__(Wave(fill_noise, NOISE_STATE, table), rate_hz, 7, NOISE_RISE_MS)
        self._wave.state[SEED] = 1

    def start(self, channel: int, frequency_hz: float, level_dbfs: float) -> None:
        """Play noise around a frequency from the next block on, or from when what plays has faded.

        Its RMS is that of a tone of this level, `NOISE_DBFS_MAX` at most.
        """
        if level_dbfs > NOISE_DBFS_MAX:
            raise ValueError(f"noise {level_dbfs} dBFS, allowed is {NOISE_DBFS_MAX} or less")
        following = self._next
        self._waiting = False
        following[0] = channel
        following[1] = phase_step(frequency_hz, self._rate_hz)
        # A tone's RMS is 1/sqrt(2) of full scale, that of the noise a quarter.
        following[2], following[3] = gain_and_shift(level_dbfs + 10.0 * math.log10(8.0))
        corner_hz = 0.5 * NOISE_BANDWIDTH * frequency_hz / _TWO_POLES
        corner = 1.0 - math.exp(-2.0 * math.pi * corner_hz / self._rate_hz)
        following[4] = round(corner * 32768.0)
        following[5], following[6] = _normalisation(corner)
        self._cut = self._doing != _IDLE
        self._waiting = True

    def _begin(self) -> None:
        following, state = self._next, self._wave.state
        state[CORNER] = following[4]
        state[COARSE] = following[5]
        state[FINE] = following[6]
        self._ramp(_RISE, QUARTER // self._cut_step, 0, self._cut_step)

    def _go_on(self) -> None:
        if self._doing == _CUT:
            self._doing = _IDLE
        else:  # again and again, for it lasts until it is cut
            self._ramp(_STEADY, _LONG, QUARTER, 0)


def _normalisation(corner: float) -> "tuple[int, int]":
    # A shift and a factor in 1/16384 that give the filtered noise its RMS.
    keep = 1.0 - corner
    power = math.pow(corner, 4) * (1.0 + keep * keep) / math.pow(1.0 - keep * keep, 3)
    rms = math.sqrt(power / 3.0) * 536870912.0  # of a uniform noise of +-2**29
    coarse = 0
    while rms >= _NOISE_RMS:
        rms *= 0.5
        coarse += 1
    return coarse, round(_NOISE_RMS / rms * 16384.0)
