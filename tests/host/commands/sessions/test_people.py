"""`gp-pta sessions --people`: who changed, told from two posteriors; and a page of it."""

import copy
import html
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache as cache_of
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from firmware_py.calibration.file import calibration_from
from firmware_py.findings.convention import ear_in_convention
from firmware_py.findings.rows import LEAST_SHARE, Row, band_row, level_row
from firmware_py.findings.whole_band import BAND_SDS, CALIBRATION_BY_AIR, REPETITION, USUAL
from firmware_py.journal import read_journal
from firmware_py.terms.outcomes import Bound, Outcome
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, Route
from firmware_py.terms.shown_threshold import as_shown
from host_tools.catalogue import LANGUAGES, language_of
from host_tools.commands.sessions.change import (
    CHANGED,
    FALSE_ALARMS,
    NOTICED,
    SHIFT_DB,
    Change,
    EarPosterior,
    Shift,
    bounds_between,
    change_between,
)
from host_tools.commands.sessions.command import list_lines
from host_tools.commands.sessions.people import Comparison, Person, Visit
from host_tools.commands.sessions.people_page import people_page
from host_tools.commands.sessions.people_paper import history, method_row, remarks, summary
from host_tools.recordings import recorded_session
from host_tools.recordings.entry import Entry
from host_tools.recordings.look import entry_of
from host_tools.recordings.recorded_session import RecordedSession, read_true_session
from tests.budget import quick
from tests.host.commands.export.sessions import session_with_bone, with_vibrator
from tests.host.commands.sessions.clinic import WORSE_DB, people_among, people_in, write_clinic
from tests.host.journals import GOLDEN, GpPta, on_day, rewrite, write_again
from tests.host.reports import check_said

# The sessions of the clinic are run once.
pytestmark = [pytest.mark.xdist_group("people"), pytest.mark.usefixtures("cache")]


@pytest.fixture(autouse=True)
def one_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a journal of the clinic be read once, whoever asks."""
    monkeypatch.setattr(recorded_session, "read_true_session", read_once)


@cache_of
def read_once(path: Path) -> RecordedSession:
    return read_true_session(path)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory: an ear that grew worse, one that did not, and somebody else."""
    directory = tmp_path_factory.mktemp("clinic") / "journals"
    directory.mkdir()
    write_clinic(directory)
    return directory


def entries_in(directory: Path) -> list[Entry]:
    return [entry_of(path) for path in sorted(directory.glob("*.journal"))]


@pytest.fixture(scope="module")
def people(clinic: Path) -> dict[str, Person]:
    return people_in(clinic)


# The probability


def posterior(
    mean_db_hl: list[float],
    sd_db: float = 2.0,
    shared_db: float = 0.0,
    limit_db_hl: float = np.inf,
) -> EarPosterior:
    """Return one Gaussian with this SD at each frequency, some of it shared by all."""
    count = len(mean_db_hl)
    covariance = np.diag([sd_db**2 - shared_db**2] * count) + shared_db**2
    return EarPosterior(
        AUDIOGRAM_FREQUENCIES_HZ[:count],
        np.ones(1),
        np.array([mean_db_hl]),
        covariance[np.newaxis],
        np.full(count, -np.inf),
        np.full(count, limit_db_hl),
    )


@pytest.mark.parametrize("shift_db", [-25.0, 0.0, 8.0, 10.0, 15.0])
def test_the_probability_of_one_frequency_is_that_of_a_gaussian(shift_db: float) -> None:
    change = change_between(posterior([30.0], 3.0), posterior([30.0 + shift_db], 2.0))
    assert change is not None
    sd_db = np.sqrt(3.0**2 + 2.0**2 + 2.0 * REPETITION.at(250.0) ** 2)
    spread = stats.norm(shift_db, sd_db)
    exact = spread.cdf(-SHIFT_DB) + spread.sf(SHIFT_DB)

    assert change.probability == pytest.approx(exact, abs=0.015)
    (shift,) = change.shifts
    assert shift.probability == change.probability
    assert shift.mean_db == pytest.approx(shift_db, abs=0.2)
    assert (shift.low_db, shift.high_db) == pytest.approx(spread.interval(0.95), abs=0.5)


