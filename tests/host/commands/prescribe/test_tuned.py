"""The sheet of a tuned fit, as it is set: tuned gains, setting, finding and limits."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from device.hearing_aid.fit import Fit
from device.hearing_aid.fit_file import fit_digest
from firmware_py.comparisons.result import TuningFinding, TuningResult
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.journal import FORMAT_VERSION, read_journal
from firmware_py.journal.records import encode_line
from firmware_py.paper.blocks import Paper, Table
from firmware_py.platform.version import full_version
from firmware_py.terms.reasons import Code, reason
from firmware_py.tuning.tuning_record import TuningHeader
from host_tools.catalogue import LANGUAGES, language_of
from host_tools.commands.prescribe.ear_prescription import (
    EarPrescription,
    fit_of_ears,
    prescribe_session,
)
from host_tools.commands.prescribe.paper import Sheet
from host_tools.commands.prescribe.tuned import Tuned, tuning_of
from host_tools.devices.tuning import finding_words, show_result
from host_tools.errors import HostError
from host_tools.papers import Shown
from host_tools.recordings.heading import NO_HEADING
from tests.budget import quick
from tests.host.journals import BOTH, LEFT_S2, GpPta, recorded_calibrated, write_again
from tests.host.pdfs import ReadPdf, check_tagged
from tests.host.reports import rows_in
from tests.tuning.test_golden_tuning import JOURNAL as GOLDEN_TUNING

pytestmark = pytest.mark.xdist_group("recorded")

WISH = TuningResult(
    "complete", TuningFinding.WISH, (3.0, 4.0, 0.0, -1.0), (3.1, 4.2, 0.3, -1.2),
    (1.1, 2.2, -1.3, -2.4), (5.1, 6.2, 2.3, 0.4), 0.5, 17, 3, 0, 0, (),
)  # fmt: skip
NONE = TuningResult(
    "complete", TuningFinding.NONE, (0.0,) * 4, (0.7, 0.8, 0.6, -0.9), (-9.7,) * 4, (9.8,) * 4,
    5.7, 16, 4, 0, 0, (reason(Code.NO_WISH),),
)  # fmt: skip


@cache
def fit_both() -> tuple[list[EarPrescription], Fit]:
    ears = prescribe_session(recorded_calibrated(BOTH), "nal-r", "closed", None)
    return ears, fit_of_ears(ears)


def sheet(result: TuningResult) -> Sheet:
    session, (ears, fit) = recorded_calibrated(BOTH), fit_both()
    settings = TuningSettings(
        "0" * 12, (*fit.ranges_db().values(),), (*fit.prior_sd_db().values(),)
    )
    header = TuningHeader(7, "2026-01-03T10:00:00+00:00", settings, "openMHA 4", None)
    return Sheet(session, ears, fit, tuned=Tuned(fit, header, result))


def tables_of(told: Paper) -> tuple[Table, Table]:
    """Return the table of the setting, and that of the right ear."""
    setting, gains = (t for s in told["sections"] for t in s["blocks"] if t["block"] == "tables")
    return setting["tables"][0], gains["tables"][0]


@pytest.mark.usefixtures("as_if_real")
@pytest.mark.parametrize("language", quick(LANGUAGES, "nl"))
def test_a_tuned_sheet_has_the_tuned_gains_the_setting_the_finding_and_the_limits(
    language: str, tmp_path: Path
) -> None:
    made, path, said = sheet(WISH), tmp_path / "sheet.pdf", language_of(language)
    told = made.paper()
    made.write(path, NO_HEADING, language)
    pdf = ReadPdf(path.read_bytes())
    check_tagged(pdf, language)
    assert (told["final"], told["headline"]["code"]) == (True, "fit-tuned")
    tuned_db, before_db = (
        fit.of_ear("right").gain_of_speech_db() for fit in (made.given, made.fit)
    )
    assert max(abs(tuned_db - before_db)) > 3.0
    setting, gains = tables_of(told)
    names = [name["code"] for name, _ in gains["rows"]]
    assert names == [
        "row-tuned", "prescribed-of", "row-threshold", "most-gain-of", "most-output-of",
        "own-discomfort-of",
    ]  # fmt: skip
    for cell, gain_db in zip(gains["rows"][0][1], tuned_db, strict=True):
        assert [row["level"] for row in rows_in(cell) if "level" in row] == [round(gain_db)]
    assert [cells[0]["change_db"] for _, cells in setting["rows"]] == [*WISH.setting_db]
    rows = [row for _, cells in (*setting["rows"], *gains["rows"]) for row in cells]
    rows += [row for row in rows_in(told) if row["code"] in ("finding-wish", "tuning-preferred")]
    off = next(row for row in rows_in(told) if row["code"] == "tuning-off")
    assert off["offset_db"] == 3.0
    assert all(" ".join(Shown(language).say(row).split()) in pdf.text for row in [*rows, off])
    assert said.say(told["title"]) == pdf.title


def test_what_was_not_found_has_no_figure(capsys: pytest.CaptureFixture[str]) -> None:
    told = sheet(NONE).paper()
    codes = {row["code"] for row in rows_in(told)}
    assert "finding-none" in codes
    assert "tuning-off" not in codes
    for _, cells in tables_of(told)[0]["rows"]:
        assert [each["code"] for each in cells] == ["change", "no-value", "no-value", "band"]
    show_result(Console(highlight=False, width=200), NONE)
    said = capsys.readouterr().out
    assert finding_words(NONE) in said
    assert not any(figure in said for figure in ("10.1", "0.7", "9.8", "within some"))
    show_result(Console(highlight=False, width=200), WISH, WISH.wish_db)
    said = capsys.readouterr().out
    assert "within some 3.0 dB" in said
    assert said.count("+4.2") == 2, "what was wished, and what is true"


@pytest.mark.usefixtures("as_if_real")
def test_a_tuning_that_was_ended_is_not_final_and_a_limit_holds_what_was_asked() -> None:
    told = sheet(replace(WISH, outcome="aborted", setting_db=(12.0, 12.0, 0.0, 0.0))).paper()
    ended = {"code": "tuning-ended", "status": {"code": "status-aborted"}}
    assert told["standing"] == {"code": "not-final", "why": ended}
    codes = {row["code"] for row in rows_in(tables_of(told)[1])}
    assert "held" in codes
    assert "sign-held" in {row["code"] for row in rows_in(told)}


def recorded_tuning(
    journal: Path, identifier: str | None = None, fit: str = "", records: int | None = None
) -> Path:
    """Write the journal of a tuning of the fit above, or of another; so many records of it."""
    header, *others = read_journal(GOLDEN_TUNING).records
    settings = header["settings"] | {"fit": fit or fit_digest(fit_both()[1])}
    changed = {"settings": settings, "identifier": identifier}
    write_again(journal, header | changed, others[:records])
    return journal


@pytest.mark.thorough
def test_a_sheet_is_made_from_the_journal_of_a_real_tuning(tmp_path: Path, gp_pta: GpPta) -> None:
    journal, out = recorded_tuning(tmp_path / "tuning-000001.journal"), tmp_path / "sheet.svg"
    code, said, told = gp_pta("prescribe", BOTH, "--tuning", journal, "-o", out)
    assert (code, said, told) == (0, "", f"{out} written\n")
    header, result = tuning_of(journal, fit_both()[1])
    ears, fit = fit_both()
    made = Sheet(recorded_calibrated(BOTH), ears, fit, tuned=Tuned(fit, header, result))
    made.write(tmp_path / "again.svg", NO_HEADING, "en")
    assert (tmp_path / "again.svg").read_bytes() == out.read_bytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"identifier": "P-2"}, "identifier 'P-2', not 'P-1': it is of another person"),
        ({"fit": "0" * 64}, "it is of another fit; --rule, --coupling and --ear have to be those"),
        ({"records": 12}, "it is not finished; allowed is one that came to its end"),
    ],
)
def test_a_tuning_that_is_not_of_this_fit_is_refused(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    fit = replace(fit_both()[1], of=replace(fit_both()[1].of, person="P-1"))
    with pytest.raises(HostError) as refusal:
        tuning_of(recorded_tuning(tmp_path / "tuning-000001.journal", **change), fit)
    assert words in str(refusal.value)


def test_another_journal_is_no_tuning() -> None:
    with pytest.raises(HostError, match=r"left-ear-s2\.journal: this is no journal of a tuning"):
        tuning_of(LEFT_S2, fit_both()[1])


def as_of(journal: Path, version: int, firmware: str) -> Path:
    """Have the journal of a tuning be of a format and a version, and its last tone another one."""
    header, *records = read_journal(journal).records
    spoken = next(r for r in records if r.get("action", {}).get("what") == "play-speech")
    spoken["action"]["tilt_db"] += 1.0
    lines, crc = [], ""
    own = {"kind": "header", "journal": version}
    told = {**own, **header, **own, "firmware": firmware}
    for number, record in enumerate([told, *records]):
        line, crc = encode_line(number, number, record, crc)
        lines.append(line)
    journal.write_bytes(b"".join(lines))
    return journal


def test_what_a_tuning_of_another_version_found_stands(tmp_path: Path) -> None:
    """It does not come out in this version, and its record is what was found then."""
    fit = fit_both()[1]
    true = tuning_of(recorded_tuning(tmp_path / "tuning-000001.journal"), fit)[1]
    elsewhere = recorded_tuning(tmp_path / "tuning-000002.journal")
    assert tuning_of(as_of(elsewhere, FORMAT_VERSION, "0.0.9"), fit)[1] == true
    own = recorded_tuning(tmp_path / "tuning-000003.journal")
    with pytest.raises(HostError, match="outputs DIFFER"):
        tuning_of(as_of(own, FORMAT_VERSION, full_version()), fit)
    earlier = recorded_tuning(tmp_path / "tuning-000004.journal")
    header, result = tuning_of(as_of(earlier, 1, "0.1.0"), fit)
    assert (header.recorded_by, result.setting_db) == ("0.1.0 (format 1)", true.setting_db)
