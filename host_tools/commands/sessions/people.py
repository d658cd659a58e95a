"""Sessions by person: those of one identifier in their order, and what came of the ears between."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unicodedata import category, normalize

from firmware_py.calibration.in_force import DB_HL, NOMINAL_UNIT
from firmware_py.findings.convention import ear_in_convention
from firmware_py.findings.result_json import whole_as_json
from firmware_py.findings.whole_band import NOMINAL, Part, Uncertainty
from firmware_py.journal.records import LineError
from firmware_py.platform.clock import was_clock_set
from firmware_py.sessions.archive import read_ends
from firmware_py.sessions.identity import Difference, Identity, Meeting, Rule, differences
from firmware_py.sessions.session_record import SessionHeader, SessionRecordError
from firmware_py.terms.calibration_states import OVERDUE, UNCALIBRATED
from firmware_py.terms.outcomes import UNFINISHED, Bound
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import LEFT, RIGHT, Route
from firmware_py.terms.settings import FIFTY_PERCENT
from firmware_py.terms.shown_threshold import threshold_as_json
from host_tools.commands.sessions.change import Change, EarPosterior, bounds_between, change_between
from host_tools.commands.sessions.choice import Placed, contradictions
from host_tools.errors import HostError
from host_tools.recordings.answers import ANSWERS, Answers
from host_tools.recordings.entry import Entry
from host_tools.recordings.index import Watch

if TYPE_CHECKING:  # a replay brings Numba with it; what the index has needs none
    from host_tools.recordings.recorded_session import RecordedSession

LETTERS_MARKS_NUMBERS: Final = "LMN"  # the first letters of their categories
EARS: Final = (RIGHT, LEFT)  # as they stand on paper
NOBODY: Final = Identity()
MAY_BE_UNKNOWN: Final = ("device", "board")  # and still be compared
# Where one of these was another, levels were made by another calibration.
OTHER_CALIBRATION: Final = {"board", "calibration", "earphones"}

VISIT: Final = "visit"  # the kind of what a replay finds


@dataclass(frozen=True)
class Visit:
    """One session of a person."""

    entry: Entry
    sex: str | None
    age_years: float | None
    ears: dict[str, EarResult]  # by ear; of an unfinished session none
    posteriors: dict[str, EarPosterior]  # of the ears that can be compared
    at: float = 0.0  # its place in time, seconds since 1970
    identity: Identity = NOBODY
    convention: str = FIFTY_PERCENT  # that its settings ask for; posteriors are of 50 % points
    uncertainty: Uncertainty = NOMINAL  # beside the answers
    shared_device: bool = False  # its serial number is that of several devices, it seems

    @classmethod
    def of(cls, entry: Entry, found: Mapping[str, Any], at: float = 0.0) -> "Visit":
        """Make it of what a replay found of the session, as `found_of` has it."""
        ears: dict[str, EarResult] = {}
        if found["result"] is not None:
            result = SessionResult.from_record(found["result"])
            ears = {str(route): ear for route, ear in result.by_route.items()}
        return cls(
            entry,
            found["sex"],
            found["age_years"],
            ears,
            {ear: EarPosterior.from_record(each) for ear, each in found["posteriors"].items()},
            at,
            Identity(**found["identity"]),
            found["convention"],
            Uncertainty(**found["uncertainty"]),
        )

    @property
    def nominal(self) -> bool:
        """Return whether there was no calibration: levels are no dB HL."""
        return self.entry.calibration == UNCALIBRATED

    def is_ordered_with(self, other: "Visit") -> bool:
        """Return whether it is known which was before: by their numbers, or by clocks."""
        device = self.entry.device
        if device and device == other.entry.device and not self.shared_device:
            return True
        return all(was_clock_set(each.entry.started) for each in (self, other))

    def in_convention(self, convention: str) -> "Visit":
        """Return it, read as 50 % points, with thresholds in a convention."""
        ears = {ear: ear_in_convention(found, convention) for ear, found in self.ears.items()}
        return replace(self, ears=ears, convention=convention)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values; what was inferred is no threshold there, either."""
        ears = {
            ear: [self._threshold_as_json(found.route, each) for each in found.thresholds]
            for ear, found in self.ears.items()
        }
        means = {ear: found.pta4 for ear, found in self.ears.items()}
        pta4 = {
            f"pta4_{ear}_db_hl": None if mean is None else mean.level_db_hl
            for ear, mean in means.items()
        }
        return {
            **asdict(self.entry),
            **pta4,
            "clock_was_set": was_clock_set(self.entry.started),
            "sex": self.sex,
            "age_years": self.age_years,
            "level_unit": NOMINAL_UNIT if self.nominal else DB_HL,
            "ears": ears,
        }

    def _threshold_as_json(self, route: Route, found: ThresholdResult) -> dict[str, Any]:
        told = threshold_as_json(found)
        told["reading"] |= whole_as_json(self.uncertainty.of(route, found))
        return told

    def identity_of(self, ear: str) -> Identity:
        boards = self.ears[ear].boards
        board = boards[0] if len(boards) == 1 else None
        kind = board.partition(" ")[0] if board else None
        vibrator = self.identity.vibrator if self.ears[ear].route.by_bone else None
        return replace(self.identity, board=board, board_kind=kind, vibrator=vibrator)