def test_what_was_not_the_same_both_times_does_not_cancel() -> None:
    first, last = posterior([30.0], 3.0), posterior([45.0], 3.0)
    change = change_between(first, last, lambda f: 2.0 * CALIBRATION_BY_AIR.at(f) ** 2)
    assert change is not None
    spread = stats.norm(15.0, np.sqrt(2.0 * (3.0**2 + 2.5**2 + 1.8**2)))
    assert change.probability == pytest.approx(spread.cdf(-10.0) + spread.sf(10.0), abs=0.015)


def test_another_calibration_counts_at_both_visits(people: dict[str, Person]) -> None:
    person = people["W-1"]
    alike = [replace(v, identity=replace(v.identity, calibration="")) for v in person.visits]
    apart, same = person.comparison("left"), replace(person, visits=(*alike,)).comparison("left")
    assert apart is not None
    assert same is not None
    for other, one in zip(apart.change.shifts, same.change.shifts, strict=True):
        sds_db = [(each.high_db - each.low_db) / (2.0 * BAND_SDS) for each in (other, one)]
        more_db = np.sqrt(sds_db[0] ** 2 - sds_db[1] ** 2)
        expected_db = np.sqrt(2.0) * CALIBRATION_BY_AIR.at(one.frequency_hz)
        assert more_db == pytest.approx(expected_db, rel=0.1)


def test_any_frequency_counts_and_what_they_share_counts_once() -> None:
    apart = change_between(posterior([30.0] * 8, 4.0), posterior([30.0] * 8, 4.0))
    shared = change_between(posterior([30.0] * 8, 4.0, 3.9), posterior([30.0] * 8, 4.0, 3.9))
    assert apart is not None
    assert shared is not None
    refit = [2.0 * REPETITION.at(f) ** 2 for f in AUDIOGRAM_FREQUENCIES_HZ[:8]]
    none = np.prod([1.0 - 2.0 * stats.norm.sf(10.0, 0.0, np.sqrt(32.0 + v)) for v in refit])

    assert apart.probability == pytest.approx(1.0 - none, abs=0.015)
    assert max(shift.probability for shift in shared.shifts) < shared.probability
    assert shared.probability < apart.probability - 0.1


def test_a_mixture_is_drawn_from_by_its_weights() -> None:
    two = EarPosterior(
        (1000,), np.array([0.25, 0.75]), np.array([[0.0], [60.0]]), np.full((2, 1, 1), 1.0),
        np.array([-np.inf]), np.array([np.inf]),
    )  # fmt: skip
    drawn = two.draws_db_hl(np.random.default_rng(1), 20_000)
    assert float((drawn > 30.0).mean()) == pytest.approx(0.75, abs=0.02)
    assert float(drawn[drawn > 30.0].std()) == pytest.approx(1.0, abs=0.05)


BEYOND = posterior([130.0], limit_db_hl=100.0)


@pytest.mark.parametrize(
    ("first", "last", "bound", "mean_db", "probability"),
    [
        (posterior([60.0]), BEYOND, Bound.AT_LEAST, 40.0, 1.0),
        (BEYOND, posterior([60.0]), Bound.AT_MOST, -40.0, 1.0),
        (posterior([105.0], limit_db_hl=100.0), BEYOND, None, 0.0, 0.0),
        # The later limit is the lower one: the ear need not be better.
        (posterior([100.0]), posterior([130.0], limit_db_hl=70.0), Bound.AT_LEAST, -30.0, 0.0),
    ],
    ids=["worse", "better", "both", "lower-limit"],
)
def test_a_shift_beyond_a_limit_is_a_bound_and_counts_as_little_as_it_can(
    first: EarPosterior, last: EarPosterior, bound: Bound | None, mean_db: float, probability: float
) -> None:
    change = change_between(first, last)
    assert change is not None
    assert bounds_between(first, last) == {250: bound}
    assert change.shifts[0].mean_db == pytest.approx(mean_db, abs=0.5)
    assert change.probability == pytest.approx(probability, abs=0.001)


