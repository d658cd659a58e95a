"""Rules by name: what their arithmetic says of thresholds, and how probable it is of an ear."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from firmware_py.findings.rows import Row
from firmware_py.findings.whole_band import REPETITION, Part
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.person import Person as Told_as
from firmware_py.terms.route import Route
from host_tools.catalogue import LANGUAGES, language_of
from host_tools.commands.sessions import by_rule, rules_paper
from host_tools.commands.sessions.by_rule import (
    NOT_ORDERED,
    NOT_VALID,
    NOTHING_AFTER,
    ByRule,
    by_rules,
)
from host_tools.commands.sessions.change import EarPosterior
from host_tools.commands.sessions.people import Person
from host_tools.commands.sessions.people_page import people_page
from host_tools.commands.sessions.rules_paper import rule_blocks
from host_tools.commands.sessions.shift_rules import (
    AGE_DB,
    AGES,
    RULES,
    Finding,
    Measured,
    Rule,
    Told,
    age_db,
    judge,
)
from tests.host.commands.sessions.clinic import a_session, people_in
from tests.host.journals import GpPta

pytestmark = [pytest.mark.xdist_group("people"), pytest.mark.usefixtures("cache")]

OF_NAME = {rule.name: rule for rule in RULES}
SD_DB = 2.0
UNSET = "1970-01-01T00:00:30+00:00"
FLAT = dict.fromkeys((500, 1000, 2000, 3000, 4000, 6000, 8000), 20.0)


def measured(db_hl: Mapping[int, float], limit_db_hl: float = np.inf) -> Measured:
    """Return an ear; a threshold above the limit lies beyond it."""
    frequencies_hz, levels = tuple(db_hl), np.array([*db_hl.values()])
    beyond = np.where(levels > limit_db_hl, limit_db_hl, np.inf)
    covariance = np.diag([SD_DB**2] * len(levels))
    posterior = EarPosterior(
        frequencies_hz, np.ones(1), levels[np.newaxis], covariance[np.newaxis],
        np.full(len(levels), -np.inf), beyond,
    )  # fmt: skip
    moved_db = np.array([REPETITION.at(f) for f in frequencies_hz])
    told = {f: min(level, limit_db_hl) for f, level in db_hl.items()}
    return Measured(told, posterior, 0.0, moved_db, 0.0)


def found(
    name: str, shifts_db: Mapping[int, float], *more: Mapping[int, float], first: float = 20.0
) -> Finding:
    """Judge an ear of `first` dB HL that moved: in the last test, and in the one before it."""
    tests = [measured({f: first + shift.get(f, 0.0) for f in FLAT}) for shift in (shifts_db, *more)]
    return judge(OF_NAME[name], measured(dict.fromkeys(FLAT, first)), tests, 1)


# By the regulations


@pytest.mark.parametrize(
    ("name", "shifts_db", "met"),
    [
        ("osha-sts", {2000: 5.0, 3000: 10.0, 4000: 15.0}, True),
        ("osha-sts", {2000: 5.9, 3000: 5.3, 4000: 18.8}, True),
        ("osha-sts", {2000: 5.0, 3000: 10.0, 4000: 14.0}, False),
        ("osha-sts", {1000: 40.0, 6000: 40.0, 8000: 40.0}, False),
        ("osha-sts", {2000: -10.0, 3000: -10.0, 4000: -10.0}, False),
        ("niosh", {500: 15.0}, True),
        ("niosh", {6000: 15.0}, True),
        ("niosh", {1000: 14.9, 2000: 14.9}, False),
        ("niosh", {8000: 40.0}, False),
        ("asha", {8000: 20.0}, True),
        ("asha", {6000: 10.0, 8000: 10.0}, True),
        ("asha", {4000: 10.0, 8000: 10.0}, False),
        ("asha", {6000: 9.9, 8000: 10.0}, False),
        ("asha", {8000: 19.0}, False),
    ],
)
def test_a_rule_is_met_from_its_shift_on_where_it_asks_for_it(
    name: str, shifts_db: dict[int, float], met: bool
) -> None:
    told = found(name, shifts_db, shifts_db)
    assert told.told == (Told.MET if met else Told.NOT_MET)
    assert (told.missing_hz, told.beyond_hz, told.unrepeated) == ((), (), False)


@pytest.mark.parametrize("name", ["niosh", "asha"])
def test_what_is_wanted_twice_counts_where_both_tests_show_it(name: str) -> None:
    once, elsewhere = {4000: 25.0}, {1000: 25.0}
    assert found(name, once, once).told == Told.MET
    assert found(name, once, elsewhere).told == Told.NOT_MET, "at the same frequency"
    assert found(name, {}, once).told == Told.NOT_MET
    alone = found(name, once)
    assert (alone.told, alone.unrepeated, alone.least) == (Told.OPEN, True, 0.0)
    assert alone.most > 0.5
    shift_db = dict.fromkeys((2000, 3000, 4000), 25.0)
    assert found("osha-sts", shift_db, {}).told == Told.MET, "nobody wants that twice"
    assert found(name, {}).told == Told.NOT_MET, "a repeat cannot change that"


@pytest.mark.parametrize(("now_db_hl", "told"), [(24.0, Told.NOT_MET), (25.0, Told.MET)])
def test_a_shift_is_recordable_from_25_db_hl_on(now_db_hl: float, told: Told) -> None:
    shifts_db = dict.fromkeys((2000, 3000, 4000), 12.0)
    assert found("osha-recordable", shifts_db, first=now_db_hl - 12.0).told == told
    assert found("osha-sts", shifts_db, first=now_db_hl - 12.0).told == Told.MET


def test_age_is_allowed_for_as_the_example_of_appendix_f_does() -> None:
    """A man of 27, and again with 32: 20 dB at 4 kHz are 17."""
    allowed = age_db("M", 32.9) - age_db("M", 27.0)
    assert allowed.tolist() == [1.0, 1.0, 3.0]
    first = measured({2000: 0.0, 3000: 0.0, 4000: 5.0})
    last = measured({2000: 10.0, 3000: 10.0, 4000: 25.0})
    plain = judge(OF_NAME["osha-sts"], first, [last], 1)
    corrected = judge(OF_NAME["osha-sts-age"], first, [last], 1, allowed)
    assert plain.shift_db == pytest.approx(40.0 / 3.0)
    assert corrected.shift_db == pytest.approx(35.0 / 3.0)
    assert corrected.least < plain.least


def test_the_tables_of_appendix_f_are_whole() -> None:
    """A year a number, none smaller than the one before; the sums are of tables read elsewhere."""
    sums = {"M": (276, 465, 649), "F": (314, 354, 358)}
    for sex, columns in AGE_DB.items():
        assert [len(column) for column in columns] == [AGES[1] - AGES[0] + 1] * 3
        assert all(list(column) == sorted(column) for column in columns)
        assert tuple(map(sum, columns)) == sums[sex]
    assert [age_db("F", age).tolist() for age in (18.0, 71.0)] == [[4, 3, 3], [12, 16, 17]]


# How probable it is


@pytest.mark.parametrize("shift_db", [4.0, 8.0, 10.0, 14.0])
def test_the_probability_of_a_mean_is_that_of_a_gaussian(shift_db: float) -> None:
    told = found("osha-sts", dict.fromkeys((2000, 3000, 4000), shift_db))
    sd_db = np.sqrt(2.0 * (SD_DB**2 + REPETITION.at(3000) ** 2) / 3.0)
    expected = float(stats.norm(shift_db, sd_db).sf(10.0))
    assert (told.least, told.most) == pytest.approx((expected, expected), abs=0.01)
    assert told.sure == (expected > 0.95 or expected < 0.05)


@pytest.mark.parametrize("level_sd_db", [0.0, 3.0])
def test_a_level_has_the_doubt_of_its_calibration_and_is_clinical(level_sd_db: float) -> None:
    """Of 50 % points of 25.2 dB HL, and a shift that nobody doubts."""
    last = measured(dict.fromkeys(FLAT, 25.2))
    clinical = dict.fromkeys(FLAT, 28.0)
    last = replace(last, told_db_hl=clinical, offset_db=2.8, level_sd_db=level_sd_db)
    told = judge(OF_NAME["osha-recordable"], measured(dict.fromkeys(FLAT, 0.0)), [last], 1)
    sd_db = np.sqrt((SD_DB**2 + REPETITION.at(3000) ** 2) / 3.0 + level_sd_db**2)
    assert told.least == pytest.approx(float(stats.norm(28.0, sd_db).sf(25.0)), abs=0.01)


def test_two_tests_share_their_baseline() -> None:
    """So that a bad baseline is not counted as two accidents."""
    shift = {4000: 15.0}
    told = found("niosh", shift, shift)
    one = stats.norm(0.0, np.sqrt(SD_DB**2 + REPETITION.at(4000) ** 2))
    apart = float(stats.norm(0.0, one.std() * np.sqrt(2.0)).sf(0.0)) ** 2
    both = np.random.default_rng(1).normal(0.0, one.std(), (3, 200_000))
    shared = float((np.minimum(both[1], both[2]) - both[0] >= 0.0).mean())
    assert shared > apart + 0.05
    assert told.least == pytest.approx(shared, abs=0.03), "other frequencies add a little"


# Bounds, and what is missing


def test_no_response_any_more_is_at_least_a_shift_and_lost_at_three() -> None:
    high = {1000: 20.0, 2000: 20.0, 3000: 95.0, 4000: 95.0, 6000: 95.0}
    gone = {**high, 3000: 130.0, 4000: 130.0, 6000: 130.0}
    first, last = measured(high), measured(gone, limit_db_hl=100.0)
    told = judge(OF_NAME["asha"], first, [last, last], 1)
    assert (told.told, told.shift_db, told.bound) == (Told.MET, 5.0, Bound.AT_LEAST)
    assert told.beyond_hz == (), "they leave nothing open"
    two = {**gone, 3000: 95.0}
    told = judge(OF_NAME["asha"], first, [measured(two, limit_db_hl=100.0)] * 2, 1)
    assert (told.told, told.beyond_hz) == (Told.OPEN, (4000, 6000)), "5 dB or more is not 10"
    assert told.least < told.most == 1.0
    # A limit below the first threshold takes no response away.
    low = judge(OF_NAME["asha"], first, [measured(gone, limit_db_hl=80.0)] * 2, 1)
    assert low.told == Told.OPEN
    # What never had a response cannot lose it.
    never = judge(OF_NAME["asha"], last, [last, last], 1)
    assert never.told == Told.OPEN


def test_a_baseline_that_heard_all_leaves_a_rule_open_and_says_where() -> None:
    """Of a threshold of at most -10 dB HL one of 0 dB HL is worse by 10 dB or more."""
    low = measured(dict.fromkeys(FLAT, 0.0))
    floor_db_hl = np.where(np.array([*FLAT]) == 4000, -10.0, -np.inf)
    first = replace(
        low,
        told_db_hl={**low.told_db_hl, 4000: -10.0},
        posterior=replace(low.posterior, floor_db_hl=floor_db_hl),
    )
    told = judge(OF_NAME["niosh"], first, [low, low], 1)
    assert (told.told, told.beyond_hz) == (Told.OPEN, (4000,))
    assert (told.shift_db, told.bound) == (10.0, Bound.AT_LEAST)


def test_no_response_is_the_limit_whatever_is_drawn() -> None:
    """A clinical threshold lies above a 50 % point, and a limit is one of tones."""
    first = measured({**FLAT, 4000: 85.5})
    gone = replace(measured({**FLAT, 4000: 130.0}, limit_db_hl=100.0), offset_db=2.8)
    told = judge(OF_NAME["niosh"], first, [gone, gone], 1)
    assert (told.told, told.beyond_hz) == (Told.OPEN, (4000,))
    below = float(stats.norm(85.5, np.hypot(SD_DB, REPETITION.at(4000))).cdf(85.0))
    assert told.least <= below


def test_what_was_not_measured_leaves_a_rule_open_and_never_decides_it() -> None:
    without = {f: level for f, level in FLAT.items() if f != 3000}
    worse = {**without, 4000: 60.0}
    sts = judge(OF_NAME["osha-sts"], measured(FLAT), [measured(worse)], 1)
    assert (sts.told, sts.missing_hz, sts.shift_db) == (Told.OPEN, (3000,), None)
    assert (sts.least, sts.most) == (0.0, 1.0)
    niosh = judge(OF_NAME["niosh"], measured(FLAT), [measured(worse)] * 2, 1)
    assert (niosh.told, niosh.frequency_hz) == (Told.MET, 4000), "any frequency will do"
    still = judge(OF_NAME["niosh"], measured(FLAT), [measured(without)] * 2, 1)
    assert (still.told, still.missing_hz) == (Told.OPEN, (3000,))
    # Of ASHA's, what the baseline had not is not asked; what is beside it is its neighbour.
    asha = judge(
        OF_NAME["asha"], measured(without), [measured({**FLAT, 2000: 30.0, 4000: 30.0})] * 2, 1
    )
    assert (asha.told, asha.missing_hz) == (Told.MET, ())


# People


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory: somebody who grew worse by 30 dB from 3 kHz on, in the last two tests."""
    directory = tmp_path_factory.mktemp("workers") / "journals"
    directory.mkdir()
    told = Told_as(30, "M", "W-1")
    a_session(directory, 1, "2026-03-01", 0.0, told)
    a_session(directory, 2, "2028-03-01", 0.0, replace(told, age_years=32))
    a_session(directory, 3, "2030-03-01", 30.0, replace(told, age_years=34))
    a_session(directory, 4, "2030-06-01", 30.0, replace(told, age_years=34), device="box-2")
    return directory


