"""`gp-pta study --bone`: who is tested with whose gaps, arithmetic by hand, and the command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.earphones import PLACE_US
from device.simulator.head import Head
from device.simulator.listener import Listener, Noise, Tone
from firmware_py.findings.air_bone_gap import EarGaps
from firmware_py.inference.mixture.gap_prior import GapPrior, shipped_gap_prior
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import BONE, Route
from host_tools.errors import HostError
from host_tools.files import digest_of
from host_tools.main import main
from host_tools.research.study import bone
from host_tools.research.study.bone import read_off, table_lines
from host_tools.research.study.bone_faults import FAULTS, Faulty
from host_tools.research.study.bone_people import SCORED_HZ, Person, people_of, with_6_khz
from host_tools.research.study.bone_sessions import (
    DEVICE,
    MANUAL,
    MARKS,
    MASKED,
    PLACING_S,
    UNCERTAIN,
    UNMASKED,
    BoneThreshold,
    EarFound,
    Measured,
    Unit,
    run_test,
    thresholds_of,
)
from tests.host.research.study.ears import write_two_routes
from tests.own_priors import small_prior, write_prior


@pytest.fixture(scope="module")
def everybody(tmp_path_factory: pytest.TempPathFactory) -> list[Person]:
    return people_of(write_two_routes(tmp_path_factory.mktemp("table") / "ears.csv"), 0)


def test_who_has_both_ears_is_tested_and_once_more_with_a_drawn_gap(
    everybody: list[Person],
) -> None:
    real = [person for person in everybody if not person.drawn]
    assert len(real) == 39
    assert "/P0" not in {person.name for person in real}, "an ear of his is incomplete"
    assert [f"{person.name}, drawn" for person in real] == [p.name for p in everybody[39:]]


def test_each_half_learns_from_the_other_one_only(everybody: list[Person], tmp_path: Path) -> None:
    """Whoever leaves the table changes the gaps of the other half, and none of his own."""
    gaps = {person.name: person.gaps for person in everybody if not person.drawn}
    assert len({id(each) for each in gaps.values()}) == 2
    gone = everybody[0].name
    lines = write_two_routes(tmp_path / "all.csv").read_text("utf-8").splitlines()
    fewer = [line for line in lines if not line.startswith(f"{gone.rpartition('/')[2]},")]
    assert len(fewer) == len(lines) - 2
    (tmp_path / "fewer.csv").write_text("\n".join(fewer) + "\n", encoding="utf-8")
    left = [p for p in people_of(tmp_path / "fewer.csv", 0) if not p.drawn]
    own_half = [p for p in left if gaps[p.name] is gaps[gone]]
    assert own_half
    assert all(p.gaps.classes == gaps[gone].classes for p in own_half)
    others = [p for p in left if p not in own_half]
    assert others
    assert all(p.gaps.classes != gaps[p.name].classes for p in others)


def test_routes_of_an_ear_are_moved_together_and_a_drawn_gap_leaves_its_cochlea(
    everybody: list[Person],
) -> None:
    count = len(everybody) // 2
    for real, drawn in zip(everybody[:count], everybody[count:], strict=True):
        for f in SCORED_HZ:
            gap_db = real.head.gap_db("right", f)
            assert gap_db == 5.0 * round(gap_db / 5.0), "as it was measured"
            own = [p.bone_db_hl("right", f, alone=True) for p in (real, drawn)]
            assert own[1] == pytest.approx(own[0])
            assert 0.0 <= drawn.head.gap_db("right", f) <= 60.0
        assert drawn.by_air["left"] == real.by_air["left"]
        assert drawn.gap_db("left") == real.gap_db("left")
    mean_db = [np.mean([p.gap_db("right") for p in half]) for half in _halves(everybody)]
    assert mean_db[1] > mean_db[0] + 10.0


def _halves(people: list[Person]) -> tuple[list[Person], list[Person]]:
    return people[: len(people) // 2], people[len(people) // 2 :]


FLAT = Person(
    "flat",
    {"right": Audiogram((1000.0,), (50.0,)), "left": Audiogram((1000.0,), (2.0,))},
    Head({"right": 40.0}, skull_attenuation_db=3.0),
    shipped_gap_prior(),
)


def a_test(person: Person, seconds: float, *ears: EarFound) -> Measured:
    return Measured(Unit(person, 2.0), ears, seconds, placings=2)


def test_arithmetic() -> None:
    right = EarFound(
        30.0, [6, 4], 15, has_gap=True, called=True, sure=True, mean_gap=(3.0, 2.5),
        thresholds=(BoneThreshold(MASKED, 3.0, True), BoneThreshold(MASKED, -4.0, False)),
    )  # fmt: skip
    left = EarFound(1.0, [8], 10, called=None, thresholds=(BoneThreshold(UNMASKED, 1.0, True),))
    one = a_test(FLAT, 40.0, right, left)
    made = a_test(replace(FLAT, drawn=True), 500.0, replace(right, called=False), right)
    row = read_off([one, made])

    assert (row["noise_db"], row["method"]) == (2.0, DEVICE)
    assert (row["people"], row["ears_with_noise"], row["ears_valid"]) == (1, 0.5, 1.0)
    assert row["tones"]["median"] == 7.0
    assert row["tones_with_noise"]["median"] == 4.0
    assert row["all_tones"]["median"] == 12.5
    assert (row["seconds"]["median"], row["seconds_placings"]["median"]) == (40.0, 60.0)
    masked = row["marks"][MASKED]
    assert masked["rmse_db"] == pytest.approx(12.5**0.5)
    assert (masked["count"], masked["bias_db"], masked["covered_95"]) == (2, -0.5, 0.5)
    gap = row["mean_gap"]
    assert (gap["count"], gap["bias_db"], gap["half_width_db"]) == (1, 3.0, 2.5)
    assert gap["covered_95"] == 0.0
    none, *_, large = row["gaps"]
    assert none["real"] == {"ears": 1, "called": 0, "open": 1}
    assert large["real"] == {"ears": 1, "called": 1, "open": 0}
    assert large["drawn"] == {"ears": 1, "called": 0, "open": 0}, "the right ear alone is drawn"
    assert row["type"]["real"] == {"ears": 2, "right": 1, "sure_and_wrong": 0}, "one is open"
    assert row["type"]["drawn"] == {"ears": 1, "right": 0, "sure_and_wrong": 1}
    lines = table_lines([row, read_off([a_test(FLAT, 30.0, left)])])
    assert len({len(line) for line in lines}) == 1
    assert "7 (95 %: 8)" in lines[2]
    assert "1 of 2, 0 of 1" in lines[-3]
    assert "0 of 2, 1 of 1" in lines[-2]
    assert "0 of 3 (8 asked for), 0 of 4 (8 asked for)" in lines[-1]


def test_gross_errors_are_counted_with_those_that_are_marked_and_without() -> None:
    errors_db = {UNMASKED: 15.0, MASKED: -15.5, UNCERTAIN: 40.0}
    thresholds = tuple(BoneThreshold(mark, db, None) for mark, db in errors_db.items())
    row = read_off([a_test(FLAT, 1.0, EarFound(0.0, [9], 9, thresholds=thresholds))])
    assert (row["all"]["count"], row["all"]["gross"], row["gross_and_unmarked"]) == (3, 2, 1)
    assert row["all"]["covered_95"] is None, "by hand there are no bands"
    assert any("66.7% of 3, 1" in line for line in table_lines([row]))


BETTER_DB_HL, OWN_DB_HL = 5.0, 10.0  # what a vibrator finds of the right ear


@pytest.mark.parametrize(
    ("masking", "tones_masked", "truth_db_hl", "covered"),
    [
        (MaskingMark.NOT_MASKED, 0, BETTER_DB_HL, True),
        (MaskingMark.NOT_MASKED, 3, OWN_DB_HL, False),
        (MaskingMark.MASKED, 3, OWN_DB_HL, False),
        (MaskingMark.UNCERTAIN, 0, 8.0, True),
        (MaskingMark.UNCERTAIN, 3, 8.0, True),
    ],
)
def test_without_noise_the_better_cochlea_is_found_and_with_it_that_of_the_ear(
    masking: MaskingMark, tones_masked: int, truth_db_hl: float, covered: bool
) -> None:
    found = ThresholdResult(1000, Outcome.MEASURED, 8.0, 1.0, 4.0, 9.0, None, masking)
    ear = EarResult(
        Route("right", BONE), Outcome.MEASURED, (), (found,), 9, 5, 0, 0, 0, 0, None, 0.0,
        tones_masked,
    )  # fmt: skip
    (told,) = thresholds_of(FLAT, ear)
    assert told.error_db == pytest.approx(8.0 - truth_db_hl)
    assert told.covered == covered


def test_a_conductive_ear_is_tested_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the journal of the test: its tones, masks and thresholds."""
    seen: list[SessionResult] = []
    module = "host_tools.research.study.bone_sessions.gaps_of"

    def look(result: SessionResult, gap_prior: GapPrior, *, nominal: bool) -> list[EarGaps]:
        assert gap_prior is FLAT.gaps
        assert not nominal
        seen.append(result)
        return []

    monkeypatch.setattr(module, look)
    found = run_test(Unit(FLAT, 2.0))
    (result,) = seen
    right, left = found.ears
    told = {ear.route.ear: ear for ear in result.ears if ear.route.by_bone}

    assert [right.all_tones, left.all_tones] == [told["right"].tones, told["left"].tones]
    assert len(right.tones) == 2, "it was asked with noise, and at once"
    assert right.tones[0] == 0 < right.tones[1] <= told["right"].tones_masked
    assert 0 < left.tones[0] < left.all_tones
    assert {each.mark for each in right.thresholds} <= {*MARKS}
    for each, told_db_hl in zip(right.thresholds, _octaves(told["right"]), strict=True):
        assert each.error_db == pytest.approx(told_db_hl - 10.0)
    for each, told_db_hl in zip(left.thresholds, _octaves(told["left"]), strict=True):
        assert each.error_db == pytest.approx(told_db_hl - 2.0)
    assert found.placings == 2
    assert PLACE_US == 1e6 * PLACING_S
    assert 20.0 < found.seconds < 200.0


