"""A clinic's year, drawn from a seed: its devices, who comes when, and what happens meanwhile."""

import datetime
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from device.simulator.faults import FaultRates
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.calibration.simulated import SERIAL
from firmware_py.terms.calibration_states import CALIBRATED, OVERDUE, SIMULATED, UNCALIBRATED
from tests.calibration import calibrations
from tests.simulation.day import NEVER_SET
from tests.simulation.story import AIDS, AUDIOGRAMS, KINDS, MISFITS, NARROW, Story, Trouble, draw

FIRST_DAY: Final = datetime.date(2026, 3, 9)  # after the last of the records of before
DAYS: Final = 360
VISITS: Final = (12, 18)
PEOPLE: Final = (1, 2, 3, 4, 5, 17)  # P-17 has records of before
SITES: Final = {"N-1": "north", "S-1": "south", "S-2": "south"}  # by device
BOARDS: Final = {"N-1": "51b00000000000a1", "S-1": "51b00000000000b1", "S-2": SERIAL}
OTHER_BOARDS: Final = {"N-1": "51b00000000000a2", "S-1": "51b00000000000b2", "S-2": "51b0c2"}
BEFORE: Final = (1, 2, 3)  # formats, of which a device was before its update
RECORDED_BEFORE: Final = {1: 3, 2: 4, 3: 3}  # sessions: the fourth of 3 would be gone on with
CALM_SHARE: Final = 0.5  # of the visits at which nothing goes wrong
NARROW_SHARE: Final = 0.8  # of the tests, which are soon over
CLOCK_LOST, DISK_FULL = "clock has lost its time", "disk is full"

# What makes a day another than was drawn, and what only takes long.
OTHER_DAY: Final = {
    "board swapped", "board without noise", "wall clock jumps", "other calibration",
    "other seal key", "next person", "off for long", "asleep with its clock",
    "operator resets",
}  # fmt: skip
HAPPENS: Final = [k for k in KINDS if k not in {*OTHER_DAY, *MISFITS, *AIDS}]


@dataclass(frozen=True)
class Device:
    """What a device is given in the year: a calibration and its next one, a board and its next."""

    name: str
    calibrated: bool
    due: datetime.date
    renewed: datetime.date  # overdue until then
    exchanged: datetime.date  # its board
    measured: datetime.date  # the new board is calibrated from then on
    sealed: bool
    pin: bool

    def serial(self, date: datetime.date) -> str:
        return (BOARDS if date < self.exchanged else OTHER_BOARDS)[self.name]

    def on_file(self, date: datetime.date) -> CalibrationOnFile:
        if not self.calibrated:
            return NO_CALIBRATION
        if date >= self.measured:
            return _calibration(OTHER_BOARDS[self.name], self.measured, 365)
        if date >= self.renewed:
            return _calibration(BOARDS[self.name], self.renewed, 365)
        made = self.due - datetime.timedelta(365)
        return _calibration(BOARDS[self.name], made, 365)


def _calibration(serial: str, made: datetime.date, days: int) -> CalibrationOnFile:
    told = {
        "date": made.isoformat(),
        "due": (made + datetime.timedelta(days)).isoformat(),
        "tone_generator_serial": serial,
    }
    return calibrations.on_file({f"calibration.{name}": value for name, value in told.items()})


@dataclass(frozen=True)
class Visit:
    """Somebody comes: when, to which device, and the story of that day."""

    at: datetime.date
    device: Device
    person: int
    story: Story
    luck: str = ""  # CLOCK_LOST, DISK_FULL

    @property
    def kind(self) -> str:
        return self.device.name

    @property
    def date(self) -> datetime.date:
        """Return the date by the clock of the device."""
        return self.at if self.luck != CLOCK_LOST else NEVER_SET

    @property
    def calibration(self) -> str:
        """Return in which state a session of this day has to be."""
        serial, made = self.device.serial(self.at), self.device.on_file(self.at).calibration
        if made is None:
            return SIMULATED if serial == SERIAL else UNCALIBRATED
        if made.board_serial != serial:
            return UNCALIBRATED
        return CALIBRATED if made.date <= self.date <= made.due else OVERDUE

    def __str__(self) -> str:
        troubles = ", ".join(f"{each}".strip() for each in self.story.troubles)
        told = (
            f"{self.at}", self.device.name, self.device.serial(self.at), self.calibration,
            f"P-{self.person}", f"story {self.story.seed}", self.luck, troubles,
        )  # fmt: skip
        return " ".join(filter(None, told))


