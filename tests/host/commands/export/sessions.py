"""Sessions to export: those that were recorded, and one with every mark there is.

Here every format is a function from sessions to the bytes of a file.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Final

from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.findings.convention import higher
from firmware_py.sessions.archive import recorded_result
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.person import Person
from firmware_py.terms.results import ConfirmedThreshold, EarResult, ThresholdResult
from firmware_py.terms.route import BONE, Route
from host_tools.commands.export import bundle, csv_table, formats
from host_tools.commands.export.document_session import Sessions
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.export.threshold_rows import THRESHOLDS
from tests.calibration.calibrations import MADE, on_file
from tests.calibration.test_bone import of_bone
from tests.host.journals import BOTH, GOLDEN

JOURNALS: Final = sorted(GOLDEN.glob("*.journal"))
SILENT: Final = GOLDEN / "silent-ear.journal"
UNRELIABLE: Final = GOLDEN / "always-answering.journal"


def _whole(encode: Callable[..., Iterator[bytes]]) -> Callable[..., bytes]:
    @wraps(encode)
    def encode_all(examinations: Sequence[Examination], *how: Any) -> bytes:
        return write(lambda sessions: encode(sessions, *how), examinations)

    return encode_all


def write(encode: formats.Encode, examinations: Sequence[Examination]) -> bytes:
    """Return the file of a format."""
    sessions = [each.in_document() for each in examinations]
    routes = {route for each in sessions for route in each.routes}
    return b"".join(encode(Sessions(sessions, routes)))


as_csv: Final = _whole(csv_table.as_csv)
as_nhanes_csv: Final = _whole(csv_table.as_nhanes_csv)
as_tidy_csv: Final = _whole(THRESHOLDS.as_csv)
as_parquet: Final = _whole(THRESHOLDS.as_parquet)
as_json: Final = _whole(formats.as_json)
as_fhir: Final = _whole(bundle.as_fhir)


def session_with_marks() -> Examination:
    """Return a session of both ears, known by name and calibrated, with every mark of a threshold.

    At the right ear: 6000 Hz perhaps beyond 90 dB HL, 8000 Hz surely, 250 Hz at the floor, and
    4000 Hz perhaps heard by the other ear.
    """
    examination = read_examination(BOTH)
    header = replace(
        examination.header,
        person=Person(67.0, "F", "患者7"),
        calibration=on_file().judge(MADE),
    )
    right, left = examination.result.ears
    thresholds = tuple(
        CHANGES.get(t.frequency_hz, _unmask)(_all_asked(t)) for t in right.thresholds
    )
    others = tuple(_unmask(_all_asked(t)) for t in left.thresholds)
    ears = replace(right, thresholds=thresholds), replace(left, thresholds=others)
    return replace(examination, header=header, result=replace(examination.result, ears=ears))


def inferred_and_confirmed() -> Examination:
    """Return a session of both ears whose right one was not asked 750 and 2000 Hz.

    Its 1000 and 8000 Hz were measured again by the classical rule.
    """
    examination = read_examination(BOTH)
    right, left = recorded_result(BOTH).result.ears
    thresholds = tuple(map(_all_asked, right.thresholds))
    thresholds = tuple(_infer(t) if t.frequency_hz in (750, 2000) else t for t in thresholds)
    again = (
        ConfirmedThreshold(1000, 35.0, Outcome.MEASURED, 9),
        ConfirmedThreshold(8000, None, Outcome.NO_RESPONSE, 4),
    )
    others = replace(left, thresholds=tuple(map(_all_asked, left.thresholds)))
    assert right.pta4 is not None
    mean = replace(right.pta4, inferred_hz=(2000,))
    ears = replace(right, thresholds=thresholds, confirmed=again, pta4=mean), others
    return replace(examination, result=replace(examination.result, ears=ears))


def session_with_bone(gap_db: float = 30.0) -> Examination:
    """Return a session of both ears by air and bone: the right one has this gap, the left none.

    By bone 2000 Hz was not asked in the right ear, and nothing was heard at 4000 Hz.
    """
    examination = inferred_and_confirmed()
    right, left = examination.result.ears
    right = replace(right, thresholds=tuple(map(_all_asked, right.thresholds)), confirmed=())
    by_bone = by_bone_of(right, gap_db), by_bone_of(left, 0.0)
    changes = {2000: _infer, 4000: _beyond(Outcome.NO_RESPONSE, 80.0)}
    thresholds = (changes.get(t.frequency_hz, replace)(t) for t in by_bone[0].thresholds)
    ears = right, left, replace(by_bone[0], thresholds=tuple(thresholds)), by_bone[1]
    return replace(examination, result=replace(examination.result, ears=ears))


def with_vibrator(examination: Examination) -> Examination:
    """Return a session as one by bone, with a calibration that has a vibrator."""
    header = examination.header
    settings = replace(header.settings, routes="air, bone")
    calibration = CalibrationOnFile(of_bone()).judge(MADE)
    return replace(examination, header=replace(header, settings=settings, calibration=calibration))


def by_bone_of(air: EarResult, gap_db: float) -> EarResult:
    """Return what an ear would have by bone: everywhere so much less than by air."""
    route = Route(air.route.ear, BONE)
    thresholds = tuple(
        replace(
            higher(t, -gap_db),
            masking=MaskingMark.MASKED,
            air_bone_gap_db=None,
            ceiling_db_hl=route.kind.highest_db_hl(t.frequency_hz),
        )
        for t in air.thresholds
        if t.frequency_hz in route.kind.frequencies_hz
    )
    return replace(air, route=route, thresholds=thresholds, confirmed=(), pta4=None)


def _all_asked(found: ThresholdResult) -> ThresholdResult:
    """Return a threshold as if it had been measured."""
    masking = MaskingMark.NOT_MASKED if found.masking is None else found.masking
    return replace(found, mark=Outcome.MEASURED, masking=masking)


def _infer(found: ThresholdResult) -> ThresholdResult:
    return replace(found, mark=Outcome.INFERRED, masking=None, air_bone_gap_db=None)


def _unmask(found: ThresholdResult) -> ThresholdResult:
    return replace(found, masking=MaskingMark.NOT_MASKED, air_bone_gap_db=None)


def _beyond(mark: Outcome, limit_db_hl: float) -> Callable[[ThresholdResult], ThresholdResult]:
    return lambda found: replace(_unmask(found).without_numbers(mark), limit_db_hl=limit_db_hl)


CHANGES: Final = {
    250: _beyond(Outcome.HEARS_ALL, -10.0),
    4000: lambda found: replace(found, masking=MaskingMark.UNCERTAIN, air_bone_gap_db=25.5),
    6000: _beyond(Outcome.INCOMPLETE, 90.0),
    8000: _beyond(Outcome.NO_RESPONSE, 90.0),
}
