"""Rows of a table as a rule takes them, such as a clinic's: numbers without bands.

The numbers are the table's. Nobody measured them here, and how sure they are it does not say. So no
gain has a band, and none is for what the table does not know.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from device.audiogram_tables.ears import TableEar
from device.audiogram_tables.table import Table
from device.hearing_aid.whose import Whose
from firmware_py.findings.rows import Row, row
from firmware_py.terms.calibration_states import UNCALIBRATED
from firmware_py.terms.discomfort_levels import LEVELS_HZ
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.person import Person
from firmware_py.terms.printable import printable
from firmware_py.terms.results import ThresholdResult
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.settings import FIFTY_PERCENT
from host_tools.commands.prescribe.own_discomfort import told_of_table
from host_tools.commands.prescribe.source import Source, Taken
from host_tools.errors import HostError

MARK: Final = "of-the-table"  # of a threshold, which was not measured here
HIGHEST_HZ: Final = AUDIOGRAM_FREQUENCIES_HZ[-1]  # above it no aid has a band
# What is said of frequencies that get no gain, by the name that they have in JSON.
LACKING: Final = {
    "no_response_without_limit_hz": "lacking-no-limit",
    "above_all_bands_hz": "lacking-above-bands",
    "left_out_hz": "lacking-of-other",
    "not_known_hz": "lacking-not-known",
}


def source_of_table(
    named: str, ear: str | None = None, columns: str | None = None, *, uncalibrated: bool = False
) -> Source:
    """Return ears of tables to prescribe from, as `Table.ears_named` finds them.

    `HostError` if a test is not valid, the ears are of two people, or levels are no dB HL, and that
    is not to be passed over, `uncalibrated`.
    """
    ears, remarks = Table.ears_named(named, ear, columns)
    for side, each in ears.items():
        _check(each, side, uncalibrated=uncalibrated)
    others = _others(named, columns, ears) if ear else {}
    every = {**others, **ears}
    told = {side: found for side, each in every.items() if (found := told_of_table(each, side))}
    place = "; ".join(dict.fromkeys(each.where for each in ears.values()))
    everywhere_hz = set.intersection(*({*_known_hz(each)} for each in ears.values()))
    advice = "; --ear left or --ear right fits one alone" if len(ears) > 1 else ""
    if not everywhere_hz:
        raise HostError(
            f"{place}: at no frequency up to {HIGHEST_HZ} Hz is a level known"
            f"{' of both ears' * (len(ears) > 1)}, so nothing is prescribed{advice}"
        )
    return Source(
        place,
        printable(place),
        [*ears],
        take=lambda side: (_take(every[side], side, everywhere_hz), None),
        whose=_whose([*ears.values()], place),
        which={"audiogram": named, "measured_here": False},
        said=[*(row("told", told=each) for each in remarks), row("table-about", place=place)],
        advice=advice,
        told=told,
        others=[*others],
    )


def _others(named: str, columns: str | None, fitted: Mapping[str, TableEar]) -> dict[str, TableEar]:
    """Return the other ear of the rows, whose levels tell of the fitted one, if it can."""
    try:
        ears, _ = Table.ears_named(named, None, columns)
    except HostError:  # the row does not say which ear it is
        return {}
    return {
        side: each
        for side, each in ears.items()
        if side not in fitted and not each.not_valid and not each.nominal
    }


def _check(found: TableEar, side: str, *, uncalibrated: bool) -> None:
    if found.not_valid:
        raise HostError(f"{found.where}: the {side} ear: {found.not_valid}; nothing is prescribed")
    if found.nominal and not uncalibrated:
        raise HostError(
            f"{found.where}: {found.nominal}; a rule takes thresholds in dB HL; --uncalibrated "
            "makes a fit of them all the same, which says so"
        )


def _whose(ears: Sequence[TableEar], place: str) -> Whose:
    """Return whose ears they are, as far as the table says it in a way that a fit can keep."""
    people = {ear.person for ear in ears}
    if len(people) > 1:
        raise HostError(
            f"{place}: are of {' and '.join(sorted(people))}; allowed are the ears of one person"
        )
    try:
        person = Person(identifier=people.pop() or None).identifier
    except ValueError:
        person = None
    nominal = any(ear.nominal for ear in ears)
    return Whose(person=person, calibration=UNCALIBRATED if nominal else None)


def _known_hz(found: TableEar) -> list[float]:
    """Return where a rule can be given something: a level, or a limit without a response."""
    return [
        f for f, r in found.by_air.items()
        if (r.heard or r.limit_db_hl is not None) and f <= HIGHEST_HZ
    ]  # fmt: skip


def _take(found: TableEar, side: str, everywhere_hz: Collection[float]) -> Taken:
    """Return the thresholds of an ear at frequencies that are known of every ear."""
    known_hz = _known_hz(found)
    lacking_hz = {
        "not_known_hz": [*found.unknown_hz],
        "no_response_without_limit_hz": [
            f for f in found.by_air if f not in known_hz and f <= HIGHEST_HZ
        ],
        "above_all_bands_hz": [f for f in found.by_air if f > HIGHEST_HZ],
        "left_out_hz": [f for f in known_hz if f not in everywhere_hz],
    }
    thresholds = tuple(_threshold(found, f) for f in sorted(everywhere_hz))
    levels_db_hl = np.array(
        [t.threshold_db_hl if t.limit_db_hl is None else t.limit_db_hl for t in thresholds],
        dtype=np.float64,
    )
    return Taken(
        thresholds,
        tuple(MARK if t.mark == Outcome.MEASURED else t.mark for t in thresholds),
        thresholds,
        None,
        levels_db_hl,
        levels_db_hl[np.newaxis],
        not found.nominal,
        lacking_hz=lacking_hz,
        said=[*_remarks_on(found, side, lacking_hz)],
    )


def _threshold(found: TableEar, frequency_hz: float) -> ThresholdResult:
    """Return a threshold of a table, or that there was no response up to a limit."""
    told, at_hz = found.by_air[frequency_hz], round(frequency_hz)
    if told.heard:
        return ThresholdResult(at_hz, Outcome.MEASURED, told.level_db_hl, None, None, None, None)
    return ThresholdResult(at_hz, Outcome.NO_RESPONSE, None, None, None, None, told.limit_db_hl)


def _remarks_on(
    found: TableEar, ear: str, lacking_hz: Mapping[str, Sequence[float]]
) -> Iterator[Row]:
    if found.nominal:
        yield row("table-nominal", ear=ear, told=found.nominal)
        yield row("uncalibrated-fit")
    for name, code in LACKING.items():
        if lacking_hz[name]:
            yield row(code, ear=ear, side=ear, frequencies_hz=lacking_hz[name])
    if found.by_bone:
        yield row("table-no-bone", ear=ear)
    if beyond_hz := [f for f in found.discomfort if f not in LEVELS_HZ]:
        yield row("discomfort-left-out", ear=ear, frequencies_hz=beyond_hz)
    if open_hz := [f for f, r in found.discomfort.items() if not r.heard and r.limit_db_hl is None]:
        yield row("discomfort-no-limit", ear=ear, frequencies_hz=open_hz)
    if found.convention == FIFTY_PERCENT:
        yield row("table-half", ear=ear)
