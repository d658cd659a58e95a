"""What is in a file, as headings and rows of cells: CSV however it is separated, JSON, Parquet."""

import codecs
import csv
import io
import re
from typing import Final

from device.audiogram_tables.documents import grid_of_json
from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.grid import SEPARATORS, Grid, Row, grid_of_records
from device.audiogram_tables.headings import heading_of
from firmware_py.platform.named_file import TEXT
from firmware_py.terms.printable import show

_PARQUET: Final = b"PAR1"
_OTHERS: Final = {
    b"PK\x03\x04": "is a workbook or an archive; save it as CSV",
    b"\xd0\xcf\x11\xe0": "is an old workbook; save it as CSV",
    b"\x1f\x8b": "is compressed; unpack it",
    b"%PDF": "is a PDF; allowed are CSV, JSON and Parquet",
}
# A first line by which a spreadsheet says the separator, as "sep=;".
_TOLD: Final = re.compile(r"\ufeff?\s*\"?sep=([^\"\w\s]|\t)\"?[ \t]*(?:\r\n|\n|\r)", re.IGNORECASE)
_WIDE_TEXTS: Final = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def grid_of(path: str, content: bytes) -> Grid:
    """Return what is in a file.

    Raises
    ------
    AudiogramError
        It is none of the kinds that are read.
    """
    for begins, why in _OTHERS.items():
        if content.startswith(begins):
            raise AudiogramError(f"{path}: is not a CSV file in UTF-8: it {why}")
    if content.startswith(_PARQUET):
        return _of_parquet(path, content)
    text = _text(path, content)
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return grid_of_json(path, text)
    return _of_csv(path, text)


def _text(path: str, content: bytes) -> str:
    encoding = next((name for mark, name in _WIDE_TEXTS.items() if content.startswith(mark)), TEXT)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise AudiogramError(
            f"{path}: is not a CSV file in UTF-8: byte 0x{content[error.start]:02x} in line {line} "
            "is of another encoding; save it as CSV UTF-8"
        ) from None


def _of_csv(path: str, text: str) -> Grid:
    if told := _TOLD.match(text):
        separator, text = told[1], text[told.end() :]
    else:
        known = {sign: _count_known(_lines(path, text, sign, 1)) for sign in SEPARATORS}
        separator = max(known, key=lambda sign: known[sign])  # of equals the first, the comma
    lines = _lines(path, text, separator)
    kept = [cells for cells in lines if cells]  # an empty line is no row
    header = tuple(kept[0]) if kept else ()
    rows = (Row(f"row {number}", cells) for number, cells in enumerate(kept[1:], start=1))
    return Grid(path, header, tuple(rows), separator)


def _lines(path: str, text: str, separator: str, most: int | None = None) -> list[list[str]]:
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        if most is None:
            return list(lines)
        return [cells for cells, _ in zip(lines, range(most), strict=False)]
    except csv.Error as error:
        if most is not None:
            return []
        name = SEPARATORS.get(separator, show(separator))
        raise AudiogramError(
            f"{path}: is not a CSV file in UTF-8: {error} (cells separated by a {name})"
        ) from error


def _count_known(lines: list[list[str]]) -> int:
    """Return how many headings of the first line mean something."""
    return sum(heading_of(cell) is not None for cell in lines[0]) if lines else 0


def _of_parquet(path: str, content: bytes) -> Grid:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise AudiogramError(
            f"{path}: is Parquet, and pyarrow is not installed: pip install 'gp-pta[export]', or "
            "save the table as CSV"
        ) from None
    try:
        table = pq.read_table(pa.BufferReader(content))
        records = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise AudiogramError(f"{path}: is no Parquet file that can be read: {error}") from None
    return grid_of_records(path, table.column_names, records)
