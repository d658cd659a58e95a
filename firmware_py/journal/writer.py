"""Writing a journal: what `sync` has returned for is on the disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from firmware_py.journal.disk import Disk, RealDisk, write_all
from firmware_py.journal.errors import (
    JournalError,
    JournalExistsError,
    JournalLockedError,
    JournalReadError,
    JournalRecordError,
    JournalWriteError,
    records_named,
    system_reason,
)
from firmware_py.journal.reader import Recovered, is_recovery_note, scan
from firmware_py.journal.records import (
    FORMAT_VERSION,
    UNSYNCED_BYTES_MAX,
    Record,
    encode_line,
)
from firmware_py.journal.recovery import cut_torn_end, missing_notes, saved_cuts


class JournalWriter:
    """The one writer of a journal, made by `create` or `resume`, for one thread.

    As a context manager it closes itself, and thereby syncs, on leaving.
    """

    def __init__(self, disk: Disk, handle: int, recovered: Recovered) -> None:
        self._disk = disk
        self._handle = handle
        self._path = recovered.path
        self._record_count = self._synced_count = len(recovered.records)
        self._synced_bytes = recovered.good_bytes
        self._crc = recovered.crc
        self._ended = recovered.complete
        self._unsynced = bytearray()
        self._refusal = ""
        self._closed = False

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        header: Mapping[str, object],
        *,
        disk: Disk | None = None,
    ) -> Self:
        """Begin a journal; on return its header and its name are on the disk.

        Parameters
        ----------
        path : path
            A file that does not exist, in a directory that does.
        header : Mapping
            JSON values about the session, at most `HEADER_BYTES_MAX`; ``kind`` and ``journal``
            (the format version) are added.
        disk : Disk, optional
            The file system; the machine's own by default.

        Raises
        ------
        JournalRecordError
            The header cannot be written; no file was made.
        JournalExistsError
            The file, or a cut saved from a journal of the same name, is there already.
        JournalWriteError
            The disk failed; the file has been removed if that was possible.
        """
        disk = disk or RealDisk()
        path = Path(path)
        record = _header_record(header)
        encode_line(0, 0, record, "")  # refuse before there is a file
        handle = _created(disk, path)
        try:
            writer = cls(disk, handle, Recovered(path, (), 0, ""))
            writer._append(record)
            writer.sync()
            _sync_name(disk, path)
        except BaseException:
            _abandon(disk, handle, path)
            raise
        return writer

    @classmethod
    def resume(
        cls, path: str | os.PathLike[str], *, disk: Disk | None = None
    ) -> tuple[Self, Recovered]:
        """Open a journal to go on with it; a torn end is saved, cut off and noted.

        Returns
        -------
        writer : JournalWriter
            It writes behind the last good record.
        recovered : Recovered
            All records now in the journal, on the disk, the notes of this recovery included;
            ``torn_bytes`` and ``torn_offset`` tell what was cut off now.

        Raises
        ------
        JournalReadError
            As of `read_journal`, damage included; the file was not changed.
        JournalLockedError
            Another writer has it open; the file was not changed.
        JournalWriteError
            The disk failed; what was recorded is still there, resume again.
        """
        disk = disk or RealDisk()
        path = Path(path)
        handle = _opened(disk, path)
        try:
            recovered = _made_whole(disk, handle, path)
            writer = cls(disk, handle, recovered)
            notes = _noted(disk, recovered)
            for note in notes:
                writer._append(note)
            writer.sync()
        except BaseException:
            disk.close(handle)
            raise
        return writer, replace(recovered, records=(*recovered.records, *notes))

    @property
    def path(self) -> Path:
        """The journal."""
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
        """Put a record behind the others; it is on the disk after the next `sync`.

        When more than `UNSYNCED_BYTES_MAX` would wait, the ones before are synced at once.

        Parameters
        ----------
        record : Mapping
            ``kind`` (any string but "header") and JSON values, at most `RECORD_BYTES_MAX`;
            notes with ``what`` "recovered" are the journal's own.  It is encoded here and now;
            later changes to it do not matter.

        Returns
        -------
        number : int
            The record's number.

        Raises
        ------
        JournalRecordError
            The record cannot be written, or follows the "end" record; the writer goes on
            without it.
        JournalWriteError
            The disk failed, now or before.
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

        Raises
        ------
        JournalWriteError
            The disk failed.  The file has been cut back to the records synced before, if that
            was possible, and this writer refuses everything from now on.
        """
        self._check_usable()
        if not self._unsynced:
            return
        self._refusal = "a sync was interrupted; resume the journal"  # if anything is raised
        try:
            write_all(self._disk, self._handle, bytes(self._unsynced))
            self._disk.fsync(self._handle)
        except OSError as error:
            raise self._failed(error) from error
        self._refusal = ""
        self._synced_bytes += len(self._unsynced)
        self._synced_count = self._record_count
        self._unsynced.clear()

    def close(self) -> None:
        """Sync, unless the writer failed before, and release the journal; again does nothing.

        Raises
        ------
        JournalWriteError
            The last sync failed; the journal is released nevertheless.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if not self._refusal:
                self.sync()
        finally:
            self._refusal = self._refusal or "the writer is closed; resume the journal"
            self._disk.close(self._handle)

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
        line, crc = encode_line(number, self._synced_count, record, self._crc)
        if len(self._unsynced) + len(line) > UNSYNCED_BYTES_MAX:
            self.sync()
            line, crc = encode_line(number, self._synced_count, record, self._crc)
        self._unsynced += line
        self._crc = crc
        self._record_count += 1
        self._ended = self._ended or record["kind"] == "end"
        return number

    def _check_usable(self) -> None:
        if self._refusal:
            unrecorded = range(self._synced_count, self._record_count)
            raise JournalWriteError(
                self._path, f"nothing more is recorded: {self._refusal}", unrecorded
            )

    def _failed(self, error: OSError) -> JournalWriteError:
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
            unrecorded,
        )


