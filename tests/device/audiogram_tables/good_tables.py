"""Good tables of audiograms in several shapes, and what is known from each."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from device.audiogram_tables.table import Table

HEARD, NR = "level", "no response"
FREQUENCIES_HZ: Final = (500, 1000, 2000, 4000, 8000)
SIDES: Final = ("right", "left")
# Person, ear, frequency.
Place = tuple[str, str, float]
# The level in dB HL, or infinity; and the limit of a no response.
Known = tuple[float, float | None]
Truth = dict[Place, Known]


@dataclass(frozen=True)
class Sheet:
    """A table as text, and what is known from it."""

    shape: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    truth: Truth
    # The cells of thresholds: row and column, and what they are of.
    cells: dict[tuple[int, int], Place] = field(default_factory=dict)
    separator: str = ","
    newline: str = "\n"
    before: str = ""
    encoding: str = "utf-8"
    quoted: bool = False

    def content(self) -> bytes:
        """Return it as a file has it."""
        lines = [self.separator.join(map(self._cell, row)) for row in (self.header, *self.rows)]
        return (self.before + self.newline.join([*lines, ""])).encode(self.encoding)

    def _cell(self, text: str) -> str:
        quoted = self.quoted or self.separator in text
        return f'"{text}"' if quoted else text

    def with_cell(self, at: tuple[int, int], text: str, known: Known | None) -> "Sheet":
        """Return it with another text in a cell of a threshold, and what that says."""
        truth = {place: value for place, value in self.truth.items() if place != self.cells[at]}
        if known is not None:
            truth[self.cells[at]] = known
        return replace(self.with_text(at, text), truth=truth)

    def with_text(self, at: tuple[int, int], text: str) -> "Sheet":
        """Return it with another text in a cell, of which nothing follows."""
        rows = [list(row) for row in self.rows]
        rows[at[0]][at[1]] = text
        return replace(self, rows=tuple(map(tuple, rows)))

    def with_heading(self, column: int, text: str) -> "Sheet":
        """Return it with another heading."""
        header = [*self.header]
        header[column] = text
        return replace(self, header=tuple(header))

    def with_columns(self, order: Sequence[int]) -> "Sheet":
        """Return it with its columns in another order."""
        moved = {old: new for new, old in enumerate(order)}
        return replace(
            self,
            header=tuple(self.header[i] for i in order),
            rows=tuple(tuple(row[i] for i in order) for row in self.rows),
            cells={(row, moved[i]): place for (row, i), place in self.cells.items()},
        )

    def columns_of_thresholds(self) -> list[int]:
        """Return which columns have thresholds."""
        return sorted({column for _, column in self.cells})


def _cell_of(known: Known | None) -> str:
    if known is None:
        return ""
    level, limit = known
    if not math.isinf(level):
        return f"{level:g}"
    return "NR" if limit is None else f">{limit:g}"


def _truth(chance: random.Random) -> Truth:
    """Return what is known of both ears of three people; at 1 kHz of everybody something."""
    truth: Truth = {}
    for person in ("41475", "Ann", "7"):
        for side in SIDES:
            for frequency_hz in FREQUENCIES_HZ:
                kind = chance.choices((HEARD, NR, ""), (8, 1, 1))[0]
                if kind == HEARD or frequency_hz == 1000:
                    level: Known = (5.0 * chance.randrange(-2, 23), None)
                    truth[person, side, float(frequency_hz)] = level
                elif kind == NR:
                    limit = chance.choice((None, 100.0, 110.0))
                    truth[person, side, float(frequency_hz)] = (math.inf, limit)
    return truth


def _people(truth: Truth) -> list[str]:
    return list(dict.fromkeys(person for person, _, _ in truth))


def _an_ear_a_row(truth: Truth) -> Sheet:
    header = ("subject", "ear", *(f"t{f}" for f in FREQUENCIES_HZ))
    rows: list[tuple[str, ...]] = []
    cells: dict[tuple[int, int], Place] = {}
    for person in _people(truth):
        for side in SIDES:
            for k, f in enumerate(FREQUENCIES_HZ):
                cells[len(rows), 2 + k] = (person, side, float(f))
            values = [_cell_of(truth.get((person, side, float(f)))) for f in FREQUENCIES_HZ]
            rows.append((person, side[0].upper(), *values))
    return Sheet("an ear a row", header, tuple(rows), truth, cells)


def _both_ears_a_row(truth: Truth, name: str, who: str, separator: str) -> Sheet:
    places = [(side, float(f)) for side in SIDES for f in FREQUENCIES_HZ]
    header = (who, *(name.format(S=side[0].upper(), f=f"{f:g}") for side, f in places))
    rows: list[tuple[str, ...]] = []
    cells: dict[tuple[int, int], Place] = {}
    for person in _people(truth):
        for k, place in enumerate(places):
            cells[len(rows), 1 + k] = (person, *place)
        rows.append((person, *(_cell_of(truth.get((person, *place))) for place in places)))
    return Sheet(name, header, tuple(rows), truth, cells, separator)


def _of_nhanes(truth: Truth) -> Sheet:
    """Return NHANES' own columns, whose codes know no limit."""
    infix = {500.0: "500", 1000.0: "1K1", 2000.0: "2K", 4000.0: "4K", 8000.0: "8K"}
    coded: Truth = {p: (level, None) for p, (level, _) in truth.items()}
    places = [(side, float(f)) for side in SIDES for f in FREQUENCIES_HZ]
    header = ("SEQN", *(f"AUXU{infix[f]}{side[0].upper()}" for side, f in places))
    rows: list[tuple[str, ...]] = []
    cells: dict[tuple[int, int], Place] = {}
    for person in _people(truth):
        for k, place in enumerate(places):
            cells[len(rows), 1 + k] = (person, *place)
        values = [_cell_of(coded.get((person, *place))) for place in places]
        rows.append((person, *("666" if value == "NR" else value or "888" for value in values)))
    return Sheet("nhanes", header, tuple(rows), coded, cells)


