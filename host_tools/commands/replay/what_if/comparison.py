"""Two models on the same answers: thresholds side by side, and how far apart they are."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from firmware_py.ear.ear import EarTest
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.terms.route import Route
from firmware_py.terms.shown_threshold import Kind, as_shown
from firmware_py.terms.verdicts import has_thresholds
from firmware_py.terms.words import SENTENCES
from host_tools.commands.replay.what_if.supposition import SupposedModel, Supposition
from host_tools.errors import HostError
from host_tools.recordings.recorded_session import ReplayedSession

# Its test begins with what air told of this very ear, and not with what people have.
BONE_LEFT_OUT: Final = (
    "bone conduction is left out: its test began with what the recorded model found by air"
)


@dataclass(frozen=True)
class Estimate:
    """A threshold and its 95 % band, dB HL; beyond the limits of the test too."""

    mean_db_hl: float
    low_db_hl: float
    high_db_hl: float


@dataclass(frozen=True)
class Row:
    """A frequency of an ear."""

    frequency_hz: int
    # `floor_db_hl`, `limit_db_hl`: the lowest and highest level that could be asked there
    floor_db_hl: float
    limit_db_hl: float
    recorded: Estimate
    supposed: Estimate
    # `masked`, `inferred`: in the record: the other ear had noise; no tone was asked there
    masked: bool = False
    inferred: bool = False

    @property
    def difference_db(self) -> float:
        """Return supposed minus recorded; how far beyond a limit either lies does not count."""
        return self._within(self.supposed) - self._within(self.recorded)

    def _within(self, estimate: Estimate) -> float:
        return min(max(estimate.mean_db_hl, self.floor_db_hl), self.limit_db_hl)


@dataclass(frozen=True)
class EarComparison:
    """An ear, and from how many answers: tones, and silences."""

    route: Route
    answers: int
    rows: Sequence[Row]


@dataclass(frozen=True)
class Comparison:
    """A session under two models."""

    words: str  # what is supposed, in the place of what
    ears: Sequence[EarComparison]  # those with an answer, by air
    remarks: Sequence[str]  # what of the session the supposed model was not given
    nominal: bool  # levels are no dB HL

    @property
    def rms_db(self) -> float:
        squares = [row.difference_db**2 for ear in self.ears for row in ear.rows]
        return math.sqrt(sum(squares) / len(squares))

    @property
    def largest(self) -> tuple[Route, Row]:
        places = [(ear.route, row) for ear in self.ears for row in ear.rows]
        return max(places, key=lambda place: abs(place[1].difference_db))

    @classmethod
    def of(cls, session: ReplayedSession, supposed: Supposition) -> Self:
        """Compare what the model of a session says with what another says to the same answers.

        `HostError` if there is no such model, it cannot make sense of the answers, or there are
        none.
        """
        model = SupposedModel(session, supposed)
        found = session.result.by_route
        told = [
            ear
            for ear in session.test.ears.values()
            if ear.observations and has_thresholds(found[ear.route])
        ]
        answered = [ear for ear in told if not ear.route.by_bone]
        if not answered:
            raise HostError(
                f"{session.path}: no model was told an answer of an ear that could be tested"
            )
        ears = [_ear(session, ear, model.estimator_of(ear.route)) for ear in answered]
        remarks = [*model.remarks, *([BONE_LEFT_OUT] if len(answered) < len(told) else [])]
        return cls(model.words, ears, remarks, session.calibration.nominal)

    def as_json(self) -> dict[str, Any]:
        route, row = self.largest
        return {
            "supposed": self.words,
            "rms_db": self.rms_db,
            "largest": {
                **route.parts(),
                "frequency_hz": row.frequency_hz,
                "difference_db": row.difference_db,
            },
            "remarks": list(self.remarks),
            "ears": [
                {**each.route.parts(), "answers": each.answers, "thresholds": _as_json(each.rows)}
                for each in self.ears
            ],
        }

    def lines(self) -> list[str]:
        """Return it for people, the difference first."""
        largest, row = self.largest
        short = (
            f"{self.words}: thresholds differ by {self.rms_db:.1f} dB RMS, at most by "
            f"{_with_sign(row.difference_db)} dB at {row.frequency_hz} Hz ({largest.words})"
        )
        unit = SENTENCES["unit-nominal-db" if self.nominal else "unit-db-hl"]
        tables = (line for ear in self.ears for line in _table(ear, unit))
        return [short, *self.remarks, *tables]


def _ear(session: ReplayedSession, ear: EarTest, supposed: ThresholdEstimator) -> EarComparison:
    pairs = zip(
        ear.audiogram.frequencies_hz,
        _estimates(ear.estimator, ear.audiogram.frequencies_hz),
        _estimates(supposed, ear.audiogram.frequencies_hz),
        strict=True,
    )
    floor_db_hl = session.settings.level_min_db_hl
    found = session.result.by_route[ear.route]
    readings = {t.frequency_hz: as_shown(t) for t in found.thresholds}
    rows = [
        Row(
            f, floor_db_hl, ear.levels.limit_db_hl(f), recorded, other,
            readings[f].masked, readings[f].kind == Kind.INFERRED,
        )
        for f, recorded, other in pairs
    ]  # fmt: skip
    return EarComparison(ear.route, len(ear.observations), rows)


def _estimates(
    estimator: ThresholdEstimator, frequencies_hz: Sequence[float]
) -> Iterable[Estimate]:
    mean_db_hl, _ = estimator.threshold(frequencies_hz)
    low_db_hl, high_db_hl = estimator.threshold_band(frequencies_hz, BAND_PROBABILITY)
    return map(Estimate, mean_db_hl.tolist(), low_db_hl.tolist(), high_db_hl.tolist())


def _as_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [
        {
            "frequency_hz": row.frequency_hz,
            "limit_db_hl": row.limit_db_hl,
            "difference_db": row.difference_db,
            "inferred": row.inferred,
            "recorded": vars(row.recorded),
            "supposed": vars(row.supposed),
        }
        for row in rows
    ]


def _table(ear: EarComparison, unit: str) -> Iterable[str]:
    yield ""
    yield f"{ear.route.words}, {ear.answers} answers; {unit}, with the 95 % band"
    yield f"{'Hz':>6}{'recorded':>10}{'':16}{'supposed':>10}{'':16}{'difference':>12}"
    for row in ear.rows:
        recorded, supposed = (_cell(each, row) for each in (row.recorded, row.supposed))
        note = "  inferred" if row.inferred else ""
        yield f"{row.frequency_hz:6d}{recorded}{supposed}{_with_sign(row.difference_db):>12}{note}"


def _cell(estimate: Estimate, row: Row) -> str:
    level = f"{estimate.mean_db_hl:.1f}"
    if row.inferred:
        level = f"({level})"
    elif estimate.mean_db_hl >= row.limit_db_hl:
        level = f">{row.limit_db_hl:g}"
    elif estimate.mean_db_hl <= row.floor_db_hl:
        level = f"<={row.floor_db_hl:g}"
    band = f"{estimate.low_db_hl:.1f} to {estimate.high_db_hl:.1f}"
    return f"{level:>10}  {band:<14}"


def _with_sign(difference_db: float) -> str:
    return f"{round(difference_db, 1) + 0.0:+.1f}"  # no minus before 0.0