def of_left(person: Person, *baselines: str) -> ByRule:
    names = tuple(f"session-{each:0>6}.journal" for each in baselines)
    (said,) = by_rules(replace(person, baselines=names))
    assert said.ear == "left"
    return said


def said_of(person: Person) -> list[Row]:
    found = [block for block in rule_blocks(person) if block is not None]
    return [row for block in found if block["block"] == "rows" for row in block["rows"]]


def number(said: ByRule) -> list[int | None]:
    return [each.entry.session for each in (said.baseline, *said.tests)]


def test_the_baseline_is_the_first_test_or_what_was_chosen(workers: Path) -> None:
    person = people_in(workers)["W-1"]
    assert [*by_rules(person)] == [], "nobody asked"
    assert number(of_left(person)) == [1, 4, 3]
    assert number(of_left(person, "2")) == [2, 4, 3]
    assert number(of_left(person, "1", "3")) == [3, 4], "of those that were revised the last one"
    assert number(of_left(person, "1", "4")) == [1, 4, 3], "which is before the last test"
    assert of_left(person, "4").why_not == NOTHING_AFTER
    told = {each.rule.name: (each.told, each.sure) for each in of_left(person).findings}
    assert told == dict.fromkeys(OF_NAME, (Told.MET, True))
    shift, corrected = (each.shift_db for each in of_left(person).findings[:2])
    assert shift is not None
    assert corrected is not None
    assert shift - corrected == pytest.approx(np.mean(age_db("M", 34) - age_db("M", 30)))


