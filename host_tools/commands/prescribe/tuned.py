"""A tuned fit: what it was tuned to, what that was found by, and where a limit holds its gains."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from device.hearing_aid.fit import Fit
from device.hearing_aid.fit_file import fit_digest
from firmware_py.findings.rows import Cell, Row, no_value, row
from firmware_py.inference.preference.regret import off_db
from firmware_py.paper.blocks import Block, rows, table, tables
from firmware_py.procedure.tuning.outcomes import Finding
from firmware_py.procedure.tuning.result import TuningResult
from firmware_py.procedure.tuning.space import DIMENSIONS, Setting
from firmware_py.sessions.archive import COMPLETE, UNFINISHED
from firmware_py.sessions.identity import Meeting, differences
from firmware_py.tuning.tuning_record import TuningHeader
from host_tools.commands.prescribe.ear_prescription import HELD_DB
from host_tools.commands.replay.tuning import header_of_tuning, replay_tuning_journal
from host_tools.errors import HostError
from host_tools.recordings import replayed
from host_tools.recordings.recorded_session import good_records, result_recorded


def tuning_of(
    journal: Path, fit: Fit, unfinished_allowed: bool = False
) -> tuple[TuningHeader, TuningResult]:
    """Return a tuning of a fit, and its result.

    Raises
    ------
    HostError
        It is of another person or another fit, it came to no end and that is not allowed, or its
        journal does not replay to what it says.
    """
    header = header_of_tuning(journal)
    of_fit, of_tuning = fit.of.identity(fit_digest(fit)), header.identity()
    for each in differences(Meeting.TUNE, of_tuning, of_fit):
        if each.field == "identifier":
            raise HostError(f"--tuning {journal}: {each.words}: it is of another person")
        raise HostError(
            f"--tuning {journal}: {each.words}: it is of another fit; --rule, --coupling and --ear "
            "have to be those of the fit that was tuned"
        )
    result = _result_of(journal, header)
    if result is None or (result.outcome != COMPLETE and not unfinished_allowed):
        state = "is not finished" if result is None else f"was {result.outcome}"
        raise HostError(f"--tuning {journal}: it {state}; allowed is one that came to its end")
    return header, result


def _result_of(journal: Path, header: TuningHeader) -> TuningResult | None:
    """Return the result that was recorded; what this version recorded has to replay to it."""
    if header.is_of_another_version:
        recovered, damage = good_records(journal)
        if damage:
            raise HostError(damage)
        recorded: TuningResult | None = result_recorded(header, recovered)
        return recorded
    verdict = replay_tuning_journal(journal)
    if verdict.damage or verdict.differences:
        raise HostError(replayed.words(verdict)[0])
    return verdict.result


@dataclass(frozen=True)
class Tuned:
    """A fit as somebody tuned it, and how that was found."""

    prescribed: Fit
    header: TuningHeader
    result: TuningResult

    @property
    def setting(self) -> Setting:
        return Setting.of(self.result.setting_db)

    @cached_property
    def fit(self) -> Fit:
        """Return the fit with the setting that was found."""
        return self.prescribed.tune(self.setting)

    @property
    def why_not_final(self) -> Row | None:
        """Return why the paper of it is not final; None: it came to its end."""
        complete = self.result.outcome == COMPLETE
        return None if complete else row("tuning-ended", status=self._status)

    @property
    def _status(self) -> Row:
        return row(f"status-{self.result.outcome or UNFINISHED}")

    def where_held(self, ear: str) -> npt.NDArray[np.bool_]:
        """Return where the setting asked for more gain of an ear than a limit allows."""
        before, after = self.prescribed.of_ear(ear), self.fit.of_ear(ear)
        asked_db = before.table.gains_db + before.table.change_db(self.setting)
        held: npt.NDArray[np.bool_] = (
            before.table.at_speech_db(gains_db=asked_db) > after.gain_of_speech_db() + HELD_DB
        )
        return held

    def facts(self) -> Iterator[tuple[Row, Row]]:
        """Return which tuning it was, and what it found."""
        header, result = self.header, self.result
        began = {"number": header.session, "begun_at": header.started}
        yield row("fit-tuning"), row("tuning-value", **began, status=self._status)
        found = {"comparisons": result.comparisons, "same": result.same}
        yield row("fit-finding"), row("finding-value", finding=finding_row(result.finding), **found)

    def blocks(self) -> Iterator[Block | None]:
        """Return each number of the setting, and how far off it may be, if that was found."""
        result, ranges_db, known = self.result, self.prescribed.ranges_db(), self._is_known
        lines: list[tuple[Row, Sequence[Cell]]] = [
            (
                row(f"dimension-{each.name.replace('_', '-')}"),
                [
                    _change(result.setting_db[k]),
                    _change(result.wish_db[k]) if known else no_value(),
                    _band(result.low_db[k], result.high_db[k]) if known else no_value(),
                    _band(*ranges_db[each.name]),
                ],
            )
            for k, each in enumerate(DIMENSIONS)
        ]
        heads = [
            row(code) for code in ("setting-set", "setting-wish", "fit-band", "setting-allowed")
        ]
        yield tables([table(row("setting-of"), [row("setting-of"), *heads], lines)])
        if known:
            yield rows([row("tuning-off", offset_db=off_db(result.expected_regret))], small=True)

    @property
    def _is_known(self) -> bool:
        return self.result.finding != Finding.NONE

    def remarks(self) -> Iterator[Row]:
        yield from (reason.to_record() for reason in self.result.remarks)


def finding_row(finding: str) -> Row:
    """Return what a tuning found."""
    return row(f"finding-{finding}")


def _change(value_db: float) -> Row:
    return row("change", change_db=value_db)


def _band(low_db: float, high_db: float) -> Row:
    return row("band", low=_change(low_db), high=_change(high_db))
