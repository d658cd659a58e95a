"""Tones and narrow-band noise as 32-bit samples, in whole numbers and without allocation.

CPython and MicroPython run this module alike. A kernel is viper code on the microcontroller and
plain Python on a computer, and gives the same samples on both: no product passes 31 bits, and no
constant 30.

A sample is ``sine * gain * 2 / 2**shift``: a sine of 15 bits and a gain of 15 bits whose exponent
is the shift, like a floating-point number, so that a tone of -90 dBFS is as pure and its level as
fine as one of 0 dBFS. It is added to what the block holds: `hold` writes that.
"""

import math
from array import array

try:
    import micropython as micropython  # noqa: PLC0414 - for whoever else has kernels
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


# Where the parts of a kernel's state stand.
PHASE, STEP, RAMP, RAMP_STEP, GAIN, SHIFT = 0, 1, 2, 3, 4, 5
SEED, CORNER, COARSE, FINE = 6, 7, 12, 13
TONE_STATE = 6
NOISE_STATE = 14


def sine_table() -> "array[int]":
    """Return one turn of a sine, its first point repeated at the end, as unsigned 16-bit numbers.

    They are ``2**TABLE_BITS + 1`` numbers, `SINE_ZERO` -+ `SINE_MAX`.
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
    """Return a level re full scale, dB, as a gain of 15 bits, 16384 to `SINE_MAX`, and a shift."""
    if not level_db <= 0.0:
        raise ValueError(f"level {level_db} dB re full scale, allowed is 0 or less")
    amplitude = math.pow(10.0, level_db / 20.0)
    shift = 0
    while amplitude < 0.5:
        amplitude *= 2.0
        shift += 1
    return round(amplitude * SINE_MAX), shift


def phase_step(frequency_hz: float, rate_hz: float) -> int:
    """Return by how much the phase grows in a frame; the frequency is below half the rate."""
    if not 0.0 < frequency_hz < 0.5 * rate_hz:
        raise ValueError(f"{frequency_hz} Hz, allowed is above 0 and below {0.5 * rate_hz} Hz")
    return int(frequency_hz / rate_hz * TURN + 0.5)


@micropython.viper
def fill_tone(out: ptr32, first: int, frames: int, state: ptr32, table: ptr16) -> int:
    """Add a piece of a tone to every other sample, from the `first` on.

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
            out[i] = out[i] + ((s * gain) << 1)
        else:
            out[i] = out[i] + ((s * gain + half) >> (shift - 1))
        i += 2
    state[0] = phase
    state[2] = ramp
    return i


@micropython.viper
def fill_noise(out: ptr32, first: int, frames: int, state: ptr32, table: ptr16) -> int:
    """Add a piece of narrow-band noise to every other sample, from the `first` on.

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
            out[i] = out[i] + ((n * gain) << 1)
        else:
            out[i] = out[i] + ((n * gain + half) >> (shift - 1))
        i += 2
    state[0] = phase
    state[2] = ramp
    state[6] = seed
    return i


@micropython.viper
def hold(out: ptr32, samples: int, value: int) -> int:
    """Write a constant, which is silence."""
    i = 0
    while i < samples:
        out[i] = value
        i += 1
    return i
