"""The routes: which ear is asked, through which transducer, and what is measured there.

A route is the key of every tone, answer and result. `ROUTE_KINDS` says all that holds of one in
either ear, in the order in which they are asked: another route is a row there.

Beside other values a route is written in its parts: `ear=left`, and `transducer` and `measured`
only where they are not the usual ones. Where it is a key it is its text: `left`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from firmware_py.inference import enough
from firmware_py.terms.outcomes import MaskingMark

LEFT: Final = "left"
RIGHT: Final = "right"
EARS: Final = (RIGHT, LEFT)  # in the order in which clinics ask and name them
WIRE_EARS: Final = (LEFT, RIGHT)  # in the order of the wire's own
OTHER: Final = {LEFT: RIGHT, RIGHT: LEFT}
AIR: Final = "air"  # transducers
BONE: Final = "bone"
THRESHOLD: Final = "threshold"  # what is measured
# What a value is called that is a route, and its part that is always written.
ROUTE: Final = "route"
EAR: Final = "ear"


@dataclass(frozen=True, eq=False)  # there is one of each: it is a key as it is
class RouteKind:
    """What holds of a transducer, and of what is measured through it, in either ear."""

    transducer: str
    measured: str
    wire_number: int  # of the transducer: `via` of the wire
    frequencies_hz: tuple[int, ...]  # of its audiogram, rising
    # It is calibrated at these at least: all it may play lies between the first and the last.
    calibrated_hz: tuple[int, ...]
    # Clinics ask them only where neighbours are 20 dB apart; their bands count only if measured.
    inter_octave_hz: tuple[int, ...]
    # A factor on the half width that is wanted.
    wider_at_hz: Mapping[float, float]
    familiar_hz: float  # of familiarisation and retest
    # It begins with what air told of this very ear: the listener knows the task, one silence below
    # a threshold is enough, and frequencies between octaves are asked only if all is to be asked.
    follows_air: bool
    levels_db_hl: tuple[float, float]  # the lowest and the highest level that it may ever play
    # The character of its symbol, and the LOINC code of its threshold by frequency, by ear; no
    # codes where LOINC is not known to have any.
    characters: Mapping[MaskingMark, Mapping[str, str]]
    loinc: Mapping[str, Mapping[int, str]]
    # The highest level by frequency where that is not the same at all, and the level from which on
    # a tone may be felt by the skin in place of heard: `highest_db_hl`, `vibrotactile_db_hl`.
    highest_db_hl_at: Mapping[int, float] = field(default_factory=dict)
    felt_from_db_hl: Mapping[int, float] = field(default_factory=dict)
    # Above `frequencies_hz`: of its audiogram too where the calibration in force has levels there.
    where_calibrated_hz: tuple[int, ...] = ()

    @property
    def any_hz(self) -> tuple[int, ...]:
        """Return all frequencies that its audiogram has with any calibration."""
        return *self.frequencies_hz, *self.where_calibrated_hz

    def highest_db_hl(self, frequency_hz: float) -> float:
        highest_db_hl = self.levels_db_hl[1]
        at = self.highest_db_hl_at
        return min(highest_db_hl, _between(at, frequency_hz)) if at else highest_db_hl

    def vibrotactile_db_hl(self, frequency_hz: float) -> float:
        """Return from which level on a tone may be felt; infinity where none is known."""
        if not self.felt_from_db_hl or frequency_hz > max(self.felt_from_db_hl):
            return math.inf
        return _between(self.felt_from_db_hl, frequency_hz)


def _between(levels_db: Mapping[int, float], frequency_hz: float) -> float:
    """Return the level at a frequency: straight over octaves, beyond the ends as at them."""
    known_hz = sorted(levels_db)
    if frequency_hz <= known_hz[0]:
        return levels_db[known_hz[0]]
    for low_hz, high_hz in pairwise(known_hz):
        if frequency_hz <= high_hz:
            part = math.log2(frequency_hz / low_hz) / math.log2(high_hz / low_hz)
            return levels_db[low_hz] + part * (levels_db[high_hz] - levels_db[low_hz])
    return levels_db[known_hz[-1]]


BY_AIR: Final = RouteKind(
    AIR, THRESHOLD, wire_number=0,
    frequencies_hz=(250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000),
    calibrated_hz=(125, 250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000),
    inter_octave_hz=(750, 1500), wider_at_hz=enough.WIDER_AT_HZ,
    familiar_hz=1000.0,  # ISO 8253-1
    follows_air=False, levels_db_hl=(-10.0, 120.0),
    # Those of clinics, triangle and square where there was noise; small where the other ear may
    # have heard it.
    characters={
        MaskingMark.NOT_MASKED: {RIGHT: "O", LEFT: "X"},
        MaskingMark.MASKED: {RIGHT: "A", LEFT: "#"},
        MaskingMark.UNCERTAIN: {RIGHT: "o", LEFT: "x"},
    },
    # "Hearing threshold Ear - EAR --FREQUENCY Hz"
    loinc={
        RIGHT: {
            250: "91374-9", 500: "89025-1", 750: "91378-0", 1000: "89017-8", 1500: "91372-3",
            2000: "89019-4", 3000: "89021-0", 4000: "89023-6", 6000: "89027-7", 8000: "89029-3",
        },
        LEFT: {
            250: "91375-6", 500: "89024-4", 750: "91379-8", 1000: "89016-0", 1500: "91373-1",
            2000: "89018-6", 3000: "89020-2", 4000: "89022-8", 6000: "89026-9", 8000: "89028-5",
        },
    },
)  # fmt: skip
# By a vibrator on the mastoid; the ear is the one on whose side it sits, and whose cochlea is asked
# for. Which cochlea answered is another question: the skull takes 0 to 15 dB from it to the other.
BY_BONE: Final = RouteKind(
    BONE, THRESHOLD, wire_number=1,
    frequencies_hz=(250, 500, 750, 1000, 1500, 2000, 3000, 4000),
    calibrated_hz=(250, 500, 750, 1000, 1500, 2000, 3000, 4000),
    # At 250 Hz a vibrator distorts, and is felt from 40 dB HL on.
    inter_octave_hz=(250, 750, 1500, 3000),
    # Clinics settle for 10 dB; 8 dB in a brisk test.
    wider_at_hz=dict.fromkeys((500.0, 1000.0, 2000.0, 4000.0), 1.25)
    | dict.fromkeys((250.0, 750.0, 1500.0, 3000.0, 6000.0), 1.6),
    familiar_hz=1000.0, follows_air=True, levels_db_hl=(-10.0, 80.0),
    # The brackets of clinics; round ones where the other ear may have heard it.
    characters={
        MaskingMark.NOT_MASKED: {RIGHT: "<", LEFT: ">"},
        MaskingMark.MASKED: {RIGHT: "[", LEFT: "]"},
        MaskingMark.UNCERTAIN: {RIGHT: "(", LEFT: ")"},
    },
    # LOINC has "Pure tone bone conduction threshold audiometry panel" (100652-7); codes of its
    # frequencies were found nowhere, and those of air would say another thing.
    loinc={RIGHT: {}, LEFT: {}},
    # What a Radioear B71 gives on the mastoid, by the manual of an audiometer that drives it
    # (Resonance r25c). A B81 gives 11 to 22 dB more below 1.5 kHz; a B71 distorts above 20 dB HL
    # at 250 Hz and above 50 at 500.
    highest_db_hl_at={
        250: 45.0, 500: 70.0, 750: 75.0, 1000: 75.0, 1500: 80.0, 4000: 80.0, 6000: 60.0,
    },
    felt_from_db_hl={250: 40.0, 500: 60.0, 1000: 70.0},  # on average; ISO 8253-1:2010, 8.4
    where_calibrated_hz=(6000,),
)  # fmt: skip
ROUTE_KINDS: Final = (BY_AIR, BY_BONE)
KIND_OF: Final = {(each.transducer, each.measured): each for each in ROUTE_KINDS}
# Of all routes.
FREQUENCIES_HZ: Final = tuple(sorted({f for each in ROUTE_KINDS for f in each.frequencies_hz}))
LOWEST_DB_HL: Final = min(each.levels_db_hl[0] for each in ROUTE_KINDS)
HIGHEST_DB_HL: Final = max(each.levels_db_hl[1] for each in ROUTE_KINDS)
AUDIOGRAM_FREQUENCIES_HZ: Final = BY_AIR.frequencies_hz  # of the audiogram by air


@dataclass(frozen=True, slots=True)
class Route:
    """One ear, the transducer that reaches it, and what is measured there."""

    ear: str
    transducer: str = AIR
    measured: str = THRESHOLD

    def __str__(self) -> str:
        return "-".join(self.parts().values())

    def parts(self) -> dict[str, str]:
        by = {} if self.transducer == AIR else {"transducer": self.transducer}
        of = {} if self.measured == THRESHOLD else {"measured": self.measured}
        return {EAR: self.ear, **by, **of}

    @property
    def words(self) -> str:
        through = "" if self.transducer == AIR else f" by {self.transducer}"
        return f"{self.ear} ear{through}"

    def character(self, mark: MaskingMark) -> str:
        return self.kind.characters[mark][self.ear]

    @property
    def wire(self) -> dict[str, int]:
        return {"ear": WIRE_EARS.index(self.ear), "via": self.kind.wire_number}

    @property
    def kind(self) -> RouteKind:
        return KIND_OF[self.transducer, self.measured]

    @property
    def by_bone(self) -> bool:
        return self.transducer == BONE

    @property
    def noise(self) -> "Route":
        """Return the route of the noise that masks its tones: to the other ear, never by bone."""
        return Route(OTHER[self.ear], AIR if self.by_bone else self.transducer)


def spell_routes(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by their names, each route in its parts."""
    parts: dict[str, Any] = {}
    for name, value in values.items():
        parts |= value.parts() if isinstance(value, Route) else {name: value}
    return parts


def gather_routes(values: Mapping[str, Any]) -> dict[str, Any]:
    """Undo `spell_routes`; parts that are those of no route stay parts."""
    parts = {name: values[name] for name in Route.__slots__ if name in values}
    if EAR not in parts:
        return dict(values)
    route = next((each for each in ROUTES if each.parts() == parts), parts)
    return {ROUTE: route} | {name: each for name, each in values.items() if name not in parts}


ROUTES: Final = tuple(Route(ear, k.transducer, k.measured) for k in ROUTE_KINDS for ear in EARS)
ROUTE_NAMES: Final = tuple(sorted(map(str, ROUTES)))
