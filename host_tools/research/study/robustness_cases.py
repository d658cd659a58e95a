"""The rows of the robustness table: which ears, who listens, what is run, and the goals.

Ears and listeners that the prior has not met; then whole tests that are judged by how they end:
with true statements, or a doubt (`robustness_judged.py` says what is false). Those are of people
who do not listen, ears that deceive, and honest people, of whom nothing is to be doubted.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

from device.simulator.kinds import HONEST
from device.simulator.odd_ears import ODD_EARS
from device.simulator.operator import Operator
from firmware_py.terms.route import LEFT
from firmware_py.terms.settings import AUTOMATIC, BOTH, OFF
from host_tools.research.study.ears import (
    DEAD,
    EVERYDAY,
    FLAT,
    MILDER,
    ODD,
    REAL,
    STANDARD,
    STEEP,
    STEP_DB,
)
from host_tools.research.study.robustness import (
    BAND_DB,
    END,
    EXACT,
    EXACT_TONES,
    MARKS_AT_TONES,
    PROCEDURE,
    THIN,
    WRONG_DB,
    Case,
    Goal,
    Measure,
    SecondButton,
    SessionFound,
    among,
    at_most_db,
    coverage,
    coverage_low,
    fewest_samples,
    mean_mass,
    mean_of,
    median_seconds,
    rmse,
    share_thin,
)

ABSENT: Final = 0.95  # of those who are silent, late, absent or pressing so many end well at least
UNSTEADY: Final = 0.90  # of those who drift, repeat themselves, or have uneven noise
DECEIVED: Final = 0.95  # of ears that deceive
DOUBTED_MAX: Final = 0.02  # of honest people
SILENTLY_WRONG_MAX: Final = 0.01  # of odd ears
DIFFERENT_DB: Final = 15.0  # people who differ so much where they are asked

NOISE: Final = mean_of(lambda each: each.noise_db)  # that is believed at the end
TONES: Final = mean_of(lambda each: each.tones)  # until the bands are narrow
ENDS_WELL: Final = mean_of(lambda each: not each.false_statements)
SILENTLY_WRONG: Final = mean_of(lambda each: bool(each.false_statements))
INFERRED_WRONG: Final = mean_of(lambda each: each.inferred_wrong)
REMARKED: Final = mean_of(lambda each: bool(each.remarks) or each.refused)
DOUBTED: Final = mean_of(lambda each: not each.valid)


def _share(what: str, measure: Measure, low: float = -math.inf, high: float = math.inf) -> Goal:
    return Goal(what, measure, low, high, percent=True)


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
    _share(f"bands with less than {THIN:g}", share_thin, high=0.05),
    Goal("independent samples, at the fewest", fewest_samples),
)

_SECONDS: Final = Goal("seconds, median", median_seconds, unit=" s")
_HONEST: Final = (
    _share("anything but valid", DOUBTED, high=DOUBTED_MAX),
    _share("ends well", ENDS_WELL), _SECONDS,
)  # fmt: skip
_TWO_EARS: Final = {"tested": BOTH, "masking": AUTOMATIC}
_GOES_ON: Final = Operator(goes_on=True)


def _differ(each: SessionFound) -> bool:
    return each.differ_db >= DIFFERENT_DB


def _is_of(family: str) -> Callable[[SessionFound], bool]:
    return lambda each: each.family == family


def _case(name: str, who: str, goals: tuple[Goal, ...], **more: Any) -> Case:
    """Return a row: of one ear, which needs no masking, if nothing else is said."""
    told = {"ears": EVERYDAY, "masking": OFF, **more}
    return Case(f"{name}-test", f"{who}, whole procedure", goals=goals, run=PROCEDURE, **told)


def _ending(name: str, who: str, wanted: float | None, listener: str, **more: Any) -> Case:
    """Return a row of which so many sessions should end well; None: that is only shown."""
    goals = (
        _share("ends well", ENDS_WELL, low=-math.inf if wanted is None else wanted),
        _share("said to be no valid test", DOUBTED),
        _SECONDS,
    )
    return _case(name, who, goals, listener=listener, **more)


def _changing(name: str, who: str, tone: int, **more: Any) -> Case:
    """Return a row of which nothing is true: whose ear it was is not known."""
    by = f"by {DIFFERENT_DB:g} dB"
    goals = (
        _share(f"no valid test, of those who differ {by}", among(_differ, DOUBTED)),
        _share("no valid test, of all", DOUBTED),
        _share(f"differ {by}", mean_of(_differ)),
        _SECONDS,
    )
    return _case(f"changed-{name}", who, goals, changes_at=tone, **more)


def _endings(wanted: float | None, *rows: tuple[str, str, str, dict[str, Any]]) -> list[Case]:
    return [_ending(name, who, wanted, listener, **more) for name, who, listener, more in rows]


_NOT_LISTENING: Final = _endings(
    ABSENT,
    *((f"silent-{k}", f"silent for good from tone {k} on", f"silent={k}", {})
      for k in (12, 20, 30, 36)),
    ("silent-20-both", "silent for good from tone 20 on, both ears", "silent=20", _TWO_EARS),
    ("silent-12-back", "silent from tone 12 to 26, the operator looks after it", "silent=12/26",
     {"operator": _GOES_ON}),
    ("late", "misses the first 8 tones", "late=8", {}),
    ("late-both", "misses the first 8 tones, both ears", "late=8", _TWO_EARS),
    ("nobody", "nobody presses", "nobody", _TWO_EARS),
    ("presser", "presses at .95 of tones and .5 of silences", "presser=.95/.5", {}),
    ("presser-half", "hears, presses at half of silences, misses 15 % of tones", "lapses=.15",
     {"false_alarm_rate": 0.5}),
    ("presser-quiet", "presses at .9 of tones, and never in silence", "presser=.9/0", {}),
    ("presser-20", "presses at all tones from tone 20 on", "presser=1/.01/20", {}),
    ("presser-20-loud", "presses at all tones and half of silences from tone 20 on",
     "presser=1/.5/20", {}),
    *((f"rhythm-{s}", f"presses every {s} s", f"rhythm={s}", {}) for s in (1, 2, 3)),
)  # fmt: skip

_CHANGING: Final = (
    _changing("14", "another person from tone 14 on", 14),
    _changing(
        "14-operator", "another person from tone 14 on, the operator goes on", 14,
        operator=_GOES_ON,
    ),
    _changing("24", "another person from tone 24 on", 24),
    *(
        _changing(
            f"14-{db:g}", f"the earphone moves, {db:g} dB poorer from tone 14 on", 14, moved_db=db
        )
        for db in (10.0, 20.0, 30.0)
    ),
)  # fmt: skip

_CONFIRMED: Final = _endings(
    ABSENT,
    ("dead-heard", "a dead ear beside N1, which hears its tones at the check", HONEST.text,
     {"ears": DEAD, "other": "N1", "operator": Operator(hears="other-ear"), **_TWO_EARS}),
    ("dead-both-heard", "two dead ears, the operator hears their tones", HONEST.text,
     {"ears": DEAD, "operator": Operator(hears="operator"), **_TWO_EARS}),
)  # fmt: skip

_UNSTEADY: Final = (
    *_endings(
        UNSTEADY,
        ("tiring", "the criterion rises by 10 dB", "tiring=10", _TWO_EARS),
        ("repeating", "15 % of answers repeat the last", "repeating=.15", {}),
        ("uneven", "response noise of 1 dB at low and 8 dB at high frequencies", "uneven=1/8", {}),
    ),
    *_endings(
        None,
        *((f"exaggerating-{db}", f"exaggerates by {db} dB", f"exaggerating={how}", {})
          for db, how in (("15", "15"), ("5-25", "5/20"), ("30", "30"))),
    ),
)  # fmt: skip

_DECEIVING: Final = _endings(
    DECEIVED,
    ("accident", "the first clear tone from tone 6 on is missed, odd ears", "accident=6",
     {"ears": ODD}),
    *((f"shadow{name}", f"N1 and N6, {how}", HONEST.text,
       {"ears": "N1", "other": "N6", "tested": tested, "masking": masking})
      for name, how, tested, masking in (
          ("", "masking automatic", BOTH, AUTOMATIC),
          ("-off", "masking off", BOTH, OFF),
          ("-alone", "the worse one alone", LEFT, AUTOMATIC),
      )),
    *((f"conductive{name}",
       f"a conductive loss of 40 to 50 dB and a dead ear, masking {masking}", HONEST.text,
       {"ears": FLAT, "other": DEAD, "air_bone_gap_db": 40.0, "tested": BOTH, "masking": masking})
      for name, masking in (("", AUTOMATIC), ("-off", OFF))),
)  # fmt: skip

_VALID: Final = (
    *(
        _case(
            f"valid-noise-{noise_db:g}", f"honest, noise {noise_db:g} dB", _HONEST,
            noise_db=noise_db, **_TWO_EARS,
        )
        for noise_db in (1.0, 2.0, 4.0, 6.0)
    ),
    *(
        _case(
            f"valid-time-{time_s:g}", f"honest, answers in {time_s:g} s", _HONEST,
            response_time_s=time_s, **_TWO_EARS,
        )
        for time_s in (0.3, 1.0, 1.5, 2.0, 2.5)
    ),
    _case(
        "valid-twice", "honest, presses twice for a tone", _HONEST, listener="twice", **_TWO_EARS
    ),
    _case(
        "valid-odd", "honest, odd ears of all families",
        (
            *_HONEST,
            _share("silently wrong", SILENTLY_WRONG, high=SILENTLY_WRONG_MAX),
            _share("a supposition is far off, outside its band", INFERRED_WRONG),
            *(
                _share(f"silently wrong: {each}", among(_is_of(each), SILENTLY_WRONG))
                for each in ODD_EARS
            ),
        ),
        ears=ODD, ears_factor=len(ODD_EARS),
    ),
)  # fmt: skip

ENDING_CASES: Final[tuple[Case, ...]] = (
    *_NOT_LISTENING, *_CHANGING, *_CONFIRMED, *_UNSTEADY, *_DECEIVING, *_VALID,
)  # fmt: skip
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
    _case(
        "narrow-notch", "the same narrow notch",
        (
            _share(
                f"ears measured {WRONG_DB:g} dB wrong and more, outside the band, no remark",
                mean_of(lambda each: each.confidently_wrong), high=0.05,
            ),
        ),
        ears="narrow-notch", masking=AUTOMATIC,
    ),
    _case(
        "lapses", "15 % lapses",
        (_share("said to be inattentive", mean_of(lambda each: each.inattentive), low=0.80),),
        ears=STANDARD, listener="lapses=.15", **_TWO_EARS,
    ),
    _case(
        "bursts", "two bursts of five missed or pressed answers",
        (
            Goal("RMSE of those not refused", accept(rmse(END)), high=4.0, unit=" dB",
                 or_refused=True),
            Goal("their coverage", accept(coverage(END)), low=0.93, or_refused=True),
            _share("refused as unreliable", mean_of(lambda each: each.refused)),
        ),
        ears=STANDARD, listener="bursts", masking=AUTOMATIC,
    ),
    *(
        _case(
            f"honest-{db:g}", f"an honest, attentive listener with a noise of {db:g} dB",
            (_share("gets a remark of doubt", REMARKED, high=0.05),),
            ears=STANDARD, noise_db=db, **_TWO_EARS,
        )
        for db in (2.0, 4.0)
    ),
    *(
        _case(name, who, (_share("an asymmetry is named", mean_of(lambda each: each.asymmetric)),),
              ears=MILDER, **more, **_TWO_EARS)
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
