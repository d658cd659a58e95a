"""The simulated board: what it plays, who listens, and its time. `tests/link` has the wire."""

import random
from collections.abc import Iterator

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.hand import PRESS_GAP_US
from device.simulator.listener import Ear, Listener, Noise, Press, SimulatedListener, Tone
from device.simulator.simulated_board import PLAYED_MAX, PlayedNoise, PlayedTone, SimulatedBoard
from tests.link.example import TONE, ExampleHost, Frame, write

MS = 1000
S = 1_000_000
TONE_US = 800 * MS


class Scripted(Listener):
    """A listener who does what a test says."""

    def __init__(
        self,
        answers: dict[str, Press] | None = None,
        idle: dict[tuple[str, int], Press] | None = None,
    ) -> None:
        self.answers = answers or {}
        self.idle = idle or {}
        self.asked: list[Tone] = []

    def answer(self, tone: Tone) -> Press | None:
        self.asked.append(tone)
        return self.answers.get(tone.tone_id)

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        return self.idle.get((after_id, slot))


class Host(ExampleHost):
    """The other end of the line, and the simulated board there."""

    board: SimulatedBoard

    def tone(self, **changes: str | int) -> tuple[str, dict[str, str]]:
        return self.answer("tone", **{**TONE, **changes})


def verbs_and_times(frames: list[Frame]) -> list[tuple[str, int]]:
    return [(verb, int(fields["us"])) for _, verb, fields in frames]


@pytest.fixture
def host() -> Host:
    return Host(SimulatedBoard(Scripted()))


@pytest.mark.parametrize(("ear", "side"), [("l", "left"), ("r", "right")])
def test_a_tone_is_played_in_its_ear_and_the_listener_is_asked(ear: str, side: Ear) -> None:
    listener = Scripted()
    host = Host(SimulatedBoard(listener))
    host.until(3 * S)
    host.tone(ear=ear)
    host.until(5 * S)

    assert host.board.played == [PlayedTone("r1", side, 1000.0, -80.0, onset_us=3 * S, cut=False)]
    assert listener.asked == [Tone("r1", side, 1000.0, 52.0)]


def test_played_tones_are_kept_in_bounded_number() -> None:
    host = Host(SimulatedBoard(Scripted()))
    for number in range(PLAYED_MAX + 5):
        host.tone(id=f"t{number}", on=50, n=1)
        host.now_us += 100 * MS

    assert len(host.board.played) == PLAYED_MAX
    assert host.board.played[0].tone_id == "t5"


def test_the_listener_hears_the_noise_at_its_effective_level() -> None:
    listener = Scripted()
    host = Host(SimulatedBoard(listener))

    assert host.answer("mask", ear="l", hz="1000", dbfs="-60") == ("ok", {})
    assert host.answer("tone", **TONE) == ("ok", {})
    noise = Noise("left", 1000.0, 132.0 - 60.0 - 6.0)  # 6 dB: ISO 389-4
    assert [tone.noise for tone in listener.asked] == [noise]
    assert host.board.played[0].noise == PlayedNoise("left", 1000.0, -60.0)


@pytest.mark.parametrize("silence_us", [50 * MS, 10 * S])
def test_the_time_until_silence_can_be_set(silence_us: int) -> None:
    host = Host(SimulatedBoard(Scripted(), host_silence_us=silence_us))
    host.tone(on=5000, n=20)
    host.board.advance(100 * S)

    assert verbs_and_times(host.read()) == [("tone-off", silence_us)]


def test_an_answered_tone_is_told() -> None:
    host = Host(SimulatedBoard(Scripted({"r1": Press(400 * MS, 200 * MS)})))
    host.until(2 * S)
    host.tone()

    assert host.until(4 * S) == [
        (2, "button-down", {"us": "2400000"}),
        (3, "button-up", {"us": "2600000"}),
        (4, "tone-off", {"id": "r1", "us": "2800000", "cut": "0"}),
    ]


