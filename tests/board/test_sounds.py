"""The one way out for sounds: what a route may never play is refused, whoever wants it."""

import pytest

from firmware_py.board.sounds import ROUTE_MOST, Climb, TooLoudError, play_noise, play_tone
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.link.client import Client, Tone
from firmware_py.terms.route import BONE, ROUTES, Route
from firmware_py.terms.settings import LOUD_DB_HL
from tests.link.test_client import OldBoard, connect, make_board


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_no_tone_is_louder_than_its_route_may_be(route: Route) -> None:
    """Not even on a device without a calibration, where nothing else limits it."""
    client, highest_db_hl = Client(lambda: "00000001"), route.kind.highest_db_hl(1000.0)
    tone = Tone("1-1", route, 1000.0, 0.0, 200, 200, 1, 25)

    with pytest.raises(TooLoudError) as refusal:
        play_tone(client, CalibrationInForce(), tone, highest_db_hl + 0.1, {})
    assert (refusal.value.why, refusal.value.highest) == (ROUTE_MOST, highest_db_hl)
    assert not client.busy
    play_tone(client, CalibrationInForce(), tone, highest_db_hl, {})
    assert client.busy


def test_the_next_sound_in_an_ear_rises_from_the_quieter_of_both_routes_before() -> None:
    climb, air, bone = Climb(), Route("left"), Route("left", BONE)

    def limit(route: Route) -> float:
        return min(climb.limit("tone", route, 40.0).values())

    climb.note_sound(air, 60.0)
    assert (limit(air), limit(bone), limit(Route("right"))) == (80.0, 40.0, 40.0)
    climb.note_sound(bone, 15.0)
    assert (limit(air), limit(bone)) == (35.0, 35.0)
    climb.note_sound(bone, 35.0)
    climb.note_sound(air, 10.0)
    climb.note_sound(bone, 40.0)
    assert limit(air) == 30.0, "louder by bone is none to rise from by air"
    climb.forget()
    assert limit(air) == limit(bone) == 40.0
    climb.note_sound(air, -10.0)
    assert limit(bone) == 10.0, "the first by bone rises from the tone by air, too"


@pytest.mark.parametrize("sound", ["tone", "noise"])
def test_what_is_above_100_db_hl_is_told_as_loud_with_the_sound_itself(sound: str) -> None:
    """Nominal levels count; no other message is needed, and an old board gets none."""
    for above_db, old in ((0.0, False), (0.5, False), (0.5, True)):
        board = OldBoard(make_board().hand.listener, boot=0xB007) if old else make_board()
        line = connect(2_000_000, board=board)
        route, level_db_hl = Route("right"), LOUD_DB_HL + above_db
        if sound == "tone":
            tone = Tone("1-1", route, 1000.0, 0.0, 200, 200, 3, 25)
            play_tone(line.client, CalibrationInForce(), tone, level_db_hl, {})
        else:
            play_noise(line.client, CalibrationInForce(), route, 1000.0, level_db_hl, {})
        line.run(300_000)
        assert line.board.server.sounds.loud == (above_db > 0.0 and not old)
        assert line.board.server.sounds.anything
        line.client.silence()
        line.run(300_000)
        assert not line.board.server.sounds.loud
