"""Reference equivalent threshold sound pressure levels: the dB SPL that are 0 dB HL.

They belong to a transducer on a coupler: the same earphone has other values on another one. Typed
in from the publications named with each; the calibration file carries the values it was made with.
"""

from dataclasses import dataclass, replace
from typing import Final

from firmware_py.calibration.calibration import Curve
from firmware_py.session.masking import CIRCUMAURAL, INSERT, SUPRA_AURAL
from firmware_py.terms.route import BY_AIR


class UnknownTransducerError(ValueError):
    """No such transducer in the tables."""


@dataclass(frozen=True)
class ReferenceLevels:
    """The RETSPL of a transducer on a coupler."""

    # `transducer`, `kind`, `coupler`, `source`: what it is, of which kind (one of `KINDS`, for
    # masking), and the standard or publication; what is less than sure about it is said there, too
    transducer: str
    kind: str
    coupler: str
    source: str
    levels_db_spl: dict[int, float]  # 125 to 8000 Hz, as published

    def complete(self) -> "ReferenceLevels":
        """Return it with a level at every frequency of a calibration.

        What was not published is on the line over log frequency between its neighbours, and the
        source says so.
        """
        missing = [f for f in BY_AIR.calibrated_hz if f not in self.levels_db_spl]
        if not missing:
            return self
        rising = sorted(self.levels_db_spl)
        curve = Curve(tuple(map(float, rising)), tuple(self.levels_db_spl[f] for f in rising))
        levels = self.levels_db_spl | {f: round(curve.at(f), 1) for f in missing}
        source = f"{self.source}; {', '.join(map(str, missing))} Hz interpolated"
        return replace(self, source=source, levels_db_spl={f: levels[f] for f in sorted(levels)})


# 125, 250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000 Hz
def _at_audiometric(*levels_db_spl: float) -> dict[int, float]:
    return dict(zip(BY_AIR.calibrated_hz, levels_db_spl, strict=True))


# 125 to 8000 Hz in thirds of an octave, and the audiometric frequencies between them.
_THIRDS_HZ: Final = (
    125, 160, 200, 250, 315, 400, 500, 630, 750, 800, 1000, 1250, 1500, 1600, 2000, 2500, 3000,
    3150, 4000, 5000, 6000, 6300, 8000,
)  # fmt: skip


def _at_thirds(*levels_db_spl: float) -> dict[int, float]:
    return dict(zip(_THIRDS_HZ, levels_db_spl, strict=True))


TABLES: Final[dict[str, ReferenceLevels]] = {
    "tdh39": ReferenceLevels(
        "TDH39",
        SUPRA_AURAL,
        "NBS-9A / IEC 60318-3 (6cc)",
        "ANSI S3.6; ISO 389-1 has the same, but 7.5 at 750 Hz",
        _at_audiometric(45.0, 25.5, 11.5, 8.0, 7.0, 6.5, 9.0, 10.0, 9.5, 15.5, 13.0),
    ),
    "tdh49": ReferenceLevels(
        "TDH49/50",
        SUPRA_AURAL,
        "NBS-9A / IEC 60318-3 (6cc)",
        "ANSI S3.6-1996 (quoted by one source)",
        _at_audiometric(47.5, 26.5, 13.5, 8.5, 7.5, 7.5, 11.0, 9.5, 10.5, 13.5, 13.0),
    ),
    "supra-aural": ReferenceLevels(
        "generic supra-aural",
        SUPRA_AURAL,
        "IEC 60318-1 ear simulator",
        "ANSI S3.6-2010 / ISO 389-1, Table 2",
        _at_thirds(
            45.0, 38.5, 32.5, 27.0, 22.0, 17.0, 13.5, 10.5, 9.0, 8.5, 7.5, 7.5, 7.5, 8.0, 9.0,
            10.5, 11.5, 11.5, 12.0, 11.0, 16.0, 21.0, 15.5,
        ),
    ),
    "dd45": ReferenceLevels(
        "DD45",
        SUPRA_AURAL,
        "6cc coupler (IEC 60318-3)",
        "PTB-DTU 2010 (quoted by one source, read by machine)",
        {
            125: 47.5, 250: 27.0, 500: 13.0, 1000: 6.0, 1500: 8.0, 2000: 8.0, 3000: 8.0,
            4000: 9.0, 6000: 20.5, 8000: 12.0,
        },
    ),
    "dd65v2": ReferenceLevels(
        "DD65v2",
        CIRCUMAURAL,
        "IEC 60318-1",
        "manufacturer (quoted by one source)",
        {
            125: 30.6, 250: 16.9, 500: 7.8, 1000: 5.3, 2000: 2.3, 3000: 2.0, 4000: 9.3,
            6000: 20.8, 8000: 20.9,
        },
    ),
    "er3a": ReferenceLevels(
        "ER-3A / ER-5A / IP30 insert",
        INSERT,
        "HA-2 2cc with tube (DB-0138)",
        "ANSI S3.6-1996 / ISO 389-2:1994",
        _at_audiometric(26.0, 14.0, 5.5, 2.0, 0.0, 2.0, 3.0, 3.5, 5.5, 2.0, 0.0),
    ),
    "er3a-711": ReferenceLevels(
        "ER-3A / ER-5A insert",
        INSERT,
        "IEC 711 occluded-ear simulator",
        "ANSI S3.6-1996 / ISO 389-2:1994",
        _at_audiometric(28.0, 17.5, 9.5, 6.0, 5.5, 9.5, 11.5, 13.0, 15.0, 16.0, 15.5),
    ),
    "er3a-ha1": ReferenceLevels(
        "ER-3A / ER-5A insert",
        INSERT,
        "HA-1 2cc",
        "ANSI S3.6-1996 (quoted by one source)",
        _at_audiometric(26.5, 14.5, 6.0, 2.0, 0.0, 0.0, 2.5, 2.5, 0.0, -2.5, -3.5),
    ),
    "hda280": ReferenceLevels(
        "HDA 280",
        SUPRA_AURAL,
        "6cc coupler (IEC 60318-3)",
        "Sennheiser, instructions of the HDA 280 (maker's values)",
        _at_audiometric(38.5, 25.0, 13.0, 9.0, 7.5, 9.5, 8.0, 6.5, 9.5, 19.0, 18.0),
    ),
    "hda200": ReferenceLevels(
        "HDA200 (circumaural)",
        CIRCUMAURAL,
        "IEC 60318-1 + adapter",
        "ISO 389-8:2004",
        _at_thirds(
            30.5, 26.0, 22.0, 18.0, 15.5, 13.5, 11.0, 8.0, 6.0, 6.0, 5.5, 6.0, 5.5, 5.5, 4.5, 3.0,
            2.5, 4.0, 9.5, 14.0, 17.0, 17.5, 17.5,
        ),
    ),
}  # fmt: skip


def reference_levels(name: str) -> ReferenceLevels:
    """Return the RETSPL of a transducer by its short name, complete; an error lists them."""
    if name not in TABLES:
        raise UnknownTransducerError(
            f"transducer is {name!r}; allowed are {', '.join(sorted(TABLES))}"
        )
    return TABLES[name].complete()