def test_a_baseline_that_may_not_be_compared_is_said_and_no_other_takes_its_place(
    workers: Path,
) -> None:
    person = people_in(workers)["W-1"]
    first, *others = person.visits
    ear = replace(first.ears["left"], boards=("sound-card 1",))
    for other in (
        replace(first, identity=replace(first.identity, transducer="HDA 300")),
        replace(first, ears={"left": ear}),
    ):
        changed = replace(person, visits=(other, *others))
        assert of_left(changed, "1").findings == ()
        (row,) = said_of(replace(changed, baselines=("session-000001.journal",)))
        assert row["code"] == "rules-refused"
        assert row["differs"]["field"] in ("transducer", "board-kind")
        assert number(of_left(changed)) == [2, 4, 3], "the first that may be"
    timeless = replace(first, entry=replace(first.entry, started=UNSET, device="box-9"))
    changed = replace(person, visits=(timeless, *others))
    assert of_left(changed, "1").why_not == NOT_ORDERED
    unsure = replace(first, posteriors={})
    assert of_left(replace(person, visits=(unsure, *others)), "1").why_not == NOT_VALID
    untested = replace(unsure, ears={})
    assert of_left(replace(person, visits=(untested, *others)), "1").why_not == NOT_VALID
    alone = replace(person, visits=(replace(unsure, ears={"left": ear}),))
    assert of_left(alone, "1").why_not == NOT_VALID, "though no test is valid"
    # One that was left out, since it does not replay, is named elsewhere.
    absent = replace(person, visits=tuple(others), baselines=("session-000001.journal",))
    assert [*by_rules(absent)] == []


