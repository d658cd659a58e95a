"""Sessions by person: those of one identifier in their order, and what came of the ears between."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from firmware_py.archive import UNFINISHED
from firmware_py.calibration.in_force import OVERDUE, UNCALIBRATED
from firmware_py.procedure.results import EarResult
from firmware_py.procedure.settings import LEFT, RIGHT
from host_tools.commands.sessions.change import Change, EarPosterior, change_between
from host_tools.commands.sessions.entry import Entry
from host_tools.errors import NONSENSE, HostError
from host_tools.recorded import RecordedSession, read_true_session
from host_tools.thresholds import threshold_as_json

EARS: Final = (RIGHT, LEFT)  # as they stand on paper

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

    @classmethod
    def of(cls, entry: Entry, session: RecordedSession) -> "Visit":
        """Take a session."""
        ears = session.result.by_ear
        posteriors = {
            ear: EarPosterior.of(found, session.test.ears[ear]) for ear, found in ears.items()
        }
        return cls(
            entry,
            session.person.sex,
            session.person.age_years,
            ears,
            {ear: posterior for ear, posterior in posteriors.items() if posterior is not None},
        )


@dataclass(frozen=True)
class Comparison:
    """The first and the last time that an ear was measured."""

    ear: str
    first: Visit
    last: Visit
    change: Change

    @property
    def overdue(self) -> bool:
        """Return whether the calibration of one of them was overdue."""
        return OVERDUE in (self.first.entry.calibration, self.last.entry.calibration)


@dataclass(frozen=True)
class Person:
    """All sessions with one identifier, the earliest first; "": those that have none."""

    identifier: str
    visits: tuple[Visit, ...]

    @property
    def sexes(self) -> set[str]:
        """Return the sexes that were told; more than one is of more than one person."""
        return {visit.sex for visit in self.visits if visit.sex is not None}

    @property
    def uncalibrated(self) -> bool:
        """Return whether a session had no calibration."""
        return any(visit.entry.calibration == UNCALIBRATED for visit in self.visits)

    def comparison(self, ear: str) -> Comparison | None:
        """Compare the last measurement of an ear with the first; None: there are no two.

        What was measured without a calibration is compared with nothing: its levels are nominal.
        """
        measured = [
            visit
            for visit in self.visits
            if ear in visit.posteriors and visit.entry.calibration != UNCALIBRATED
        ]
        if not self.identifier or len(measured) < 2:
            return None
        first, last = measured[0], measured[-1]
        change = change_between(first.posteriors[ear], last.posteriors[ear])
        return None if change is None else Comparison(ear, first, last, change)

    def comparisons(self) -> list[Comparison]:
        """Return the comparisons of both ears, as far as there are any."""
        found = (self.comparison(ear) for ear in EARS)
        return [each for each in found if each is not None]

    def as_json(self, comparisons: Sequence[Comparison]) -> dict[str, Any]:
        """Return all as JSON values; what was inferred is no threshold there, either."""
        return {
            "identifier": self.identifier,
            "sessions": [_visit_as_json(visit) for visit in self.visits],
            "changes": [
                {
                    "ear": each.ear,
                    "first": each.first.entry.name,
                    "last": each.last.entry.name,
                    "changed": each.change.changed,
                    **asdict(each.change),
                }
                for each in comparisons
            ],
        }


def _visit_as_json(visit: Visit) -> dict[str, Any]:
    ears = {
        ear: [threshold_as_json(threshold) for threshold in found.thresholds]
        for ear, found in visit.ears.items()
    }
    return {**asdict(visit.entry), "sex": visit.sex, "age_years": visit.age_years, "ears": ears}


@dataclass(frozen=True)
class LeftOut:
    """A session that is of somebody, and cannot be read; why in words."""

    name: str
    why: str
    exit_code: int  # `NONSENSE`, or 0


def people_of(
    directory: Path, entries: Iterable[Entry], watch: Watch
) -> tuple[list[Person], list[LeftOut]]:
    """Read sessions, and return their people by identifier; those without one are the last.

    Parameters
    ----------
    directory : Path
    entries : iterable of Entry
        Those of broken journals are passed over: they tell of nobody.
    watch : callable
        Wraps the sessions, which have to be read from beginning to end.
    """
    good = sorted((e for e in entries if not e.broken), key=lambda e: (e.started, e.name))
    by_identifier: dict[str, list[Visit]] = {}
    left_out: list[LeftOut] = []
    for entry in watch(good, len(good), "reading"):
        try:
            visit = _read(directory, entry)
        except HostError as error:
            code = NONSENSE if error.exit_code == NONSENSE else 0
            left_out.append(LeftOut(entry.name, str(error), code))
        else:
            by_identifier.setdefault(entry.identifier, []).append(visit)
    names = sorted(by_identifier, key=lambda name: (name == "", name))
    return [Person(name, tuple(by_identifier[name])) for name in names], left_out


def _read(directory: Path, entry: Entry) -> Visit:
    if entry.outcome == UNFINISHED:
        return Visit(entry, None, None, {}, {})
    return Visit.of(entry, read_true_session(directory / entry.name))
