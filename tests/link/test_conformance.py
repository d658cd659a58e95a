"""The promises of the wire page, for the product's board and for one made from the page.

The product's board is the program of the microcontroller with a simulated output; the sound card
and the Pico run the same program. Its host is `firmware_py.link.client`.
"""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import firmware_py.link
from device.simulator.listener import Listener
from device.simulator.simulated_board import SimulatedBoard
from firmware_py.link.client import Client, Tone
from firmware_py.link.messages import EVENTS_KEPT_MAX, HOST_SILENCE_US
from firmware_py.link.notices import (
    BoardEvent,
    ButtonPressed,
    ButtonReleased,
    Greeted,
    Notice,
    ToneEnded,
    ToneStarted,
)
from firmware_py.terms.route import Route
from tests.link.example import TONE, ExampleBoard, ExampleHost, Frame, read, write

Press = Callable[[int, bool, int], None]
Answer = tuple[str, dict[str, str]]


MS = 1000
S = 1_000_000
BOOT = 0xC0FFEE
TONE_US = 800 * MS
PULSES = Tone(
    "1-1", Route("left"), 1000.0, -60.0, on_ms=225, off_ms=225, pulses=3, rise_ms=25,
    press_ms=100, press_buttons=1,
)  # fmt: skip
MASK: dict[str, str | int] = {"ear": "l", "hz": "1000", "dbfs": "-60"}
HELLO: dict[str, str | int] = {"wire": 1, "host": "0000000a"}
HELLO_AGAIN: dict[str, str | int] = {"wire": 1, "host": "0000000b"}
RIGHT: dict[str, dict[str, str | int]] = {
    "hello": HELLO, "tone": TONE, "mask": MASK, "ack": {"event": 0}, "events": {"after": 0},
}  # fmt: skip
OK: Answer = ("ok", {})


def product(limit_dbfs: float = 0.0, has_noise: bool = True) -> tuple[SimulatedBoard, Press]:
    board = SimulatedBoard(Listener(), boot=BOOT, output_limit_dbfs=limit_dbfs, has_noise=has_noise)
    return board, board.server.button


def example(limit_dbfs: float = 0.0, has_noise: bool = True) -> tuple[ExampleBoard, Press]:
    board = ExampleBoard(BOOT, limit_dbfs, has_noise)
    return board, board.button


class Desk(ExampleHost):
    """A host, a board, and the fingers at its buttons."""

    def __init__(self, kind: Any, *, hello: bool = True, **options: Any) -> None:
        board, self.press = kind(**options)
        super().__init__(board, hello)

    def tone(self, **changes: str | int) -> Answer:
        return self.answer("tone", **{**TONE, **changes})

    def noise_in(self, ear: str) -> bool:
        """Return whether noise sounds in an ear: a tone there is refused then."""
        refused = self.tone(ear=ear, via=1) == ("error", {"code": "busy"})
        self.ask("ping")
        return refused


@pytest.fixture(params=[product, example])
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def desk(kind: Any) -> Desk:
    return Desk(kind)


def verbs_and_times(frames: list[Frame]) -> list[tuple[str, int]]:
    return [(verb, int(fields["us"])) for _, verb, fields in frames]


def wrong(key: str) -> Answer:
    return "error", {"code": "field", "name": key}


def error(code: str) -> Answer:
    return "error", {"code": code}


# Hello


def test_a_board_says_who_it_is(kind: Any) -> None:
    desk = Desk(kind, hello=False)
    verb, fields = desk.answer("hello", **HELLO)

    assert verb == "ok"
    assert len(fields.pop("board") + fields.pop("version")) <= 6
    assert fields == {"wire": "1", "boot": "00c0ffee", "event": "0", "tone": "-"}
    told = desk.answer("serial")[1]
    assert 1 <= len(told["serial"]) <= 32
    assert told["press_ends"] == "1"


