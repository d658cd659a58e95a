"""Without a calibration no form says dB HL of a level: screens, console, paper, pages, exports."""

import re
from pathlib import Path
from typing import Final

import pytest

from firmware_py.journal import read_journal
from firmware_py.operator.replies import pairs
from firmware_py.terms.reasons import Code, reason
from host_tools.catalogue import ENGLISH, LANGUAGES, catalogue_of
from host_tools.commands.export.examination import read_examination
from host_tools.commands.prescribe.from_session import Waived, source_of_session
from host_tools.commands.prescribe.paper import Sheet
from host_tools.commands.prescribe.prescription import Prescription
from host_tools.commands.replay.what_if.comparison import Comparison
from host_tools.commands.replay.what_if.supposition import Supposition
from host_tools.papers import Shown as InLanguage
from host_tools.papers.html import sections_as_html
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.host.commands.export.every_form import FORMS, leaves_of
from tests.host.commands.export.sessions import write
from tests.host.journals import LEFT_S2, write_again
from tests.host.renderers import RENDERERS, Shown

# Sentences of the catalogue that speak of dB HL itself, and not of a level; and those that are told
# of a calibrated device alone. All others have a unit to be filled in.
OF_DB_HL: Final = {
    "paper": ("state-overdue-means", "state-uncalibrated-means", "no-mean-nominal"),
    "prescription": ("whom-not-judged", "uncalibrated-fit", "fit-uncalibrated"),
    "page": ("fault_calibration", "calibration_overdue", "calibration_uncalibrated", "error_104"),
    "people": ("people-uncalibrated",),
}
CALIBRATED_ALONE: Final = {
    "picture": ("level",),
    "paper": ("mean", "mean-at-least", "mean-at-most", "grade-below", "gap-rule"),
    "prescription": ("whom-normal", "whom-normal-doubt"),
    "remarks": ("unit-db-hl",),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_other_sentence_names_db_hl(language: str) -> None:
    named = {
        (place, key)
        for place, table in catalogue_of(language).tables.items()
        for key, sentence in table.items()
        if "dB HL" in sentence
    }
    places = (OF_DB_HL, CALIBRATED_ALONE)
    assert named == {(p, key) for each in places for p, keys in each.items() for key in keys}


def of_levels(text: str) -> str:
    """Return a text without what speaks of dB HL itself."""
    tables = catalogue_of(ENGLISH).tables
    about = [tables[place][key] for place, keys in OF_DB_HL.items() for key in keys]
    for sentence in about:
        for part in re.split(r"\{\w+\}", sentence):
            text = text.replace(part, "") if "dB HL" in part else text
    return text


def nominal_session(path: Path) -> ReplayedSession:
    """Return one without a calibration whose reasons name levels, read from its journal."""
    header, *records = read_journal(LEFT_S2).records
    (result,) = [r["action"]["result"] for r in records if "result" in r.get("action", {})]
    crosses = reason(Code.CROSSES, level_db_hl=70, ear="right", crossing_db_hl=20, cochlea_db_hl=5)
    uncertain = reason(Code.MASKING_UNCERTAIN, ear="left", frequencies_hz=[4000], why=crosses)
    beyond = reason(Code.PERHAPS_BEYOND, limit_db_hl=100, frequencies_hz=[8000])
    result["remarks"].append(uncertain.to_record())
    result["ears"][0]["why"].append(beyond.to_record())
    write_again(path, header, records)
    return replay_session(path)


def test_without_a_calibration_no_form_says_db_hl_of_a_level(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / LEFT_S2.name
    session = nominal_session(path)
    examination = read_examination(path)
    source = source_of_session(session, Waived(uncalibrated=True))
    made = Prescription.of(source, "nal-r", "closed", None)
    made.print([])
    shown, sheet = Shown(session, path), Sheet(session, made.ears, made.fit).paper()
    forms = {
        **{name: of_levels(render(shown)) for name, render in RENDERERS.items()},
        **{name: text_of(write(form.encode, [examination])) for name, form in FORMS.items()},
        "events": pairs({"why": session.result.remarks}),
        "ear-over": "\n".join(pairs({"why": ear.why}) for ear in session.result.ears),
        "what if": "\n".join(Comparison.of(session, Supposition(response_noise_db=4.0)).lines()),
        "prescribe": of_levels(capsys.readouterr().out),
        "fit": of_levels(sections_as_html(sheet["sections"], InLanguage())),
    }
    assert {form for form, text in forms.items() if "dB HL" in text} == set()
    for name in ("live", "AUD", "events", "page", "fhir", "paper", "fit"):
        assert (
            "70 dB (not calibrated) reaches the right ear at 20 dB (not calibrated)" in forms[name]
        ), name
    for name in ("ear-over", "fhir"):
        assert "perhaps beyond the limit of 100 dB (not calibrated)" in forms[name], name
    assert '"unit": "nominal-db"' in write(FORMS["json"].encode, [examination]).decode()


def text_of(content: bytes) -> str:
    """Return what stands in a file of an export."""
    return "\n".join(str(leaf.value) for leaf in leaves_of(content))
