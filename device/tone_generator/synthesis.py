"""Tones and narrow-band noise as 32-bit samples, in whole numbers and without allocation.

CPython and MicroPython run this module alike. A kernel is viper code on the microcontroller and
plain Python on a computer, and gives the same samples on both: no product passes 31 bits, and no
constant 30.

A sample is ``sine * gain * 2 / 2**shift``: a sine of 15 bits and a gain of 15 bits whose exponent
is the shift, like a floating-point number, so that a tone of -90 dBFS is as pure and its level as
fine as one of 0 dBFS.
"""

import math
from array import array

try:
    import micropython
except ImportError:  # a computer, which runs the kernels as they are

    class micropython:  # type: ignore[no-redef]  # noqa: N801 - it stands for the module
        """What the kernels use of it."""

        viper = staticmethod(lambda function: function)


TYPE_CHECKING = False
if TYPE_CHECKING:
    ptr16 = array[int]
    ptr32 = array[int]
else:
    ptr16 = ptr32 = None  # the viper compiler reads the names; nobody reads the values

PHASE_BITS = 30  # a turn; the largest number of bits that stay a small int in MicroPython
TURN = 1 << PHASE_BITS
QUARTER = TURN // 4  # the phase of a ramp that is all the way up
TABLE_BITS = 10  # linear interpolation between so many points errs by less than 5e-6
SINE_MAX = 32767  # peak of the table, and largest gain
SINE_ZERO = 32768  # the table is unsigned: viper loads 16 bits without a sign
_POINTER_BITS = 40
_POINTER_HALF = 1 << (_POINTER_BITS - 1)
_STEP_SINE = 6746476518  # of a turn / 2**TABLE_BITS, times 2**_POINTER_BITS
_STEP_COSINE = 1099490929780
CHANNELS = 2
LEFT = 0
RIGHT = 1

CUT_MS = 5  # a tone is silenced by a fall so long: at once, and yet no click
NOISE_RISE_MS = 50
NOISE_BANDWIDTH = 0.29  # -3 dB to -3 dB, of the centre: between a third of an octave and a half
NOISE_LEVEL_DBFS_MAX = -10.0  # a louder one would be clipped at four times its RMS
_TWO_POLES = 0.6436  # -3 dB of two equal one-pole filters, of the corner of one
_NOISE_RMS = 8192  # of the noise before its gain, a quarter of full scale

# The parts of a kernel's state.
_PHASE, _STEP, _RAMP, _RAMP_STEP, _GAIN, _SHIFT = 0, 1, 2, 3, 4, 5
_SEED, _CORNER, _COARSE, _FINE = 6, 7, 12, 13
_TONE_STATE = 6
_NOISE_STATE = 14

# What a voice is doing.
_IDLE, _RISE, _STEADY, _FALL, _GAP, _CUT = 0, 1, 2, 3, 4, 5


def sine_table() -> "array[int]":
    """Return one turn of a sine, its first point repeated at the end, as unsigned 16-bit numbers.

    Returns
    -------
    array of int
        ``2**TABLE_BITS + 1`` numbers, `SINE_ZERO` -+ `SINE_MAX`.
    """
    # By turning a pointer in whole numbers: a microcontroller's floats round otherwise than ours.
    sine, cosine = 0, 1 << _POINTER_BITS
    quarter = []
    for _ in range(((1 << TABLE_BITS) >> 2) + 1):
        quarter.append((sine * SINE_MAX + _POINTER_HALF) >> _POINTER_BITS)
        sine, cosine = (
            (sine * _STEP_COSINE + cosine * _STEP_SINE) >> _POINTER_BITS,
            (cosine * _STEP_COSINE - sine * _STEP_SINE) >> _POINTER_BITS,
        )
    half = quarter[:-1] + quarter[:0:-1]
    turn = half + [-point for point in half] + [0]
    return array("H", [SINE_ZERO + point for point in turn])


