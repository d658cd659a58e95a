"""Bone and air in a simulated head: which cochlea hears, by sums that are done by hand."""

import argparse
import math
from pathlib import Path
from typing import Any, Final

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.audiograms import audiogram_named, gaps_named
from device.simulator.earphones import Worn
from device.simulator.head import OCCLUSION_DB, SLIP_DB, Head, Vibrator
from device.simulator.listener import Ear, Listener, Noise, Press, SimulatedListener, Tone, tone_by
from device.simulator.simulated_board import SimulatedBoard
from firmware_py.terms.route import Route
from host_tools.devices.simulation import add_board_arguments, listener_of
from host_tools.errors import HostError
from tests.link.example import TONE, ExampleHost

HZ: Final = 1000.0


def ears(right_db_hl: float, left_db_hl: float) -> dict[Ear, Audiogram]:
    return {"right": Audiogram((HZ,), (right_db_hl,)), "left": Audiogram((HZ,), (left_db_hl,))}


def sensation_db(
    truths: dict[Ear, Audiogram],
    head: Head,
    ear: Ear,
    level_db_hl: float,
    noise: Noise | None = None,
    frequency_hz: float = HZ,
    tone_id: str = "1-1",
) -> float:
    someone = SimulatedListener(truths, head=head)
    return someone.bone_sensation_db(Tone(tone_id, ear, frequency_hz, level_db_hl, noise))


def answer_by_bone(
    someone: Listener, level_db_hl: float, noise: Noise | None = None, tone_id: str = "1-1"
) -> Press | None:
    return someone.answer(Tone(tone_id, "right", HZ, level_db_hl, noise, by_bone=True))


SKULL_10: Final[dict[str, Any]] = {"skull_attenuation_db": 10.0}


def test_bone_passes_by_the_conductive_loss() -> None:
    head = Head({"right": 40.0}, **SKULL_10)
    assert sensation_db(ears(60.0, 100.0), head, "right", 30.0) == pytest.approx(10.0)


def test_without_a_gap_bone_is_as_air() -> None:
    someone = SimulatedListener(ears(45.0, 45.0), head=Head(skull_attenuation_db=15.0))
    by_air = someone.probabilities("left", HZ, 45.0)[0]
    assert by_air == pytest.approx(0.5)
    assert someone.bone_sensation_db(Tone("1-1", "left", HZ, 45.0)) == pytest.approx(0.0)


@pytest.mark.parametrize(("asked", "own", "expected_db"), [("left", 90.0, 20.0), ("left", 5.0, 35)])
def test_the_better_of_both_cochleas_answers(asked: Ear, own: float, expected_db: float) -> None:
    """Through the skull 10 dB are lost, so a tone of 40 is 30 at the right one of 10."""
    assert sensation_db(ears(10.0, own), Head(**SKULL_10), asked, 40.0) == expected_db


@pytest.mark.parametrize("ear", ["right", "left"])
@pytest.mark.parametrize("levels", [(60.0, 20.0), (20.0, 60.0), (40.0, 42.0)])
def test_what_a_vibrator_can_find_is_where_the_answers_are(
    ear: Ear, levels: tuple[float, float]
) -> None:
    """The threshold that is told of a head is that of its listener."""
    truths, head = ears(*levels), Head({"right": 15.0}, skull_attenuation_db=7.0)
    found_db_hl = head.bone_threshold_db_hl(truths, ear, HZ)
    assert sensation_db(truths, head, ear, found_db_hl) == pytest.approx(0.0)
    own_db_hl = head.bone_threshold_db_hl(truths, ear, HZ, alone=True)
    assert own_db_hl == truths[ear].threshold_db_hl(HZ) - head.gap_db(ear, HZ) >= found_db_hl


