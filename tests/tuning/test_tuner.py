"""A whole tuning: aid, button, journal, resumption."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from device.simulator.aid import SimulatedAid
from device.simulator.listener import HEARD_BUTTON, UNSURE_BUTTON, Press
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import S
from firmware_py.calibration.simulated import SERIAL
from firmware_py.comparisons.against import RESERVED
from firmware_py.comparisons.events import Answered
from firmware_py.comparisons.space import DIMENSIONS, PRESCRIPTION, Setting
from firmware_py.comparisons.tuning import SILENT_MAX, State
from firmware_py.inference.preference.answer import Answer
from firmware_py.inference.preference.estimator import PreferenceEstimator
from firmware_py.journal import read_journal
from firmware_py.link import notices
from firmware_py.platform.data_directory import TUNING
from firmware_py.terms.events import Aborted, ButtonPressed, Continued, Event, Paused
from firmware_py.terms.outcomes import SessionOutcome
from firmware_py.terms.person import Person
from firmware_py.terms.reasons import Code
from firmware_py.terms.settings import Settings
from tests.budget import examples, quick
from tests.firmware.whole_sessions import a_listener
from tests.tuning.bench import DATA, JOURNAL, Bench

WISH = Setting(4.0, -5.0, 2.0, 0.0)
AWAY_US = 16 * 60 * S  # longer than a tuning goes on after by itself
FEW = 10  # comparisons, where it does not matter what is found


class Chooser:
    """Somebody who wants one setting, and presses while the better sound plays."""

    def __init__(self, wish: Setting = WISH) -> None:
        self.wish = wish
        self.heard: dict[str, float] = {}

    def __call__(self, what: str, about: dict[str, Any]) -> Answered | None:
        if what != "speech":
            return None
        values = (about[d.name] for d in DIMENSIONS)
        wanted = self.wish.values_db()
        self.heard[about["place"]] = -sum((v - w) ** 2 for v, w in zip(values, wanted, strict=True))
        if about["place"] == Answer.FIRST:
            return None
        first, second = self.heard["first"], self.heard["second"]
        return Answered(Answer.FIRST if first > second else Answer.SECOND)


def under_way(comparisons: int, *identifier: str, wish: Setting = WISH, **changes: Any) -> Bench:
    """Return a tuning that has the answers of so many comparisons."""
    bench = Bench(Chooser(wish))
    bench.tune(*identifier, **changes)
    bench.run_to("comparison", comparisons)
    return bench


def asks(bench: Bench, why: str) -> bool:
    """Return whether it waits for the operator's word, and says why."""
    return f' check=identity why="{why}" reasons=' in bench.ask("TUNE:STAT?")[0]


def tune(bench: Bench) -> Any:
    bench.tune()
    bench.go_on()
    for _ in range(5):  # the aid is told where to stay
        bench.step()
    return bench.tuning


@cache
def finished_tuning() -> tuple[Bench, Any]:
    """Return a tuning that has come to its end, and its result: to be looked at only."""
    bench = Bench(Chooser())
    return bench, tune(bench).result()


def test_somebody_who_wants_something_gets_it_and_the_aid_is_left_there() -> None:
    bench, result = finished_tuning()
    assert (result.outcome, result.finding) == (SessionOutcome.COMPLETE, "wish")
    errors = [abs(s - w) for s, w in zip(result.setting_db, WISH.values_db(), strict=True)]
    assert max(errors) < 4.0, errors
    assert bench.simulated_aid.setting.values_db() == result.setting_db


def pairs_of(bench: Bench) -> list[tuple[Setting, Setting]]:
    """Return the two settings of each comparison, in the order of hearing."""
    told: dict[int, dict[str, Setting]] = {}
    for about in bench.of("speech"):
        setting = Setting(*(about[d.name] for d in DIMENSIONS))
        told.setdefault(about["comparison"], {})[about["place"]] = setting
    return [(each["first"], each["second"]) for each in told.values()]


def differ(one: Setting, other: Setting) -> int:
    return sum(a != b for a, b in zip(one.values_db(), other.values_db(), strict=True))


def test_one_number_differs_until_the_best_is_heard_beside_the_prescription_in_both_orders() -> (
    None
):
    bench, result = finished_tuning()
    *others, one, two = pairs_of(bench)
    assert len(others) >= 8
    assert all(differ(*pair) == 1 for pair in others)
    assert (one[0] == PRESCRIPTION, one[1] == PRESCRIPTION) in {(True, False), (False, True)}
    assert (two[1] == PRESCRIPTION, two[0] == PRESCRIPTION) == (
        one[0] == PRESCRIPTION, one[1] == PRESCRIPTION,
    )  # fmt: skip
    assert result.remarks == ()