def gain_and_shift(level_db: float) -> "tuple[int, int]":
    """Return a level as a 15-bit gain and a shift.

    Parameters
    ----------
    level_db : float
        dB re full scale, 0 or less.

    Returns
    -------
    gain : int
        16384 to `SINE_MAX`.
    shift : int
    """
    if not level_db <= 0.0:
        raise ValueError(f"level {level_db} dB re full scale, allowed is 0 or less")
    amplitude = math.pow(10.0, level_db / 20.0)
    shift = 0
    while amplitude < 0.5:
        amplitude *= 2.0
        shift += 1
    return round(amplitude * SINE_MAX), shift


def phase_step(frequency_hz: float, rate_hz: float) -> int:
    """Return by how much the phase grows in a frame.

    Parameters
    ----------
    frequency_hz : float
        Above 0 and below half the rate.
    rate_hz : float
        Frames in a second.
    """
    if not 0.0 < frequency_hz < 0.5 * rate_hz:
        raise ValueError(f"{frequency_hz} Hz, allowed is above 0 and below {0.5 * rate_hz} Hz")
    return int(frequency_hz / rate_hz * TURN + 0.5)


@micropython.viper
def fill_tone(out: ptr32, first: int, frames: int, state: ptr32, table: ptr16) -> int:
    """Write a piece of a tone into every other sample, from the `first` on.

    The envelope is the square of a sine of a quarter turn, which is a raised cosine.
    """
    phase = state[0]
    step = state[1]
    ramp = state[2]
    ramp_step = state[3]
    shift = state[5]
    half = (1 << shift) >> 2
    gain = state[4]
    i = first
    end = first + 2 * frames
    while i < end:
        k = phase >> 20
        a = table[k]
        b = table[k + 1] - a
        s = a - 32768 + ((b * ((phase >> 5) & 32767) + 16384) >> 15)
        phase = (phase + step) & 0x3FFFFFFF
        if ramp_step != 0:
            k = ramp >> 20
            a = table[k]
            b = table[k + 1] - a
            e = a - 32768 + ((b * ((ramp >> 5) & 32767) + 16384) >> 15)
            gain = (state[4] * ((e * e + 16384) >> 15) + 16384) >> 15
            ramp = ramp + ramp_step
        if shift == 0:
            out[i] = (s * gain) << 1
        else:
            out[i] = (s * gain + half) >> (shift - 1)
        i += 2
    state[0] = phase
    state[2] = ramp
    return i


@micropython.viper
def fill_noise(out: ptr32, first: int, frames: int, state: ptr32, table: ptr16) -> int:
    """Write a piece of narrow-band noise into every other sample, from the `first` on.

    Two white noises, each through two one-pole filters, are the cosine and the sine part of a tone
    at the centre of the band.
    """
    phase = state[0]
    ramp = state[2]
    ramp_step = state[3]
    shift = state[5]
    half = (1 << shift) >> 2
    gain = state[4]
    seed = state[6]
    corner = state[7]
    coarse = state[12]
    fine = state[13]
    i = first
    end = first + 2 * frames
    while i < end:
        n = 0
        j = 8
        while j < 12:
            seed = (seed * 663608941 + 12345) & 0x3FFFFFFF
            w = ((seed >> 14) - 32768) << 14
            state[j] = state[j] + ((w - state[j]) >> 15) * corner
            y = state[j + 1] + ((state[j] - state[j + 1]) >> 15) * corner
            state[j + 1] = y
            y = y >> coarse
            if y > 32767:
                y = 32767
            if y < 0 - 32767:
                y = 0 - 32767
            y = (y * fine) >> 14
            if y > 32767:
                y = 32767
            if y < 0 - 32767:
                y = 0 - 32767
            n = n + ((y * (table[((phase >> 20) + (j - 8) * 128) & 1023] - 32768)) >> 15)
            j += 2
        phase = (phase + state[1]) & 0x3FFFFFFF
        if n > 32767:
            n = 32767
        if n < 0 - 32767:
            n = 0 - 32767
        if ramp_step != 0:
            e = table[ramp >> 20] - 32768
            gain = (state[4] * ((e * e + 16384) >> 15) + 16384) >> 15
            ramp = ramp + ramp_step
        if shift == 0:
            out[i] = (n * gain) << 1
        else:
            out[i] = (n * gain + half) >> (shift - 1)
        i += 2
    state[0] = phase
    state[2] = ramp
    state[6] = seed
    return i