@pytest.mark.parametrize("verb", ["tone", "stop", "ping", "ack", "events", "serial", "sing"])
def test_hello_comes_before_every_other_command(kind: Any, verb: str) -> None:
    desk = Desk(kind, hello=False)
    assert desk.ask(verb, **TONE) == [(1, *error("hello"))]


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"host": "0000000a"}, wrong("wire")),
        ({"wire": "x", "host": "0000000a"}, wrong("wire")),
        ({"wire": 1}, wrong("host")),
        ({"wire": 1, "host": "0000000A"}, wrong("host")),
        ({"wire": 1, "host": "00000a"}, wrong("host")),
        ({**HELLO, "more": 1}, wrong("more")),
        *[(f, ("error", {"code": "version", "wire": "1"}))
          for f in ({"wire": 2}, {"wire": 0, "host": "x"}, {"wire": 2, "new": "x"})],
    ],
)  # fmt: skip
def test_a_wrong_hello_is_refused_and_leaves_no_trace(
    kind: Any, fields: dict[str, str | int], answer: Answer
) -> None:
    desk = Desk(kind, hello=False)
    assert desk.answer("hello", **fields) == answer
    assert desk.answer("ping") == error("hello")

    desk.ask("hello", **HELLO)
    desk.tone()
    assert desk.answer("hello", **fields) == answer
    assert verbs_and_times(desk.until(1 * S)) == [("tone-off", TONE_US)]


def test_a_new_nonce_stops_the_tone_and_keeps_the_events(desk: Desk) -> None:
    desk.tone()
    desk.now_us = 100 * MS
    answer, cut = desk.ask("hello", **HELLO_AGAIN)

    assert answer.fields["event"] == "2"
    assert cut == (2, "tone-off", {"id": "r1", "us": "100000", "cut": "1"})
    assert [f.verb for f in desk.ask("events", after=0)] == ["ok", "tone-on", "tone-off"]


def test_a_new_nonce_forgets_the_old_numbers_and_what_was_not_sent(desk: Desk) -> None:
    desk.until(2 * S)
    desk.board.receive(write(desk.sequence + 1, "tone", **TONE), desk.now_us)
    desk.board.receive(write(1, "hello", **HELLO_AGAIN), 9 * S)
    assert [(f.number, f.verb) for f in desk.read()] == [(1, "ok")]


def test_a_known_nonce_stops_nothing_and_may_go_back(desk: Desk) -> None:
    desk.until(2 * S)
    desk.tone()
    desk.sequence = 2
    assert len(desk.ask("hello", **HELLO)) == 1
    assert verbs_and_times(desk.until(3 * S)) == [("tone-off", 2 * S + TONE_US)]


def test_a_new_host_is_told_what_is_held_down(desk: Desk) -> None:
    desk.press(1, True, 5)
    desk.press(2, True, 6)
    desk.press(1, False, 7)
    desk.now_us = 1 * S
    assert len(desk.ask("hello", **HELLO)) == 4, "one that is known has been told"

    answer, held = desk.ask("hello", **HELLO_AGAIN)
    assert answer.fields["event"] == "3"
    assert held == (4, "button-down", {"us": "1000000", "button": "2"})


# Tones


def test_a_tone_is_played_and_told(desk: Desk) -> None:
    desk.until(3 * S)
    answer, onset = desk.ask("tone", **TONE)
    assert answer == (desk.sequence, *OK)
    assert onset == (1, "tone-on", {"id": "r1", "us": "3000000"})
    assert desk.until(5 * S) == [(2, "tone-off", {"id": "r1", "us": "3800000", "cut": "0"})]


@pytest.mark.parametrize(
    ("changes", "duration_us"),
    [
        ({"n": 1}, 200 * MS),
        ({"off": 0}, 600 * MS),
        ({"n": 20, "on": 50, "off": 5000}, 96 * S),
    ],
)
def test_a_tone_lasts_as_long_as_its_pulses(
    desk: Desk, changes: dict[str, int], duration_us: int
) -> None:
    desk.tone(**changes)
    assert verbs_and_times(desk.until(100 * S)) == [("tone-off", duration_us)]


