"""Levels of discomfort that were measured elsewhere: typed in, of a table, or told in a session."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from device.audiogram_tables.ears import TableEar
from device.audiogram_tables.table import Table
from device.hearing_aid.discomfort import Own, at_measured, doubts, own_levels
from device.speech import FloatArray
from firmware_py.terms.discomfort import record_of, rising, told_of_words
from firmware_py.terms.discomfort_levels import LEVELS_HZ
from firmware_py.terms.events import DiscomfortTold
from firmware_py.terms.record_checks import ResultError
from host_tools.commands.prescribe.source import NothingToPrescribeError, Source, Taken
from host_tools.errors import HostError

OPTION: Final = "--discomfort"
ANYWAY: Final = "--discomfort-anyway"
WHY: Final = {
    "below-threshold": "at or below the threshold there, {than:.0f} dB HL",
    "unusual": "more than 40 dB above {than:.0f} dB HL, which is expected of these thresholds",
}


def with_levels(source: Source, text: str | None, columns: str | None, *, anyway: bool) -> Source:
    """Return a source with the levels that a person typed, or a row of a table has.

    They take the place of what its ears had before. `HostError` if they can be none, are of another
    person, or are doubtful and not wanted `anyway`.
    """
    told = {**source.told, **(_told(text, columns, source) if text is not None else {})}
    source = replace(source, told=told)
    points = {ear: _at(taken, taken.point_db_hl) for ear, taken in _taken(source).items()}
    for doubt in doubts(points, {ear: each.levels for ear, each in told.items()}):
        if not anyway:
            raise HostError(
                f"{source.place}: discomfort of the {doubt.ear} ear, {doubt.level.words}, is "
                f"{WHY[doubt.code].format(than=doubt.than_db_hl)}; {ANYWAY} takes it"
            )
    return source


def _told(text: str, columns: str | None, source: Source) -> Mapping[str, DiscomfortTold]:
    file_name, colon, row = text.rpartition(":")
    try:
        if not colon or not _is_file(file_name):
            return told_of_words(text, OPTION)
        ears = Table.read(file_name, columns=columns).ears(row)
    except ResultError as error:
        raise HostError(str(error)) from None
    people, own = {ear.person for ear in ears} - {""}, source.whose.person
    if own is not None and people and people != {own}:
        raise HostError(
            f"{OPTION} {text}: is of {' and '.join(sorted(people))}, and {source.place} of {own}; "
            "allowed are levels of one person"
        )
    if nominal := next(filter(None, (ear.nominal for ear in ears)), ""):
        raise HostError(f"{OPTION} {text}: {nominal}; allowed are levels in dB HL")
    found = {ear.side: told for ear in ears if ear.side and (told := told_of_table(ear, ear.side))}
    if not found:
        raise HostError(
            f"{OPTION} {text}: has no level of an ear; allowed are columns such as R_ucl1000, or "
            "ucl1000 and ear"
        )
    return found


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # such as a name that is too long
        return False


def told_of_table(ear: TableEar, side: str) -> DiscomfortTold | None:
    """Return what a row tells at frequencies that count; None: nothing."""
    records = [
        record_of(f, level, above=not each.heard)
        for f, each in ear.discomfort.items()
        if f in LEVELS_HZ
        and (level := each.level_db_hl if each.heard else each.limit_db_hl) is not None
    ]
    try:
        levels = rising(f"{ear.where}: discomfort", records)
    except ResultError as error:
        raise HostError(str(error)) from None
    return DiscomfortTold(side, levels, ear.where) if levels else None


def own_of(source: Source) -> dict[str, Own]:
    """Return what levels that somebody measured say of each ear with thresholds; {}: none were."""
    if not source.told:
        return {}
    draws = {ear: _at(taken, taken.draws_db_hl) for ear, taken in _taken(source).items()}
    return own_levels(draws, {ear: each.levels for ear, each in source.told.items()})


def _taken(source: Source) -> dict[str, Taken]:
    found = {}
    for ear in (*source.ears, *source.others):
        try:
            found[ear], _ = source.take(ear)
        except NothingToPrescribeError:
            continue
    return found


def _at(taken: Taken, thresholds_db_hl: FloatArray) -> FloatArray:
    return at_measured(np.array(taken.frequencies_hz, dtype=np.float64), thresholds_db_hl)
