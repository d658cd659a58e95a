"""Events and actions in the journal: there and back, and nothing else taken for them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.procedure.events import (
    Aborted,
    AskBoardTime,
    BoardLost,
    BoardReady,
    BoardTime,
    ButtonPressed,
    ButtonReleased,
    Continued,
    Event,
    Finish,
    Mask,
    NoiseEnded,
    NoiseRefused,
    Paused,
    Play,
    RecordedAction,
    Silence,
    Started,
    TimePassed,
    ToneEnded,
    ToneStarted,
    Unmask,
    Wait,
    as_record,
    event_from_record,
    records_of,
)
from firmware_py.procedure.results import SessionResult
from firmware_py.procedure.tells import EarTold

deterministic = settings(deadline=None, derandomize=True, print_blob=True, database=None)

# What the journals of the first version hold.
EVENT_RECORDS: list[tuple[Event, dict[str, Any]]] = [
    (Started(), {"what": "started", "can_mask": False}),
    (Started(True), {"what": "started", "can_mask": True}),
    (TimePassed(), {"what": "time"}),
    (ToneStarted(7, 81_000_113), {"what": "tone-on", "number": 7, "onset_us": 81_000_113}),
    (ToneEnded(7, 5, True), {"what": "tone-off", "number": 7, "offset_us": 5, "cut": True}),
    (ButtonPressed(3), {"what": "button-down", "at_us": 3, "button": 1}),
    (ButtonReleased(4), {"what": "button-up", "at_us": 4, "button": 1}),
    (ButtonPressed(5, 2), {"what": "button-down", "at_us": 5, "button": 2}),
    (ButtonReleased(6, 2), {"what": "button-up", "at_us": 6, "button": 2}),
    (BoardTime(5), {"what": "board-time", "at_us": 5}),
    (Paused(), {"what": "paused"}),
    (Continued(), {"what": "continued"}),
    (Aborted('a "word", é'), {"what": "aborted", "why": 'a "word", é'}),
    (BoardLost(""), {"what": "board-lost", "why": ""}),
    (BoardReady(False), {"what": "board-ready", "tone_known": False, "can_mask": False}),
    (BoardReady(True, True), {"what": "board-ready", "tone_known": True, "can_mask": True}),
    (NoiseEnded(), {"what": "noise-ended"}),
    (NoiseRefused("limit"), {"what": "noise-refused", "why": "limit"}),
]
PLAY = Play(7, "left", 1335.0, 33.5, 225, 225, 3, 25)
PLAY_RECORD = {
    "what": "play",
    "number": 7,
    "ear": "left",
    "frequency_hz": 1335.0,
    "level_db_hl": 33.5,
    "on_ms": 225,
    "off_ms": 225,
    "pulses": 3,
    "rise_ms": 25,
}
MASK = Mask(7, "right", 1335.0, 45.0, "why")
MASK_RECORD = {
    "what": "mask",
    "number": 7,
    "ear": "right",
    "frequency_hz": 1335.0,
    "level_db_hl": 45.0,
    "why": "why",
}
RESULT = SessionResult("complete", (), 0, 0, None, ())
ACTION_RECORDS: list[tuple[RecordedAction, dict[str, Any]]] = [
    (PLAY, PLAY_RECORD),
    (MASK, MASK_RECORD),
    (Unmask(), {"what": "unmask"}),
    (Silence(), {"what": "silence"}),
    (Finish(RESULT), {"what": "finish", "result": RESULT.to_record()}),
]

BUTTONS = (ButtonPressed, ButtonReleased)
any_event: st.SearchStrategy[Event] = st.one_of(
    [st.from_type(kind) for kind in Event.KINDS.values() if kind not in BUTTONS]
    + [st.builds(kind, st.integers(), st.sampled_from([1, 2])) for kind in BUTTONS]
)


def test_every_event_and_action_is_in_these_tables() -> None:
    assert {type(event) for event, _ in EVENT_RECORDS} == {*Event.KINDS.values()}
    assert {type(action) for action, _ in ACTION_RECORDS} == {*RecordedAction.__subclasses__()}


@pytest.mark.parametrize(("what", "record"), [*EVENT_RECORDS, *ACTION_RECORDS])
def test_a_record_stays_what_it_was_in_the_first_version(
    what: Event | RecordedAction, record: dict[str, Any]
) -> None:
    assert as_record(what) == record


@pytest.mark.parametrize(("event", "record"), EVENT_RECORDS)
def test_a_record_of_the_first_version_is_read(event: Event, record: dict[str, Any]) -> None:
    assert event_from_record(record) == event


@deterministic
@given(any_event)
def test_an_event_comes_back_from_its_line_of_json(event: Event) -> None:
    line = json.dumps(as_record(event), allow_nan=False)

    assert event_from_record(json.loads(line)) == event


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"what": "lunch"},
        {"what": None},
        {"what": ["time"]},
        {"at_us": 5},
        {"what": "button-down", "at_us": 5, "button": 1, "by": "left"},
        {"what": "button-down", "at_us": 5},
        *({"what": "button-down", "at_us": us, "button": 1} for us in (None, "5", 5.0, True)),
        *({"what": "button-up", "at_us": 5, "button": which} for which in (0, 3, "2", True, None)),
        {"what": "tone-off", "number": 7, "offset_us": 5, "cut": 1},
        {"what": "aborted", "why": None},
        {"what": "started", "can_mask": 1},
        {"what": "noise-refused"},
        MASK_RECORD,
        {"what": "wait", "until_us": 5},
        PLAY_RECORD,
        {"what": "silence"},
        None,
        [],
        7,
        "time",
    ],
    ids=repr,
)
def test_what_is_no_event_is_refused_in_words(record: Any) -> None:
    with pytest.raises(ValueError, match="is not an event of this version") as caught:
        event_from_record(record)

    assert repr(record) in str(caught.value)


def test_recorded_is_what_reaches_the_listener_and_the_result() -> None:
    unrecorded = (Wait(5), EarTold("left"), AskBoardTime())
    actions = [action for action, _ in ACTION_RECORDS]

    assert records_of([*unrecorded, *actions]) == [record for _, record in ACTION_RECORDS]
