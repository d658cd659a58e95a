"""Which of many journals are exported: what can be, and each is read when its turn has come."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from firmware_py.journal import JournalError
from firmware_py.procedure.printable import printable
from firmware_py.procedure.route import BY_AIR, ROUTES, Route
from firmware_py.sessions.session_record import SessionHeader, SessionRecordError
from host_tools.commands.export.examination import Examination, Examinations, read_examination
from host_tools.errors import HostError
from host_tools.files import digest_of
from host_tools.recordings.doubles import About, without_doubles
from host_tools.recordings.look import ends_of
from host_tools.terminal import show_progress


@dataclass(frozen=True)
class Noted:
    """What is kept of a journal until its turn has come."""

    path: Path
    about: About
    routes: frozenset[Route]  # that were tested

    def is_of(self, examination: Examination) -> bool:
        """Tell whether this is the session that was noted; its journal may have grown."""
        now = examination.about.beginning, _routes_of(examination.header)
        return now == (self.about.beginning, self.routes)


class Journals:
    """The journals that somebody wants exported, without those that cannot be.

    The ends of all are looked at first, which is quick. What the others depend on is read whole
    then, too: which of two is left out for the other, and which routes a table has columns of.

    Parameters
    ----------
    paths : sequence of Path
    unfinished : bool
        Take sessions that did not come to an end.
    convention : str or None
        Of thresholds; None: that of the settings of each.
    """

    def __init__(self, paths: Sequence[Path], unfinished: bool, convention: str | None) -> None:
        self.left_out: list[HostError] = []  # why each was, so far
        self.count = len(paths)
        self.written = 0  # of them, so far
        self._unfinished, self._convention = unfinished, convention
        looked = show_progress(paths, len(paths), "reading")
        found = [noted for path in looked if (noted := self._look_at(path))]
        self.doubles = without_doubles([*self._sure(found)], lambda noted: noted.about)

    @property
    def examinations(self) -> Examinations:
        """Return the sessions; each is read when it is asked for, and no more when it is left."""
        routes = {route for noted in self.doubles.kept for route in noted.routes}
        return Examinations(self._each(), routes)

    def _each(self) -> Iterator[Examination]:
        kept = self.doubles.kept
        for noted in show_progress(kept, len(kept), "exporting"):
            examination = self._read(noted)
            if examination is not None:
                self.written += 1
                yield examination

    def _look_at(self, path: Path) -> Noted | None:
        try:
            header, about = self._quickly(path) or self._whole(path)
        except HostError as error:
            self.left_out.append(error)
            return None
        return Noted(path, about, _routes_of(header))

    def _quickly(self, path: Path) -> tuple[SessionHeader, About] | None:
        """Return what a journal is known by; None: reading it whole says what is wrong with it."""
        try:
            ends, content = ends_of(path), digest_of(path)
        except (OSError, JournalError, SessionRecordError):
            return None
        header, finished = ends.header, ends.result is not None
        if not (finished or self._unfinished):
            return None
        known = (header.device, header.session, header.started)
        return header, About(printable(str(path)), content, *known, finished)

    def _whole(self, path: Path) -> tuple[SessionHeader, About]:
        examination = read_examination(path, self._unfinished, self._convention)
        return examination.header, examination.about

    def _sure(self, found: Iterable[Noted]) -> Iterator[Noted]:
        """Yield those that can be written, as far as others depend on it."""
        contents: dict[object, set[str]] = defaultdict(set)
        for noted in found:
            contents[noted.about.beginning].add(noted.about.content)
        routes = {route for route in ROUTES if route.kind is BY_AIR}
        for noted in found:
            has_rival = len(contents[noted.about.beginning]) > 1
            if not (has_rival or noted.routes - routes) or self._read(noted) is not None:
                routes |= noted.routes
                yield noted

    def _read(self, noted: Noted) -> Examination | None:
        """Read a session whole; if it cannot be written, note why."""
        path = noted.path
        try:
            examination = read_examination(path, self._unfinished, self._convention)
            if noted.is_of(examination):
                return examination
            raise HostError(f"{path}: became another session while it was exported")
        except HostError as error:
            self.left_out.append(error)
            return None


def _routes_of(header: SessionHeader) -> frozenset[Route]:
    return frozenset(header.settings.tested_routes)
