"""What every form of an export has to keep: each promise reads the file that a form wrote.

`FORMS` are those of the product's own list. A file is read by `leaves_of`, or as a table of
audiograms, and no promise knows a format by name: so a new format is tested by being in the list.
"""

import csv
import io
import json
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from device.audiogram_tables.table import Table
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.findings.statements import as_told
from firmware_py.sessions.archive import recorded_result
from firmware_py.terms.outcomes import Outcome, WhichEar
from firmware_py.terms.results import SessionResult, ThresholdResult
from firmware_py.terms.route import Route
from firmware_py.terms.shown_threshold import as_shown
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.export.formats import CSV, CSV_FORMS, FORMATS, Encode, encoder
from tests.host.commands.export.sessions import (
    inferred_and_confirmed,
    session_with_bone,
    session_with_marks,
    write,
)
from tests.host.journals import BOTH, LEFT_S2
from tests.host.judged import DIFFERENT, NOBODY, Verdicts, judge

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
            told = Namespace(rows=form, separator=None, decimal=None)
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
    elif content.startswith(b"01380006310"):
        told = records_of_gdt(content)
    else:
        told = [*csv.DictReader(io.StringIO(content.decode()))]
    found: list[Leaf] = []
    _gather(told, "", 0, found, iter(range(10**9)))
    return found


# Of GDT 2.1, by the public description of its fields.
GDT_FIELDS: Final = {
    "8000": "record", "8100": "length", "8315": "receiver", "8316": "sender", "9206": "characters",
    "9218": "version", "3000": "patient", "3101": "surname", "3102": "forename", "3103": "born",
    "3110": "sex", "8402": "procedure", "6200": "day", "6201": "time", "6227": "comment",
    "6228": "text", "8410": "test", "8411": "title", "8420": "value", "8421": "unit",
    "8470": "note", "8480": "result",
}  # fmt: skip


def records_of_gdt(content: bytes) -> list[dict[str, Any]]:
    """Return the records: fields by name, and the tests each by itself; all as long as it says."""
    records: list[dict[str, Any]] = []
    while content:
        length, number = int(content[:3]), content[3:7].decode()
        assert content[length - 2 : length] == b"\r\n"
        name, text = GDT_FIELDS[number], content[7 : length - 2].decode("latin-1")
        if name == "record":
            records.append({"tests": [], "length": 0, "bytes": 0})
        if name == "test":
            records[-1]["tests"].append({})
        of_test = name in ("test", "title", "value", "unit", "note", "result")
        place = records[-1]["tests"][-1] if of_test else records[-1]
        told = float(text) if name == "value" else text
        if name in ("text", "note", "comment"):
            place.setdefault(name, []).append(told)
        else:
            assert not place.get(name)
            place[name] = told
        records[-1]["bytes"] += length
        content = content[length:]
    for record in records:
        assert int(record["length"]) == record["bytes"]
    return records


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


NAMED_OFTEN: Final = 3  # so many levels stand under a name that is one of levels
# Names of what follows from levels in dB HL alone.
FOLLOWS: Final = (
    "pta#_db_hl", "pta#.level_db_hl", "pta#_low_db_hl", "grade", "loss", "bone_gaps", "gap_low",
    "gap_inferred", "gap_db_",
)  # fmt: skip
LEVEL_DB: Final = 0.051  # a format may have a tenth


def keep_to_the_verdict(encode: Encode) -> None:
    """Say each ear's verdict, and of an ear that could not be tested no level."""
    told = leaves_of(write(encode, [_examine(DIFFERENT)]))
    words = {kind.replace("-", " ") for kind, _ in DIFFERENT.values()}
    assert {word for word in words for leaf in told if word in leaf.text} == words
    recorded = recorded_result(BOTH).result
    levels = {
        level
        for found in _all_of(recorded)
        for level in _tenths(found.threshold_db_hl, found.low_db_hl, found.high_db_hl)
    }
    assert _names_of(levels, leaves_of(write(encode, [read_examination(BOTH)]))), "it has levels"
    assert _names_of(levels, leaves_of(write(encode, [_examine(NOBODY)]))) == set()


def call_nominal_levels_nominal(encode: Encode) -> None:
    """Say without a calibration that levels are nominal, no level in dB HL, no mean and grade."""
    for examination in (read_examination(LEFT_S2), session_with_bone()):
        header = replace(examination.header, calibration=CalibrationInForce())
        result = as_told(examination.result, header.settings, nominal=True)
        told = leaves_of(write(encode, [replace(examination, header=header, result=result)]))
        assert any("nominal" in str(leaf.value) for leaf in told)
        values = [leaf for leaf in told if re.search("dB HL|air-bone gap", str(leaf.value))]
        assert values == []
        assert [leaf for leaf in told if any(name in leaf.name for name in FOLLOWS)] == []


def have_only_what_was_asked(encode: Encode) -> None:
    """Have no inferred number where measured ones stand, and say that it was inferred."""
    examination = inferred_and_confirmed()
    inferred = [t for t in _all_of(examination.result) if t.mark == Outcome.INFERRED]
    check_not_claimed(encode, [examination], inferred)


