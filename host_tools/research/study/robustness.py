"""The robustness table: ears and listeners that the prior has not met, and what is wanted of them.

`CASES` is the whole definition: which ears, who listens, what is run, and the goals. A case is run
with so many ears and seeds; its sessions are noted as `Found`, and its goals read off them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from host_tools.research.methods.interface import Array

# Where errors are taken: the frequencies of NHANES; and where nobody there was measured.
SCORED_HZ: Final = (500.0, 1000.0, 2000.0, 3000.0, 4000.0, 6000.0, 8000.0)
LOW_HZ: Final = 250.0
ALL_HZ: Final = (LOW_HZ, *SCORED_HZ)
MARKS_AT_TONES: Final = (10, 20, 40)
EARS_USUAL: Final = 40
SEEDS_USUAL: Final = 3

# What is run.
ESTIMATOR: Final = "estimator"  # the estimator, told nothing of the listener, chooses 40 tones
PROCEDURE: Final = "procedure"  # a whole test, from familiarisation to retest
EXACT: Final = "exact"  # the estimator against the exact posterior

END: Final = 0  # stands for the end of a procedure among the numbers of tones
EXACT_TONES: Final = 25

# Ears that no family of odd ears is.
STANDARD: Final = "standard"  # the ten standard audiograms, each better or worse
REAL: Final = "real"  # real ears, drawn by chance
STEEP: Final = "steep"  # real ears with a step of `STEP_DB` or more between neighbours
STEP_DB: Final = 30.0
BAND_DB: Final = 8.0
WRONG_DB: Final = 15.0  # a threshold this far off, outside its band, is confidently wrong


@dataclass(frozen=True, eq=False)
class Found:
    """What one session gave."""

    # Of an estimator: by tones, at `ALL_HZ`. Of a procedure: the end only, at the audiogram's
    # frequencies; NaN where the result has no number.
    error_db: dict[int, Array]
    covered: dict[int, Array]  # 1, 0 or NaN
    noise_db: float = math.nan  # believed at the end
    # tones until every 95 % band, 500-8000 Hz, is within +-`BAND_DB`; all, if it never was
    tones: float = math.nan
    refused: bool = False  # the ear is unreliable
    inattentive: bool = False  # a remark or the outcome says so
    remarks: tuple[str, ...] = ()
    confidently_wrong: bool = False  # somewhere `measured`, and nothing was remarked
    sd_ratio: float = math.nan  # the estimator's SD by the exact one
    mass: float = math.nan  # lowest exact mass in a 95 % band
    samples: float = math.nan  # how many independent ones the exact posterior rests on
    ambiguous: bool = False  # the estimator says so


Measure = Callable[[Sequence[Found]], float]


@dataclass(frozen=True)
class Goal:
    """One number of a case, and between what it should lie."""

    what: str
    measure: Measure
    low: float = -math.inf
    high: float = math.inf
    percent: bool = False  # shown as a share
    unit: str = ""
    or_refused: bool = False  # it is as well that every ear is refused, so that nothing is found

    @property
    def wants(self) -> bool:
        """Tell whether anything is wanted, or the number is for information."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    @property
    def wanted(self) -> str:
        """Return the wanted range in words."""
        low, high = self.shown(self.low), self.shown(self.high)
        if not self.wants:
            return ""
        if math.isinf(self.low):
            return f"at most {high}"
        return f"at least {low}" if math.isinf(self.high) else f"{low} to {high}"

    def shown(self, value: float) -> str:
        """Return a value as people read it."""
        if math.isnan(value):
            return "-"
        return f"{value:.0%}" if self.percent else f"{value:.2f}{self.unit}"

    def met(self, value: float) -> bool:
        """Tell whether a value is as wanted; what could not be found is not."""
        return self.low <= value <= self.high or (self.or_refused and math.isnan(value))


@dataclass(frozen=True)
class SecondButton:
    """A second button, for "perhaps"."""

    pressed_within_db: float  # of the threshold; 0: never
    told_db: float | None = None  # what the estimator is told of that; None: it is inferred


@dataclass(frozen=True)
class Case:
    """A row of the table, or some that are found from the same sessions."""

    name: str  # on the command line, and in JSON
    title: str
    ears: str  # a family of odd ears, `STANDARD`, `REAL` or `STEEP`
    goals: tuple[Goal, ...]
    run: str = ESTIMATOR
    listener: str = "honest"
    noise_db: float = 2.0
    ears_factor: int = 1  # times the ears that are asked for
    second_button: SecondButton | None = None  # of an `ESTIMATOR`
    tested: str = "right"  # the ears of a `PROCEDURE`: "right" or "both", which are alike


