"""The rows of whole tests that are judged by how they end: with true statements, or a doubt.

People who do not listen, ears that deceive, and honest people, of whom nothing is to be doubted.
`robustness_judged.py` says what a false statement is.
"""

from collections.abc import Callable
from typing import Any, Final

from device.simulator.odd_ears import ODD_EARS
from device.simulator.operator import Operator
from firmware_py.terms.route import LEFT
from firmware_py.terms.settings import AUTOMATIC, BOTH, OFF
from host_tools.research.study.robustness import (
    DEAD,
    EVERYDAY,
    FLAT,
    ODD,
    PROCEDURE,
    Case,
    Goal,
    Measure,
    SessionFound,
    among,
    mean_of,
    median_seconds,
)

ABSENT: Final = 0.95  # of those who are silent, late, absent or pressing so many end well at least
UNSTEADY: Final = 0.90  # of those who drift, repeat themselves, or have uneven noise
DECEIVED: Final = 0.95  # of ears that deceive
DOUBTED_MAX: Final = 0.02  # of honest people
SILENTLY_WRONG_MAX: Final = 0.01  # of odd ears
DIFFERENT_DB: Final = 15.0  # people who differ so much where they are asked

ends_well: Final[Measure] = mean_of(lambda each: not each.false_statements)
silently_wrong: Final[Measure] = mean_of(lambda each: bool(each.false_statements))
inferred_wrong: Final[Measure] = mean_of(lambda each: each.inferred_wrong)
doubted: Final[Measure] = mean_of(lambda each: not each.valid)

_SECONDS: Final = Goal("seconds, median", median_seconds, unit=" s")
_ENDS: Final = Goal("ends well", ends_well, percent=True)
_HONEST: Final = (
    Goal("anything but valid", doubted, high=DOUBTED_MAX, percent=True), _ENDS, _SECONDS,
)  # fmt: skip
_TWO_EARS: Final = {"tested": BOTH, "masking": AUTOMATIC}


def _differ(each: SessionFound) -> bool:
    return each.differ_db >= DIFFERENT_DB


def _is_of(family: str) -> Callable[[SessionFound], bool]:
    return lambda each: each.family == family


def _case(name: str, who: str, goals: tuple[Goal, ...], **more: Any) -> Case:
    """Return a row: of one ear, which needs no masking, if nothing else is said."""
    told = {"ears": EVERYDAY, "masking": OFF, **more}
    title = f"{who}, whole procedure"
    return Case(f"{name}-test", title, goals=goals, run=PROCEDURE, **told)


def _ending(name: str, who: str, wanted: float | None, **more: Any) -> Case:
    """Return a row of which so many sessions should end well; None: that is only shown."""
    well = _ENDS if wanted is None else Goal("ends well", ends_well, low=wanted, percent=True)
    goals = (well, Goal("said to be no valid test", doubted, percent=True), _SECONDS)
    return _case(name, who, goals, **more)


_NOT_LISTENING: Final = (
    *(
        _ending(f"silent-{k}", f"silent for good from tone {k} on", ABSENT, listener=f"silent={k}")
        for k in (12, 20, 30, 36)
    ),
    _ending(
        "silent-20-both", "silent for good from tone 20 on, both ears", ABSENT,
        listener="silent=20", **_TWO_EARS,
    ),
    _ending(
        "silent-12-back", "silent from tone 12 to 26, the operator looks after it", ABSENT,
        listener="silent=12/26", operator=Operator(goes_on=True),
    ),
    _ending("late", "misses the first 8 tones", ABSENT, listener="late=8"),
    _ending(
        "late-both", "misses the first 8 tones, both ears", ABSENT, listener="late=8", **_TWO_EARS
    ),
    _ending("nobody", "nobody presses", ABSENT, listener="nobody", **_TWO_EARS),
    _ending(
        "presser", "presses at .95 of tones and .5 of silences", ABSENT, listener="presser=.95/.5"
    ),
    _ending(
        "presser-half", "hears, presses at half of silences, misses 15 % of tones", ABSENT,
        listener="lapses=.15", false_alarm_rate=0.5,
    ),
    _ending(
        "presser-quiet", "presses at .9 of tones, and never in silence", ABSENT,
        listener="presser=.9/0",
    ),
    _ending(
        "presser-20", "presses at all tones from tone 20 on", ABSENT, listener="presser=1/.01/20"
    ),
    _ending(
        "presser-20-loud", "presses at all tones and half of silences from tone 20 on", ABSENT,
        listener="presser=1/.5/20",
    ),
    *(
        _ending(f"rhythm-{s}", f"presses every {s} s", ABSENT, listener=f"rhythm={s}")
        for s in (1, 2, 3)
    ),
)  # fmt: skip


