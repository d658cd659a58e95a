"""The whole device at the mercy of ports, disk, operator and listener, in no time.

Whatever happens, there are clear words on the console and at the end, the exit code that belongs to
them, silence, and nothing is lost that was recorded.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from device.simulator.listener import Press, SimulatedListener, Tone
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import S
from device.simulator.world import World
from firmware_py.firmware import FirmwareError
from firmware_py.installation.configuration import Configuration
from firmware_py.journal import read_journal
from firmware_py.platform.program import EXIT_TONE_GENERATOR
from firmware_py.sessions.replay import replay
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from host_tools.recordings.replayed import IDENTICAL, UNFINISHED, replay_journal
from tests.budget import quick
from tests.firmware.crash import assert_like_undisturbed
from tests.firmware.device import Device, Peer
from tests.firmware.test_golden import UNCALIBRATED_SERIAL
from tests.firmware.whole_sessions import a_listener, records_of, result_of, run_session, stimuli_of

# They are compared with the same session, which is run once.
pytestmark = [pytest.mark.usefixtures("quick_disk"), pytest.mark.xdist_group("disturbed")]

SETTINGS = Settings.from_record({"ears": "left", "seed": 3})
BEGIN = "SESS:STAR LEFT,SEED=3"


@pytest.fixture(scope="session")
def quiet_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("undisturbed")
    return run_session(directory, a_listener("S2"), {"ears": "left", "seed": 3})


def begin(directory: Path, listener: SimulatedListener | None = None) -> World:
    world = World(directory, listener or a_listener("S2"))
    world.begin(SETTINGS)
    return world


def is_told(world: World, what: str, **about: object) -> bool:
    return any(name == what and {**said, **about} == said for name, said in world.told)


def in_tone(world: World, number: int) -> World:
    world.until(lambda: is_told(world, "tone", number=number))
    return world


def state(world: World) -> str:
    """Return what the operator is told of the test."""
    world.until(lambda: world.client.connected and world.console.is_open)
    (told,) = world.ask("SESS:STAT?")
    return told


def assert_ends(device: Device, code: int, *words: str) -> str:
    """Its end has this code, and these words are said to the operator too; return them."""
    with pytest.raises(FirmwareError) as end:
        device.run_out()
    said = str(end.value)
    assert end.value.code == code, said
    for each in words:
        assert each in said
    assert device.heard.splitlines()[-1].endswith(f',"{said}"')
    assert device.heard.splitlines()[-1].startswith("ERROR ")
    return said


# The tone generator


NO_BOARDS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "nobody": (lambda _: b"", "'hello' was sent 9 times without answer"),
    "noise": (lambda _: random.Random(1).randbytes(200), "bytes came that are not of the wire"),
    "echo": (lambda come: come, "frames came, but none that answers (does the line echo?)"),
}


@pytest.mark.parametrize("who", NO_BOARDS)
def test_who_is_no_board_is_named_at_both_ends(tmp_path: Path, who: str) -> None:
    answer, words = NO_BOARDS[who]
    device = Device(tmp_path, board=Peer(answer), speed=1)
    assert_ends(device, EXIT_TONE_GENERATOR, "no tone generator at '/dev/tone-generator': ", words)


def lose_board_in_a_tone(directory: Path) -> Device:
    """Run a device whose board is unplugged in its first tone, for good."""
    device = Device(directory, Configuration(reconnect_s=3.0), 1, a_listener(lapse_rate=1.0))
    device.type(BEGIN)
    device.when(lambda: device.board.tone is not None, device.tones.vanish)
    words = "is gone", "the session is kept and goes on at the next start"
    assert_ends(device, EXIT_TONE_GENERATOR, *words)
    return device


def test_a_port_that_vanishes_in_a_tone_for_good(tmp_path: Path) -> None:
    board = lose_board_in_a_tone(tmp_path).board
    board.advance(board.now_us + board.host_silence_us)
    assert [(tone.cut, board.tone) for tone in board.played] == [(True, None)]
    journal = tmp_path / "session-000001.journal"
    inputs = [event["what"] for event in records_of(journal, "input")]
    assert inputs[-1] in ("board-lost", "time")
    assert "board-lost" in inputs
    assert replay_journal(journal).code == UNFINISHED
    assert "presentation=1 tones=0" in state(World(tmp_path, a_listener(), boot=2))


def test_a_test_taken_up_when_its_board_had_been_lost_says_so_too(tmp_path: Path) -> None:
    """Its journal has the loss, and the return, as it has them without a new start."""
    journal = lose_board_in_a_tone(tmp_path).directory / "session-000001.journal"
    world = World(tmp_path, a_listener(), boot=2)
    assert " resumed=1 " in state(world)
    world.until(lambda: replay(read_journal(journal).records).resumed == 1)
    world.close()


@pytest.mark.parametrize("serial", quick([UNCALIBRATED_SERIAL, "e66123"], "e66123"))
def test_a_port_that_vanishes_in_a_tone_and_comes_back_with_another_board(
    tmp_path: Path, quiet_session: Path, serial: str
) -> None:
    """One with a number of its own is known by it: then the operator has to say to go on.

    The test is uncalibrated: with a calibration it would go on with its own board only.
    """
    own = UNCALIBRATED_SERIAL
    board = SimulatedBoard(a_listener("S2"), boot=1, serial=own)
    world = World(tmp_path, a_listener("S2"), board=board)
    world.begin(SETTINGS)
    in_tone(world, 4)
    world.swap_board(SimulatedBoard(a_listener("S2"), boot=2, serial=serial))
    is_another = serial != own
    differs = f"tone generator: now there is 'sim {serial}', it began with 'sim {own}'"
    if is_another:
        world.until(lambda: is_told(world, "board-ready"))
        words = f' check=identity why="{differs}: are the levels the same?"'
        assert words in state(world)
        tones = len(world.board.played)
        world.run(60 * S)
        assert len(world.board.played) == tones, "nothing is played before the operator's word"
        assert world.ask("SESS:CONT") == ["OK"]
    world.finish()
    assert is_told(world, "board-lost")
    assert stimuli_of(world.journal()) == stimuli_of(quiet_session)
    assert replay_journal(world.journal()).code == IDENTICAL

    lost, *another = world.errors()
    assert lost.startswith("101,")
    waits = f"session 1 waits: {differs}: are the levels the same?"
    assert another == [f'105,"{differs}"', f'111,"{waits}"'] * is_another
    (ear,) = result_of(world.journal())["ears"]
    assert ear["boards"] == [f"sim {own}", *[f"sim {serial}"] * is_another]
    assert any(each["code"] == "several-boards" for each in ear["reasons"]) is is_another
    world.close()


# Starting again


def test_a_test_that_goes_on_says_so_wherever_somebody_looks(
    tmp_path: Path, quiet_session: Path
) -> None:
    world = World(tmp_path, a_listener("S2"), configuration=Configuration(events=True))
    world.begin(SETTINGS)
    assert world.ready
    assert " goes on" not in world.ready
    for life, answered in ((1, 3), (2, 6)):
        world.until(lambda n=answered: is_told(world, "answer", number=n))  # type: ignore[misc]
        world.restart()
        tones = replay(read_journal(world.journal()).records).test.ears[Route("left")].tally.tones
        assert f" resumed={life} " in state(world)
        assert (
            f"; session 1 goes on, tones so far: {tones}; CALIBRATED (simulated board)"
            in world.ready
        )
        assert f"! resumed session=1 tones={tones}\r\n" in world.heard
    world.finish()
    assert_like_undisturbed(world.journal(), quiet_session)
    assert replay(read_journal(world.journal()).records).resumed == 2

    world.restart()
    assert " resumed=2 " in state(world)
    assert " goes on" not in world.ready
    world.begin(SETTINGS)
    assert " resumed=0 " in state(world)
    world.close()


def test_who_asks_later_what_happens_is_told_of_a_test_that_goes_on(tmp_path: Path) -> None:
    """The events were off when it was taken up."""
    world = begin(tmp_path, a_listener(lapse_rate=1.0))
    world.until(lambda: world.board.played != [])
    world.restart()
    state(world)
    for _ in range(2):
        assert world.ask("SYST:EVEN ON") == ["OK"]
        state(world)
        assert world.heard.count("! resumed session=1 tones=0\r\n") == 1, "and once"
    world.close()


def test_time_may_run_a_thousand_times_as_fast(tmp_path: Path) -> None:
    world = World(tmp_path, a_listener("S2"), speed=1000)
    assert replay_journal(world.live({"ears": "left", "seed": 3})).code == IDENTICAL


# The button


class Clinging(SimulatedListener):
    """Somebody who does not let go of the button for a long time, once."""

    HELD_US = 10_000_000
    once = True

    def answer(self, tone: Tone) -> Press | None:
        press = super().answer(tone)
        if press is None or not self.once:
            return press
        self.once = False
        return replace(press, hold_us=self.HELD_US)


def test_a_button_that_is_held_down_pauses_the_test_before_silence_counts(
    tmp_path: Path, quiet_session: Path
) -> None:
    listener = a_listener("S2")
    listener.__class__ = Clinging
    world = begin(tmp_path, listener)
    world.until(lambda: is_told(world, "error", number=106))
    assert state(world).startswith("state=paused")
    words = '106,"button 1 is held down; the test is paused: let go of it, then SESS:CONT"'
    assert world.errors() == [words]

    def goes_on() -> bool:
        world.ask("SESS:CONT")  # at once paused again until the button is up
        return "presentation=5" in state(world)

    world.until(goes_on)

    events = [event["what"] for event in records_of(world.journal(), "input")]
    assert events.index("button-down") < events.index("paused") < events.index("continued")
    found = stimuli_of(world.journal())
    assert found == stimuli_of(quiet_session)[: len(found)]
    world.close()


def test_a_button_that_is_let_go_of_before_the_next_tone_is_over_pauses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = a_listener("S2")
    listener.__class__ = Clinging
    shortest_us = 1000 * (SETTINGS.pause_ms_min + SETTINGS.window_ms_min)
    monkeypatch.setattr(Clinging, "HELD_US", shortest_us - S // 10)
    world = begin(tmp_path, listener)
    world.until(lambda: "presentation=5" in state(world) or is_told(world, "error", number=106))
    assert "once" in vars(listener), "it was held"
    assert world.errors() == []
    world.close()


def test_no_test_is_begun_with_a_button_that_was_held_down_before(tmp_path: Path) -> None:
    world = World(tmp_path, a_listener("S2"))
    world.board.hand.intend(Press(0, 10**12), 0)
    state(world)
    words = ['ERROR 106,"button 1 is held down; no test was begun"']
    world.until(lambda: world.ask("SESS:STAR ID=../x,SEED=3") == words)
    assert not [*tmp_path.glob("*.journal")]
    world.close()


# What is the same, and what is not


def test_another_session_than_the_undisturbed_one_is_seen_to_be_another(
    tmp_path: Path, quiet_session: Path
) -> None:
    other = run_session(tmp_path, a_listener("N3"), {"ears": "left", "seed": 3})
    with pytest.raises(AssertionError):
        assert_like_undisturbed(other, quiet_session)


# The vibrator


@pytest.fixture
def at_placing(tmp_path: Path) -> World:
    """A test that waits for the vibrator."""
    world = World(tmp_path, a_listener("S2"), configuration=Configuration(events=True))
    world.begin(Settings.from_record({"ears": "left", "seed": 3, "routes": "air, bone"}))
    world.until(lambda: is_told(world, "placing"))
    return world


def test_a_test_that_waits_for_the_vibrator_says_so_to_whoever_comes(at_placing: World) -> None:
    world, place = at_placing, "put the bone vibrator behind the left ear"
    world.restart()
    assert " check=placing " in state(world)
    assert f"; session 1 waits: {place}" in world.ready
    assert f'! placing why="{place}' in world.heard
    told = world.heard.count("! placing")
    world.ask("SYST:EVEN OFF")
    world.ask("SYST:EVEN ON")
    assert world.heard.count("! placing") == told + 1
    (refused,) = world.ask("SESS:HEAR OPERATOR")
    assert refused == 'ERROR -221,"nobody is asked who hears the tones"'
    world.close()


def test_it_does_not_go_on_at_a_board_that_has_none(at_placing: World) -> None:
    world = at_placing
    world.swap_board(SimulatedBoard(a_listener("S2"), boot=2, has_vibrator=False))
    world.until(lambda: world.client.boot == f"{2:08x}")
    (refused,) = world.ask("SESS:CONT")
    assert refused == (
        'ERROR -221,"the tone generator has nothing that reaches the left ear by bone"'
    )
    assert " check=placing " in state(world)
    world.swap_board(SimulatedBoard(a_listener("S2"), boot=3))
    assert " check=placing " in state(world)
    assert world.ask("SESS:CONT") == ["OK"]
    world.until(lambda: is_told(world, "answer", ear="left", transducer="bone"))
    world.close()


def test_the_time_of_a_pause_ends_when_the_vibrator_is_asked_for(at_placing: World) -> None:
    world = at_placing
    world.ask("SESS:CONT")
    world.until(lambda: is_told(world, "answer", ear="left", transducer="bone"))
    for minutes, line in ((14, "SESS:PAUS"), (2, "SESS:CONT")):
        assert world.ask(line) == ["OK"]
        world.run(minutes * 60 * S)
    assert " check=placing " in state(world)
    world.close()
