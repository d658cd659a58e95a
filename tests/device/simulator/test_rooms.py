"""Rooms: their levels over time, who hears them, and what a microphone tells of them."""

import argparse
import math

import numpy as np
import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.hearing import SimulatedTest
from device.simulator.listener import Listener, SimulatedListener, Tone
from device.simulator.microphones import MicrophoneKind, microphone_named
from device.simulator.room_around import RoomAround
from device.simulator.rooms import BURST_DB, NoisyRoom
from device.simulator.simulated_board import SimulatedBoard
from device.speech import a_weighting_db
from firmware_py.link.messages import COMMANDS, EVENTS, ROOM_BANDS_HZ, read
from firmware_py.session.room import SELF_NOISE_DB_SPL
from firmware_py.terms.room import OFFICE, SHAPES_DB, SPEECH, bands_db_spl
from firmware_py.terms.settings import Settings
from firmware_py.terms.words import say
from host_tools.devices.simulation import add_board_arguments, check_board, room_around
from host_tools.errors import HostError
from tests.link.example import TONE, ExampleHost

S = 1_000_000
STEADY = NoisyRoom("steady", 40.0, seed=1)
AT_TONE = ROOM_BANDS_HZ.index(1000)


def mean_db(room: NoisyRoom, from_s: float, to_s: float) -> float:
    return room.mean_db_spl([(round(from_s * S), round(to_s * S))])[AT_TONE]


def changes_db(kind: str, seconds: int, seed: int = 1) -> np.ndarray:
    """Return by how much a room is louder than itself, ten times a second."""
    room, own = NoisyRoom(kind, 40.0, seed), bands_db_spl(OFFICE, 40.0)[AT_TONE]
    times_s = [0.1 * n for n in range(10 * seconds)]
    return np.array([mean_db(room, at_s, at_s + 1e-6) - own for at_s in times_s])


@pytest.mark.parametrize("shape", SHAPES_DB)
def test_a_spectrum_has_its_a_weighted_level(shape: str) -> None:
    """By other third octaves than those of the module, a sum over every tenth of an octave."""
    octaves = np.arange(-3.9, 3.6, 0.1)
    known = np.log2(np.array(ROOM_BANDS_HZ) / 1000.0)
    per_tenth_db = np.interp(octaves, known, bands_db_spl(shape, 40.0)) - 10.0 * np.log10(
        10.0 / 3.0
    )
    if shape == OFFICE:
        per_tenth_db += np.where(octaves < known[0], -5.0 * (octaves - known[0]), 0.0)
    weighted_db = per_tenth_db + a_weighting_db(1000.0 * 2.0**octaves)
    assert 10.0 * math.log10(np.sum(10.0 ** (0.1 * weighted_db))) == pytest.approx(40.0, abs=0.5)


def test_an_office_falls_by_5_db_an_octave_and_speech_as_published() -> None:
    office, speech = bands_db_spl(OFFICE, 40.0), bands_db_spl(SPEECH, 60.0)
    assert office[2] - office[4] == pytest.approx(5.0)
    assert speech[2] - speech[AT_TONE] == pytest.approx(62.1 - 53.7)


def test_a_steady_room_is_the_same_all_the_time() -> None:
    assert not changes_db("steady", 60).any()


def test_bursts_are_15_db_for_three_tenths_of_the_time() -> None:
    changes = changes_db("bursts", 3000)
    assert set(np.round(changes, 6)) == {0.0, BURST_DB}
    assert np.mean(changes > 0.0) == pytest.approx(0.3, abs=0.05)


def test_speech_changes_with_its_syllables_and_has_its_mean_power() -> None:
    room = NoisyRoom("speech", 60.0, seed=1)
    levels = [mean_db(room, 0.2 * n, 0.2 * n + 1e-6) for n in range(5000)]
    assert np.std(levels) == pytest.approx(6.0, abs=0.3)
    own_db_spl = bands_db_spl(SPEECH, 60.0)[AT_TONE]
    assert mean_db(room, 0.0, 1000.0) == pytest.approx(own_db_spl, abs=0.5)


def test_a_door_slams_once_by_30_db() -> None:
    changes = changes_db("door", 120)
    assert 24.0 < changes.max() <= 30.0
    assert 3 <= np.count_nonzero(changes) <= 5


