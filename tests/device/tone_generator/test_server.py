"""What the wire page leaves to the board's program: its output, its limits, its bounds."""

from typing import Any

import pytest

from device.tone_generator.outbox import FRAMES_MAX
from device.tone_generator.server import ToneGenerator
from device.tone_generator.sounding import EARPHONES
from tests.link.example import TONE, ExampleHost


class TardyOutput:
    """An output that notes what it is told to do; no tone begins unless a test says so."""

    has_noise = True

    def __init__(self, transducers: int = EARPHONES) -> None:
        self.transducers = transducers
        self.began_us: int | None = None
        self.ended_us: int | None = None
        self.done: list[tuple[Any, ...]] = []

    def lead(self, ear: int, via: int) -> None:
        self.done.append(("lead", ear, via))

    def play(
        self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: tuple[int, ...]
    ) -> None:
        self.done.append(("play", ear, frequency_hz, level_dbfs, times_ms))
        self.began_us = self.ended_us = None

    def cut(self) -> None:
        self.done.append(("cut",))

    def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
        self.done.append(("mask", ear, frequency_hz, level_dbfs))

    def unmask(self) -> None:
        self.done.append(("unmask",))


class Line:
    def __init__(
        self, limits_dbfs: tuple[float, ...] = (0.0, 0.0), transducers: int = EARPHONES
    ) -> None:
        self.output = TardyOutput(transducers)
        self.server = ToneGenerator(self.output, limits_dbfs, boot=1, serial="s")

    def advance(self, now_us: int) -> None:
        self.server.advance(now_us)

    def receive(self, data: bytes, now_us: int) -> None:
        self.server.receive(data, now_us, now_us - 500)

    def transmit(self) -> bytes:
        return self.server.outbox.take()


LIMIT = ("error", {"code": "limit"})
VIBRATOR = 3  # `transducers` of a board with one, and earphones
OF_EARS = (-30.0, -20.0)
OF_BONE = (-40.0, -30.0, -10.0)


@pytest.mark.parametrize(
    ("limits_dbfs", "fields", "answer"),
    [
        (OF_EARS, {"ear": "l", "dbfs": "-29.99"}, LIMIT),
        (OF_EARS, {"ear": "l", "dbfs": "-30.00"}, ("ok", {})),
        (OF_EARS, {"ear": "r", "dbfs": "-19.99"}, LIMIT),
        (OF_EARS, {"ear": "r", "dbfs": "-20.00"}, ("ok", {})),
        ((-160.0, -160.0), {"dbfs": "-159.99"}, LIMIT),  # of a board without right settings
        (OF_BONE, {"via": 1, "dbfs": "-9.99"}, LIMIT),
        (OF_BONE, {"via": 1, "dbfs": "-10.00"}, ("ok", {})),
        (OF_BONE, {"via": 0, "dbfs": "-29.99"}, LIMIT),
        (OF_BONE, {"via": 2, "dbfs": "-50.00"}, ("error", {"code": "field", "name": "via"})),
        ((0.0, 0.0), {"via": 1, "dbfs": "-160.00"}, LIMIT),  # which nobody has said
    ],
)
def test_the_limit_is_one_for_each_ear_and_one_for_the_vibrator(
    limits_dbfs: tuple[float, ...], fields: dict[str, Any], answer: Any
) -> None:
    host = ExampleHost(Line(limits_dbfs, VIBRATOR if "via" in fields else EARPHONES))
    assert host.answer("tone", **{**TONE, "ear": "r", **fields}) == answer


def test_nothing_plays_in_place_of_a_transducer_for_which_there_is_no_output() -> None:
    """Though hosts and messages know of it."""
    assert ExampleHost(Line(OF_BONE, VIBRATOR)).answer("serial")[1]["transducers"] == "3"
    line = Line()
    host = ExampleHost(line)
    assert "transducers" not in host.answer("serial")[1]
    assert host.answer("tone", **TONE, via=1) == ("error", {"code": "field", "name": "via"})
    assert line.output.done == []
    assert host.answer("tone", **TONE, via=0) == ("ok", {})


