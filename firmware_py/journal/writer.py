"""Writing a journal. When `sync` has returned, all records are on the disk."""

import io
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from firmware_py.journal.disk import Disk, write_all
from firmware_py.journal.errors import (
    JournalExistsError,
    JournalLockedError,
    JournalReadError,
    JournalRecordError,
    JournalWriteError,
    records_named,
    system_reason,
)
from firmware_py.journal.records import (
    FORMAT_VERSION,
    HEADER_KEYS,
    JOURNAL_BYTES_MAX,
    UNSYNCED_BYTES_MAX,
    encode_line,
)
from firmware_py.journal.recovered import Record, Recovered, is_recovery_note, recorder_of
from firmware_py.journal.recovery import cut_torn_end, missing_notes, read_from_disk, saved_cuts
from firmware_py.journal.seal import SealKey, first_broken, seal_of

CLOSED: Final = -1  # in the place of a handle


class JournalWriter:
    """The one writer of a journal, made by `create` or `resume`, for one thread.

    In a `with` statement it syncs and closes itself at the end.
    """

    def __init__(
        self,
        disk: Disk,
        handle: int,
        recovered: Recovered,
        seal_key: SealKey | None = None,
        seal: str = "",
    ) -> None:
        self._disk = disk
        self._handle = handle
        self._path = recovered.path
        self._record_count = self._synced_count = len(recovered.records)
        self._synced_bytes = recovered.good_bytes
        self._crc = recovered.crc
        self._seal_key = seal_key
        self._seal = seal
        self._ended = recovered.complete
        self._unsynced = bytearray()
        self._refusal = ""

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        header: Mapping[str, object],
        *,
        disk: Disk | None = None,
        seal_key: SealKey | None = None,
    ) -> Self:
        """Begin a journal; on return its header and its name are on the disk.

        The header has JSON values about the session, at most `HEADER_BYTES_MAX`; ``kind`` and
        ``journal`` (the format version) are added, and ``seal_key`` (its name) if there is one,
        with which every record is sealed. The file system is the machine's own by default.

        A `JournalRecordError` says that the header cannot be written, a `JournalExistsError` that
        the file, or a cut saved from a journal of the same name, is there already: no file was
        made. After a `JournalWriteError` it has been removed, if that was possible.
        """
        disk = disk or Disk()
        path = Path(path)
        record = _header_record(header, seal_key)
        encode_line(0, 0, record, "")  # refuse before there is a file
        handle = _create(disk, path)
        try:
            writer = cls(disk, handle, Recovered(path, (), 0, ""), seal_key)
            writer._append(record)
            writer.sync()
            disk.fsync_directory(path.parent)
        except BaseException as error:
            disk.close(handle)
            with suppress(OSError):  # a file that stays has a torn header, and readers say so
                disk.remove(path)
            if not isinstance(error, OSError):
                raise
            reason = f"its directory cannot be synced: {system_reason(error)}"
            raise JournalWriteError(path, reason) from error
        return writer

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        *,
        disk: Disk | None = None,
        seal_key: SealKey | None = None,
    ) -> tuple[Self, Recovered]:
        """Open a journal to go on with it; a torn end is saved, cut off and noted.

        With a key only what is sealed with it goes on; without one only what is not sealed. The
        writer writes behind the last good record. All records now in the journal, on the disk, the
        notes of this recovery included, are returned with it; ``torn_bytes`` behind ``good_bytes``
        were cut off now.

        A `JournalReadError`, as of `read_journal`, says too that it is full, sealed with another
        key or not at all, or that its seal is broken; `JournalLockedError` that another writer has
        it. The file was not changed then. After a `JournalWriteError` what was recorded is still
        there: resume again.
        """
        disk = disk or Disk()
        path = Path(path)
        handle = _open(disk, path)
        try:
            recovered = read_from_disk(disk, handle, path)
            seal_key, seal = _seals(disk, handle, recovered, seal_key)
            cut_torn_end(disk, handle, recovered)
            notes = missing_notes(disk, recovered)
            writer = cls(disk, handle, recovered, seal_key, seal)
            for note in notes:
                writer._append(note)
            writer.sync()
        except OSError as error:
            disk.close(handle)
            raise JournalWriteError(
                path,
                f"cannot be recovered: {system_reason(error)}; all that was recorded is still "
                "there, see to the disk, then resume again",
            ) from error
        except BaseException:
            disk.close(handle)
            raise
        return writer, replace(recovered, records=(*recovered.records, *notes))

    @property
    def path(self) -> Path:
        return self._path

    @property
    def record_count(self) -> int:
        """How many records were appended, the header included; the next one's number."""
        return self._record_count

    @property
    def synced_count(self) -> int:
        """How many of them are known to be on the disk."""
        return self._synced_count

    def append(self, record: Mapping[str, object]) -> int:
        """Put a record behind the others, and return its number; `sync` has it on the disk.

        A record has a ``kind`` (any string but "header") and JSON values, at most
        `RECORD_BYTES_MAX`; notes with ``what`` "recovered" are the journal's own. It is encoded
        here and now. When more than `UNSYNCED_BYTES_MAX` would wait, the ones before are synced at
        once.

        After a `JournalRecordError` the writer goes on without it; after a `JournalWriteError` it
        does not: the disk failed, now or before, or the journal is full.
        """
        self._check_usable()
        if record.get("kind") == "header":
            raise JournalRecordError(f"{self._path}: only record 0 is a header; use another kind")
        if is_recovery_note(record):
            raise JournalRecordError(
                f'{self._path}: a note with "what": "recovered" is written by recoveries alone; '
                "use another"
            )
        if self._ended:
            raise JournalRecordError(
                f"{self._path}: record {self._record_count} of kind {record.get('kind')!r} would "
                'follow the "end" record; create another journal'
            )
        return self._append(record)

    def sync(self) -> None:
        """Write what was appended; on return all of it is on the disk.

        After a `JournalWriteError` the file has been cut back to the records synced before, if that
        was possible, and this writer refuses everything from now on.
        """
        self._check_usable()
        if not self._unsynced:
            return
        # It stays if anything but an OSError is raised, such as a KeyboardInterrupt.
        self._refusal = "a sync was interrupted; resume the journal"
        try:
            write_all(self._disk, self._handle, bytes(self._unsynced))
            self._disk.fsync(self._handle)
        except OSError as error:
            raise self._cut_back(error) from error
        self._refusal = ""
        self._synced_bytes += len(self._unsynced)
        self._synced_count = self._record_count
        self._unsynced.clear()

    def close(self) -> None:
        """Sync, unless the writer failed before, and release the journal; again does nothing."""
        if self._handle == CLOSED:
            return
        try:
            if not self._refusal:
                self.sync()
        finally:
            self._refusal = self._refusal or "the writer is closed; resume the journal"
            handle, self._handle = self._handle, CLOSED  # before: a second time it may be another's
            self._disk.close(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _append(self, record: Mapping[str, object]) -> int:
        number = self._record_count
        line, crc = self._encode(number, record)
        if self._synced_bytes + len(self._unsynced) + len(line) > JOURNAL_BYTES_MAX:
            raise JournalWriteError(
                self._path,
                f"is full: record {number} would make it longer than {JOURNAL_BYTES_MAX} bytes",
            )
        if len(self._unsynced) + len(line) > UNSYNCED_BYTES_MAX:
            self.sync()
            line, crc = self._encode(number, record)
        self._unsynced += line
        self._crc, self._seal = crc, seal_of(line)
        self._record_count += 1
        self._ended = self._ended or record["kind"] == "end"
        return number

    def _encode(self, number: int, record: Mapping[str, object]) -> tuple[bytes, str]:
        seal = partial(self._seal_key.seal, self._seal) if self._seal_key else None
        return encode_line(number, self._synced_count, record, self._crc, seal)

    def _check_usable(self) -> None:
        if self._refusal:
            raise JournalWriteError(self._path, f"nothing more is recorded: {self._refusal}")

    def _cut_back(self, error: OSError) -> JournalWriteError:
        """Cut the file back after a failed write or fsync and return the error to raise."""
        unrecorded = range(self._synced_count, self._record_count)
        self._refusal = f"a sync failed before, {system_reason(error)}; resume the journal"
        try:
            self._disk.truncate(self._handle, self._synced_bytes)
            outcome = f"the file was cut back to {self._synced_bytes} bytes"
        except OSError as second:
            outcome = f"the file could not be cut back either, {system_reason(second)}"
        return JournalWriteError(
            self._path,
            f"cannot be written: {system_reason(error)}; {records_named(unrecorded)} not "
            f"recorded, {records_named(range(self._synced_count))} safe; {outcome}; "
            "see to the disk, then resume the journal",
        )


def _header_record(header: Mapping[str, object], seal_key: SealKey | None) -> Record:
    taken = sorted(HEADER_KEYS & header.keys())
    if taken:
        raise JournalRecordError(
            f'a header cannot have the key "{taken[0]}", which the journal writes; use another'
        )
    sealed = {"seal_key": seal_key.name} if seal_key else {}
    return {"kind": "header", "journal": FORMAT_VERSION, **sealed, **header}


def _create(disk: Disk, path: Path) -> int:
    try:
        cuts = saved_cuts(disk, path)
        if cuts:
            raise JournalExistsError(
                f"{path}: a cut of an older journal of this name is there, "
                f"{path.name}.{cuts[0][1]}; move it away or choose another name"
            )
        handle = disk.create(path)
    except FileExistsError as error:
        raise JournalExistsError(f"{path}: exists already; resume it or choose another name") from (
            error
        )
    except OSError as error:
        raise JournalWriteError(path, f"cannot be created: {system_reason(error)}") from error
    _lock(disk, handle, path)
    return handle


def _open(disk: Disk, path: Path) -> int:
    try:
        handle = disk.open(path, writable=True)
    except FileNotFoundError as error:
        raise JournalReadError(path, f"cannot be opened: {system_reason(error)}") from error
    except OSError as error:
        raise JournalWriteError(
            path, f"cannot be opened for writing: {system_reason(error)}"
        ) from error
    _lock(disk, handle, path)
    return handle


def _lock(disk: Disk, handle: int, path: Path) -> None:
    try:
        disk.lock(handle)
    except OSError as error:
        disk.close(handle)
        if isinstance(error, BlockingIOError):
            raise JournalLockedError(
                f"{path}: another writer has this journal open; close that one first"
            ) from error
        raise JournalWriteError(path, f"cannot be locked: {system_reason(error)}") from error


def _seals(
    disk: Disk, handle: int, recovered: Recovered, seal_key: SealKey | None
) -> tuple[SealKey | None, str]:
    """Return the key that a journal goes on with, if it was begun with one, and its last seal."""
    if recovered.format != FORMAT_VERSION:
        words = f"was recorded by {recorder_of(recovered.header)}; only format {FORMAT_VERSION}"
        raise JournalReadError(recovered.path, f"{words} is gone on with here")
    name = recovered.header.get("seal_key")
    if name is None and seal_key is None:
        return None, ""
    if name is None:
        # Its seals may have been taken off: then anybody may have written it.
        raise JournalReadError(recovered.path, "is not sealed, and this device seals its journals")
    if seal_key is None or seal_key.name != name:
        raise JournalReadError(
            recovered.path, f"is sealed with key {name}, which is not the one that is configured"
        )
    lines = [*io.BytesIO(disk.read(handle, 0, recovered.good_bytes))]
    broken = first_broken(seal_key, lines)
    if broken is not None:
        raise JournalReadError(recovered.path, f"its seal is broken at record {broken}")
    return seal_key, seal_of(lines[-1])