@dataclass(frozen=True)
class Year:
    """All visits, by date, and what is mixed up when the sites are merged.

    `before`: the format of the records that N-1 has from before its update.
    """

    seed: int
    visits: tuple[Visit, ...]
    before: int
    twice: str  # the device whose folder is merged twice

    @property
    def troubles(self) -> tuple[Visit, ...]:
        return self.visits

    def kinds(self) -> list[str]:
        return [*dict.fromkeys(visit.kind for visit in self.visits)]

    def only(self, numbers: Collection[int], _cable: Collection[str] = ()) -> "Year":
        return replace(self, visits=tuple(v for n, v in enumerate(self.visits) if n in numbers))

    def __str__(self) -> str:
        told = (f"  {number}. {visit}" for number, visit in enumerate(self.visits))
        about = f"year {self.seed}: N-1 has records of format {self.before}; {self.twice} twice"
        return "\n".join([about, *told])


def draw_year(seed: int, visits: int | None = None) -> Year:
    chance = random.Random(f"year {seed}")
    devices = {name: _device(name, chance) for name in SITES}
    count = visits or chance.randint(*VISITS)
    dates = [FIRST_DAY + datetime.timedelta(n) for n in sorted(chance.sample(range(DAYS), count))]
    ears = {person: chance.choice(AUDIOGRAMS) for person in PEOPLE}
    drawn = []
    for at in dates:
        device, person = chance.choice([*devices.values()]), chance.choice(PEOPLE)
        if chance.random() < 0.3:  # it became another
            ears[person] = chance.choice(AUDIOGRAMS)
        drawn.append(Visit(at, device, person, _story(chance, device, ears[person])))
    full = _filled(chance, drawn)
    lost = chance.choice([n for n in range(count) if n != full])
    drawn[lost] = replace(drawn[lost], luck=CLOCK_LOST)
    calm = replace(drawn[full].story, troubles=(), rates=FaultRates())
    drawn[full] = replace(drawn[full], luck=DISK_FULL, story=calm)
    return Year(seed, tuple(drawn), chance.choice(BEFORE), chance.choice([*SITES]))


def _filled(chance: random.Random, visits: Sequence[Visit]) -> int:
    """Return which visit finds its disk full: one of a device with journals to move away.

    The first device has those of the program before, from its first visit on.
    """
    names = [visit.device.name for visit in visits]
    used = [n for n, name in enumerate(names) if name == "N-1" or names[:n].count(name) >= 2]
    return chance.choice(used or [len(visits) - 1])


def _device(name: str, chance: random.Random) -> Device:
    due = FIRST_DAY + datetime.timedelta(chance.randint(60, 200))
    renewed = due + datetime.timedelta(chance.randint(30, 90))
    exchanged = renewed + datetime.timedelta(chance.randint(5, 60))
    measured = exchanged + datetime.timedelta(chance.choice((0, 20, 60)))
    calibrated = name != "S-2" or chance.random() < 0.5
    sealed, pin = chance.random() < 0.5, chance.random() < 0.3
    return Device(name, calibrated, due, renewed, exchanged, measured, sealed, pin)


def _story(chance: random.Random, device: Device, audiogram: str) -> Story:
    drawn = draw(chance.randrange(1 << 30))
    safety_s = chance.uniform(3.0, 8.0)
    calm = chance.random() < CALM_SHARE
    troubles = [] if calm else [_trouble(chance, safety_s) for _ in range(chance.randint(1, 2))]
    soon_over = NARROW if chance.random() < NARROW_SHARE else {}
    settings: dict[str, Any] = {**drawn.settings, "routes": "air", **soon_over}
    return replace(
        drawn,
        settings=settings,
        listener={**drawn.listener, "audiogram": audiogram},
        safety_s=safety_s,
        troubles=tuple(sorted(troubles, key=lambda trouble: trouble.at_s)),
        rates=FaultRates() if calm else drawn.rates,
        pin=device.pin,
        sealed=device.sealed,
        calibration="none",
        aid=False,
        room="",
    )


def _trouble(chance: random.Random, safety_s: float) -> Trouble:
    kind = chance.choice(HAPPENS)
    for_s = round(chance.uniform(*KINDS[kind]), 3)
    return Trouble(kind, round(chance.uniform(0.0, safety_s), 6), for_s, chance.randrange(1 << 32))