class Asked(Listener):
    """Keeps what it is asked, and hears nothing."""

    def __init__(self) -> None:
        self.tones: list[Tone] = []

    def answer(self, tone: Tone) -> None:
        self.tones.append(tone)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_that_of_its_tones_by_bone(name: str) -> None:
    """A vibrator that slips is weaker from so many of them on; noise is lost once it is there."""
    asked = Asked()
    faulty = Faulty(asked, FAULTS[name])
    noise = Noise("left", 1000.0, 50.0)
    for number in range(12):
        sound = Tone(str(number), "right", 1000.0, 40.0, noise, by_bone=number >= 2)
        faulty.answer(sound)
    levels = [tone.level_db_hl for tone in asked.tones]
    lost = [tone.noise is None for tone in asked.tones]
    since = {"weak": 2, "noise-lost": 12}.get(name, 2 + int(name[-1]) if name[-1].isdigit() else 0)
    weaker_db = {"weak": 15.0, "noise-lost": 0.0, "6-khz": 0.0}.get(name, 12.0)
    assert levels == [40.0] * since + [40.0 - weaker_db] * (12 - since)
    assert lost == ([False] * 2 + [True] * 10 if name == "noise-lost" else [False] * 12)


def test_a_vibrator_to_6_khz_is_tested_on_gaps_there_of_their_own(everybody: list[Person]) -> None:
    person = with_6_khz(everybody[0], 1)
    for ear in ("right", "left"):
        assert person.head.gap_db(ear, 4000.0) == everybody[0].head.gap_db(ear, 4000.0)
        assert -10.0 <= person.head.gap_db(ear, 6000.0) <= 35.0
        assert person.bone_db_hl(ear, 6000.0, alone=True) >= -10.0
    assert with_6_khz(everybody[0], 2) != person
    unit = Unit(person, 2.0, fault=FAULTS["6-khz"])
    assert {each.audiogram.frequencies_hz[-1] for each in unit.test.ears.values()} == {8000, 6000}
    assert Unit(person, 2.0).test.ears[Route("left", BONE)].audiogram.frequencies_hz[-1] == 4000

    off = [BoneThreshold(mark, db, db < 9.0) for mark, db in ((MASKED, 3.0), (UNCERTAIN, 9.0))]
    row = read_off([a_test(FLAT, 1.0, *(EarFound(0.0, at_6_khz=(each,)) for each in off))])
    told = row["at_6_khz"]
    assert [told[name]["covered_95"] for name in ("measured", "all")] == [1.0, 0.5]
    assert "3.0 (+3.0); 1.000 of 1" in "".join(table_lines([row]))


