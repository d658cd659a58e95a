"""The console's commands for an update of a card: it comes in pieces, and its system installs it.

Whether the bundle is genuine the system finds out, not the firmware; see `device/card/README.md`.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from firmware_py.console.arguments import Argument, Choice, Number, Word
from firmware_py.console.command_row import Command, Pin, When
from firmware_py.console.console import Left
from firmware_py.console.grammar import (
    ILLEGAL_PARAMETER,
    MASS_STORAGE,
    SETTINGS_CONFLICT,
    ConsoleError,
)
from firmware_py.installation.card_system import PART, CardSystem
from firmware_py.journal.disk import open_or_create, write_all
from firmware_py.platform import room_on_disk
from firmware_py.platform.data_directory import DataDirectory, DataDirectoryError

BUNDLE_BYTES_MAX: Final = 200_000_000
PIECE_BYTES_MAX: Final = 129  # of a line, with the longest offset
SYNCED_BYTES: Final = 65536  # so much is written to the disk at once
SHA256: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)


class UpdateDesk:
    """Receives a bundle; what has come outlives the power, and is gone on with."""

    def __init__(
        self, system: CardSystem, data: DataDirectory, free_bytes: Callable[[], int]
    ) -> None:
        self._system = system
        self._data = data
        self._disk = data.disk
        self._free_bytes = free_bytes
        self._size = 0
        self._sha256 = ""

    @property
    def _part(self) -> Path:
        return self._data.path / f"{PART}-{self._sha256[:16]}"

    def begin(self, size: int, sha256: str) -> None:
        """Expect a bundle; one that was begun before is gone on with."""
        self._refuse_while_none_is_taken()
        if not SHA256.fullmatch(sha256):
            words = f"sha256 is {sha256!r}; allowed are 64 characters 0 to 9 and a to f"
            raise ConsoleError(ILLEGAL_PARAMETER, words)
        self._size, self._sha256 = size, sha256
        missing = size - self._surely_written()
        with _tell_failures():
            free = max(0, self._free_bytes() - room_on_disk.LEFT_BY_UPDATE_BYTES)
        if missing > free:
            self._size = 0
            words = f"the update needs {missing} bytes; {free} are free"
            raise ConsoleError(MASS_STORAGE, f"{words} beside the room for recordings")
        with _tell_failures():
            for name in self._disk.names(self._data.path):
                path = self._data.path / name
                if name.startswith(f"{PART}-") and not self._is_gone_on_with(path):
                    self._disk.remove(path)
            with self._open_part() as handle:
                self._disk.truncate(handle, self._surely_written())

    def take(self, offset: int, piece: str) -> None:
        self._refuse_without_begin()
        try:
            data = base64.b64decode(piece, validate=True)
        except binascii.Error:
            raise ConsoleError(ILLEGAL_PARAMETER, f"piece is {piece!r}, no base64") from None
        come = self._come()
        if offset != come or come + len(data) > self._size:
            words = f"offset is {offset}, with {len(data)} bytes; allowed is {come}"
            raise ConsoleError(SETTINGS_CONFLICT, f"{words}, up to {self._size}")
        with _tell_failures(), self._open_part() as handle:
            write_all(self._disk, handle, data)
            if (come + len(data)) // SYNCED_BYTES > come // SYNCED_BYTES:
                self._disk.fsync(handle)

    def end(self, older: bool | None = None) -> None:
        """Hand a whole bundle over; the device is started again when it is installed."""
        self._refuse_without_begin()
        come = self._come()
        if come != self._size:
            words = f"{come} of {self._size} bytes have come"
            raise ConsoleError(SETTINGS_CONFLICT, words)
        with _tell_failures():
            sha256 = self._digest()
            if sha256 != self._sha256:
                self._disk.remove(self._part)
                words = f"what came has the SHA-256 {sha256}, not {self._sha256}; it is thrown away"
                raise ConsoleError(ILLEGAL_PARAMETER, words)
            self._system.hand_over(self._part.name, older=bool(older))
        self._size = 0

    def operator_left(self, _: Left) -> None:
        """Expect no more pieces; what has come is kept, and gone on with at the next `begin`."""
        self._size = 0

    def state(self) -> str:
        if self._system.updating:
            return "installing"
        if self._size:
            return f"receiving,{self._come()},{self._size}"
        if self._system.on_trial:
            return "trial"
        return f"none,{self._system.update_words()}".rstrip(",")

    def _refuse_while_none_is_taken(self) -> None:
        if self._system.updating:
            name, *_ = self._system.under_way.value
            raise ConsoleError(SETTINGS_CONFLICT, f"an {name} is being installed")
        if self._system.on_trial:
            words = "this system is on trial, and the one before it is kept until it is good"
            raise ConsoleError(SETTINGS_CONFLICT, f"{words}; it needs the tone generator for that")

    def _refuse_without_begin(self) -> None:
        self._refuse_while_none_is_taken()
        if not self._size:
            raise ConsoleError(SETTINGS_CONFLICT, "no update was begun: SYST:UPD:BEG begins one")

    def _surely_written(self) -> int:
        """Return how much of what came is on the disk for sure.

        A power cut may leave zeros where a file was growing, up to what was synced last.
        """
        return max(0, self._come() // SYNCED_BYTES - 1) * SYNCED_BYTES

    def _is_gone_on_with(self, path: Path) -> bool:
        is_file = path == self._part and self._disk.is_file(path)
        return is_file and not self._disk.has_other_names(path)

    def _come(self) -> int:
        try:
            handle = self._disk.open(self._part, writable=True)
        except OSError:  # it is not there, or is something else
            return 0
        try:
            return self._disk.size(handle)
        finally:
            self._disk.close(handle)

    def _digest(self) -> str:
        """Return the SHA-256 of what has come, once it is on the disk."""
        import hashlib  # 4 MB that a device without an update does not need

        digest, offset = hashlib.sha256(), 0
        with self._open_part() as handle:
            self._disk.fsync(handle)
            while part := self._disk.read(handle, offset, SYNCED_BYTES):
                digest.update(part)
                offset += len(part)
        return digest.hexdigest()

    @contextmanager
    def _open_part(self) -> Iterator[int]:
        handle = open_or_create(self._disk, self._part)
        try:
            yield handle
        finally:
            self._disk.close(handle)


@contextmanager
def _tell_failures() -> Iterator[None]:
    try:
        yield
    except (OSError, DataDirectoryError) as error:
        raise ConsoleError(MASS_STORAGE, f"the update cannot be kept: {error}") from None


ALWAYS: Final = Pin(always=True)
COMMANDS: Final = (
    Command(
        "SYSTem:UPDate:BEGin", UpdateDesk.begin, "begin to send an update, or go on with it",
        (Argument("size", Number("BYTES", "bytes", (1, BUNDLE_BYTES_MAX), whole=True)),
         Argument("sha256", Word("SHA256"))),
        when=When.NOT_IN_TEST, pin=ALWAYS,
    ),
    Command(
        "SYSTem:UPDate:DATA", UpdateDesk.take, "the next piece of it",
        (Argument("offset", Number("OFFSET", "bytes", (0, BUNDLE_BYTES_MAX), whole=True)),
         Argument("piece", Word("BASE64"))),
        when=When.NOT_IN_TEST, pin=ALWAYS,
    ),
    Command(
        "SYSTem:UPDate:END", UpdateDesk.end, "install it, and start again with it",
        (Argument("age", Choice({"NEWER": False, "OLDER": True}), optional=True),),
        when=When.NOT_IN_TEST, pin=ALWAYS,
    ),
    Command(
        "SYSTem:UPDate?", UpdateDesk.state,
        "none (and how it went), receiving,OFFSET,SIZE, installing or trial",
    ),
)  # fmt: skip