@dataclass(frozen=True)
class Comparison:
    """The first and the last time that an ear was measured."""

    ear: str
    first: Visit
    last: Visit
    change: Change

    @property
    def differs(self) -> list[Difference]:
        """Return what was not the same both times, and leaves them comparable."""
        return differences_between(self.first, self.last, self.ear)

    @property
    def unknown(self) -> list[str]:
        """Return which fields are not known of both, and may have differed."""
        pair = [visit.identity_of(self.ear) for visit in (self.first, self.last)]
        return [name for name in MAY_BE_UNKNOWN if None in (getattr(one, name) for one in pair)]

    @property
    def bounds(self) -> dict[int, Bound | None]:
        """Return what each shift is of its number, by frequency; None: nothing follows from it."""
        return bounds_between(*(each.posteriors[self.ear] for each in (self.first, self.last)))

    @property
    def overdue(self) -> bool:
        return OVERDUE in (self.first.entry.calibration, self.last.entry.calibration)


@dataclass(frozen=True)
class Person:
    """All sessions with one identifier, the earliest first; "": those that have none."""

    identifier: str
    visits: tuple[Visit, ...]
    alike: tuple[str, ...] = ()  # other identifiers that perhaps are theirs, too
    convention: str = FIFTY_PERCENT  # of all thresholds and means
    # Sessions that rules by name take as baselines; none: the first; None: no rule is asked.
    baselines: tuple[str, ...] | None = None

    @property
    def contradictions(self) -> list[tuple[Entry, Entry]]:
        """Return where dates and numbers of sessions contradict one another."""
        return contradictions(visit.entry for visit in self.visits)

    @property
    def asked(self) -> list[Difference]:
        """Return in what the sessions cannot be of one person, by field."""
        found: dict[str, Difference] = {}
        if not self.identifier:
            return []
        for one, other in combinations(self.visits, 2):
            for each in differences(Meeting.VISITS, one.identity, other.identity):
                if each.rule == Rule.ASKED:
                    found.setdefault(each.field, each)
        return [*found.values()]

    def visits_by(self, nominal: bool) -> list[Visit]:
        """Return the sessions that found something, in one unit."""
        return [visit for visit in self.visits if visit.nominal == nominal and visit.ears]

    @property
    def uncalibrated(self) -> bool:
        return any(visit.nominal for visit in self.visits)

    def comparison(self, ear: str) -> Comparison | None:
        """Compare the last measurement of an ear with the first that may be; None: there is none.

        What was measured without a calibration is compared with nothing: its levels are nominal.
        Nor is anything compared of those that may be several people.
        """
        measured = self.measured_visits(ear)
        if not self.identifier or not measured or self.asked:
            return None
        *others, last = measured
        first = next((each for each in others if may_be_compared(each, last, ear)), None)
        if first is None:
            return None
        apart_db2 = apart_db2_between(first, last, ear)
        change = change_between(first.posteriors[ear], last.posteriors[ear], apart_db2)
        return None if change is None else Comparison(ear, first, last, change)

    def refusals(self) -> list[tuple[str, Visit, Visit, Difference]]:
        """Return which sessions are not compared with the last one of an ear, and why."""
        return [
            (ear, each, measured[-1], refused[0])
            for ear in EARS
            if (measured := self.measured_visits(ear))
            for each in measured[:-1]
            if (refused := refusals_between(each, measured[-1], ear))
        ]

    def unordered(self) -> list[tuple[str, Visit, Visit]]:
        """Return which sessions are not compared with the last one, for none is known as later."""
        return [
            (ear, each, measured[-1])
            for ear in EARS
            if (measured := self.measured_visits(ear))
            for each in measured[:-1]
            if not each.is_ordered_with(measured[-1])
        ]

    def measured_visits(self, ear: str) -> list[Visit]:
        return [visit for visit in self.visits if ear in visit.posteriors and not visit.nominal]

    def comparisons(self) -> list[Comparison]:
        found = (self.comparison(ear) for ear in EARS)
        return [each for each in found if each is not None]

    def as_json(self, comparisons: Sequence[Comparison]) -> dict[str, Any]:
        """Return all as JSON values; what was inferred is no threshold there, either."""
        return {
            "identifier": self.identifier,
            "alike": [*self.alike],
            "asked": [each.reason.to_record() for each in self.asked],
            "contradictions": [
                {"first": first.name, "last": last.name} for first, last in self.contradictions
            ],
            "refused": [
                {
                    "ear": ear,
                    "first": first.entry.name,
                    "last": last.entry.name,
                    "why": why.reason.to_record(),
                }
                for ear, first, last, why in self.refusals()
            ],
            "unordered": [
                {"ear": ear, "first": first.entry.name, "last": last.entry.name}
                for ear, first, last in self.unordered()
            ],
            "threshold_convention": self.convention,
            "sessions": [visit.as_json() for visit in self.visits],
            "changes": [
                {
                    "ear": each.ear,
                    "first": each.first.entry.name,
                    "last": each.last.entry.name,
                    "changed": each.change.changed,
                    "differs": [difference.reason.to_record() for difference in each.differs],
                    "unknown": each.unknown,
                    **asdict(each.change),
                }
                for each in comparisons
            ],
        }


