"""Read a recorded session: feed its journal through the procedure again, trial by trial.

`gp-pta report`, `prescribe` and `replay` get what they say of a session from here, and exports what
they say of an unfinished one. A session that this version does not replay, because another one
recorded it, is told as it was recorded: header, course and result, and nothing of single tones.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.findings.checks import counted_purposes
from firmware_py.findings.statements import as_told
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.journal import (
    JournalDamagedError,
    JournalError,
    JournalUnstartedError,
    Recovered,
    SealKey,
    read_journal,
)
from firmware_py.platform.own_prior import OwnPrior, OwnPriorError, find_beside
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.broken_off import Course
from firmware_py.sessions.replay import HearingReplay, ReplayError, replay
from firmware_py.sessions.session_course import inputs_and_outputs, result_in
from firmware_py.sessions.session_record import (
    Header,
    SessionHeader,
    SessionRecordError,
    not_finished,
)
from firmware_py.terms.events import Action, Event, Mask
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.person import Person
from firmware_py.terms.printable import printable
from firmware_py.terms.results import EarResult, SessionResult
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from firmware_py.terms.tells import AnswerTold
from host_tools.errors import HostError, NonsenseError
from host_tools.recordings.as_recorded import KnownThresholds, RecordedThresholds
from host_tools.recordings.seals import NotSealedError, seals_of


class UnstartedError(HostError):
    """A journal without a whole header: the power went before anything was recorded."""


@dataclass(frozen=True)
class Trial:
    """One presentation that was answered, in the order of the answers."""

    number: int  # of the presentation, from 1 in a session
    # `route`, `purpose`: as in `firmware_py.terms`
    route: Route
    purpose: str
    # `frequency_hz`, `level_db_hl`: None: a catch trial, in which there is no tone
    frequency_hz: float | None
    level_db_hl: float | None
    heard: bool | None  # None: unsure
    at_us: int  # session time at which the answer was known
    # from the tone's onset to the press, on the board's time; None: no press, or no tone
    response_ms: float | None
    # effective masking level in the other ear meanwhile; None: no noise
    noise_db_hl: float | None = None


# Called after each trial, with the test as it then is.
TrialWatcher = Callable[[HearingTest, Trial], None]


def watch_nothing(_test: HearingTest, _trial: Trial) -> None:
    """Look at nothing."""


@dataclass(frozen=True)
class RecordedSession:
    """What a journal says of a session."""

    recovered: Recovered  # the journal's good records
    header: SessionHeader  # what the session said of itself at its start
    recorded: SessionResult | None  # the result; None: it is not finished
    damage: str  # what is wrong with the journal after its good records, "" if nothing is
    # how many outputs come out differently here; 0 of what is not replayed, too
    differences: int

    @property
    def path(self) -> Path:
        return self.recovered.path

    @property
    def name(self) -> str:
        """Return the journal's name, without the directory, as it can be shown."""
        return printable(self.path.name)

    @property
    def test(self) -> HearingTest | None:
        """Return the test after the last input; None: another version replays it."""
        return None

    @property
    def settings(self) -> Settings:
        return self.header.settings

    @property
    def counted(self) -> tuple[Purpose, ...]:
        """Return what the tones were for that the thresholds rest on."""
        return counted_purposes(self.settings)

    @property
    def masked(self) -> bool:
        actions = (record.get("action") for record in self.recovered.records)
        return any(isinstance(each, dict) and each.get("what") == Mask.WHAT for each in actions)

    @property
    def person(self) -> Person:
        return self.header.person

    @property
    def calibration(self) -> CalibrationInForce:
        return self.course.calibration(self.header.calibration)

    @cached_property
    def course(self) -> Course:
        told = inputs_and_outputs(self.header, self.recovered.records)
        return Course.of(self.header, told)

    @property
    def complete(self) -> bool:
        """Return whether the session came to its end, and all of it is there."""
        return self.recovered.complete and not self.damage

    @property
    def result(self) -> SessionResult:
        """Return the recorded result as it may be told, or that so far; its outcome is then ""."""
        return as_told(self._result(), self.settings, nominal=self.calibration.nominal)

    def _result(self) -> SessionResult:
        assert self.recorded is not None, "an unfinished session is told by who replays it"
        return self.recorded

    def thresholds_of(self, found: EarResult) -> KnownThresholds:
        return RecordedThresholds(found)


@dataclass(frozen=True)
class ReplayedSession(RecordedSession):
    """The same, with what came of feeding it through the procedure."""

    state: HearingReplay  # after the last input
    trials: list[Trial]  # in the order of the answers

    @property
    def test(self) -> HearingTest:
        return self.state.test

    @property
    def prior(self) -> PopulationPrior | None:
        """Return the prior that somebody brought; None: it is the one that ships."""
        return self.test.cross_hearing.bone.prior

    @property
    def calibration(self) -> CalibrationInForce:
        if not self.state.breaks:  # it is that of the first, and nobody has to look when it was
            return self.header.calibration
        return super().calibration

    @property
    def complete(self) -> bool:
        return super().complete and not self.state.pending

    def _result(self) -> SessionResult:
        return self.recorded or self.test.result()

    def thresholds_of(self, found: EarResult) -> KnownThresholds:
        return self.test.ears[found.route].estimator

    def trials_of(self, route: Route) -> list[Trial]:
        return [trial for trial in self.trials if trial.route == route]