class Faithful(Chooser):
    """Somebody who prefers the prescription to the setting that he wants."""

    def __call__(self, what: str, about: dict[str, Any]) -> Answered | None:
        answered = super().__call__(what, about)
        if what == "speech" and not any(about[d.name] for d in DIMENSIONS):
            self.prescription, self.comparison = about["place"], about["comparison"]
        if answered and getattr(self, "comparison", 0) == about["comparison"]:
            return Answered(self.prescription)
        return answered


def test_a_setting_that_does_not_win_against_the_prescription_is_not_used() -> None:
    bench = Bench(Faithful())
    bench.tune(comparisons_max=FEW + RESERVED)
    bench.go_on()
    bench.step()
    result = bench.tuning.result()
    against = [pair for pair in pairs_of(bench) if PRESCRIPTION in pair and differ(*pair) > 1]
    assert len(against) >= RESERVED, "the last comparisons are kept for it"
    assert (result.finding, result.comparisons) == ("none", FEW + RESERVED)
    assert bench.tuning.estimator.listens > 0.5
    assert [each.code for each in result.remarks] == [Code.NOT_PREFERRED]
    assert dict(result.remarks[0].parts) == {"won": 0, "asked": len(against)}
    assert bench.simulated_aid.setting == PRESCRIPTION
    assert result.setting_db == PRESCRIPTION.values_db()


def test_a_number_that_is_wished_beyond_its_range_is_named() -> None:
    result = tune(Bench(Chooser(replace(WISH, tilt_db=-16.0)))).result()
    (end,) = result.remarks
    assert end.to_record() == {"code": "range-end", "dimension": "tilt-db", "change_db": -12.0}
    assert result.setting_db[1] < -9.0


@pytest.mark.parametrize("after", quick((3, 1, 8), 3))
def test_a_tuning_that_lost_its_power_goes_on_where_it_was(after: int) -> None:
    _, whole = finished_tuning()
    bench = under_way(after)
    bench.restart()
    assert bench.wrong == []
    bench.go_on()
    assert bench.tuning.result() == whole, "what was under way is heard anew, and nothing else"
    state = bench.replayed()
    assert (state.differences, state.resumed) == ([], 1)


def test_an_aid_that_vanishes_and_comes_back_is_waited_for() -> None:
    bench = under_way(2, comparisons_max=FEW)
    bench.aids.vanish()
    bench.run(5 * S)
    assert bench.tuning.state == State.WAITING
    assert bench.of("aid-lost")
    bench.aids.there = True
    bench.go_on()
    assert bench.tuning.outcome == SessionOutcome.COMPLETE
    assert len(bench.of("aid-ready")) == 1


def test_after_a_long_absence_of_aid_board_or_person_it_waits_for_the_operator() -> None:
    """Whoever presses then may be somebody else."""
    bench = under_way(1, comparisons_max=FEW)
    broken_off = "it was broken off 16 minutes ago: is it the same person?"
    paused = "it has been paused for 15 minutes and more: is it the same person?"

    def is_asked() -> bool:
        return bench.tuner.session is not None and bench.tuner.session.test.waits_why != ()

    def waits(why: str) -> None:
        bench.until(is_asked)
        assert asks(bench, why)
        bench.tuner.feed(ButtonPressed(bench.clock.us))
        speech = len(bench.of("speech"))
        bench.run(S)
        assert len(bench.of("speech")) == speech, "nothing sounds before the operator's word"
        assert bench.ask("TUNE:CONT") == ["OK"]

    bench.aids.vanish()
    bench.run(AWAY_US)
    bench.aids.there = True
    waits(broken_off)
    bench.person = lambda *_: None
    bench.run_to("nobody-answers", 1)
    bench.run(AWAY_US)
    waits(paused)
    bench.run_to("comparison", 2)
    assert bench.ask("TUNE:PAUS") == ["OK"]
    bench.run(AWAY_US)
    waits(paused)
    assert bench.ask("SYST:ERR?") == [f'111,"tuning 1 waits: {broken_off}"']
    assert bench.ask("SYST:ERR?") == [f'111,"tuning 1 waits: {paused}"']
    bench.close()


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (SimulatedAid(fit="f" * 12), "fit: now there is 'ffffffff', it began with '01234567'"),
        (SimulatedAid(person="P-Ä"), "it is another person's"),
    ],
)
def test_an_aid_of_somebody_else_is_sent_nothing_of_the_tuning(
    other: SimulatedAid, why: str
) -> None:
    bench = under_way(2, "P-A", comparisons_max=FEW)
    own, bench.aid = bench.aid, replace(other, told=[])
    for _ in range(2):
        bench.restart()
        bench.meet()
    bench.plug(bench.aid)  # and again while the firmware runs
    bench.meet()
    bench.run(S)
    why = f"{why}: use what it began with, or end the tuning"
    assert asks(bench, why)
    assert bench.ask("TUNE:CONT") == [f'ERROR -221,"{why}"']
    bench.tuner.feed(ButtonPressed(bench.clock.us))
    bench.run(S)
    assert set(bench.aid.told) == {"hello"}

    other = bench.aid
    bench.plug(own)
    bench.until(lambda: bench.ask("TUNE:CONT") == ["OK"])
    bench.run_to("comparison", 1)
    bench.plug(other)
    bench.until(lambda: bench.tuner.foreign != ())
    assert bench.ask("TUNE:ABOR") == ["OK"]
    bench.run(S)
    assert bench.of("setting") == []
    assert set(bench.aid.told) == {"hello"}, "its end, too, is not for that aid"
    state = bench.replayed()
    assert (state.differences, state.header.identifier) == ([], "P-A")
    assert state.result is not None
    assert state.result.comparisons == 3