@micropython.viper
def clear(out: ptr32, samples: int) -> int:
    """Write silence."""
    i = 0
    while i < samples:
        out[i] = 0
        i += 1
    return i


class ToneVoice:
    """Plays one tone at a time, pulse by pulse, into one channel of stereo blocks.

    `start` and `cut` are called by the program, `fill` by the output whenever it wants a block,
    between any two steps of the program: what `fill` may not see half done is set last.

    Parameters
    ----------
    table : array of int
        From `sine_table`.
    rate_hz : float
        Frames in a second.

    Attributes
    ----------
    began_frame, ended_frame : int
        Where in the block of the last `fill` a tone began and ended; -1: it did not.
    held : bool
        Do not begin yet: something else still fades in that channel.
    """

    def __init__(self, table: "array[int]", rate_hz: float) -> None:
        self._table = table
        self._rate_hz = rate_hz
        self._state = array("i", [0] * _TONE_STATE)
        self._next = array("i", [0] * 8)
        self._cut_step = max(1, QUARTER // self._frames(CUT_MS))
        self._waiting = False
        self._cut = False
        self.held = False
        self._doing = _IDLE
        self._channel = self._left = 0
        self._rise = self._plateau = self._off = self._pulses = 0
        self.began_frame = self.ended_frame = -1

    @property
    def silent(self) -> bool:
        """Return whether nothing sounds, nor waits to."""
        return self._doing == _IDLE and not self._waiting

    @property
    def channel(self) -> int:
        """Return the channel that sounds, -1 if none does."""
        return -1 if self._doing == _IDLE else self._channel

    @property
    def next_channel(self) -> int:
        """Return the channel of what waits, or has waited last."""
        return self._next[0]

    def start(
        self, channel: int, frequency_hz: float, level_dbfs: float, times_ms: "tuple[int, ...]"
    ) -> None:
        """Play a tone from the next block on, or from when the one before has faded.

        Parameters
        ----------
        channel : int
            `LEFT` or `RIGHT`.
        frequency_hz, level_dbfs : float
        times_ms : tuple of int
            On, off, number of pulses, rise.
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
        assert following[5] >= 0
        self._waiting = True

    def cut(self) -> None:
        """Fall silent from the next block on; a tone that waits is not played."""
        self._waiting = False
        self._cut = True

    def fill(self, out: "array[int]", frames: int) -> bool:
        """Write the next piece into a cleared block; return whether anything was written.

        Nothing is allocated here.
        """
        self.began_frame = self.ended_frame = -1
        if self._cut:
            self._fall_silent()
        if self._doing == _IDLE:
            if self.held or not self._waiting:
                return False
            self._begin()
        at = 0
        while at < frames and self._doing != _IDLE:
            count = self._left
            if count > frames - at:
                count = frames - at
            if self._doing != _GAP:
                fill_tone(out, 2 * at + self._channel, count, self._state, self._table)
            at += count
            self._left -= count
            while self._left == 0 and self._doing != _IDLE:
                self._go_on()
        if self._doing == _IDLE:
            self.ended_frame = at
        return True

    def _frames(self, time_ms: int) -> int:
        return int(time_ms * self._rate_hz / 1000.0 + 0.5)

    def _begin(self) -> None:
        following, state = self._next, self._state
        self._waiting = False
        self._channel = following[0]
        state[_PHASE] = 0
        state[_STEP] = following[1]
        state[_GAIN] = following[2]
        state[_SHIFT] = following[3]
        self._rise = following[4]
        self._plateau = following[5]
        self._off = following[6]
        self._pulses = following[7]
        self.began_frame = 0
        self._go_up()

    def _go_up(self) -> None:
        self._doing = _RISE
        self._left = self._rise
        self._state[_RAMP] = 0
        self._state[_RAMP_STEP] = QUARTER // self._rise

    def _go_on(self) -> None:
        # The piece is over; the next one may be empty.
        state = self._state
        if self._doing == _RISE:
            self._doing = _STEADY
            self._left = self._plateau
            state[_RAMP] = QUARTER
            state[_RAMP_STEP] = 0
        elif self._doing == _STEADY:
            self._doing = _FALL
            self._left = self._rise
            state[_RAMP_STEP] = -(QUARTER // self._rise)
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

    def _fall_silent(self) -> None:
        self._cut = False
        if self._doing == _GAP:
            self._doing = _IDLE
            self._left = 0
        elif self._doing != _IDLE and self._doing != _CUT:
            self._doing = _CUT
            self._left = self._state[_RAMP] // self._cut_step
            self._state[_RAMP_STEP] = -self._cut_step
            if self._left == 0:
                self._doing = _IDLE


class NoiseVoice:
    """Plays narrow-band noise into one channel of stereo blocks until it is told not to.

    Parameters
    ----------
    table : array of int
        From `sine_table`.
    rate_hz : float
        Frames in a second.

    Attributes
    ----------
    held : bool
        Do not begin yet: something else still fades in that channel.
    """

    def __init__(self, table: "array[int]", rate_hz: float) -> None:
        self._table = table
        self._rate_hz = rate_hz
        self._state = array("i", [0] * _NOISE_STATE)
        self._next = array("i", [0] * 7)
        self._state[_SEED] = 1
        rise = int(NOISE_RISE_MS * rate_hz / 1000.0)
        self._ramp_step = QUARTER // rise
        self._waiting = False
        self._cut = False
        self.held = False
        self._doing = _IDLE
        self._left = 0
        self._channel = 0

    @property
    def silent(self) -> bool:
        """Return whether nothing sounds, nor waits to."""
        return self._doing == _IDLE and not self._waiting

    @property
    def channel(self) -> int:
        """Return the channel that sounds, -1 if none does."""
        return -1 if self._doing == _IDLE else self._channel

    @property
    def next_channel(self) -> int:
        """Return the channel of what waits, or has waited last."""
        return self._next[0]

    def start(self, channel: int, frequency_hz: float, level_dbfs: float) -> None:
        """Play noise from the next block on, or from when what plays has faded.

        Parameters
        ----------
        channel : int
            `LEFT` or `RIGHT`.
        frequency_hz : float
            The centre of the band.
        level_dbfs : float
            The RMS is that of a tone of this level, `NOISE_LEVEL_DBFS_MAX` at most.
        """
        if level_dbfs > NOISE_LEVEL_DBFS_MAX:
            raise ValueError(f"noise {level_dbfs} dBFS, allowed is {NOISE_LEVEL_DBFS_MAX} or less")
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

    def cut(self) -> None:
        """Fade from the next block on."""
        self._waiting = False
        self._cut = True

    def fill(self, out: "array[int]", frames: int) -> bool:
        """Write the next piece into a cleared block; return whether anything was written.

        Nothing is allocated here.
        """
        if self._cut:
            self._fade()
        if self._doing == _IDLE:
            if self.held or not self._waiting:
                return False
            self._begin()
        at = 0
        while at < frames and self._doing != _IDLE:
            count = frames - at
            if self._doing != _STEADY and count > self._left:
                count = self._left
            fill_noise(out, 2 * at + self._channel, count, self._state, self._table)
            at += count
            if self._doing != _STEADY:
                self._left -= count
                if self._left == 0:
                    self._settle()
        return True

    def _begin(self) -> None:
        following, state = self._next, self._state
        self._waiting = False
        self._channel = following[0]
        state[_STEP] = following[1]
        state[_GAIN] = following[2]
        state[_SHIFT] = following[3]
        state[_CORNER] = following[4]
        state[_COARSE] = following[5]
        state[_FINE] = following[6]
        state[_RAMP] = 0
        state[_RAMP_STEP] = self._ramp_step
        self._left = QUARTER // self._ramp_step
        self._doing = _RISE

    def _settle(self) -> None:
        if self._doing == _RISE:
            self._doing = _STEADY
            self._state[_RAMP] = QUARTER
            self._state[_RAMP_STEP] = 0
        else:
            self._doing = _IDLE

    def _fade(self) -> None:
        self._cut = False
        if self._doing == _RISE or self._doing == _STEADY:
            self._doing = _CUT
            self._left = self._state[_RAMP] // self._ramp_step
            self._state[_RAMP_STEP] = -self._ramp_step
            if self._left == 0:
                self._doing = _IDLE


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
