"""Every form of an export, by the product's own list; and what stands in a file of any of them.

Whoever tests what all exports have to keep goes over `FORMS`, and reads a file by `leaves_of`: so a
new format is tested by being in the list.
"""

import csv
import io
import json
import re
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from host_tools.commands.export.formats import CSV, CSV_FORMS, FORMATS, Encode, encoder

_EAR: Final = re.compile(r"(?<![a-z])(right|left)(?![a-z])|(?<=[A-Z0-9])[RL]$")
_NUMBER: Final = re.compile(r"(?<![\d.])-?\d+\.\d+(?![\d.])")


@dataclass(frozen=True)
class Form:
    """A form of an export."""

    options: tuple[str, ...]  # of `gp-pta export`
    encode: Encode


def _every_form() -> Iterator[Form]:
    for name in FORMATS:
        for form in CSV_FORMS if name == CSV else (None,):
            told = Namespace(csv_form=form, separator=None, decimal=None)
            options = ("--format", name, *([f"--{form}"] if form else []))
            yield Form(options, encoder(name, told))


FORMS: Final = {" ".join(form.options[1:]): form for form in _every_form()}


@dataclass(frozen=True)
class Leaf:
    """A value in a file, under the name of its column, or the names on the way to it.

    Names are without numbers and ears, so that values of one kind have one.
    """

    name: str
    value: Any
    row: int  # that it shares with what stands beside it

    @property
    def text(self) -> str:
        """Return name and value as somebody reads them, in words."""
        return f"{self.name}: {self.value}".replace("_", " ").replace("-", " ")

    @property
    def numbers(self) -> set[float]:
        """Return the numbers with decimals that stand there, in a text, too, to a tenth."""
        if isinstance(self.value, float):
            return {round(self.value, 1)}
        return {float(each) for each in _NUMBER.findall(str(self.value))}


def leaves_of(content: bytes) -> list[Leaf]:
    """Return all values in a file of an export, whichever kind of file it is."""
    if content.startswith(b"PAR1"):
        told: Any = pq.read_table(pa.BufferReader(content)).to_pylist()
    elif content.startswith((b"{", b"[")):
        told = json.loads(content)
    else:
        told = [*csv.DictReader(io.StringIO(content.decode()))]
    found: list[Leaf] = []
    _gather(told, "", 0, found, iter(range(10**9)))
    return found


def _gather(value: Any, name: str, row: int, found: list[Leaf], rows: Iterator[int]) -> None:
    if isinstance(value, dict):
        row = next(rows)
        for key, each in value.items():
            _gather(each, f"{name}.{key}".lstrip("."), row, found, rows)
    elif isinstance(value, list):
        for each in value:
            _gather(each, name, row, found, rows)
    elif value not in (None, ""):
        found.append(Leaf(re.sub(r"\d+", "#", _EAR.sub("", name)), value, row))
