"""Every promise, broken on purpose: the alarm rings."""

from dataclasses import replace
from typing import Any, Final

import pytest

from device.simulator.head import Head
from firmware_py.calibration.calibration import Calibration
from firmware_py.ear import levels
from firmware_py.ear.levels import Levels
from firmware_py.session.placing import Placing
from firmware_py.terms.route import BY_BONE, RouteKind
from firmware_py.terms.settings import AIR_AND_BONE, DEFAULT_PROFILE
from tests.budget import quick
from tests.journal.simulated_disk import LyingDisk
from tests.simulation import broken
from tests.simulation.lock import PIN
from tests.simulation.run import Run, check
from tests.simulation.stories import ONCE_BAD, QUIET
from tests.simulation.story import Story, Trouble
from tests.simulation.violation import Violation

PAUSED: Final = replace(QUIET, troubles=(Trouble("operator pauses", 4.0, 0.0, 1),))
PAUSES: Final = {"pause_ms_max": 2100, "pause_ms_min": 2100}  # set before the pulses
LONG_TONES: Final = replace(
    QUIET,
    settings={
        "conduct": QUIET.settings["conduct"],
        **PAUSES,
        **QUIET.settings,
        **PAUSES,
        "pulses": 5,
    },
    troubles=tuple(Trouble("firmware killed", at_s, 0.0, 1) for at_s in (6.1, 16.3)),
    safety_s=40.0,
)
RESET: Final = replace(QUIET, troubles=(Trouble("board reset", 5.0, 0.0, 1),))

HANDS: Final = replace(QUIET, troubles=(Trouble("operator plays a tone", 0.5, 0.0, 1),))
METER: Final = replace(QUIET, troubles=(Trouble("operator plays a calibration tone", 0.5, 0.0, 1),))
DEAF: Final = replace(QUIET, listener={**QUIET.listener, "audiogram": "N7"})
# Hears next to nothing by bone either, and the settings would allow 100 dB HL.
DEAF_BY_BONE: Final = replace(
    QUIET,
    settings={**QUIET.settings, "profile": DEFAULT_PROFILE, "routes": AIR_AND_BONE,
              "level_max_db_hl": 100.0},
    listener={**QUIET.listener, "audiogram": "N7", "head": Head()},
)  # fmt: skip
CUT: Final = replace(QUIET, troubles=(Trouble("power cut", 8.0, 0.0, 1),))
LOCKED: Final = replace(QUIET, pin=True)
SEALED: Final = replace(QUIET, sealed=True)
CALIBRATED: Final = replace(QUIET, calibration="good")
UNPLUGGED: Final = (
    Trouble("console gone", 5.0, 0.5, 1),
    *(Trouble("operator changes settings", 7.0, 0.0, n) for n in range(4)),
)
LEFT_ALONE: Final = replace(QUIET, troubles=(Trouble("off for long", 8.0, 30.0, 1),))
SUCCEEDED: Final = replace(
    QUIET,
    troubles=(
        *(Trouble("operator changes settings", 5.0, 0.0, n) for n in range(4)),
        Trouble("next operator", 6.0, 0.5, 1),
    ),
)
TUNED: Final = replace(
    QUIET,
    aid=True,
    safety_s=30.0,
    troubles=(
        Trouble("operator aborts", 3.0, 0.0, 1),
        *(Trouble("operator tunes", 3.0 + 0.1 * n, 0.0, 1) for n in range(1, 4)),
        *(Trouble("other aid", 5.0 + n, 0.0, n) for n in range(8)),
    ),
)
LINKED: Final = replace(QUIET, troubles=(Trouble("strange file", 0.01, 0.0, 26),))
GUESSES: Final = tuple(Trouble("operator types PINs", 0.5 * n, 0.0, n) for n in range(60))
KILLED: Final = (*GUESSES[:26], Trouble("firmware killed", 13.0, 0.0, 1), *GUESSES[26:])

_ONCE: Final = ONCE_BAD[
    "noise ended by itself while the host stood still, and its tone came without"
]
# The second ear is tested with noise, and the host stands still in it again and again.
NOISE_LOST: Final = replace(
    _ONCE,
    listener={**_ONCE.listener, "audiogram": "N1,N6"},
    troubles=tuple(Trouble("not scheduled", at_s, 1.5, 1) for at_s in range(11, 90, 7)),
    safety_s=95.0,
)