def test_a_false_number_counts_where_the_test_is_valid_and_it_is_not_uncertain() -> None:
    found = tuple(
        BoneThreshold(mark, db, None)
        for mark, db in ((UNMASKED, 10.0), (MASKED, -10.1), (UNCERTAIN, 40.0))
    )
    valid, doubtful = (
        EarFound(0.0, [9], 9, valid=each, thresholds=found) for each in (True, False)
    )
    row = read_off([a_test(FLAT, 1.0, valid, doubtful)])
    assert row["clean_false"]["real"] == {"numbers": 8, "clean": 2, "false": 1}


def test_a_manual_test_of_a_conductive_ear_is_sure_of_its_gap() -> None:
    """40 dB: of the steps of both routes it may lose 5 dB."""
    right, left = run_test(Unit(FLAT, 2.0, method=MANUAL)).ears
    assert [each.mark for each in right.thresholds] == [MASKED] * 4
    assert [each.mark for each in left.thresholds] == [UNMASKED] * 4
    for each in (*right.thresholds, *left.thresholds):
        assert abs(each.error_db) <= 7.5
        assert each.covered is None
    assert [(ear.has_gap, ear.called, ear.sure) for ear in (right, left)] == [
        (True, True, True), (False, False, True),
    ]  # fmt: skip
    assert right.all_tones == sum(right.tones)
    assert [len(ear.tones) for ear in (right, left)] == [2, 1]


