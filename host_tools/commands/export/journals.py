"""Which of many journals are exported: what can be, and each is read when its turn has come."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from firmware_py.journal import JournalError
from firmware_py.sessions.session_record import SessionHeader, SessionRecordError
from firmware_py.terms.printable import printable
from firmware_py.terms.route import BY_AIR, ROUTES, Route
from host_tools.commands.export.document_session import DocumentSession, Sessions
from host_tools.commands.export.examination import read_examination
from host_tools.commands.export.saved import ENDING, check_wanted, read_document, where_in
from host_tools.errors import LEFT_OUT, HostError
from host_tools.files import digest_of
from host_tools.recordings.answers import ANSWERS, Answers, findings_of
from host_tools.recordings.doubles import About, without_doubles
from host_tools.recordings.index import Index
from host_tools.recordings.look import ends_of
from host_tools.terminal import show_progress


@dataclass(frozen=True)
class Noted:
    """What is kept of a session until its turn has come."""

    path: Path
    place: int | None  # in a document; None: it is a journal
    about: About
    routes: frozenset[Route]  # that were tested

    @property
    def where(self) -> str:
        return str(self.path) if self.place is None else where_in(self.path, self.place)

    def is_of(self, session: DocumentSession) -> bool:
        """Tell whether this is the session that was noted; its journal may have grown."""
        now = _beginning(session), session.routes
        return now == (self.about.beginning, self.routes)


class Journals:
    """The journals and documents (.json) that somebody wants exported, without what cannot be.

    The ends of all are looked at first, which is quick. What the others depend on is read whole
    then, too: which of two is left out for the other, and which routes a table has columns of. An
    index is given where answers are wanted: it knows what a replay found, or has it found.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        unfinished: bool,
        convention: str | None,
        replayed: Index | None = None,
    ) -> None:
        self.left_out: list[HostError] = []  # why each was, so far
        self.count = len(paths)
        self.written = 0  # of them, so far
        self._unfinished, self._convention, self._replayed = unfinished, convention, replayed
        self._read_document = lru_cache(maxsize=1)(read_document)  # for its other sessions
        looked = show_progress(paths, len(paths), "reading")
        found = self._as_in_journals([noted for path in looked for noted in self._look_at(path)])
        self.doubles = without_doubles([*self._sure(found)], lambda noted: noted.about)

    def order_by(self, key: Callable[[About], Any]) -> None:
        """Have the sessions come in another order; those of one key as they came before."""
        self.doubles.kept.sort(key=lambda noted: key(noted.about))

    @property
    def exit_code(self) -> int:
        """Return what the command ends with: `LEFT_OUT` if a session is nowhere in the export."""
        return LEFT_OUT if self.left_out else 0

    @property
    def sessions(self) -> Sessions:
        """Return the sessions; each is read when it is asked for, and no more when it is left."""
        routes = {route for noted in self.doubles.kept for route in noted.routes}
        return Sessions(self._each(), routes)

    def _each(self) -> Iterator[DocumentSession]:
        kept = self.doubles.kept
        for noted in show_progress(kept, len(kept), "exporting"):
            session = self._read(noted)
            if session is not None:
                self.written += 1
                yield session

    def _look_at(self, path: Path) -> Iterator[Noted]:
        try:
            if path.suffix == ENDING:
                if self._replayed is not None:
                    raise HostError(f"{path}: no document of sessions has answers: journals do")
                places = range(len(self._read_document(path)))
            else:
                header, about = self._quickly(path) or self._whole(path)
                yield Noted(path, None, about, _routes_of(header))
                return
        except HostError as error:
            self.left_out.append(error)
            return
        for place in places:
            try:
                session = self._in_document(path, place)
            except HostError as error:
                self.left_out.append(error)
                continue
            about = About(
                printable(where_in(path, place)),
                session.digest,
                *_beginning(session),
                session.is_finished,
            )
            yield Noted(path, place, about, session.routes)

    def _in_document(self, path: Path, place: int) -> DocumentSession:
        """Return a session of a document that is to be exported; `HostError` if it is not."""
        sessions = self._read_document(path)
        if place >= len(sessions):
            raise HostError(f"{where_in(path, place)}: it is gone")
        session = sessions[place]
        if isinstance(session, HostError):
            raise session
        check_wanted(session, where_in(path, place), self._unfinished, self._convention)
        return session

    def _as_in_journals(self, found: Sequence[Noted]) -> list[Noted]:
        """Give those of a document the content of the journal that says the same."""
        saved = {noted.about.beginning for noted in found if noted.place is not None}
        contents = {}
        for noted in found:
            if noted.place is None and noted.about.beginning in saved:
                try:
                    contents[self._session(noted).digest] = noted.about.content
                except HostError:  # which is told when its turn has come
                    continue
        return [
            noted
            if noted.place is None
            else replace(noted, about=replace(noted.about, content=contents.get(digest, digest)))
            for noted, digest in ((noted, noted.about.content) for noted in found)
        ]

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
        return header, About(printable(str(path)), content, *known, finished, str(path))

    def _whole(self, path: Path) -> tuple[SessionHeader, About]:
        examination = read_examination(path, self._unfinished, self._convention)
        return examination.header, replace(examination.about, path=str(path))

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

    def _read(self, noted: Noted) -> DocumentSession | None:
        """Read a session whole; if it cannot be written, note why."""
        try:
            session = self._session(noted)
            if noted.is_of(session):
                return session
            raise HostError(f"{noted.where}: became another session while it was exported")
        except HostError as error:
            self.left_out.append(error)
            return None

    def _session(self, noted: Noted) -> DocumentSession:
        if noted.place is not None:
            return self._in_document(noted.path, noted.place)
        examination = read_examination(noted.path, self._unfinished, self._convention)
        session = examination.in_document()
        if self._replayed is None:
            return session
        content = examination.content
        told = self._replayed.found(noted.path, content, ANSWERS, findings_of)
        return replace(session, answers=Answers.from_record(told), content=content)


def _beginning(session: DocumentSession) -> tuple[str, int, str]:
    record = session.record
    return record["device"] or "", record["session"], record["started"]


def _routes_of(header: SessionHeader) -> frozenset[Route]:
    return frozenset(header.settings.tested_routes)
