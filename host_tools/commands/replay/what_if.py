"""Another model on the same answers: what is supposed, and how far apart its thresholds are."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from firmware_py.ear.belief import give
from firmware_py.ear.ear import EarTest
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.mixture.prior_reading import PriorError
from firmware_py.inference.profiles import MixtureProfile, profile_named
from firmware_py.platform.named_file import TEXT, content_of
from firmware_py.platform.own_prior import OwnPrior, shorten
from firmware_py.terms.presentation import Observation
from firmware_py.terms.route import Route
from firmware_py.terms.shown_threshold import Kind, as_shown
from firmware_py.terms.verdicts import has_thresholds
from firmware_py.terms.words import SENTENCES
from host_tools.errors import HostError
from host_tools.recordings.recorded_session import ReplayedSession

PRIOR_BYTES_MAX: Final = 2**22  # that of 64 knots and components has less
# Its test begins with what air told of this very ear, and not with what people have.
BONE_LEFT_OUT: Final = (
    "bone conduction is left out: its test began with what the recorded model found by air"
)


@dataclass(frozen=True)
class Supposition:
    """Another model; None: as it was."""

    profile: str | None = None
    own: OwnPrior | None = None
    prior_name: str = ""  # of its file, for people; "" without one
    response_noise_db: float | None = None

    @property
    def prior(self) -> PopulationPrior | None:
        return None if self.own is None else self.own.prior

    def is_of(self, session: ReplayedSession) -> bool:
        """Return whether nothing else is supposed than the prior that a session was begun with."""
        alone = self.profile is None and self.response_noise_db is None
        return alone and self.own is not None and self.own.digest == session.header.prior

    @classmethod
    def of(cls, profile: str | None, prior: Path | None, response_noise_db: float | None) -> Self:
        """Return what the options say; `HostError` if there is no such profile or prior."""
        if profile is not None:
            _knows_people(profile)
        read = None if prior is None else _read_prior(prior)
        name = "" if prior is None else prior.name
        return cls(profile, read, name, response_noise_db)


class _Model:
    """The model that is supposed for a session; `HostError` if it knows nothing of its prior.

    Its words say what is supposed in the place of what, its remarks what of the session it has no
    use for.
    """

    def __init__(self, session: ReplayedSession, supposed: Supposition) -> None:
        self._session = session
        settings = session.settings
        profile = settings.profile if supposed.profile is None else supposed.profile
        noise_db = supposed.response_noise_db
        self._knows_people = _knows_people(profile)
        if supposed.prior is not None and not self._knows_people:
            raise HostError(
                f"prior {supposed.prior_name}: profile {profile} makes no use of a prior learned "
                "from people; allowed is --profile default"
            )
        self._options: dict[str, Any] = {
            "profile": profile,
            "response_noise_db": settings.response_noise_db if noise_db is None else noise_db,
            "level_limits_db_hl": (settings.level_min_db_hl, settings.level_max_db_hl),
            "frequency_range_hz": (settings.frequency_min_hz, settings.frequency_max_hz),
            "prior": (supposed.prior or session.prior) if self._knows_people else None,
        }
        if self._knows_people:
            self._options |= {
                "unsure_half_width_db": settings.dead_zone_half_width_db,
                "age_years": session.person.age_years,
                "sex": session.person.sex,
            }
        self.words = _words(session, supposed)
        self.remarks = [] if self._knows_people else _say_unused(session, profile)

    def estimator_of(self, route: Route) -> ThresholdEstimator:
        """Return the estimator after all answers of an ear; `HostError` if it refuses them."""
        tested = self._session.test.ears[route]
        try:
            before = None
            other = tested.evidence.listener
            if other is not None:
                before = self._estimator_given(other.evidence.given, None)
            return self._estimator_given(tested.evidence.given, before)
        except (ValueError, RuntimeError) as error:
            raise HostError(str(error)) from None

    def _estimator_given(
        self, evidence: Sequence[Observation | bool], before: ThresholdEstimator | None
    ) -> ThresholdEstimator:
        """Return an estimator that was given this, after `before` told of the listener."""
        estimator = ThresholdEstimator(max_trials=max(len(evidence), 1), **self._options)
        if before is not None:
            estimator.expect_listener(before)
        for each in evidence:
            unsure = not isinstance(each, bool) and each.heard is None
            if self._knows_people or not unsure:
                give(estimator, each)
        return estimator


def _read_prior(path: Path) -> OwnPrior:
    try:
        content = content_of(path, PRIOR_BYTES_MAX)
        return OwnPrior(content, PopulationPrior.from_json(content.decode(TEXT), str(path)))
    except OSError as error:
        raise HostError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise HostError(f"{path}: is no prior: it is not text in UTF-8") from None
    except PriorError as error:
        raise HostError(str(error)) from None


def _knows_people(profile: str) -> bool:
    try:
        return isinstance(profile_named(profile), MixtureProfile)
    except ValueError as error:
        raise HostError(str(error)) from None


def _words(session: ReplayedSession, supposed: Supposition) -> str:
    settings = session.settings
    told_db = settings.response_noise_db
    changes = []
    if supposed.profile not in (None, settings.profile):
        changes.append(f"profile {supposed.profile} instead of {settings.profile}")
    if supposed.prior is not None:
        recorded = session.header.prior
        instead = f" instead of {shorten(recorded)}" if recorded else ""
        changes.append(f"prior {supposed.prior_name}{instead}")
    if supposed.response_noise_db is not None:
        instead = "what the profile says" if told_db is None else f"{told_db:g} dB"
        changes.append(f"noise {supposed.response_noise_db:g} dB instead of {instead}")
    return ", ".join(changes) or f"profile {settings.profile}, as recorded"


def _say_unused(session: ReplayedSession, profile: str) -> list[str]:
    remarks = []
    person = session.person
    if person.age_years is not None or person.sex is not None:
        remarks.append(f"{profile} has no use for age and sex")
    unsure = sum(t.heard is None for t in session.trials if t.purpose in session.counted)
    if unsure:
        remarks.append(f"{profile} has no use for the {unsure} unsure answers; they are left out")
    return remarks


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
        model = _Model(session, supposed)
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
    found = session.result.by_route[ear.route]
    readings = {t.frequency_hz: as_shown(t) for t in found.thresholds}
    rows = [
        Row(
            f, ear.levels.floor_db_hl(f), ear.levels.limit_db_hl(f), recorded, other,
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
