"""The noise of the room in third octaves, from the samples of a microphone, in whole numbers.

Every band is a Butterworth band-pass of two sections between the edges of its third octave. The
bands of an octave lie at a third and a quarter of a sample rate; the next lower octave is measured
in the same way after every other sample has been left out. So there are two filters only, and they
take twice the work of the highest octave. A tone at the centre is measured as it is, noise within
the third octave 0.6 dB too low, wide noise 0.5 dB too high.

CPython and MicroPython run this module alike, see `synthesis.py`: no product passes 31 bits.
"""

import math
from array import array

from device.tone_generator.synthesis import micropython
from firmware_py.link.messages import ROOM_BANDS_HZ

TYPE_CHECKING = False
if TYPE_CHECKING:
    ptr32 = array[int]
else:
    ptr32 = None  # the viper compiler reads the name; nobody reads the value

MICROPHONE_RATE_HZ = 24000
BLOCK_FRAMES = 256  # 10.7 ms; a multiple of 64, by which the lowest band's rate is divided
SLICE_BLOCKS = 5  # 53 ms: two at each side of a tone are less than 125 ms
SLICES = 9  # the last half second
SIDE_SLICES = 2
# After the last sample of a pulse was computed: 21 ms until it is heard, 11 of the block that is
# read, and in 68 a third octave at 125 Hz falls by more than 30 dB.
TAIL_MS = 100

# Sections of scipy.signal.butter(2, (f / 2**(1/6), f * 2**(1/6)), "bandpass", fs=rate), in 1/2**14,
# with 1/8 for the factor of each; and the power at f that this leaves. f is a third of the rate, or
# a quarter.
_THIRD = (array("i", [9957, 11201, 18829, 12082]), 0.12976)
_QUARTER = (array("i", [-3472, 12665, 4083, 12674]), 0.35728)
# All-passes of a half-band filter, in 1/2**14: 59 dB from 0.313 of the rate on.
_HALF = array("i", [1817, 6381, 12522])

_FULL_SCALE_POWER = 2.0**53  # of a sine of 2**27, what is left of 32 bits
_CLIPPED_FROM = 0x7E00000  # of these 2**27
# Of every band, from the highest down: how often the rate is halved before it, and its filter.
_FILTERS = (
    (0, _THIRD), (0, _QUARTER), (1, _THIRD), (1, _QUARTER), (2, _THIRD), (2, _QUARTER),
    (3, _THIRD), (3, _QUARTER), (4, _THIRD), (5, _THIRD), (6, _THIRD),
)  # fmt: skip
_SUM, _SHIFT = 6, 7  # in the state of a band
_BLOCKS = len(ROOM_BANDS_HZ)  # behind the energies of a slice


@micropython.viper
def take_in(block: ptr32, frames: int) -> int:
    """Leave 28 bits of every sample of 32; return the largest."""
    largest = 0
    i = 0
    while i < frames:
        v = block[i] >> 4
        block[i] = v
        if v < 0:
            v = 0 - v
        if v > largest:
            largest = v
        i += 1
    return largest


@micropython.viper
def measure(block: ptr32, frames: int, state: ptr32, sections: ptr32) -> int:
    """Add the energy in a band to its sum, whose shift grows before it overflows."""
    x1 = state[0]
    x2 = state[1]
    y1 = state[2]
    y2 = state[3]
    z1 = state[4]
    z2 = state[5]
    total = state[6]
    shift = state[7]
    a1 = sections[0]
    a2 = sections[1]
    b1 = sections[2]
    b2 = sections[3]
    i = 0
    while i < frames:
        x = block[i]
        y = (x - x2) >> 3
        y -= (y1 >> 14) * a1 + (((y1 & 16383) * a1) >> 14)
        y -= (y2 >> 14) * a2 + (((y2 & 16383) * a2) >> 14)
        z = (y - y2) >> 3
        z -= (z1 >> 14) * b1 + (((z1 & 16383) * b1) >> 14)
        z -= (z2 >> 14) * b2 + (((z2 & 16383) * b2) >> 14)
        x2 = x1
        x1 = x
        y2 = y1
        y1 = y
        z2 = z1
        z1 = z
        if z < 0:
            z = 0 - z
        while (z >> shift) > 8191:
            shift += 1
            total = total >> 2
        z = z >> shift
        total += z * z
        if total > 0x1FFFFFFF:
            shift += 1
            total = total >> 2
        i += 1
    state[0] = x1
    state[1] = x2
    state[2] = y1
    state[3] = y2
    state[4] = z1
    state[5] = z2
    state[6] = total
    state[7] = shift
    return shift


