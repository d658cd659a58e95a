"""What befalls a device in one run: drawn from a seed, printed, and cut down to what matters."""

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from device.simulator.faults import FaultRates
from device.simulator.head import OCCLUSION_DB, Head
from device.simulator.listener import EARS
from firmware_py.terms.settings import AIR_AND_BONE, BOTH, BRISK, CLINICAL, DEFAULT_PROFILE

# A board that is not what the wire page has; drawn by a luck of their own.
MISFITS: Final[dict[str, tuple[float, float]]] = {
    "board clock jumps": (0.0, 0.0),
    "board clock drifts": (1.0, 20.0),
    "board clock stands still": (0.5, 12.0),
    "board clock wraps": (0.0, 0.0),  # from there on
    "board clock is negative": (0.5, 12.0),
    "board tells the future": (0.5, 12.0),  # its events; what a ping is told is right
    "board answers without fields": (0.5, 12.0),
    "board deaf to ping": (0.5, 12.0),
    "button unknown": (0.0, 0.0),  # it goes down, and stays there
    "button of no use held": (2.0, 20.0),  # the second, where nobody asked for one
    "boards take turns": (2.0, 12.0),
}

# Another day, operator or person; likewise.
SECONDS: Final[dict[str, tuple[float, float]]] = {
    "off for long": (14.0, 40.0),
    "next operator": (0.5, 8.0),
    "next person": (0.0, 0.0),
}
# Of devices with a hearing aid; likewise.
AIDS: Final[dict[str, tuple[float, float]]] = {
    "operator tunes": (0.0, 0.0),
    "other aid": (0.0, 0.0),
    "aid lies": (0.0, 0.0),  # now, and of itself when it is greeted next
}

# Of other programs that write in the data directory; likewise.
OTHERS: Final[dict[str, tuple[float, float]]] = {
    "strange file": (0.0, 0.0),  # a link, a pipe or a directory, named like a file of the device
}

# Of a disk with little room; likewise.
FILLS: Final[dict[str, tuple[float, float]]] = {
    "disk fills": (0.5, 20.0),
}

# What may befall the device, and for how long, in seconds (0: it is over at once).
KINDS: Final[dict[str, tuple[float, float]]] = {
    # The board
    "board reset": (0.0, 0.0),  # it forgets everything and says another boot
    "board swapped": (0.0, 0.0),  # another serial number
    "board without noise": (0.0, 0.0),  # and no masking from here on
    "board hangs": (0.2, 12.0),  # it neither takes nor gives a byte
    # The ports
    "tone port gone": (0.5, 8.0),
    "tone port leads elsewhere": (0.5, 8.0),  # for so long its name is that of a silent device
    "tone port renamed": (0.0, 0.0),  # the firmware finds it after its next start only
    "console gone": (0.5, 8.0),
    "tone port takes nothing": (0.2, 12.0),  # what was written waits, and comes all at once
    "console is not read": (0.5, 20.0),
    # The power, and the process
    "power cut": (0.0, 0.0),
    "power cut while writing": (0.0, 0.0),
    "power cut of all": (0.0, 0.0),  # of the board too
    "firmware killed": (0.0, 0.0),
    "firmware ended": (0.0, 0.0),
    # The disk
    "disk full": (0.5, 20.0),
    "disk read-only": (0.5, 20.0),
    "disk error": (0.0, 0.0),
    "disk slow": (1.0, 20.0),
    # The clocks
    "wall clock jumps": (0.0, 0.0),
    "asleep with its clock": (0.1, 30.0),  # the machine was suspended, and does not know
    "not scheduled": (0.05, 5.0),  # the processor was busy
    # What it is started with, from its next start on
    "other calibration": (0.0, 0.0),
    "other seal key": (0.0, 0.0),
    # The operator
    "operator pauses": (0.0, 0.0),
    "operator types nonsense": (0.0, 0.0),
    "operator types PINs": (0.0, 0.0),
    "operator plays a tone": (0.0, 0.0),
    "operator plays a calibration tone": (0.0, 0.0),
    "operator changes settings": (0.0, 0.0),
    "operator aborts": (0.0, 0.0),
    "operator resets": (0.0, 0.0),
    "operator ends it": (0.0, 0.0),
    # The listener
    "listener asleep": (1.0, 30.0),
    "listener answers everything": (1.0, 20.0),
    "button stuck": (2.0, 20.0),
    "button bounces": (0.0, 0.0),
    **MISFITS,
    **SECONDS,
    **AIDS,
    **OTHERS,
    **FILLS,
}

