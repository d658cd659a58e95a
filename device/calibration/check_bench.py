"""The bench at which a device is checked: what a check is, its tones, how readings are typed."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from device.calibration.readings import ImplausibleError

VOLTS: Final = {"v": 1.0, "mv": 1e-3, "uv": 1e-6, "nv": 1e-9}
VOLTS_MAX: Final = 10.0

T = TypeVar("T")


@dataclass(frozen=True)
class Tone:
    """A tone for the meter; it is played no louder than the tone generator's own limit."""

    route: str
    frequency_hz: int
    level_dbfs: float
    pulsed: bool = False


@dataclass(frozen=True)
class Setup:
    """What is known of a device before it is measured."""

    kind: str  # of the earphones, one of `KINDS`
    safe_dbfs: float  # the output limit that it is to have
    safe_words: str  # whose that is
    loud_dbfs: float
    soft_dbfs: float
    # The volts at full scale as computed, of each earphone that it may be; none: not known.
    full_scale_v: tuple[float, ...] = ()
    noise_nv: float | None = None  # at `NOISE_DB_HL` in the critical band; None: not known


class Bench(Protocol):
    """Who has the meter, and the tone generator."""

    @property
    def setup(self) -> Setup: ...

    def limit_dbfs(self, ear: str, from_dbfs: float) -> float:
        """Return the highest level that is played, from this one down in `LIMIT_STEP_DB`."""

    def answer(self, tone: Tone, question: str, read: Callable[[str], T]) -> tuple[T, float]:
        """Play a tone until an answer can be read; return that, and the level that sounded.

        What cannot be read, `read` refuses by an `ImplausibleError`.
        """


@dataclass(frozen=True)
class Check:
    """One check: its name in the file, what to do, the limit and where that comes from."""

    name: str
    title: str
    do: str
    limit: str
    source: str
    by_coupler: bool = False
    via: str = ""  # of its routes, after the ear

    def figures(self, bench: Bench) -> dict[str, Any]:
        """Measure, and return what the file says; an `ImplausibleError` refuses it."""
        raise NotImplementedError


def number_of(words: str, units: dict[str, float], usual: str = "") -> float:
    """Read a number with one of these units; one without is of the usual, if there is one."""
    text = words.replace(",", ".").replace(" ", "").lower()
    text = text.replace("\u00b5", "u").replace("\u03bc", "u")  # micro, and the Greek letter
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz%")
    unit = text[len(digits) :] or usual
    try:
        value = float(digits)
    except ValueError:
        value = math.nan
    if unit not in units or not math.isfinite(value):
        allowed = ", ".join(each.replace("v", "V") for each in units if each)
        raise ImplausibleError(f"{words!r}; allowed are numbers in {allowed}, return and quit")
    return value * units[unit]


def volts_of(words: str) -> float:
    volts = number_of(words, VOLTS)
    if not 0.0 < volts <= VOLTS_MAX:
        raise ImplausibleError(f"{volts:g} V; a reading is above 0 V, and up to {VOLTS_MAX:g} V")
    return volts


def decibels_of(words: str) -> float:
    """Read what a meter shows: dB of any reference, or volts."""
    if words.rstrip().lower().endswith("v"):
        return 20.0 * math.log10(volts_of(words))
    level_db = number_of(words, {"db": 1.0}, "db")
    if not -200.0 <= level_db <= 200.0:
        raise ImplausibleError(f"{level_db:g} dB; a reading is from -200 to 200 dB")
    return level_db
