"""What holds for every listener, every setting and every order of events."""

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from device.simulator.listener import Tone
from firmware_py.ear.caps import ATTENTION_TONES_MAX, CHECKS_MAX
from firmware_py.ear.course import next_presentation
from firmware_py.ear.listening import LATE_TONES_MAX
from firmware_py.presenting import presenter
from firmware_py.session.hearing import HearingTest
from firmware_py.terms import events
from firmware_py.terms.discomfort import levels_of_words
from firmware_py.terms.outcomes import UNSURE, WITH_NUMBERS, Outcome, Purpose
from firmware_py.terms.randomness import uniform
from firmware_py.terms.reasons import Code, as_json
from firmware_py.terms.room import room_of
from firmware_py.terms.route import LEFT, RIGHT
from firmware_py.terms.settings import CONDUCTS, STEP_UP_MAX_DB, Settings
from firmware_py.terms.tells import Tell
from tests import budget
from tests.budget import either
from tests.session.driver import (
    REACTION_US,
    AlwaysPresses,
    Driver,
    Listener,
    NeverPresses,
    Reaction,
    flat,
    replayed,
    run_to_end,
)

Drawn = TypeVar("Drawn")

STATES_ON_THE_WAY = (
    presenter.READY, presenter.PAUSE_BEFORE, presenter.STARTING, presenter.LISTENING,
    presenter.LATE,
)  # fmt: skip
STATES = {*STATES_ON_THE_WAY, presenter.PAUSED, presenter.FINISHED}
RESPONSE_STREAM = 77  # of the listeners here

EVERYTHING = settings.get_current_profile_name() == budget.ALL


# --- Listeners and settings at random ------------------------------------------------------------


@dataclass(frozen=True)
class Person(Listener):
    """Linear thresholds on log2 frequency, an error of the level, and mishaps; all from a seed."""

    left_db_hl: tuple[float, float]  # at 125 and at 8000 Hz
    right_db_hl: tuple[float, float]
    noise_db: float
    lapse_rate: float
    false_alarm_rate: float
    reaction_us: int
    seed: int
    unsure_db: float = 0.0

    def to_tone(self, tone: Tone) -> Reaction:
        low, high = self.left_db_hl if tone.ear == "left" else self.right_db_hl
        threshold_db_hl = low + (high - low) * math.log2(tone.frequency_hz / 125.0) / 6.0
        error_db = self.noise_db * (2.0 * self._chance(3 * tone.number) - 1.0)
        if self._chance(3 * tone.number + 1) < self.lapse_rate:
            return None
        above_db = tone.level_db_hl - threshold_db_hl - error_db
        if above_db < -self.unsure_db:
            return None
        return (
            self.reaction_us,
            events.UNSURE_BUTTON if above_db < self.unsure_db else events.HEARD_BUTTON,
        )

    def to_silence(self, number: int) -> Reaction:
        chance = self._chance(3 * number + 2)
        if chance >= self.false_alarm_rate:
            return None
        unsure = self.unsure_db > 0.0 and 2.0 * chance < self.false_alarm_rate
        return REACTION_US, events.UNSURE_BUTTON if unsure else events.HEARD_BUTTON

    def _chance(self, index: int) -> float:
        return uniform(self.seed, RESPONSE_STREAM, index)


thresholds = st.tuples(st.floats(-40.0, 140.0), st.floats(-40.0, 140.0))
people = st.builds(
    Person,
    thresholds,
    thresholds,
    st.sampled_from([0.0, 2.0, 6.0]),
    st.sampled_from([0.0, 0.03, 0.3]),
    st.sampled_from([0.0, 0.05, 0.4, 1.0]),
    st.sampled_from([0, 120_000, 400_000, 2_000_000, 5_000_000]),
    st.integers(0, 1000),
    st.sampled_from([0.0, 0.0, 4.0, 30.0]),
)


