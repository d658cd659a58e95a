"""The figures of pages that the code knows: words are made from a constant here, and stand there.

A page that tells a limit, a default or a code repeats what the code says. Who changes one of them
is told which page has it.
"""

import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest

from device.hearing_aid import fit, serve
from firmware_py.console import grammar, wording
from firmware_py.ear import catch_trials, evidence, model_checks
from firmware_py.findings import whole_band
from firmware_py.inference.profiles import PROFILES
from firmware_py.installation.configuration import Configuration, read_configuration
from firmware_py.journal import read_journal, records
from firmware_py.link import aid, board_start, client, command
from firmware_py.presenting import pace
from firmware_py.terms import settings
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.settings import CLINICAL, CONDUCTS, Settings
from firmware_py.terms.words import say
from tests.host.journals import LEFT_S2
from tests.test_pages import ROOT

BRISK_TEST: Final = Settings()
CLINICAL_TEST: Final = Settings(conduct=CLINICAL)
CONSOLE: Final = "firmware_py/console/README.md"
INSTALL: Final = "device/install/README.md"
JOURNAL: Final = "firmware_py/journal/README.md"
LINK: Final = "firmware_py/link/README.md"
PROCEDURE: Final = "firmware_py/PROCEDURE.md"
HEARING_AID: Final = "device/hearing_aid/README.md"


def whole_parts() -> list[tuple[str, float | str]]:
    """Return the table of the parts of the whole, by the constants that it tells."""
    w = whole_band
    rows = {"day": w.DAY, "fit of the transducer": w.FIT, "its type": w.TYPE,
            "masking": w.MASKING, "room": w.ROOM}  # fmt: skip
    told: list[tuple[str, float | str]] = [
        (f"| {name} | {each.low_db} | {{}} |", f"{each.high_db}") for name, each in rows.items()
    ]
    air, bone = w.CALIBRATION_BY_AIR, w.CALIBRATION_BY_BONE
    assert air.high_db == bone.high_db, "the page has one figure"
    calibration = (f"| calibration | {air.low_db}, by bone {bone.low_db} | {{}} |", air.high_db)
    return [*told, calibration, ("each part has a correlation of {} between", w.RHO)]


def sentences() -> list[tuple[str, str]]:
    """Return what a page says, by the code's own figures."""
    s, clinical, percent = BRISK_TEST, CLINICAL_TEST, in_percent
    cap = say(reason(Code.CAP_KEPT, tones_max=clinical.tones_max, tones=34, kept=6))
    wanted_db = clinical.stop_half_width_db
    wide = say(reason(Code.WIDE_STILL, half_width_db=9.1, frequency_hz=8000, wanted_db=wanted_db))
    inputs_db_spl = fit.INPUT_LEVELS_DB_SPL
    by_page: dict[str, list[tuple[str, float | str]]] = {
        PROCEDURE: [
            ("`level_max_db_hl` ({} dB HL)", s.level_max_db_hl),
            *whole_parts(),
            ("No tone is more than {} dB above the louder of two", settings.STEP_UP_MAX_DB),
            ("to {} s after the onset", pace.WINDOW_MS_MAX / 1e3),
            ("after the onset, at most {} s", pace.LATE_MS_MAX / 1e3),
            ("no answer within {} s is cut off", pace.LATE_MS_MAX / 1e3),
            ("A second press** within {} s of an answer", pace.AGAIN_US_MAX / 1e6),
            ("a median of {} s", pace.MEDIAN_S),
            ("a press earlier than {} ms after the onset", s.response_ms_min),
            ("| {} s, and a random time after that", s.pause_ms_min / 1e3),
            ("on average, at most {} s |", (s.pause_ms_max - s.pause_ms_min) / 1e3),
            ("| {} s and ", clinical.pause_ms_min / 1e3),
            ("at most {} s; not shorter", (clinical.pause_ms_max - clinical.pause_ms_min) / 1e3),
            ("rate of false alarms above {}", percent(catch_trials.FALSE_ALARM_RATE_IN_DOUBT)),
            ("that attention was away add up to {}", model_checks.RUN_AWAY),
            ("five pauses or more, and {} of them", percent(evidence.PAUSES_PRESSED_SHARE)),
            ("a probability of at most {} by", percent(model_checks.RETEST_IMPROBABLE)),
            ("a plateau of at least {} ms", settings.PLATEAU_MS_MIN),
        ],
        JOURNAL: [
            ("A line with its newline has at most {} bytes", str(records.RECORD_BYTES_MAX)),
            ("the header at most {};", str(records.HEADER_BYTES_MAX)),
            ("a journal at most {} MiB", records.JOURNAL_BYTES_MAX / 1024**2),
            ("writes at most {} bytes", str(records.UNSYNCED_BYTES_MAX)),
            ("at most {} nested objects and lists", records.NESTING_MAX),
            ('"kind": "header", "journal": {}', records.FORMAT_VERSION),
        ],
        CONSOLE: [
            ("at most {} printable characters", grammar.LINE_CHARACTERS_MAX),
            ("more errors than are kept: {} of lines", grammar.ERRORS_MAX),
            ("{};", wording.readable(f"{cap}; {wide}")),
        ],
        LINK: [
            ("answers a command none of {} times", client.REPEATS_MAX + 1),
            ("times, {} s apart", command.ANSWER_TIMEOUT_US / 1e6),
            ("be up to {} s behind", board_start.BEHIND_US / 1e6),
        ],
        HEARING_AID: [
            ("at input levels from {} to", inputs_db_spl[0]),
            ("to {} dB SPL, the most gain", inputs_db_spl[-1]),
            ("in ASCII lines of at most {} bytes", serve.LINE_BYTES_MAX),
            ("one answer of at most {} each", str(aid.LINE_BYTES_MAX)),
            ("have at most {} letters", aid.NAME_CHARACTERS_MAX),
            ("decimals within {} and", aid.RANGE_DB[0]),
            ("and {} dB, and a sound's number", aid.RANGE_DB[1]),
            ("number is at most {};", str(aid.SOUND_NUMBERS[1])),
        ],
    }
    return [
        (page, words.format(value if isinstance(value, str) else f"{value:g}"))
        for page, rows in by_page.items()
        for words, value in rows
    ]


