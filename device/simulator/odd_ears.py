"""Ears of odd shapes, to test with what no prior has met.

Each name is a family. Its plain name is the typical ear; ``NAME:1``, ``NAME:2`` ... are others of
it, of another base, depth and place, with thresholds that lie up to so much off the shape.
"""

import hashlib
import math
from dataclasses import dataclass
from typing import Final

from device.simulator.audiogram import Audiogram
from device.simulator.courses import uniforms

JITTER_DB: Final = 2.5  # half the step of a clinical audiogram
NUMBERS_MAX: Final = 1_000_000
# Jitter is linear in octaves between these.
_FREQUENCIES_HZ: Final = (125, 250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000)
# The least that leaves a threshold at the best of normal hearing, and the worst that is a number.
_THRESHOLD_LIMITS_DB_HL: Final = (-10.0, 130.0)


@dataclass(frozen=True)
class Shape:
    """A family: its threshold is base + depth * share, linear in octaves between the points."""

    what: str
    base_db_hl: tuple[float, float]  # typical, and how far others lie from that at most
    depth_db: tuple[float, float]
    shift_octaves: float  # how far others lie to either side at most
    points: tuple[tuple[float, float], ...]  # frequency in Hz, share of the depth
    jitter_db: float = JITTER_DB  # how far each threshold of others lies off the shape at most


def _about(centre_hz: float, *points: tuple[float, float]) -> tuple[tuple[float, float], ...]:
    return tuple((centre_hz * 2.0**octaves, share) for octaves, share in points)


ODD_EARS: Final[dict[str, Shape]] = {
    "island": Shape(
        "a plateau of loss from 1 to 2 kHz, with steep edges",
        (10.0, 5.0), (55.0, 10.0), 0.08,
        _about(math.sqrt(2e6), (-0.675, 0.0), (-0.55, 1.0), (0.55, 1.0), (0.675, 0.0)),
    ),
    "narrow-notch": Shape(
        "a notch at 3 kHz, a quarter octave wide at half its depth",
        (13.0, 5.0), (48.0, 10.0), 1.0 / 24.0,
        _about(3000.0, (-1 / 6, 0.0), (-1 / 12, 1.0), (1 / 12, 1.0), (1 / 6, 0.0)),
    ),
    "cookie-bite": Shape(
        "worst in the middle",
        (12.0, 5.0), (50.0, 10.0), 0.25,
        ((250.0, 0.0), (500.0, 0.3), (1000.0, 0.85), (1500.0, 1.0), (2000.0, 0.95),
         (4000.0, 0.4), (8000.0, 0.05)),
    ),
    "reverse": Shape(
        "worst at low frequencies",
        (10.0, 5.0), (52.0, 10.0), 0.25,
        ((250.0, 1.0), (500.0, 0.95), (1000.0, 0.65), (2000.0, 0.25), (4000.0, 0.0)),
    ),
    "tent": Shape(
        "best in the middle",
        (15.0, 5.0), (57.0, 10.0), 0.25,
        ((250.0, 0.95), (500.0, 0.5), (1000.0, 0.0), (2000.0, 0.0), (4000.0, 0.6), (8000.0, 1.1)),
    ),
    "corner": Shape(
        "hearing is left at 250 and 500 Hz only",
        (65.0, 5.0), (60.0, 5.0), 0.1,
        ((250.0, 0.0), (500.0, 0.35), (750.0, 0.8), (1000.0, 1.0)),
    ),
    "cliff": Shape(
        "normal up to 1.5 kHz, then 80 dB HL and worse",
        (10.0, 5.0), (75.0, 8.0), 0.1,
        ((1500.0, 0.0), (1900.0, 0.95), (3000.0, 1.0), (6000.0, 1.1)),
    ),
    "good-spot": Shape(
        "one good frequency in a flat loss",
        (60.0, 10.0), (-48.0, 6.0), 1.0,
        _about(2000.0, (-0.5, 0.0), (-0.1, 1.0), (0.1, 1.0), (0.5, 0.0)),
    ),
    "sawtooth": Shape(
        "better and worse from octave to octave",
        (15.0, 5.0), (38.0, 8.0), 0.1,
        tuple((250.0 * 2.0**octaves, octaves % 2.0) for octaves in range(6)),
    ),
    "random-curve": Shape(
        "by chance at every frequency of an audiogram, half an octave apart",
        (38.0, 8.0), (0.0, 0.0), 0.0,
        ((1000.0, 0.0),),
        jitter_db=30.0,
    ),
    "two-notches": Shape(
        "notches half an octave wide at 1 and 4 kHz",
        (13.0, 5.0), (45.0, 10.0), 0.1,
        (*_about(1000.0, (-0.4, 0.0), (-0.15, 1.0), (0.15, 1.0), (0.4, 0.0)),
         *_about(4000.0, (-0.4, 0.0), (-0.15, 1.0), (0.15, 1.0), (0.4, 0.0))),
    ),
    "low-shelf": Shape(
        "a loss up to 600 Hz, with a steep edge, and none above",
        (10.0, 5.0), (45.0, 10.0), 0.25,
        ((600.0, 1.0), (800.0, 0.0)),
    ),
    "dead-middle": Shape(
        "nothing is heard from 1 to 2 kHz",
        (20.0, 5.0), (100.0, 5.0), 0.08,
        _about(math.sqrt(2e6), (-0.85, 0.0), (-0.55, 1.0), (0.55, 1.0), (0.85, 0.0)),
    ),
    "ski-slope": Shape(
        "better up to 1.5 kHz, and then a steep fall",
        (8.0, 5.0), (75.0, 8.0), 0.1,
        ((250.0, 0.35), (750.0, 0.2), (1500.0, 0.0), (2200.0, 0.8), (4000.0, 1.0), (8000.0, 1.1)),
    ),
}  # fmt: skip