def test_a_train_rises_and_falls_by_20_db_in_20_s() -> None:
    changes = changes_db("train", 120)
    assert changes.max() == pytest.approx(20.0, abs=0.3)
    assert np.count_nonzero(changes) == pytest.approx(200, abs=2)


@pytest.mark.parametrize("kind", ["speech", "bursts", "door", "train"])
def test_a_room_is_the_same_again_with_its_seed_and_no_other(kind: str) -> None:
    assert np.array_equal(changes_db(kind, 60), changes_db(kind, 60))
    assert not np.array_equal(changes_db(kind, 60), changes_db(kind, 60, seed=2))


# A board in a room


class Host(ExampleHost):
    board: SimulatedBoard

    def play(self, tone_id: str = "r1", **about: str | int) -> tuple[float, ...]:
        """Have a tone played to its end, and return the levels that its end tells."""
        self.answer("tone", **{**TONE, "id": tone_id, **about})
        frames = self.until(self.board.now_us + 3 * S)
        (fields,) = [frame.fields for frame in frames if frame.verb == "tone-off"]
        levels: tuple[float, ...] = read(EVENTS["tone-off"], fields)["room"]
        return levels


def host_in(around: RoomAround, listener: Listener | None = None) -> Host:
    host = Host(SimulatedBoard(listener or Listener(), room=around))
    host.until(5 * S)
    return host


def told(around: RoomAround) -> tuple[float, ...]:
    return host_in(around).play()


def test_the_microphone_tells_the_room_and_its_own_noise() -> None:
    levels = told(RoomAround(STEADY, microphone=MicrophoneKind()))
    powers = 10.0 ** (0.1 * np.array([bands_db_spl(OFFICE, 40.0), SELF_NOISE_DB_SPL]))
    assert np.abs(np.array(levels) - 10.0 * np.log10(powers.sum(axis=0))).max() <= 0.25

    in_silence = told(RoomAround(microphone=MicrophoneKind()))
    assert np.abs(np.array(in_silence) - SELF_NOISE_DB_SPL).max() <= 0.25


@pytest.mark.parametrize(("text", "low_db"), [("low:6", 6.0), ("low:20", 20.0)])
def test_a_microphone_may_read_too_low(text: str, low_db: float) -> None:
    right = told(RoomAround(STEADY, microphone=MicrophoneKind()))
    low = told(RoomAround(STEADY, microphone=microphone_named(text)))
    assert low == tuple(max(level - low_db, 0.0) for level in right)


@pytest.mark.parametrize(("text", "level_db_spl"), [("dead", 0.0), ("clipped", 127.5)])
def test_a_microphone_may_be_dead_or_overdriven(text: str, level_db_spl: float) -> None:
    assert set(told(RoomAround(STEADY, microphone=microphone_named(text)))) == {level_db_spl}


def test_a_board_without_a_microphone_tells_nothing_of_its_room() -> None:
    host = host_in(RoomAround(STEADY))
    assert "room" not in host.answer("serial")[1]
    assert host.play() == ()
    assert microphone_named("none") is None


def test_a_ping_tells_the_last_half_second() -> None:
    room = NoisyRoom("train", 40.0, seed=1)
    host = host_in(RoomAround(room, microphone=MicrophoneKind()))
    for at_s in (10, 20, 40):
        host.until(at_s * S)
        levels = read(COMMANDS["ping"][1], host.answer("ping")[1])["room"]
        assert levels[AT_TONE] == pytest.approx(mean_db(room, at_s - 0.5, at_s), abs=0.5)


def test_no_more_is_measured_while_masking_noise_plays() -> None:
    host = host_in(RoomAround(STEADY, microphone=MicrophoneKind()))
    assert host.answer("mask", ear="r", hz="1000.00", dbfs="-60.00")[0] == "ok"
    assert host.play("r1") == ()
    assert host.answer("unmask")[0] == "ok"
    host.until(host.board.now_us + S)
    assert host.play("r2") != ()


class Recorder(Listener):
    def __init__(self) -> None:
        self.asked: list[Tone] = []

    def answer(self, tone: Tone) -> None:
        self.asked.append(tone)


