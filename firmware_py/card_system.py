"""The system of a card that the firmware runs on: what it tells the firmware, and is told.

It has a directory for this. The system writes there, in lines of UTF-8, which of its two slots it
was started from (`slot`), what it found wrong (`faults`) and how an update went (`update`); `trial`
is there while nobody knows whether it is a good system. The firmware writes `told/well` when it is.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware_py.console.table import UnderWay
from firmware_py.journal import Disk
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.self_check import Part

FILE_BYTES_MAX: Final = 8192
# What of the self-test can be the fault of a system.
OF_THE_SYSTEM: Final = ("wire", "board", "disk")
# Updates, below the data directory: coming; on offer from a stick, while a test may be under way;
# handed over. Where it is from, and whether it may be older than the system, is in the name of the
# file itself: neither can stay behind without it, or be said of another one.
PLACE: Final = "update"
PART: Final = "bundle.part"
OFFERED: Final = "offered"
HANDED_OVER: Final = "bundle"
STICK: Final = "-stick"
OLDER: Final = "-older"
ENDING: Final = ".raucb"


class CardSystem:
    """The system of a card.

    Parameters
    ----------
    place : Path or None
        Its directory; None: the firmware runs on no card.
    data : DataDirectory
        Updates are handed over below it.
    """

    def __init__(self, place: Path | None, data: DataDirectory) -> None:
        self.place = place
        self.updates = data.path / PLACE
        self._disk: Disk = data.disk
        self.slot = " ".join(self._lines("slot"))
        self.on_trial = self._is_on_trial()
        self.is_to_be_judged = self.on_trial
        self._told = 0  # of the lines of `faults`
        self._is_from_stick = False  # what is being installed
        self.updating = self._is_updating()

    def look(self, *, idle: bool) -> list[str]:
        """Look at what the system has told since, and give it an update if nothing is under way.

        Returns the new lines on what is wrong.
        """
        if self.place is None:
            return []
        self.on_trial = self._is_on_trial()
        # On trial the other slot has the system to go back to.
        if idle and not self.on_trial and (offers := self._offers()):
            older = offers[0].stem.endswith(OLDER)
            with suppress(OSError):  # a disk that only reads is told of elsewhere
                self.hand_over(offers[0].name, origin=STICK, older=older)
        self.updating = self._is_updating()
        lines = self._lines("faults")
        new, self._told = lines[self._told :], len(lines)
        return new

    def update_words(self) -> str:
        """Return how the last update since the start went; empty: there was none."""
        return " ".join(self._lines("update"))

    def hand_over(self, name: str, *, origin: str = "", older: bool = False) -> None:
        """Have the system install a bundle, and forget what else was on offer.

        Parameters
        ----------
        name : str
            Of its file.
        origin : str
            `STICK`, or of the console.
        older : bool
            Whether it may be older than the system.

        Raises
        ------
        OSError
            If the disk fails.
        """
        handed_over = f"{HANDED_OVER}{origin}{OLDER * older}{ENDING}"
        self._disk.rename(self.updates / name, self.updates / handed_over)
        self.updating = self._is_updating()
        for offer in self._offers():
            offer.unlink(missing_ok=True)

    @property
    def under_way(self) -> UnderWay:
        """Return which update is being installed."""
        if not self.updating:
            return UnderWay.NOTHING
        return UnderWay.STICK if self._is_from_stick else UnderWay.UPDATE

    def judge(self, parts: Iterable[Part], wrong: Iterable[str]) -> str:
        """Find out whether a system on trial is good, and tell it so.

        Parameters
        ----------
        parts : iterable of Part
            Of the self-test.
        wrong : iterable of str
            With the newest recording, which was computed anew.

        Returns
        -------
        str
            Why it is not; empty if it is, or is not to be judged.
        """
        if not self.is_to_be_judged or self.place is None:
            return ""
        bad = [f"{p.name}: {p.words}" for p in parts if p.name in OF_THE_SYSTEM and not p.works]
        if words := "; ".join((*bad, *wrong)):
            return f"this system, {self.slot}, does not pass its trial: {words}"
        self.is_to_be_judged = False
        (self.place / "told/well").touch()
        return ""

    def _is_updating(self) -> bool:
        if self.place is None:
            return False
        names = [path.stem for path in self.updates.glob(f"{HANDED_OVER}*{ENDING}")]
        self._is_from_stick = any(name.startswith(HANDED_OVER + STICK) for name in names)
        return bool(names)

    def _offers(self) -> list[Path]:
        return sorted(self.updates.glob(f"{OFFERED}*{ENDING}"), reverse=True)

    def _is_on_trial(self) -> bool:
        return self.place is not None and (self.place / "trial").exists()

    def _lines(self, name: str) -> list[str]:
        if self.place is None:
            return []
        try:
            with (self.place / name).open("rb") as file:
                content = file.read(FILE_BYTES_MAX)
        except OSError:
            return []
        return content.decode(errors="replace").splitlines()
