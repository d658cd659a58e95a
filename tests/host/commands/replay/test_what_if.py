"""What another model would have said: to the same answers, all of them; and priors of one's own."""

import json
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np
import pytest

from firmware_py import ThresholdEstimator
from firmware_py.journal import read_journal
from firmware_py.platform.own_prior import OwnPrior, path_of
from firmware_py.terms.person import Person
from host_tools.commands.export.examination import read_examination
from host_tools.commands.replay.what_if import Comparison, Estimate, Row, Supposition
from host_tools.commands.replay.what_if_picture import comparison_sheet, draw_ears
from host_tools.errors import HostError
from host_tools.recordings.look import entry_of
from host_tools.recordings.recorded_session import replay_session
from tests.budget import quick
from tests.host.bench import Benches
from tests.host.journals import BOTH, GOLDEN, LEFT_S2, GpPta, Refused, session_of, write_again
from tests.host.refusals import SHIPPED_PRIOR
from tests.own_priors import small_prior, write_prior

TWO_BUTTONS: Final = GOLDEN / "two-buttons.journal"

pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once

# Of these nothing may be said: no ear could be tested.
UNTESTABLE: Final = {"always-answering", "silent-ear"}
TESTABLE: Final = sorted({path.stem for path in GOLDEN.glob("*.journal")} - UNTESTABLE)


@pytest.mark.parametrize("name", quick(TESTABLE, "two-buttons"))
def test_the_same_model_says_the_same_to_the_bit(name: str) -> None:
    session = session_of(GOLDEN / f"{name}.journal")
    comparison = Comparison.of(session, Supposition(profile=session.settings.profile))

    assert comparison.rms_db == 0.0
    bone = "bone conduction is left out: its test began with what the recorded model found by air"
    assert comparison.remarks == ([bone] if name == "bone" else [])
    for ear in comparison.ears:
        assert all(row.recorded == row.supposed for row in ear.rows)


def test_another_model_is_told_every_answer_in_its_order() -> None:
    session = session_of(TWO_BUTTONS)
    (ear,) = Comparison.of(session, Supposition(response_noise_db=5.0)).ears
    estimator = ThresholdEstimator(
        max_trials=40, response_noise_db=5.0, level_limits_db_hl=(-10.0, 100.0),
        unsure_half_width_db=session.settings.dead_zone_half_width_db,
    )  # fmt: skip
    told = {True: 0, False: 0, None: 0}
    (tested,) = session.test.ears.values()
    # Where a pause made a silent trial only the evidence has; the answers are the journal's.
    trials = (trial for trial in session.trials if trial.purpose != "confirm")
    for each in tested.evidence.given:
        if isinstance(each, bool):
            estimator.observe_silence(each)
            continue
        trial = next(trials)
        if trial.purpose == "catch":
            estimator.observe_silence(trial.heard is not False)
            continue
        assert trial.frequency_hz is not None
        assert trial.level_db_hl is not None
        estimator.observe(trial.frequency_hz, trial.level_db_hl, trial.heard)
        told[trial.heard] += 1
    assert next(trials, None) is None, "the familiarisation of a brisk test counts as well"
    mean_db_hl, _ = estimator.threshold([row.frequency_hz for row in ear.rows])

    assert min(told.values()) > 3
    np.testing.assert_array_equal([row.supposed.mean_db_hl for row in ear.rows], mean_db_hl)
    assert [row.supposed for row in ear.rows] != [row.recorded for row in ear.rows]


def test_what_a_model_has_no_use_for_is_left_out_and_said(tmp_path: Path) -> None:
    session = session_of(TWO_BUTTONS)
    unsure = session.result.ears[0].tones_unsure
    comparison = Comparison.of(session, Supposition(profile="gp-pta-2015"))
    assert comparison.remarks == [
        f"gp-pta-2015 has no use for the {unsure} unsure answers; they are left out"
    ]

    known = replay_session(of_a_person(tmp_path, Person(67.0, "F")))
    paper = Comparison.of(known, Supposition(profile="gp-pta-2015"))
    assert paper.remarks == ["gp-pta-2015 has no use for age and sex"]
    same = Comparison.of(known, Supposition(profile="default"))
    assert same.rms_db == 0.0, "of the same person"


def of_a_person(tmp_path: Path, person: Person) -> Path:
    header, *records = read_journal(LEFT_S2).records
    path = tmp_path / "session-000001.journal"
    write_again(path, header | {"person": person.as_record()}, records)
    return path