@micropython.viper
def halve(block: ptr32, frames: int, state: ptr32, passes: ptr32) -> int:
    """Leave out every other sample, and before what would come down with them."""
    c0 = passes[0]
    c1 = passes[1]
    c2 = passes[2]
    v0 = state[0]
    w0 = state[1]
    w2 = state[2]
    v1 = state[3]
    w1 = state[4]
    i = 0
    j = 0
    while i < frames:
        u = block[i + 1]
        d = u - w0
        v = (d >> 14) * c0 + (((d & 16383) * c0) >> 14) + v0
        v0 = u
        d = v - w2
        w2 = (d >> 14) * c2 + (((d & 16383) * c2) >> 14) + w0
        w0 = v
        u = block[i]
        d = u - w1
        w1 = (d >> 14) * c1 + (((d & 16383) * c1) >> 14) + v1
        v1 = u
        block[j] = (w2 + w1) >> 1
        j += 1
        i += 2
    state[0] = v0
    state[1] = w0
    state[2] = w2
    state[3] = v1
    state[4] = w1
    return j


class RoomLevels:
    """Levels of the last half second, and of the quiet around and between the pulses of a tone.

    A sine of full scale is `full_scale_db_spl`. Of every quiet stretch the first and the last 0.1 s
    are kept until `take`; of a stretch between two pulses that is all. A slice is the energy of
    every band, infinite where the microphone was overdriven, and of how many blocks it is.
    `was_quiet`: the last block was.
    """

    def __init__(self, full_scale_db_spl: float) -> None:
        self._full_scale_db_spl = full_scale_db_spl
        self._bands = [array("i", [0] * 8) for _ in _FILTERS]  # from the highest down
        self._halves = [array("i", [0] * 5) for _ in range(_FILTERS[-1][0])]
        self._slices = [_empty() for _ in range(SLICES)]
        self._slot = 0  # of the slice that is being measured
        self._blocks = 0  # of it
        self._overdriven = False  # in it
        self._quiet_slices = 0  # whole ones, since it has been quiet
        self.was_quiet = False
        self._kept = _empty()

    def take(self) -> "tuple[float, ...]":
        """Return the mean of what was heard while nothing sounded, since this was asked."""
        # A block may come between any two steps: it goes to another array.
        kept, self._kept = self._kept, _empty()
        return self._levels(kept)

    def newest(self) -> "tuple[float, ...]":
        """Return the mean of the last half second, whatever sounded."""
        total = _empty()
        for each in self._slices:
            _add(total, each)
        return self._levels(total)

    def hear(self, block: "array[int]", quiet: bool) -> None:
        """Take samples of 32 bits, which are lost by that; `quiet`: no tone and noise is in it."""
        if quiet != self.was_quiet:
            if self.was_quiet and self._quiet_slices > SIDE_SLICES:
                self._keep()
            self._close(self.was_quiet)
            self.was_quiet = quiet
            self._quiet_slices = 0
        if take_in(block, BLOCK_FRAMES) >= _CLIPPED_FROM:
            self._overdriven = True
        self._measure(block)
        self._blocks += 1
        if self._blocks == SLICE_BLOCKS:
            self._quiet_slices += 1
            self._close(quiet and self._quiet_slices <= SIDE_SLICES)

    def _measure(self, block: "array[int]") -> None:
        octave, frames = 0, BLOCK_FRAMES
        for band in range(len(_FILTERS)):
            at_octave, (sections, _) = _FILTERS[band]
            if octave < at_octave:
                frames = halve(block, frames, self._halves[octave], _HALF)
                octave = at_octave
            measure(block, frames, self._bands[band], sections)

    def _close(self, to_keep: bool) -> None:
        # Ends a slice, which may be a short one.
        if self._blocks == 0:
            return
        ended = self._slices[self._slot % SLICES]
        ended[_BLOCKS] = self._blocks
        for band in range(len(_FILTERS)):
            state = self._bands[band]
            energy = state[_SUM] * math.pow(4.0, state[_SHIFT])
            ended[band] = float("inf") if self._overdriven else energy
            state[_SUM] = state[_SHIFT] = 0
        self._blocks = 0
        self._overdriven = False
        self._slot += 1
        if to_keep:
            self._keep()

    def _keep(self) -> None:
        _add(self._kept, self._slices[(self._slot - 1) % SLICES])  # the last that ended

    def _levels(self, energies: "array[float]") -> "tuple[float, ...]":
        blocks = energies[_BLOCKS]
        if blocks == 0.0:
            return ()
        levels: list[float] = []
        for band in range(len(_FILTERS)):
            octave, (_, power) = _FILTERS[band]
            of_full_scale = blocks * (BLOCK_FRAMES >> octave) * _FULL_SCALE_POWER * power
            share = energies[band] / of_full_scale
            level_db = 10.0 * math.log10(share) if share > 0.0 else float("-inf")
            levels.insert(0, level_db + self._full_scale_db_spl)
        return tuple(levels)


def _empty() -> "array[float]":
    return array("f", [0.0] * (_BLOCKS + 1))


def _add(total: "array[float]", each: "array[float]") -> None:
    for place in range(len(each)):
        total[place] += each[place]
