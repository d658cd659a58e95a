"""The simulated board: every command, error and promise of the wire page."""

import random
import re
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.simulator.board import (
    EVENTS_KEPT_MAX,
    OUTPUT_FRAMES_MAX,
    PLAYED_MAX,
    PRESS_GAP_US,
    PlayedNoise,
    PlayedTone,
    SimulatedBoard,
)
from device.simulator.listener import Audiogram, Ear, Noise, Press, SimulatedListener
from firmware_py.link.frames import decode, encode

Frame = tuple[int, str, dict[str, str]]

deterministic = settings(deadline=None, derandomize=True, print_blob=True, database=None)

MS = 1000
S = 1_000_000
TONE: dict[str, str | int] = {
    "id": "r1",
    "ear": "r",
    "hz": "1000.00",
    "dbfs": "-80.00",
    "on": 200,
    "off": 100,
    "n": 3,
    "rise": 25,
}
TONE_US = 800 * MS


class Scripted:
    """A listener who does what a test says."""

    def __init__(
        self,
        answers: dict[str, Press] | None = None,
        idle: dict[tuple[str, int], Press] | None = None,
    ) -> None:
        self.answers = answers or {}
        self.idle = idle or {}
        self.asked: list[tuple[str, Ear, float, float]] = []
        self.noises: list[Noise | None] = []

    def answer(
        self,
        tone_id: str,
        ear: Ear,
        frequency_hz: float,
        level_db_hl: float,
        noise: Noise | None = None,
    ) -> Press | None:
        self.noises.append(noise)
        self.asked.append((tone_id, ear, frequency_hz, level_db_hl))
        return self.answers.get(tone_id)

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        return self.idle.get((after_id, slot))


class Host:
    """The other end of the line, with a clock that a test turns."""

    def __init__(self, board: SimulatedBoard, *, hello: bool = True) -> None:
        self.board = board
        self.now_us = 0
        self.sequence = 0
        if hello:
            self.ask("hello", wire=1, host="0000000a")

    def send(self, line: bytes) -> list[Frame]:
        self.board.receive(line, self.now_us)
        return self.read()

    def read(self) -> list[Frame]:
        return [decode(line) for line in self.board.transmit().splitlines(keepends=True)]

    def ask(self, verb: str, **fields: str | int) -> list[Frame]:
        self.sequence += 1
        return self.send(encode(self.sequence, verb, fields))

    def answer(self, verb: str, **fields: str | int) -> tuple[str, dict[str, str]]:
        frames = [f for f in self.ask(verb, **fields) if f[1] in ("ok", "error")]
        assert [number for number, _, _ in frames] == [self.sequence]
        return frames[0][1:]

    def tone(self, **changes: str | int) -> tuple[str, dict[str, str]]:
        return self.answer("tone", **{**TONE, **changes})

    def until(self, now_us: int) -> list[Frame]:
        """Let time pass with pings often enough; gives the events."""
        events = []
        while self.now_us < now_us:
            self.now_us = min(self.now_us + 500 * MS, now_us)
            self.sequence += 1
            events += self.send(encode(self.sequence, "ping"))
        return [event for event in events if event[1] not in ("ok", "error")]


def told(frames: list[Frame]) -> list[tuple[str, int]]:
    """Verbs and times of events."""
    return [(verb, int(fields["us"])) for _, verb, fields in frames]


@pytest.fixture
def host() -> Host:
    return Host(SimulatedBoard(Scripted()))