def rmse(tones: int) -> Measure:
    """Return the root of the mean square error after so many tones, 500-8000 Hz."""

    def measure(found: Sequence[Found]) -> float:
        return _rms([each.error_db[tones][1:] for each in found])

    return measure


def coverage(tones: int) -> Measure:
    """Return the share of truths in the 95 % band after so many tones, 500-8000 Hz."""

    def measure(found: Sequence[Found]) -> float:
        return _mean([_mean(each.covered[tones][1:]) for each in found])

    return measure


def coverage_low(tones: int) -> Measure:
    """Return the same at 250 Hz."""

    def measure(found: Sequence[Found]) -> float:
        return _mean([each.covered[tones][0] for each in found])

    return measure


def rmse_accepted(found: Sequence[Found]) -> float:
    """Return the RMSE at the end of the tests that were not refused."""
    return rmse(END)([each for each in found if not each.refused])


def coverage_accepted(found: Sequence[Found]) -> float:
    """Return the coverage at the end of the tests that were not refused."""
    return coverage(END)([each for each in found if not each.refused])


def sd_ratio(found: Sequence[Found]) -> float:
    """Return the mean of the estimator's SD by the exact one."""
    return _mean([each.sd_ratio for each in found])


def lowest_mass(found: Sequence[Found]) -> float:
    """Return the lowest exact mass in a 95 % band of a session not said to be ambiguous."""
    return min((each.mass for each in found if not each.ambiguous), default=math.nan)


def fewest_samples(found: Sequence[Found]) -> float:
    """Return how many independent samples the least sure exact posterior is worth."""
    return min((each.samples for each in found), default=math.nan)


def noise(found: Sequence[Found]) -> float:
    """Return the mean of the noise that is believed at the end."""
    return _mean([each.noise_db for each in found])


def tones(found: Sequence[Found]) -> float:
    """Return the mean number of tones until the bands are narrow."""
    return _mean([each.tones for each in found])


def share(holds: Callable[[Found], bool]) -> Measure:
    """Return the share of sessions of which something holds."""

    def measure(found: Sequence[Found]) -> float:
        return _mean([float(holds(each)) for each in found])

    return measure


def _rms(errors_db: Sequence[Array]) -> float:
    return math.sqrt(_mean(np.concatenate([*errors_db, [math.nan]]) ** 2))


def _mean(values: Sequence[float] | Array) -> float:
    all_of_them = np.array(values, dtype=float)
    known = all_of_them[~np.isnan(all_of_them)]
    return float(np.mean(known)) if len(known) else math.nan


def at_most_db(measure: Measure, what: str, high: float) -> Goal:
    """Return the goal of an RMSE."""
    return Goal(what, measure, high=high, unit=" dB")


def _rmse_and_coverage(tones: int, rmse_db: float, covered: float) -> tuple[Goal, ...]:
    return (
        at_most_db(rmse(tones), f"RMSE @{tones}", rmse_db),
        Goal(f"coverage @{tones}", coverage(tones), low=covered),
    )


def _smooth(name: str, what: str, *more: Goal) -> Case:
    return Case(name, what, name, (*_rmse_and_coverage(20, 5.5, 0.93), *more))


def _noise_case(noise_db: float) -> Case:
    return Case(
        f"noise-{noise_db:g}",
        f"response noise of {noise_db:g} dB",
        STANDARD,
        (
            Goal("believed @40", noise, 0.7 * noise_db, 1.3 * noise_db, unit=" dB"),
            Goal("coverage @40", coverage(40), 0.93, 0.97),
        ),
        noise_db=noise_db,
    )


def _honest_case(noise_db: float) -> Case:
    return Case(
        f"honest-{noise_db:g}-test",
        f"an honest, attentive listener with a noise of {noise_db:g} dB, whole procedure",
        STANDARD,
        (
            Goal(
                "gets a remark of doubt", share(lambda each: bool(each.remarks) or each.refused),
                high=0.05, percent=True,
            ),
        ),
        PROCEDURE,
        noise_db=noise_db,
        tested="both",
    )  # fmt: skip


def _perhaps_case(name: str, what: str, noise_db: float, button: SecondButton | None) -> Case:
    return Case(
        f"perhaps-{name}-noise-{noise_db:g}",
        f"{what}, response noise of {noise_db:g} dB",
        REAL,
        (
            *(Goal(f"coverage @{n}", coverage(n), low=0.93) for n in MARKS_AT_TONES),
            Goal(f"tones until all bands are within +-{BAND_DB:g} dB", tones),
        ),
        noise_db=noise_db,
        second_button=button,
    )


