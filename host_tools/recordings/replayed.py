"""What the replay of a session showed, with what the command ends with, and in words.

With the device's key the seals of its journal are checked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from firmware_py.journal import SealKey
from host_tools.recordings.seals import NO_SEALS, NOT_SEALED, Seals, seals_of

if TYPE_CHECKING:  # a session brings Numba with it, which the other commands can do without
    from firmware_py.comparisons.result import TuningResult
    from firmware_py.sessions.replay import Difference
    from firmware_py.sessions.session_record import Header
    from firmware_py.terms.results import SessionResult
    from host_tools.recordings.recorded_session import RecordedSession

IDENTICAL, DIFFERENT, UNFINISHED, DAMAGED = 0, 1, 3, 4
DIFFERENCES_MAX: Final = 10  # that are listed


def difference_lines(differences: "Sequence[Difference]") -> list[str]:
    """Return what was recorded and what was replayed, of the first few differences."""
    lines = []
    for difference in differences[:DIFFERENCES_MAX]:
        lines.append(f"record {difference.record}: recorded {difference.recorded}")
        lines.append(f"{'':>{len(str(difference.record)) + 7}}  replayed {difference.replayed}")
    if len(differences) > DIFFERENCES_MAX:
        lines.append(f"... and {len(differences) - DIFFERENCES_MAX} more")
    return lines


@dataclass
class Verdict:
    """What a replay of a session showed."""

    # What was replayed, in words, and the name of the count in JSON.
    KIND: ClassVar[str] = "session"
    COUNTED: ClassVar[str] = "tones"
    COUNT_NAME: ClassVar[str] = "trials"
    OUTPUT: ClassVar[str] = "stimulus"

    journal: Path
    code: int
    count: int
    inputs: int
    torn_bytes: int
    unsure: int = 0
    differences: "list[Difference]" = field(default_factory=list)
    damage: str = ""
    result: "SessionResult | TuningResult | None" = None
    calibration: str = ""
    prior: str = ""  # the hash of one that somebody brought
    seals: Seals = NO_SEALS
    elsewhere: str = ""  # where what differs comes out again; "": this very version recorded it

    @property
    def identical(self) -> bool:
        return self.code == IDENTICAL

    @property
    def exit_code(self) -> int:
        """Return what the command ends with: what is forged is nothing else."""
        return NOT_SEALED if self.seals.true is False else self.code


def replay_journal(path: Path) -> Verdict:
    """Replay a journal; `HostError` if the file cannot be replayed at all."""
    from host_tools.recordings.recorded_session import replay_session

    return verdict_of(replay_session(path))


def verdict_of(session: "RecordedSession", keys: Sequence[SealKey] = ()) -> Verdict:
    """Return what the replay of a session showed, and its seals under these keys.

    Of one that is told as it was recorded: whether its record is whole.
    """
    from host_tools.recordings.recorded_session import ReplayedSession

    state = session.state if isinstance(session, ReplayedSession) else None
    differences = state.differences if state else []
    return Verdict(
        journal=session.path,
        code=code_of(session.differences, session.damage, complete=session.complete),
        count=state.tones if state else 0,
        inputs=state.inputs if state else 0,
        torn_bytes=session.recovered.torn_bytes,
        unsure=sum(ear.tally.unsure for ear in state.test.ears.values()) if state else 0,
        differences=differences,
        damage=session.damage,
        result=session.result if session.recorded else None,
        calibration=session.calibration.headline,
        prior=session.header.prior,
        seals=seals_of(session.recovered, keys),
        elsewhere=elsewhere(session.header),
    )


def elsewhere(header: "Header[Any, Any]") -> str:
    """Say where a session comes out again that another version recorded; "" of this version's."""
    return header.replay_words if header.is_of_another_version else ""


def as_json(verdict: Verdict) -> dict[str, Any]:
    told = {
        "journal": str(verdict.journal),
        "replay_identical": verdict.identical,
        verdict.COUNT_NAME: verdict.count,
        "inputs": verdict.inputs,
        "torn_bytes": verdict.torn_bytes,
        "damage": verdict.damage,
        "differences": [vars(difference) for difference in verdict.differences],
        "result": verdict.result.to_record() if verdict.result else None,
        "seals": vars(verdict.seals),
    }
    if verdict.KIND == Verdict.KIND:
        told |= {"unsure": verdict.unsure, "calibration": verdict.calibration}
        told |= {"prior": verdict.prior} if verdict.prior else {}
    return told


def words(verdict: Verdict) -> list[str]:
    """Return the verdict in words, the short first."""
    prior = f"with the prior {verdict.prior}" if verdict.prior else ""
    lines = [_summary(verdict), *filter(None, (verdict.seals.words, verdict.calibration, prior))]
    if verdict.torn_bytes:
        lines.append(f"torn end: {verdict.torn_bytes} bytes after the last good record")
    if verdict.damage:
        lines.append(f"DAMAGED: {verdict.damage}")
    if verdict.differences and verdict.elsewhere:
        lines.append(verdict.elsewhere)
    return [*lines, *difference_lines(verdict.differences)]


def _summary(verdict: Verdict) -> str:
    unsure = f" ({verdict.unsure} answered unsure)" if verdict.unsure else ""
    amount = f"{verdict.count} {verdict.COUNTED}{unsure} from {verdict.inputs} inputs"
    endings = {
        IDENTICAL: f"every {verdict.OUTPUT} and the result came out bit for bit",
        DIFFERENT: f"{len(verdict.differences)} outputs DIFFER",
        UNFINISHED: f"the same so far; the {verdict.KIND} is not finished",
        DAMAGED: "the same up to where the journal is damaged",
    }
    return f"{verdict.journal}: {amount}; {endings[verdict.code]}"


def code_of(differences: int, damage: str, *, complete: bool) -> int:
    """Return what the command ends with, seals aside."""
    if differences:
        return DIFFERENT
    if damage:
        return DAMAGED
    return IDENTICAL if complete else UNFINISHED