def _octaves(ear: EarResult) -> list[float]:
    found = [t.threshold_db_hl for t in ear.thresholds if t.frequency_hz in SCORED_HZ]
    return [each for each in found if each is not None]


def test_the_command_prints_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: dict[str, Measured] = {}

    def run_once(unit: Unit) -> Measured:
        name = f"{unit.person.name}, {unit.method}"
        return replace(done.setdefault(name, done.get(name) or run_test(unit)), unit=unit)

    monkeypatch.setattr(bone, "run_test", run_once)
    table = write_two_routes(tmp_path / "ears.csv", people=40)
    ask = ["study", "--bone", "--audiograms", str(table), "--ears", "1", "--workers", "0"]
    assert main(ask) == 0
    said = capsys.readouterr().out
    assert main([*ask, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["noise_db"] for row in rows] == [2.0, 2.0, 4.0, 4.0]
    assert [row["method"] for row in rows] == [DEVICE, MANUAL] * 2
    assert [row["people"] for row in rows] == [1] * 4
    assert "\n".join(table_lines(rows)) in said
    assert main([*ask, "--json", "--cases", "weak,slips-4", "--seeds", "2"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["fault"], row["people"]) for row in rows] == [("weak", 1), ("slips-4", 1)]
    assert main([*ask, "--cases", "loud"]) == 2
    assert "loud" in capsys.readouterr().err
    learned = {"sources": [{"sha256": digest_of(table)}]}
    write_prior(tmp_path / "prior.json", small_prior(provenance=learned))
    assert main([*ask, "--prior", str(tmp_path / "prior.json")]) == 2
    assert "--prior was learned from --audiograms; allowed is one" in capsys.readouterr().err


def test_a_table_of_one_route_is_refused(tmp_path: Path) -> None:
    (tmp_path / "air.csv").write_text("person,ear,air500\nA,R,10\n", encoding="utf-8")
    with pytest.raises(HostError, match="no column boneNNN"):
        people_of(tmp_path / "air.csv", 0)
    with pytest.raises(HostError, match="of one half 8 ears have both routes; allowed are 20"):
        people_of(write_two_routes(tmp_path / "few.csv", people=12), 0)