@pytest.mark.parametrize(
    ("verb", "key", "wrong_values"),
    [
        ("tone", "id", ("-", "123456789")),
        ("tone", "ear", ("L", "lr", "left")),
        ("tone", "hz", ("99.99", "16000.01", "1e3", "x", "nan", "-1000", "1000.")),
        ("tone", "dbfs", ("-160.01", "0.01", "+0", "inf", "-")),
        ("tone", "on", (49, 5001, "200.0", "0200")),
        ("tone", "off", (-1, 5001, "x")),
        ("tone", "n", (0, 21, "3.0")),
        ("tone", "rise", (4, 101, "x")),
        ("tone", "buttons", (-1, 4, "x", "1.0", "03")),
        ("tone", "press", (-1, 5001, "x", "100.0")),
        ("mask", "ear", ("both",)),
        ("mask", "hz", ("99",)),
        ("mask", "dbfs", ("-9.99",)),
        ("ack", "event", (1, -1, "x", "1.0")),
        ("events", "after", (1, -1, "x", "1.0")),
    ],
)
def test_a_field_that_is_missing_or_out_of_range_is_named(
    desk: Desk, verb: str, key: str, wrong_values: tuple[str | int, ...]
) -> None:
    right = RIGHT[verb]
    for value in wrong_values:
        assert desk.answer(verb, **{**right, key: value}) == wrong(key)
    if key in right:
        missing = {other: value for other, value in right.items() if other != key}
        assert desk.answer(verb, **missing) == wrong(key)
    assert desk.answer("ping")[1]["event"] == "0", "nothing of it is done"


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "12345678", "hz": "100", "dbfs": "0", "rise": 5},
        {"on": 50, "rise": 25, "off": 0, "n": 1, "hz": "16000.00", "dbfs": "-160.00"},
        {"on": 5000, "rise": 100, "off": 5000, "n": 20, "buttons": 3, "press": 5000},
        {"buttons": 0, "press": 0},
    ],
)
def test_the_ends_of_the_ranges_are_allowed(desk: Desk, changes: dict[str, str | int]) -> None:
    assert desk.tone(**changes) == OK


def test_the_rise_is_at_most_half_the_pulse(desk: Desk) -> None:
    assert desk.tone(on=99, rise=50) == wrong("rise")
    assert desk.tone(on=100, rise=50) == OK


def test_an_unknown_field_and_an_unknown_verb_are_named(desk: Desk) -> None:
    assert desk.answer("ping", now=1) == wrong("now")
    assert desk.answer("mask", **MASK, id="x") == wrong("id")
    assert desk.answer("stop", **{"x" * 60: 1}) == wrong("x" * 16)
    assert desk.answer("sing") == desk.answer("ok") == error("verb")


def test_errors_are_looked_for_in_the_order_of_the_page(kind: Any) -> None:
    desk = Desk(kind, limit_dbfs=-90.0)
    assert desk.tone(dbfs="-90.00") == OK
    assert desk.tone(n=0) == wrong("n")
    assert desk.tone(dbfs="-89.99") == error("limit")
    assert desk.tone(dbfs="-90") == error("busy")
    assert desk.answer("mask", **{**MASK, "dbfs": "-89.99"}) == error("limit")


def test_a_playing_board_is_busy_until_the_end(desk: Desk) -> None:
    desk.tone()
    desk.now_us = TONE_US - 1
    assert desk.tone(id="r2") == error("busy")
    desk.now_us = TONE_US
    assert desk.tone(id="r1") == OK, "the same id may be played again"


def test_stop_silences_at_once(desk: Desk) -> None:
    assert desk.ask("stop") == [(2, *OK)]
    desk.tone()
    desk.now_us = 300 * MS
    answer, event = desk.ask("stop")
    assert answer == (desk.sequence, *OK)
    assert event == (2, "tone-off", {"id": "r1", "us": "300000", "cut": "1"})
    assert desk.until(2 * S) == []


# The end at a press

PRESSED: dict[str, str | int] = {"buttons": 1, "press": 100}