def test_the_skull_takes_little_and_more_at_high_frequencies() -> None:
    dead: dict[Ear, Audiogram] = {
        "right": Audiogram((250.0,), (math.inf,)), "left": Audiogram((250.0,), (0.0,)),
    }  # fmt: skip
    lost_db = [
        -sensation_db(dead, Head(), "right", 0.0, frequency_hz=f) for f in (250.0, 500.0, 1e3, 4e3)
    ]
    assert lost_db == pytest.approx([0.0, 1.0, 2.0, 5.0])


def test_noise_in_the_other_ear_masks_that_cochlea_and_crosses_weaker() -> None:
    truths, head = ears(math.inf, 20.0), Head(interaural_attenuation_db=50.0, **SKULL_10)
    quiet_db = sensation_db(truths, head, "right", 60.0)
    masked_db = sensation_db(truths, head, "right", 60.0, Noise("left", HZ, 70.0))
    assert quiet_db == pytest.approx(30.0)
    assert masked_db == pytest.approx(50.0 - 70.0, abs=1e-4)

    own, noise = ears(20.0, math.inf), Noise("left", HZ, 90.0)
    crossed_db_hl = 10.0 * math.log10(10.0 ** (20.0 / 10.0) + 10.0 ** (40.0 / 10.0))
    assert sensation_db(own, head, "right", 60.0, noise) == pytest.approx(60.0 - crossed_db_hl)


def test_a_gap_of_the_masked_ear_weakens_the_noise() -> None:
    """The dilemma: 70 dB are 30 at the cochlea behind a gap of 40, and 20 at the other one."""
    head = Head({"left": 40.0, "right": 40.0}, **SKULL_10)
    truths, noise = ears(math.inf, 40.0), Noise("left", HZ, 70.0)
    expected_db = 50.0 - 10.0 * math.log10(1.0 + 10.0**3)
    assert sensation_db(truths, head, "right", 60.0, noise) == pytest.approx(expected_db)


@pytest.mark.parametrize(
    ("frequency_hz", "gap_db", "louder_db"),
    [(250.0, 0.0, 15.0), (1000.0, 0.0, 10.0), (2000.0, 0.0, 0.0), (250.0, 10.0, 5.0),
     (250.0, 40.0, 0.0)],
)  # fmt: skip
def test_the_earphone_of_the_noise_makes_low_tones_louder_in_its_ear(
    frequency_hz: float, gap_db: float, louder_db: float
) -> None:
    """Where the middle ear does not do that already. The noise is too weak to mask."""
    truths = ears(math.inf, gap_db)
    without, noise = Head({"left": gap_db}), Noise("left", frequency_hz, -60.0)
    occluded = Head({"left": gap_db}, occlusion_db=OCCLUSION_DB)
    open_db, covered_db = (
        sensation_db(truths, head, "right", 20.0, noise, frequency_hz)
        for head in (without, occluded)
    )
    assert covered_db - open_db == pytest.approx(louder_db)
    own = ears(0.0, math.inf)
    assert sensation_db(own, occluded, "right", 20.0, noise) == pytest.approx(20.0)


@pytest.mark.parametrize("frequency_hz", [250.0, 1000.0])
def test_while_both_ears_are_open_none_is_occluded(frequency_hz: float) -> None:
    truths = ears(math.inf, 0.0)
    quiet_db = [
        sensation_db(truths, Head(occlusion_db=db), "right", 20.0, frequency_hz=frequency_hz)
        for db in (0.0, 30.0)
    ]
    assert quiet_db[0] == quiet_db[1] > 0.0


def test_swapped_earphones_occlude_the_ear_that_is_asked() -> None:
    """Noise for the left one comes to the right one, and so does the effect: 30 dB."""
    truths, head = ears(40.0, math.inf), Head(occlusion_db=30.0)
    someone = SimulatedListener(truths, lapse_rate=0.0, false_alarm_rate=0.0, head=head)
    noise = Noise("left", HZ, -60.0)
    assert answer_by_bone(someone, 25.0, noise) is None
    assert answer_by_bone(Worn(someone, swapped=True), 25.0, noise)


