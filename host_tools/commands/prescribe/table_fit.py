"""What the thresholds of a table prescribe, such as a clinic's: gains without bands.

The numbers are the table's. Nobody measured them here, and how sure they are it does not say. So no
gain has a band, and none is for what the table does not know.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from device.audiogram_tables.ears import TableEar
from device.audiogram_tables.table import Table
from device.hearing_aid import candidacy
from device.hearing_aid.fit import EarFit, Fit
from device.hearing_aid.for_whom import Code, Finding
from device.hearing_aid.prescription import Prescribed, fit_of_thresholds, fitted_ear, prescribe
from device.hearing_aid.whose import Whose
from device.speech import FloatArray
from firmware_py.calibration.in_force import UNCALIBRATED
from firmware_py.procedure.person import Person
from firmware_py.procedure.printable import printable
from firmware_py.procedure.route import AUDIOGRAM_FREQUENCIES_HZ, LEFT, RIGHT
from host_tools.commands.prescribe.ear_prescription import HELD_DB
from host_tools.errors import HostError


@dataclass(frozen=True)
class TablePrescription:
    """The prescription for one ear of a table."""

    ear: str
    found: TableEar
    rule: str
    coupling: str
    frequencies_hz: tuple[float, ...]
    threshold_db_hl: FloatArray  # (m,) the limit, where there was no response
    silent: tuple[bool, ...]  # there was none up to the limit
    calibrated: bool  # whether the levels are dB HL

    @cached_property
    def prescribed(self) -> Prescribed:
        """Return what the rule says, within the limits."""
        centers_hz = np.array(self.frequencies_hz)
        return prescribe(centers_hz, self.threshold_db_hl, self.rule, self.coupling)

    @cached_property
    def fitted(self) -> EarFit:
        """Return the fit of this ear."""
        return fitted_ear(self.ear, self.prescribed)

    @property
    def gain_db(self) -> FloatArray:
        """Return the gains for conversational speech, (m,)."""
        return self.fitted.gain_of_speech_db()

    @property
    def held(self) -> npt.NDArray[np.bool_]:
        """Return at which frequencies that gain is less than the rule's, for a limit."""
        return self.prescribed.target_db > self.gain_db + HELD_DB

    @property
    def unknown_hz(self) -> tuple[float, ...]:
        """Return where the table asked and does not tell; or not how far there was no response."""
        return self.found.unknown_hz

    @property
    def without_limit_hz(self) -> tuple[float, ...]:
        """Return where there was no response, up to a limit that the table does not tell."""
        return tuple(
            f for f, each in self.found.by_air.items()
            if not each.heard and each.limit_db_hl is None and f <= HIGHEST_HZ
        )  # fmt: skip

    @property
    def too_high_hz(self) -> tuple[float, ...]:
        """Return where the table knows something, and an aid has no band."""
        return tuple(f for f in self.found.by_air if f > HIGHEST_HZ)

    @property
    def left_out_hz(self) -> tuple[float, ...]:
        """Return what of this ear is left out, as it is not known of the other one."""
        return tuple(f for f in _known_hz(self.found) if f not in self.frequencies_hz)

    def for_whom(self) -> list[Finding]:
        """Return for whom the gains are, without probabilities: a table has none."""
        if not self.calibrated:
            return [Finding(self.ear, Code.NOT_JUDGED)]
        everywhere = [True] * len(self.frequencies_hz)
        known = candidacy.Ear(
            self.ear, self.frequencies_hz, self.threshold_db_hl, self.threshold_db_hl[np.newaxis],
            asked=everywhere, silent=self.silent, perhaps_silent=self.silent, sure=everywhere,
        )  # fmt: skip
        return [replace(each, probabilities=()) for each in candidacy.of_ear(known, self.gain_db)]


@dataclass(frozen=True)
class TableFit:
    """A fit from a table."""

    named: str  # the rows, as they were asked for
    tables: tuple[Table, ...]
    ears: tuple[TablePrescription, ...]
    fit: Fit


HIGHEST_HZ: Final = float(AUDIOGRAM_FREQUENCIES_HZ[-1])  # above it no aid has a band
# Of parts of a name, where there are two.
_IN_ORDER: Final = (RIGHT, LEFT)


def ears_named(named: str, ear: str | None) -> tuple[tuple[Table, ...], dict[str, TableEar]]:
    """Return the tables that ``FILE:ROW`` or ``FILE:ROW,FILE:ROW`` names, and the ears asked for.

    Parameters
    ----------
    named : str
        Two rows are of the right and the left ear.
    ear : str or None
        "left" or "right"; None: all that the rows have.

    Raises
    ------
    AudiogramError
        A row cannot be read.
    HostError
        It is no row, has no such ear, or does not say which ear it is.
    """
    parts = [part.strip() for part in named.split(",")]
    if len(parts) > len(_IN_ORDER):
        raise HostError(f"--audiogram has {len(parts)} rows; allowed are one, or right,left")
    tables, ears = [], {}
    for k, part in enumerate(parts):
        file_name, colon, row = part.rpartition(":")
        if not colon:
            raise HostError(
                f"--audiogram is {named!r}; allowed is FILE:ROW, a row of a table, such as {part}:1"
            )
        tables.append(Table.read(file_name))
        wanted = _IN_ORDER[k] if len(parts) > 1 else ear
        ears.update(_ears_of(tables[-1].ears(row), wanted, part))
    if ear is not None and ear not in ears:
        raise HostError(f"{named}: the {ear} ear has no threshold by air")
    return tuple(tables), {side: ears[side] for side in _IN_ORDER if side in (ear or side, )
                           and side in ears}  # fmt: skip


