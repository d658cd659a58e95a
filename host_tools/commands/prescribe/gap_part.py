"""The air-bone gap of a recorded ear, as a rule is given it: where it is known, and how well.

A gap counts only in an ear whose mean gap is called one, and only for what it has above the one
that ears without a conductive loss show: that is the error of the vibrator's reference levels, 11
dB at 4 kHz, and no loss. Where no tone was asked by one of the routes, what is inferred of it does
not count. There it lies on a line over log frequency between those that were measured on both
sides, as the constants of rules do: gains that fell by their part between octaves would be no fit.
Beyond the last that was measured there is none.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from device.lines import line_weights
from device.speech import FloatArray
from firmware_py.findings.air_bone_gap import Gap, gaps_of
from firmware_py.inference.mixture import bone_prior
from firmware_py.terms.outcomes import Bound, Outcome
from firmware_py.terms.route import BONE, Route
from host_tools.commands.prescribe.source import DRAWS, GapMark, GapPart, Taken, counts
from host_tools.recordings.recorded_session import RecordedSession

SEED: Final = 2  # of what the thresholds by bone may be beside what was found


def gap_part(session: RecordedSession, ear: str, air: Taken) -> GapPart | None:
    """Return what bone conduction tells of an ear with these thresholds by air; None: nothing.

    Without a calibration no gap follows.
    """
    found = gaps_of(session.result, nominal=session.calibration.nominal)
    told = next((each for each in found if each.ear == ear), None)
    if told is None:
        return None
    frequencies_hz = [each.frequency_hz for each in air.found]
    nothing = np.zeros(len(frequencies_hz))
    marks = (GapMark.NONE,) * len(frequencies_hz)
    part = GapPart(told, marks, nothing, np.zeros((DRAWS, len(frequencies_hz))))
    known_hz = _asked_hz(session, ear)
    if not part.is_called or not known_hz:
        return part
    gaps = {gap.frequencies_hz[0]: gap for gap in told.gaps}
    known = {f: gap if counts(gap := gaps.get(f)) else None for f in known_hz}
    near = line_weights(frequencies_hz, known_hz, beyond=0.0)
    drawn = _drawn_db(session, ear, air, known)
    point = np.array([0.0 if gap is None else _excess_db(f, gap.db) for f, gap in known.items()])
    return GapPart(told, _marks(frequencies_hz, known), near @ point, drawn @ near.T)


def _asked_hz(session: RecordedSession, ear: str) -> list[int]:
    """Return where tones were asked by both routes."""
    by_route = session.result.by_route
    asked = [
        {t.frequency_hz for t in by_route[route].thresholds if t.mark != Outcome.INFERRED}
        for route in (Route(ear), Route(ear, BONE))
    ]
    return sorted(asked[0] & asked[1])


def _excess_db(frequency_hz: int, gap_db: float | FloatArray) -> FloatArray:
    """Return how much larger a gap is than that of ears without a conductive loss."""
    excess_db: FloatArray = np.maximum(gap_db - bone_prior.usual_gap_db(frequency_hz), 0.0)
    return excess_db


def _drawn_db(
    session: RecordedSession, ear: str, air: Taken, known: dict[int, Gap | None]
) -> FloatArray:
    """Return what the gaps may be, (n, k), each with the drawn threshold by air that it goes with.

    Thresholds by bone are taken as independent of those by air, and as all off by the same.
    """
    sd_db = {t.frequency_hz: t.sd_db for t in session.result.by_route[Route(ear, BONE)].thresholds}
    off = np.random.Generator(np.random.Philox(SEED)).standard_normal(DRAWS)
    place = {found.frequency_hz: k for k, found in enumerate(air.found)}
    drawn_db = np.zeros((DRAWS, len(known)))
    for k, (f, gap) in enumerate(known.items()):
        if gap is not None:
            by_air_db = air.draws_db_hl[:, place[f]] - air.point_db_hl[place[f]]
            drawn_db[:, k] = _excess_db(f, gap.db + by_air_db - (sd_db[f] or 0.0) * off)
    return drawn_db


def _marks(frequencies_hz: Sequence[int], known: dict[int, Gap | None]) -> tuple[GapMark, ...]:
    lowest_hz, highest_hz = min(known), max(known)

    def mark(frequency_hz: int) -> GapMark:
        if frequency_hz not in known:
            within = lowest_hz < frequency_hz < highest_hz
            return GapMark.INFERRED if within else GapMark.NONE
        gap = known[frequency_hz]
        if gap is None:
            return GapMark.NONE
        return GapMark.AT_LEAST if gap.bound == Bound.AT_LEAST else GapMark.MEASURED

    return tuple(map(mark, frequencies_hz))