@st.composite
def any_settings(draw: st.DrawFn) -> Settings:
    profile = draw(st.sampled_from(["default", "default", "gp-pta-2015"]))
    two_buttons = profile == "default" and draw(st.booleans())
    limit_db_hl = draw(st.sampled_from([40.0, 55.5, 100.0, 120.0]) | st.floats(40.0, 120.0))
    return Settings(
        conduct=draw(st.sampled_from([*CONDUCTS])),
        ears=draw(st.sampled_from(["both", "left", "right"])),
        first_ear=draw(st.sampled_from(["better", "left", "right"])),
        profile=profile,
        response_noise_db=draw(st.none() | st.sampled_from([0.1, 2.0, 30.0])),
        frequency_min_hz=draw(st.sampled_from([125.0, 250.0, 1000.0])),
        frequency_max_hz=draw(st.sampled_from([1001.0, 4000.0, 8000.0])),
        level_min_db_hl=draw(st.sampled_from([-10.0, 0.0, 20.0]) | st.floats(-10.0, 20.0)),
        level_max_db_hl=limit_db_hl,
        loud_confirmed=True,
        level_step_db=draw(st.sampled_from([0.1, 1.0, 5.0]) | st.floats(0.1, 5.0)),
        familiar_level_db_hl=draw(st.sampled_from([-10.0, 40.0, 60.0])),
        tones_min=draw(st.integers(1, 20)),
        tones_max=draw(st.integers(20, 45)),
        stop_half_width_db=draw(st.sampled_from([1.0, 6.0, 16.0])),
        stop_information_bits=draw(st.sampled_from([0.0, 0.0, 0.3])),
        catch_rate=draw(st.sampled_from([0.0, 0.1, 0.5])),
        retest=draw(st.booleans()),
        unsure_button=two_buttons,
        unsure_half_width_db=draw(st.sampled_from([None, 4.0])) if two_buttons else None,
        seed=draw(st.integers(0, 2**63 - 1)),
        ask_all=draw(st.booleans()),
        confirm=draw(st.sampled_from(["none", "hughson-westlake"])),
        confirm_frequencies_hz=(1000,),
    )


def check_levels(plays: list[events.Play], s: Settings) -> None:
    """Check every tone of an ear against the limits, and against the tones before it."""
    for place, play in enumerate(plays):
        level = play.level_db_hl
        ceiling_db_hl = max(s.familiar_level_db_hl, s.level_min_db_hl)
        if place:
            nearby = [p for p in plays[:place] if near(p.frequency_hz, play.frequency_hz)]
            known_db_hl = [p.level_db_hl for p in [plays[place - 1], *nearby]]
            ceiling_db_hl = max(known_db_hl) + STEP_UP_MAX_DB
        steps = (level - s.level_min_db_hl) / s.level_step_db

        assert s.level_min_db_hl <= level <= s.level_max_db_hl
        assert level <= ceiling_db_hl
        assert level in (s.level_max_db_hl, ceiling_db_hl) or abs(steps - round(steps)) < 1e-9
        assert s.frequency_min_hz <= play.frequency_hz <= s.frequency_max_hz


def near(frequency_hz: float, other_hz: float) -> bool:
    return other_hz / math.sqrt(2.0) <= frequency_hz <= other_hz * math.sqrt(2.0)


def check_result(result: dict[str, Any], s: Settings) -> None:
    """Check that a result is JSON without NaN, and has numbers where something was measured."""
    json.dumps(result, allow_nan=False)
    for ear in result["ears"]:
        tones_max = s.tones_max + ATTENTION_TONES_MAX
        remarks = [(each["code"], each.get("ear")) for each in result["remarks"]]
        if ("broken-off", ear["ear"]) in remarks:
            tones_max += CHECKS_MAX * tones_max  # what came before each check is asked again
        unsure, unsure_alarms, heard = ear["tones_unsure"], ear["unsure_alarms"], ear["tones_heard"]
        assert 0 <= heard <= heard + unsure <= ear["tones"] <= tones_max + LATE_TONES_MAX
        assert 0 <= ear["false_alarms"] <= ear["false_alarms"] + unsure_alarms
        assert ear["false_alarms"] + unsure_alarms <= ear["catch_trials"]
        assert s.unsure_button or unsure == unsure_alarms == 0
        for found in ear["thresholds"]:
            level, sd = found["threshold_db_hl"], found["sd_db"]
            assert (level is not None) == (sd is not None) == (found["mark"] in WITH_NUMBERS)
            if found["mark"] == Outcome.MEASURED:
                assert s.level_min_db_hl < level < s.level_max_db_hl
            assert sd is None or 0.0 < sd < 100.0
            low, high = found["low_db_hl"], found["high_db_hl"]
            assert (level is low is high is None) or low < level < high


# Above the cap a silent trial came before a check of attention, and the tone allowed for the check
# was spent on the measurement.
CHECKS_WITH_CATCHES = Settings(
    ears="both", first_ear="right", response_noise_db=0.1, frequency_min_hz=125.0,
    frequency_max_hz=1001.0, level_max_db_hl=100.0, loud_confirmed=True, level_step_db=5.0,
    tones_min=1, tones_max=25, stop_half_width_db=1.0, catch_rate=0.5, unsure_button=True,
    unsure_half_width_db=4.0, retest=False, seed=3000,
)  # fmt: skip