def read_session(path: Path, watch: TrialWatcher = watch_nothing) -> RecordedSession:
    """Read a journal: replayed, or as it was recorded if another version replays it.

    `watch` is called after each trial. Errors are those of `replay_session`; or that it is not
    finished, and only another version goes on with it.
    """
    recovered, damage = good_records(path)
    header = _header(path, recovered)
    recorded: SessionResult | None = None
    if header.is_of_another_version:
        recorded = result_recorded(header, recovered)
    differences = 0
    if header.replays_here:
        try:
            session = _feed(recovered, damage, watch)
        except NonsenseError:
            if recorded is None:
                raise
            differences = 1  # where the replay ended
        else:
            if not (session.differences and recorded):
                return session
            differences = session.differences
    if recorded is None:
        raise HostError(damage or f"{path}, begun {header.started}: {not_finished(header)}")
    return RecordedSession(recovered, header, recorded, damage, differences)


def replay_session(
    path: Path,
    watch: TrialWatcher = watch_nothing,
    brought: Sequence[OwnPrior] = (),
    keys: Sequence[SealKey] = (),
) -> ReplayedSession:
    """Read a journal and feed it through the procedure; `watch` is called after each trial.

    It may have begun with a prior that is `brought`, beside those that are kept with the journals;
    the keys are for the seals of one that is not replayed. A `HostError` says that the file is no
    journal, or only another version replays it, or its prior is not to be had; an `UnstartedError`,
    that nothing had been recorded in it; a `NonsenseError`, that it says what no session of this
    version wrote.
    """
    recovered, damage = good_records(path)
    header = _header(path, recovered)
    if not header.replays_here:
        result_recorded(header, recovered)
        raise not_replayed(recovered, header.replay_words, keys)
    return _feed(recovered, damage, watch, brought)


def _feed(
    recovered: Recovered, damage: str, watch: TrialWatcher, brought: Sequence[OwnPrior] = ()
) -> ReplayedSession:
    """Feed good records through the procedure; errors as of `replay_session`."""
    path, trials = recovered.path, list[Trial]()

    def keep(state: HearingReplay, _event: Event, actions: Sequence[Action]) -> None:
        for action in actions:
            if isinstance(action, AnswerTold):
                trials.append(_trial(state, action))
                watch(state.test, trials[-1])

    try:
        find_prior = find_beside(path.parent, brought=brought)
        state = replay(recovered.records, keep, find_prior)
    except ReplayError as error:
        if isinstance(error.__cause__, OwnPriorError):
            raise HostError(f"{path}: {error}, or name it: gp-pta replay --prior FILE") from None
        raise NonsenseError(f"{path}: {error}") from error.__cause__
    return ReplayedSession(
        recovered, state.header, state.result, damage, len(state.differences), state, trials
    )


def not_replayed(recovered: Recovered, why: str, keys: Sequence[SealKey] = ()) -> HostError:
    """Return the error of a journal that is only read here: its seals, and which version does."""
    seals = seals_of(recovered, keys)
    words = "; ".join(filter(None, (seals.words, why)))
    error = NotSealedError if seals.true is False else HostError
    return error(f"{recovered.path} is read here, not replayed: {words}")


def read_true_session(path: Path) -> RecordedSession:
    """Read a journal as `read_session`, and refuse, `HostError`, one that is damaged.

    So is one that this version recorded and that does not replay to what it records.
    """
    session = read_session(path)
    if session.damage:
        raise HostError(session.damage)
    if session.differences and session.test is not None:
        raise HostError(
            f"{path}: does not replay to what it records ({session.differences} outputs "
            f"differ); look with gp-pta replay {path}"
        )
    return session


def _header(path: Path, recovered: Recovered) -> SessionHeader:
    try:
        return SessionHeader.from_record(recovered.header)
    except SessionRecordError as error:
        raise NonsenseError(f"{path}: {error}") from None


def result_recorded(header: Header[Any, Any], recovered: Recovered) -> Any:
    """Return the result that a journal has, after a look at all of its records; None: none.

    A record that says what no session wrote is a `NonsenseError`.
    """
    try:
        return result_in(inputs_and_outputs(header, recovered.records))
    except SessionRecordError as error:
        raise NonsenseError(f"{recovered.path}: {error}") from None


def good_records(path: Path) -> tuple[Recovered, str]:
    """Return the records of a journal up to where it is damaged, and how it is; "": it is not.

    `HostError` if it has none that could be replayed.
    """
    if path.is_dir():
        raise HostError(
            f"{path} is a directory; allowed is a journal in it: gp-pta sessions {path} lists them"
        )
    try:
        return read_journal(path), ""
    except JournalDamagedError as error:
        if error.good is None or not error.good.records:
            raise HostError(str(error)) from None
        return error.good, str(error)
    except JournalUnstartedError as error:
        raise UnstartedError(str(error)) from None
    except JournalError as error:
        raise HostError(str(error)) from None


def _trial(state: HearingReplay, answer: AnswerTold) -> Trial:
    given = state.test.given.all[-1]
    silence = answer.purpose == Purpose.CATCH
    tone = given.presentation
    return Trial(
        number=answer.number,
        route=answer.route,
        purpose=answer.purpose,
        frequency_hz=None if silence else tone.frequency_hz,
        level_db_hl=None if silence else tone.level_db_hl,
        heard=answer.heard,
        at_us=state.at_us,
        response_ms=given.response_ms,
        noise_db_hl=given.noise_db_hl,
    )
