"""The board's side of the wire: the same answers and events as the simulated board's, and noise."""

import random
from typing import Any

import pytest

from device.simulator.board import SimulatedBoard
from device.tone_generator.server import (
    EVENTS_KEPT_MAX,
    HOST_SILENCE_US,
    OUTPUT_FRAMES_MAX,
    ToneGenerator,
)
from firmware_py.link.frames import decode, encode

Frame = tuple[int, str, dict[str, str]]

MS = 1000
BOOT = 0xB007
TONE: dict[str, str | int] = {
    "id": "r1", "ear": "r", "hz": "1000.00", "dbfs": "-80.00",
    "on": 200, "off": 100, "n": 3, "rise": 25,
}  # fmt: skip
TONE_MS = 800

SERIAL = "e66123456789abcd"


class PunctualOutput:
    """An output whose tones begin when they are asked for and take as long as they should."""

    def __init__(self, has_noise: bool = True) -> None:
        self.has_noise = has_noise
        self.due_ms = 10
        self.now_us = 0
        self.began = self.ended = False
        self.began_us = self.ended_us = 0
        self.end_us: int | None = None
        self.done: list[tuple[Any, ...]] = []

    def play(
        self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: tuple[int, ...]
    ) -> None:
        on_ms, off_ms, pulses, _ = times_ms
        self.done.append(("play", ear, frequency_hz, level_dbfs, times_ms))
        self.began, self.ended, self.began_us = True, False, self.now_us
        self.end_us = self.now_us + MS * (pulses * on_ms + (pulses - 1) * off_ms)

    def cut(self) -> None:
        self.done.append(("cut",))
        self.began = self.ended = False
        self.end_us = None

    def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
        self.done.append(("mask", ear, frequency_hz, level_dbfs))

    def unmask(self) -> None:
        self.done.append(("unmask",))

    def advance(self, now_us: int) -> None:
        self.now_us = now_us
        if self.end_us is not None and now_us >= self.end_us:
            self.ended, self.ended_us, self.end_us = True, self.end_us, None

    def mute(self) -> None:
        self.cut()


class Desk:
    """A board, a clock that a test turns, and frames both ways."""

    def __init__(
        self,
        *,
        limits_dbfs: tuple[float, float] = (0.0, 0.0),
        has_noise: bool = True,
        hello: bool = True,
    ) -> None:
        self.output = PunctualOutput(has_noise)
        self.board = ToneGenerator(self.output, limits_dbfs, BOOT, SERIAL)
        self.now_us = 0
        self.sequence = 0
        if hello:
            self.ask("hello", wire=1, host="0000000a")

    def run(self, duration_ms: int) -> list[Frame]:
        frames = []
        for _ in range(duration_ms):
            self.now_us += MS
            self._advance()
            frames += self.read()
        return frames

    def send(self, line: bytes) -> list[Frame]:
        self._advance()
        self.board.receive(line, self.now_us, self.now_us)
        self._advance()
        return self.read()

    def ask(self, verb: str, **fields: str | int) -> Frame:
        self.sequence += 1
        return self.send(encode(self.sequence, verb, fields))[0]

    def events(self) -> list[str]:
        return [verb for _, verb, _ in self.read()]

    def read(self) -> list[Frame]:
        frames = []
        while (frame := self.board.next_frame()) is not None:
            frames.append(decode(frame))
            self.board.sent()
        return frames

    def _advance(self) -> None:
        self.output.advance(self.now_us)
        self.board.advance(self.now_us)


class Nobody:
    """A listener who never presses."""

    def answer(self, *_question: object) -> None:
        return None

    def spontaneous_press(self, *_question: object) -> None:
        return None


def a_command(chance: random.Random) -> tuple[str, dict[str, str | int]]:
    """Draw a command, most of them right."""
    verb = chance.choice(
        ["tone"] * 4
        + ["stop", "ping", "ping", "ack", "events", "events", "hello", "serial", "sing"]
    )
    fields: dict[str, str | int] = {}
    match verb:
        case "tone":
            fields = dict(TONE, id=f"r{chance.randrange(99)}", ear=chance.choice("lr"))
            fields["dbfs"] = chance.choice(["-80.00", "-19.99", "-20", "-30.5", "0"])
            fields["n"] = chance.choice([1, 3])
        case "ack":
            fields = {"event": chance.randrange(6)}
        case "events":
            fields = {"after": chance.randrange(6)}
        case "hello":
            fields = {"wire": chance.choice([1, 1, 1, 2]), "host": f"0000000{chance.choice('abc')}"}
    if chance.random() < 0.15:
        key = chance.choice([*fields, "z"])
        wrong = ["", "7", "-1", "1.5", "x", "01", "123456789", "1e3", "-"]
        value = chance.choice(wrong)
        if value:
            fields[key] = value
        else:
            fields.pop(key, None)
    return verb, fields


