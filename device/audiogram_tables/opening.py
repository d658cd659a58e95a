"""What is in a file, as headings and rows of cells: CSV, JSON, Parquet, GDT, XML."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from device.audiogram_tables.documents import sheet_of_json
from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.gdt import GdtError, is_gdt, thresholds_of
from device.audiogram_tables.levels import plain
from device.audiogram_tables.otoaccess import XmlError
from device.audiogram_tables.otoaccess import thresholds_of as thresholds_of_xml
from device.audiogram_tables.places import guess, place_named
from device.audiogram_tables.sheet import SEPARATORS, Row, Sheet, list_names, numbered
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
_WIDE_TEXTS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def sheet_of(path: str, content: bytes) -> Sheet:
    """Return what is in a file; `AudiogramError` if it is none of the kinds that are read."""
    for begins, why in _OTHERS.items():
        if content.removeprefix(codecs.BOM_UTF8).lstrip().startswith(begins):
            raise AudiogramError(f"{path}: is not a CSV file in UTF-8: it {why}")
    if content.startswith(_PARQUET):
        return _of_parquet(path, content)
    if is_gdt(content):
        return _of_gdt(path, content)
    if content.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"<"):
        return _of_xml(path, content)
    try:
        text = content.decode("utf-16" if content.startswith(_WIDE_TEXTS) else TEXT)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise AudiogramError(
            f"{path}: is not a CSV file in UTF-8: byte 0x{content[error.start]:02x} in line {line} "
            "is of another encoding; save it as CSV UTF-8"
        ) from None
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return sheet_of_json(path, text)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return _of_xml(path, content)
    return _of_csv(path, text)


def _of_csv(path: str, text: str) -> Sheet:
    if told := _TOLD.match(text):
        separator, text = told[1], text[told.end() :]
    else:
        separator = max(SEPARATORS, key=lambda sign: _count_known(text, sign))
    name = SEPARATORS.get(separator, show(separator))
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        kept = [[*map(plain, cells)] for cells in lines if cells]  # an empty line is no row
    except csv.Error as error:
        raise AudiogramError(
            f"{path}: is not a CSV file in UTF-8: {error} (cells separated by a {name})"
        ) from error
    header, *others = kept or [[]]
    alike = len(others) > 1 and len({*map(len, others)}) == 1
    rows = (
        Row(
            f"{path}, row {number}",
            dict(zip(header[::-1], _filled(cells, header)[::-1], strict=False)),
            _fault_of(cells, header, name, alike=alike),
        )
        for number, cells in enumerate(others, start=1)
    )
    return Sheet(path, (*header,), (*rows,), name)


def _filled(cells: Sequence[str], header: Sequence[str]) -> list[str]:
    return [*cells[: len(header)], *[""] * (len(header) - len(cells))]


def _fault_of(cells: Sequence[str], header: Sequence[str], separator: str, *, alike: bool) -> str:
    """Return why a row cannot be read: cells too many or too few, or one without a name."""
    beyond, lacking = cells[len(header) :], header[len(cells) :]
    if (beyond and (any(beyond) or not alike)) or any(lacking):
        return (
            f": {len(cells)} cells, the header has {len(header)} columns; cells are separated by "
            f"a {separator}, and one with that in it is quoted"
        )
    for index, (name, cell) in enumerate(zip(header, cells, strict=False)):
        if index and cell and not name:
            return (
                f", column {index + 1}: {show(cell)}, and the column has no name; name it, or "
                "leave it empty"
            )
    return ""


def _count_known(text: str, separator: str) -> int:
    """Return of how many headings of the first line something is known or guessed."""
    try:
        first = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    except csv.Error:
        return 0
    return sum(bool(place_named(cell) or guess(cell)) for cell in first)


def _of_gdt(path: str, content: bytes) -> Sheet:
    return _of_thresholds(path, content, thresholds_of, "GDT 2.1", "gp-pta export")


def _of_xml(path: str, content: bytes) -> Sheet:
    what = "XML of OtoAccess"
    return _of_thresholds(path, content, thresholds_of_xml, what, "tone audiograms of OtoAccess")


def _of_thresholds(
    path: str,
    content: bytes,
    thresholds: Callable[[bytes], tuple[list[tuple[str, dict[str, Any]]], list[str]]],
    what: str,
    of: str,
) -> Sheet:
    """Return what a file has by its own reader; `what` it is, and `of` what it is read."""
    try:
        records, passed_over = thresholds(content)
    except (GdtError, XmlError) as error:
        raise AudiogramError(f"{path}: is no {what} that can be read: {error}") from None
    if not records:
        told = f": passed over {list_names(passed_over)}" * bool(passed_over)
        raise AudiogramError(f"{path}: no threshold in it{told}; {what} that is read: {of}")
    return Sheet.of_records(path, records, passed_over)


def _of_parquet(path: str, content: bytes) -> Sheet:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise AudiogramError(
            f"{path}: is Parquet, and pyarrow is not installed: pip install 'gp-pta[export]', or "
            "save the table as CSV"
        ) from None
    try:
        records = pq.read_table(pa.BufferReader(content)).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise AudiogramError(f"{path}: is no Parquet file that can be read: {error}") from None
    return Sheet.of_records(path, numbered(records))
