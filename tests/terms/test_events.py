"""Events and actions in the journal: there and back, and nothing else taken for them."""

import json
import re
from functools import partial
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.link.frames import SEQUENCE_MAX
from firmware_py.terms import events
from firmware_py.terms.discomfort import told_of_words
from firmware_py.terms.discomfort_levels import LEVEL_LIMITS_DB_HL, LEVELS_HZ, DiscomfortLevel
from firmware_py.terms.outcomes import Why
from firmware_py.terms.printable import show
from firmware_py.terms.reasons import WORDS, Code, reason
from firmware_py.terms.results import SessionResult
from firmware_py.terms.room import room_of
from firmware_py.terms.route import Route
from firmware_py.terms.tells import EarTold

QUIET = (20.0, 15.0, 10.5, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, -1.0)

# What the journals of the first version hold.
EVENT_RECORDS: list[tuple[events.Event, dict[str, Any]]] = [
    (events.Started(), {"what": "started", "can_mask": False, "board": ""}),
    (events.Started(True, "a 1"), {"what": "started", "can_mask": True, "board": "a 1"}),
    (events.TimePassed(), {"what": "time"}),
    (events.ToneStarted(7, 81_000_113), {"what": "tone-on", "number": 7, "onset_us": 81_000_113}),
    (events.ToneEnded(7, 5, True), {"what": "tone-off", "number": 7, "offset_us": 5, "cut": True}),
    (events.ButtonPressed(3), {"what": "button-down", "at_us": 3, "button": 1}),
    (events.ButtonReleased(4), {"what": "button-up", "at_us": 4, "button": 1}),
    (events.ButtonPressed(5, 2), {"what": "button-down", "at_us": 5, "button": 2}),
    (events.ButtonReleased(6, 2), {"what": "button-up", "at_us": 6, "button": 2}),
    (events.BoardTime(5), {"what": "board-time", "at_us": 5}),
    (events.Paused(), {"what": "paused", "why": []}),
    (events.Paused.by(Code.WAITS_TEST, number=3),
     {"what": "paused", "why": [{"code": "waits-test", "number": 3}]}),
    (events.Continued(), {"what": "continued"}),
    (events.EquipmentHeard("other-ear"), {"what": "equipment-heard", "by": "other-ear"}),
    (events.EarNamed("unsure"), {"what": "ear-named", "named": "unsure"}),
    (room_of(40.0),
     {"what": "room-told", "dba": 40.0, "spectrum": "office", "uncertainty_db": 3.0,
      "levels_db_spl": [42.9, 37.9, 32.9, 30.0, 27.9, 25.0, 22.9, 20.0, 17.9, 15.0, 12.9]}),
    (told_of_words("left 1000:>110 (é, 2026-11-02)")["left"],
     {"what": "discomfort-told", "ear": "left", "source": "é", "day": "2026-11-02",
      "levels": [{"frequency_hz": 1000, "level_db_hl": 110.0, "above": True}]}),
    (events.RoomHeard(QUIET), {"what": "room-heard", "levels_db_spl": [*QUIET]}),
    (events.Aborted.by(Code.TONE_REFUSED, told='a "word", é'),
     {"what": "aborted", "why": [{"code": "tone-refused", "told": 'a "word", é'}]}),
    (events.BoardLost(), {"what": "board-lost", "why": []}),
    (events.BoardDisbelieved.by(Code.EVENTS_LOST, count=2),
     {"what": "board-disbelieved", "why": [{"code": "events-lost", "count": 2}]}),
    (events.BoardReady(False),
     {"what": "board-ready", "tone_known": False, "can_mask": False, "board": ""}),
    (events.BoardReady(True, True, "a 1"),
     {"what": "board-ready", "tone_known": True, "can_mask": True, "board": "a 1"}),
    (events.NoiseEnded(), {"what": "noise-ended"}),
    (events.NoiseRefused.by(Code.NOISE_REFUSED, told="limit"),
     {"what": "noise-refused", "why": [{"code": "noise-refused", "told": "limit"}]}),
]  # fmt: skip
PLAY = events.Play(7, Route("left"), 1335.0, 33.5, 225, 225, 3, 25, 100, 1, Why.BRACKET)
PLAY_RECORD = {
    "what": "play", "number": 7, "ear": "left", "frequency_hz": 1335.0, "level_db_hl": 33.5,
    "on_ms": 225, "off_ms": 225, "pulses": 3, "rise_ms": 25, "press_ms": 100, "press_buttons": 1,
    "why": "bracket",
}  # fmt: skip
MASK = events.Mask(7, Route("right"), 1335.0, 45.0, reason(Code.CHECKED, ear="left", gap_db=20.0))
MASK_RECORD = {
    "what": "mask", "number": 7, "ear": "right", "frequency_hz": 1335.0, "level_db_hl": 45.0,
    "why": {"code": "checked", "ear": "left", "gap_db": 20.0},
}  # fmt: skip
RESULT = SessionResult("complete", (), 0, 0, None, ())
ACTION_RECORDS: list[tuple[events.RecordedAction, dict[str, Any]]] = [
    (PLAY, PLAY_RECORD),
    (MASK, MASK_RECORD),
    (events.Unmask(), {"what": "unmask"}),
    (events.Silence(), {"what": "silence"}),
    (events.Finish(RESULT), {"what": "finish", "result": RESULT.to_record()}),
]