def odd_ear(name: str, number: int = 0) -> Audiogram:
    """Return an ear of a family of `ODD_EARS`; number 0 is the typical one."""
    if not 0 <= number <= NUMBERS_MAX:
        raise ValueError(f"ear {number} of {name}, allowed are 0 to {NUMBERS_MAX}")
    shape = ODD_EARS[name]
    drawn = _draws(name, number, 3 + len(_FREQUENCIES_HZ)) if number else (0.0,) * 14
    base_db_hl, depth_db = (
        typical + within * draw
        for (typical, within), draw in zip((shape.base_db_hl, shape.depth_db), drawn, strict=False)
    )
    moved = 2.0 ** (shape.shift_octaves * drawn[2])
    odd = Audiogram(
        tuple(frequency_hz * moved for frequency_hz, _ in shape.points),
        tuple(base_db_hl + depth_db * share for _, share in shape.points),
    )
    jitter = Audiogram(
        tuple(map(float, _FREQUENCIES_HZ)), tuple(shape.jitter_db * draw for draw in drawn[3:])
    )
    return _sum(odd, jitter)


def _sum(one: Audiogram, other: Audiogram) -> Audiogram:
    """Return the sum of two, from the first to the last frequency of the other."""
    low, high = _THRESHOLD_LIMITS_DB_HL
    lowest_hz, *_, highest_hz = other.frequencies_hz
    inner_hz = (f for f in one.frequencies_hz if lowest_hz < f < highest_hz)
    frequencies_hz = tuple(sorted({*inner_hz, *other.frequencies_hz}))
    return Audiogram(
        frequencies_hz,
        tuple(
            min(max(one.threshold_db_hl(f) + other.threshold_db_hl(f), low), high)
            for f in frequencies_hz
        ),
    )


def _draws(name: str, number: int, count: int) -> tuple[float, ...]:
    """Return numbers between -1 and 1 that belong to an ear alone."""
    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return tuple(2.0 * each - 1.0 for each in uniforms(word, number, count))