# After these the answers may be others, and so may the result.
ANSWERS_CHANGE: Final = frozenset(
    {
        "board without noise", "other calibration", "operator changes settings",
        "operator aborts", "operator resets", "listener asleep", "listener answers everything",
        "button stuck", "button bounces", "next person",
        # A third of a second is lost or won before it shows: response times are others.
        "board clock drifts", "board clock stands still",
    }
)  # fmt: skip

SLOW_WINDOW_MS: Final = 2500  # a window that is longer than the answers of who is slow
SLOW_S: Final = 0.5  # the pause before a tone is as long at least
DISK_FAILS: Final = frozenset({"disk full", "disk read-only", "disk error", *FILLS})
assert KINDS.keys() >= ANSWERS_CHANGE | DISK_FAILS

AID_EVERY: Final = 4  # one device in so many has a hearing aid
ROOM_SHARE: Final = 0.15  # of devices with a microphone, in a room that is not quiet
SAFETY_S: Final = (4.0, 30.0)  # how long anything may fail
TROUBLES_MAX: Final = 8
MISFITS_MAX: Final = 5
RATE_MAX: Final = 0.25
AUDIOGRAMS: Final = ("N1", "N3", "N5", "N7", "S1", "S3")
UNEQUAL: Final = ("N1,N6", "N7,N2", "S3,N5", "N4,S1")  # the better ear hears for the other
PROFILES: Final = ("gp-pta-2015", "gp-pta-2015", "gp-pta-2015", "default")
CALIBRATIONS: Final = ("none", "good", "overdue", "unreadable", "another's")
VIBRATORS: Final = ("vibrator", "other vibrator")  # good ones that have levels by bone, too
GAPS_DB: Final = (0.0, 0.0, 20.0, 40.0)  # air-bone gaps of an ear
CABLE: Final = ("drop", "garble", "delay", "duplicate", "merge")

# Longer than the board sounds without its host.
# The pauses are set first: none may be shorter than the tone. Of them the longest comes first: the
# least may not be above it.
LONG_PAUSES: Final = {"pause_ms_max": 2200, "pause_ms_min": 2100}
LONG_TONE: Final = {**LONG_PAUSES, "pulses": 5}

# A test as short as the settings allow: the estimator is not what is tried here. The window is
# longer than the slowest answer; so is the shortest that follows the answers, with its pause.
SHORT: Final[dict[str, Any]] = {
    "ears": "left", "tones_min": 1, "tones_max": 20, "pulses": 1, "pulse_on_ms": 260,
    "pause_ms_min": 500, "pause_ms_max": 600, "response_window_ms": 1000,
}  # fmt: skip
# A test that is soon over, where it is not what is tried.
NARROW: Final = {
    "frequency_min_hz": 1000.0, "frequency_max_hz": 2000.0, "stop_half_width_db": 40.0,
}  # fmt: skip


@dataclass(frozen=True)
class Trouble:
    """One thing that goes wrong: what, when, for how long, and a number for all its details."""

    kind: str
    at_s: float
    for_s: float
    chance: int

    def __str__(self) -> str:
        lasting = f" for {self.for_s:.1f} s" if self.for_s else ""
        return f"{self.at_s:5.1f} s: {self.kind}{lasting}"


