"""The system of a card that the firmware runs on: what it tells the firmware, and is told.

It has a directory for this. The system writes there, in lines of UTF-8, which of its two slots it
was started from (`slot`), what it found wrong (`faults`) and how an update went (`update`); `trial`
is there while nobody knows whether it is a good system, and `updates` is what it has of them. The
firmware writes `told/well` when it is, and `told/take` when what a stick offers may be installed.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware_py.board.pi_models import machine
from firmware_py.board.self_check import Part
from firmware_py.console.command_row import UnderWay
from firmware_py.platform.data_directory import DataDirectory

FILE_BYTES_MAX: Final = 8192
# What of the self-test can be the fault of a system.
OF_THE_SYSTEM: Final = ("wire", "board", "disk")
# Updates in the data directory, which is the firmware's: coming, and handed over to the system.
# Whether it may be older than the system is in the name of the file itself: it cannot stay behind
# without it, or be said of another one.
PART: Final = "update.part"
HANDED_OVER: Final = ("update.raucb", "update-older.raucb")
# Those in the system's own directory, where the firmware only reads: on offer from a stick, while a
# test may be under way; being installed.
UPDATES: Final = "updates"
OFFERED: Final = "offered*.raucb"
BEGUN: Final = "bundle*.raucb"
OF_STICK: Final = "bundle-stick"
TAKE: Final = "told/take"


class CardSystem:
    """The system of a card; `place`: its directory; None: the firmware runs on no card."""

    def __init__(self, place: Path | None, data: DataDirectory) -> None:
        self.place = place
        self._data = data
        self.slot = " ".join(self._lines("slot"))
        self.words = f"{machine().words},{self.slot}" if place else ""
        self.on_trial = self._is_on_trial()
        self.is_to_be_judged = self.on_trial
        self._told_bytes = 0  # of `faults`
        self._is_from_stick = False  # what is being installed
        self.updating = self._is_updating()

    def look(self, *, idle: bool) -> list[str]:
        """Look at what the system has told since; let it have an update if nothing is under way.

        Returns the new lines on what is wrong.
        """
        if self.place is None:
            return []
        self.on_trial = self._is_on_trial()
        self.updating = self._is_updating()
        # On trial the other slot has the system to go back to.
        if idle and not self.updating and not self.on_trial and self._has(OFFERED):
            with suppress(OSError):  # the next look tries it again
                (self.place / TAKE).touch()
            self.updating = self._is_updating()
        return self._new_faults()

    def update_words(self) -> str:
        """Return how the last update since the start went; empty: there was none."""
        return " ".join(self._lines("update"))

    def hand_over(self, name: str, *, older: bool = False) -> None:
        """Have the system install a bundle of the data directory, and forget what was on offer.

        `older`: it may be older than the system. An `OSError` if the disk fails.
        """
        path = self._data.path
        self._data.disk.rename(path / name, path / HANDED_OVER[older])
        self._data.disk.fsync_directory(path)
        self.updating = self._is_updating()

    @property
    def under_way(self) -> UnderWay:
        """Return which update is being installed."""
        if not self.updating:
            return UnderWay.NOTHING
        return UnderWay.STICK if self._is_from_stick else UnderWay.UPDATE

    def judge(self, parts: Iterable[Part], wrong: Iterable[str]) -> str:
        """Find out whether a system on trial is good, and tell it so; return why it is not, or "".

        `parts`: of the self-test; `wrong`: with the newest recording, which was computed anew.
        """
        if not self.is_to_be_judged or self.place is None:
            return ""
        bad = [f"{p.name}: {p.words}" for p in parts if p.name in OF_THE_SYSTEM and not p.works]
        if words := "; ".join((*bad, *wrong)):
            return f"this system, {self.slot}, does not pass its trial: {words}"
        with suppress(OSError):  # the next look tries it again
            (self.place / "told/well").touch()
            self.is_to_be_judged = False
        return ""

    def _is_updating(self) -> bool:
        if self.place is None:
            return False
        # Lexically: whatever has the name is the system's to look at.
        handed_over = any(os.path.lexists(self._data.path / name) for name in HANDED_OVER)
        self._is_from_stick = not handed_over and (
            os.path.lexists(self.place / TAKE) or self._has(f"{OF_STICK}*")
        )
        return handed_over or self._is_from_stick or self._has(BEGUN)

    def _has(self, pattern: str) -> bool:
        assert self.place is not None
        return any(True for _ in (self.place / UPDATES).glob(pattern))

    def _is_on_trial(self) -> bool:
        return self.place is not None and (self.place / "trial").exists()

    def _new_faults(self) -> list[str]:
        content = self._read("faults", self._told_bytes)
        whole = content.rfind(b"\n") + 1  # a line that is being written is not told yet
        if whole or len(content) < FILE_BYTES_MAX:
            content = content[:whole]
        self._told_bytes += len(content)
        return content.decode(errors="replace").splitlines()

    def _lines(self, name: str) -> list[str]:
        return self._read(name).decode(errors="replace").splitlines()

    def _read(self, name: str, offset: int = 0) -> bytes:
        if self.place is None:
            return b""
        try:
            with (self.place / name).open("rb") as file:
                file.seek(offset)
                return file.read(FILE_BYTES_MAX)
        except OSError:
            return b""