def test_only_what_was_asked_both_times_is_compared() -> None:
    first, last = posterior([30.0] * 3), posterior([30.0] * 5)
    change = change_between(first, last.at([500, 1000]))
    assert change is not None
    assert [shift.frequency_hz for shift in change.shifts] == [500]
    assert change_between(first, last.at([1000, 1500])) is None


def test_the_same_two_sessions_give_the_same_figure_every_time() -> None:
    first, last = posterior([30.0] * 4), posterior([33.0] * 4)
    assert change_between(first, last) == change_between(first, last)


def test_a_threshold_scatters_more_above_4_khz() -> None:
    assert [REPETITION.at(f) for f in (3000, 4000, 6000)] == [2.5, 2.5, 4.0]


@pytest.mark.parametrize(
    "name", quick(["left-ear-s2", "clinical", "masked", "both-ears-n3"], "clinical")
)
def test_the_posterior_of_a_session_has_what_its_result_says(name: str) -> None:
    session = read_true_session(GOLDEN / f"{name}.journal")
    for found in session.result.ears:
        made = EarPosterior.of(found, session.thresholds_of(found))
        assert made is not None
        recorded = {t.frequency_hz: t for t in found.thresholds}
        mean = made.weight @ made.mean_db_hl
        for f, level in zip(made.frequencies_hz, mean.tolist(), strict=True):
            assert recorded[f].mark != Outcome.INFERRED
            if recorded[f].mark == Outcome.MEASURED:
                assert recorded[f].threshold_db_hl == pytest.approx(level, abs=0.06)


@pytest.mark.parametrize("name", ["always-answering", "disturbed"])
def test_an_ear_without_a_sure_result_is_not_compared(name: str) -> None:
    session = read_true_session(GOLDEN / f"{name}.journal")
    for found in session.result.ears:
        if found.outcome not in (Outcome.MEASURED, Outcome.NO_RESPONSE, Outcome.HEARS_ALL):
            assert EarPosterior.of(found, session.thresholds_of(found)) is None
            return
    unsure = replace(found, outcome=Outcome.INCOMPLETE)
    assert EarPosterior.of(unsure, session.thresholds_of(found)) is None


# People


def test_people_have_their_sessions_in_order(people: dict[str, Person]) -> None:
    assert [*people] == ["S-2", "T-3", "W-1", ""]
    days = [visit.entry.started[:10] for visit in people["W-1"].visits]
    assert days == ["2026-03-01", "2031-03-01"]


def test_an_ear_that_grew_worse_is_said_to_have_changed(people: dict[str, Person]) -> None:
    (worse,), (same,) = people["W-1"].comparisons(), people["S-2"].comparisons()
    assert (worse.ear, worse.change.changed, same.change.changed) == ("left", True, False)
    assert (worse.first, worse.last) == people["W-1"].visits
    shifts = {shift.frequency_hz: shift for shift in worse.change.shifts}
    for f in (3000, 4000, 6000):
        assert shifts[f].low_db < WORSE_DB < shifts[f].high_db
        assert shifts[f].probability > CHANGED
    assert shifts[500].probability < 0.5


def test_levels_without_a_calibration_are_compared_with_nothing(people: dict[str, Person]) -> None:
    first, last = people["W-1"].visits
    nominal = replace(first, entry=replace(first.entry, calibration="UNCALIBRATED"))
    assert replace(people["W-1"], visits=(nominal, last)).comparisons() == []
    said = codes(remarks(people["T-3"], people["T-3"].comparisons()))
    assert said == ["people-nothing-twice", "people-sexes", "state-and-why"]
    units = {name: [visit.as_json()["level_unit"] for visit in people[name].visits]
             for name in ("T-3", "W-1")}  # fmt: skip
    assert units == {"T-3": ["nominal dB"] * 2, "W-1": ["dB HL"] * 2}


