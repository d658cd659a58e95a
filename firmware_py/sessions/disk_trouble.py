"""What the disk refuses of the sessions of one kind, and that it has too little room for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from firmware_py.journal import JournalError
from firmware_py.platform import room_on_disk
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory, DataDirectoryError
from firmware_py.sessions.newest_journal import Newest, Recorded, load_newest
from firmware_py.sessions.session_record import Header
from firmware_py.terms.reasons import Reasons
from firmware_py.terms.words import say

AT_NEXT_START: Final = (
    "it goes on at the next start if it can be written then, unless another is begun before"
)


class DiskTrouble:
    """What goes wrong with the disk under the sessions of one kind.

    `failure`: why no more of the session under way can be recorded. `has_left`: the newest session
    was left unfinished, so that what happened last is not recorded.
    """

    def __init__(self, data: DataDirectory) -> None:
        self.failure: JournalError | None = None
        self.has_left = False
        self._data = data
        self._untold: list[str] = []

    def load_newest(self, kind: type[Header[Any, Any]], clock: SteadyClock) -> Newest[Any, Any]:
        """Return what the newest journal holds; one that the disk lets not go on is left."""
        try:
            newest: Newest[Any, Any] = load_newest(self._data, kind, clock)
        except (DataDirectoryError, JournalError) as error:
            self.leave(f"the newest {kind.KIND}", str(error))
            return Newest([])
        if newest.session is not None and (why := self.why_to_end()):
            newest.session.close()
            self.leave(newest.session.journal.path.name, say(why))
            return Newest(newest.wrong, recorded=Recorded(newest.session.header, None))
        return newest

    def take_words(self) -> list[str]:
        words, self._untold = self._untold, []
        return words

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Take in why the disk refuses what is done here: the first time."""
        try:
            yield
        except JournalError as error:
            self.failure = self.failure or error

    def why_to_end(self) -> Reasons:
        """Return why a session has to end while it can still be recorded; nothing: it may go on."""
        return self._data.lacks_room(room_on_disk.TO_END_BYTES)

    def end(self, name: str, why: Reasons) -> None:
        """Take in why a session was ended, with its result on the disk; nothing: it was not."""
        if why:
            self._untold.append(f"{name} was ended, and its result is kept: {say(why)}")

    def leave(self, name: str, why: str) -> None:
        """Take in that a session is left on the disk as it is."""
        self.failure, self.has_left = None, True
        self._untold.append(f"{name} is left as it is: {why}; {AT_NEXT_START}")

    def begins_anew(self) -> None:
        self.failure, self.has_left = None, False