def _changing(name: str, who: str, tone: int, **more: Any) -> Case:
    """Return a row of which nothing is true: whose ear it was is not known."""
    goals = (
        Goal(
            f"no valid test, of those who differ by {DIFFERENT_DB:g} dB",
            among(_differ, doubted), percent=True,
        ),
        Goal("no valid test, of all", doubted, percent=True),
        Goal(
            f"differ by {DIFFERENT_DB:g} dB", mean_of(_differ),
            percent=True,
        ),
        _SECONDS,
    )  # fmt: skip
    return _case(f"changed-{name}", who, goals, changes_at=tone, **more)


_CHANGING: Final = (
    _changing("14", "another person from tone 14 on", 14),
    _changing(
        "14-operator", "another person from tone 14 on, the operator goes on", 14,
        operator=Operator(goes_on=True),
    ),
    _changing("24", "another person from tone 24 on", 24),
    *(
        _changing(
            f"14-{db:g}", f"the earphone moves, {db:g} dB poorer from tone 14 on", 14, moved_db=db
        )
        for db in (10.0, 20.0, 30.0)
    ),
)  # fmt: skip

_CONFIRMED: Final = (
    _ending(
        "dead-heard", "a dead ear beside N1, which hears its tones at the check", ABSENT,
        ears=DEAD, other="N1", operator=Operator(hears="other-ear"), **_TWO_EARS,
    ),
    _ending(
        "dead-both-heard", "two dead ears, the operator hears their tones", ABSENT,
        ears=DEAD, operator=Operator(hears="operator"), **_TWO_EARS,
    ),
)  # fmt: skip

_UNSTEADY: Final = (
    _ending("tiring", "the criterion rises by 10 dB", UNSTEADY, listener="tiring=10", **_TWO_EARS),
    _ending("repeating", "15 % of answers repeat the last", UNSTEADY, listener="repeating=.15"),
    _ending(
        "uneven", "response noise of 1 dB at low and 8 dB at high frequencies", UNSTEADY,
        listener="uneven=1/8",
    ),
    *(
        _ending(f"exaggerating-{name}", f"exaggerates by {name} dB", None, listener=listener)
        for name, listener in (
            ("15", "exaggerating=15"), ("5-25", "exaggerating=5/20"), ("30", "exaggerating=30"),
        )
    ),
)  # fmt: skip

_DECEIVING: Final = (
    _ending(
        "accident", "the first clear tone from tone 6 on is missed, odd ears", DECEIVED,
        listener="accident=6", ears=ODD,
    ),
    *(
        _ending(
            f"shadow{name}", f"N1 and N6, {how}", DECEIVED, ears="N1", other="N6",
            tested=tested, masking=masking,
        )
        for name, how, tested, masking in (
            ("", "masking automatic", BOTH, AUTOMATIC),
            ("-off", "masking off", BOTH, OFF),
            ("-alone", "the worse one alone", LEFT, AUTOMATIC),
        )
    ),
    *(
        _ending(
            f"conductive{name}", f"a conductive loss of 40 to 50 dB and a dead ear, {how}",
            DECEIVED, ears=FLAT, other=DEAD, air_bone_gap_db=40.0, tested=BOTH, masking=masking,
        )
        for name, how, masking in (
            ("", "masking automatic", AUTOMATIC), ("-off", "masking off", OFF),
        )
    ),
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
            Goal("silently wrong", silently_wrong, high=SILENTLY_WRONG_MAX, percent=True),
            Goal("a supposition is far off, outside its band", inferred_wrong, percent=True),
            *(
                Goal(f"silently wrong: {each}", among(_is_of(each), silently_wrong), percent=True)
                for each in ODD_EARS
            ),
        ),
        ears=ODD, ears_factor=len(ODD_EARS),
    ),
)  # fmt: skip

ENDING_CASES: Final[tuple[Case, ...]] = (
    *_NOT_LISTENING,
    *_CHANGING,
    *_CONFIRMED,
    *_UNSTEADY,
    *_DECEIVING,
    *_VALID,
)
