"""What lies between a sound and the two cochleae of a simulated head.

A tone by air is weakened by the air-bone gap of its ear, and reaches the other cochlea through the
skull, weaker by the interaural attenuation. A tone by bone reaches the cochlea on the vibrator's
side as it is, and the other one weaker by the skull's attenuation, which is little. The earphone
that brings noise to an ear makes low tones by bone louder there: the occlusion effect. Without
noise both ears are open, and there is none.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from device.simulator.audiogram import Audiogram
from firmware_py.terms.route import BY_BONE

# Heads differ, from 40 dB (earphones on the ear) to 80 and more: a usual one.
INTERAURAL_ATTENUATION_DB: Final = 50.0
# The same through the bone alone: 0 to 15 dB in heads, nothing at low frequencies.
SKULL_ATTENUATION_DB: Final = Audiogram((250.0, 1000.0, 4000.0), (0.0, 2.0, 5.0))
# Of an earphone on the ear, as taught after Roeser and Clark. A conductive loss has the same effect
# already, so there it adds only what that lacks.
OCCLUSION_DB: Final = Audiogram(
    (250.0, 500.0, 750.0, 1000.0, 1500.0), (15.0, 15.0, 15.0, 10.0, 0.0)
)
SLIP_DB: Final = 20.0  # beside the mastoid, or held by the hair

GapDb = float | Audiogram  # the same at all frequencies, or over frequency


@dataclass(frozen=True)
class Vibrator:
    """Where the vibrator sits.

    `wrong_side`: on the other mastoid than the operator was asked for. `slips_at`: from the tone of
    this number on it is weaker by `SLIP_DB`; 0: it stays.
    """

    wrong_side: bool = False
    slips_at: int = 0

    def loss_db(self, number: int) -> float:
        """Return by how much it is weaker at the tone of a number."""
        return SLIP_DB if 0 < self.slips_at <= number else 0.0


IN_PLACE: Final = Vibrator()


@dataclass(frozen=True)
class Head:
    """A head, and what is put on it; a level out of its range is a `ValueError`."""

    # By ear; one that is not named has none: there is no conductive loss. From a table of clinical
    # ears it may be below 0 at some frequencies.
    air_bone_gap_db: Mapping[str, GapDb] = field(default_factory=dict)
    interaural_attenuation_db: float = INTERAURAL_ATTENUATION_DB  # infinity: no ear helps the other
    skull_attenuation_db: GapDb = SKULL_ATTENUATION_DB
    # by how much louder a tone by bone is in an ear that has noise, and so an earphone on it
    occlusion_db: GapDb = 0.0
    # tones by bone are felt from the levels of ISO 8253-1 on, and answered as if they were heard
    feels: bool = False
    vibrator: Vibrator = IN_PLACE

    def __post_init__(self) -> None:
        for name, value, allowed, words in (
            ("interaural_attenuation_db", self.interaural_attenuation_db,
             self.interaural_attenuation_db > 0.0, "is above 0"),
            *(("air_bone_gap_db", gap_db, 0.0 <= gap_db < math.inf, "is 0 and more")
              for gap_db in self.air_bone_gap_db.values() if not isinstance(gap_db, Audiogram)),
            *(("skull_attenuation_db", db, db >= 0.0, "is 0 and more")
              for db in (self.skull_attenuation_db,) if not isinstance(db, Audiogram)),
            *(("occlusion_db", db, 0.0 <= db < math.inf, "is 0 and more")
              for db in (self.occlusion_db,) if not isinstance(db, Audiogram)),
        ):  # fmt: skip
            if not allowed:
                raise ValueError(f"{name} is {value}, allowed {words}")

    def gap_db(self, ear: str, frequency_hz: float) -> float:
        """Return by how much better than by air an ear hears by bone."""
        return _at(self.air_bone_gap_db.get(ear, 0.0), frequency_hz)

    def bone_db(
        self, ear: str, to: str, frequency_hz: float, number: int, covered: str | None = None
    ) -> float:
        """Return by how much louder than it is a tone by bone reaches a cochlea.

        `ear`: whose mastoid the vibrator is to be on; `to`: whose cochlea; `number`: of the tone.
        `covered`: the ear that an earphone is on, for the noise; None: both ears are open.
        """
        is_beside = (to == ear) != self.vibrator.wrong_side
        way_db = 0.0 if is_beside else _at(self.skull_attenuation_db, frequency_hz)
        louder_db = 0.0
        if to == covered:
            effect_db = _at(self.occlusion_db, frequency_hz)
            louder_db = max(effect_db - max(self.gap_db(to, frequency_hz), 0.0), 0.0)
        return louder_db - way_db - self.vibrator.loss_db(number)

    def bone_threshold_db_hl(
        self,
        thresholds: Mapping[Any, Audiogram],
        ear: str,
        frequency_hz: float,
        *,
        alone: bool = False,
    ) -> float:
        """Return the threshold that a vibrator in its place finds; infinity: none.

        `thresholds`: by air, of both ears. `alone`: noise keeps the other ear from hearing it; else
        the better cochlea answers.
        """
        return min(
            threshold.threshold_db_hl(frequency_hz)
            - self.gap_db(to, frequency_hz)
            + (0.0 if to == ear else _at(self.skull_attenuation_db, frequency_hz))
            for to, threshold in thresholds.items()
            if to == ear or not alone
        )

    def touch_db_hl(self, frequency_hz: float) -> float:
        """Return from which level on a tone by bone is felt; infinity: it is not."""
        return BY_BONE.vibrotactile_db_hl(frequency_hz) if self.feels else math.inf


USUAL: Final = Head()


def _at(level_db: GapDb, frequency_hz: float) -> float:
    if isinstance(level_db, Audiogram):
        return level_db.threshold_db_hl(frequency_hz)
    return level_db