class TestHello:
    def test_tells_who_the_board_is(self) -> None:
        host = Host(SimulatedBoard(Scripted(), boot=0xC0FFEE), hello=False)

        assert host.answer("hello", wire=1, host="0123abcd") == (
            "ok",
            {
                "wire": "1",
                "board": "sim",
                "version": "1",
                "boot": "00c0ffee",
                "event": "0",
                "tone": "-",
            },
        )

    def test_tells_the_newest_event_and_tone(self, host: Host) -> None:
        host.tone()
        host.until(1 * S)
        host.tone(id="r2")

        _, fields = host.answer("hello", wire=1, host="0000000a")

        assert (fields["event"], fields["tone"]) == ("3", "r2")

    @pytest.mark.parametrize("verb", ["tone", "stop", "ping", "ack", "events", "sing"])
    def test_comes_before_every_other_command(self, verb: str) -> None:
        host = Host(SimulatedBoard(Scripted()), hello=False)

        assert host.answer(verb, **TONE) == ("error", {"code": "hello"})
        assert host.board.played == []

    @pytest.mark.parametrize("fields", [{"wire": 2}, {"wire": 0}, {"wire": 2, "new": "x"}])
    def test_another_wire_version_is_told_so(self, fields: dict[str, str | int]) -> None:
        host = Host(SimulatedBoard(Scripted()), hello=False)

        assert host.answer("hello", **fields) == ("error", {"code": "version", "wire": "1"})
        assert host.answer("ping") == ("error", {"code": "hello"})

    @pytest.mark.parametrize(
        ("fields", "name"),
        [
            ({"host": "0000000a"}, "wire"),
            ({"wire": "x", "host": "0000000a"}, "wire"),
            ({"wire": 1}, "host"),
            ({"wire": 1, "host": "0000000A"}, "host"),
            ({"wire": 1, "host": "00000a"}, "host"),
            ({"wire": 1, "host": "0000000a", "more": 1}, "more"),
        ],
    )
    def test_fields_are_checked(self, fields: dict[str, str | int], name: str) -> None:
        host = Host(SimulatedBoard(Scripted()), hello=False)

        assert host.answer("hello", **fields) == ("error", {"code": "field", "name": name})
        assert host.answer("ping") == ("error", {"code": "hello"})

    def test_a_new_nonce_stops_the_tone_and_keeps_the_events(self, host: Host) -> None:
        host.tone()
        host.now_us = 100 * MS

        answer, cut = host.ask("hello", wire=1, host="0000000b")

        assert answer[2]["event"] == "2"
        assert cut == (2, "tone-off", {"id": "r1", "us": "100000", "cut": "1"})
        assert [f[1] for f in host.ask("events", after=0)] == ["ok", "tone-on", "tone-off"]

    def test_a_new_nonce_forgets_the_old_numbers(self, host: Host) -> None:
        host.until(2 * S)
        host.sequence = 0

        assert host.answer("hello", wire=1, host="0000000b")[0] == "ok"
        assert host.answer("ping")[1]["us"] == "2000000"

    def test_a_new_nonce_takes_back_what_was_not_sent(self, host: Host) -> None:
        host.board.receive(encode(2, "tone", TONE), 0)
        hello: dict[str, str | int] = {"wire": 1, "host": "0000000b"}
        host.board.receive(encode(1, "hello", hello), 5 * S)

        assert [(f[0], f[1]) for f in host.read()] == [(1, "ok")]

    def test_a_known_nonce_stops_nothing(self, host: Host) -> None:
        host.tone()
        host.now_us = 100 * MS

        assert len(host.ask("hello", wire=1, host="0000000a")) == 1
        assert told(host.until(1 * S)) == [("tone-off", TONE_US)]
        assert not host.board.played[0].cut

    def test_a_known_nonce_may_go_back(self, host: Host) -> None:
        host.until(2 * S)
        host.sequence = 2

        assert host.answer("hello", wire=1, host="0000000a")[0] == "ok"
        assert host.answer("ping")[0] == "ok"

    def test_a_refused_hello_changes_nothing(self, host: Host) -> None:
        host.tone()

        assert host.answer("hello", wire=2, host="0000000b")[1]["code"] == "version"
        assert host.answer("hello", wire=1, host="x")[1]["name"] == "host"
        assert told(host.until(1 * S)) == [("tone-off", TONE_US)]