def test_a_repeat_is_one_that_may_be_compared(workers: Path) -> None:
    person = people_in(workers)["W-1"]
    first, second, third, last = person.visits
    for other in (
        replace(third, identity=replace(third.identity, transducer="HDA 300")),
        replace(third, entry=replace(third.entry, started=UNSET)),
    ):
        said = of_left(replace(person, visits=(first, second, other, last)))
        assert number(said) == [1, 4, 2]


def test_what_a_posterior_lacks_counts_for_nothing(workers: Path) -> None:
    """As a threshold that the other ear may have heard."""
    visit = people_in(workers)["W-1"].visits[0]
    posterior = visit.posteriors["left"].at((1000, 2000))
    told = Measured.of(visit.ears["left"], posterior, np.zeros(2), 0.0).told_db_hl
    assert tuple(told) == (1000, 2000)


def test_clinical_thresholds_are_judged_with_the_doubt_of_their_calibrations(
    workers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[Measured] = []

    def keep(rule: Rule, first: Measured, tests: list[Measured], *more: Any) -> Finding:
        judged[:] = [first, *tests]
        return judge(rule, first, tests, *more)

    monkeypatch.setattr(by_rule, "judge", keep)
    visits = people_in(workers)["W-1"].visits
    of_left(people_in(workers)["W-1"])
    first, last, _ = judged
    repetition_db = np.array([REPETITION.at(f) for f in first.posterior.frequencies_hz])
    parts = [visit.uncertainty.beside(Route("left"), 3000) for visit in (visits[0], visits[-1])]
    apart_db2 = sum(each[Part.CALIBRATION] ** 2 for each in parts)
    assert first.moved_db == pytest.approx(repetition_db)
    f = last.posterior.frequencies_hz.index(3000)
    assert last.moved_db[f] == pytest.approx(np.hypot(repetition_db[f], np.sqrt(apart_db2)))
    assert last.level_sd_db == pytest.approx(
        np.hypot(parts[1][Part.CALIBRATION], parts[1].get(Part.TYPE, 0.0))
    )
    ear = visits[0].ears["left"]
    threshold = next(t for t in ear.thresholds if t.frequency_hz == 3000)
    assert threshold.threshold_db_hl is not None
    clinical_db_hl = threshold.threshold_db_hl + ear.clinical_offset_db
    assert first.told_db_hl[3000] == pytest.approx(clinical_db_hl)


def test_another_device_is_said(workers: Path) -> None:
    person = replace(people_in(workers)["W-1"], baselines=())
    said = said_of(person)
    fields = [each["differs"]["field"] for each in said if each["code"] == "rules-unlike"]
    assert fields == ["calibration", "device"]


def test_of_nobody_and_of_who_may_be_several_no_rule_is_told(workers: Path) -> None:
    person = replace(people_in(workers)["W-1"], baselines=())
    first, *others = person.visits
    other = replace(first, identity=replace(first.identity, sex="F"))
    for doubtful in (replace(person, identifier=""), replace(person, visits=(other, *others))):
        assert [*by_rules(doubtful)] == []


def test_a_baseline_is_one_of_the_ear(workers: Path) -> None:
    """Of the right ear another was chosen, which the left one's leaves alone."""
    first, second, *others = people_in(workers)["W-1"].visits
    right = replace(second, ears={"right": second.ears["left"]}, posteriors={})
    person = replace(people_in(workers)["W-1"], visits=(first, right, *others))
    names = tuple(f"session-{each:06d}.journal" for each in (1, 2))
    of_right, of_left_ear = by_rules(replace(person, baselines=names))
    assert (of_right.ear, of_right.findings) == ("right", ())
    assert number(of_left_ear) == [1, 4, 3]


def test_what_is_doubtful_open_or_a_bound_is_on_the_paper(
    workers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_, last = people_in(workers)["W-1"].visits
    gone = measured({**FLAT, 4000: 130.0}, limit_db_hl=30.0)
    without = measured({f: level for f, level in FLAT.items() if f != 3000})
    findings = (
        found("osha-sts", dict.fromkeys((2000, 3000, 4000), 10.0)),
        found("niosh", {4000: 25.0}),
        judge(OF_NAME["asha"], measured(FLAT), [gone, gone], 1),
        judge(OF_NAME["osha-recordable"], measured(FLAT), [without], 1),
    )
    said = ByRule("left", first, (last,), findings, ageless=(OF_NAME["osha-sts-age"],))
    monkeypatch.setattr(rules_paper, "by_rules", lambda _: iter([said]))
    person = people_in(workers)["W-1"]
    told = json.dumps([*rule_blocks(person)])
    for code in ("rule-met-doubt", "rule-open", "band", "level-above"):
        assert f'"code": "{code}"' in told, code
    assert {row["code"] for row in said_of(person)} >= {
        "rules-no-age", "rules-unrepeated", "rules-beyond", "rules-missing",
    }  # fmt: skip


def test_without_an_age_nothing_is_corrected_for_it(workers: Path) -> None:
    person = people_in(workers)["W-1"]
    nameless = tuple(replace(visit, age_years=None) for visit in person.visits)
    said = of_left(replace(person, visits=nameless))
    assert [rule.name for rule in said.ageless] == ["osha-sts-age"]
    assert len(said.findings) == len(RULES) - 1
    *others, last = person.visits
    once = replace(person, visits=(*others, replace(last, sex=None)))
    assert of_left(once).ageless == (), "a sex that one test tells is known"
    assert (
        of_left(replace(once, visits=(replace(others[0], sex=None), *others[1:], last))).ageless
        == ()
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_of_the_rules_is_said(language: str, workers: Path) -> None:
    person = replace(people_in(workers)["W-1"], baselines=())
    page = people_page([(person, person.comparisons())], language)
    sentences = language_of(language).sentences
    for code in ("rule-osha-sts", "rule-asha", "rule-met", "rules-share"):
        assert sentences[code] in page
    words = " ".join(sentences[f"rule-{rule.name}"] for rule in RULES).split()
    assert max(map(len, words)) <= 24, "a terminal has no room for more"


def test_the_command_names_a_baseline_that_is_none(workers: Path, gp_pta: GpPta) -> None:
    how = ("sessions", workers, "--people")
    code, out, _ = gp_pta(*how, "--baseline", "session-000002.journal")
    assert (code, "against the baseline of 1 March 2028" in out) == (0, True)
    assert "by clinical thresholds" in out, "whatever the others on the page are"
    code, _, err = gp_pta(*how, "--baseline", "session-000009.journal")
    assert code == 2
    assert "--baseline is 'session-000009.journal', which is none of the sessions chosen" in err
    assert "rule" not in gp_pta(*how)[1], "nobody asked"