@settings(max_examples=either(12, 150))
@example(CHECKS_WITH_CATCHES, Person((0.0, 0.0), (125.0, 8.0), 6.0, 0.0, 0.0, 120000, 47, 0.0))
@given(any_settings(), people)
def test_every_test_of_every_person_keeps_to_the_rules(s: Settings, person: Person) -> None:
    driver = Driver(s, person)
    driver.run()
    result = driver.result

    assert result["outcome"] == "complete"
    check_result(result, s)
    for ear in result["ears"]:
        plays = list(dict.fromkeys(play for play in driver.plays if play.route.ear == ear["ear"]))
        confirming, checking = (
            {told["number"] for told in driver.tells("tone", ear=ear["ear"], purpose=purpose)}
            for purpose in (Purpose.CONFIRM, Purpose.CHECK)
        )
        assert len(plays) == ear["tones"] + len(confirming) + len(checking)
        assert len(confirming) == sum(each["tones"] for each in ear["confirmed"])
        check_levels(plays, s)
        # Those of checks, and those that were asked before nobody listened, are not among them.
        assert ear["catch_trials"] <= len(driver.tells("answer", ear=ear["ear"], purpose="catch"))
        if ear["tones_heard"] in (0, ear["tones"]) and not ear["tones_unsure"]:
            assert ear["outcome"] in (Outcome.NO_RESPONSE, Outcome.HEARS_ALL, Outcome.UNRELIABLE)


@pytest.mark.parametrize(
    ("listener", "outcome"),
    [(NeverPresses(), "no-response"), (flat(-99), "hears-all"), (AlwaysPresses(), "unreliable")],
)
@settings(max_examples=either(8, 25))
@given(s=any_settings())
def test_whatever_the_settings_who_cannot_be_measured_has_no_number(
    listener: Listener, outcome: str, s: Settings
) -> None:
    driver = Driver(s, listener)
    driver.run()
    for ear in driver.result["ears"]:
        assert ear["outcome"] == outcome
        found = {each["mark"]: each["threshold_db_hl"] for each in ear["thresholds"]}
        assert found.keys() <= {outcome, Outcome.INFERRED, Outcome.INCOMPLETE}
        assert outcome == "hears-all" or ear["verdict"] != "valid"
        assert found.get(outcome) is None


# --- A pure function of the events ---------------------------------------------------------------


@settings(max_examples=either(5, 15))
@given(any_settings(), people)
def test_the_same_events_give_the_same_actions_to_the_bit(s: Settings, person: Person) -> None:
    driver = Driver(s, person)
    driver.run()

    assert repr(replayed(s, driver.events)) == repr(driver.actions)


def test_to_look_at_a_test_and_another_in_between_change_nothing() -> None:
    """Two tests in one process share nothing."""
    driver = run_to_end(Settings(ears="left", seed=3), flat(40))
    other = Driver(Settings(seed=4), flat(10))
    other.feed(events.Started())
    test, actions = HearingTest(driver.settings), []
    for at_us, event in driver.events:
        actions += test.handle(at_us, event)
        test.result()
        for ear in test.ears.values():
            ear.audiogram.widest()
            if not ear.over:
                assert next_presentation(ear, test.number) == next_presentation(ear, test.number)
        if other.test.state != presenter.FINISHED:
            other.step()

    assert repr(actions) == repr(driver.actions)


# --- Events out of place -------------------------------------------------------------------------


# One of each kind and value that makes a difference.
EVERY_EVENT = (
    events.Started(), events.TimePassed(), events.Paused(), events.Continued(),
    events.ButtonReleased(1), events.BoardLost(), events.BoardReady(True), events.BoardReady(False),
    events.Aborted(), events.BoardDisbelieved(), events.EquipmentHeard(events.OPERATOR),
    events.EquipmentHeard(events.NOBODY), events.EarNamed(LEFT), events.EarNamed(RIGHT),
    events.EarNamed(UNSURE), events.BoardReady(True, True), events.BoardReady(False, True),
    events.NoiseRefused.by(Code.NOISE_REFUSED, told="limit"), events.NoiseEnded(),
    events.ButtonPressed(0), events.ButtonPressed(1_000_000), events.ButtonPressed(2**62),
    events.ButtonPressed(0, 2), events.ButtonPressed(1_000_000, 2), events.ButtonReleased(1, 2),
    events.BoardTime(0), events.BoardTime(2**62), events.ToneStarted(1, 5),
    events.DiscomfortTold(LEFT, levels_of_words("1000:95")), events.DiscomfortTold(RIGHT, ()),
    room_of(45.0), events.RoomHeard(room_of(60.0).levels_db_spl),
    events.ToneStarted(2, 5), events.ToneEnded(1, 9, False), events.ToneEnded(1, 9, True),
)  # fmt: skip