class TestTone:
    def test_is_played_and_told(self) -> None:
        listener = Scripted()
        host = Host(SimulatedBoard(listener, full_scale_db_hl=110.0))
        host.until(3 * S)

        answer, onset = host.ask("tone", **TONE)
        events = host.until(5 * S)

        assert answer[1:] == ("ok", {})
        assert onset == (1, "tone-on", {"id": "r1", "us": "3000000"})
        assert events == [(2, "tone-off", {"id": "r1", "us": "3800000", "cut": "0"})]
        assert host.board.played == [
            PlayedTone("r1", "right", 1000.0, -80.0, onset_us=3 * S, cut=False)
        ]
        assert listener.asked == [("r1", "right", 1000.0, 30.0)]

    @pytest.mark.parametrize(("ear", "side"), [("l", "left"), ("r", "right")])
    def test_comes_out_of_its_ear(self, host: Host, ear: str, side: str) -> None:
        host.tone(ear=ear)

        assert host.board.played[0].ear == side

    @pytest.mark.parametrize(
        ("changes", "duration_us"),
        [
            ({"n": 1}, 200 * MS),
            ({"off": 0}, 600 * MS),
            ({"n": 20, "on": 50, "off": 5000}, 96 * S),
        ],
    )
    def test_lasts_as_long_as_its_pulses(
        self, host: Host, changes: dict[str, int], duration_us: int
    ) -> None:
        host.tone(**changes)

        assert told(host.until(100 * S)) == [("tone-off", duration_us)]

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *[("id", v) for v in ("-", "123456789")],
            *[("ear", v) for v in ("L", "lr", "left")],
            *[("hz", v) for v in ("99.99", "16000.01", "1e3", "x", "nan", "-1000", "1000.")],
            *[("dbfs", v) for v in ("-160.01", "0.01", "+0", "inf", "-")],
            *[("on", v) for v in (49, 5001, "200.0", "0200")],
            *[("off", v) for v in (-1, 5001, "x")],
            *[("n", v) for v in (0, 21, "3.0")],
            *[("rise", v) for v in (4, 101, "x")],
        ],
    )
    def test_a_field_out_of_range_is_named(self, host: Host, name: str, value: str | int) -> None:
        changes: dict[str, str | int] = {name: value}

        assert host.tone(**changes) == ("error", {"code": "field", "name": name})
        assert host.board.played == []
        assert host.answer("ping")[1]["event"] == "0"

    @pytest.mark.parametrize("name", list(TONE))
    def test_a_missing_field_is_named(self, host: Host, name: str) -> None:
        fields = {key: value for key, value in TONE.items() if key != name}

        assert host.answer("tone", **fields) == ("error", {"code": "field", "name": name})

    @pytest.mark.parametrize(
        "changes",
        [
            {"id": "12345678"},
            {"hz": "100", "dbfs": "0"},
            {"hz": "16000.00", "dbfs": "-160.00"},
            {"on": 50, "rise": 25, "off": 0, "n": 1},
            {"on": 5000, "rise": 100, "off": 5000, "n": 20},
            {"rise": 5},
        ],
    )
    def test_the_ends_of_the_ranges_are_allowed(
        self, host: Host, changes: dict[str, str | int]
    ) -> None:
        assert host.tone(**changes) == ("ok", {})

    def test_the_rise_is_at_most_half_the_pulse(self, host: Host) -> None:
        assert host.tone(on=99, rise=50) == ("error", {"code": "field", "name": "rise"})
        assert host.tone(on=100, rise=50) == ("ok", {})

    def test_an_unknown_field_is_named(self, host: Host) -> None:
        assert host.answer("ping", now=1) == ("error", {"code": "field", "name": "now"})
        assert host.answer("stop", **{"x" * 60: 1})[1]["name"] == "x" * 16

    def test_a_level_above_the_limit_is_refused(self) -> None:
        host = Host(SimulatedBoard(Scripted(), output_limit_dbfs=-20.0))

        assert host.tone(dbfs="-19.99") == ("error", {"code": "limit"})
        assert host.board.played == []
        assert host.tone(dbfs="-20.00") == ("ok", {})

    def test_a_playing_board_is_busy(self, host: Host) -> None:
        host.tone()
        host.now_us = TONE_US - 1

        assert host.tone(id="r2") == ("error", {"code": "busy"})
        host.now_us = TONE_US
        assert host.tone(id="r2") == ("ok", {})
        assert [tone.tone_id for tone in host.board.played] == ["r1", "r2"]

    def test_errors_are_looked_for_in_the_order_of_the_page(self) -> None:
        host = Host(SimulatedBoard(Scripted(), output_limit_dbfs=-90.0))
        host.tone(dbfs="-100")

        assert host.tone(n=0)[1]["code"] == "field"
        assert host.tone()[1]["code"] == "limit"
        assert host.tone(dbfs="-90")[1]["code"] == "busy"

    def test_the_same_id_may_be_played_again(self, host: Host) -> None:
        host.tone()
        host.until(1 * S)

        assert host.tone() == ("ok", {})

    def test_played_tones_are_kept_in_bounded_number(self) -> None:
        host = Host(SimulatedBoard(Scripted()))
        for number in range(PLAYED_MAX + 5):
            host.tone(id=f"t{number}", on=50, n=1)
            host.now_us += 100 * MS

        assert len(host.board.played) == PLAYED_MAX
        assert host.board.played[0].tone_id == "t5"


MASK: dict[str, str | int] = {"ear": "l", "hz": "1000", "dbfs": "-60"}


HELLO_AGAIN: dict[str, str | int] = {"wire": 1, "host": "0000000b"}