def differences_between(one: Visit, other: Visit, ear: str) -> list[Difference]:
    return differences(Meeting.VISITS, one.identity_of(ear), other.identity_of(ear))


def apart_db2_between(one: Visit, other: Visit, ear: str) -> Callable[[float], float]:
    """Return, by frequency, the variance of another calibration: what was the same cancels."""
    if OTHER_CALIBRATION.isdisjoint(each.field for each in differences_between(one, other, ear)):
        return lambda _: 0.0
    route, known = other.ears[ear].route, (one.uncertainty, other.uncertainty)
    return lambda f: sum(each.beside(route, f)[Part.CALIBRATION] ** 2 for each in known)


def may_be_compared(first: Visit, last: Visit, ear: str) -> bool:
    return first.is_ordered_with(last) and not refusals_between(first, last, ear)


def refusals_between(one: Visit, other: Visit, ear: str) -> list[Difference]:
    return [each for each in differences_between(one, other, ear) if each.rule == Rule.REFUSED]


def people_of(
    placed: Iterable[Placed],
    find: Callable[[Entry], Mapping[str, Any]],
    watch: Watch,
    left_out: list[str],
    convention: str | None = None,
    shared_devices: Container[str] = (),
) -> Iterator[Person]:
    """Yield the people of sessions, by identifier, those without one the last; one at a time.

    `find` tells what a replay of a session found, or why, a `HostError`, that is nothing, which is
    added to `left_out`; `watch` wraps the sessions. Thresholds are in a convention; None: that of
    the settings of a person's last session. Under a serial number of `shared_devices` there are
    several devices.
    """
    by_identifier: dict[str, list[Placed]] = {}
    for each in placed:
        by_identifier.setdefault(each[0].identifier, []).append(each)
    names = sorted(by_identifier, key=lambda name: (name == "", name))
    ordered = [each for name in names for each in by_identifier[name]]
    watched = watch(ordered, len(ordered), "reading")
    for name, of_one in groupby(watched, lambda each: each[0].identifier):
        visits = []
        for entry, at in of_one:
            try:
                visit = Visit.of(entry, find(entry), at)
            except HostError as error:
                left_out.append(str(error))
            else:
                visits.append(replace(visit, shared_device=entry.device in shared_devices))
        if visits:
            yield _person(name, visits, names, convention)