def _a_threshold_a_row(truth: Truth) -> Sheet:
    rows: list[tuple[str, ...]] = []
    cells: dict[tuple[int, int], Place] = {}
    for person in _people(truth):
        for side in SIDES:
            for f in map(float, FREQUENCIES_HZ):
                cells[len(rows), 3] = (person, side, f)
                rows.append((person, side, f"{f:g}", _cell_of(truth.get((person, side, f)))))
    header = ("patient", "ear", "frequency", "threshold")
    return Sheet("a threshold a row", header, tuple(rows), truth, cells, ";")


def _two_thresholds_a_row(truth: Truth) -> Sheet:
    rows: list[tuple[str, ...]] = []
    cells: dict[tuple[int, int], Place] = {}
    for person in _people(truth):
        for f in map(float, FREQUENCIES_HZ):
            for k, side in enumerate(SIDES):
                cells[len(rows), 2 + k] = (person, side, f)
            values = [_cell_of(truth.get((person, side, f))) for side in SIDES]
            rows.append((person, f"{f:g} Hz", *values))
    header = ("id", "Frequency", "Right (dB HL)", "Left (dB HL)")
    return Sheet("two thresholds a row", header, tuple(rows), truth, cells)


SHAPES: Final[dict[str, Callable[[Truth], Sheet]]] = {
    "ear": _an_ear_a_row,
    "both": lambda truth: _both_ears_a_row(truth, "{S}{f}", "id", ","),
    "clinic": lambda truth: _both_ears_a_row(truth, "{S} AC {f} Hz", "Name", "\t"),
    "nhanes": _of_nhanes,
    "long": _a_threshold_a_row,
    "two": _two_thresholds_a_row,
}


def good_table(shape: str, chance: random.Random) -> Sheet:
    """Return a good table of a shape."""
    return SHAPES[shape](_truth(chance))


def thresholds_of(path: str, content: bytes) -> Truth:
    """Return what the reader knows from a file."""
    known: Truth = {}
    for ear in Table.read(path, content).all_ears():
        assert not ear.by_bone, "nobody's bone was tested"
        for frequency_hz, reading in ear.by_air.items():
            place = ear.person, ear.side, frequency_hz
            assert place not in known, f"{place} twice"
            known[place] = reading.level_db_hl, reading.limit_db_hl
    return known
