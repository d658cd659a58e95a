"""`gp-pta sessions --people`: who changed, told from two posteriors; and a page of it."""

import copy
import io
import json
import re
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache as cache_of
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from firmware_py.calibration.file import calibration_from
from firmware_py.findings.convention import ear_in_convention
from firmware_py.journal import read_journal
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.route import AUDIOGRAM_FREQUENCIES_HZ
from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.commands.sessions import people as people_module
from host_tools.commands.sessions.change import (
    CHANGED,
    FALSE_ALARMS,
    NOTICED,
    SHIFT_DB,
    EarPosterior,
    change_between,
    refit_sd_db,
)
from host_tools.commands.sessions.entry import Entry, entry_of
from host_tools.commands.sessions.people import Person, Visit, people_of
from host_tools.commands.sessions.people_page import people_page
from host_tools.commands.sessions.people_words import PeopleWords
from host_tools.main import main
from host_tools.recordings.recorded_session import RecordedSession, read_true_session
from tests.budget import quick
from tests.host.commands.export.sessions import session_with_bone, with_vibrator
from tests.host.commands.sessions.clinic import WORSE_DB, write_clinic
from tests.host.journals import GOLDEN, GpPta, on_day, rewrite, write_again

pytestmark = pytest.mark.xdist_group("people")  # the sessions of the clinic are run once


@pytest.fixture(autouse=True)
def one_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a journal of the clinic be read once, whoever asks."""
    monkeypatch.setattr(people_module, "read_true_session", read_once)


@cache_of
def read_once(path: Path) -> RecordedSession:
    return read_true_session(path)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory: an ear that grew worse, one that did not, and somebody else."""
    directory = tmp_path_factory.mktemp("clinic") / "journals"
    directory.mkdir()
    write_clinic(directory)
    return directory


def as_they_are(items: Iterable[Entry], _total: int, _words: str) -> Iterable[Entry]:
    return items


def people_in(directory: Path) -> dict[str, Any]:
    said = io.StringIO()
    with redirect_stdout(said):
        assert main(["sessions", str(directory), "--people", "--json"]) == 0
    return {person["identifier"]: person for person in json.loads(said.getvalue())["people"]}