BUTTONS = (events.ButtonPressed, events.ButtonReleased)
numbers = st.integers(0, events.NUMBER_MAX)
counts = st.integers(0, SEQUENCE_MAX)  # of events: no board can number more
OTHERS = (events.EquipmentHeard, events.EarNamed, events.RoomTold, events.RoomHeard,
          events.DiscomfortTold)  # fmt: skip
levels = st.floats(-20.0, 140.0)
bands = st.tuples(*[levels] * 11)
discomfort = st.lists(
    st.builds(
        DiscomfortLevel, st.sampled_from(LEVELS_HZ), st.floats(*LEVEL_LIMITS_DB_HL), st.booleans()
    ),
    unique_by=lambda level: level.frequency_hz,
).map(tuple)
EXPLAINED = (
    events.Paused, events.Aborted, events.BoardLost, events.BoardDisbelieved, events.NoiseRefused,
)  # fmt: skip
some_reasons = st.lists(
    st.one_of(
        st.builds(partial(reason, Code.EVENTS_LOST), count=counts),
        st.builds(partial(reason, Code.TONE_REFUSED), told=st.text()),
        st.builds(partial(reason, Code.SEVERAL_BOARDS), boards=st.lists(st.text(), min_size=1)),
    ),
    min_size=1,
).map(tuple)
any_event: st.SearchStrategy[events.Event] = st.one_of(
    [
        st.builds(kind, **{n: numbers for n, t in get_type_hints(kind).items() if t is int})
        for kind in events.Event.KINDS.values()
        if kind not in (*BUTTONS, *EXPLAINED, *OTHERS)
    ]
    + [st.builds(events.RoomHeard, bands)]
    + [st.builds(events.RoomTold, bands, levels, st.sampled_from(WORDS["spectrum"]), levels)]
    + [
        st.builds(
            events.DiscomfortTold, st.sampled_from(["left", "right"]), discomfort, st.just("a")
        )
    ]
    + [st.builds(kind, some_reasons) for kind in EXPLAINED]
    + [st.builds(events.EquipmentHeard, st.sampled_from(events.HEARERS))]
    + [st.builds(events.EarNamed, st.sampled_from(events.NAMED))]
    + [st.builds(kind, numbers, st.sampled_from([1, 2])) for kind in BUTTONS]
)


def test_every_event_and_action_is_in_these_tables() -> None:
    assert {type(event) for event, _ in EVENT_RECORDS} == {*events.Event.KINDS.values()}
    kinds = events.RecordedAction.__subclasses__()
    of_a_hearing_test = {kind for kind in kinds if kind.__module__ == events.__name__}
    assert {type(action) for action, _ in ACTION_RECORDS} == of_a_hearing_test


@pytest.mark.parametrize(("what", "record"), [*EVENT_RECORDS, *ACTION_RECORDS])
def test_a_record_stays_what_it_was_in_this_version_of_the_journal_and_is_read(
    what: events.Event | events.RecordedAction, record: dict[str, Any]
) -> None:
    assert events.as_record(what) == record
    if isinstance(what, events.Event):
        assert events.event_from_record(record) == what


@given(any_event)
def test_an_event_comes_back_from_its_line_of_json(event: events.Event) -> None:
    line = json.dumps(events.as_record(event), allow_nan=False)

    assert events.event_from_record(json.loads(line)) == event


@pytest.mark.parametrize(
    "record",
    [
        {}, {"what": "lunch"}, {"what": None}, {"what": ["time"]}, {"at_us": 5},
        {"what": "button-down", "at_us": 5, "button": 1, "by": "left"},
        {"what": "button-down", "at_us": 5},
        *({"what": "button-down", "at_us": us, "button": 1} for us in (None, "5", 5.0, True)),
        *({"what": "board-time", "at_us": us} for us in (-1, 2**63)),
        *({"what": "button-up", "at_us": 5, "button": which} for which in (0, 3, "2", True, None)),
        {"what": "tone-off", "number": 7, "offset_us": 5, "cut": 1},
        {"what": "aborted", "why": None}, {"what": "noise-refused", "why": []},
        {"what": "started", "can_mask": 1}, {"what": "noise-refused"},
        {"what": "equipment-heard", "by": "me"}, {"what": "ear-named", "named": "both"},
        MASK_RECORD, {"what": "wait", "until_us": 5}, PLAY_RECORD, {"what": "silence"},
        None, [], 7, "time",
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_event_is_refused_in_words(record: Any) -> None:
    with pytest.raises(ValueError, match=r"^event.* is .*; allowed (are|is) ") as caught:
        events.event_from_record(record)

    field = re.match(r"event\.(\w+) is ", str(caught.value))
    refused = record if field is None else record[field[1]]
    assert show(refused) in str(caught.value)


def test_words_of_an_event_are_kept_as_they_can_be_printed() -> None:
    why = {"code": "tone-refused", "told": "a\x1b[2J\nb\u202ec\ud800"}
    event = events.event_from_record({"what": "aborted", "why": [why]})

    assert events.as_record(event)["why"][0]["told"] == "a\\x1b[2J\\nb\\u202ec\\ud800"
    assert events.event_from_record(events.as_record(event)) == event


def test_recorded_is_what_reaches_the_listener_and_the_result() -> None:
    unrecorded = (events.Wait(5), EarTold(Route("left")), events.AskBoardTime())
    actions = [action for action, _ in ACTION_RECORDS]

    assert events.records_of([*unrecorded, *actions]) == [record for _, record in ACTION_RECORDS]
