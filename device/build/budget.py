"""How loud a build can be, how soft, and how much it hisses: by frequency, in dB HL.

full scale of the DAC -> its board's resistor -> gain -> resistor in series -> earphone. All of it
is reckoned from data sheets: it says what to build, and the first output limit, and no level of a
test. What comes out of an earphone is known when a meter was there.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from device.build.parts import (
    BUILDS,
    DACS,
    HEADROOM_V,
    REFERENCE_HZ,
    SUPPLY_V,
    TOLERANCE_ABOVE_HZ,
    Amplifier,
    Dac,
    Earphone,
    earphones_called,
    part,
)
from firmware_py.link.messages import LOWEST_DBFS
from firmware_py.terms.route import BY_AIR
from firmware_py.terms.settings import LOUD_DB_HL

SOFTEST_DB_HL: Final = -10.0  # of an audiogram
NOISE_BELOW_DB: Final = 10.0  # so much below it nearly nobody hears the noise
# No tone is louder at the first limit, were each part at the loud end of its tolerance: above it a
# test, too, asks for a word of the operator.
FIRST_DB_HL: Final = LOUD_DB_HL
FIRST_STEP_DB: Final = 0.5  # of the first limit, which is rounded down

RESISTORS_TOLERANCE_DB: Final = 0.2  # 1 % each: two that set a gain, or one in series
# An impedance is stated at 1 kHz. Elsewhere a coil and a resonance add to it, and behind a resistor
# the earphone is louder there: assumed.
IMPEDANCE_TOLERANCE: Final = 0.2
IMPEDANCE_ELSEWHERE: Final = 0.5
# What is inferred from 1 kHz: the one curve that is published, of the HDA 280, lies up to 12 dB
# below its own 1 kHz up to 4 kHz, and 23 dB above. Upwards assumed.
INFERRED_UP_DB: Final = 6.0
INFERRED_DOWN_DB: Final = 13.0
INFERRED_DOWN_ABOVE_DB: Final = 25.0

SAMPLE_RATE_HZ: Final = 48000.0
BOLTZMANN_TIMES_K: Final = 1.380649e-23 * 300.0
# White noise of 1 V per root hertz, up to 20 kHz and A-weighted (IEC 61672-1), is so many volts.
A_WEIGHTED_ROOT_HZ: Final = 111.66

FULL_SCALE, CLIPS = "full scale", "amplifier clips"
WIRE, QUANTISATION = "wire", "DAC quantisation"
DAC_NOISE, AMPLIFIER_NOISE, RESISTOR_NOISE = "DAC noise", "amplifier noise", "resistor noise"


def factor(level_db: float) -> float:
    """Return the volts of so many decibels re 1 V."""
    return math.pow(10.0, level_db / 20.0)


def decibels(volts: float) -> float:
    return 20.0 * math.log10(volts)


@dataclass(frozen=True)
class Band:
    """A level in dB HL as the data sheets have it, and between what it lies."""

    db_hl: float
    low_db_hl: float
    high_db_hl: float


@dataclass(frozen=True)
class Row:
    """What a build does at a frequency; `inferred` where no data sheet has the sensitivity."""

    frequency_hz: int
    inferred: bool
    highest: Band
    lowest: Band  # tone, whatever the noise
    noise: Band  # in the critical band

    @property
    def noise_below_db(self) -> float:
        """Return how far the noise is below the softest tone of an audiogram."""
        return SOFTEST_DB_HL - self.noise.db_hl


class Limits(NamedTuple):
    """What limits the highest tone, the lowest one and the noise, at every frequency."""

    highest: str
    lowest: str
    noise: str


@dataclass(frozen=True)
class Build:
    """A chain of parts before one earphone."""

    dac: Dac
    dac_resistor_ohm: float  # in series on the DAC's board
    amplifier: Amplifier | None
    gain_db: float
    supply_v: float
    attenuator_ohm: float
    earphone: Earphone

    @property
    def source_ohm(self) -> float:
        """Return what is in series with the earphone: an amplifier is none, and hides the board."""
        return self.attenuator_ohm + (0.0 if self.amplifier else self.dac_resistor_ohm)

    @property
    def full_scale_vrms(self) -> float:
        """Return the volts before the resistors at 0 dBFS, if nothing clips."""
        return self.dac.full_scale_vrms * factor(self.gain_db)

    @property
    def highest_vrms(self) -> float:
        """Return the same, as far as the amplifier's supply reaches."""
        if self.amplifier is None:
            return self.full_scale_vrms
        return min(self.full_scale_vrms, (self.supply_v - HEADROOM_V) / math.sqrt(2.0))

    @property
    def total_ohm(self) -> float:
        return self.source_ohm + self.earphone.impedance_ohm

    def share(self, impedance_factor: float = 1.0) -> float:
        """Return which share of the volts an earphone has, of so many times its impedance."""
        impedance_ohm = self.earphone.impedance_ohm * impedance_factor
        return impedance_ohm / (self.source_ohm + impedance_ohm)


def rows(build: Build) -> list[Row]:
    """Return what a build does at each frequency of a calibration."""
    lowest_vrms = build.full_scale_vrms * factor(max(LOWEST_DBFS, build.dac.step_dbfs))
    density_v = math.hypot(*_noise_densities_v(build).values()) / build.share()
    return [
        Row(
            frequency_hz,
            inferred=build.earphone.is_inferred_at(frequency_hz),
            highest=_band(build, build.highest_vrms, frequency_hz),
            lowest=_band(build, lowest_vrms, frequency_hz),
            noise=_band(build, density_v * critical_band_hz(frequency_hz) ** 0.5, frequency_hz),
        )
        for frequency_hz in BY_AIR.calibrated_hz
    ]