def _person(
    name: str, visits: Sequence[Visit], names: Iterable[str], convention: str | None
) -> Person:
    convention = convention or visits[-1].convention
    told = tuple(visit.in_convention(convention) for visit in visits)
    return Person(name, told, alike_of(name, names), convention)


def alike_of(identifier: str, identifiers: Iterable[str]) -> tuple[str, ...]:
    """Return the others that differ by capitals, by blanks or what stands for these, or by forms.

    Forms of letters are what NFKC makes the same: full-width ones, or two in one sign.
    """
    folded = _fold(identifier)
    others = (each for each in identifiers if each != identifier)
    return tuple(each for each in others if folded and _fold(each) == folded)


def _fold(identifier: str) -> str:
    plain = normalize("NFKC", normalize("NFKC", identifier).casefold())
    return "".join(each for each in plain if category(each)[0] in LETTERS_MARKS_NUMBERS)


def findings_of(entry: Entry) -> dict[str, Any]:
    """Return what a replay of a session finds, by kind; `HostError` if it says something else."""
    from host_tools.recordings.recorded_session import ReplayedSession, read_true_session

    path = Path(entry.path)
    if entry.outcome != UNFINISHED:
        session = read_true_session(path)
        answers = {}
        if isinstance(session, ReplayedSession):  # so that an export of them has it, too
            answers = {ANSWERS: Answers.of(session).to_record()}
        return {VISIT: found_of(entry, session)} | answers
    try:
        header = read_ends(path).header
    except (OSError, LineError, SessionRecordError) as error:  # changed since it was listed
        raise HostError(f"{path}: {error}") from None
    return {VISIT: _told_by(entry, header)}


def found_of(entry: Entry, session: "RecordedSession") -> dict[str, Any]:
    """Return what a session found, as JSON values: of what can be compared, the posteriors."""
    result = session.result
    posteriors = {
        str(route): EarPosterior.of(found, session.thresholds_of(found))
        for route, found in result.by_route.items()
    }
    return _told_by(entry, session.header) | {
        "result": result.to_record(),
        "posteriors": {ear: each.to_record() for ear, each in posteriors.items() if each},
        "uncertainty": asdict(session.calibration.uncertainty(result)),
    }


def _told_by(entry: Entry, header: SessionHeader) -> dict[str, Any]:
    identity = header.identity()
    if not was_clock_set(entry.started):  # the year of birth is made from the date
        identity = replace(identity, born_year=None)
    return {
        "sex": header.person.sex,
        "age_years": header.person.age_years,
        "result": None,
        "posteriors": {},
        "identity": asdict(identity),
        "convention": header.settings.threshold_convention,
        "uncertainty": asdict(NOMINAL),
    }
