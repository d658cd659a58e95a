"""A directory with journals of several formats: each is listed as what it is, and none is lost."""

import json
import shutil
from pathlib import Path

import pytest

from firmware_py.journal import FORMAT_VERSION
from firmware_py.journal.records import chained_crc
from firmware_py.sessions.archive import NEWER, glance
from tests.formats import FORMATS, journals_of
from tests.host.journals import GpPta

NEXT = FORMAT_VERSION + 1


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return journals of every format so far, of none, and of later ones."""
    data = tmp_path / "data"
    data.mkdir()
    for version in FORMATS:
        for path in journals_of(version, "session"):
            shutil.copy(path, data / path.name.replace("session-000", f"session-{version:03d}"))
        shutil.copy(journals_of(version, "tuning")[0], data / f"tuning-{version:06d}.journal")
    for number, version in ((900, 0), (901, NEXT), (902, 99)):
        body = f'{{"n": 0, "synced": 0, "kind": "header", "journal": {version}, "firmware": "7.1"'
        line = f'{body}, "crc": "{chained_crc("", body.encode())}"}}\n'
        (data / f"session-{number:06d}.journal").write_text(line)
    return data


def test_a_directory_of_several_formats_is_listed(directory: Path, gp_pta: GpPta) -> None:
    code, out, err = gp_pta("sessions", directory, "--no-index")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert (code, err.count("1 foreign, 2 newer, 2 tuning")) == (0, 1)
    assert lines["session-001001.journal"].endswith("  recorded by 0.1.0 (format 1)")
    assert " complete " in lines["session-001001.journal"]
    assert " unfinished " in lines["session-001003.journal"]
    assert lines["session-002001.journal"].endswith("P-17")
    assert "newer: was recorded by 7.1 (format 99)" in lines["session-000902.journal"]
    assert f"newer: was recorded by 7.1 (format {NEXT})" in lines["session-000901.journal"]
    assert "foreign: has journal format version 0" in lines["session-000900.journal"]
    assert "tuning: of nobody named, begun 2026-01-02" in lines["tuning-000001.journal"]
    assert lines["tuning-000001.journal"].endswith("complete, recorded by 0.1.0 (format 1)")
    assert lines["tuning-000002.journal"].endswith(", complete")


def test_what_can_be_exported_of_it_is_and_the_rest_is_named(
    directory: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    """A tuning is no hearing test: a directory has it, and nothing is wrong with it."""
    for words in (["export", directory, "-o"], ["sessions", directory, "--no-index", "--export"]):
        out = tmp_path / f"{words[0]}.json"
        code, _, err = gp_pta(*words, out)
        sessions = json.loads(out.read_text())["sessions"]
        assert code == 1
        assert [each["journal"] for each in sessions] == [
            f"session-00{number}.journal" for number in (1001, 1002, 2001, 2002, 2003)
        ]
        assert [each["simulated"] for each in sessions] == [None, None, True, True, True]
        left_out = [line for line in err.splitlines() if line.startswith("left out: ")]
        names = ("000900", "000901", "000902", "001003", "002004")
        assert all(name in line for name, line in zip(names, left_out, strict=True))
        assert "only the version that began it can go on with it" in left_out[3]
        assert "--unfinished" not in left_out[3]
        assert "--unfinished exports what is known" in left_out[4]


def test_an_unfinished_one_of_an_earlier_format_is_not_exported_as_far_as_it_goes(
    directory: Path, gp_pta: GpPta
) -> None:
    code, out, err = gp_pta(
        "export", directory / "session-001003.journal", "--unfinished", "--format", "json"
    )
    assert (code, out) == (2, "")
    assert "only the version that began it can go on with it: 0.1.0 (format 1)" in err


def test_people_have_their_sessions_of_all_formats(directory: Path, gp_pta: GpPta) -> None:
    code, out, err = gp_pta("sessions", directory, "--no-index", "--people", "--json")
    sessions = {
        each["identifier"]: [visit["name"] for visit in each["sessions"]]
        for each in json.loads(out)["people"]
    }
    assert code == 1
    assert {"session-001001.journal", "session-002001.journal"} <= {*sessions["P-17"]}
    assert {"session-001002.journal", "session-002002.journal"} <= {*sessions["P-18"]}
    assert "tuning-" not in err


def test_a_console_calls_a_later_format_newer(directory: Path) -> None:
    assert glance(directory / "session-000901.journal").outcome == NEWER
