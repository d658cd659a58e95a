"""The parts of a box that the budget knows, with what their data sheets say of them.

Where a comment says "assumed", no source was found: such a figure is wide on purpose.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from device.calibration.retspl import TABLES, reference_levels

REFERENCE_HZ: Final = 1000  # where an earphone's sensitivity and impedance are stated


class PartError(ValueError):
    """No such part, or one that a value does not suit; the text says what is allowed."""


@dataclass(frozen=True)
class Dac:
    """A DAC: its full scale, the noise below it (A-weighted), and what it may drive."""

    name: str
    full_scale_vrms: float
    full_scale_tolerance_db: float
    noise_below_full_scale_db: float
    bits: int
    load_min_ohm: float

    @property
    def step_dbfs(self) -> float:
        """Return the level of a tone whose peak is one step."""
        return -20.0 * math.log10(2.0 ** (self.bits - 1))


@dataclass(frozen=True)
class Amplifier:
    """An amplifier: its noise at the input, the supplies, plus and minus, and what it drives.

    `None` where it is not known.
    """

    name: str
    noise_nv: float | None  # per root hertz
    supply_min_v: float
    supply_max_v: float
    peak_ma: float | None


@dataclass(frozen=True)
class Earphone:
    """An earphone: its impedance, and the dB SPL in its coupler at 1 V.

    Up to 4 kHz the sensitivity is within `tolerance_db`, above within `tolerance_above_db`. At a
    frequency that is not in `sensitivity_db_spl` it is inferred.
    """

    name: str
    transducer: str  # as the tables of RETSPL have it
    impedance_ohm: float
    sensitivity_db_spl: Mapping[int, float]
    tolerance_db: float
    tolerance_above_db: float
    # in the worked builds: the resistor in series with it
    resistors_ohm: Mapping[str, float] = field(default_factory=dict)

    def is_inferred_at(self, frequency_hz: int) -> bool:
        return frequency_hz not in self.sensitivity_db_spl

    def sensitivity_at(self, frequency_hz: int) -> float:
        """Return dB SPL at 1 V: where it is inferred, as at 1 kHz."""
        return self.sensitivity_db_spl.get(frequency_hz, self.sensitivity_db_spl[REFERENCE_HZ])

    @property
    def retspl_db_spl(self) -> Mapping[int, float]:
        return reference_levels(self.transducer).levels_db_spl


# TI slas859c: 2.1 Vrms, 1 kohm at least, 100, 106 and 112 dB. Gain error assumed: 6 % of full
# scale, the most of the PCM179x, for the sheet of these was not at hand.
DACS: Final = {
    name.lower(): Dac(name, 2.1, 0.5, below_db, 24, 1000.0)
    for name, below_db in (("PCM5100A", 100.0), ("PCM5101A", 106.0), ("PCM5102A", 112.0))
}

# The data sheets of TI. 50 mW in 32 ohm, where the OPA1688's still tells its distortion, are 56 mA.
# The noise of the TPA6120A2 is told of the audio band: 0.9 uV are 6.4 nV per root hertz of 20 kHz.
AMPLIFIERS: Final = {
    "opa1622": Amplifier("OPA1622", 2.8, 2.0, 18.0, 130.0),
    "opa1688": Amplifier("OPA1688", 8.0, 2.25, 18.0, 56.0),
    "tpa6120a2": Amplifier("TPA6120A2", 6.4, 5.0, 15.0, None),
}
NO_AMPLIFIER: Final = "none"
ANY_AMPLIFIER: Final = Amplifier("an amplifier", None, 2.0, 18.0, None)
GAINS_DB: Final = (-40.0, 40.0)
GAIN_WORDS: Final = f"{NO_AMPLIFIER}, {', '.join(AMPLIFIERS)}, with a gain opa1688:6, or decibels"
SUPPLY_V: Final = 5.0  # plus and minus, of the usual converter
HEADROOM_V: Final = 1.5  # between the output's peak and the supply: assumed

# TDH39 from wiki.biophysics.science.ru.nl (108 dB SPL at 1 mW), ER-3A from etymotic.com (102.5 dB
# SPL at 0.1 V, the one of 50 ohm at 0.2 V), both at 1 kHz only, their tolerance assumed. HDA 280
# from its instructions (manualsonline.com), at 4 V.
TDH39: Final = Earphone("TDH39", "tdh39", 10.0, {1000: 128.0}, 5.0, 5.0, {"A": 1000, "B": 120})
ER3A_10: Final = Earphone(
    "ER-3A, 10 ohm", "er3a", 10.0, {1000: 122.5}, 5.0, 5.0, {"A": 1000, "B": 150}
)
ER3A_50: Final = Earphone(
    "ER-3A, 50 ohm", "er3a", 50.0, {1000: 116.5}, 5.0, 5.0, {"A": 1000, "B": 330}
)
HDA280_AT_4_V: Final = {
    125: 143.0, 250: 144.0, 500: 144.0, 750: 144.0, 1000: 145.0, 1500: 145.0, 2000: 138.0,
    3000: 133.0, 4000: 137.0, 6000: 132.0, 8000: 122.0,
}  # fmt: skip
HDA280: Final = Earphone(
    "HDA 280", "hda280", 37.0,
    {f: level - 20.0 * math.log10(4.0) for f, level in HDA280_AT_4_V.items()},
    3.0, 5.0, {"A": 1000, "B": 820},
)  # fmt: skip
EARPHONES: Final = {"tdh39": TDH39, "er3a-10": ER3A_10, "er3a-50": ER3A_50, "hda280": HDA280}
TOLERANCE_ABOVE_HZ: Final = 4000

# With a PCM5102A: A has no amplifier, B a unity buffer.
BUILDS: Final[dict[str, Amplifier | None]] = {"A": None, "B": AMPLIFIERS["opa1688"]}

Part = TypeVar("Part")


def plain(name: str) -> str:
    """Return a name as people vary it: without case, spaces, dashes and underscores."""
    return "".join(each for each in name.lower() if each.isalnum())


def part(what: str, name: str, parts: Mapping[str, Part], allowed: str = "") -> Part:
    """Return a part by its name; an error lists the names, or says what is allowed."""
    for known, found in parts.items():
        if plain(known) == plain(name):
            return found
    raise PartError(f"{what} is {name!r}; allowed are {allowed or ', '.join(parts)}")


def amplifier_and_gain(words: str) -> tuple[Amplifier | None, float]:
    """Return an amplifier and its gain in dB, by `none`, its name, decibels, or `opa1688:6`.

    Of one that is told by its decibels alone nothing else is known.
    """
    if plain(words) == NO_AMPLIFIER:
        return None, 0.0
    name, _, number = words.rpartition(":")
    try:
        gain_db = float(number)
    except ValueError:
        if name:
            raise PartError(f"gain is {words!r}; allowed are {GAIN_WORDS}") from None
        return part("gain", words, AMPLIFIERS, GAIN_WORDS), 0.0
    low_db, high_db = GAINS_DB
    if not low_db <= gain_db <= high_db:
        raise PartError(f"gain is {gain_db:g} dB; allowed is {low_db:g} to {high_db:g} dB")
    return part("gain", name, AMPLIFIERS, GAIN_WORDS) if name else ANY_AMPLIFIER, gain_db


def whose_retspl(transducer: str) -> str:
    """Return the name that the tables of RETSPL have for one of `EARPHONES`; another as it is."""
    known = {plain(name): each.transducer for name, each in EARPHONES.items()}
    return known.get(plain(transducer), transducer)


def earphones_called(transducer: str) -> list[Earphone]:
    """Return the earphones of a name: one, or each that a transducer of the RETSPL may be.

    The same earphone has a row for each coupler, such as `er3a-711`.
    """
    for known, found in EARPHONES.items():
        if plain(known) == plain(transducer):
            return [found]
    family = transducer.lower().partition("-")[0] if transducer.lower() in TABLES else ""
    several = [each for each in EARPHONES.values() if each.transducer == family]
    return several or [part("transducer", transducer, EARPHONES)]
