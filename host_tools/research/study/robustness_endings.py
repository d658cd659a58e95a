"""The rows of whole tests that are judged by how they end: with true statements, or a doubt.

Those are of people who do not listen, who change, or whose earphone moves, of ears that deceive,
and of honest people, of whom nothing is to be doubted; `robustness_judged.py` says what is false.
"""

import math
from collections.abc import Callable
from typing import Any, Final

from device.simulator.kinds import HONEST
from device.simulator.odd_ears import ODD_EARS
from device.simulator.operator import Operator
from firmware_py.terms.route import LEFT
from firmware_py.terms.settings import AUTOMATIC, BOTH, OFF
from host_tools.research.study.ears import DEAD, EVERYDAY, FLAT, ODD
from host_tools.research.study.robustness import (
    PROCEDURE,
    Case,
    Goal,
    Measure,
    SessionFound,
    among,
    mean_of,
    median_seconds,
    upper_bound,
)

ABSENT: Final = 0.95  # of those who are silent, late, absent or pressing so many end well at least
UNSTEADY: Final = 0.90  # of those who drift, repeat themselves, or have uneven noise
DECEIVED: Final = 0.95  # of ears that deceive
DOUBTED_MAX: Final = 0.02  # of honest people
DOUBTED_BOUND: Final = 0.05
SILENTLY_WRONG_MAX: Final = 0.01  # of odd ears
FOUND_RIGHT: Final = 0.5  # of moves that were found, where the earphone is put back
DIFFERENT_DB: Final = 15.0  # people who differ so much where they are asked

ENDS_WELL: Final = mean_of(lambda each: not each.false_statements)
FALSE: Final = mean_of(lambda each: bool(each.false_statements))
SILENTLY_WRONG: Final = mean_of(lambda each: bool(each.false_statements) and not each.remarks)
BETWEEN: Final = mean_of(lambda each: each.between)
INFERRED_WRONG: Final = mean_of(lambda each: each.inferred_wrong)
DOUBTED: Final = mean_of(lambda each: not each.valid)


def _suspected(each: SessionFound) -> bool:
    return not each.valid or bool(each.remarks)


SUSPECTED: Final = mean_of(_suspected)
FOUND: Final = among(_suspected, mean_of(lambda each: each.valid and not each.false_statements))


def share(what: str, measure: Measure, low: float = -math.inf, high: float = math.inf) -> Goal:
    return Goal(what, measure, low, high, percent=True)


_SECONDS: Final = Goal("seconds, median", median_seconds, unit=" s")
_HONEST: Final = (
    share("anything but valid without a remark", SUSPECTED, high=DOUBTED_MAX),
    share("its upper 95 % bound", upper_bound(_suspected), high=DOUBTED_BOUND),
    share("ends well", ENDS_WELL), _SECONDS,
)  # fmt: skip
TWO_EARS: Final = {"tested": BOTH, "masking": AUTOMATIC}
_GOES_ON: Final = Operator(goes_on=True)
_SEATS: Final = Operator(seats=True)


def by_family(what: str, measure: Measure, **wanted: Any) -> tuple[Goal, ...]:
    """Return a number of each family of odd ears by itself."""
    return tuple(
        Goal(f"{what}: {each}", among(_is_of(each), measure), **wanted) for each in ODD_EARS
    )


def _differ(each: SessionFound) -> bool:
    return each.differ_db >= DIFFERENT_DB


def _is_of(family: str) -> Callable[[SessionFound], bool]:
    return lambda each: each.family == family


def procedure(name: str, who: str, goals: tuple[Goal, ...], **more: Any) -> Case:
    """Return a row: of one ear, which needs no masking, if nothing else is said."""
    told = {"ears": EVERYDAY, "masking": OFF, **more}
    return Case(f"{name}-test", f"{who}, whole procedure", goals=goals, run=PROCEDURE, **told)


def _ending(name: str, who: str, wanted: float | None, listener: str, **more: Any) -> Case:
    """Return a row of which so many sessions should end well; None: that is only shown."""
    goals = (
        share("ends well", ENDS_WELL, low=-math.inf if wanted is None else wanted),
        share("said to be no valid test", DOUBTED),
        _SECONDS,
    )
    return procedure(name, who, goals, listener=listener, **more)


def _changing(name: str, who: str, tone: int, **more: Any) -> Case:
    """Return a row of which nothing is true: whose ear it was is not known."""
    by = f"by {DIFFERENT_DB:g} dB"
    goals = (
        share(f"no valid test, of those who differ {by}", among(_differ, DOUBTED)),
        share("no valid test, of all", DOUBTED),
        share(f"differ {by}", mean_of(_differ)),
        _SECONDS,
    )
    return procedure(f"changed-{name}", who, goals, changes_at=tone, **more)


def _silent(name: str, who: str, most: float | None, listener: str, **more: Any) -> Case:
    """Return a row of which so many may end with what is false, and no doubt; None: any."""
    wanted = FOUND_RIGHT if more.get("operator") == _SEATS else -math.inf
    goals = (
        share("silently wrong", SILENTLY_WRONG, high=math.inf if most is None else most),
        share("right and valid, of those in which something was found", FOUND, low=wanted),
        share("no valid test", DOUBTED),
        share("no valid test, or a remark", SUSPECTED), _SECONDS,
    )  # fmt: skip
    return procedure(name, who, goals, listener=listener, **more)