class TestMask:
    def test_the_listener_hears_the_noise_at_its_effective_level(self) -> None:
        listener = Scripted()
        host = Host(SimulatedBoard(listener))

        assert host.answer("mask", **MASK) == ("ok", {})
        assert host.answer("tone", **TONE) == ("ok", {})
        assert listener.noises == [Noise("left", 1000.0, 120.0 - 60.0 - 6.0)], "6 dB: ISO 389-4"
        assert host.board.played[0].noise == PlayedNoise("left", 1000.0, -60.0)

    def test_it_lasts_until_unmask_and_a_second_one_replaces_it(self, host: Host) -> None:
        host.ask("mask", **MASK)
        host.until(10 * S)
        assert host.board.noise == PlayedNoise("left", 1000.0, -60.0)

        host.ask("mask", **{**MASK, "ear": "r", "hz": "100"})
        assert host.board.noise == PlayedNoise("right", 100.0, -60.0)

        assert host.answer("unmask") == host.answer("unmask") == ("ok", {})
        assert host.board.noise is None

    def test_tone_and_noise_are_never_in_one_ear(self, host: Host) -> None:
        right = {**MASK, "ear": TONE["ear"]}
        host.ask("mask", **right)
        assert host.answer("tone", **TONE) == ("error", {"code": "busy"})

        host.ask("unmask")
        host.ask("tone", **TONE)
        assert host.answer("mask", **right) == ("error", {"code": "busy"})
        assert host.board.noise is None

    @pytest.mark.parametrize("ending", ["stop", "hello", "silence"])
    def test_what_cuts_a_tone_ends_noise(self, host: Host, ending: str) -> None:
        host.ask("mask", **MASK)
        if ending == "silence":
            host.board.advance(host.now_us + 999 * MS)
            assert host.board.noise is not None
            host.board.advance(host.now_us + S)
        else:
            host.ask(ending, **HELLO_AGAIN if ending == "hello" else {})

        assert host.board.noise is None

    @pytest.mark.parametrize("word", ["mask", "unmask", "stop", "hello"])
    def test_no_tone_comes_after_noise_that_ended_by_itself_until_the_host_knows(
        self, host: Host, word: str
    ) -> None:
        host.ask("mask", **MASK)
        host.now_us += S
        assert host.answer("tone", **TONE) == ("error", {"code": "noise"})
        assert host.answer("tone", **TONE) == ("error", {"code": "noise"})
        host.ask(word, **{"mask": MASK, "hello": HELLO_AGAIN}.get(word, {}))
        assert host.answer("tone", **TONE)[0] == "ok"

    @pytest.mark.parametrize(
        ("changes", "answer"),
        [
            ({"ear": "both"}, {"code": "field", "name": "ear"}),
            ({"hz": "99"}, {"code": "field", "name": "hz"}),
            ({"dbfs": "-9.99"}, {"code": "field", "name": "dbfs"}),
            ({"id": "x"}, {"code": "field", "name": "id"}),
            ({"dbfs": "-29.99"}, {"code": "limit"}),
        ],
    )
    def test_what_is_not_allowed_is_refused(
        self, changes: dict[str, str], answer: dict[str, str]
    ) -> None:
        host = Host(SimulatedBoard(Scripted(), output_limit_dbfs=-30.0))

        assert host.answer("mask", **{**MASK, **changes}) == ("error", answer)
        assert host.board.noise is None

    def test_a_board_without_noise_does_not_know_the_verbs(self) -> None:
        host = Host(SimulatedBoard(Scripted(), has_noise=False))

        assert host.answer("mask", **MASK) == ("error", {"code": "verb"})
        assert host.answer("unmask") == ("error", {"code": "verb"})


class TestOtherCommands:
    def test_stop_silences_at_once(self, host: Host) -> None:
        host.tone()
        host.now_us = 300 * MS

        answer, event = host.ask("stop")

        assert answer[1:] == ("ok", {})
        assert event == (2, "tone-off", {"id": "r1", "us": "300000", "cut": "1"})
        assert host.board.played[0].cut
        assert host.until(2 * S) == []

    def test_stop_in_silence_is_right_too(self, host: Host) -> None:
        assert host.ask("stop") == [(2, "ok", {})]

    def test_ping_tells_the_newest_event_and_the_time(self, host: Host) -> None:
        host.now_us = 123_456
        assert host.answer("ping") == ("ok", {"event": "0", "us": "123456"})

        host.tone()
        assert host.answer("ping") == ("ok", {"event": "1", "us": "123456"})

    def test_an_unknown_verb_is_told_so(self, host: Host) -> None:
        assert host.answer("sing") == ("error", {"code": "verb"})
        assert host.answer("ok") == ("error", {"code": "verb"})

    @pytest.mark.parametrize(("verb", "key"), [("ack", "event"), ("events", "after")])
    @pytest.mark.parametrize("value", ["3", "-1", "x", "1.0", None])
    def test_an_event_there_never_was_is_refused(
        self, host: Host, verb: str, key: str, value: str | None
    ) -> None:
        host.tone()
        host.until(1 * S)
        fields: dict[str, str | int] = {} if value is None else {key: value}

        assert host.answer(verb, **fields) == ("error", {"code": "field", "name": key})

    def test_lost_events_are_sent_again_after_the_answer(self, host: Host) -> None:
        lost = host.ask("tone", **TONE)[1:] + host.until(1 * S)

        for after in range(3):
            answer, *events = host.ask("events", after=after)

            assert answer[1:] == ("ok", {"event": "2"})
            assert events == lost[after:]

    def test_acknowledged_events_are_forgotten(self, host: Host) -> None:
        host.tone()
        host.until(1 * S)

        assert host.answer("ack", event=1) == ("ok", {})
        assert [f[0] for f in host.ask("events", after=0)[1:]] == [2]
        assert host.answer("ack", event=0) == ("ok", {})
        assert host.answer("ack", event=2) == ("ok", {})
        assert host.ask("events", after=0)[1:] == []

    def test_the_newest_events_are_kept(self, host: Host) -> None:
        for number in range(50):
            host.tone(id=f"t{number}")
            host.until(host.now_us + 1 * S)

        answer, *events = host.ask("events", after=0)

        assert answer[2] == {"event": "100"}
        assert [f[0] for f in events] == list(range(101 - EVENTS_KEPT_MAX, 101))