def test_a_listener_is_asked_a_tone_with_the_noise_of_the_room() -> None:
    listener = Recorder()
    host = host_in(RoomAround(NoisyRoom("bursts", 40.0, seed=1)), listener)
    for number in range(20):
        host.play(f"r{number}", ear="l")
    own_db_hl = bands_db_spl(OFFICE, 40.0)[AT_TONE] - 23.0 - 2.33  # ISO 8253-1, Table 2
    louder_db = np.array([tone.room_db_hl for tone in listener.asked]) - own_db_hl
    assert (louder_db > -1e-9).all()
    assert {0.0, BURST_DB} <= set(np.round(louder_db, 6))

    host_in(RoomAround(), listener).play(ear="l")
    assert listener.asked[-1].room_db_hl == -math.inf


def test_a_test_without_a_wire_has_a_room_and_a_microphone_as_well() -> None:
    listener = Recorder()
    test = SimulatedTest(Settings(), listener, room=RoomAround(STEADY, MicrophoneKind()))
    test.run_to_tone()
    while not test.test.room.about:
        test.step()
    assert listener.asked[0].room_db_hl == pytest.approx(2.6, abs=0.1)
    assert say(test.test.room.about[0]) == "room: 40 dBA (by the microphone)"


def someone(threshold_db_hl: float, gap_db: float = 0.0) -> SimulatedListener:
    flat = Audiogram((1000.0,), (threshold_db_hl,))
    head = Head(air_bone_gap_db={"left": gap_db}) if gap_db else Head()
    return SimulatedListener({"left": flat, "right": flat}, seed=5, head=head)


@pytest.mark.parametrize("gap_db", [0.0, 20.0])
def test_it_is_heard_as_if_the_threshold_were_the_power_sum_with_the_noise(gap_db: float) -> None:
    """By air, whatever the gap: what the room has comes by air as well."""
    in_noise, poorer = someone(30.0, gap_db), someone(10.0 * math.log10(2.0) + 30.0, gap_db)
    tones = [Tone(f"t{n}", "left", 1000.0, 28.0 + n % 10) for n in range(300)]
    answers = [in_noise.answer(tone._replace(room_db_hl=30.0)) for tone in tones]
    assert answers == [poorer.answer(tone) for tone in tones]
    assert any(answers)
    assert not all(answers)


def test_by_bone_noise_reaches_the_cochlea_as_weakened_as_a_tone_by_air() -> None:
    tone = Tone("1-1", "left", 1000.0, 50.0, by_bone=True)
    for gap_db in (0.0, 20.0):
        alone_db = someone(20.0 + gap_db, gap_db).bone_sensation_db(tone)
        noisy = tone._replace(room_db_hl=20.0 + gap_db)
        in_noise_db = someone(20.0 + gap_db, gap_db).bone_sensation_db(noisy)
        assert alone_db - in_noise_db == pytest.approx(10.0 * math.log10(2.0))


# The command line


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_board_arguments(parser)
    return parser.parse_args(words)


def test_the_options_name_a_room_and_a_microphone() -> None:
    room = room_around(options("--room", "bursts:40", "--microphone", "low:6", "--seed", "3"))
    assert room == RoomAround(NoisyRoom("bursts", 40.0, 3), MicrophoneKind(-6.0))
    assert room_around(options()) == RoomAround()


@pytest.mark.parametrize(
    ("words", "told_words"),
    [
        (["--room", "40"], "--room is '40'; allowed is KIND:DBA, steady, speech"),
        (["--room", "hall:40"], "allowed is KIND:DBA"),
        (["--room", "steady:nan"], "with 0 to 90 dB"),
        (["--room", "steady:91"], "with 0 to 90 dB"),
        (["--microphone", "low"], "--microphone is 'low'; allowed is none, right, dead"),
        (["--microphone", "low:61"], "of 0 to 60 dB"),
        (["--microphone", "right:6"], "--microphone is 'right:6'"),
        (["--room", "steady:40", "--board", "emulated"], "for the simulated board"),
    ],
)
def test_other_rooms_and_microphones_are_refused(words: list[str], told_words: str) -> None:
    arguments = options(*words)
    arguments.speed = 1.0
    with pytest.raises(HostError) as wrong:
        check_board(arguments)
    assert told_words in str(wrong.value)