def test_what_is_nominal_stands_apart_on_the_page(clinic: Path, tmp_path: Path) -> None:
    for number in (3, 5):
        name = f"session-{number:06d}.journal"
        header, *records = read_journal(clinic / name).records
        header["person"]["identifier"] = "M-1"
        write_again(tmp_path / name, header, records)
    person = people_in(tmp_path)["M-1"]
    units = {}
    for nominal in (False, True):
        found = history(1, person, person.comparisons(), nominal=nominal)
        (table,) = found["blocks"][-1]["tables"]
        units[nominal] = {each.get("unit") for each in (found["title"], table["caption"])}
        assert len(table["rows"]) == 3 - nominal, "one session, with its bands"
    assert units == {False: {None}, True: {"nominal-db"}}
    page = people_page([(person, person.comparisons())], "en")
    assert 0 < page.count("<svg") <= 2 * len(AUDIOGRAM_FREQUENCIES_HZ)
    assert 'class="way"' not in page, "no line joins what is not in one unit"


def test_sessions_whose_order_nobody_knows_are_not_compared(clinic: Path) -> None:
    """Of two devices, one with a clock that was never set: which ear is the worse one later?"""
    before, after = _entry(clinic, 2), _entry(clinic, 1)
    unset = at(before, "1970-01-01", 5, "box-2")
    known = at(after, "2027-01-01", 6, "box-1")
    (said,) = [row for row in remarks_on(unset, known) if row["code"] == "people-unordered"]
    assert (said["ear"], said["last"]["date"]) == ("left", "2027-01-01")
    (person,) = people_among([unset, known])
    assert person.comparisons() == []
    told = person.as_json([])
    assert [(each["ear"], told["changes"]) for each in told["unordered"]] == [("left", [])]
    for one, other in (
        (at(before, "1970-01-01", 5), at(after, "1970-01-02", 6)),  # numbers of one device
        (at(before, "2026-01-01", 5, "box-2"), known),  # two clocks
    ):
        (person,) = people_among([one, other])
        assert (len(person.comparisons()), person.unordered()) == (1, [])
    shared = [replace(v, shared_device=True) for v in person.visits]
    assert Person("X", (shared[0], replace(shared[1], entry=unset))).unordered() != []