class TestRepeats:
    def test_a_repeated_tone_is_answered_and_not_played_again(self, host: Host) -> None:
        line = encode(2, "tone", TONE)
        first = host.send(line)
        host.now_us = 2 * S

        again = host.send(line)

        assert again == [(2, "tone-off", {"id": "r1", "us": "800000", "cut": "0"}), first[0]]
        assert len(host.board.played) == 1

    @pytest.mark.parametrize("verb", ["hello", "ping", "stop", "events", "sing"])
    def test_a_repeated_command_gets_the_same_bytes(self, host: Host, verb: str) -> None:
        fields: dict[str, dict[str, str | int]] = {
            "hello": {"wire": 1, "host": "0000000a"},
            "events": {"after": 0},
        }
        line = encode(2, verb, fields.get(verb, {}))
        host.board.receive(line, 0)
        first = host.board.transmit()

        host.board.receive(line, 5 * S)

        assert host.board.transmit() == first

    def test_a_refusal_is_repeated_too(self, host: Host) -> None:
        host.tone()
        busy = host.send(encode(3, "tone", {**TONE, "id": "r2"}))
        host.until(0)
        host.now_us = 2 * S

        again = host.send(encode(3, "tone", {**TONE, "id": "r2"}))

        assert again[-1:] == busy == [(3, "error", {"code": "busy"})]
        assert len(host.board.played) == 1

    def test_events_are_not_sent_twice_for_one_number(self, host: Host) -> None:
        host.tone()
        assert len(host.send(encode(3, "events", {"after": 0}))) == 2

        assert len(host.send(encode(3, "events", {"after": 0}))) == 1

    def test_a_number_of_long_ago_is_dropped(self, host: Host) -> None:
        tone = encode(2, "tone", TONE)
        host.send(tone)
        host.now_us = 2 * S
        host.send(encode(3, "ping"))

        assert host.send(tone) == []
        assert len(host.board.played) == 1
        assert host.board.dropped == 1


class TestSilence:
    def test_the_tone_is_cut_a_second_after_the_last_frame(self, host: Host) -> None:
        host.tone(n=20)
        host.now_us = 700 * MS
        host.ask("ping")
        host.board.advance(30 * S)

        assert host.read() == [(2, "tone-off", {"id": "r1", "us": "1700000", "cut": "1"})]
        assert host.board.played[0].cut

    @pytest.mark.parametrize("silence_us", [50 * MS, 10 * S])
    def test_the_time_can_be_set(self, silence_us: int) -> None:
        host = Host(SimulatedBoard(Scripted(), host_silence_us=silence_us))
        host.tone(on=5000, n=20)
        host.board.advance(100 * S)

        assert told(host.read()) == [("tone-off", silence_us)]

    def test_any_valid_frame_keeps_the_board_playing(self, host: Host) -> None:
        host.tone(on=1500, n=1)
        host.now_us = 900 * MS
        assert host.answer("sing")[0] == "error"
        host.board.advance(3 * S)

        assert host.read() == [(2, "tone-off", {"id": "r1", "us": "1500000", "cut": "0"})]

    def test_garbage_does_not(self, host: Host) -> None:
        host.tone(on=1500, n=1)
        ping = encode(9, "ping")
        for number, line in enumerate((b"\n", ping[:-2] + b"\n", b"x" * 200 + b"\n", ping[1:])):
            host.now_us = (number + 1) * 200 * MS
            assert host.send(line) == []
        host.board.advance(3 * S)

        assert told(host.read()) == [("tone-off", 1 * S)]
        assert host.board.dropped == 4

    def test_a_tone_that_ends_just_then_is_not_cut(self, host: Host) -> None:
        host.tone(on=1000, n=1)
        host.board.advance(3 * S)

        assert host.read()[0][2]["cut"] == "0"

    def test_silence_without_a_tone_is_no_event(self, host: Host) -> None:
        host.board.advance(100 * S)

        assert host.read() == []