def test_a_vibrator_on_the_wrong_side_is_nearer_to_the_other_cochlea() -> None:
    wrong = Head(vibrator=Vibrator(wrong_side=True), **SKULL_10)
    assert sensation_db(ears(0.0, 100.0), wrong, "right", 40.0) == pytest.approx(30.0)
    assert sensation_db(ears(100.0, 0.0), wrong, "right", 40.0) == pytest.approx(40.0)


def test_one_that_slips_is_weaker_from_then_on() -> None:
    head = Head(vibrator=Vibrator(slips_at=30))
    levels_db = [
        sensation_db(ears(0.0, 0.0), head, "right", 40.0, tone_id=f"7-{number}")
        for number in (29, 30, 31)
    ]
    assert levels_db == pytest.approx([40.0, 40.0 - SLIP_DB, 40.0 - SLIP_DB])


def test_a_dead_head_may_feel_what_it_does_not_hear() -> None:
    dead = ears(math.inf, math.inf)
    assert sensation_db(dead, Head(), "left", 70.0) == -math.inf
    assert sensation_db(dead, Head(feels=True), "left", 75.0) == pytest.approx(5.0)  # from 70 on
    assert sensation_db(dead, Head(feels=True), "left", 45.0, frequency_hz=250.0) == pytest.approx(
        5
    )
    assert sensation_db(dead, Head(feels=True), "left", 80.0, frequency_hz=2000.0) == -math.inf


def test_answers_by_bone_are_as_sure_as_by_air_and_no_copies_of_them() -> None:
    someone = SimulatedListener(ears(20.0, 20.0), seed=3, head=Head({"right": 20.0}))
    ids = [f"1-{number}" for number in range(2000)]
    by_bone = [bool(answer_by_bone(someone, 0.0, tone_id=tone_id)) for tone_id in ids]
    by_air = [bool(someone.answer(Tone(tone_id, "right", HZ, 20.0))) for tone_id in ids]
    assert sum(by_bone) / len(ids) == pytest.approx(0.5, abs=0.035)
    assert sum(by_air) / len(ids) == pytest.approx(0.5, abs=0.035)
    assert sum(a == b for a, b in zip(by_air, by_bone, strict=True)) / len(ids) < 0.6
    again = [bool(answer_by_bone(someone, 0.0, tone_id=tone_id)) for tone_id in ids]
    assert by_bone == again


@pytest.mark.parametrize("transducer", ["air", "bone"])
def test_a_route_says_how_a_tone_comes(transducer: str) -> None:
    tone = tone_by(Route("left", transducer), "1-1", (HZ, 40.0))
    assert tone == Tone("1-1", "left", HZ, 40.0, by_bone=transducer == "bone")


def test_swapped_earphones_swap_the_noise_and_not_the_vibrator() -> None:
    truths, head = ears(0.0, math.inf), Head(skull_attenuation_db=50.0)
    someone = SimulatedListener(truths, lapse_rate=0.0, false_alarm_rate=0.0, head=head)
    noise = Noise("left", HZ, 80.0)
    assert answer_by_bone(someone, 45.0, noise)
    assert answer_by_bone(Worn(someone), 45.0, noise)
    assert answer_by_bone(Worn(someone, swapped=True), 45.0, noise) is None
    assert answer_by_bone(Worn(someone, swapped=True), 45.0)


