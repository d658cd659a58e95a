"""What a calibration file may state of its measurement in numbers, or leave out.

A certificate has the expanded uncertainty, so that is what a file is to state; one of before may
have the standard uncertainty. Both would be one number twice, and are refused.
"""

from typing import Any, Final

from firmware_py.calibration.fields import CalibrationError, number

COVERAGE_FACTOR: Final = 2.0  # of an expanded uncertainty: some 95 %
STANDARD: Final = "uncertainty_db"
EXPANDED: Final = "expanded_uncertainty_db"
# From a reference coupler in a laboratory to more than IEC 60645-1 allows a level to be off.
UNCERTAINTY_LIMITS_DB: Final = (0.2, 5.0)
UNCERTAINTIES: Final = {
    STANDARD: (UNCERTAINTY_LIMITS_DB, "dB: a standard uncertainty"),
    EXPANDED: (
        (COVERAGE_FACTOR * UNCERTAINTY_LIMITS_DB[0], COVERAGE_FACTOR * UNCERTAINTY_LIMITS_DB[1]),
        f"dB: an expanded uncertainty, with a coverage factor of {COVERAGE_FACTOR:g}",
    ),
}  # fmt: skip
# What can be, with its unit: on a mountain the pressure is lower than the standard wants it.
CONDITIONS: Final = {
    "temperature_c": ((0.0, 50.0), "C"),
    "humidity_percent": ((0.0, 100.0), "%"),
    "pressure_kpa": ((60.0, 110.0), "kPa"),
}
# Where IEC 60645-1 has its requirements met, second-hand; another one is told with a remark.
STANDARD_CONDITIONS: Final = {
    "temperature_c": (15.0, 35.0),
    "humidity_percent": (30.0, 90.0),
    "pressure_kpa": (98.0, 104.0),
}


def stated_keys(about: dict[str, Any]) -> tuple[str, ...]:
    """Return the keys of `[calibration]` that may be missing, and are wanted as it has some."""
    uncertainties = tuple(key for key in UNCERTAINTIES if key in about)
    return (*uncertainties, *(CONDITIONS if CONDITIONS.keys() & about.keys() else ()))


def check_stated(about: dict[str, Any]) -> None:
    """Refuse, by a `CalibrationError`, a number that cannot be."""
    if STANDARD in about and EXPANDED in about:
        raise CalibrationError(f"[calibration] has {STANDARD} and {EXPANDED}; allowed is one")
    for key, (limits, unit) in (UNCERTAINTIES | CONDITIONS).items():
        if key in about:
            number(f"[calibration] {key}", about[key], limits, unit)


def uncertainty_of(about: dict[str, Any]) -> float | None:
    """Return the standard uncertainty of the levels; None: the file states none."""
    if EXPANDED in about:
        return float(about[EXPANDED]) / COVERAGE_FACTOR
    return float(about[STANDARD]) if STANDARD in about else None


def conditions_of(about: dict[str, Any]) -> dict[str, float] | None:
    """Return temperature, humidity and pressure by their keys; None: the file states none."""
    stated = CONDITIONS.keys() <= about.keys()
    return {key: float(about[key]) for key in CONDITIONS} if stated else None


def is_standard(conditions: dict[str, float]) -> bool:
    return all(low <= conditions[key] <= high for key, (low, high) in STANDARD_CONDITIONS.items())