def both_left() -> Bench:
    """Return a tuning of P-A beside whose journal lies that of an unfinished test of P-B."""
    bench = Bench(Chooser())
    bench.begin(Settings(ears="left", seed=3), Person(identifier="P-B"))
    bench.run(10 * S)
    bench.close()
    test = bench.simulated_disk.content(DATA / "session-000001.journal")
    assert test is not None
    bench = under_way(2, "P-A", comparisons_max=5)
    bench.simulated_disk.put(DATA / "session-000001.journal", test)
    return bench


def test_a_tuning_waits_behind_an_unfinished_test_and_for_the_operator() -> None:
    bench = both_left()
    before = len(bench.simulated_aid.told)
    bench.restart()
    session, tuning = bench.runner.session, bench.tuner.session
    assert session is not None
    assert tuning is not None
    assert session.board.event > tuning.board.event
    of_test = (session.board.boot, session.board.event)
    assert (bench.client.boot, bench.client.last_event) == of_test, "the board goes on there"
    why = "session 1 goes first: is it the same person?"
    assert bench.ask("SYST:ERR?") == [f'111,"tuning 1 waits: {why}"']
    for command in ("PAUS", "CONT", "ABOR", "ANSW FIRST"):
        refused = 'ERROR -221,"the tuning waits until the test is over: SESS:ABOR ends that"'
        assert bench.ask(f"TUNE:{command}") == [refused]
    assert asks(bench, why)
    bench.run(20 * S)
    assert json.loads(bench.ask("SESS:RES?")[0])["ears"][0]["tones"] > 3
    assert bench.ask("SESS:ABOR") == ["OK"]
    bench.run(20 * S)
    assert set(bench.simulated_aid.told[before:]) == {"hello"}
    whose = json.loads(bench.ask("TUNE:IDEN?")[0])
    assert (whose["identifier"], whose["board"]) == ("P-A", f"sim {SERIAL}")
    assert bench.ask("SESS:STAR") == ['ERROR -221,"a tuning is under way: TUNE:ABOR ends it"']
    assert bench.ask("TUNE:CONT") == ["OK"]
    bench.go_on()
    assert bench.tuning.outcome == SessionOutcome.COMPLETE
    assert bench.replayed().differences == []

    def presses(journal: Path) -> list[Any]:
        records = read_journal(journal, disk=bench.simulated_disk).records
        return [r for r in records if r.get("event", {}).get("what") == ButtonPressed.WHAT]

    assert presses(DATA / "session-000001.journal") != []
    assert presses(JOURNAL) == [], "the presses are those of the test"


def test_an_aid_is_away_since_the_tuning_was_left_and_not_since_the_start() -> None:
    bench = under_way(1, comparisons_max=FEW)
    bench.clock.us += 10 * 60 * S
    bench.restart()
    bench.aids.vanish()
    bench.run(10 * 60 * S)
    assert bench.tuner.session is not None
    assert bench.tuner.session.test.waits_why == ()
    bench.aids.there = True
    bench.meet()
    assert bench.tuner.session.test.waits_why != ()