# By the words of the violation: a story, and how the firmware is spoilt in it.
FIRMWARES: Final[dict[str, tuple[Story, broken.Spoil]]] = {
    "sounds, and the journal has": (QUIET, broken.louder(10.0)),
    "is acknowledged and in no journal": (QUIET, broken.hasty),
    "was not answered": (QUIET, broken.silent),
    "nobody asked for": (QUIET, broken.talkative),
    "entries": (QUIET, broken.hoarding),
    "turns of the loop": (QUIET, broken.spinning),
    "the firmware is at fault: ZeroDivisionError": (PAUSED, broken.faulty),
    "was played by hand, above 100": (HANDS, broken.louder(120.0, "man-")),
    "is a calibration tone above -45": (METER, broken.louder(120.0, "cal-")),
    "has finished no session in 1800 s": (QUIET, broken.lazy),
    "a healthy device ended with": (replace(QUIET, safety_s=1.0), broken.tire),
    "has opened the lock": (
        replace(LOCKED, troubles=GUESSES[:9]),
        broken.taking_any_pin_for(PIN),
    ),
    "the right PIN was called wrong": (LOCKED, broken.taking_any_pin_for("0000")),
    "has a seal key or a calibration it was not given": (SEALED, broken.unseal),
    "not given": (CALIBRATED, broken.uncalibrate),
    "was not told of any readiness": (QUIET, broken.withhold("ready")),
    "was done without the PIN": (replace(LOCKED, troubles=UNPLUGGED), broken.unprotect),
    "was refused in spite of the PIN": (LOCKED, broken.lock_at_once),
    "s too early after 1 wrong ones": (
        replace(LOCKED, troubles=GUESSES, safety_s=35.0),
        broken.hurry,
    ),
    "s too early after [3-9] wrong ones": (
        replace(LOCKED, troubles=KILLED, safety_s=35.0),
        broken.forgetful,
    ),
    "has another seal than it should": (SEALED, broken.loosely_sealed),
    "dbfs=.* sounds, and the journal has": (CALIBRATED, broken.nominal),
    "did not say that it lives": (QUIET, broken.withhold("alive")),
    "is paused, and nobody said so": (QUIET, broken.pausing),
    r"a test is .* 'waiting'": (QUIET, broken.standing),
    "its clock was right": (QUIET, broken.slandering("its clock went wild")),
    "it told nothing wrong": (QUIET, broken.slandering("'ping' has no us, and wire 1 asks for it")),
    "it was never lost": (QUIET, broken.slandering("enough")),
    "nobody held it": (QUIET, broken.suspicious),
    "was not told that the firmware ends": (QUIET, broken.withhold("ending")),
    "went on after a long time, and nobody was asked": (LEFT_ALONE, broken.trusting),
    "another operator finds the settings of the last": (SUCCEEDED, broken.keeping),
    "is of P-9, and was begun for P-0": (QUIET, broken.mistaking),
    "is sent to the aid with fit": (TUNED, broken.confusing),
    "files are open": (QUIET, broken.leaking),
    "files were opened at a start": (QUIET, broken.rereading),
}
ALARMS: Final[dict[str, tuple[Story, dict[str, Any]]]] = {
    "and is in no journal": (QUIET, {"disk": LyingDisk}),
    "us after its host's word": (LONG_TONES, {"board": broken.StubbornBoard}),
    "has lost some of its": (CUT, {"disk": broken.AmnesiacDisk}),
    "None sounds with a tone, and the journal has": (NOISE_LOST, {"board": broken.ForgetfulBoard}),
    "was written through a link": (LINKED, {"disk": broken.FollowingDisk}),
    **{
        words: (story, {"firmware": broken.spoilt(spoil)})
        for words, (story, spoil) in FIRMWARES.items()
    },
}


# One of each kind is heard every day: of journal, wire, console, PIN, board and supervisor.
EVERY_DAY: Final = (
    "sounds, and the journal has", "is acknowledged and in no journal", "was not answered",
    "has opened the lock", "was done without the PIN", "us after its host's word",
    "did not say that it lives", "and is in no journal", "has lost some of its",
    "has another seal than it should", "nobody held it", "is of P-9, and was begun for P-0",
    "was written through a link",
)  # fmt: skip
_lived: Final = set[str]()


@pytest.mark.parametrize("words", quick(ALARMS, *EVERY_DAY))
def test_the_alarm_rings(words: str) -> None:
    story, others = ALARMS[words]
    with pytest.raises(Violation, match=words):
        Run(story, **others).live()
    if repr(story) not in _lived:  # many alarms ring in the same one
        Run(story).live()
        _lived.add(repr(story))


def test_the_alarms_of_every_day_are_some_of_all() -> None:
    assert {*EVERY_DAY} < {*ALARMS}


@pytest.mark.parametrize(
    ("where", "rule", "other", "words"),
    [
        (levels, "STEP_UP_MAX_DB", 60.0, "is more than 20.0 dB above all of"),
        (Levels, "limit_db_hl", lambda own, frequency_hz: 120.0, "is above the limit of 80.0"),
    ],
)
def test_the_alarm_rings_when_a_rule_of_the_procedure_is_another(
    monkeypatch: pytest.MonkeyPatch, where: Any, rule: str, other: Any, words: str
) -> None:
    monkeypatch.setattr(where, rule, other)
    with pytest.raises(Violation, match=words):
        Run(DEAF).live()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("where", "is_of_bone", "calibration", "words"),
    [
        (RouteKind, lambda kind, *_: kind is BY_BONE, "none", "via=1.* dB HL of a vibrator"),
        (Calibration, lambda _, route, __: route.by_bone, "vibrator", "via=1.* of its calibration"),
    ],
)
def test_the_alarm_rings_when_bone_is_louder_than_it_may_be(
    monkeypatch: pytest.MonkeyPatch, where: Any, is_of_bone: Any, calibration: str, words: str
) -> None:
    story, right = replace(DEAF_BY_BONE, calibration=calibration), where.highest_db_hl
    Run(story).live()
    monkeypatch.setattr(
        where, "highest_db_hl", lambda *about: right(*about) + 4.0 * is_of_bone(*about)
    )
    with pytest.raises(Violation, match=words):
        Run(story).live()


@pytest.mark.thorough
def test_the_alarm_rings_when_nobody_is_asked_for_the_vibrator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Placing, "is_at", lambda *_: True)
    with pytest.raises(Violation, match="nobody put there what was at ''"):
        Run(DEAF_BY_BONE).live()


def test_the_alarm_rings_when_a_result_depends_on_what_went_wrong() -> None:
    with pytest.raises(Violation, match=r"of session 1 are .*, and without trouble"):
        check(RESET, board=broken.FickleBoard)
    check(RESET)
