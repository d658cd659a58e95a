"""`gp-pta export` writes what was asked for, or says what is wrong and writes nothing."""

import json
from pathlib import Path

import pytest

from host_tools.main import main
from tests.host.export.sessions import BOTH, JOURNALS, SILENT


def exported(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    code = main(["export", *map(str, words)])
    output = capsys.readouterr()
    return code, output.out, output.err


def test_the_ending_of_the_file_tells_the_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for ending in ("csv", "json", "parquet"):
        path = tmp_path / f"out.{ending}"
        assert exported(capsys, *JOURNALS, "-o", path) == (0, "", "")
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + len(JOURNALS)
    assert json.loads((tmp_path / "out.json").read_text())["format"] == "gp-pta sessions 1"
    assert (tmp_path / "out.parquet").read_bytes()[:4] == b"PAR1"


def test_text_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = exported(capsys, BOTH, "--format", "fhir", "-o", "-")
    assert code == 0
    assert json.loads(out)["resourceType"] == "Bundle"
    assert exported(capsys, BOTH, BOTH, "--format", "csv")[1].count("\n") == 2, "once"


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = exported(capsys, "--schema")
    assert code == 0
    assert json.loads(out)["$id"] == "urn:gp-pta:schema:sessions:1"


def test_nothing_is_overwritten_without_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.csv"
    path.write_text("mine")
    code, _, err = exported(capsys, BOTH, "-o", path)
    assert (code, path.read_text()) == (2, "mine")
    assert "not overwritten without --force" in err
    assert exported(capsys, BOTH, "-o", path, "--force")[0] == 0
    assert path.read_text().startswith("journal,")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "no journal is named"),
        ([BOTH], "--format is missing; allowed are csv, json, fhir, parquet"),
        ([BOTH, "--format", "parquet"], "parquet is no text"),
        ([BOTH, "-o", "out.txt"], "--format is missing"),
        ([BOTH, "--format", "csv", "-o", "out.json"], "allowed is a name in .csv"),
        ([BOTH, "-o", "nowhere/out.csv"], "in a directory that is there"),
    ],
)
def test_what_cannot_be_written_is_refused(
    words: list[str | Path], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = exported(capsys, *words)
    assert (code, out) == (2, "")
    assert told in err


def test_a_session_without_a_result_is_exported_only_when_asked_for_and_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half, out = tmp_path / "session-000002.journal", tmp_path / "out.json"
    half.write_bytes(BOTH.read_bytes()[:30_000])
    code, _, err = exported(capsys, SILENT, half, "-o", out)
    assert (code, out.exists()) == (2, False)
    assert f"{half}: it was not finished" in err
    assert "--unfinished exports what is known" in err

    assert exported(capsys, SILENT, half, "-o", out, "--unfinished")[0] == 0
    silent, unfinished = json.loads(out.read_text())["sessions"]
    assert (silent["outcome"], unfinished["outcome"]) == ("complete", "unfinished")
    assert unfinished["ears"][0]["tones"] > 5


@pytest.mark.parametrize("option", [(), ("--unfinished",)])
def test_a_damaged_or_foreign_file_is_named(
    option: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, foreign = tmp_path / "session-000001.journal", tmp_path / "letter.txt"
    content = bytearray(BOTH.read_bytes())
    content[20_000] ^= 4
    damaged.write_bytes(content)
    foreign.write_text("Dear sirs,\n")
    for path, words in ((damaged, "damaged at line"), (foreign, "is no journal")):
        code, out, err = exported(capsys, path, "--format", "csv", *option)
        assert (code, out) == (2, "")
        assert err.startswith(f"gp-pta: {path}: ")
        assert words in err
        assert err.count(str(path)) == 1