def test_a_tuning_waits_for_the_operator_by_the_rule_of_a_test() -> None:
    bench = under_way(2, "P-A", comparisons_max=5)
    bench.clock.us += 3600 * S
    played = len(bench.simulated_aid.played)
    bench.restart()
    bench.run(20 * S)
    assert len(bench.simulated_aid.played) == played
    why = "it was broken off 60 minutes ago: is it the same person?"
    assert asks(bench, why)
    bench.swap_board(SimulatedBoard(a_listener(), boot=2, name="pico"))
    bench.until(lambda: bench.tuner.foreign != ())
    foreign = "kind of tone generator: now there is 'pico', it began with 'sim': use what it"
    assert foreign in bench.ask("TUNE:CONT")[0]
    bench.swap_board(SimulatedBoard(a_listener(), boot=3))
    bench.until(lambda: bench.ask("TUNE:CONT") == ["OK"])
    bench.go_on()
    assert bench.tuning.outcome == SessionOutcome.COMPLETE


def left_alone() -> Bench:
    bench = Bench()
    bench.tune(comparisons_max=FEW)
    bench.go_on()
    return bench


@pytest.mark.parametrize("goes_on", [lambda _: Continued(), ButtonPressed])
def test_when_nobody_presses_it_is_paused_until_the_operator_goes_on_or_somebody_presses(
    goes_on: Callable[[int], Event],
) -> None:
    bench = left_alone()
    assert bench.tuning.state == State.PAUSED
    assert bench.tuning.estimator.comparison_count == SILENT_MAX - 1
    assert bench.of("nobody-answers") == [{"comparisons": SILENT_MAX}]
    bench.person = Chooser()
    bench.tuner.feed(goes_on(bench.clock.us))
    bench.go_on()
    assert bench.tuning.outcome == SessionOutcome.COMPLETE


def test_a_press_after_a_long_standstill_of_the_device_is_not_believed_either() -> None:
    bench = left_alone()
    bench.step()
    bench.clock.us += AWAY_US  # nothing is looked at meanwhile, and the press is told first
    bench.tuner.notice(notices.ButtonPressed(bench.client.last_event + 1, bench.board.now_us, 1))
    assert bench.tuning.state == State.PAUSED
    assert bench.tuning.waits_why != ()


def test_after_a_pause_by_the_operator_a_press_means_nothing() -> None:
    bench = under_way(0)
    bench.tuner.feed(Paused())
    bench.tuner.feed(ButtonPressed(bench.clock.us))
    assert bench.tuning.state == State.PAUSED


@pytest.mark.parametrize(("after_us", "answer"), [(500_000, "first"), (100_000, "second")])
def test_a_press_means_the_sound_that_plays_and_not_the_one_that_has_just_begun(
    after_us: int, answer: str
) -> None:
    """It comes so long after the beginning of the first sound of the second round."""
    bench = Bench()
    bench.tune()

    def press() -> None:
        bench.clock.us += after_us
        bench.tuner.feed(ButtonPressed(bench.clock.us))

    bench.when(lambda: len(bench.of("speech")) >= 3, press)
    bench.run_to("comparison", 1)
    assert bench.of("comparison")[0]["answer"] == answer