@pytest.mark.parametrize("seed", range(40))
def test_it_answers_like_the_simulated_board(seed: int) -> None:
    chance = random.Random(seed)
    desk = Desk(limits_dbfs=(-20.0, -20.0), has_noise=False, hello=False)
    twin = SimulatedBoard(Nobody(), boot=BOOT, serial=SERIAL, output_limit_dbfs=-20.0)
    sequence = 0
    for _ in range(150):
        sequence = max(1, sequence + chance.choice([1, 1, 1, 1, 1, 0, -1, 5]))
        line = encode(sequence, *a_command(chance))
        if chance.random() < 0.1:
            line = line[: chance.randrange(len(line))] + chance.choice([b"?", b"", b"\n"])
        frames = desk.send(line)
        twin.receive(line, desk.now_us)
        pause_ms = chance.choice([0, 0, 1, 50, 300, 1200])
        frames += desk.run(pause_ms)
        twin.advance(desk.now_us)
        wanted = [decode(frame) for frame in twin.transmit().splitlines(keepends=True)]
        for number, _, fields in wanted:
            if "board" in fields:
                fields["board"] = "pico"
            assert number

        assert frames == wanted


def test_a_tone_has_its_events() -> None:
    desk = Desk()
    assert desk.ask("tone", **TONE)[1] == "ok"
    frames = desk.run(TONE_MS)

    assert desk.output.done == [("cut",), ("play", 1, 1000.0, -80.0, (200, 100, 3, 25))][1:]
    assert [verb for _, verb, _ in frames] == ["tone-off"]
    assert frames[0][2] == {"id": "r1", "us": str(MS * TONE_MS), "cut": "0"}


def test_the_limit_is_one_for_each_ear() -> None:
    desk = Desk(limits_dbfs=(-30.0, -20.0))
    for ear, level, verb in (
        ("l", "-29.99", "error"),
        ("l", "-30.00", "ok"),
        ("r", "-19.99", "error"),
        ("r", "-20.00", "ok"),
    ):
        answer = desk.ask("tone", **{**TONE, "ear": ear, "dbfs": level})
        assert answer[1] == verb
        assert answer[2] == ({"code": "limit"} if verb == "error" else {})
        desk.run(900)


def test_a_limit_of_minus_160_refuses_all_but_silence() -> None:
    desk = Desk(limits_dbfs=(-160.0, -160.0))
    assert desk.ask("tone", **{**TONE, "dbfs": "-159.99"})[2] == {"code": "limit"}


def test_it_falls_silent_when_the_host_has() -> None:
    desk = Desk()
    desk.ask("tone", **{**TONE, "n": 20, "on": 500})
    frames = desk.run(999)
    assert frames == []
    frames = desk.run(1)
    assert frames[0][1:] == ("tone-off", {"id": "r1", "us": str(HOST_SILENCE_US), "cut": "1"})
    assert desk.output.done[-1] == ("cut",)


def test_any_valid_frame_keeps_it_alive() -> None:
    desk = Desk()
    desk.ask("tone", **{**TONE, "n": 20, "on": 500})
    desk.run(900)
    desk.ask("sing")
    desk.run(900)
    desk.send(b"garbage\n")
    assert [frame[1] for frame in desk.run(100)] == ["tone-off"]


def test_a_tone_that_is_stopped_before_it_began_has_both_events() -> None:
    desk = Desk()
    desk.output.play = lambda *_: None  # type: ignore[method-assign]  # it never begins
    desk.ask("tone", **TONE)
    desk.sequence += 1
    frames = desk.send(encode(desk.sequence, "stop"))
    assert [frame[1] for frame in frames] == ["ok", "tone-on", "tone-off"]
    assert desk.ask("tone", **TONE)[1] == "ok"


