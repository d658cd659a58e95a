"""The tone for the sound level meter: limited, over by itself, and never in the way of a test."""

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import firmware_py
from device.simulator.microphones import MicrophoneKind
from device.simulator.room_around import RoomAround
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import MS
from device.simulator.world import World
from firmware_py.link.notices import Refused, ToneEnded
from firmware_py.operator.meter_tone import ID_PREFIX, ON_MS, STEP_MS, ToneError
from firmware_py.presenting.presenter import PAUSE_BEFORE
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from tests.firmware.whole_sessions import a_listener, result_of, run_session

pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path / "data", a_listener("S2"))
    world.board.hand.listener = a_listener(lapse_rate=1.0)  # nobody, so far
    world.until(lambda: world.client.connected)
    world.meter_tone.nobody_listens = True
    yield world
    world.close()


def until_state(world: World, state: str) -> None:
    world.until(lambda: world.meter_tone.state == state)


def test_it_sounds_and_is_over_by_itself(world: World) -> None:
    tone = world.meter_tone
    assert tone.state == "silent"

    tone.play(Route("left"), 1000.0, -30.0, -30.0)
    assert tone.state == "asked"
    until_state(world, "sounding")
    began_us = world.clock.us
    until_state(world, "over")

    (played,) = world.board.played
    assert (played.ear, played.frequency_hz, played.level_dbfs) == ("left", 1000.0, -30.0)
    assert not played.cut
    assert world.clock.us - began_us == pytest.approx(ON_MS * MS, abs=100 * MS)


@pytest.mark.parametrize("level_dbfs", [-32.0, -31.5])
def test_above_100_db_hl_the_board_has_its_light_on(tmp_path: Path, level_dbfs: float) -> None:
    """Of a device without a calibration, where 0 dBFS counts as 132 dB HL."""
    world = World(tmp_path / "data", a_listener(lapse_rate=1.0))
    world.until(lambda: world.client.connected)
    lit = []
    assert world.ask("CAL:NOB") == ["OK"]
    assert world.ask(f"CAL:TONE LEFT,1000,{level_dbfs}") == ["OK"]
    while not (world.board.played and world.board.played[-1].level_dbfs == level_dbfs):
        world.step()
        lit.append(world.board.server.sounds.loud)
    assert lit[-1] == (level_dbfs > -32.0)
    assert not any(lit[:-1]) or lit[-1], "those on the way to it are softer"
    world.close()


def test_another_one_ends_it(world: World) -> None:
    tone = world.meter_tone
    for number, level_dbfs in enumerate((-80.0, -70.0)):
        tone.play(Route("right"), 8000.0, level_dbfs, -6.0)
        until_state(world, "sounding")
        assert len(world.board.played) == number + 1
    tone.stop()
    assert tone.state == "silent"
    world.run(100 * MS)
    assert [each.cut for each in world.board.played] == [True, True]


@pytest.mark.parametrize(
    ("level_dbfs", "words"),
    [
        (0.1, "0.1 dBFS: allowed is -120 to 0 dBFS"),
        (float("inf"), "inf dBFS: allowed is -120 to 0 dBFS"),
        (float("nan"), "nan dBFS: allowed is -120 to 0 dBFS"),
    ],
)
def test_what_may_not_be_played_is_named(world: World, level_dbfs: float, words: str) -> None:
    with pytest.raises(ToneError) as refusal:
        world.meter_tone.play(Route("left"), 1000.0, level_dbfs, -30.0)
    assert str(refusal.value) == words
    world.run(100 * MS)
    assert world.board.played == []


def test_the_boards_own_limit_stands(world: World) -> None:
    world.board.server.limits_dbfs = (-20.0, -20.0)
    world.meter_tone.play(Route("left"), 1000.0, -10.0, -10.0)
    until_state(world, "refused limit")
    assert world.board.played == []


def test_a_wire_that_is_cut_is_told(world: World) -> None:
    world.meter_tone.play(Route("left"), 1000.0, -30.0, -30.0)
    world.wire_cut = True
    until_state(world, "lost")


def test_a_test_that_begins_ends_it_and_is_not_disturbed(world: World, tmp_path: Path) -> None:
    world.meter_tone.play(Route("right"), 1000.0, -30.0, -30.0)
    until_state(world, "sounding")
    world.board.hand.listener = a_listener("S2")
    world.begin(Settings(ears="left", seed=3))
    world.finish()

    undisturbed = run_session(tmp_path / "other", a_listener("S2"), {"ears": "left", "seed": 3})
    assert world.board.played[0].cut
    assert result_of(world.journal())["ears"] == result_of(undisturbed)["ears"]


def test_a_refusal_that_is_not_of_a_tests_own_tone_does_not_end_it(world: World) -> None:
    world.begin(Settings(ears="left", seed=3))
    session = world.runner.session
    assert session is not None
    assert session.test.state == PAUSE_BEFORE
    world.runner.notice(Refused("tone", "limit", ""))
    assert not session.over
    world.board.server.limits_dbfs = (-160.0, -160.0)
    world.finish()
    assert session.test.outcome == "aborted", "of its own tone it does"


NOT_SAID = 'ERROR -224,"nobody has said that the earphones are on no ears: CAL:NOB says it, until '