def _header_record(header: Mapping[str, object]) -> Record:
    taken = sorted({"kind", "journal"} & header.keys())
    if taken:
        raise JournalRecordError(
            f'a header cannot have the key "{taken[0]}", which the journal writes; use another'
        )
    return {"kind": "header", "journal": FORMAT_VERSION, **header}


def _created(disk: Disk, path: Path) -> int:
    """Return the locked handle of a new file."""
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


def _opened(disk: Disk, path: Path) -> int:
    """Return the locked handle of an existing journal."""
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


def _sync_name(disk: Disk, path: Path) -> None:
    try:
        disk.fsync_directory(path.parent)
    except OSError as error:
        raise JournalWriteError(
            path, f"its directory cannot be synced: {system_reason(error)}", range(1)
        ) from error


def _abandon(disk: Disk, handle: int, path: Path) -> None:
    """Close and remove a file that `create` could not finish."""
    disk.close(handle)
    with suppress(OSError):  # it stays with a torn header, which every reader names as such
        disk.remove(path)


def _made_whole(disk: Disk, handle: int, path: Path) -> Recovered:
    """Return what is on the disk, after its torn end was saved and cut off."""
    try:
        disk.fsync_directory(path.parent)  # a `create` that was cut short may not have done it
        disk.fsync(handle)
        disk.drop_cache(handle)  # after a failed fsync memory may hold what the disk does not
        recovered = scan(disk, handle, path)
        cut_torn_end(disk, handle, recovered)
    except OSError as error:
        raise _recovery_error(path, error) from error
    return recovered


def _noted(disk: Disk, recovered: Recovered) -> list[Record]:
    try:
        return missing_notes(disk, recovered)
    except OSError as error:
        raise _recovery_error(recovered.path, error) from error


def _recovery_error(path: Path, error: OSError) -> JournalError:
    return JournalWriteError(
        path,
        f"cannot be recovered: {system_reason(error)}; all that was recorded is still there, "
        "see to the disk, then resume again",
    )