def check_not_claimed(
    encode: Encode, examinations: Sequence[Examination], inferred: Iterable[ThresholdResult]
) -> None:
    """Expect that a file claims none of these thresholds, which no tone was asked for."""
    told = leaves_of(write(encode, examinations))
    found = (t for each in examinations for t in _all_of(each.result))
    measured = _levels_of(t for t in found if t.mark == Outcome.MEASURED)
    places = {name for name in {leaf.name for leaf in told} if _has(name, measured, told)}
    claimed = _levels_of(inferred) - measured
    stand = [leaf for leaf in told if leaf.name in places and leaf.numbers & claimed]
    # There is a place of measured ones alone; elsewhere it may stand beside the word.
    assert places - {leaf.name for leaf in stand}, "it has levels, and some place for measured ones"
    rows = {leaf.row for leaf in told if leaf.name in places and leaf.numbers & measured}
    said = {leaf.row for leaf in told if leaf.value == Outcome.INFERRED} - rows
    assert [leaf for leaf in stand if leaf.row not in said] == []
    assert any(Outcome.INFERRED in str(leaf.value) for leaf in told)


def say_which_ear(encode: Encode) -> None:
    """Say whether the listener confirmed which ear is which, and of one ear nothing."""
    examination = read_examination(BOTH)
    for found in WhichEar:
        result = replace(examination.result, which_ear=found)
        told = leaves_of(write(encode, [replace(examination, result=result)]))
        said = {leaf.text.rpartition("which ear")[2] for leaf in told if "which ear" in leaf.text}
        assert {each.rpartition(": ")[2] for each in said} == {found.replace("-", " ")}
    one = leaves_of(write(encode, [read_examination(LEFT_S2)]))
    said = {leaf.text for leaf in one if "which ear" in leaf.text}
    assert not any(f": {found.replace('-', ' ')}" in each for each in said for found in CONFIRMED)


CONFIRMED: Final = (WhichEar.CONFIRMED, WhichEar.NOT_CONFIRMED, WhichEar.CONTRADICTED)


def come_back(encode: Encode) -> None:
    """Read back, each ear has what was measured, and not as a level what was not heard."""
    examination = session_with_marks()
    result = examination.result
    unheard = inferred_and_confirmed()
    for each in (examination, unheard):
        ears = {ear.side: ear for ear in Table.read("out", write(encode, [each])).all_ears()}
        for name in ("right", "left"):
            for found in each.result.by_route[Route(name)].thresholds:
                reading = ears[name].by_air.get(float(found.frequency_hz))
                known_db_hl = as_shown(found).known_db_hl
                if known_db_hl is None:
                    assert reading is None, "inferred or incomplete: it is not known"
                    continue
                assert reading is not None
                assert reading.heard == (found.mark != Outcome.NO_RESPONSE)
                if reading.heard:
                    assert reading.level_db_hl == pytest.approx(known_db_hl, abs=LEVEL_DB)
                else:
                    assert reading.limit_db_hl in (known_db_hl, None)
    marks = {t.mark for t in _all_of(result)} | {t.mark for t in _all_of(unheard.result)}
    assert {Outcome.NO_RESPONSE, Outcome.HEARS_ALL, Outcome.INFERRED, Outcome.INCOMPLETE} <= marks


# By the words that a failure has.
PROMISES: Final[dict[str, Callable[[Encode], None]]] = {
    "verdict": keep_to_the_verdict,
    "nominal": call_nominal_levels_nominal,
    "only what was asked": have_only_what_was_asked,
    "which ear": say_which_ear,
    "round trip": come_back,
}


def _examine(verdicts: Verdicts) -> Examination:
    """Return a session with these verdicts, as it may be told."""
    examination, recorded = read_examination(BOTH), recorded_result(BOTH)
    result = judge(recorded.result, verdicts)
    told = as_told(result, recorded.header.settings, nominal=False)
    return replace(examination, result=told)


def _all_of(result: SessionResult) -> list[ThresholdResult]:
    return [found for ear in result.ears for found in ear.thresholds]


def _tenths(*levels: float | None) -> set[float]:
    """Return levels to a tenth, without whole ones, which other things may be, too."""
    told = {round(level, 1) for level in levels if level is not None}
    return {level for level in told if level % 1.0}


def _levels_of(thresholds: Iterable[ThresholdResult]) -> set[float]:
    return _tenths(*(as_shown(found).level_db_hl for found in thresholds))


def _names_of(levels: set[float], told: Iterable[Leaf]) -> set[str]:
    """Return the names under which one of these levels stands."""
    return {leaf.name for leaf in told if leaf.numbers & levels}


def _has(name: str, levels: set[float], told: Iterable[Leaf]) -> bool:
    """Return whether a name is one of levels: most of the numbers under it are of these."""
    numbers = set().union(*(leaf.numbers for leaf in told if leaf.name == name))
    return len(numbers & levels) >= max(NAMED_OFTEN, len(numbers) / 2)


def limits_that_come_back(encode: Encode) -> list[float]:
    """Read back the limits of what was not heard."""
    ears = Table.read("out", write(encode, [session_with_marks()])).all_ears()
    readings = [reading for ear in ears for reading in ear.by_air.values() if not reading.heard]
    assert readings
    return [each.limit_db_hl for each in readings if each.limit_db_hl is not None]


def bone_comes_back(encode: Encode) -> bool:
    """Read back what was measured by bone; False: the form has nothing by bone."""
    examination = session_with_bone()
    table = Table.read("out", write(encode, [examination]))
    told = {
        (ear.side, frequency_hz): reading.level_db_hl
        for ear in table.all_ears()
        for frequency_hz, reading in ear.by_bone.items()
        if reading.heard
    }
    measured = {
        (route.ear, float(each.frequency_hz)): each.threshold_db_hl
        for route, of in examination.result.by_route.items()
        if route.by_bone
        for each in of.thresholds
        if each.mark == Outcome.MEASURED
    }
    assert measured
    for place in measured if told else ():
        assert told[place] == pytest.approx(measured[place], abs=LEVEL_DB)
    return bool(told)
