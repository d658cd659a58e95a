"""Thresholds and gains as rows, each with the signs that stand at it, and what these mean."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from device.hearing_aid.rules import within_publication
from firmware_py.findings.rows import Row, level_row, row
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.shown_threshold import as_shown
from host_tools.commands.prescribe.ear_prescription import EarPrescription
from host_tools.commands.prescribe.source import GapMark

PLAIN, WIDE, INFERRED = "level", "wide", "inferred"
# The codes of gains. A sign stands for each, and means what it means on an audiogram.
OF_THRESHOLD: Final[dict[str, str]] = {
    Outcome.NO_RESPONSE: "at-least",
    Outcome.HEARS_ALL: "at-most",
    Outcome.INCOMPLETE: "level-perhaps-above",
    Outcome.INFERRED: INFERRED,
}
OF_GAP: Final = {GapMark.AT_LEAST: "at-least-for-gap", GapMark.INFERRED: "inferred-for-gap"}
AROUND: Final = (INFERRED, OF_GAP[GapMark.INFERRED], WIDE)  # they stand around a gain
# In the order in which they are explained, but for `WIDE`, which says where it is.
EXPLAINED: Final = (
    "at-least", "at-least-for-gap", "at-most", "level-perhaps-above", INFERRED, "inferred-for-gap",
    "doubtful", "held", "unpublished",
)  # fmt: skip


def threshold_row(ear: EarPrescription, k: int) -> Row:
    """Return a threshold as the paper of its audiogram has it."""
    return level_row(as_shown(ear.given.found[k]), wide=ear.frequencies_hz[k] in ear.given.wide_db)


def sign_of(ear: EarPrescription, k: int) -> str:
    """Return the code of a gain, which is that of its threshold, or else of its air-bone gap."""
    usual = WIDE if ear.frequencies_hz[k] in ear.given.wide_db else PLAIN
    return OF_THRESHOLD.get(ear.marks[k]) or OF_GAP.get(ear.gap_mark(k), usual)


def gain_row(
    ear: EarPrescription, k: int, gain_db: float | None = None, held: bool | None = None
) -> Row:
    """Return the gain for conversation with its signs, or another gain of the ear."""
    frequency_hz, sign = ear.frequencies_hz[k], sign_of(ear, k)
    around = {
        sign: sign in AROUND,
        "doubtful": frequency_hz in ear.given.doubtful_hz,
        "held": bool(ear.held[k] if held is None else held),
        "unpublished": not within_publication(ear.rule, frequency_hz),
    }
    level = float(ear.gain_db[k] if gain_db is None else gain_db)
    found = row(PLAIN if around[sign] else sign, level=level)
    for code, stands in around.items():
        found = row(code, value=found) if stands else found
    return found


def sign_rows(ears: Sequence[EarPrescription], also: Iterable[Row] = ()) -> Iterator[Row]:
    """Say what each sign means that stands at a threshold or a gain, or at one of `also`."""
    at = [(ear, k) for ear in ears for k in range(len(ear.marks))]
    stand = {
        code for each in at for show in (gain_row, threshold_row) for code in _codes(show(*each))
    }
    stand.update(code for each in also for code in _codes(each))
    yield from (row(f"sign-{code}") for code in EXPLAINED if code in stand)
    wide = [row("wide-of", ear=ear.ear, places=_wide(ear)) for ear in ears if ear.given.wide_db]
    if wide:
        yield row("sign-wide", by_ear=wide)


def _codes(found: Row) -> Iterator[str]:
    """Return the codes of a gain or a threshold: its own, and those that it stands in."""
    yield found["code"]
    if "value" in found:
        yield from _codes(found["value"])


def _wide(ear: EarPrescription) -> Iterator[Row]:
    for f, (half_db, wanted_db) in ear.given.wide_db.items():
        yield row("wide-at", frequency_hz=f, half_width_db=half_db, wanted_db=wanted_db)
