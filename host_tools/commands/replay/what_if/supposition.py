"""What is supposed in the place of what a session was recorded with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from firmware_py.ear.belief import give
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.mixture.prior_reading import PriorError
from firmware_py.inference.profiles import MixtureProfile, profile_named
from firmware_py.platform.named_file import TEXT, content_of
from firmware_py.platform.own_prior import OwnPrior, shorten
from firmware_py.terms.presentation import Observation
from firmware_py.terms.route import Route
from host_tools.errors import HostError
from host_tools.recordings.recorded_session import ReplayedSession

PRIOR_BYTES_MAX: Final = 2**22  # that of 64 knots and components has less


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


class SupposedModel:
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