def test_beyond_a_limit_is_the_limit() -> None:
    inside, beyond = Estimate(90.0, 80.0, 100.0), Estimate(130.0, 110.0, 150.0)
    further, below = Estimate(150.0, 120.0, 170.0), Estimate(-25.0, -30.0, -20.0)

    assert Row(1000, -10.0, 100.0, inside, beyond).difference_db == 10.0
    assert Row(1000, -10.0, 100.0, beyond, further).difference_db == 0.0
    assert Row(1000, -10.0, 100.0, inside, below).difference_db == -100.0


def test_the_difference_comes_first_and_the_verdict_last(
    gp_pta: GpPta,
) -> None:
    code, out, _ = gp_pta("replay", BOTH, "--profile", "gp-pta-2015")
    first, *table, empty, whose, verdict, calibration = out.splitlines()
    code_json, document, _ = gp_pta("replay", BOTH, "--profile", "gp-pta-2015", "--json")
    told = json.loads(document)
    differences_db = {
        (ear["ear"], row["frequency_hz"]): row["difference_db"]
        for ear in told["what_if"]["ears"]
        for row in ear["thresholds"]
    }
    ear, frequency_hz = max(differences_db, key=lambda place: abs(differences_db[place]))
    rms_db = np.sqrt(np.mean(np.square(list(differences_db.values()))))

    assert (code, code_json) == (0, 0)
    assert len(differences_db) == 20
    assert first == (
        f"profile gp-pta-2015 instead of default: thresholds differ by {rms_db:.1f} dB RMS, at "
        f"most by {differences_db[ear, frequency_hz]:+.1f} dB at {frequency_hz} Hz ({ear} ear)"
    )
    assert sum(line.lstrip()[:4].strip().isdigit() for line in table) == 20
    assert (empty, whose) == ("", "Replayed with the model that it was recorded with:")
    assert verdict.endswith("every stimulus and the result came out bit for bit")
    assert calibration == told["calibration"] == "CALIBRATED (simulated board)"
    assert told["replay_identical"] is True


def test_the_exit_code_is_that_of_the_journal(tmp_path: Path, gp_pta: GpPta) -> None:
    content = bytearray(LEFT_S2.read_bytes())
    unfinished, damaged = tmp_path / "session-000001.journal", tmp_path / "session-000002.journal"
    unfinished.write_bytes(content[:20_000])
    content[20_000] ^= 4
    damaged.write_bytes(content)

    assert gp_pta("replay", unfinished, "--noise", "4")[0] == 3
    assert gp_pta("replay", damaged, "--noise", "4")[0] == 4


def test_before_the_first_answer_there_is_nothing_to_say(tmp_path: Path) -> None:
    journal = tmp_path / "session-000001.journal"
    journal.write_bytes(b"".join(LEFT_S2.read_bytes().splitlines(keepends=True)[:3]))
    with pytest.raises(HostError, match=r"session-000001\.journal: no model was told an answer"):
        Comparison.of(replay_session(journal), Supposition(response_noise_db=3.0))


def test_a_prior_from_a_file(gp_pta: GpPta) -> None:
    code, out, _ = gp_pta("replay", LEFT_S2, "--prior", str(SHIPPED_PRIOR))
    assert code == 0
    assert out.startswith("prior nhanes_prior.json: thresholds differ by 0.0 dB RMS")


def test_a_picture_is_drawn(tmp_path: Path, gp_pta: GpPta) -> None:
    path = tmp_path / "what-if.svg"
    path.touch()
    options = ("--profile", "gp-pta-2015", "--picture", path, "--force")
    assert gp_pta("replay", LEFT_S2, *options)[0] == 0
    assert path.read_bytes().startswith(b"<svg")


def test_the_picture_has_the_symbols_of_masking_and_two_bands_to_tell_apart() -> None:
    session = session_of(LEFT_S2.parent / "masked.journal")
    comparison = Comparison.of(session, Supposition.of("gp-pta-2015", None, None))
    title = "UNCALIBRATED: levels are nominal"
    facts, figures, _key = comparison_sheet(comparison, title)["sections"][0]["blocks"]
    assert facts["facts"][1] == [{"code": "fact-calibration"}, title]
    drawings = draw_ears(comparison).drawings
    drawn_masked = 0
    for figure, ear in zip(figures["of"], comparison.ears, strict=True):
        assert figure["route"] == str(ear.route)
        drawn = drawings[figure["route"]]
        found = session.result.by_route[ear.route].thresholds
        masked = [t.masking == "masked" for t in found if t.mark != "inferred"]
        svg = ElementTree.fromstring(drawn)
        symbols = {
            name: [
                mark.find("*[@class='symbol']").get("d")  # type: ignore[union-attr]
                for group in svg.iter() if group.get("class") == f"thresholds {name}"
                for mark in group
            ]
            for name in (ear.route.ear, "supposed")
        }  # fmt: skip
        assert len(symbols["supposed"]) == len(symbols[ear.route.ear]) == len(masked)
        assert len({*symbols["supposed"]}) == 1
        assert len({*zip(symbols[ear.route.ear], masked, strict=True)}) == len({*masked})
        assert len({*symbols[ear.route.ear]} | {*symbols["supposed"]}) == len({*masked}) + 1
        classes = [each.get("class", "") for each in svg.iter()]
        assert sorted(c for c in classes if c.startswith("band")) == 2 * ["band"] + 2 * [
            "band faint"
        ]
        assert ".audiogram .supposed .band { fill: none; }" in drawn
        drawn_masked += sum(masked)
    assert drawn_masked