def limits(build: Build) -> Limits:
    densities_v = _noise_densities_v(build)
    return Limits(
        highest=CLIPS if build.highest_vrms < build.full_scale_vrms else FULL_SCALE,
        lowest=QUANTISATION if build.dac.step_dbfs > LOWEST_DBFS else WIRE,
        noise=max(densities_v, key=lambda name: densities_v[name]),
    )


def warnings(build: Build) -> Iterator[str]:
    """Yield what speaks against a build."""
    if build.amplifier is None and build.total_ohm < build.dac.load_min_ohm:
        yield (
            f"the DAC drives {build.total_ohm:g} ohm; allowed are {build.dac.load_min_ohm:g} ohm "
            "and more: add resistance, or an amplifier"
        )
    if build.highest_vrms < build.full_scale_vrms:
        at_dbfs = decibels(build.highest_vrms / build.full_scale_vrms)
        yield f"the amplifier clips above {at_dbfs:.1f} dBFS at +-{build.supply_v:g} V"
    peak_ma = 1000.0 * math.sqrt(2.0) * build.highest_vrms / build.total_ohm
    if build.amplifier and build.amplifier.peak_ma and peak_ma > build.amplifier.peak_ma:
        yield (
            f"full scale takes {peak_ma:.0f} mA of the amplifier; allowed are "
            f"{build.amplifier.peak_ma:g} mA: more resistance"
        )
    if build.amplifier and build.amplifier.noise_nv is None:
        yield "of the amplifier only the gain is known: the noise is without its own, so at least"
    heard = [str(row.frequency_hz) for row in rows(build) if row.noise_below_db < NOISE_BELOW_DB]
    if heard:
        yield (
            f"good ears may hear the noise at {', '.join(heard)} Hz: it is less than "
            f"{NOISE_BELOW_DB:g} dB below {SOFTEST_DB_HL:g} dB HL"
        )


def first_limit(build: Build) -> float:
    """Return the output limit in dBFS to begin with, before a meter was there."""
    volts = build.full_scale_vrms  # if it clips, what comes is no softer
    loudest_db_hl = max(_band(build, volts, f).high_db_hl for f in BY_AIR.calibrated_hz)
    steps = math.floor((FIRST_DB_HL - loudest_db_hl) / FIRST_STEP_DB)
    return min(0.0, steps * FIRST_STEP_DB)


def worked_build(build: str, earphone: Earphone) -> Build:
    """Return build A or B with the resistor that it has for this earphone."""
    name = part("build", build, {each: each for each in BUILDS})
    return Build(
        dac=DACS["pcm5102a"], dac_resistor_ohm=0.0, amplifier=BUILDS[name], gain_db=0.0,
        supply_v=SUPPLY_V, attenuator_ohm=earphone.resistors_ohm[name], earphone=earphone,
    )  # fmt: skip


def first_limit_dbfs(build: str, transducer: str) -> float:
    """Return the safe first limit of build A or B with a transducer.

    Of a transducer that may have one of several impedances, such as `er3a`, it is the lowest.
    """
    return min(first_limit(worked_build(build, each)) for each in earphones_called(transducer))


def critical_band_hz(frequency_hz: float) -> float:
    """Return how wide a critical band is (Zwicker and Terhardt, 1980)."""
    return float(25.0 + 75.0 * (1.0 + 1.4 * (frequency_hz / 1000.0) ** 2) ** 0.69)


def _noise_densities_v(build: Build) -> dict[str, float]:
    """Return volts per root hertz at the earphone, by where they come from."""
    full_scale_v, dac = build.full_scale_vrms, build.dac
    white_v = full_scale_v * factor(-dac.noise_below_full_scale_db) / A_WEIGHTED_ROOT_HZ
    step_v = full_scale_v * math.sqrt(2.0) * factor(dac.step_dbfs)
    rounding_v = step_v / math.sqrt(12.0 * SAMPLE_RATE_HZ / 2.0)
    own_nv = build.amplifier.noise_nv or 0.0 if build.amplifier else 0.0
    gain = full_scale_v / dac.full_scale_vrms
    parallel_ohm = build.source_ohm * build.share()
    return {
        DAC_NOISE: white_v * build.share(),
        QUANTISATION: rounding_v * build.share(),
        AMPLIFIER_NOISE: own_nv * 1e-9 * gain * build.share(),
        RESISTOR_NOISE: math.sqrt(4.0 * BOLTZMANN_TIMES_K * parallel_ohm),
    }


def _band(build: Build, volts: float, frequency_hz: int) -> Band:
    """Return what volts before the resistors are in dB HL."""
    earphone = build.earphone
    elsewhere = frequency_hz != REFERENCE_HZ
    above = frequency_hz > TOLERANCE_ABOVE_HZ
    up_db = earphone.tolerance_above_db if above else earphone.tolerance_db
    up_db += build.dac.full_scale_tolerance_db + RESISTORS_TOLERANCE_DB
    down_db = up_db
    if earphone.is_inferred_at(frequency_hz):
        up_db += INFERRED_UP_DB
        down_db += INFERRED_DOWN_ABOVE_DB if above else INFERRED_DOWN_DB
    share = build.share()
    more = build.share(1.0 + (IMPEDANCE_ELSEWHERE if elsewhere else IMPEDANCE_TOLERANCE))
    up_db += decibels(more / share)
    down_db += decibels(share / build.share(1.0 - IMPEDANCE_TOLERANCE))
    level_db_spl = earphone.sensitivity_at(frequency_hz) + decibels(volts * share)
    level_db_hl = level_db_spl - earphone.retspl_db_spl[frequency_hz]
    return Band(level_db_hl, level_db_hl - down_db, level_db_hl + up_db)