def test_people_are_told_from_the_index_without_another_replay(
    clinic: Path, gp_pta: GpPta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every number of a person comes out of the index as it went in."""
    how = ("sessions", clinic, "--people", "--json")
    anew, first = gp_pta(*how, "--no-index"), gp_pta(*how)
    monkeypatch.setattr(recorded_session, "read_true_session", None)
    assert gp_pta(*how) == first == anew
    assert len(json.loads(first[1])["people"]) == 4


def test_the_history_of_a_person_is_in_one_convention(
    people: dict[str, Person], clinic: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    how = ("sessions", clinic, "--people", "--identifier", "W-1", "--convention", "clinical")
    out = tmp_path / "people.html"
    (told,) = json.loads(gp_pta(*how, "--json", "-o", out)[1])["people"]
    assert told["threshold_convention"] == "clinical, 5 dB ascending"
    usual = people["W-1"].as_json(people["W-1"].comparisons())
    assert usual["threshold_convention"] == "50 %"
    assert told["changes"] == json.loads(json.dumps(usual["changes"])), "a shift has no convention"
    for found, before in zip(told["sessions"], usual["sessions"], strict=True):
        session = read_true_session(clinic / found["name"])
        (ear,) = session.result.ears
        offset_db = ear.clinical_offset_db
        assert offset_db > 2.0
        mean = ear_in_convention(ear, told["threshold_convention"]).pta4
        assert (found["pta4_left_db_hl"], before["pta4_left_db_hl"]) == (
            mean and mean.level_db_hl, ear.pta4 and ear.pta4.level_db_hl,
        )  # fmt: skip
        for each, was in zip(found["ears"]["left"], before["ears"]["left"], strict=True):
            if was["threshold_db_hl"] is not None:
                higher_db = each["threshold_db_hl"] - was["threshold_db_hl"]
                assert higher_db == pytest.approx(offset_db, abs=0.01)
    said = language_of("en").say({"code": "convention-clinical"})
    assert said in out.read_text("utf-8")
    assert said in gp_pta(*how)[1]


def test_those_without_an_identifier_are_nobody(people: dict[str, Person]) -> None:
    alone = people[""]
    two = replace(alone, visits=alone.visits * 2)
    assert [codes(remarks(each, [])) for each in (alone, two)] == [[], ["people-not-compared"]]
    assert summary(1, people[""], [])["title"]["code"] == "no-identifier"


def test_what_changed_stands_apart_and_all_figures_are_told(people: dict[str, Person]) -> None:
    person = people["W-1"]
    _, changed, unlike, visits, _ = summary(1, person, person.comparisons())["blocks"]
    headline, clearest = changed["headline"], changed["rows"][0]["clearest"]
    assert (headline["code"], headline["ear"]) == ("people-changed", "left")
    assert headline["first"] == {"code": "people-day", "date": "2026-03-01", "zone": "UTC"}
    assert headline["share"] == {"code": "percent-above", "percent": 99.0}
    assert (clearest["of"]["code"], clearest["band"]["code"]) == ("people-worse", "band")
    assert 20 < clearest["of"]["db"]["level"] < 40
    assert [each["differs"]["field"] for each in unlike["rows"]] == ["calibration", "device"]
    names = ["session-000002.journal", "session-000001.journal"]
    assert [each["journal"] for each in visits["rows"]] == names
    (ear,) = visits["rows"][0]["by_ear"]
    assert ear["of"] == {"code": "of-ear-short", "ear": "left", "of": {"code": "test-valid"}}
    assert 0 < ear["mean"]["level"] < 30


def test_the_terminal_shows_the_same_paper(
    people: dict[str, Person], clinic: Path, gp_pta: GpPta
) -> None:
    code, out, err = gp_pta("sessions", clinic, "--people", "--identifier", "W-*")
    person, shown = people["W-1"], ["W-1"]
    for block in summary(1, person, person.comparisons())["blocks"]:
        headline = [block["headline"]] if "headline" in block else []
        shown += map(language_of("en").say, [*headline, *block["rows"]])
    assert (code, err) == (0, "2 of 7 journals\n")
    assert out.split() == " ".join(shown).split()


@pytest.mark.parametrize("probability", [0.004, 0.6, 0.97, 1.0])
def test_of_what_lies_beyond_a_limit_no_probability_is_told_that_leaves_it_open(
    probability: float, people: dict[str, Person]
) -> None:
    """Of one frequency the shift is 70 dB or more; of the other nothing is known."""
    person = people["W-1"]
    first, last = posterior([30.0] * 2), posterior([130.0] * 2, limit_db_hl=100.0)
    first.limit_db_hl[1] = 100.0
    visits = [replace(visit, posteriors={"left": each})
              for visit, each in zip(person.visits, (first, last), strict=True)]  # fmt: skip
    shifts = (Shift(250, 70.0, 60.0, 80.0, probability), Shift(500, 0.0, -9.0, 9.0, 0.0))
    beyond = Comparison("left", visits[0], visits[1], Change(probability, shifts))
    sure, none = probability == 1.0, {"code": "no-value"}
    certain, least = {"code": "percent-above", "percent": 99.0}, {"code": "level", "level": 70.0}
    (table,) = history(1, person, [beyond], nominal=False)["blocks"][-1]["tables"]
    assert [cells for _, cells in table["rows"]] == [
        [{**least, "code": "level-above"}, none], [none, none], [certain if sure else none, none],
    ]  # fmt: skip
    said = {each["code"]: each for each in remarks(person, [beyond])}
    assert said["people-unseen"]["frequencies_hz"] == ([500] if sure else [250, 500])
    told = said.get("people-not-changed")
    if told is None:
        (block,) = (each for each in summary(1, person, [beyond])["blocks"] if "headline" in each)
        (told,) = block["rows"]
        assert told["clearest"]["db"] == {"code": "at-least", "level": least}
    open_share = {"code": "at-least", "level": {"code": "percent", "percent": 100.0 * probability}}
    if probability < LEAST_SHARE:
        open_share = {"code": "unknown"}
    assert told["share"] == (certain if sure else open_share)


def test_a_session_that_does_not_replay_is_left_out_and_named(
    clinic: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    for path in clinic.glob("session-00000[12].journal"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    rewrite(tmp_path / "session-000001.journal", {"level_db_hl": 33.25})
    (tmp_path / "session-000009.journal").write_bytes(b"Dear sirs,\n")
    code, out, err = gp_pta("sessions", tmp_path, "--people")
    assert code == 1
    assert out.split()[:3] == ["W-1", "1", "session,"]
    foreign, differs, _ = err.splitlines()
    assert foreign.startswith(
        f"left out: {tmp_path}/session-000009.journal: foreign: is no journal"
    )
    assert differs.startswith(f"left out: {tmp_path}/session-000001.journal: does not replay")

    for path in tmp_path.glob("session-00000[12].journal"):
        path.unlink()
    code, out, err = gp_pta("sessions", tmp_path, "--people")
    assert (code, out) == (2, "")
    assert "session-000009.journal: foreign" in err
    assert "is of anybody: nothing was written" in err


def test_an_unfinished_session_is_quick_them_and_is_not_compared(
    clinic: Path, tmp_path: Path
) -> None:
    content = (clinic / "session-000001.journal").read_bytes()
    (tmp_path / "session-000001.journal").write_bytes(content[: len(content) // 2])
    person = people_in(tmp_path)["W-1"]
    assert [visit.entry.outcome for visit in person.visits] == ["unfinished"]
    assert (person.visits[0].ears, person.comparisons()) == ({}, [])
    (visit,) = summary(1, person, [])["blocks"][-1]["rows"]
    assert (visit["status"]["code"], visit["by_ear"]["code"]) == ("status-unfinished", "no-value")


def codes(rows: Iterable[Row]) -> list[str]:
    return [each["code"] for each in rows]


def remarks_on(*entries: Entry) -> list[Row]:
    """Return what is said of the one person of these sessions, and first how an ear changed."""
    (person,) = people_among(entries)
    found = person.comparisons()
    alarms = [each for each in summary(1, person, found)["blocks"] if each["block"] == "alarm"]
    return [row for each in alarms for row in each["rows"]] + remarks(person, found)


def at(entry: Entry, started: str, session: int, device: str = "box-1") -> Entry:
    return replace(entry, started=f"{started}T00:00:00+00:00", session=session, device=device)


@pytest.mark.parametrize(
    ("first", "last", "contradicts"),
    [
        ("2027-01-01", "2028-01-01", False), ("2028-01-01", "2027-01-01", True),
        ("1970-01-01", "2027-01-01", False), ("2027-01-01", "1970-01-01", False),
        ("1970-01-02", "1970-01-01", False),
    ],
)  # fmt: skip
def test_a_clock_that_was_set_back_does_not_make_worse_better(
    first: str, last: str, contradicts: bool, clinic: Path
) -> None:
    """The ear of session 2 grew worse until session 1; by their numbers here 5 and 6."""
    before, after = _entry(clinic, 2), _entry(clinic, 1)
    changed, *found = remarks_on(at(after, last, 6), at(before, first, 5))
    assert changed["clearest"]["of"]["code"] == "people-worse"
    against = {"first": before.name, "last": after.name, "code": "people-against-the-clock"}
    assert [each for each in found if "against" in each["code"]] == [against] * contradicts
    assert codes(found).count("people-unlike") == 2 == len(found) - contradicts

    better, *_ = remarks_on(at(after, first, 5), at(before, last, 6))
    assert better["clearest"]["of"]["code"] == "people-better"


def test_of_an_ear_by_air_no_vibrator_is_compared() -> None:
    """Of one by bone another one is said."""
    examination = with_vibrator(session_with_bone())
    ears = {str(ear.route): ear for ear in examination.result.ears}
    entry = Entry("a.journal", "complete")
    visit = Visit(entry, None, None, ears, {}, identity=examination.identity)
    vibrators = {ear: visit.identity_of(ear).vibrator for ear in ears}
    own = "Radioear B71, B-1"
    assert vibrators == {"right": None, "left": None, "right-bone": own, "left-bone": own}


def test_only_what_may_be_compared_is(clinic: Path, tmp_path: Path, gp_pta: GpPta) -> None:
    """Copies, other earphones, another age, identifiers that look alike, and an unset clock."""
    fourth = (clinic / "session-000004.journal").read_bytes()
    for name in ("session-000004", "z-copy"):
        (tmp_path / f"{name}.journal").write_bytes(fourth)
    header, *records = read_journal(clinic / "session-000003.journal").records
    content = copy.deepcopy(header["calibration"]["content"])
    content["transducer"]["name"] = "HDA 200"
    digest = calibration_from(content).digest
    other = {**header["calibration"], "content": content, "digest": digest}
    write_again(tmp_path / "hda.journal", {**header, "calibration": other}, records)
    for name, identifier, session, day in (
        ("x-1", "x-1", 8, "2027-03-01"),
        ("X-1", "X-1", 9, "2027-03-01"),
        ("young", "X-1", 10, "2041-03-01"),
        ("unset", "X-1", 11, "1970-01-01"),
    ):  # none of them is finished
        person = {"age_years": 40, "sex": "F", "identifier": identifier}
        told = {"session": session, "person": person}
        write_again(tmp_path / f"{name}.journal", {**on_day(header, day), **told}, records[:20])
    code, _, err = gp_pta("sessions", tmp_path, "--people")
    assert code == 0
    left_out = "left out: z-copy.journal is a copy of session-000004.journal\n"
    assert err == f"{left_out}6 of 7 journals, 1 there twice\n"
    found = people_in(tmp_path)
    same, *alike = ({row["code"]: row for row in remarks(each, [])} for each in found.values())
    refused = same["people-refused"]
    assert (refused["first"]["date"], refused["last"]["date"]) == ("2027-03-01", "2029-03-01")
    assert refused["differs"] == {
        "code": "differs", "field": "transducer", "one": "'HDA 200'", "other": "'TDH39'",
    }  # fmt: skip
    assert [each["people-alike"]["names"] for each in alike] == [["x-1"], ["X-1"]]
    asked = alike[0]["people-asked"]["differs"]
    assert (asked["field"], asked["one"], asked["other"]) == ("born-year", "1987", "2001")
    visits = summary(1, found["X-1"], [])["blocks"][-1]["rows"]
    assert [(each["journal"], each["begun_at"][:4]) for each in visits] == [
        ("X-1.journal", "2027"), ("young.journal", "2041"), ("unset.journal", "1970"),
    ], "by their numbers"  # fmt: skip
    assert [each["status"]["code"] for each in visits] == ["status-unfinished"] * 3

    _, out, _ = gp_pta("sessions", tmp_path)
    assert out.startswith("journal ")
    assert sum(line.endswith("clock was not set") for line in out.splitlines()) == 1
    write_again(tmp_path / "two.journal", {**header, "device": "box-2"}, records)
    lines = gp_pta("sessions", tmp_path)[1].splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["audiometer", "box-1"]
    assert sum(line.startswith("box-2 ") for line in lines) == 1


def _entry(directory: Path, number: int) -> Entry:
    return entry_of(directory / f"session-{number:06d}.journal")


def test_a_clock_that_was_wrong_breaks_no_page(clinic: Path) -> None:
    entry = replace(_entry(clinic, 1), started="never")
    person = Person("X", (Visit(entry, None, None, {}, {}), Visit(entry, None, None, {}, {})))
    assert "never (clock was not set)" in people_page([(person, [])], "en")


def test_a_day_says_its_zone_since_elsewhere_it_may_be_another_day() -> None:
    for hour, date, zone in (
        ("23:59:30+00:00", "2026-12-31", "UTC"), ("08:59:30+09:00", "2027-01-01", "UTC+09:00"),
    ):  # fmt: skip
        visit = Visit(Entry("a", "complete", started=f"{date}T{hour}"), None, None, {}, {})
        sessions, *_ = summary(1, Person("X", (visit,)), [])["blocks"]
        assert sessions["rows"][0]["first"] == {"code": "people-day", "date": date, "zone": zone}


# The page


def test_the_page_of_the_room_has_the_figures_of_the_page() -> None:
    room = (Path(str(files("host_tools"))) / "commands/sessions/README.md").read_text("utf-8")
    shares = [*FALSE_ALARMS.values(), *NOTICED.values()]
    assert [share for share in shares if f"| {100.0 * share:.1f} % (" not in room] == []
    assert f"of {CHANGED:g} " in room


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_row_is_said_in_every_language(
    language: str, people: dict[str, Person], clinic: Path
) -> None:
    said, entries = language_of(language), entries_in(clinic)
    compared = [(each, each.comparisons()) for each in people.values()]
    told: list[Any] = [method_row(), list_lines([*entries, at(entries[0], "1970-01-01", 1)])]
    for person, found in compared:
        told.append(summary(1, person, found))
        told += [history(1, person, found, nominal=n) for n in (False, True) if person.visits_by(n)]
    check_said(told, language)
    page = people_page(compared, language)
    assert f'<html lang="{language}">' in page
    assert page.count('class="verdict alarm"') == 1
    assert html.escape(said.say(method_row())) in page
    assert set(re.findall(r"https?://[^\"'\s<>]+", page)) == set()
    assert len(page) < 200_000


def test_the_page_has_every_threshold_of_every_session(people: dict[str, Person]) -> None:
    person = people["W-1"]
    tables = history(1, person, person.comparisons(), nominal=False)["blocks"][-2]["tables"]
    assert [each["of"] for each in tables] == ["left"]
    (_, *hertz), lines = tables[0]["columns"], [cells for _, cells in tables[0]["rows"]]
    for number, visit in enumerate(person.visits):
        found = {each.frequency_hz: as_shown(each) for each in visit.ears["left"].thresholds}
        whole = {
            each.frequency_hz: USUAL.shown(Route("left"), each)
            for each in visit.ears["left"].thresholds
        }
        assert lines[3 * number] == [level_row(found.get(f)) for f in hertz]
        assert lines[3 * number + 1] == [band_row(found.get(f)) for f in hertz]
        assert lines[3 * number + 2] == [band_row(whole.get(f)) for f in hertz]
    page = people_page([(person, person.comparisons())], "en")
    assert page.count("<svg") == len(found)
    for cell in (cell for cells in lines for cell in cells):
        assert f"<td>{html.escape(language_of('en').say(cell))}</td>" in page


def test_what_is_told_of_a_person_cannot_become_a_part_of_the_page(clinic: Path) -> None:
    loud = "<script>x</script>"
    entries = [replace(_entry(clinic, number), identifier=loud) for number in (1, 2)]
    found = people_among(entries)
    page = people_page([(each, []) for each in found], "en")
    assert "<script" not in page
    assert page.count(f">{html.escape(loud)}<") == 2, "in the title and the heading"


def test_a_list_says_the_offset_of_a_time_since_elsewhere_it_may_be_another_day() -> None:
    started = {"2026-12-31T23:59:30+00:00": "2026-12-31 23:59+00:00",
               "2027-01-01T08:59:30+09:00": "2027-01-01 08:59+09:00", "": ""}  # fmt: skip
    assert [Entry("a", "complete", started=each).begun for each in started] == [*started.values()]