def test_buttons_are_told_with_their_number() -> None:
    desk = Desk()
    desk.board.button(1, True, 123)
    desk.board.button(2, True, 456)
    desk.board.button(2, False, 789)
    assert desk.read() == [
        (1, "button-down", {"us": "123"}),
        (2, "button-down", {"us": "456", "button": "2"}),
        (3, "button-up", {"us": "789", "button": "2"}),
    ]


def test_a_ping_says_up_to_when_all_is_told() -> None:
    desk = Desk()
    desk.board.receive(encode(9, "ping"), 2000, 1500)
    assert desk.read()[0][2] == {"event": "0", "us": "1500"}


def test_nothing_grows_without_bound() -> None:
    desk = Desk()
    for i in range(500):
        desk.board.button(1, i % 2 == 0, i)
    assert desk.board.dropped == 500 - OUTPUT_FRAMES_MAX
    assert len(desk.read()) == OUTPUT_FRAMES_MAX
    desk.sequence += 1
    frames = desk.send(encode(desk.sequence, "events", {"after": 0}))
    assert [frame[0] for frame in frames[1:]] == list(range(501 - EVENTS_KEPT_MAX, 501))


# Noise


def test_noise_plays_until_it_is_told_not_to() -> None:
    desk = Desk()
    assert desk.ask("mask", ear="l", hz="1000.00", dbfs="-40.00")[1] == "ok"
    assert desk.ask("tone", **TONE)[1] == "ok"
    assert desk.ask("unmask")[1] == "ok"
    assert desk.ask("unmask")[1] == "ok"
    assert [done[0] for done in desk.output.done] == ["mask", "play", "unmask"]
    assert desk.output.done[0] == ("mask", 0, 1000.0, -40.0)


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"ear": "m"}, {"code": "field", "name": "ear"}),
        ({"hz": "99.9"}, {"code": "field", "name": "hz"}),
        ({"dbfs": "-9.99"}, {"code": "field", "name": "dbfs"}),
        ({"id": "x"}, {"code": "field", "name": "id"}),
        ({"dbfs": "-19.99"}, {"code": "limit"}),
    ],
)
def test_wrong_noise_is_refused(fields: dict[str, str], refusal: dict[str, str]) -> None:
    desk = Desk(limits_dbfs=(-20.0, 0.0))
    answer = desk.ask("mask", **{"ear": "l", "hz": "1000", "dbfs": "-40", **fields})
    assert answer[1:] == ("error", refusal)
    assert desk.output.done == []


def test_tone_and_noise_are_never_in_one_ear() -> None:
    desk = Desk()
    desk.ask("mask", ear="r", hz="1000", dbfs="-40")
    assert desk.ask("tone", **TONE)[2] == {"code": "busy"}
    assert desk.ask("tone", **{**TONE, "ear": "l"})[1] == "ok"
    assert desk.ask("mask", ear="l", hz="1000", dbfs="-40")[2] == {"code": "busy"}
    assert desk.ask("mask", ear="r", hz="2000", dbfs="-40")[1] == "ok"


@pytest.mark.parametrize("way", ["stop", "hello", "silence"])
def test_what_ends_a_tone_ends_noise(way: str) -> None:
    desk = Desk()
    desk.ask("mask", ear="r", hz="1000", dbfs="-40")
    match way:
        case "stop":
            desk.ask("stop")
        case "hello":
            desk.ask("hello", wire=1, host="0000000b")
        case _:
            desk.run(1000)
    assert desk.output.done[-1] == ("unmask",)
    assert not desk.board.sounding


@pytest.mark.parametrize("word", ["mask", "unmask", "stop", "hello"])
def test_no_tone_comes_after_noise_that_ended_by_itself_until_the_host_knows(word: str) -> None:
    desk = Desk()
    noise = {"ear": "l", "hz": "1000", "dbfs": "-40"}
    desk.ask("mask", **noise)
    desk.run(1000)
    assert desk.ask("tone", **TONE)[2] == {"code": "noise"}
    assert desk.ask("tone", **TONE)[2] == {"code": "noise"}
    hello = {"wire": "1", "host": "0000000b"}
    desk.ask(word, **{"mask": noise, "hello": hello}.get(word, {}))
    assert desk.ask("tone", **TONE)[1] == "ok"


def test_a_board_without_noise_does_not_know_the_verb() -> None:
    desk = Desk(has_noise=False)
    assert desk.ask("mask", ear="r", hz="1000", dbfs="-40")[2] == {"code": "verb"}
    assert desk.ask("unmask")[2] == {"code": "verb"}