@pytest.mark.parametrize(("via", "heard"), [(0, False), (1, True)])
def test_a_board_plays_bone_past_the_gap(via: int, heard: bool) -> None:
    """-82 dBFS are 50 dB HL: 10 below the ear, and 30 above its cochlea."""
    truths, head = ears(60.0, math.inf), Head({"right": 40.0})
    someone = SimulatedListener(truths, lapse_rate=0.0, false_alarm_rate=0.0, head=head)
    board = SimulatedBoard(someone)
    host = ExampleHost(board)
    host.ask("tone", **{**TONE, "ear": "r", "dbfs": "-82.00"}, via=via)
    board.advance(3_000_000)
    assert [str(tone.route) for tone in board.played] == [("right", "right-bone")[via]]
    assert any(frame.verb == "button-down" for frame in host.read()) == heard


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"air_bone_gap_db": {"left": -1.0}}, r"air_bone_gap_db is -1\.0, allowed is 0 and more"),
        ({"air_bone_gap_db": {"left": math.inf}}, "air_bone_gap_db is inf, allowed is 0 and more"),
        ({"interaural_attenuation_db": 0.0}, "interaural_attenuation_db is 0"),
        ({"skull_attenuation_db": -1.0}, "skull_attenuation_db is -1"),
        ({"occlusion_db": -1.0}, "occlusion_db is -1"),
        ({"occlusion_db": math.inf}, "occlusion_db is inf"),
    ],
)
def test_what_no_head_has_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Head(**wrong)


# By the options, and from a table

TABLE: Final = """t250,t500,t1000,t2000,t4000,no_response,b500,b1000,b2000,b4000
20,30,50,60,,4000,0,40,65,50
10,10,10,10,10,,,,,
"""


def someone_of(*options: str) -> SimulatedListener:
    parser = argparse.ArgumentParser()
    add_board_arguments(parser)
    listener = listener_of(parser.parse_args(options))
    assert isinstance(listener, SimulatedListener)
    return listener


def test_a_table_with_columns_of_bone_has_gaps(tmp_path: Path) -> None:
    """Where both are numbers; below 0 too, as clinics find it."""
    table = tmp_path / "ears.csv"
    table.write_text(TABLE)
    both = gaps_named(f"{table}:1,{table}:2")
    assert both == {"right": Audiogram((500.0, 1000.0, 2000.0), (30.0, 10.0, -5.0))}
    assert gaps_named("N3") == gaps_named("island:2") == {}
    assert audiogram_named(f"{table}:1")["right"].threshold_db_hl(4000.0) == math.inf
    head = someone_of("--audiogram", f"{table}:1,N1").head
    assert [head.gap_db("right", f) for f in (250.0, 500.0, 2000.0)] == [30.0, 30.0, -5.0]
    assert head.gap_db("left", 500.0) == 0.0
    said = someone_of("--audiogram", f"{table}:1,N1", "--air-bone-gap", "right=12").head
    assert said.gap_db("right", 500.0) == 12.0


@pytest.mark.parametrize(
    ("text", "gaps_db"),
    [("", (0.0, 0.0)), ("30", (30.0, 30.0)), ("30,5", (30.0, 5.0)), ("left=20", (0.0, 20.0)),
     ("left=20,right=35", (35.0, 20.0))],
)  # fmt: skip
def test_gaps_are_said_by_ear_or_in_order(text: str, gaps_db: tuple[float, float]) -> None:
    head = someone_of("--air-bone-gap", text).head
    assert (head.gap_db("right", HZ), head.gap_db("left", HZ)) == gaps_db


@pytest.mark.parametrize(
    "text", ["right=", "middle=5", "right=5,7", "right=5,right=6", "5,6,7", ","]
)
def test_gaps_of_no_ear_are_refused(text: str) -> None:
    with pytest.raises(HostError, match="--air-bone-gap is"):
        someone_of("--air-bone-gap", text)


def test_the_vibrator_and_the_skull_are_as_said() -> None:
    head = someone_of("--vibrator", "slips:12", "--skull-attenuation", "7", "--occlusion").head
    assert (head.vibrator, head.skull_attenuation_db, head.occlusion_db) == (
        Vibrator(slips_at=12),
        7.0,
        OCCLUSION_DB,
    )
    assert someone_of().head.occlusion_db == 0.0
    assert someone_of("--vibrator", "wrong-side").head.vibrator.wrong_side
    for wrong in ("slips", "slips:0", "nowhere"):
        with pytest.raises(HostError, match="--vibrator is"):
            someone_of("--vibrator", wrong)