def _ears_of(ears: Sequence[TableEar], wanted: str | None, named: str) -> dict[str, TableEar]:
    """Return the ears of a row by side: the one that is wanted, or all."""
    known = [each for each in ears if each.by_air]
    if not known:
        raise HostError(f"{named}: no threshold by air in it, so nothing is prescribed")
    if len(known) == 1 and not known[0].side:
        if wanted is None:
            raise HostError(
                f"{known[0].where}: does not say which ear it is; say it with --ear left or --ear "
                "right"
            )
        return {wanted: known[0]}
    found = {each.side: each for each in known if each.side == (wanted or each.side)}
    if not found:
        raise HostError(
            f"{known[0].where}: is of the {known[0].side} ear; asked for is the {wanted} one"
        )
    return found


def fit_of_table(
    named: str, rule: str, coupling: str, ear: str | None = None, *, uncalibrated: bool = False
) -> TableFit:
    """Return what rows of tables prescribe.

    Parameters
    ----------
    named, ear
        As of `ears_named`.
    rule, coupling : str
        As of `fit_of_thresholds`.
    uncalibrated : bool
        Whether levels that are no dB HL are taken for such.

    Raises
    ------
    AudiogramError, HostError
        As of `ears_named`; or a test is not valid, its levels are no dB HL, or too little is known
        for the rule. The message says where.
    """
    tables, ears = ears_named(named, ear)
    for side, found in ears.items():
        _check(found, side, uncalibrated=uncalibrated)
    known = [{*_known_hz(found)} for found in ears.values()]
    frequencies_hz = tuple(sorted(set.intersection(*known)))
    where = "; ".join(dict.fromkeys(found.where for found in ears.values()))
    whose = _whose([*ears.values()], where)
    found_ears = tuple(
        _prescription(found, side, rule, coupling, frequencies_hz) for side, found in ears.items()
    )
    source = printable(where)
    try:
        fit = fit_of_thresholds(
            frequencies_hz, {each.ear: each.threshold_db_hl for each in found_ears}, rule,
            coupling, source,
        )  # fmt: skip
    except ValueError as error:
        others = "; --ear left or --ear right fits one alone" if len(ears) > 1 else ""
        raise HostError(f"{where}: {error}{others}") from None
    for_whom = tuple(finding for each in found_ears for finding in each.for_whom())
    fit = replace(fit, of=whose, for_whom=for_whom)
    return TableFit(named, tables, found_ears, fit)


def _check(found: TableEar, side: str, *, uncalibrated: bool) -> None:
    if found.not_valid:
        raise HostError(f"{found.where}: the {side} ear: {found.not_valid}; nothing is prescribed")
    if found.nominal and not uncalibrated:
        raise HostError(
            f"{found.where}: {found.nominal}; a rule takes thresholds in dB HL; --uncalibrated "
            "makes a fit of them all the same, which says so"
        )


def _known_hz(found: TableEar) -> list[float]:
    """Return where a rule can be given something: a level, or a limit without a response."""
    return [
        f for f, r in found.by_air.items()
        if (r.heard or r.limit_db_hl is not None) and f <= HIGHEST_HZ
    ]  # fmt: skip


def _prescription(
    found: TableEar, side: str, rule: str, coupling: str, frequencies_hz: tuple[float, ...]
) -> TablePrescription:
    readings = [found.by_air[f] for f in frequencies_hz]
    levels_db_hl = [r.level_db_hl if r.heard else r.limit_db_hl for r in readings]
    return TablePrescription(
        side, found, rule, coupling, frequencies_hz, np.array(levels_db_hl, dtype=np.float64),
        tuple(not r.heard for r in readings), not found.nominal,
    )  # fmt: skip


def _whose(ears: Sequence[TableEar], where: str) -> Whose:
    """Return whose a fit is, as far as the table says it in a way that a fit can keep."""
    people = {ear.person for ear in ears}
    if len(people) > 1:
        raise HostError(
            f"{where}: are of {' and '.join(sorted(people))}; allowed are the ears of one person"
        )
    try:
        person = Person(identifier=people.pop() or None).identifier
    except ValueError:
        person = None
    nominal = any(ear.nominal for ear in ears)
    return Whose(person=person, calibration=UNCALIBRATED if nominal else None)
