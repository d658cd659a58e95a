"""Journals that nobody recorded: golden ones under other headers, or changed; every CRC right."""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

from firmware_py.journal import JournalWriter, Record, SealKey, read_journal
from firmware_py.journal.records import TAIL_BYTES, chained_crc, encode_line

GOLDEN: Final = Path(__file__).parents[1] / "golden"
LEFT_S2: Final = GOLDEN / "left-ear-s2.journal"
BOTH: Final = GOLDEN / "both-ears-n3.journal"
KINDS: Final = ("left-ear-s2", "both-ears-n3", "disturbed", "silent-ear")


def write_journals(directory: Path, count: int) -> None:
    """Write sessions 1 to `count`: of another day, and of another person every fourth."""
    for number in range(1, count + 1):
        path = directory / f"session-{number:06d}.journal"
        path.write_bytes(journal(KINDS[number % len(KINDS)], number))


def journal(kind: str, number: int) -> bytes:
    """Return the journal of a golden session as if it had been session `number`."""
    header, bodies = _parts(kind)
    day = f"{2016 + number % 10}-{1 + number % 12:02d}-{1 + number % 28:02d}"
    person = {"identifier": f"P-{number // 4}", "age_years": 20.0 + number % 60, "sex": "F"}
    changes = {"session": number, "started": f"{day}T09:30:00+00:00", "person": person}
    line, crc = encode_line(0, 0, {**header, **changes}, "")
    lines = [line]
    for body in bodies:
        crc = chained_crc(crc, body)
        lines.append(body + f', "crc": "{crc}"}}\n'.encode())
    return b"".join(lines)


def rewrite(path: Path, change: dict[str, Any]) -> None:
    """Write a journal anew, CRCs and all, a played tone changed."""
    header, *records = read_journal(path).records
    play = next(r["action"] for r in records if r.get("action", {}).get("what") == "play")
    play.update(change)
    path.unlink()
    write_again(path, header, records)


def write_again(
    path: Path, header: Record, records: Iterable[Record], seal_key: SealKey | None = None
) -> None:
    """Write what was read of a journal, and perhaps changed, to a new one, CRCs and all."""
    told = {key: value for key, value in header.items() if key not in ("kind", "journal")}
    with JournalWriter.create(path, told, seal_key=seal_key) as writer:
        for record in records:
            writer.append(record)


@cache
def _parts(kind: str) -> tuple[dict[str, object], list[bytes]]:
    """Return the header, and the other lines without their CRCs."""
    first, *lines = (GOLDEN / f"{kind}.journal").read_bytes().splitlines(keepends=True)
    header = json.loads(first)
    for key in ("n", "synced", "crc"):
        del header[key]
    return header, [line[:-TAIL_BYTES] for line in lines]