@pytest.fixture
def own(tmp_path: Path) -> OwnPrior:
    return write_prior(tmp_path / "mine.json")


@pytest.fixture
def journal(tmp_path: Path, own: OwnPrior, benches: Benches, gp_pta: GpPta) -> Path:
    out = tmp_path / "sessions"
    code, *said = gp_pta(
        "demo", "--ear", "left", "--prior", tmp_path / "mine.json", "--out", out, "--json"
    )
    assert code == 0, said
    assert f"with the prior {own.digest}" in said[0]
    return out / "session-000001.journal"


def summary(said: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(said.splitlines()[-1])
    return told


def test_all_that_reads_a_journal_finds_it(
    tmp_path: Path, own: OwnPrior, journal: Path, gp_pta: GpPta, refusal_of: Refused
) -> None:
    assert gp_pta("replay", journal)[0] == 0
    assert summary(gp_pta("replay", journal, "--json")[1])["prior"] == own.digest
    assert entry_of(journal).prior == own.digest
    assert read_examination(journal).as_json()["prior"] == own.digest
    assert replay_session(journal).prior == small_prior()
    code, said, _ = gp_pta("report", journal, "-o", tmp_path / "report.html")
    assert code == 0, said

    # Somebody took the journal alone with him.
    alone = tmp_path / "alone" / journal.name
    alone.parent.mkdir()
    journal.rename(alone)
    words = refusal_of("replay", alone)
    assert own.digest in words
    assert str(path_of(own.digest, alone.parent)) in words
    assert "gp-pta replay --prior FILE" in words
    code, said, _ = gp_pta("replay", alone, "--prior", tmp_path / "mine.json")
    assert (code, "bit for bit" in said) == (0, True)
    write_prior(tmp_path / "other.json", small_prior(30.0))
    assert own.digest in refusal_of("replay", alone, "--prior", tmp_path / "other.json")


def test_with_another_prior_a_replay_supposes_it(
    tmp_path: Path, own: OwnPrior, journal: Path, gp_pta: GpPta, refusal_of: Refused
) -> None:
    write_prior(tmp_path / "other.json", small_prior(30.0))
    code, said, _ = gp_pta("replay", journal, "--prior", tmp_path / "other.json")
    assert code == 0
    assert said.startswith(f"prior other.json instead of {own.digest[:8]}: thresholds differ by")
    # The same model has its own prior, not the one that ships.
    _, said, _ = gp_pta("replay", journal, "--profile", "default")
    assert "thresholds differ by 0.0 dB RMS" in said
    code, said, _ = gp_pta("replay", journal, "--prior", tmp_path / "mine.json")
    assert (code, "thresholds differ" in said) == (0, False)
    words = refusal_of(
        "replay", journal, "--prior", tmp_path / "mine.json", "--picture", tmp_path / "two.svg"
    )
    assert "--picture draws two models" in words


@pytest.mark.parametrize("command", ["demo", "workbench"])
def test_a_wrong_file_is_refused_before_anything_starts(
    tmp_path: Path, benches: Benches, refusal_of: Refused, command: str
) -> None:
    path = tmp_path / "mine.json"
    path.write_text("{}")
    assert f"--prior {path}: format is None; allowed is" in refusal_of(command, "--prior", path)
    assert benches.devices == []


def test_an_unfinished_session_goes_on_with_its_own(
    tmp_path: Path, own: OwnPrior, journal: Path, benches: Benches, gp_pta: GpPta
) -> None:
    whole = journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))

    code, said, _ = gp_pta("demo", "--ear", "left", "--out", journal.parent)

    assert f"it was begun with prior {own.digest[:8]}, and goes on with that" in said
    assert f"with the prior {own.digest}" in said
    assert code == 0
    assert read_journal(journal).header["prior"] == own.digest