class TestButton:
    def test_an_answered_tone_is_told(self) -> None:
        host = Host(SimulatedBoard(Scripted({"r1": Press(400 * MS, 200 * MS)})))
        host.until(2 * S)
        host.tone()

        assert host.until(4 * S) == [
            (2, "button-down", {"us": "2400000"}),
            (3, "button-up", {"us": "2600000"}),
            (4, "tone-off", {"id": "r1", "us": "2800000", "cut": "0"}),
        ]

    @pytest.mark.parametrize(
        ("cut_us", "pressed"), [(500 * MS, True), (100 * MS, True), (100 * MS - 1, False)]
    )
    def test_after_a_cut_only_a_press_on_its_way_comes(self, cut_us: int, pressed: bool) -> None:
        host = Host(SimulatedBoard(Scripted({"r1": Press(400 * MS, 200 * MS)})))
        host.tone()
        host.now_us = cut_us
        host.ask("stop")
        host.until(3 * S)

        events = [f[1] for f in host.ask("events", after=0)[1:]]
        assert ("button-down" in events) == pressed
        assert ("button-up" in events) == pressed

    def test_an_answer_may_come_after_the_tone(self) -> None:
        host = Host(SimulatedBoard(Scripted({"r1": Press(1200 * MS, 200 * MS)})))
        host.tone(n=1)

        assert told(host.until(3 * S)) == [
            *[("tone-off", 200 * MS), ("button-down", 1200 * MS), ("button-up", 1400 * MS)]
        ]

    def test_idle_slots_count_from_the_start_and_from_each_tone(self) -> None:
        press = Press(1 * S, 200 * MS)
        idle = {("-", 1): press, ("r1", 0): press, ("r1", 2): press}
        host = Host(SimulatedBoard(Scripted(idle=idle)))
        before = host.until(4 * S)
        host.tone()
        after = host.until(15 * S)

        assert told(before) == [("button-down", 3500 * MS), ("button-up", 3700 * MS)]
        assert told(after) == [
            *[("tone-off", 4800 * MS), ("button-down", 5800 * MS), ("button-up", 6 * S)],
            *[("button-down", 10_800 * MS), ("button-up", 11 * S)],
        ]

    def test_a_tone_ends_the_idle_time(self) -> None:
        host = Host(SimulatedBoard(Scripted(idle={("-", 0): Press(1 * S, 200 * MS)})))
        host.now_us = 999 * MS
        host.tone()

        assert [verb for verb, _ in told(host.until(3 * S))] == ["tone-off"]

    def test_a_press_waits_until_the_button_is_free(self) -> None:
        idle = {("-", 0): Press(900 * MS, 250 * MS)}
        host = Host(SimulatedBoard(Scripted({"r1": Press(150 * MS, 200 * MS)}, idle)))
        host.until(950 * MS)
        host.tone()

        assert told(host.until(1700 * MS)) == [
            ("button-up", 1150 * MS),
            ("button-down", 1150 * MS + PRESS_GAP_US),
            ("button-up", 1350 * MS + PRESS_GAP_US),
        ]

    def test_the_second_button_is_told_by_its_number(self) -> None:
        host = Host(SimulatedBoard(Scripted({"r1": Press(400 * MS, 200 * MS, 2)})))
        host.until(2 * S)
        host.tone()

        assert host.until(4 * S) == [
            (2, "button-down", {"us": "2400000", "button": "2"}),
            (3, "button-up", {"us": "2600000", "button": "2"}),
            (4, "tone-off", {"id": "r1", "us": "2800000", "cut": "0"}),
        ]

    def test_the_buttons_do_not_wait_for_each_other(self) -> None:
        idle = {("-", 0): Press(900 * MS, 250 * MS, 2)}
        host = Host(SimulatedBoard(Scripted({"r1": Press(100 * MS, 150 * MS)}, idle)))
        host.until(950 * MS)
        host.tone()
        events = host.until(1700 * MS)

        assert [(*one, fields.get("button", "1")) for one, (_, _, fields) in
                zip(told(events), events, strict=True)] == [
            ("button-down", 1050 * MS, "1"),
            ("button-up", 1150 * MS, "2"),
            ("button-up", 1200 * MS, "1"),
        ]  # fmt: skip

    def test_the_second_button_has_a_gap_between_its_presses_too(self) -> None:
        idle = {("-", 0): Press(900 * MS, 250 * MS, 2)}
        host = Host(SimulatedBoard(Scripted({"r1": Press(150 * MS, 200 * MS, 2)}, idle)))
        host.until(950 * MS)
        host.tone()

        assert told(host.until(1700 * MS)) == [
            ("button-up", 1150 * MS),
            ("button-down", 1150 * MS + PRESS_GAP_US),
            ("button-up", 1350 * MS + PRESS_GAP_US),
        ]

    @pytest.mark.parametrize(("cut_us", "pressed"), [(100 * MS, True), (100 * MS - 1, False)])
    def test_after_a_cut_the_second_button_is_like_the_first(
        self, cut_us: int, pressed: bool
    ) -> None:
        host = Host(SimulatedBoard(Scripted({"r1": Press(400 * MS, 200 * MS, 2)})))
        host.tone()
        host.now_us = cut_us
        host.ask("stop")
        host.until(3 * S)

        assert ("button-down" in [f[1] for f in host.ask("events", after=0)[1:]]) == pressed

    def test_events_of_the_second_button_are_kept_and_sent_again(self) -> None:
        host = Host(SimulatedBoard(Scripted({"r1": Press(400 * MS, 200 * MS, 2)})))
        host.tone()
        events = host.until(2 * S)

        assert host.ask("events", after=1)[1:] == events
        host.ask("ack", event=2)
        assert host.ask("events", after=0)[1:] == events[1:]

    def test_presses_to_come_are_bounded(self) -> None:
        class Eager(Scripted):
            def answer(self, *_: object) -> Press | None:
                return Press(1200 * MS, 250 * MS)

        host = Host(SimulatedBoard(Eager()))
        for number in range(200):
            host.tone(id=f"t{number}", on=50, n=1)
            host.until(host.now_us + 50 * MS)
        late = host.until(host.now_us + 60 * S)

        assert len([verb for verb, _ in told(late) if verb == "button-down"]) <= 9

    def test_the_simulated_listener_answers_what_is_loud(self) -> None:
        flat = Audiogram((1000.0,), (30.0,))
        listener = SimulatedListener(
            {"left": flat, "right": flat}, lapse_rate=0.0, false_alarm_rate=0.0
        )
        host = Host(SimulatedBoard(listener))

        host.tone(id="loud", dbfs="-70")
        loud = host.until(3 * S)
        host.tone(id="soft", dbfs="-110")
        soft = host.until(6 * S)

        assert "button-down" in [f[1] for f in loud]
        assert "button-down" not in [f[1] for f in soft]