def test_a_vibrator_that_is_told_plays_and_what_is_not_told_does_not(desk: Desk) -> None:
    assert desk.answer("serial")[1]["transducers"] == "3"
    desk.ask("mask", ear="l", hz="1000.00", dbfs="-40.00")
    desk.tone(via=1)
    assert desk.answer("tone", **TONE, via=2) == ("error", {"code": "field", "name": "via"})
    assert desk.answer("mask", ear="l", hz="1000.00", dbfs="-40.00", via=1) == (
        "error", {"code": "field", "name": "via"},
    )  # fmt: skip


def at_press(desk: Desk, number: int, at_us: int, down: bool = True) -> list[Frame]:
    """Press or release a button at that time, and return what is told then."""
    desk.now_us = at_us
    desk.ask("ping")
    desk.press(number, down, at_us)
    return desk.read()


def test_a_press_ends_the_tone_at_once_and_is_told_first(desk: Desk) -> None:
    desk.tone(**PRESSED)
    assert at_press(desk, 1, 150_123) == [
        (2, "button-down", {"us": "150123"}),
        (3, "tone-off", {"id": "r1", "us": "150123", "cut": "1"}),
    ]
    assert verbs_and_times(at_press(desk, 1, 300 * MS, down=False)) == [("button-up", 300 * MS)]
    assert verbs_and_times(at_press(desk, 1, 400 * MS)) == [("button-down", 400 * MS)]
    assert desk.until(2 * S) == [], "the tone does not end twice"
    assert desk.tone(id="r2") == OK


@pytest.mark.parametrize(("after_us", "ended"), [(100 * MS - 1, False), (100 * MS, True)])
def test_only_a_press_late_enough_ends_the_tone(desk: Desk, after_us: int, ended: bool) -> None:
    desk.until(3 * S)
    desk.tone(**PRESSED)
    frames = at_press(desk, 1, 3 * S + after_us)
    assert [f.verb for f in frames] == ["button-down"] + ["tone-off"] * ended
    at_press(desk, 1, 3 * S + 300 * MS, down=False)
    again = at_press(desk, 1, 3 * S + 350 * MS)
    assert [f.verb for f in again] == ["button-down"] + ["tone-off"] * (not ended)


@pytest.mark.parametrize("buttons", [0, 1, 2, 3])
@pytest.mark.parametrize("button", [1, 2])
def test_only_the_buttons_that_are_asked_for_end_the_tone(
    desk: Desk, buttons: int, button: int
) -> None:
    desk.tone(buttons=buttons, press=0)
    frames = at_press(desk, button, 50 * MS)
    assert [f.verb for f in frames] == ["button-down"] + ["tone-off"] * bool(buttons & button)


def test_a_press_ends_no_tone_of_an_old_host_nor_the_one_after(desk: Desk) -> None:
    desk.tone(**PRESSED)
    desk.until(1 * S)
    desk.tone(id="r2")
    assert [f.verb for f in at_press(desk, 1, 1200 * MS)] == ["button-down"]


def test_a_button_that_is_held_down_or_released_ends_nothing(desk: Desk) -> None:
    at_press(desk, 1, 10 * MS)
    desk.tone(buttons=3)
    assert [f.verb for f in at_press(desk, 1, 300 * MS, down=False)] == ["button-up"]


def test_noise_goes_on_when_a_press_ends_the_tone(desk: Desk) -> None:
    desk.ask("mask", **MASK)
    desk.tone(**PRESSED)
    assert verbs_and_times(at_press(desk, 1, 200 * MS))[-1] == ("tone-off", 200 * MS)
    assert desk.noise_in("l")
    assert desk.tone(id="r2") == OK, "the noise is not lost"


def test_a_tone_that_a_press_ended_is_not_played_again_when_it_is_repeated(desk: Desk) -> None:
    line = write(2, "tone", **{**TONE, **PRESSED})
    first = desk.send(line)[:1]
    desk.board.advance(200 * MS)
    desk.press(1, True, 200 * MS)
    desk.now_us = 201 * MS
    assert [f.verb for f in desk.read()] == ["button-down", "tone-off"]
    assert desk.send(line) == first
    assert desk.send(write(3, "stop")) == [(3, *OK)], "and there is nothing to stop"