def test_a_press_ends_the_tone_at_its_very_time_however_far_time_goes_at_once() -> None:
    host = Host(SimulatedBoard(Scripted({"r1": Press(412_345, 200 * MS)})))
    host.ask("mask", ear="l", hz="1000", dbfs="-60")
    host.tone(buttons=1, press=100)
    host.board.advance(900 * MS)

    assert [(verb, fields["us"]) for _, verb, fields in host.read()] == [
        ("button-down", "412345"), ("tone-off", "412345"), ("button-up", "612345"),
    ]  # fmt: skip
    assert [tone.cut for tone in host.board.played] == [True]
    assert host.board.tone is None
    assert host.board.noise == PlayedNoise("left", 1000.0, -60.0)


@pytest.mark.parametrize(
    ("cut_us", "pressed"), [(500 * MS, True), (100 * MS, True), (100 * MS - 1, False)]
)
def test_after_a_cut_only_a_press_on_its_way_comes(cut_us: int, pressed: bool) -> None:
    host = Host(SimulatedBoard(Scripted({"r1": Press(400 * MS, 200 * MS)})))
    host.tone()
    host.now_us = cut_us
    host.ask("stop")
    host.until(3 * S)

    events = [f[1] for f in host.ask("events", after=0)[1:]]
    assert ("button-down" in events) == pressed
    assert ("button-up" in events) == pressed


def test_an_answer_may_come_after_the_tone() -> None:
    host = Host(SimulatedBoard(Scripted({"r1": Press(1200 * MS, 200 * MS)})))
    host.tone(n=1)

    assert verbs_and_times(host.until(3 * S)) == [
        *[("tone-off", 200 * MS), ("button-down", 1200 * MS), ("button-up", 1400 * MS)]
    ]


def test_idle_slots_count_from_the_start_and_from_each_tone() -> None:
    press = Press(1 * S, 200 * MS)
    idle = {("-", 1): press, ("r1", 0): press, ("r1", 2): press}
    host = Host(SimulatedBoard(Scripted(idle=idle)))
    before = host.until(4 * S)
    host.tone()
    after = host.until(15 * S)

    assert verbs_and_times(before) == [("button-down", 3500 * MS), ("button-up", 3700 * MS)]
    assert verbs_and_times(after) == [
        *[("tone-off", 4800 * MS), ("button-down", 5800 * MS), ("button-up", 6 * S)],
        *[("button-down", 10_800 * MS), ("button-up", 11 * S)],
    ]


def test_a_tone_ends_the_idle_time() -> None:
    host = Host(SimulatedBoard(Scripted(idle={("-", 0): Press(1 * S, 200 * MS)})))
    host.now_us = 999 * MS
    host.tone()

    assert [verb for verb, _ in verbs_and_times(host.until(3 * S))] == ["tone-off"]


def test_a_press_waits_until_the_button_is_free() -> None:
    idle = {("-", 0): Press(900 * MS, 250 * MS)}
    host = Host(SimulatedBoard(Scripted({"r1": Press(150 * MS, 200 * MS)}, idle)))
    host.until(950 * MS)
    host.tone()

    assert verbs_and_times(host.until(1700 * MS)) == [
        ("button-up", 1150 * MS),
        ("button-down", 1150 * MS + PRESS_GAP_US),
        ("button-up", 1350 * MS + PRESS_GAP_US),
    ]


def test_the_buttons_do_not_wait_for_each_other() -> None:
    idle = {("-", 0): Press(900 * MS, 250 * MS, 2)}
    host = Host(SimulatedBoard(Scripted({"r1": Press(100 * MS, 150 * MS)}, idle)))
    host.until(950 * MS)
    host.tone()
    events = host.until(1700 * MS)

    assert [(verb, fields) for _, verb, fields in events] == [
        ("button-down", {"us": "1050000"}),
        ("button-up", {"us": "1150000", "button": "2"}),
        ("button-up", {"us": "1200000"}),
    ]


