"""Sessions by person: those of one identifier in their order, and what came of the ears between."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final
from unicodedata import category, normalize

from firmware_py.calibration.in_force import DB_HL, NOMINAL_UNIT, OVERDUE, UNCALIBRATED
from firmware_py.findings.convention import ear_in_convention
from firmware_py.findings.result_json import whole_as_json
from firmware_py.findings.whole_band import NOMINAL, Part, Uncertainty
from firmware_py.journal.records import LineError
from firmware_py.sessions.archive import UNFINISHED, read_ends
from firmware_py.sessions.identity import Difference, Identity, Meeting, Rule, differences
from firmware_py.sessions.session_record import SessionHeader, SessionRecordError
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.results import EarResult, ThresholdResult
from firmware_py.terms.route import LEFT, RIGHT, Route
from firmware_py.terms.settings import FIFTY_PERCENT
from firmware_py.terms.shown_threshold import threshold_as_json
from host_tools.commands.sessions.change import Change, EarPosterior, bounds_between, change_between
from host_tools.commands.sessions.choice import clock_was_set, contradictions, in_order
from host_tools.commands.sessions.entry import TUNING, Entry
from host_tools.errors import HostError
from host_tools.recordings.doubles import without_doubles
from host_tools.recordings.recorded_session import RecordedSession, read_true_session

LETTERS_MARKS_NUMBERS: Final = "LMN"  # the first letters of their categories
EARS: Final = (RIGHT, LEFT)  # as they stand on paper
NOBODY: Final = Identity()
MAY_BE_UNKNOWN: Final = ("device", "board")  # and still be compared
# Where one of these was another, levels were made by another calibration.
OTHER_CALIBRATION: Final = {"board", "calibration", "earphones"}

# Wraps what takes long: the items, how many, and what they are.
Watch = Callable[[Iterable[Entry], int, str], Iterable[Entry]]


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

    @classmethod
    def of(cls, entry: Entry, session: RecordedSession, at: float = 0.0) -> "Visit":
        by_route = session.result.by_route
        ears = {str(route): found for route, found in by_route.items()}
        posteriors = {
            str(route): EarPosterior.of(found, session.thresholds_of(found))
            for route, found in by_route.items()
        }
        return cls(
            entry,
            session.person.sex,
            session.person.age_years,
            ears,
            {ear: posterior for ear, posterior in posteriors.items() if posterior is not None},
            at,
            _identity(entry, session.header),
            session.settings.threshold_convention,
            session.calibration.uncertainty(session.result),
        )

    @property
    def nominal(self) -> bool:
        """Return whether there was no calibration: levels are no dB HL."""
        return self.entry.calibration == UNCALIBRATED

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
            "clock_was_set": clock_was_set(self.entry),
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
        return _between(self.first, self.last, self.ear)

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
        measured = self._measured_visits(ear)
        if not self.identifier or not measured or self.asked:
            return None
        *others, last = measured
        first = next((each for each in others if not _refusals(each, last, ear)), None)
        if first is None:
            return None
        apart_db2 = _apart_db2(first, last, ear)
        change = change_between(first.posteriors[ear], last.posteriors[ear], apart_db2)
        return None if change is None else Comparison(ear, first, last, change)

    def refusals(self) -> list[tuple[str, Visit, Visit, Difference]]:
        """Return which sessions are not compared with the last one of an ear, and why."""
        return [
            (ear, each, measured[-1], refused[0])
            for ear in EARS
            if (measured := self._measured_visits(ear))
            for each in measured[:-1]
            if (refused := _refusals(each, measured[-1], ear))
        ]

    def _measured_visits(self, ear: str) -> list[Visit]:
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


def _between(one: Visit, other: Visit, ear: str) -> list[Difference]:
    return differences(Meeting.VISITS, one.identity_of(ear), other.identity_of(ear))


def _apart_db2(one: Visit, other: Visit, ear: str) -> Callable[[float], float]:
    """Return, by frequency, the variance of another calibration: what was the same cancels."""
    if OTHER_CALIBRATION.isdisjoint(each.field for each in _between(one, other, ear)):
        return lambda _: 0.0
    route, known = other.ears[ear].route, (one.uncertainty, other.uncertainty)
    return lambda f: sum(each.beside(route, f)[Part.CALIBRATION] ** 2 for each in known)


def _refusals(one: Visit, other: Visit, ear: str) -> list[Difference]:
    return [each for each in _between(one, other, ear) if each.rule == Rule.REFUSED]


@dataclass
class Aside:
    """What is to be said beside the people: of which sessions, and why."""

    copies: list[str]  # of sessions that count
    doubted: list[str]  # and count
    left_out: list[str]


def people_of(
    directory: Path, entries: Sequence[Entry], watch: Watch, convention: str | None = None
) -> tuple[list[Person], Aside]:
    """Read sessions, and return their people by identifier; those without one are the last.

    Broken journals are left out: they tell of nobody. `watch` wraps the sessions, which have to be
    read from beginning to end. Thresholds are in a convention; None: that of the settings of a
    person's last session.
    """
    good = without_doubles([e for e in entries if not e.broken], lambda entry: entry.about)
    by_identifier: dict[str, list[Visit]] = {}
    aside = Aside(
        [words for _, words in good.left_out], good.doubted, _words_of_broken(directory, entries)
    )
    placed = in_order(good.kept)
    at = {entry.name: when for entry, when in placed}
    for entry in watch([entry for entry, _ in placed], len(placed), "reading"):
        try:
            visit = _read(directory, entry, at[entry.name])
        except HostError as error:
            aside.left_out.append(str(error))
        else:
            by_identifier.setdefault(entry.identifier, []).append(visit)
    names = sorted(by_identifier, key=lambda name: (name == "", name))
    people = [_person(name, by_identifier[name], names, convention) for name in names]
    return people, aside


def _words_of_broken(directory: Path, entries: Iterable[Entry]) -> list[str]:
    broken = (entry for entry in entries if entry.broken and entry.outcome != TUNING)
    return [f"{directory / entry.name}: {entry.outcome}: {entry.words}" for entry in broken]


def _person(
    name: str, visits: Sequence[Visit], names: Iterable[str], convention: str | None
) -> Person:
    convention = convention or visits[-1].convention
    told = tuple(visit.in_convention(convention) for visit in visits)
    return Person(name, told, alike_of(name, names), convention)


def _identity(entry: Entry, header: SessionHeader) -> Identity:
    identity = header.identity()
    # The year of birth is made from the date.
    return identity if clock_was_set(entry) else replace(identity, born_year=None)


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


def _read(directory: Path, entry: Entry, at: float) -> Visit:
    if entry.outcome == UNFINISHED:
        try:
            header = read_ends(directory / entry.name).header
        except (OSError, LineError, SessionRecordError) as error:  # changed since it was listed
            raise HostError(f"{directory / entry.name}: {error}") from None
        person = header.person
        identity, convention = _identity(entry, header), header.settings.threshold_convention
        return Visit(entry, person.sex, person.age_years, {}, {}, at, identity, convention)
    return Visit.of(entry, read_true_session(directory / entry.name), at)