def in_percent(share: float) -> str:
    return f"{100 * share:g} %"


def prose(page: str) -> str:
    """Return a page in one line."""
    return " ".join((ROOT / page).read_text("utf-8").split())


@pytest.mark.parametrize(("page", "sentence"), sentences())
def test_a_page_says_what_the_code_does(page: str, sentence: str) -> None:
    assert " ".join(sentence.split()) in prose(page)


def numbers_of_errors() -> set[int]:
    """Return those of the grammar: below 0 they are of SCPI, and above 100 our own."""
    numbers = {name: value for name, value in vars(grammar).items() if isinstance(value, int)}
    return {value for name, value in numbers.items()
            if name != "LINE_CHARACTERS_MAX" and (value < 0 or value > 100)}  # fmt: skip


def test_the_console_page_has_every_number_of_an_error_once() -> None:
    table = (ROOT / CONSOLE).read_text("utf-8").partition("| number | meaning |")[2]
    rows = re.findall(r"^\| (-?\d{3}(?:, -?\d{3})*) \|", table, re.MULTILINE)
    named = [int(number) for row in rows for number in row.split(", ")]
    assert sorted(named) == sorted(numbers_of_errors())


def test_the_pages_of_profiles_have_them_all() -> None:
    research = (ROOT / "host_tools/research/README.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \|", research.partition("| profile |")[2], re.MULTILINE)
    assert rows[: len(PROFILES)] == [*PROFILES]
    glossary = prose("firmware_py/GLOSSARY.md")
    assert [name for name in PROFILES if f"`{name}`" not in glossary] == []


def test_the_configuration_of_the_page_loads_and_has_the_values_of_its_conduct(
    tmp_path: Path,
) -> None:
    page = (ROOT / INSTALL).read_text("utf-8")
    (block,) = re.findall(r"```toml\n(\[test\].*?)```", page, re.DOTALL)
    shown = tomllib.loads(block)
    path = tmp_path / "gp-pta.toml"
    for key_file in shown.pop("journal").values():
        assert key_file.endswith(".key")
    del shown["device"]["calibration"]
    path.write_text(block.partition("[journal]")[0].replace('calibration = "', '# "'))
    test = read_configuration(path).test
    assert test.conduct == CLINICAL
    assert {name: shown["test"][name] for name in CONDUCTS[CLINICAL] if name in shown["test"]} == {
        name: value for name, value in CONDUCTS[CLINICAL].items() if name in shown["test"]
    }
    defaults = {field.name: field.default for field in fields(Configuration)}
    assert shown["device"] == {name: defaults[name] for name in shown["device"]}


def test_the_journal_of_the_page_has_the_shape_of_one_that_a_test_wrote() -> None:
    block = re.search(r"```json\n(.*?)```", (ROOT / JOURNAL).read_text("utf-8"), re.DOTALL)
    assert block is not None
    _, *shown = map(json.loads, block[1].splitlines())
    written = [shape(record) for record in read_journal(LEFT_S2).records]
    for record in shown[:-1]:
        assert shape({k: v for k, v in record.items() if k not in OF_A_LINE}) in written
    assert shown[-1]["kind"] == "end"


OF_A_LINE: Final = {"n", "synced", "crc"}


def shape(record: dict[str, Any]) -> dict[str, Any]:
    """Return the kind of a record, and what was told or done with the names of its values."""
    inside = {key: [value.get("what"), *value] for key, value in record.items()
              if key in ("event", "action")}  # fmt: skip
    return {"kind": record["kind"], **inside}