def test_a_second_press_comes_whatever_the_first_one_ended() -> None:
    twice = Press(400 * MS, 200 * MS, again_us=500 * MS)
    host = Host(SimulatedBoard(Scripted({"r1": twice})))
    host.tone(buttons=1, press=100)
    host.until(600 * MS)
    host.tone(id="r2")

    presses = [us for verb, us in verbs_and_times(host.until(5 * S)) if verb == "button-down"]
    assert presses == [900 * MS]


def test_a_second_press_does_not_come_without_the_first() -> None:
    twice = Press(900 * MS, 200 * MS, again_us=500 * MS)
    host = Host(SimulatedBoard(Scripted({"r1": twice})))
    host.tone()
    host.now_us = 100 * MS
    host.ask("stop")

    assert "button-down" not in [verb for verb, _ in verbs_and_times(host.until(5 * S))]


def test_a_beat_goes_on_whatever_is_played() -> None:
    beat = Press(700 * MS, 100 * MS, again_us=S, for_good=True)
    host = Host(SimulatedBoard(Scripted(idle={("-", 0): beat})))
    told_of = []
    for number in range(6):
        host.tone(id=f"t{number}", on=50, n=1)
        told_of += verbs_and_times(host.until(host.now_us + S))

    presses = [us for verb, us in told_of if verb == "button-down"]
    assert presses == [700 * MS + number * S for number in range(6)]


def test_presses_to_come_are_bounded() -> None:
    eager = {f"t{number}": Press(1200 * MS, 250 * MS) for number in range(200)}
    host = Host(SimulatedBoard(Scripted(eager)))
    for number in range(200):
        host.tone(id=f"t{number}", on=50, n=1)
        host.until(host.now_us + 50 * MS)
    late = host.until(host.now_us + 60 * S)

    assert len([verb for verb, _ in verbs_and_times(late) if verb == "button-down"]) <= 9


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


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_events_do_not_depend_on_the_steps(seed: int) -> None:
    whole = session(seed, forever(5 * S, 5 * S, seed))

    assert session(seed, forever(1, 40 * MS, seed)) == whole, f"seed {seed}"
    assert session(seed, forever(1 * MS, 900 * MS, seed)) == whole, f"seed {seed}"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_events_come_in_order(seed: int) -> None:
    frames, _ = session(seed, forever(5 * S, 5 * S, seed))
    events = [f for f in frames if f[1] not in ("ok", "error")]
    times_us = [time_us for _, time_us in verbs_and_times(events)]
    button = [f for f in events if f[1].startswith("button")]
    changes_us = [time_us for _, time_us in verbs_and_times(button)]

    assert [f[0] for f in events] == list(range(1, len(events) + 1)), f"seed {seed}"
    assert times_us == sorted(times_us), f"seed {seed}"
    assert [f[1] for f in button[0::2]] == ["button-down"] * len(button[0::2])
    assert [f[1] for f in button[1::2]] == ["button-up"] * len(button[1::2])
    assert len(button) > 10, f"seed {seed}"
    gaps_us = [down - up for up, down in zip(changes_us[1::2], changes_us[2::2], strict=False)]
    assert min(gaps_us) >= PRESS_GAP_US, f"seed {seed}"


def test_the_next_deadline_is_told(host: Host) -> None:
    host.board.advance(1 * S)
    assert host.board.next_deadline_us() == 2500 * MS

    host.now_us = 1 * S
    host.tone()
    assert host.board.next_deadline_us() == 1 * S + TONE_US


def test_time_does_not_go_back(host: Host) -> None:
    host.board.advance(5)

    with pytest.raises(ValueError, match="now_us is 4, allowed is 5 or later"):
        host.board.advance(4)


def test_output_can_be_taken_frame_by_frame(host: Host) -> None:
    host.board.receive(write(2, "tone", **TONE), 0)

    assert b" ok " in host.board.transmit(frames_max=1)
    assert b" tone-on " in host.board.transmit(frames_max=1)
    assert host.board.transmit(frames_max=1) == b""