# Noise


def test_noise_lasts_until_unmask_and_a_second_one_replaces_it(desk: Desk) -> None:
    assert desk.answer("mask", **MASK) == OK
    desk.until(10 * S)
    assert desk.noise_in("l")
    assert desk.answer("mask", **{**MASK, "ear": "r", "hz": "100"}) == OK
    assert desk.noise_in("r")
    assert desk.answer("unmask") == desk.answer("unmask") == OK
    assert not desk.noise_in("r")


def test_only_a_quiet_tone_of_the_earphone_plays_in_the_ear_of_the_noise(desk: Desk) -> None:
    desk.ask("mask", **MASK)
    assert desk.tone(ear="l", dbfs="-19.99") == error("busy")
    assert desk.tone(ear="l", dbfs="-20.00", via=1) == error("busy")
    assert desk.tone(ear="l", dbfs="-20.00") == OK
    assert desk.answer("mask", **MASK) == error("busy")
    desk.ask("stop")
    desk.ask("mask", **MASK)
    assert desk.tone(ear="r", dbfs="-19.99") == OK
    assert desk.answer("mask", **{**MASK, "ear": "r"}) == error("busy")


@pytest.mark.parametrize("ending", ["stop", "hello", "silence"])
def test_what_cuts_a_tone_ends_noise(desk: Desk, ending: str) -> None:
    desk.ask("mask", **MASK)
    if ending == "silence":
        desk.now_us += HOST_SILENCE_US - 1
        assert desk.noise_in("l")
        desk.now_us += HOST_SILENCE_US
        desk.ask("stop")
    else:
        desk.ask(ending, **HELLO_AGAIN if ending == "hello" else {})
    assert not desk.noise_in("l")


@pytest.mark.parametrize("word", ["mask", "unmask", "stop", "hello"])
def test_no_tone_comes_after_noise_that_ended_by_itself_until_the_host_knows(
    desk: Desk, word: str
) -> None:
    desk.tone(n=9)
    desk.now_us += HOST_SILENCE_US
    assert desk.tone() == OK, "the tone before had none"
    desk.ask("mask", **MASK)
    desk.now_us += HOST_SILENCE_US
    assert desk.tone() == desk.tone() == error("noise")
    desk.ask(word, **{"mask": MASK, "hello": HELLO_AGAIN}.get(word, {}))
    assert desk.tone() == OK


def test_a_board_without_noise_does_not_know_the_verbs(kind: Any) -> None:
    desk = Desk(kind, has_noise=False)
    assert desk.answer("mask", **MASK) == desk.answer("unmask") == error("verb")


# Events


def test_lost_events_are_sent_again_until_they_are_acknowledged(desk: Desk) -> None:
    lost = desk.ask("tone", **TONE)[1:] + desk.until(1 * S)
    for after in range(3):
        answer, *events = desk.ask("events", after=after)
        assert answer.fields == {"event": "2"}
        assert events == lost[after:]

    assert desk.answer("ack", event=1) == OK
    assert desk.ask("events", after=0)[1:] == lost[1:]
    assert desk.answer("ack", event=0) == desk.answer("ack", event=2) == OK
    assert desk.ask("events", after=0)[1:] == []


def test_the_newest_events_are_kept(desk: Desk) -> None:
    for number in range(100):
        desk.press(1, number % 2 == 0, number)
    assert [f.number for f in desk.read()] == list(range(1, 101))
    events = desk.ask("events", after=0)[1:]
    assert [f.number for f in events] == list(range(101 - EVENTS_KEPT_MAX, 101))


def test_buttons_are_told_with_their_number(desk: Desk) -> None:
    desk.press(1, True, 123)
    desk.press(2, True, 456)
    desk.press(2, False, 789)
    assert desk.read() == [
        (1, "button-down", {"us": "123"}),
        (2, "button-down", {"us": "456", "button": "2"}),
        (3, "button-up", {"us": "789", "button": "2"}),
    ]


# Repeats


