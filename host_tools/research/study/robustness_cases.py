"""The rows of the robustness table: which ears, who listens, what is run, and the goals.

Ears and listeners that the prior has not met. The rows of `robustness_endings.py` are among them.
"""

from collections.abc import Iterator
from typing import Final

from device.simulator.odd_ears import ODD_EARS
from firmware_py.terms.settings import AUTOMATIC
from host_tools.research.study.ears import MILDER, ODD, REAL, STANDARD, STEEP, STEP_DB
from host_tools.research.study.robustness import (
    BAND_DB,
    END,
    EXACT,
    EXACT_TONES,
    MARKS_AT_TONES,
    THIN,
    WRONG_DB,
    Case,
    Goal,
    Measure,
    SecondButton,
    among,
    at_most_db,
    coverage,
    coverage_low,
    fewest_samples,
    mean_mass,
    mean_of,
    rmse,
    share_thin,
)
from host_tools.research.study.robustness_endings import (
    BETWEEN,
    ENDING_CASES,
    TWO_EARS,
    by_family,
    procedure,
    share,
)

NOISE: Final = mean_of(lambda each: each.noise_db)  # that is believed at the end
TONES: Final = mean_of(lambda each: each.tones)  # until the bands are narrow
BETWEEN_DB: Final = mean_of(lambda each: each.between_db)
REMARKED: Final = mean_of(lambda each: bool(each.remarks) or each.refused)


def accept(measure: Measure) -> Measure:
    """Return a number of the tests alone that were not refused."""
    return among(lambda each: not each.refused, measure)


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
            Goal("believed @40", NOISE, 0.7 * noise_db, 1.3 * noise_db, unit=" dB"),
            Goal("coverage @40", coverage(40), 0.93, 0.97),
        ),
        noise_db=noise_db,
    )


def _perhaps_cases(noise_db: float) -> Iterator[Case]:
    """Yield no second button, one whose width is told, and one whose width is inferred."""
    buttons: dict[str, tuple[str, SecondButton | None]] = {
        "without": ('no button for "perhaps"', None)
    }
    for width_db in (3.0, 6.0):
        what = f'"perhaps" within {width_db:g} dB of the threshold, told'
        buttons[f"{width_db:g}-told"] = what, SecondButton(width_db, width_db)
    for width_db in (0.0, 1.5, 3.0, 6.0, 8.0, 14.0):
        when = f"within {width_db:g} dB of the threshold" if width_db else "never"
        buttons[f"{width_db:g}"] = f'"perhaps" {when}, inferred', SecondButton(width_db)
    goals = (
        *(Goal(f"coverage @{n}", coverage(n), low=0.93) for n in MARKS_AT_TONES),
        Goal(f"tones until all bands are within +-{BAND_DB:g} dB", TONES),
    )
    for name, (what, button) in buttons.items():
        title = f"{what}, response noise of {noise_db:g} dB"
        yield Case(
            f"perhaps-{name}-noise-{noise_db:g}", title, REAL, goals, noise_db=noise_db,
            second_button=button,
        )  # fmt: skip


_AT_250: Final = Goal("coverage @10 at 250 Hz", coverage_low(10), low=0.90)

_EXACT: Final = (
    Goal("mean ratio of SDs", mean_of(lambda each: each.sd_ratio), 0.97, 1.03),
    Goal("mean mass in a 95 % band", mean_mass, low=0.94),
    share(f"bands with less than {THIN:g}", share_thin, high=0.05),
    Goal("independent samples, at the fewest", fewest_samples),
)

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
    Case(
        "between", "odd ears of all families, 40 frequencies between", ODD,
        by_family("coverage between @40", BETWEEN, low=0.93), ears_factor=len(ODD_EARS),
    ),
    Case(
        "between-standard", "the standard ears, the same 40 frequencies", STANDARD,
        (
            Goal("coverage between @40", BETWEEN, low=0.93),
            Goal("half width between @40", BETWEEN_DB, unit=" dB"),
        ),
    ),
    *(_noise_case(noise_db) for noise_db in (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)),
    Case(
        "lapses", "15 % lapses", STANDARD, _rmse_and_coverage(20, 4.0, 0.93), listener="lapses=.15"
    ),
    procedure(
        "narrow-notch", "the same narrow notch",
        (
            share(
                f"ears measured {WRONG_DB:g} dB wrong and more, outside the band, no remark",
                mean_of(lambda each: each.confidently_wrong), high=0.05,
            ),
        ),
        ears="narrow-notch", masking=AUTOMATIC,
    ),
    procedure(
        "lapses", "15 % lapses",
        (share("said to be inattentive", mean_of(lambda each: each.inattentive), low=0.80),),
        ears=STANDARD, listener="lapses=.15", **TWO_EARS,
    ),
    procedure(
        "bursts", "two bursts of five missed or pressed answers",
        (
            Goal("RMSE of those not refused", accept(rmse(END)), high=4.0, unit=" dB",
                 or_refused=True),
            Goal("their coverage", accept(coverage(END)), low=0.93, or_refused=True),
            share("refused as unreliable", mean_of(lambda each: each.refused)),
        ),
        ears=STANDARD, listener="bursts", masking=AUTOMATIC,
    ),
    *(
        procedure(
            f"honest-{db:g}", f"an honest, attentive listener with a noise of {db:g} dB",
            (share("gets a remark of doubt", REMARKED, high=0.05),),
            ears=STANDARD, noise_db=db, **TWO_EARS,
        )
        for db in (2.0, 4.0)
    ),
    *(
        procedure(
            name, who, (share("an asymmetry is named", mean_of(lambda each: each.asymmetric)),),
            ears=MILDER, **more, **TWO_EARS,
        )
        for name, who, more in (
            *((f"equal-{db:g}", f"two equal ears, noise {db:g} dB", {"noise_db": db})
              for db in (2.0, 4.0)),
            *((f"poorer-{db:g}", f"the left ear is {db:g} dB poorer", {"poorer_db": db})
              for db in (15.0, 20.0)),
        )
    ),
    *(case for noise_db in (2.0, 4.0) for case in _perhaps_cases(noise_db)),
    Case(
        "exact",
        f"against the exact posterior, told, {EXACT_TONES} answers, contradictions among them",
        STANDARD, _EXACT, EXACT, listener="lapses=.15",
    ),
    Case(
        "exact-untold",
        "the same, told nothing: kinds of listeners, who may wander, summed out",
        STANDARD, _EXACT, EXACT, listener="lapses=.15", told=False,
    ),
    Case(
        "exact-bursts",
        "the same, told nothing: two bursts of five missed or pressed answers",
        STANDARD, _EXACT, EXACT, listener="bursts", told=False,
    ),
    *ENDING_CASES,
)  # fmt: skip
BY_NAME: Final = {case.name: case for case in CASES}