@dataclass(frozen=True)
class Story:
    seed: int  # of all luck that is not spelt out here
    settings: dict[str, Any]  # of the hearing tests
    # options of `SimulatedListener`, and the name of the audiogram; who has no head hears no bone
    listener: dict[str, Any]
    safety_s: float  # from here on nothing fails any more, and a session has to be finished
    troubles: tuple[Trouble, ...] = ()  # what goes wrong before
    # what befalls the lines of the wire before
    rates: FaultRates = field(default_factory=FaultRates)
    talkative: bool = False  # whether the console tells what happens
    pin: bool = False  # whether the operator needs one
    sealed: bool = False  # whether journals are sealed
    # what the device is started with, one of `CALIBRATIONS` or `VIBRATORS`
    calibration: str = "none"
    aid: bool = False  # whether it has a hearing aid
    room: str = ""  # its noise, which a microphone hears; "": quiet, and there is none

    @property
    def keeps_answers(self) -> bool:
        pure = self.listener["false_alarm_rate"] == 0.0
        # Who is slow answers a tone by hand when the first of a test is heard.
        slow = self.listener.get("response_time_s", 0.0) > SLOW_S
        change = ANSWERS_CHANGE | ({"operator plays a tone"} if slow else set())
        # How many tones come before the operator's word depends on when that is said.
        asks = self.settings.get("ear_check", False)
        # What noise hides depends on when it is asked.
        return (
            pure and not asks and not self.room and not any(t.kind in change for t in self.troubles)
        )

    def without_trouble(self) -> "Story":
        return replace(self, safety_s=0.0, troubles=(), rates=FaultRates())

    def only(self, numbers: Collection[int], cable: Collection[str]) -> "Story":
        """Return the story with these of its troubles, and of what befalls a line, alone."""
        kept = tuple(t for number, t in enumerate(self.troubles) if number in numbers)
        rates = {name: getattr(self.rates, name) for name in cable}
        return replace(self, troubles=kept, rates=FaultRates(**rates))

    def by_bone(self) -> "Story":
        """Return the story by bone as well, of a method, calibration and head that can."""
        chance = random.Random(f"by bone {self.seed}")
        settings = {**self.settings, "profile": DEFAULT_PROFILE, "routes": AIR_AND_BONE}
        head = Head(
            {ear: chance.choice(GAPS_DB) for ear in EARS},
            occlusion_db=chance.choice((0.0, OCCLUSION_DB)),
        )
        listener = {**self.listener, "head": head}
        calibration = chance.choice(("none", *VIBRATORS))
        return replace(self, settings=settings, listener=listener, calibration=calibration)

    def kinds(self) -> list[str]:
        cable = [name for name in CABLE if getattr(self.rates, name)]
        return [*cable, *dict.fromkeys(t.kind for t in self.troubles)]

    def __str__(self) -> str:
        changed = {k: v for k, v in self.settings.items() if SHORT.get(k) != v}
        rates = ", ".join(f"{n} {getattr(self.rates, n):.2f}" for n in CABLE if n in self.kinds())
        return "\n".join(
            [
                f"seed {self.seed}: {changed}",
                f"  listener {self.listener}",
                f"  pin {self.pin}, sealed {self.sealed}, calibration {self.calibration}, "
                f"room {self.room or 'quiet'}",
                f"  of every line: {rates or 'nothing'}; all is well from {self.safety_s:.1f} s on",
                *(f"  {number}. {trouble}" for number, trouble in enumerate(self.troubles)),
            ]
        )


def draw(seed: int) -> Story:
    chance, pace = random.Random(f"story {seed}"), random.Random(f"pace {seed}")
    safety_s = chance.uniform(*SAFETY_S)
    settings = _set_pace(_settings(chance), _pace(pace))
    listener = {**_listener(chance), "response_time_s": pace.choice((0.4, 0.4, 0.9))}
    if listener["response_time_s"] > SLOW_S:
        if settings["response_window_ms"] is not None:
            # A press after the window is one in silence, which does not count after a disturbance.
            settings["response_window_ms"] = SLOW_WINDOW_MS
        elif listener["false_alarm_rate"] == 0.0:
            # Such a press is of the next tone, or not, by a delay on the wire: two of 20,000 seeds.
            others = {name: value for name, value in settings.items() if name not in LONG_PAUSES}
            settings = _set_pace({**LONG_PAUSES, **others}, {"conduct": settings["conduct"]})
    troubles = tuple(
        sorted(
            (
                *_troubles(chance, safety_s),
                *(trouble for draws in DRAWS for trouble in draws.of(seed, safety_s)),
                *_of_aids(seed, safety_s),
            ),
            key=lambda trouble: trouble.at_s,
        )
    )
    rates = _rates(chance)
    talkative, pin, sealed = (chance.random() < 0.5 for _ in range(3))
    calibration = chance.choices(CALIBRATIONS, (4, 4, 1, 1, 1))[0]
    return Story(
        seed,
        _with_bone(
            _with_ear_check(settings, random.Random(f"ear {seed}")),
            calibration,
            random.Random(f"bone {seed}"),
        ),
        listener,
        safety_s,
        troubles,
        rates,
        talkative,
        pin,
        sealed,
        calibration,
        aid=seed % AID_EVERY == 0,
        room=_room(random.Random(f"room {seed}")),
    )


def _room(chance: random.Random) -> str:
    kind = chance.choice(("steady", "speech", "bursts", "door", "train"))
    return f"{kind}:{chance.choice((25, 40, 55))}" if chance.random() < ROOM_SHARE else ""


def _settings(chance: random.Random) -> dict[str, Any]:
    tone = LONG_TONE if chance.random() < 0.1 else {}
    return {
        **tone,
        **SHORT,
        **tone,
        "ears": chance.choices(("left", "right", "both"), (10, 10, 4))[0],
        "profile": chance.choice(PROFILES),
        "stop_half_width_db": chance.choice((8.0, 15.0, 25.0, 40.0)),
        "level_max_db_hl": chance.choice((60.0, 80.0, 100.0)),
        "catch_rate": chance.choice((0.0, 0.1, 0.3)),
        "retest": chance.random() < 0.5,
        "response_noise_db": chance.choice((2.0, 2.0, 2.0, None)),
        "seed": chance.randrange(1000),
    }