def session(seed: int, steps: Iterator[int]) -> tuple[list[Frame], list[PlayedTone]]:
    """Half a minute of tones at fixed times, with time passing in any steps in between."""
    flat = Audiogram((1000.0,), (40.0,))
    listener = SimulatedListener(
        {"left": flat, "right": flat}, lapse_rate=0.1, false_alarm_rate=0.5, seed=seed
    )
    host = Host(SimulatedBoard(listener))
    frames: list[Frame] = []
    for number in range(12):
        frames += host.ask("tone", **{**TONE, "id": f"t{number}", "dbfs": f"-{75 + number}"})
        wanted_us = host.now_us + 2700 * MS
        while host.now_us < wanted_us:
            step_us = next(steps)
            host.now_us = min(host.now_us + step_us, wanted_us)
            host.board.advance(host.now_us)
    frames += host.ask("ping")
    return frames, host.board.played


def forever(low_us: int, high_us: int, seed: int) -> Iterator[int]:
    generator = random.Random(seed)
    while True:
        yield generator.randint(low_us, high_us)


class TestTime:
    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_events_do_not_depend_on_the_steps(self, seed: int) -> None:
        whole = session(seed, forever(5 * S, 5 * S, seed))

        assert session(seed, forever(1, 40 * MS, seed)) == whole, f"seed {seed}"
        assert session(seed, forever(1 * MS, 900 * MS, seed)) == whole, f"seed {seed}"

    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_events_come_in_order(self, seed: int) -> None:
        frames, _ = session(seed, forever(5 * S, 5 * S, seed))
        events = [f for f in frames if f[1] not in ("ok", "error")]
        times_us = [time_us for _, time_us in told(events)]
        button = [f for f in events if f[1].startswith("button")]
        changes_us = [time_us for _, time_us in told(button)]

        assert [f[0] for f in events] == list(range(1, len(events) + 1)), f"seed {seed}"
        assert times_us == sorted(times_us), f"seed {seed}"
        assert [f[1] for f in button[0::2]] == ["button-down"] * len(button[0::2])
        assert [f[1] for f in button[1::2]] == ["button-up"] * len(button[1::2])
        assert len(button) > 10, f"seed {seed}"
        gaps_us = [down - up for up, down in zip(changes_us[1::2], changes_us[2::2], strict=False)]
        assert min(gaps_us) >= PRESS_GAP_US, f"seed {seed}"

    def test_the_next_deadline_is_told(self, host: Host) -> None:
        host.board.advance(1 * S)
        assert host.board.next_deadline_us() == 2500 * MS

        host.now_us = 1 * S
        host.tone()
        assert host.board.next_deadline_us() == 1 * S + TONE_US

    def test_time_does_not_go_back(self, host: Host) -> None:
        host.board.advance(5)

        with pytest.raises(ValueError, match="now_us is 4, allowed is 5 or later"):
            host.board.advance(4)