@pytest.mark.parametrize(
    ("sounds", "button", "answers"),
    [(1, HEARD_BUTTON, []), (2, HEARD_BUTTON, ["second"]), (2, UNSURE_BUTTON, ["same"])],
)
def test_each_button_answers_once_both_were_heard_and_is_stray_before(
    sounds: int, button: int, answers: list[str]
) -> None:
    """The second says that there is no difference."""
    bench = Bench()
    bench.tune()
    bench.run_to("speech", sounds)
    bench.board.hand.intend(Press(S // 2, S // 10, button), bench.board.now_us)
    bench.run(S)
    assert [about["answer"] for about in bench.of("comparison")] == answers
    assert bench.tuning.result().stray_presses == 1 - len(answers)


def test_a_tuning_that_is_ended_early_leaves_the_aid_at_the_prescription() -> None:
    bench = under_way(3)
    bench.tuner.feed(Aborted())
    bench.go_on()
    bench.step()
    result = bench.tuning.result()
    assert (result.outcome, result.comparisons) == (SessionOutcome.ABORTED, 3)
    assert bench.simulated_aid.setting == Setting.of(result.setting_db) == PRESCRIPTION


def test_no_setting_is_ever_offered_that_the_aid_does_not_allow() -> None:
    bench = Bench(Chooser(Setting(30.0, -30.0, 30.0, 30.0)))
    bench.simulated_aid.limit_db = 6.0
    tune(bench)
    assert bench.simulated_aid.played
    assert max(abs(v) for setting in bench.simulated_aid.played for v in setting.values_db()) <= 6.0


def test_an_aid_that_takes_less_than_the_tuning_began_with_is_asked_for_no_more() -> None:
    """Of the same fit, by its own word; and what it allows it is asked for as before."""
    bench = under_way(3, comparisons_max=FEW, wish=Setting(12.0, -12.0, 12.0, 12.0))
    less = replace(bench.simulated_aid, limit_db=1.5, told=[], played=[])
    bench.plug(less)
    bench.go_on()
    bench.run(S)
    assert all(max(map(abs, each.values_db())) <= 1.5 for each in less.played)
    assert less.setting == PRESCRIPTION
    (over,) = bench.of("finished")
    (why,) = over["why"]
    assert (why.code, dict(why.parts)["command"]) == (Code.AID_REFUSED, "play-speech")
    assert re.fullmatch(r"\w+_db is -?[\d.]+; allowed is -1.5 to 1.5 dB", dict(why.parts)["told"])
    state = bench.replayed()
    assert (state.differences, state.test.outcome) == ([], SessionOutcome.ABORTED)


def test_which_setting_is_heard_first_is_drawn() -> None:
    orders = set()
    for seed in range(8):
        bench = Bench(Chooser())
        bench.tune(seed=seed)
        bench.run_to("speech", 2)
        first, second = bench.simulated_aid.played
        orders.add(first.values_db() > second.values_db())
    assert orders == {True, False}


STEPS = (
    "restart", "own aid", "other aid", "own board", "other board", "run", "long break",
    "TUNE:STAR ID=P-A,COUNT=5", "SESS:STAR EAR=LEFT,ID=P-B", "TUNE:CONT", "SESS:CONT", "TUNE:ABOR",
    "SESS:ABOR",
)  # fmt: skip


@pytest.mark.thorough
@budget(max_examples=examples(25))
@given(steps=st.lists(st.sampled_from(STEPS), min_size=5, max_size=25))
def test_whatever_comes_and_goes_one_session_sounds_and_only_on_its_own_aid(
    steps: list[str],
) -> None:
    bench, boot = both_left(), 1
    aid = own = bench.simulated_aid
    other = SimulatedAid(fit="f" * 12)
    bench.restart()
    for step in steps:
        match step:
            case "own aid" | "other aid":
                aid = own if step == "own aid" else other
                bench.plug(aid)
            case "own board" | "other board":
                bench.until(lambda: bench.client.connected)
                boot, name = boot + 1, "sim" if step == "own board" else "pico"
                bench.swap_board(SimulatedBoard(a_listener(), boot=boot, name=name))
            case "restart" | "long break":
                bench.clock.us += 3600 * S if step == "long break" else 0
                bench.restart()
            case "run":
                bench.run(3 * S)
            case _:
                bench.ask(step)
        end_us = bench.clock.us + 3 * S
        while bench.clock.us < end_us:
            said, in_test = len(aid.told), bench.runner.session
            bench.step()
            sounded = {*aid.told[said:]} - {"hello", "stop"}
            if sounded:
                assert bench.tuner.last is not None
                assert bench.tuner.last.header.settings.fit == aid.fit
            assert "play" not in sounded or in_test is None or in_test is not bench.runner.session
    for path in bench.data.journals(TUNING):
        assert bench.replayed(path).differences == []


def test_answers_count_for_what_came_out_and_not_for_what_was_asked() -> None:
    bench = Bench()
    bench.simulated_aid.most_db = 1.0
    bench.tune()
    estimator = bench.tuning.estimator
    bench.run_to("speech", 2)
    for _ in range(3):  # the aid says what it plays
        bench.step()
    played = bench.simulated_aid.played[:2]
    assert max(value_db for setting in played for value_db in setting.values_db()) > 1.0
    first, second = (tuple(min(db, 1.0) for db in each.values_db()) for each in played)

    bench.tuner.feed(Answered(Answer.FIRST))
    alone = PreferenceEstimator(
        ranges_db=bench.tuning.settings.ranges_db, prior_sd_db=bench.tuning.settings.prior_sd_db
    )
    alone.observe(first, second, Answer.FIRST)
    assert estimator.wish()[0].tolist() == alone.wish()[0].tolist()


def test_a_fit_that_leaves_nothing_to_tune_is_refused() -> None:
    bench = Bench()
    bench.simulated_aid.limit_db = 0.0
    bench.meet()
    bench.ask("TUNE:STAR")
    (said,) = bench.ask("SYST:ERR?")
    assert "'0 dB of every number'; allowed is a range to tune in; no tuning was begun" in said