def test_every_kind_of_event_is_tried() -> None:
    assert {type(event) for event in EVERY_EVENT} == {*events.Event.KINDS.values()}


BRIEF = Settings(
    ears="left", tones_min=1, stop_half_width_db=40.0,
    frequency_min_hz=1000.0, frequency_max_hz=1001.0,
)  # fmt: skip
WAIT_US_MAX = 2**63  # times of the board are absurd here, and so are the waits
BUTTONS = (events.ButtonPressed, events.ButtonReleased)

# To each state from the start of a test to the pause after its first tone, and aside from there.
PASSED = events.TimePassed()
WAY = (events.Started(), PASSED, events.ToneStarted(1, 5), PASSED, PASSED)
PATHS: dict[str, list[events.Event]] = {
    **{state: [*WAY[:n]] for n, state in enumerate([*STATES_ON_THE_WAY, "late, asked"])},
    **{
        f"{state}, board lost": [*WAY[:n], events.BoardLost()]
        for n, state in enumerate(STATES_ON_THE_WAY)
    },
    "paused before it began": [events.Paused()],
    "paused": [*WAY[:3], events.Paused()],
    "finished": [events.Started(), events.Aborted()],
}


def lead(path: str, *more: events.Event) -> tuple[HearingTest, int]:
    """Give a test the events of a path and these; return it and the time."""
    now_us, test = 0, HearingTest(BRIEF)
    for event in (*PATHS[path], *more):
        now_us += 10_000_000
        check_actions(test.handle(now_us, event), now_us, test)
    return test, now_us


def some(all_of_them: Iterable[Drawn], few: int, seed: str) -> list[Drawn]:
    """All of them, or a few that are drawn by this seed: `make test` has no time for more."""
    found = list(all_of_them)
    return found if EVERYTHING else Random(seed).sample(found, few)


@pytest.mark.parametrize("path", PATHS)
def test_two_events_of_any_kind_in_any_state_do_no_harm(path: str) -> None:
    """And after any one it can still come to its end."""
    for first, second in some(itertools.product(EVERY_EVENT, repeat=2), 120, path):
        test, _ = lead(path, first, second)
        check_result(test.result().to_record(), BRIEF)
    for event in some(EVERY_EVENT, 5, path):
        live_to_the_end(*lead(path, event))


def check_actions(actions: list[events.Action], now_us: int, test: HearingTest) -> None:
    """Check what is true of all actions, whatever led to them."""
    assert test.state in STATES
    assert sum(isinstance(action, events.Finish) for action in actions) == (
        test.state == presenter.FINISHED and bool(actions)
    )
    for action in actions:
        match action:
            case events.Wait(until_us):
                assert until_us <= now_us + WAIT_US_MAX
            case Tell():
                json.dumps(as_json([*action.figures().values()]), allow_nan=False)
            case events.Play(number, ear):
                assert number == test.number
                assert ear in test.ears
            case events.RecordedAction():
                json.dumps(events.as_record(action), allow_nan=False)


def live_to_the_end(test: HearingTest, now_us: int) -> None:
    """See that a test comes to its end when from now on everything works."""
    now_us, actions = now_us + 1, test.handle(now_us + 1, events.BoardReady(tone_known=False))
    for step in range(2000):
        check_actions(actions, now_us, test)
        if test.state == presenter.FINISHED:
            return
        now_us += 30_000_000
        begun = events.ToneStarted(test.number, now_us)
        told: dict[str, events.Event] = {
            presenter.READY: events.Started(),
            presenter.PAUSED: events.Continued(),
            presenter.STARTING: begun,
        }
        event = told.get(test.state, events.TimePassed())
        if test.state == presenter.LISTENING and step % 3 == 1:
            event = events.ButtonPressed(now_us - 29_500_000)
        elif (
            test.state in (presenter.LISTENING, presenter.LATE) and events.AskBoardTime() in actions
        ):
            event = events.BoardTime(now_us)
        actions = test.handle(now_us, event)
    raise AssertionError(f"{test.state} for ever")


