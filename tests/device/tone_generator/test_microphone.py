"""The program with a microphone: what it tells of a room while its own earphones sound in it."""

import math
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from device.tone_generator.outputs import BLOCK_FRAMES, QUEUE_BLOCKS
from device.tone_generator.room_levels import MICROPHONE_RATE_HZ
from firmware_py.link.messages import COMMANDS, EVENTS, ROOM_BANDS_HZ, read
from tests.device.tone_generator.fakes import I2S
from tests.device.tone_generator.test_program import WITH_MICROPHONE, Bench

TONE: dict[str, str | int] = {
    "id": "r1", "ear": "l", "hz": "1000.00", "dbfs": "-26.00",
    "on": 260, "off": 190, "n": 3, "rise": 35,
}  # fmt: skip
LAST_MS = 3 * 260 + 2 * 190
FULL_SCALE_DB_SPL = 120.0
LEAK_DB = -30.0  # what is full scale in the earphone has this much less before the microphone
TONE_DB_SPL = FULL_SCALE_DB_SPL - 26.0 + LEAK_DB
ROOM_DB_SPL = 40.0
AT_TONE = ROOM_BANDS_HZ.index(1000)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Room:
    """A hum of the tone's frequency, and what leaks from the earphones."""

    def __init__(self, level_db_spl: float = ROOM_DB_SPL) -> None:
        self._played, self._microphone = I2S.made
        self._microphone.hears = self._hear
        self.peak = 2.0**31 * 10.0 ** ((level_db_spl - FULL_SCALE_DB_SPL) / 20.0)
        self._at = count()

    def _hear(self, frames: int) -> list[int]:
        phase = 2.0 * math.pi * 1000.0 / MICROPHONE_RATE_HZ
        hum = [self.peak * math.sin(phase * next(self._at)) for _ in range(frames)]
        heard = len(self._played.samples) // 2 - QUEUE_BLOCKS * BLOCK_FRAMES
        left = self._played.samples[::2][max(heard - 2 * frames, 0) : max(heard, 0) : 2]
        leak = np.zeros(frames)
        leak[frames - len(left) :] = np.array(left) * 10.0 ** (LEAK_DB / 20.0)
        return [round(sample) for sample in np.clip(hum + leak, -(2.0**31), 2.0**31 - 1.0)]


def with_microphone(**kept: object) -> tuple[Bench, Room]:
    bench = Bench(0, **{**WITH_MICROPHONE, **kept})
    room = Room()
    bench.greet()
    wait(bench, 300)
    return bench, room


def wait(bench: Bench, run_ms: int) -> None:
    """Let time pass, with a host."""
    for at_ms in range(0, run_ms, 300):
        assert bench.ask("ping")[0] == "ok"
        bench.told += bench.run(min(300, run_ms - at_ms))


def room_of(bench: Bench, run_ms: int) -> tuple[float, ...]:
    """Return the levels in the last `tone-off`."""
    wait(bench, run_ms)
    fields = [about for _, verb, about in bench.told if verb == "tone-off"][-1]
    levels: tuple[float, ...] = read(EVENTS["tone-off"], fields)["room"]
    return levels


def ping(bench: Bench) -> tuple[float, ...]:
    levels: tuple[float, ...] = read(COMMANDS["ping"][1], bench.ask("ping")[1])["room"]
    return levels


def test_the_board_says_that_it_hears_the_room() -> None:
    bench, _ = with_microphone()
    assert bench.ask("serial")[1]["room"] == "1"
    wiring = I2S.made[1].wiring
    assert (wiring["mode"], wiring["rate"], wiring["format"]) == (I2S.RX, 24000, I2S.MONO)


def test_the_tone_itself_is_not_in_the_noise_that_is_told_with_it() -> None:
    bench, _ = with_microphone()
    assert bench.ask("tone", **TONE)[0] == "ok"
    levels = room_of(bench, LAST_MS + 100)
    assert levels[AT_TONE] == pytest.approx(ROOM_DB_SPL, abs=0.5)
    assert max(level for band, level in enumerate(levels) if abs(band - AT_TONE) > 1) < 20.0