def _set_pace(settings: dict[str, Any], pace: dict[str, Any]) -> dict[str, Any]:
    # The conduct is set first: what is allowed of the others depends on it.
    return {"conduct": pace["conduct"], **settings, **pace}


def _with_ear_check(settings: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    asks = {"ear_check": chance.random() < 0.25} if settings["ears"] == BOTH else {}
    return {**settings, **asks}


def _with_bone(settings: dict[str, Any], calibration: str, chance: random.Random) -> dict[str, Any]:
    # No calibration that is drawn has a vibrator (`by_bone` gives one), and only one profile knows
    # of bone.
    knows = settings["profile"] == DEFAULT_PROFILE and calibration == "none"
    return {**settings, **({"routes": AIR_AND_BONE} if knows and chance.random() < 0.4 else {})}


def _pace(chance: random.Random) -> dict[str, Any]:
    # A window that follows the answers is shorter than many: those come late, and count.
    conduct = chance.choice((BRISK, BRISK, CLINICAL))
    window_ms = None if conduct == BRISK and chance.random() < 0.7 else SHORT["response_window_ms"]
    return {"conduct": conduct, "response_window_ms": window_ms}


def _listener(chance: random.Random) -> dict[str, Any]:
    return {
        "audiogram": chance.choice((*AUDIOGRAMS, *UNEQUAL)),
        "lapse_rate": chance.choice((0.0, 0.02, 0.2)),
        "false_alarm_rate": chance.choice((0.0, 0.0, 0.0, 0.02, 0.2)),
        "seed": chance.randrange(1000),
    }


def _troubles(chance: random.Random, safety_s: float) -> tuple[Trouble, ...]:
    # Some runs have one kind of trouble, some have all: what hides in the one shows in the other.
    apart = {**MISFITS, **SECONDS, **AIDS, **OTHERS, **FILLS}
    usual = [kind for kind in KINDS if kind not in apart]
    allowed = chance.sample(usual, chance.choice((1, 3, 6, len(usual))))
    return _befalling(chance, allowed, chance.randint(0, TROUBLES_MAX), safety_s)


@dataclass(frozen=True)
class Draws:
    """Troubles that are drawn by a luck of their own: so many of these kinds, or of some of them.

    Of kinds that change answers only a share is allowed, so that most results can be compared.
    """

    luck: str
    kinds: Mapping[str, tuple[float, float]]
    counts: tuple[int, ...]
    some: tuple[int, ...] = ()  # numbers of kinds; (): always all
    share: float = 1.0

    def of(self, seed: int, safety_s: float) -> tuple[Trouble, ...]:
        chance, allowed = random.Random(f"{self.luck} {seed}"), [*self.kinds]
        if self.some:
            allowed = [
                k for k in allowed if k not in ANSWERS_CHANGE or chance.random() < self.share
            ]
            allowed = chance.sample(allowed, chance.choice((*self.some, len(allowed))))
        return _befalling(chance, allowed, chance.choice(self.counts), safety_s)


DRAWS: Final = (
    Draws("misfit", MISFITS, (0, 0, 1, 2, MISFITS_MAX), (1, 2), 0.2),
    Draws("second", SECONDS, (0, 0, 1, 3), (1,), 0.1),
    Draws("other", OTHERS, (0, 0, 0, 1, 4)),
    Draws("fills", FILLS, (0, 0, 0, 1, 2)),
)


def _of_aids(seed: int, safety_s: float) -> tuple[Trouble, ...]:
    chance = random.Random(f"aid {seed}")
    count = chance.randint(1, 4) if seed % AID_EVERY == 0 else 0
    return _befalling(chance, list(AIDS), count, safety_s)


def _befalling(
    chance: random.Random, allowed: list[str], count: int, safety_s: float
) -> tuple[Trouble, ...]:
    troubles = []
    for _ in range(count):
        kind = chance.choice(allowed)
        at_s = round(chance.uniform(0.0, safety_s), 6)
        for_s = round(chance.uniform(*KINDS[kind]), 3)
        troubles.append(Trouble(kind, at_s, for_s, chance.randrange(1 << 32)))
    return tuple(sorted(troubles, key=lambda trouble: trouble.at_s))


def _rates(chance: random.Random) -> FaultRates:
    if chance.random() < 0.4:
        return FaultRates()
    worst = chance.choice((0.02, 0.1, RATE_MAX))
    share = {name: chance.choice((0.0, worst)) for name in CABLE}
    return FaultRates(**share)