class TestOutput:
    def test_is_bounded_when_nobody_reads(self, host: Host) -> None:
        for number in range(2, 1000):
            host.board.receive(encode(number, "ping"), number * MS)

        assert len(host.read()) == OUTPUT_FRAMES_MAX
        assert host.board.dropped == 998 - OUTPUT_FRAMES_MAX
        host.now_us = 999 * MS
        assert host.send(encode(999, "ping"))[0][0] == 999

    def test_can_be_taken_frame_by_frame(self, host: Host) -> None:
        host.board.receive(encode(2, "tone", TONE), 0)

        assert decode(host.board.transmit(frames_max=1))[1] == "ok"
        assert decode(host.board.transmit(frames_max=1))[1] == "tone-on"
        assert host.board.transmit(frames_max=1) == b""

    def test_a_command_may_come_byte_by_byte(self, host: Host) -> None:
        frames = [f for byte in encode(2, "ping") for f in host.send(bytes([byte]))]

        assert frames == [(2, "ok", {"event": "0", "us": "0"})]


class TestRobustness:
    @deterministic
    @given(
        st.lists(
            st.tuples(
                st.integers(1, 6),
                st.sampled_from(["hello", "tone", "stop", "ping", "ack", "events", "ok", "x"]),
                st.dictionaries(
                    st.sampled_from([*TONE, "wire", "host", "event", "after", "what"]),
                    st.sampled_from(["1", "0000000a", "0000000b", "-", "l", "200", "-3.5", "x"]),
                    max_size=8,
                ),
                st.booleans(),
                st.integers(0, 2 * S),
            ),
            max_size=30,
        )
    )
    def test_any_frames_get_one_answer_or_none_and_break_nothing(
        self, commands: list[tuple[int, str, dict[str, str], bool, int]]
    ) -> None:
        host = Host(SimulatedBoard(Scripted({"r1": Press(400 * MS, 200 * MS)})))
        for sequence, verb, fields, whole, step_us in commands:
            host.now_us += step_us
            given_fields = {**TONE, **fields} if whole and verb == "tone" else fields
            text = " ".join(f"{key}={value}" for key, value in given_fields.items())
            body = f"{sequence} {verb} {text}".strip().encode()
            answers = host.send(body + b" *%08x\n" % zlib.crc32(body))
            answers = [f for f in answers if f[1] in ("ok", "error")]

            assert len(answers) <= 1
            assert all(number == sequence for number, _, _ in answers)

    @deterministic
    @given(st.lists(st.binary(max_size=150), max_size=10))
    def test_garbage_is_dropped_in_silence(self, chunks: list[bytes]) -> None:
        host = Host(SimulatedBoard(Scripted()))
        for chunk in chunks:
            assert host.send(chunk) == []


class TestParameters:
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"boot": -1}, "boot is -1, allowed are 0 to 4294967295"),
            ({"boot": 2**32}, "boot is 4294967296, allowed are 0 to 4294967295"),
            ({"output_limit_dbfs": 1.0}, "output_limit_dbfs is 1.0, allowed are -160 to 0"),
            ({"output_limit_dbfs": float("nan")}, "output_limit_dbfs is nan, allowed are"),
            ({"full_scale_db_hl": float("nan")}, "full_scale_db_hl is nan, allowed is a number"),
            ({"serial": "s" * 33}, "allowed are up to 32 characters"),
            ({"host_silence_us": 0}, "host_silence_us is 0, allowed is above 0"),
        ],
    )
    def test_are_checked(self, parameters: dict[str, Any], words: str) -> None:
        with pytest.raises(ValueError, match=re.escape(words)):
            SimulatedBoard(Scripted(), **parameters)