def _endings(wanted: float | None, *rows: tuple[str, str, str, dict[str, Any]]) -> list[Case]:
    return [_ending(name, who, wanted, listener, **more) for name, who, listener, more in rows]


_NOT_LISTENING: Final = _endings(
    ABSENT,
    *((f"silent-{k}", f"silent for good from tone {k} on", f"silent={k}", {})
      for k in (12, 20, 30, 36)),
    ("silent-20-both", "silent for good from tone 20 on, both ears", "silent=20", TWO_EARS),
    ("silent-12-back", "silent from tone 12 to 26, the operator looks after it", "silent=12/26",
     {"operator": _GOES_ON}),
    ("late", "misses the first 8 tones", "late=8", {}),
    ("late-both", "misses the first 8 tones, both ears", "late=8", TWO_EARS),
    ("nobody", "nobody presses", "nobody", TWO_EARS),
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
)  # fmt: skip

# What is set up does not stay so, and a press is no answer to the ear.
_LEAK: Final = "15/4096/1/0/1500"  # dB poorer, for good, at once, up to 1.5 kHz
_Silent = tuple[str, str, float | None, str, dict[str, Any]]
_SILENT: Final[tuple[_Silent, ...]] = (
    *((f"{name}{seated}", f"{who}{told}", most, listener, {"operator": operator})
      for seated, told, operator in (
          ("", "", Operator()), ("-seated", ", the operator puts it back", _SEATS),
      )
      for name, who, most, listener in (
          ("leak", "the earphone leaks from tone 22 on", 0.10, f"moved=22/{_LEAK}"),
          ("moved-10", "it is 10 dB poorer from tone 22 on", 0.05, "moved=22/10"),
          ("moved-20", "it is 20 dB poorer from tone 14 on", 0.05, "moved=14/20"),
          ("slides", "it gets poorer by 15 dB over 25 tones", 0.05, "moved=14/15/4096/25"),
          ("better", "it is 12 dB better from tone 22 on", 0.05, "moved=22/-12"),
      )),
    ("moved-back", "it is 15 dB poorer from tone 14 to 25", 0.05, "moved=14/15/26", {}),
    ("leak-presses", "it leaks from tone 22 on, 15 % presses in silence", None,
     f"moved=22/{_LEAK}", {"false_alarm_rate": 0.15}),
    ("leak-always", "it leaks from the first tone on", None, f"moved=1/{_LEAK}", {}),
    *((f"tinnitus-{p}", f"takes {p} of faint tones near 4 kHz for heard", 0.10,
       f"tinnitus=4000/{p}", {}) for p in ("0.8", "0.5")),
    *((f"cue-{p}", f"presses at {p} of unheard tones, never in silence", 0.10,
       f"cue={p}", {}) for p in ("0.6", "0.3")),
    ("rising", "notices of faint tones only what is louder than that before", 0.10,
     "rising", {}),
)  # fmt: skip
_NOT_IN_PLACE: Final = tuple(
    _silent(name, who, most, listener, **more) for name, who, most, listener, more in _SILENT
)

_CONFIRMED: Final = _endings(
    ABSENT,
    ("dead-heard", "a dead ear beside N1, which hears its tones at the check", HONEST.text,
     {"ears": DEAD, "other": "N1", "operator": Operator(hears="other-ear"), **TWO_EARS}),
    ("dead-both-heard", "two dead ears, the operator hears their tones", HONEST.text,
     {"ears": DEAD, "operator": Operator(hears="operator"), **TWO_EARS}),
)  # fmt: skip

_UNSTEADY: Final = (
    *_endings(
        UNSTEADY,
        ("tiring", "the criterion rises by 10 dB", "tiring=10", TWO_EARS),
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
        procedure(
            f"valid-noise-{noise_db:g}", f"honest, noise {noise_db:g} dB", _HONEST,
            noise_db=noise_db, **TWO_EARS,
        )
        for noise_db in (1.0, 2.0, 4.0, 6.0)
    ),
    *(
        procedure(
            f"valid-time-{time_s:g}", f"honest, answers in {time_s:g} s", _HONEST,
            response_time_s=time_s, **TWO_EARS,
        )
        for time_s in (0.3, 1.0, 1.5, 2.0, 2.5)
    ),
    procedure(
        "valid-twice", "honest, presses twice for a tone", _HONEST, listener="twice", **TWO_EARS
    ),
    procedure(
        "valid-odd", "honest, odd ears of all families",
        (
            *_HONEST,
            share("silently wrong", SILENTLY_WRONG, high=SILENTLY_WRONG_MAX),
            share("a supposition is far off, outside its band", INFERRED_WRONG),
            *by_family("silently wrong", SILENTLY_WRONG, percent=True),
            *by_family("coverage between", BETWEEN, low=0.93),
        ),
        ears=ODD, ears_factor=len(ODD_EARS),
    ),
)  # fmt: skip

ENDING_CASES: Final[tuple[Case, ...]] = (
    *_NOT_LISTENING, *_CHANGING, *_NOT_IN_PLACE, *_CONFIRMED, *_UNSTEADY, *_DECEIVING, *_VALID,
)  # fmt: skip
