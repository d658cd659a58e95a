"""Sessions to export: those that were recorded, and one with every mark there is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from firmware_py.procedure.outcomes import MaskingMark, Outcome
from firmware_py.procedure.person import Person
from firmware_py.procedure.results import ThresholdResult
from host_tools.commands.export.examination import Examination, read_examination
from tests.calibration.calibrations import MADE, on_file
from tests.host.journals import BOTH, GOLDEN

JOURNALS: Final = sorted(GOLDEN.glob("*.journal"))
SILENT: Final = GOLDEN / "silent-ear.journal"
UNRELIABLE: Final = GOLDEN / "always-answering.journal"


def marked() -> Examination:
    """Return a session of both ears, known by name and calibrated, with every mark of a threshold.

    At the right ear: 6000 Hz perhaps beyond 90 dB HL, 8000 Hz surely, 250 Hz at the floor, and
    4000 Hz perhaps heard by the other ear.
    """
    examination = read_examination(BOTH)
    header = replace(
        examination.header,
        person=Person(67.0, "F", "患者7"),
        calibration=on_file().judged(MADE),
    )
    right, left = examination.result.ears
    thresholds = tuple(CHANGES.get(t.frequency_hz, _unmasked)(t) for t in right.thresholds)
    others = tuple(map(_unmasked, left.thresholds))
    ears = replace(right, thresholds=thresholds), replace(left, thresholds=others)
    return replace(examination, header=header, result=replace(examination.result, ears=ears))


def _unmasked(found: ThresholdResult) -> ThresholdResult:
    return replace(found, masking=MaskingMark.NOT_MASKED, air_bone_gap_db=None)


def _beyond(mark: Outcome, limit_db_hl: float) -> Callable[[ThresholdResult], ThresholdResult]:
    return lambda found: replace(_unmasked(found).without_numbers(mark), limit_db_hl=limit_db_hl)


CHANGES: Final = {
    250: _beyond(Outcome.HEARS_ALL, -10.0),
    4000: lambda found: replace(found, masking=MaskingMark.UNCERTAIN, air_bone_gap_db=25.5),
    6000: _beyond(Outcome.INCOMPLETE, 90.0),
    8000: _beyond(Outcome.NO_RESPONSE, 90.0),
}
