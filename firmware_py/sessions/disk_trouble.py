"""What the disk refuses of the sessions of one kind, and that it has too little room for them."""

from typing import Final

from firmware_py.journal import JournalError
from firmware_py.platform.data_directory import DataDirectory, DataDirectoryError, NoRoomError
from firmware_py.platform.room_on_disk import TO_END_BYTES
from firmware_py.procedure.reasons import Reasons
from firmware_py.procedure.words import say

AT_NEXT_START: Final = (
    "it goes on at the next start if it can be written then, unless another is begun before"
)


class DiskTrouble:
    """What goes wrong with the disk under the sessions of one kind.

    Attributes
    ----------
    failure : JournalError or None
        Why no more of the session under way can be recorded; None: it can.
    has_left : bool
        Whether the newest session was left unfinished, so that what happened last is not recorded.
    """

    def __init__(self, data: DataDirectory) -> None:
        self.failure: JournalError | None = None
        self.has_left = False
        self._data = data
        self._untold: list[str] = []

    def take_words(self) -> list[str]:
        """Return what was not told yet, in words."""
        words, self._untold = self._untold, []
        return words

    def why_to_end(self) -> Reasons:
        """Return why a session has to end while it can still be recorded; nothing: it may go on."""
        try:
            self._data.require_room(TO_END_BYTES)
        except NoRoomError as error:
            return (error.why,)
        except DataDirectoryError:
            return ()  # whether it can be written will show
        return ()

    def end(self, name: str, why: Reasons) -> None:
        """Take in that a session was ended for lack of room."""
        self._untold.append(f"{name} was ended, and its result is kept: {say(why)}")

    def leave(self, name: str, why: str) -> None:
        """Take in that a session is left on the disk as it is."""
        self.failure, self.has_left = None, True
        self._untold.append(f"{name} is left as it is: {why}; {AT_NEXT_START}")

    def begins_anew(self) -> None:
        """Take in that another session is under way."""
        self.failure, self.has_left = None, False
