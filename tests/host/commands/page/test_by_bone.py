"""The page says of bone conduction what a report says."""

import json
from dataclasses import replace
from typing import Any, Final

import pytest

from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.findings.air_bone_gap import LossType
from firmware_py.findings.asymmetry import asymmetries
from firmware_py.findings.finished import result_as_json
from firmware_py.procedure.outcomes import Bound, Verdict
from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.commands.page.assemble import function_of, modules
from host_tools.commands.page.knowledge import knowledge
from host_tools.commands.report.ear_sentence import ear_sentence
from host_tools.commands.report.findings import findings_of
from host_tools.commands.report.norms import asymmetry_words
from host_tools.commands.report.words import Words
from host_tools.recordings.heading import NO_HEADING
from host_tools.recordings.particulars import Particulars
from tests.calibration.calibrations import MADE
from tests.calibration.test_bone import of_bone
from tests.host.commands.report.test_bone import conductive
from tests.host.commands.report.test_referral import with_bone
from tests.host.javascript import compute

pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]
SAID: Final = """
globalThis.document = { documentElement: {} };
return given.languages.map((language) => {
  useWords(given.keys, given.words, language);
  useRemarks(given.remarks);
  const { told } = given;
  return [lossLines(told), gapLines(told), meanLines(told), told.ears.map(earSentence)];
});
"""
FACTS: Final = """
const createElement = () => ({
  setAttribute() {},
  append(...children) {
    this.text = children.map((each) => each.text ?? each);
  },
});
globalThis.document = { documentElement: {}, createElement };
return given.languages.map((language) => {
  useWords(given.keys, given.words, language);
  useRemarks(given.remarks);
  return factsOf(given.result, given.whose, given.paper).map(({ text }) => text.flat());
});
"""
COMPARED: Final = """
globalThis.document = { documentElement: {} };
return given.languages.map((language) => {
  useWords(given.keys, given.words, language);
  return asymmetryLines(given.told);
});
"""


def run(name: str, program: str, **given: Any) -> Any:
    own = "\n".join(function_of(each) for each in modules(name).values())
    knows = {key: knowledge()[key] for key in ("keys", "words", "remarks")}
    return compute(own + program, **given, **knows)


def test_types_of_loss_and_gaps_are_said_as_in_a_report() -> None:
    session = conductive()
    told = result_as_json(session.result, session.settings, nominal=False)
    told = {**told, "nominal": False}
    said = run("result.js", SAID, languages=[*LANGUAGES], told=json.loads(json.dumps(told)))

    for language, (losses, gaps, means, sentences) in zip(LANGUAGES, said, strict=True):
        findings = findings_of(session, language)
        words = Words.of(findings)
        assert losses == words.losses(findings)
        assert gaps == [each for each in words.remarks(findings) if "21 CFR" in each]
        assert len(gaps) == 1
        assert means == words.grades(findings)
        by_route = {ear.route: ear_sentence(ear, words) for ear in findings.ears}
        assert sentences == [by_route[ear.route] for ear in session.result.ears]


def test_what_is_unsure_or_missing_of_gaps_is_said_as_in_a_report() -> None:
    session = conductive.__wrapped__()
    found = session.recorded
    assert found is not None
    *others, left_bone = found.ears
    doubtful = replace(left_bone, verdict=Verdict.DOUBTFUL)
    session = replace(session, recorded=replace(found, ears=(*others, doubtful)))
    told = json.loads(json.dumps(result_as_json(session.result, session.settings, nominal=False)))
    (right,) = told["air_bone_gaps"]
    right["mean"]["share"], right["loss_is_probable"] = 0.8, True
    given = {**told, "nominal": False}
    said = run("result.js", SAID, languages=[*LANGUAGES], told=given)

    for language, (losses, *_) in zip(LANGUAGES, said, strict=True):
        findings = findings_of(session, language)
        (gap,) = findings.gaps
        assert gap.mean is not None
        unsure = replace(gap, mean=replace(gap.mean, share=0.8))
        assert unsure.loss_is_probable
        words = Words.of(findings)
        assert losses == words.losses(replace(findings, gaps=[unsure]))
        assert len(losses) == 3
        assert losses != words.losses(findings)