class AnyEvents(RuleBasedStateMachine):
    """Every event at every time, with times of the board from right to absurd."""

    def __init__(self) -> None:
        super().__init__()
        self.now_us = 0
        self.onset_us = 1_000_000
        self.events: list[tuple[int, events.Event]] = []
        self.actions: list[events.Action] = []

    @initialize(s=any_settings())
    def begin(self, s: Settings) -> None:
        self.settings = s
        self.test = HearingTest(s)

    def feed(self, event: events.Event) -> list[events.Action]:
        before = self.test.state
        actions = self.test.handle(self.now_us, event)
        self.events.append((self.now_us, event))
        self.actions += actions
        check_actions(actions, self.now_us, self.test)
        assert not (before == presenter.FINISHED and actions)
        if any(isinstance(action, events.Play) for action in actions):
            # The pause has been: before the tone, or after one that was not answered.
            assert before == presenter.PAUSE_BEFORE or (
                before == presenter.LATE and isinstance(event, events.BoardTime)
            )
        return actions

    @rule(passed_us=st.integers(0, 30_000_000))
    def time_passes(self, passed_us: int) -> None:
        self.now_us += passed_us
        self.feed(events.TimePassed())

    @rule(
        event=st.sampled_from(
            [events.Started(), events.Paused(), events.Continued(), events.BoardLost()]
        )
    )
    def somebody_says(self, event: events.Event) -> None:
        self.feed(event)

    @rule(tone_known=st.booleans())
    def the_board_is_back(self, tone_known: bool) -> None:
        self.feed(events.BoardReady(tone_known))

    @rule(other=st.integers(-1, 1), onset_us=st.integers(-(2**62), 2**62))
    def a_tone_begins(self, other: int, onset_us: int) -> None:
        self.feed(events.ToneStarted(self.test.number + other, onset_us))

    @rule(other=st.integers(-1, 1), cut=st.booleans())
    def a_tone_ends(self, other: int, cut: bool) -> None:
        self.feed(events.ToneEnded(self.test.number + other, self.onset_us, cut))

    @rule(
        at_us=st.integers(-(2**62), 2**62),
        kind=st.sampled_from([events.ButtonPressed, events.ButtonReleased, events.BoardTime]),
        button=st.sampled_from([events.HEARD_BUTTON, events.UNSURE_BUTTON]),
    )
    def the_board_tells(self, at_us: int, kind: type[events.ButtonPressed], button: int) -> None:
        self.feed(kind(at_us, button) if kind in BUTTONS else kind(at_us))

    @rule(answers=st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=25))
    def all_goes_well_for_a_while(self, answers: list[bool | None]) -> None:
        """Bring the test forward by these answers, if it is not held up."""
        for heard in answers:
            self.onset_us += 90_000_000
            self.now_us += 30_000_000
            self.feed(events.TimePassed())
            self.feed(events.ToneStarted(self.test.number, self.onset_us))
            if heard is None:
                self.feed(events.ButtonPressed(self.onset_us + 400_000, events.UNSURE_BUTTON))
            if heard:
                self.feed(events.ButtonPressed(self.onset_us + 500_000))
            else:
                for _ in range(2):  # the window, and the pause after it
                    self.now_us += 30_000_000
                    self.feed(events.TimePassed())
                self.feed(events.BoardTime(self.onset_us + 60_000_000))

    @rule(chance=st.integers(0, 9))
    def the_operator_has_enough(self, chance: int) -> None:
        if chance == 0:
            self.feed(events.Aborted())

    @invariant()
    def the_rules_hold(self) -> None:
        if not self.events:
            return
        finishes = [action for action in self.actions if isinstance(action, events.Finish)]
        plays = [action for action in self.actions if isinstance(action, events.Play)]

        check_result(self.test.result().to_record(), self.settings)
        assert (
            (self.test.state == presenter.FINISHED)
            == (self.test.outcome != "")
            == (len(finishes) == 1)
        )
        for ear in self.test.ears:
            once = dict.fromkeys(play for play in plays if play.route == ear)
            check_levels(list(once), self.settings)
        if events.Continued() not in (event for _, event in self.events):
            assert max(Counter(plays).values(), default=0) <= presenter.STARTS_MAX

    def teardown(self) -> None:
        if self.events:
            assert repr(replayed(self.settings, self.events)) == repr(self.actions)
            live_to_the_end(self.test, self.now_us)


AnyEvents.TestCase.settings = settings(max_examples=either(15, 50), stateful_step_count=25)
TestAnyEvents = AnyEvents.TestCase