@pytest.fixture(scope="module")
def people(clinic: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what is said of the people of the clinic, by their identifiers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
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
    sd_db = np.sqrt(3.0**2 + 2.0**2 + 2.0 * refit_sd_db(250.0) ** 2)
    spread = stats.norm(shift_db, sd_db)
    exact = spread.cdf(-SHIFT_DB) + spread.sf(SHIFT_DB)

    assert change.probability == pytest.approx(exact, abs=0.015)
    (shift,) = change.shifts
    assert shift.probability == change.probability
    assert shift.mean_db == pytest.approx(shift_db, abs=0.2)
    assert (shift.low_db, shift.high_db) == pytest.approx(spread.interval(0.95), abs=0.5)


def test_any_frequency_counts_and_what_they_share_counts_once() -> None:
    apart = change_between(posterior([30.0] * 8, 4.0), posterior([30.0] * 8, 4.0))
    shared = change_between(posterior([30.0] * 8, 4.0, 3.9), posterior([30.0] * 8, 4.0, 3.9))
    assert apart is not None
    assert shared is not None
    refit = [2.0 * refit_sd_db(f) ** 2 for f in AUDIOGRAM_FREQUENCIES_HZ[:8]]
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


def test_beyond_a_limit_is_at_least_the_limit() -> None:
    """What lies above it is a supposition: both times silent is no change, whatever it says."""
    beyond = posterior([130.0], limit_db_hl=100.0)
    both = change_between(posterior([105.0], limit_db_hl=100.0), beyond)
    one = change_between(posterior([60.0]), beyond)
    assert both is not None
    assert one is not None
    assert both.shifts[0].mean_db == pytest.approx(0.0, abs=0.5)
    assert not both.changed
    assert one.shifts[0].mean_db == pytest.approx(40.0, abs=0.5)
    assert one.changed


def test_only_what_was_asked_both_times_is_compared() -> None:
    first, last = posterior([30.0] * 3), posterior([30.0] * 5)
    change = change_between(first, last.at([500, 1000]))
    assert change is not None
    assert [shift.frequency_hz for shift in change.shifts] == [500]
    assert change_between(first, last.at([1000, 1500])) is None


def test_the_same_two_sessions_give_the_same_figure_every_time() -> None:
    first, last = posterior([30.0] * 4), posterior([33.0] * 4)
    assert change_between(first, last) == change_between(first, last)


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


def test_people_have_their_sessions_in_order(people: dict[str, Any]) -> None:
    assert [*people] == ["S-2", "T-3", "W-1", ""]
    days = [session["started"][:10] for session in people["W-1"]["sessions"]]
    assert days == ["2026-03-01", "2031-03-01"]


def test_an_ear_that_grew_worse_is_said_to_have_changed(people: dict[str, Any]) -> None:
    (worse,), (same,) = people["W-1"]["changes"], people["S-2"]["changes"]

    assert (worse["ear"], worse["changed"]) == ("left", True)
    assert (worse["first"], worse["last"]) == (
        "session-000002.journal", "session-000001.journal",
    )  # fmt: skip
    shifts = {shift["frequency_hz"]: shift for shift in worse["shifts"]}
    for f in (3000, 4000, 6000):
        assert shifts[f]["low_db"] < WORSE_DB < shifts[f]["high_db"]
        assert shifts[f]["probability"] > CHANGED
    assert shifts[500]["probability"] < 0.5
    assert not same["changed"]


def test_levels_without_a_calibration_are_compared_with_nothing(
    people: dict[str, Any], clinic: Path, gp_pta: GpPta
) -> None:
    assert people["T-3"]["changes"] == []
    _, out, _ = gp_pta("sessions", clinic, "--people", "--identifier", "T-3")
    assert "UNCALIBRATED: sessions of a device without a calibration are compared with" in out
    assert "CHANGED" not in out.replace("UNCALIBRATED", "")
    assert "different sexes" in out
    levels = [each for each in out.splitlines() if "PTA4" in each]
    assert [each.count("left - nominal dB, UNCALIBRATED") for each in levels] == [1, 1]
    assert [each["level_unit"] for each in people["T-3"]["sessions"]] == ["nominal dB"] * 2
    assert [each["level_unit"] for each in people["W-1"]["sessions"]] == ["dB HL"] * 2


def test_what_is_nominal_stands_apart_on_the_page(clinic: Path, tmp_path: Path) -> None:
    for number in (3, 5):
        name = f"session-{number:06d}.journal"
        header, *records = read_journal(clinic / name).records
        header["person"]["identifier"] = "M-1"
        write_again(tmp_path / name, header, records)
    (person,), _ = people_of(
        tmp_path, [entry_of(path) for path in sorted(tmp_path.glob("*.journal"))], as_they_are
    )
    page = people_page([(person, person.comparisons())], PeopleWords(catalogue_of("en")))
    charts = len(AUDIOGRAM_FREQUENCIES_HZ)
    tables = re.findall(r"<caption[^>]*>left ear: thresholds in ([^,]*),", page)
    assert tables == ["dB HL", "nominal dB"]
    assert re.findall(r"<h3>Thresholds over time, (.*?)</h3>", page) == tables
    assert 0 < page.count("<svg") <= 2 * charts
    assert 'class="way"' not in page, "no line joins what is not in one unit"


def test_the_history_of_a_person_is_in_one_convention(
    people: dict[str, Any], clinic: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    how = ("sessions", clinic, "--people", "--identifier", "W-1", "--convention", "clinical")
    out = tmp_path / "people.html"
    (told,) = json.loads(gp_pta(*how, "--json", "-o", out)[1])["people"]
    assert told["threshold_convention"] == "clinical, 5 dB ascending"
    assert people["W-1"]["threshold_convention"] == "50 %"
    for name in ("sessions", "changes"):
        assert len(told[name]) == len(people["W-1"][name])
    assert told["changes"] == people["W-1"]["changes"], "a shift has no convention"
    for found, before in zip(told["sessions"], people["W-1"]["sessions"], strict=True):
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
    assert "Thresholds are clinical: as an ascending" in out.read_text("utf-8")
    assert "Thresholds are clinical: as an ascending" in gp_pta(*how)[1]


def test_those_without_an_identifier_are_nobody(
    clinic: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    for number in (5, 7):
        name = f"session-{number:06d}.journal"
        (tmp_path / name).write_bytes((clinic / name).read_bytes())
    _, out, _ = gp_pta("sessions", tmp_path, "--people")
    *_, nobody = out.split("without an identifier")
    assert "may be of several people: they are not compared" in nobody


def test_the_lines_say_it_in_order(clinic: Path, gp_pta: GpPta) -> None:
    code, out, err = gp_pta("sessions", clinic, "--people", "--identifier", "W-*")
    head, first, last, convention, remark, unlike = out.splitlines()
    assert convention == "  Thresholds are 50 % points: the levels heard half the time."
    assert (code, err) == (0, "2 of 7 journals\n")
    assert head == "W-1: 2 sessions, 1 March 2026 to 1 March 2031"
    how = "complete, valid, PTA4 right -"
    assert first.startswith(f"  2026-03-01 09:30+00:00, session-000002.journal, {how}")
    assert last.startswith(f"  2031-03-01 09:30+00:00, session-000001.journal, {how}")
    assert re.fullmatch(
        r"  left ear: CHANGED since 1 March 2026\. .*: > 99 %\. Clearest at \d+ Hz: \d+ dB worse "
        r"\(95 % band \d+ to \d+\)\.",
        remark,
    )
    apart = r"calibration '[0-9a-f]{8}', not '[0-9a-f]{8}'; device 'box-1', not 'box-2'\."
    assert re.fullmatch(f"  left ear: not the same both times: {apart}", unlike)


def test_a_session_that_does_not_replay_is_left_out_and_named(
    clinic: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    for path in clinic.glob("session-00000[12].journal"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    rewrite(tmp_path / "session-000001.journal", {"level_db_hl": 33.25})
    (tmp_path / "session-000009.journal").write_bytes(b"Dear sirs,\n")
    code, out, err = gp_pta("sessions", tmp_path, "--people")
    assert code == 1
    assert out.startswith("W-1: 1 session, 1 March 2026\n")
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
    assert [session["outcome"] for session in person["sessions"]] == ["unfinished"]
    assert (person["sessions"][0]["ears"], person["changes"]) == ({}, [])


def remarks_on(directory: Path, *entries: Entry) -> list[str]:
    """Return what is said of the one person of these sessions."""
    (person,), _ = people_of(directory, entries, as_they_are)
    return PeopleWords(catalogue_of("en")).remarks(person, person.comparisons())


def at(entry: Entry, started: str, session: int, device: str = "box-1") -> Entry:
    return replace(entry, started=f"{started}T00:00:00+00:00", session=session, device=device)


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        ("2027-01-01", "2028-01-01", ""),
        (
            "2028-01-01",
            "2027-01-01",
            "session-000001.journal has a later number than session-000002",
        ),
        ("1970-01-01", "2027-01-01", ""),
        ("2027-01-01", "1970-01-01", ""),
        ("1970-01-02", "1970-01-01", ""),
    ],
)
def test_a_clock_that_was_set_back_does_not_make_worse_better(
    first: str, last: str, said: str, clinic: Path
) -> None:
    """The ear of session 2 grew worse until session 1; by their numbers here 5 and 6."""
    before, after = _entry(clinic, 2), _entry(clinic, 1)
    found = remarks_on(clinic, at(after, last, 6), at(before, first, 5))
    assert re.search(r"Clearest at \d+ Hz: \d+ dB worse \(95 % band", found[0])
    assert any(line.startswith(said) for line in found[1:]) or not said
    assert len(found) == 2 + bool(said)

    better = remarks_on(clinic, at(after, first, 5), at(before, last, 6))
    assert re.search(r"Clearest at \d+ Hz: \d+ dB better \(95 % band", better[0])


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
    code, out, err = gp_pta("sessions", tmp_path, "--people")
    same, asked = (out.split(f"{name}: ")[1] for name in ("S-2", "\nX-1"))

    assert code == 0
    assert err == "left out: z-copy.journal is a copy of session-000004.journal\n7 of 7 journals\n"
    assert same.startswith("2 sessions, 1 March 2027 to 1 March 2029\n")
    assert (
        "left ear: 1 March 2027 and 1 March 2029 are not compared: earphones 'HDA 200', not 'TDH39'"
    ) in same
    assert "Perhaps the same person as X-1: the identifiers differ by capitals, blanks or" in out
    assert "year of birth 1987, not 2001: are these sessions of one person? They are not" in asked
    assert "1970-01-01 09:30+00:00, unset.journal, unfinished" in asked
    assert asked.count("clock was not set") == 1
    assert asked.index("young.journal") < asked.index("unset.journal"), "by their numbers"

    _, out, _ = gp_pta("sessions", tmp_path)
    assert out.startswith("journal ")
    assert sum(line.endswith("(clock was not set)") for line in out.splitlines()) == 1
    write_again(tmp_path / "two.journal", {**header, "device": "box-2"}, records)
    lines = gp_pta("sessions", tmp_path)[1].splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["device", "box-1"]
    assert sum(line.startswith("box-2 ") for line in lines) == 1


def _entry(directory: Path, number: int) -> Entry:
    return entry_of(directory / f"session-{number:06d}.journal")


def test_a_clock_that_was_wrong_breaks_no_page(clinic: Path) -> None:
    entry = replace(_entry(clinic, 1), started="never")
    person = Person("X", (Visit(entry, None, None, {}, {}), Visit(entry, None, None, {}, {})))
    assert "never" in people_page([(person, [])], PeopleWords(catalogue_of("en")))


# The page


class Texts(HTMLParser):
    """Collects the texts of a page, and its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.opened: list[str] = []

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_of_the_room_has_the_figures_of_the_page() -> None:
    room = (Path(str(files("host_tools"))) / "commands/sessions/README.md").read_text("utf-8")
    shares = [*FALSE_ALARMS.values(), *NOTICED.values()]
    assert [share for share in shares if f"| {100.0 * share:.1f} % (" not in room] == []
    assert f"of {CHANGED:g} " in room


@pytest.mark.parametrize("language", quick(LANGUAGES, "de"))
def test_the_page_says_it_in_every_language(language: str, clinic: Path, tmp_path: Path) -> None:
    out = tmp_path / "people.html"
    how = ["sessions", str(clinic), "--people", "-o", str(out), "--language", language]
    assert main(how) == 0
    page = out.read_text(encoding="utf-8")
    words = catalogue_of(language)

    assert f'<html lang="{language}">' in page
    assert words.say("report", "left_ear") in page
    assert words.say("people", "not_compared") in page
    assert page.count('class="changed"') == 1
    wrong = words.percent(words.number(100.0 * FALSE_ALARMS["brisk"], ".1f"))
    assert wrong.replace(" ", "\u00a0") in page
    assert "{" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    assert set(re.findall(r"https?://[^\"'\s<>]+", page)) == set()
    assert out.stat().st_size < 200_000


def test_the_page_has_every_threshold_of_every_session(clinic: Path, tmp_path: Path) -> None:
    out = tmp_path / "people.html"
    assert main(["sessions", str(clinic), "--people", "--identifier", "W-1", "-o", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    for number in (1, 2):
        (found,) = read_true_session(clinic / f"session-{number:06d}.journal").result.ears
        for threshold in found.thresholds:
            if threshold.mark == Outcome.MEASURED:
                assert threshold.low_db_hl is not None
                assert threshold.high_db_hl is not None
                assert threshold.threshold_db_hl is not None
                band = f"{threshold.low_db_hl:.0f} to {threshold.high_db_hl:.0f}"
                shown = f"<td>{threshold.threshold_db_hl:.0f}<br><small>{band}</small></td>"
                assert re.sub(r"-0\b", "0", shown).replace("-", "−") in page
    charts = len({t.frequency_hz for t in found.thresholds})
    assert page.count("<svg") == charts


def test_what_is_told_of_a_person_cannot_become_a_part_of_the_page(clinic: Path) -> None:
    loud = "<script>x</script>"
    entries = [replace(_entry(clinic, number), identifier=loud) for number in (1, 2)]
    found, _ = people_of(clinic, entries, as_they_are)
    texts = Texts()
    texts.feed(people_page([(each, []) for each in found], PeopleWords(catalogue_of("en"))))
    assert "script" not in texts.opened
    assert texts.texts.count(loud) == 2, "in the title and the heading"


def test_a_list_says_the_offset_of_a_time_since_elsewhere_it_may_be_another_day() -> None:
    started = {"2026-12-31T23:59:30+00:00": "2026-12-31 23:59+00:00",
               "2027-01-01T08:59:30+09:00": "2027-01-01 08:59+09:00", "": ""}  # fmt: skip
    assert [Entry("a", "complete", started=each).begun for each in started] == [*started.values()]