@pytest.mark.parametrize(("share", "bound"), [(0.9, Bound.AT_MOST), (0.1, Bound.AT_LEAST)])
def test_a_bound_that_leaves_15_db_open_tells_no_probability(share: float, bound: Bound) -> None:
    session = conductive()
    told = json.loads(json.dumps(result_as_json(session.result, session.settings, nominal=False)))
    unknown = {"loss": LossType.UNKNOWN, "loss_is_probable": False, "mean_is_undecided": True}
    told["air_bone_gaps"][0] |= unknown
    told["air_bone_gaps"][0]["mean"] |= {"share": share, "bound": bound}
    said = run("result.js", SAID, languages=[*LANGUAGES], told={**told, "nominal": False})
    for language, (losses, *_) in zip(LANGUAGES, said, strict=True):
        findings = findings_of(session, language)
        right, left = findings.gaps
        assert right.mean is not None
        open_gap = replace(right.mean, share=share, bound=bound)
        assert open_gap.is_undecided
        words = Words.of(findings)
        gaps = [replace(right, mean=open_gap, loss=LossType.UNKNOWN), left]
        assert losses == words.losses(replace(findings, gaps=gaps))
        assert losses[0].endswith(words.say("gap_share_open"))


def test_an_asymmetry_is_said_as_in_a_report() -> None:
    mixed = with_bone(60.0, 30.0)
    worse_ear_only = replace(mixed, ears=(*mixed.ears[:2], mixed.ears[3]))
    sessions = with_bone(70.0, 50.0), with_bone(60.0, 33.0), with_bone(60.0, 55.0), worse_ear_only
    found = [each for session in sessions for each in asymmetries(session)]
    assert {(bool(each.bone_hz), each.may_be_conductive) for each in found} == {
        (True, False), (False, False), (False, True),
    }  # fmt: skip
    told = {"asymmetries": [each.to_record() for each in found]}
    said = run("result.js", COMPARED, languages=[*LANGUAGES], told=json.loads(json.dumps(told)))

    assert len(said) == len(LANGUAGES)
    for language, lines in zip(LANGUAGES, said, strict=True):
        assert lines == [asymmetry_words(each, catalogue_of(language)) for each in found]


def test_the_paper_of_the_page_names_the_vibrator_as_a_report_does() -> None:
    session = conductive.__wrapped__()
    calibration = CalibrationOnFile(of_bone()).judge(MADE)
    session = replace(session, header=replace(session.header, calibration=calibration))
    made = {"state": calibration.state, **of_bone().content}
    whose = {"device": "", "typed": {}, "session": 1, "started": "2026-01-02T10:00:00"}
    paper = {
        "settings": session.header.to_record()["settings"], "prior": "", "firmware": "1",
        "calibration": made, "masked": False, "breaks": [], "waits": [],
    }  # fmt: skip
    air: dict[str, Any] = {"boards": []}
    bone = {**air, "transducer": "bone"}
    for ears, known in (([air, bone], True), ([air], False)):
        result = {"which_ear": "confirmed", "outcome": "complete", "ears": ears}
        told = {"result": result, "whose": whose, "paper": paper}
        said = run("paper.js", FACTS, languages=[*LANGUAGES], **told)
        for language, facts in zip(LANGUAGES, said, strict=True):
            catalogue = catalogue_of(language)
            name = catalogue.say("record", "vibrator")
            value = dict(Particulars(session, NO_HEADING, catalogue).facts())[name]
            assert [each for each in facts if each[0] == name] == [[name, value]] * known


@pytest.mark.parametrize("zone", ["+00:00", "+09:00", "-03:30", "Z", ""])
def test_the_paper_of_the_page_says_the_zone_of_a_time_as_a_report_does(zone: str) -> None:
    started = f"2026-12-31T23:59:30{zone}"
    whose = {"device": "", "typed": {}, "session": 1, "started": started}
    paper = {
        "settings": conductive().header.to_record()["settings"], "prior": "", "firmware": "1",
        "calibration": {"state": "SIMULATED"}, "masked": False, "breaks": [], "waits": [],
    }  # fmt: skip
    result = {"which_ear": "confirmed", "outcome": "complete", "ears": [{"boards": []}]}
    told = {"result": result, "whose": whose, "paper": paper}
    said = run("paper.js", FACTS, languages=[*LANGUAGES], **told)
    for language, facts in zip(LANGUAGES, said, strict=True):
        catalogue = catalogue_of(language)
        assert [catalogue.say("record", "tested"), catalogue.time(started)] in facts


def test_a_session_by_air_says_nothing_of_gaps() -> None:
    session = conductive()
    told = json.loads(json.dumps(result_as_json(session.result, session.settings, nominal=False)))
    by_air = [ear for ear in told["ears"] if "transducer" not in ear]
    told = {**told, "nominal": False, "ears": by_air}
    del told["air_bone_gaps"]

    for losses, gaps, means, _ in run("result.js", SAID, languages=["en"], told=told):
        assert (losses, gaps) == ([], [])
        assert len(means) == 3
