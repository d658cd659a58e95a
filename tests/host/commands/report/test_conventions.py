"""Every form of a report says what its thresholds are, and on which its grades and norms rest."""

import html
import json
import re
from dataclasses import replace
from functools import cache
from typing import Final

import pytest

from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.person import Person
from firmware_py.procedure.results import ConfirmedThreshold
from firmware_py.procedure.route import Route
from firmware_py.procedure.settings import CLINICAL_ASCENDING, CONVENTIONS, FIFTY_PERCENT
from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.commands.report.drawn import audiogram_as_json
from host_tools.commands.report.findings import Findings, findings_of
from host_tools.commands.report.notes import notes_of
from host_tools.commands.report.page import page_of
from host_tools.commands.report.words import Words
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.host.journals import BOTH, GpPta, NoSteps

pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]
CONFIRMED_DB_HL: Final = 65.0  # far above the band at 1 kHz of both ears


@cache
def a_session() -> ReplayedSession:
    """Return a session of a woman of 60, with a confirmed threshold at 1 kHz."""
    session = replay_session(BOTH)
    again = (ConfirmedThreshold(1000, CONFIRMED_DB_HL, Outcome.MEASURED, 9),)
    ears = tuple(replace(ear, confirmed=again) for ear in session.result.ears)
    session = replace(session, recorded=replace(session.result, ears=ears))
    session = replace(session, header=replace(session.header, person=Person(60.0, "F", "P-1")))
    return session


def findings_in(language: str, convention: str | None) -> tuple[Findings, ReplayedSession]:
    return findings_of(a_session(), language, convention), a_session()


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_says_what_thresholds_are(language: str, convention: str) -> None:
    found, session = findings_in(language, convention)
    words = Words(catalogue_of(language))
    page = html.unescape(page_of(found, session, NoSteps()))
    notes = notes_of(found, words)

    assert [note for note in notes if note not in page] == []
    clinical = convention == CLINICAL_ASCENDING
    assert words.say("convention_clinical" if clinical else "convention_50") == notes[0]
    offset = words.number(found.ears[0].clinical_offset_db, ".1f")
    assert f" + {offset} dB" in notes[1]
    # What was confirmed stands beside the band as a clinical threshold, which is the printed one
    # in that convention.
    (outside, _) = (note for note in notes if "1000 Hz" in note)
    at_1000 = next(t for t in found.ears[0].thresholds if t.frequency_hz == 1000)
    assert (words.band(at_1000) in outside) == clinical
    # Whom the norm is about, and whom not.
    assert notes[-1].startswith(words.say("norm_note", people=found.norm_title))
    assert (len(notes[-1]) > len(words.say("norm_note", people=found.norm_title))) != clinical
    assert "ISO 7029" in words.say("column_peers")
    assert "ISO 8253-1" in page


@pytest.mark.parametrize("by_air_too", [True, False])
def test_the_offsets_are_those_of_each_ear_by_air_if_it_was_tested(by_air_too: bool) -> None:
    found = findings_of(replay_session(BOTH), "en", CLINICAL_ASCENDING)
    by_air = [replace(ear, clinical_offset_db=2.0 + i) for i, ear in enumerate(found.ears)]
    others = [
        replace(ear, route=Route(ear.route.ear, "horn"), clinical_offset_db=8.0 + i)
        for i, ear in enumerate(found.ears)
    ]
    notes = notes_of(replace(found, ears=[*by_air * by_air_too, *others]), Words.of(found))
    right, left = ("2.0", "3.0") if by_air_too else ("8.0", "9.0")
    assert notes[1] == Words.of(found).say("convention_rules_ears", right=right, left=left)


def test_grades_norms_and_asymmetry_are_the_same_in_both_conventions() -> None:
    (fifty, session), (clinical, _) = (findings_in("en", each) for each in CONVENTIONS)
    assert (fifty.threshold_convention, clinical.threshold_convention) == CONVENTIONS
    assert fifty.grade == clinical.grade
    assert fifty.asymmetries == clinical.asymmetries
    for below, above in zip(fifty.ears, clinical.ears, strict=True):
        offset_db = below.clinical_offset_db
        assert (below.above_50_percent_db, above.above_50_percent_db) == (0.0, offset_db)
        assert below.pta4 is not None
        assert above.pta4 is not None
        assert below.pta4.shares == above.pta4.shares
        assert above.pta4.level_db_hl - below.pta4.level_db_hl == pytest.approx(offset_db, abs=0.02)
        for low, high in zip(below.thresholds, above.thresholds, strict=True):
            assert low.norm_share_better == pytest.approx(high.norm_share_better)
            if low.threshold_db_hl is not None and high.threshold_db_hl is not None:
                assert high.threshold_db_hl - low.threshold_db_hl == pytest.approx(offset_db)
            for one, other in zip(low.norm_db_hl or (), high.norm_db_hl or (), strict=True):
                if one is not None and other is not None:
                    assert other - one == pytest.approx(offset_db), "they stand side by side"
        for name in ("curve", "norm"):
            drawn = [
                audiogram_as_json(e, f, session) for e, f in ((below, fifty), (above, clinical))
            ]
            lines = [
                each["norm"]["median"]["levels_db_hl"]
                if name == "norm"
                else each["ears"][0]["curve"]["high_db_hl"]
                for each in drawn
            ]
            for one, other in zip(*lines, strict=True):
                assert other - one == pytest.approx(offset_db, abs=0.11)


def test_a_mean_just_below_a_grade_says_by_which_mean_it_is_graded() -> None:
    found, _ = findings_in("en", FIFTY_PERCENT)
    words = Words(catalogue_of("en"))
    (line, *_) = words.grades(found)
    level, clinical = re.findall(r"(?:: |threshold )(\d+\.\d)", line)
    offset_db = found.ears[0].clinical_offset_db
    assert float(clinical) - float(level) == pytest.approx(offset_db, abs=0.11)
    again, _ = findings_in("en", CLINICAL_ASCENDING)
    assert "as a clinical threshold" not in words.grades(again)[0]


def test_the_option_says_which(gp_pta: GpPta) -> None:
    found = json.loads(gp_pta("report", BOTH, "--json", "--convention", "clinical")[1])
    assert found["threshold_convention"] == CLINICAL_ASCENDING
    for ear in found["ears"]:
        assert ear["above_50_percent_db"] == ear["clinical_offset_db"]