def test_the_microphone_hears_the_tone_while_it_is_asked_by_a_ping() -> None:
    bench, _ = with_microphone()
    assert bench.ask("tone", **{**TONE, "on": 900, "n": 1})[0] == "ok"
    wait(bench, 750)
    assert ping(bench)[AT_TONE] == pytest.approx(TONE_DB_SPL, abs=0.5)


def test_what_was_measured_before_a_tone_that_a_press_ends_is_told() -> None:
    bench, room = with_microphone()
    assert bench.ask("tone", **TONE, buttons=1, press=100)[0] == "ok"
    bench.told += bench.run(100)
    room.peak = 0.0  # too late for what is told
    bench.told += bench.run(100)
    bench.button(0)
    assert room_of(bench, 200)[AT_TONE] == pytest.approx(ROOM_DB_SPL, abs=0.5)


def test_noise_between_the_pulses_counts() -> None:
    bench, room = with_microphone()
    assert bench.ask("tone", **TONE)[0] == "ok"
    bench.told += bench.run(260)
    room.peak *= 10.0
    assert ROOM_DB_SPL + 15.0 < room_of(bench, LAST_MS)[AT_TONE] < ROOM_DB_SPL + 20.0


def test_noise_of_long_before_does_not_count() -> None:
    bench, room = with_microphone()
    room.peak *= 10.0
    wait(bench, 500)
    room.peak /= 10.0
    wait(bench, 500)
    assert bench.ask("tone", **TONE)[0] == "ok"
    assert room_of(bench, LAST_MS + 100)[AT_TONE] == pytest.approx(ROOM_DB_SPL, abs=0.5)


def test_noise_after_a_tone_is_told_with_the_next_one() -> None:
    bench, room = with_microphone()
    assert bench.ask("tone", **TONE)[0] == "ok"
    room_of(bench, LAST_MS + 50)
    room.peak *= 10.0
    wait(bench, 250)
    room.peak /= 10.0
    wait(bench, 500)
    assert bench.ask("tone", **{**TONE, "id": "r2"})[0] == "ok"
    assert room_of(bench, LAST_MS + 100)[AT_TONE] > ROOM_DB_SPL + 8.0


def test_while_masking_noise_plays_nothing_is_measured() -> None:
    bench, _ = with_microphone()
    assert bench.ask("tone", **TONE)[0] == "ok"
    room_of(bench, LAST_MS + 50)  # what came before the noise is told
    assert bench.ask("mask", ear="r", hz="1000.00", dbfs="-40.00")[0] == "ok"
    wait(bench, 300)
    assert bench.ask("tone", **{**TONE, "id": "r2"})[0] == "ok"
    room_of(bench, LAST_MS + 100)
    assert bench.ask("tone", **{**TONE, "id": "r3"})[0] == "ok"
    assert room_of(bench, LAST_MS + 100) == ()


def test_a_microphone_that_is_overdriven_says_so() -> None:
    bench, room = with_microphone()
    room.peak = 2.0**31
    wait(bench, 600)
    assert ping(bench) == (127.5,) * len(ROOM_BANDS_HZ)


def test_the_level_goes_by_what_the_microphone_gives_at_94_db_spl() -> None:
    bench, _ = with_microphone(microphone_dbfs=-37.5)
    wait(bench, 400)
    assert ping(bench)[AT_TONE] == pytest.approx(ROOM_DB_SPL + 11.5, abs=0.5)


def test_a_board_without_a_microphone_says_nothing_of_the_room() -> None:
    bench = Bench(output="i2s")
    bench.greet()
    assert "room" not in bench.ask("serial")[1]
    assert "room" not in bench.ask("ping")[1]
    assert bench.ask("tone", **TONE)[0] == "ok"
    assert room_of(bench, LAST_MS + 100) == ()