def test_a_repeated_tone_is_answered_and_not_played_again(desk: Desk) -> None:
    line = write(2, "tone", **TONE)
    first = desk.send(line)
    desk.now_us = 2 * S
    off = (2, "tone-off", {"id": "r1", "us": "800000", "cut": "0"})
    assert desk.send(line) == [off, first[0]]


@pytest.mark.parametrize("verb", ["hello", "ping", "stop", "mask", "events", "sing"])
def test_a_repeated_command_gets_the_same_bytes(desk: Desk, verb: str) -> None:
    line = write(2, verb, **RIGHT.get(verb, {}))
    desk.board.receive(line, 0)
    first = desk.board.transmit()
    desk.board.receive(line, HOST_SILENCE_US // 2)
    assert desk.board.transmit() == first


def test_events_are_not_sent_twice_for_one_number(desk: Desk) -> None:
    desk.tone()
    assert len(desk.send(write(3, "events", after=0))) == 2
    assert len(desk.send(write(3, "events", after=0))) == 1


def test_a_number_of_long_ago_is_dropped(desk: Desk) -> None:
    tone = write(2, "tone", **TONE)
    desk.send(tone)
    desk.now_us = 2 * S
    desk.send(write(3, "ping"))
    assert desk.send(tone) == []


# Silence


def test_a_tone_is_cut_a_second_after_the_last_frame(desk: Desk) -> None:
    desk.tone(n=20)
    desk.now_us = 700 * MS
    desk.ask("ping")
    desk.board.advance(30 * S)
    assert desk.read() == [(2, "tone-off", {"id": "r1", "us": "1700000", "cut": "1"})]
    desk.board.advance(100 * S)
    assert desk.read() == [], "silence without a tone is no event"


def test_any_valid_frame_keeps_a_board_playing_and_garbage_does_not(desk: Desk) -> None:
    desk.tone(on=1950, n=1)
    desk.now_us = 900 * MS
    assert desk.answer("sing") == error("verb")
    ping = write(9, "ping")
    for line in (b"\n", ping[:-2] + b"\n", b"x" * 200 + b"\n", ping[1:]):
        desk.now_us += 200 * MS
        assert desk.send(line) == []
    desk.board.advance(3 * S)
    assert verbs_and_times(desk.read()) == [("tone-off", 1900 * MS)]


def test_a_tone_that_ends_just_then_is_not_cut(desk: Desk) -> None:
    desk.tone(on=1000, n=1)
    desk.board.advance(3 * S)
    assert desk.read()[0].fields["cut"] == "0"


# Whatever comes


def test_a_command_may_come_byte_by_byte(desk: Desk) -> None:
    frames = [f for byte in write(2, "ping") for f in desk.send(bytes([byte]))]
    assert frames == [(2, "ok", {"event": "0", "us": "0"})]


@pytest.mark.parametrize("seed", range(40))
def test_both_boards_answer_alike(seed: int) -> None:
    chance = random.Random(seed)
    desks = [Desk(kind, hello=False, limit_dbfs=-20.0) for kind in (product, example)]
    sequence = now_us = 0
    down = False
    for _ in range(150):
        sequence = max(1, sequence + chance.choice([1, 1, 1, 1, 1, 0, -1, 5]))
        verb, fields = a_command(chance)
        line = write(sequence, verb, **fields)
        if chance.random() < 0.1:
            line = line[: chance.randrange(len(line))] + chance.choice([b"?", b"", b"\n"])
        pressed = chance.random() < 0.05
        down = down != pressed
        after_us = MS * chance.choice([0, 0, 1, 50, 300, 1200])
        heard: list[list[str]] = []
        for desk in desks:
            desk.now_us = now_us
            if pressed:
                desk.press(2, down, now_us)
            frames = desk.send(line)
            desk.board.advance(now_us + after_us)
            heard.append([nameless(frame) for frame in frames + desk.read()])
        now_us += after_us
        assert heard[0] == heard[1]


def a_command(chance: random.Random) -> tuple[str, dict[str, str | int]]:
    """Draw a command, most of them right."""
    verb = chance.choice(
        ["tone"] * 4 + ["stop", "ping", "ping", "ack", "events", "events", "hello", "serial"]
        + ["sing", "mask", "unmask"]
    )  # fmt: skip
    fields: dict[str, str | int] = {}
    match verb:
        case "tone":
            fields = dict(TONE, id=f"r{chance.randrange(99)}", ear=chance.choice("lr"))
            fields["dbfs"] = chance.choice(["-80.00", "-19.99", "-20", "-30.5", "0"])
            fields["n"] = chance.choice([1, 3])
            if chance.random() < 0.5:
                fields |= {"buttons": chance.randrange(4), "press": chance.choice([0, 60, 300])}
        case "mask":
            fields = dict(MASK, ear=chance.choice("lr"), dbfs=chance.choice(["-80", "-19.99"]))
        case "ack":
            fields = {"event": chance.randrange(6)}
        case "events":
            fields = {"after": chance.randrange(6)}
        case "hello":
            fields = {"wire": chance.choice([1, 1, 1, 2]), "host": f"0000000{chance.choice('abc')}"}
    if chance.random() < 0.15:
        key = chance.choice([*fields, "z"])
        value = chance.choice(["", "7", "-1", "1.5", "x", "01", "123456789", "1e3", "-"])
        if value:
            fields[key] = value
        else:
            fields.pop(key, None)
    return verb, fields


# The page's own example, and the product's host


def lines_of_the_page() -> list[tuple[str, bytes]]:
    """Return who says what in the example on the page: ``>`` the host, ``<`` the board."""
    page = Path(firmware_py.link.__path__[0], "README.md").read_text()
    example_text = page.split("## An example", 1)[1].split("```", 2)[1]
    lines = re.findall(r"^([<>]) (.+)$", example_text, re.MULTILINE)
    return [(who, f"{text}\n".encode()) for who, text in lines]


def test_the_example_on_the_page_is_what_the_products_host_and_either_board_say(kind: Any) -> None:
    board, press = kind()
    client = Client(lambda: "0123abcd")
    client.connect(0)
    said: list[tuple[str, bytes]] = []
    for now_us in range(0, 35 * MS, 5 * MS):
        if now_us == 20 * MS:
            client.play(PULSES)
        if now_us == 25 * MS:
            press(1, True, now_us)
        client.advance(now_us)
        line = client.transmit()
        board.receive(line, now_us)
        heard = board.transmit().splitlines(keepends=True)
        said += [(">", line)] * bool(line) + [("<", each) for each in heard]
        for notice in client.receive(b"".join(heard), now_us):
            if isinstance(notice, BoardEvent):
                client.acknowledge(notice.event)
    page = lines_of_the_page()
    assert [(who, nameless(read(line))) for who, line in said] == [
        (who, nameless(read(line))) for who, line in page
    ]
    assert said == page or kind is example


def nameless(frame: Frame | None) -> str:
    """Return a frame without what another board says otherwise."""
    assert frame is not None
    own = ("board", "version", "serial")
    return str([*frame[:2], *((k, v) for k, v in frame.fields.items() if k not in own)])


def test_the_products_host_and_the_board_made_from_the_page_understand_each_other() -> None:
    board, press = example()
    client = Client(lambda: "0123abcd")
    client.connect(0)
    notices: list[Notice] = []
    for now_us in range(0, 2 * S, 5 * MS):
        if now_us == 100 * MS:
            client.play(PULSES)
        if now_us in (500 * MS, 700 * MS):
            press(2, now_us == 500 * MS, now_us)
        notices += client.advance(now_us)
        board.receive(client.transmit(), now_us)
        notices += client.receive(board.transmit(), now_us)

    assert notices == [
        Greeted("mine", "1", "00c0ffee", "-", "example-1", can_mask=True),
        ToneStarted(1, "1-1", 100 * MS),
        ButtonPressed(2, 500 * MS, 2),
        ButtonReleased(3, 700 * MS, 2),
        ToneEnded(4, "1-1", 1225 * MS, cut=False),
    ]