@pytest.mark.parametrize("by_bone", [False, True])
def test_the_output_is_told_what_to_play_where_and_when_to_stop(by_bone: bool) -> None:
    line = Line((0.0, 0.0, 0.0), VIBRATOR if by_bone else EARPHONES)
    host = ExampleHost(line)
    host.ask("mask", ear="l", hz="1000.00", dbfs="-40.00")
    host.ask("tone", **TONE, via=int(by_bone))
    host.ask("unmask")
    host.ask("stop")
    done = [
        ("lead", 0, 0), ("mask", 0, 1000.0, -40.0),
        ("lead", 1, 1), ("play", 1, 1000.0, -80.0, (200, 100, 3, 25)), ("unmask",), ("cut",),
    ]  # fmt: skip
    assert line.output.done == [each for each in done if by_bone or each[0] != "lead"]


def test_a_tone_has_the_times_of_its_output() -> None:
    line = Line()
    host = ExampleHost(line)
    assert [frame.verb for frame in host.ask("tone", **TONE)] == ["ok"]
    line.output.began_us = 7000
    line.advance(9000)
    assert host.read() == [(1, "tone-on", {"id": "r1", "us": "7000"})]
    line.output.ended_us = 807_000
    line.advance(810_000)
    assert host.read() == [(2, "tone-off", {"id": "r1", "us": "807000", "cut": "0"})]


def test_a_tone_that_is_stopped_before_it_began_has_both_events() -> None:
    host = ExampleHost(Line())
    host.ask("tone", **TONE)
    assert [frame.verb for frame in host.ask("stop")] == ["ok", "tone-on", "tone-off"]
    assert host.answer("tone", **TONE) == ("ok", {})


def test_a_press_cuts_the_tone_and_nothing_else() -> None:
    line = Line()
    host = ExampleHost(line)
    host.ask("mask", ear="l", hz="1000.00", dbfs="-40.00")
    host.ask("tone", **TONE, buttons=2, press=100)
    line.server.button(2, True, 4000)
    assert line.output.done[-1][0] == "play", "it has not begun yet"
    line.server.button(2, False, 5000)
    line.output.began_us = 7000
    line.advance(109_000)
    host.read()
    line.server.button(2, True, 106_999)
    line.server.button(1, True, 107_000)
    line.server.button(2, False, 107_000)
    assert line.output.done[-1][0] == "play", "too early, another one, and a release"
    line.advance(112_000)
    line.server.button(2, True, 107_000)

    assert line.output.done[-1] == ("cut",)
    assert host.read()[-2:] == [
        (7, "button-down", {"us": "107000", "button": "2"}),
        (8, "tone-off", {"id": "r1", "us": "112000", "cut": "1"}),
    ]
    assert line.server.sounding, "the noise does"


@pytest.mark.parametrize(
    ("end_first", "told"),
    [
        (True, ["tone-on", "tone-off", "button-down"]),
        (False, ["tone-on", "button-down", "tone-off"]),
    ],
)
def test_a_press_beside_the_end_of_the_tone_ends_nothing(end_first: bool, told: list[str]) -> None:
    line = Line()
    host = ExampleHost(line)
    host.ask("tone", **TONE, buttons=1, press=100)
    line.output.began_us = 7000
    line.advance(8000)
    line.output.ended_us = 807_000
    if end_first:
        line.advance(810_000)
    line.server.button(1, True, 806_000)
    line.advance(810_000)

    assert [frame.verb for frame in host.read()] == told
    assert ("cut",) not in line.output.done


def test_a_ping_says_up_to_when_all_is_told() -> None:
    host = ExampleHost(Line())
    host.now_us = 2000
    assert host.answer("ping") == ("ok", {"event": "0", "us": "1500"})


def test_nothing_grows_without_bound() -> None:
    line = Line()
    host = ExampleHost(line)
    for i in range(500):
        line.server.button(1, i % 2 == 0, i)
    assert line.server.dropped == 500 - FRAMES_MAX
    assert len(host.read()) == FRAMES_MAX


def test_a_name_that_does_not_fit_the_answer_to_hello_is_refused() -> None:
    with pytest.raises(ValueError, match="too long for the answer to hello"):
        ToneGenerator(TardyOutput(), (0.0, 0.0), 1, "s", "wonderful")