def _perhaps_cases(noise_db: float) -> tuple[Case, ...]:
    """Return no second button, one whose width is told, and one whose width is inferred."""
    buttons: list[tuple[str, str, SecondButton | None]] = [
        ("without", 'no button for "perhaps"', None)
    ]
    for width_db in (3.0, 6.0):
        what = f'"perhaps" within {width_db:g} dB of the threshold, told'
        buttons.append((f"{width_db:g}-told", what, SecondButton(width_db, width_db)))
    for width_db in (0.0, 1.5, 3.0, 6.0, 8.0, 14.0):
        when = f"within {width_db:g} dB of the threshold" if width_db else "never"
        buttons.append((f"{width_db:g}", f'"perhaps" {when}, inferred', SecondButton(width_db)))
    return tuple(_perhaps_case(name, what, noise_db, button) for name, what, button in buttons)


_AT_250: Final = Goal("coverage @10 at 250 Hz", coverage_low(10), low=0.90)

CASES: Final[tuple[Case, ...]] = (
    Case("island", "an island in the hearing", "island", _rmse_and_coverage(40, 3.0, 0.95)),
    Case(
        "narrow-notch", "a notch a quarter octave wide at 3 kHz", "narrow-notch",
        (*_rmse_and_coverage(40, 4.0, 0.95), Goal("coverage @20", coverage(20), low=0.93)),
    ),
    _smooth("cookie-bite", "cookie bite"),
    _smooth("reverse", "reverse slope", _AT_250),
    _smooth("tent", "tent", _AT_250),
    Case(
        "steep", f"real ears with a step of {STEP_DB:g} dB or more", STEEP,
        (
            Goal("coverage @10", coverage(10), low=0.93),
            Goal("coverage @20", coverage(20), low=0.95),
        ),
        ears_factor=2,
    ),
    *(_noise_case(noise_db) for noise_db in (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)),
    Case(
        "lapses", "15 % lapses", STANDARD, _rmse_and_coverage(20, 4.0, 0.93), listener="lapses=.15"
    ),
    Case(
        "narrow-notch-test", "the same narrow notch, whole procedure", "narrow-notch",
        (
            Goal(
                f"ears measured {WRONG_DB:g} dB wrong and more, outside the band, no remark",
                share(lambda each: each.confidently_wrong), high=0.05, percent=True,
            ),
        ),
        PROCEDURE,
    ),
    Case(
        "lapses-test", "15 % lapses, whole procedure", STANDARD,
        (
            Goal("said to be inattentive", share(lambda each: each.inattentive), low=0.80,
                 percent=True),
        ),
        PROCEDURE, listener="lapses=.15", tested="both",
    ),
    Case(
        "bursts-test", "two bursts of five missed or pressed answers, whole procedure", STANDARD,
        (
            Goal("RMSE of those not refused", rmse_accepted, high=4.0, unit=" dB",
                 or_refused=True),
            Goal("their coverage", coverage_accepted, low=0.93, or_refused=True),
            Goal("refused as unreliable", share(lambda each: each.refused), percent=True),
        ),
        PROCEDURE, listener="bursts",
    ),
    *(_honest_case(noise_db) for noise_db in (2.0, 4.0)),
    *(case for noise_db in (2.0, 4.0) for case in _perhaps_cases(noise_db)),
    Case(
        "exact", f"against the exact posterior, {EXACT_TONES} answers, contradictions among them",
        STANDARD,
        (
            Goal("mean ratio of SDs", sd_ratio, 0.97, 1.03),
            Goal("lowest mass in a 95 % band, unless ambiguous", lowest_mass,
                 low=0.88, or_refused=True),
            Goal("said to be ambiguous", share(lambda each: each.ambiguous), percent=True),
            Goal("independent samples, at the fewest", fewest_samples),
        ),
        EXACT, listener="lapses=.15",
    ),
)  # fmt: skip
BY_NAME: Final = {case.name: case for case in CASES}


def read_off(case: Case, found: Sequence[Found]) -> list[dict[str, Any]]:
    """Return the goals of a case with what was found, as JSON values."""
    return [
        {
            "case": case.name,
            "title": case.title,
            "what": goal.what,
            "wanted": goal.wanted,
            "found": value if math.isfinite(value := goal.measure(found)) else None,
            "shown": goal.shown(value),
            "met": goal.met(value) if found and goal.wants else None,
            "sessions": len(found),
        }
        for goal in case.goals
    ]