def test_a_loud_tone_is_climbed_to(world: World) -> None:
    """From as soft a one as a test begins with, by 20 dB and a second at a time, in each ear."""
    for line, levels_dbfs in (
        ("CAL:TONE LEFT,1000,-10", [-80.0, -60.0, -40.0, -20.0, -10.0]),
        ("CAL:TONE LEFT,8000,-6", [-6.0]),
        ("CAL:TONE LEFT,8000,-70", [-70.0]),
        ("CAL:TONE LEFT,8000,-30", [-50.0, -30.0]),
        ("CAL:TONE RIGHT,8000,-75", [-80.0, -75.0]),
    ):
        before = len(world.board.played)
        assert world.ask(line) == ["OK"]
        assert world.ask("CAL:TONE?") == ["asked"]
        until_state(world, "over")
        played = [*world.board.played][before:]
        assert [tone.level_dbfs for tone in played] == levels_dbfs
        onsets_us = [tone.onset_us for tone in played]
        steps_us = [late - soon for soon, late in itertools.pairwise(onsets_us)]
        assert all(each >= STEP_MS * MS for each in steps_us)


def test_a_climb_is_over_where_the_start_of_a_step_was_not_told(world: World) -> None:
    """The next step would be more than 20 dB above what is known to have sounded."""
    tone = world.meter_tone
    tone.play(Route("left"), 1000.0, -10.0, -70.0)
    tone.notice(ToneEnded(1, f"{ID_PREFIX}1", 0, cut=False))
    assert (tone.state, tone.sounds) == ("silent", False), "nobody waits for what does not come"
    world.run(5 * STEP_MS * MS)
    assert not world.board.played


@pytest.mark.parametrize(
    "line",
    ["TONE LEFT,1000,40", "TONE LEFT,1000,999", "SESS:STAR LEFT,SEED=3", "*RST", "press", "board"],
)
def test_that_nobody_listens_holds_until_somebody_does(world: World, line: str) -> None:
    """A listener's tone, a test, a press, another board: after each it has to be said again."""
    assert world.ask("CAL:TONE LEFT,1000,-80") == ["OK"]
    match line:
        case "press":
            world.board.server.button(1, True, world.board.now_us)
            world.run(100 * MS)  # an operator who says nothing has left at last, too
        case "board":
            world.swap_board(SimulatedBoard(a_listener("S2"), boot=2))
            world.until(lambda: not world.meter_tone.nobody_listens)
            world.until(lambda: world.client.connected)
        case _:
            world.ask(line)
    world.ask("SESS:ABOR")
    world.until(lambda: not world.meter_tone.sounds)
    (refused,) = world.ask("CAL:TONE LEFT,1000,-80")
    assert refused.startswith(NOT_SAID)
    assert world.ask("CAL:NOB") == ["OK"]
    assert world.ask("CAL:TONE LEFT,1000,-80") == ["OK"]


def test_a_board_without_a_microphone_hears_none(world: World) -> None:
    assert world.ask("CAL:MIC?") == ["none"]


def test_the_board_tells_what_is_before_its_microphone_tones_as_well(world: World) -> None:
    in_cushion = RoomAround(microphone=MicrophoneKind(cushion_db_spl=120.0))
    world.swap_board(SimulatedBoard(a_listener(lapse_rate=1.0), boot=2, room=in_cushion))
    world.until(lambda: world.client.hears_room and world.client.connected)
    world.meter_tone.nobody_listens = True
    assert world.ask("CAL:MIC?") == ["-"]
    world.run(100 * MS)
    silent = dict(each.split(",") for each in world.ask("CAL:MIC?")[0].split(";"))
    assert (silent["1000"], silent["8000"]) == ("11.5", "20.5")

    world.meter_tone.play(Route("left"), 1000.0, -43.0, -43.0)
    until_state(world, "sounding")
    world.ask("CAL:MIC?")
    world.run(100 * MS)
    heard = dict(each.split(",") for each in world.ask("CAL:MIC?")[0].split(";"))
    assert heard == {**silent, "1000": "77.0"}


def test_only_one_module_gives_sounds_to_an_ear() -> None:
    """Every sound is granted by `sounds.py`: nobody else has a client play, mask or use a setting.

    By whatever name a client goes: nobody else so much as names what gives a sound.
    """
    root = Path(firmware_py.__file__).parent
    gives, by_sounds = {"play", "mask", "use"}, {"self.manual_tone", "self.for_meter"}
    of_the_wire = re.compile(r"request\(\s*\"(tone|mask)\"|f\"(play|set) ")
    found = set[str]()
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute))
        whose = {ast.unparse(node.value) for node in named if node.attr in gives}
        if whose - by_sounds or of_the_wire.search(text):
            found.add(str(path.relative_to(root)))
    assert found == {"board/sounds.py", "link/client.py", "link/aid.py"}


def test_pulses_are_those_of_a_test(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """So its rise and fall, and the plateau between, are what a listener is given."""
    sent: list[bytes] = []
    take = world.board.receive

    def receive(data: bytes, now_us: int) -> None:
        sent.append(data)
        take(data, now_us)

    monkeypatch.setattr(world.board, "receive", receive)
    world.meter_tone.play(Route("left"), 1000.0, -30.0, -30.0, Settings())
    until_state(world, "over")
    (line,) = [each for each in b"".join(sent).splitlines() if b" tone " in each]
    assert b"on=260 off=190 n=11 rise=35" in line
