"""The mapping that a person writes down: which heading has which place, ``right.500=R500,...``."""

import csv
import io
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.levels import plain
from device.audiogram_tables.places import Place, place_named
from firmware_py.platform.named_file import TEXT, content_of
from firmware_py.terms.printable import printable, show

OPTION: Final = "--columns"
METAVAR: Final = "PLACE=HEADING,..."
# Of the option, as `argparse` takes it.
ARGUMENT: Final[Mapping[str, Any]] = {
    "metavar": METAVAR,
    "help": "what columns of the table have, as right.500=R500, or a file of such lines",
}
PLACES: Final = (
    "right.500, left.bone.500, right.ucl.500, t500, b500, ucl500, frequency, hz, khz, threshold, "
    "right, left, ear, route, no_response, subject, session, source, age, sex and ignore"
)
MAPPING_BYTES_MAX: Final = 1 << 20


def mapping_of(text: str | None) -> dict[str, Place]:
    """Return the places by heading that an option says, or the file that it names."""
    if text is None:
        return {}
    found: dict[str, Place] = {}
    for part in _said(text):
        name, sign, heading = part.partition("=")
        place = place_named(name, said=True)
        if not sign or place is None or not plain(heading):
            raise AudiogramError(
                f"{OPTION} has {show(part)}; allowed is PLACE=HEADING, and a place is one such as "
                f"{PLACES}; one with a comma in it is quoted, '\"t500=0,5 kHz\"'; in a file "
                "each has its own line"
            )
        if plain(heading) in found:
            raise AudiogramError(f"{OPTION} has {show(heading)} twice; allowed is once")
        found[plain(heading)] = place
    return found


def in_full(text: str | None) -> str | None:
    """Return what an option says, in one order, with what is in a file in the place of its name."""
    return None if text is None else _in_a_line(sorted(_said(text)))


def written(places: Mapping[str, str]) -> str:
    """Return names of places by their headings as a person types them."""
    line = _in_a_line([f"{name}={printable(heading)}" for heading, name in places.items()])
    return f"{OPTION} {shlex.quote(line)}"


def _in_a_line(parts: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(parts)
    return text.getvalue()


def _lines_of(name: str) -> list[str]:
    """Return the mappings of a file, one a line, which may be quoted as in the option."""
    try:
        text = content_of(Path(name), MAPPING_BYTES_MAX).decode(TEXT)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not in UTF-8"
        raise AudiogramError(
            f"{OPTION} {show(name)}: {why}; allowed are {METAVAR}, and a file of such lines"
        ) from None
    lines = filter(None, map(str.strip, text.splitlines()))
    return [_unquoted(line) for line in lines if not line.startswith("#")]


def _unquoted(line: str) -> str:
    parts = _parts(line) if line.startswith('"') else []
    return parts[0] if len(parts) == 1 else line


def _said(text: str) -> list[str]:
    return _parts(text) if "=" in text else _lines_of(text)


def _parts(text: str) -> list[str]:
    try:
        lines = csv.reader(io.StringIO(text), skipinitialspace=True, strict=True)
        return [part.strip() for line in lines for part in line if part.strip()]
    except csv.Error as error:
        raise AudiogramError(f"{OPTION} {show(text)}: {error}; allowed is {METAVAR}") from None
