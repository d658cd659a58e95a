"""A tuned fit: what it was tuned to, what that was found by, and where a limit holds its gains."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from device.hearing_aid.fit import Fit
from device.hearing_aid.fit_file import fit_digest
from firmware_py.comparisons.result import TuningResult
from firmware_py.comparisons.space import STEP_DB, Setting
from firmware_py.findings.rows import Row, row
from firmware_py.paper.blocks import Block, tables
from firmware_py.paper.tuning_paper import comparisons_row, setting_table
from firmware_py.sessions.identity import Meeting, differences
from firmware_py.terms.outcomes import UNFINISHED, SessionOutcome
from firmware_py.tuning.tuning_record import TuningHeader
from host_tools.commands.replay.tuning import header_of_tuning, replay_tuning_journal
from host_tools.errors import HostError
from host_tools.recordings import replayed
from host_tools.recordings.recorded_session import good_records, result_recorded

AT_LIMIT_DB: Final = 0.05


def tuning_of(
    journal: Path, fit: Fit, unfinished_allowed: bool = False
) -> tuple[TuningHeader, TuningResult]:
    """Return a tuning of a fit, and its result.

    `HostError` if it is of another person or another fit, came to no end and that is not allowed,
    or its journal does not replay to what it says.
    """
    header = header_of_tuning(journal)
    of_fit, of_tuning = fit.of.identity(fit_digest(fit)), header.identity()
    for each in differences(Meeting.TUNE, of_tuning, of_fit):
        if each.field == "identifier":
            raise HostError(f"--tuning {journal}: {each.words}: it is of another person")
        raise HostError(
            f"--tuning {journal}: {each.words}: it is of another fit; --rule, --coupling and --ear "
            "have to be those of the fit that was tuned. What another version prescribed and tuned "
            f"`gp-pta replay {journal}` reports"
        )
    result = _result_of(journal, header)
    if result is None or (result.outcome != SessionOutcome.COMPLETE and not unfinished_allowed):
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
        return self.prescribed.tune(self.setting)

    @property
    def why_not_final(self) -> Row | None:
        """Return why the paper of it is not final; None: it came to its end."""
        complete = self.result.outcome == SessionOutcome.COMPLETE
        return None if complete else row("tuning-ended", status=self._status)

    @property
    def _status(self) -> Row:
        return row(f"status-{self.result.outcome or UNFINISHED}")

    def where_held(self, ear: str) -> npt.NDArray[np.bool_]:
        """Return where an ear has the most gain that a limit allows."""
        tuned = self.fit.of_ear(ear)
        most_db = tuned.table.at_speech_db(gains_db=tuned.gains_max_db)
        held: npt.NDArray[np.bool_] = tuned.gain_of_speech_db() > most_db - AT_LIMIT_DB
        return held

    def facts(self) -> Iterator[tuple[Row, Row]]:
        began = {"number": self.header.session, "begun_at": self.header.started}
        yield row("fit-tuning"), row("tuning-value", **began, status=self._status)
        yield row("fit-finding"), comparisons_row(self.result)

    def blocks(self) -> list[Block | None]:
        """Return each number of the setting."""
        comes_out_db = np.mean(self.prescribed.comes_out_db(self.setting), axis=0)
        off_db = np.abs(comes_out_db - self.setting.values_db()).max()
        heard_db = comes_out_db.tolist() if off_db >= STEP_DB else None
        allowed_db = self.prescribed.ranges_db()
        return [tables([setting_table(self.result, allowed_db, comes_out_db=heard_db)])]
