"""Somebody listens at the computer: what is written is what was asked for, and keys are answers."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import wave
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from device.simulator.world import World
from device.sound_card.keyboard import Keyboard
from device.sound_card.local_board import LocalBoard
from device.sound_card.wav import RATE_HZ, WavOutput
from device.tone_generator.constant import STEP
from firmware_py.link.frames import decode, encode
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.settings import Settings
from host_tools.commands import listen
from host_tools.commands.listen import LIMIT_DBFS, climb, confirm
from host_tools.errors import HostError
from host_tools.extras import remedy
from tests.firmware.whole_sessions import records_of
from tests.host.journals import GpPta, Refused

REPO: Final = Path(__file__).parents[3]
WAIT_S_MAX: Final = 240.0  # on a very busy machine
WHOLE_PULSE_US: Final = 800_000  # after a tone is told it has begun, and a pulse of it has ended
THRESHOLD_DB_HL: Final = 50.0  # of whoever presses here
FULL_SCALE_DB_HL: Final = 132.0
TONES: Final = 4
TONE: Final[dict[str, str | int]] = {
    "id": "r1", "ear": "l", "hz": "1000.00", "dbfs": "-30.00",
    "on": 5000, "off": 0, "n": 1, "rise": 35,
}  # fmt: skip
EARS: Final = {"left": 0, "right": 1}


@dataclass
class Heard:
    """What a scripted listener was asked and answered, and the file of what was played."""

    wav: Path
    journal: Path
    asked: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def a_board(wav: Path) -> Iterator[tuple[Any, int]]:
    """Give the computer's board, which plays into a file, and where its keys are typed."""
    output = WavOutput(wav)
    keys, press = os.pipe()
    yield LocalBoard(output, Keyboard(keys), LIMIT_DBFS, boot=1), press
    output.close()
    os.close(keys)
    os.close(press)


@pytest.fixture(scope="module")
def first_tones(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """The first tones of a test of a listener who presses space for what is above a level."""
    data = tmp_path_factory.mktemp("listen")
    found = Heard(data / "played.wav", data / "session-000001.journal")
    # In virtual time: what the board plays lasts as long on any machine.
    with a_board(found.wav) as (board, press):
        world = World(data, board=board)
        world.begin(Settings(ears="right", seed=3, level_max_db_hl=90.0))
        told = 0
        while len(found.answers) < TONES:
            world.step()
            for what, about in world.told[told:]:
                told += 1
                if what == "tone":
                    found.asked.append(about)
                    if about["level_db_hl"] >= THRESHOLD_DB_HL:
                        world.run(WHOLE_PULSE_US)
                        os.write(press, b" ")
                elif what == "answer" and about["purpose"] != Purpose.CATCH:
                    found.answers.append(about)
        world.close()
    return found


def samples_of(path: Path) -> NDArray[np.float64]:
    """Return frames, left and right, re full scale."""
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (2, 3)
        assert file.getframerate() == RATE_HZ
        octets = np.frombuffer(file.readframes(file.getnframes()), dtype=np.uint8)
    whole = np.zeros((len(octets) // 3, 4), dtype=np.uint8)
    whole[:, 1:] = octets.reshape(-1, 3)
    frames = whole.view("<i4").reshape(-1, 2)
    return np.where(frames == 0, 0, frames - STEP) / 2.0**31  # the constant is no sound


def runs_of(channel: NDArray[np.float64], apart_ms: float) -> list[slice]:
    """Return where something sounds, with at least so much silence between."""
    sounding = np.flatnonzero(channel)
    cuts = np.flatnonzero(np.diff(sounding) > 1e-3 * apart_ms * RATE_HZ)
    begins, ends = sounding[np.r_[0, cuts + 1]], sounding[np.r_[cuts, -1]] + 1
    return [slice(a, b) for a, b in zip(begins, ends, strict=True)]


def ms(frames: float) -> float:
    return 1000.0 * frames / RATE_HZ


def fit_sine(samples: NDArray[np.float64], near_hz: float) -> tuple[float, float]:
    """Return frequency and level in dBFS of the sine that fits a plateau best."""
    at = np.arange(len(samples)) / RATE_HZ
    best = (np.inf, 0.0, 0.0)
    for frequency_hz in near_hz * (1.0 + np.linspace(-0.002, 0.002, 41)):
        turns = 2.0 * np.pi * frequency_hz * at
        waves = np.stack([np.cos(turns), np.sin(turns)])
        parts, *_ = np.linalg.lstsq(waves.T, samples, rcond=None)
        rest = float(np.sum((samples - parts @ waves) ** 2))
        best = min(best, (rest, frequency_hz, float(np.hypot(*parts))))
    return best[1], 20.0 * np.log10(best[2])


def test_every_tone_is_written_with_its_frequency_level_and_ear(first_tones: Heard) -> None:
    frames = samples_of(first_tones.wav)
    tones = runs_of(frames[:, EARS["right"]], 400.0)

    assert not frames[:, EARS["left"]].any()
    assert len(tones) == len(first_tones.asked) >= TONES
    for tone, asked in zip(tones, first_tones.asked, strict=True):
        pulse = runs_of(frames[tone, EARS["right"]], 50.0)[0]
        rise = round(1e-3 * Settings.rise_ms * RATE_HZ)
        plateau = frames[tone, EARS["right"]][pulse][rise:-rise]
        frequency_hz, level_dbfs = fit_sine(plateau, asked["frequency_hz"])

        wanted_dbfs = asked["level_db_hl"] - FULL_SCALE_DB_HL
        print(f"{asked}: {frequency_hz:.2f} Hz, {level_dbfs:.3f} dBFS")
        assert frequency_hz == pytest.approx(asked["frequency_hz"], rel=1e-3)
        assert level_dbfs == pytest.approx(wanted_dbfs, abs=0.05)
        assert level_dbfs <= LIMIT_DBFS


def test_pulses_gaps_and_pauses_are_those_of_the_test(first_tones: Heard) -> None:
    right = samples_of(first_tones.wav)[:, EARS["right"]]
    tones = runs_of(right, 400.0)
    s = Settings()
    unanswered = [
        tone
        for tone, answer in zip(tones, first_tones.answers, strict=False)
        if answer["heard"] is False
    ]
    assert unanswered
    for tone in unanswered:
        pulses = runs_of(right[tone], 50.0)
        assert [ms(pulse.stop - pulse.start) for pulse in pulses] == pytest.approx(
            [s.pulse_on_ms] * s.pulses, abs=4.0
        )
        for before, after in pairwise(pulses):
            assert ms(after.start - before.stop) == pytest.approx(s.pulse_off_ms, abs=4.0)
    for before, after in pairwise(tones):
        assert ms(after.start - before.stop) >= s.pause_ms_min


def test_a_tone_that_is_heard_ends_at_the_press(first_tones: Heard) -> None:
    tones = runs_of(samples_of(first_tones.wav)[:, EARS["right"]], 400.0)
    whole_ms = Settings().tone_ms
    pairs = [*zip(tones, first_tones.asked, first_tones.answers, strict=False)]

    assert {answer["heard"] for answer in first_tones.answers} == {True, False}
    for tone, asked, answer in pairs[:TONES]:
        pressed = asked["level_db_hl"] >= THRESHOLD_DB_HL
        assert answer["heard"] == pressed
        assert (ms(tone.stop - tone.start) < whole_ms - 100.0) == pressed


def test_the_journal_has_the_time_at_which_a_tone_is_in_the_file(first_tones: Heard) -> None:
    events = records_of(first_tones.journal, "input")
    onsets_us = [event["onset_us"] for event in events if event["what"] == "tone-on"]
    tones = runs_of(samples_of(first_tones.wav)[:, EARS["right"]], 400.0)

    assert len(onsets_us) == len(tones)
    for onset_us, tone in zip(onsets_us, tones, strict=True):
        assert tone.start / RATE_HZ == pytest.approx(1e-6 * onset_us, abs=2e-3)


def test_it_falls_silent_when_the_host_has(tmp_path: Path) -> None:
    with a_board(tmp_path / "played.wav") as (board, _):
        board.receive(encode(1, "hello", (("wire", 1), ("host", "0000000a"))), 0)
        loud = {**TONE, "dbfs": "-29.99"}
        board.receive(encode(2, "tone", loud) + encode(3, "tone", TONE), 1000)
        for now_ms in range(0, 1500, 5):
            board.advance(1000 * now_ms + 1000)
    answers = [decode(line)[1:] for line in board.transmit().splitlines(keepends=True)]
    sounding = np.flatnonzero(samples_of(tmp_path / "played.wav")[:, EARS["left"]])

    assert answers[1:3] == [("error", {"code": "limit"}), ("ok", {})]
    assert answers[-1] == ("tone-off", {"id": "r1", "us": answers[-1][1]["us"], "cut": "1"})
    assert 1001.0 < ms(sounding[-1]) < 1015.0


def test_a_whole_command_ends_in_silence_and_a_whole_file(tmp_path: Path) -> None:
    wav = tmp_path / "played.wav"
    command = ["listen", "--test", "--ear", "left", "--wav", str(wav), "--out", str(tmp_path / "d")]
    with subprocess.Popen(
        [sys.executable, "-m", "host_tools.main", *command], cwd=REPO, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # It may be ignored here, as in what a shell runs in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(" ")
        process.stdin.flush()
        until_s = time.monotonic() + WAIT_S_MAX
        while not (wav.exists() and octets_of(wav) > 12_000):
            assert time.monotonic() < until_s
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=WAIT_S_MAX)

    left = samples_of(wav)[:, EARS["left"]]
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "the journal is in" in out
    assert f"nothing is heard: what would be is written to {wav}, in real time" in errors
    assert left.any()
    assert not left[-100:].any()
    assert abs(left).max() == pytest.approx(10 ** (-92 / 20), rel=0.02)  # 40 dB HL


def octets_of(path: Path) -> int:
    """Return how many bytes of a file that is being written are of no silence."""
    return len(path.read_bytes()[44:].translate(None, b"\0\1"))  # the constant is 0, 0, 1


def test_without_a_sound_card_it_is_said_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, refusal_of: Refused
) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    needed = f"needs sounddevice, not installed: {remedy(['sounddevice'], 'listen')}"
    assert needed in refusal_of("listen", "--list-devices")
    assert needed in refusal_of("listen", "--device", "1")


@pytest.mark.parametrize("options", [[], ["--test"], ["--test", "--out", "sessions"]])
def test_without_a_sound_card_nothing_is_left_behind(
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refusal_of: Refused,
) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(tmp_path)
    assert refusal_of("listen", *options) == (
        "gp-pta: no sound: a sound card needs sounddevice, not installed: "
        f"{remedy(['sounddevice'], 'listen')}; without a sound card: "
        "gp-pta listen --wav FILE.wav writes what would be heard\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("typed", ["", "yes", "LOUD", None])
def test_a_high_limit_holds_only_when_loud_was_typed(typed: str | None) -> None:
    def ask(_question: str) -> str:
        if typed is None:
            raise EOFError
        return typed

    with pytest.raises(HostError, match=r"limit-dbfs is 0 dBFS; above -30 dBFS 'loud' has to be"):
        confirm(0.0, ask)
    confirm(0.0, lambda _question: "loud\n")


@pytest.mark.parametrize(
    ("limit_dbfs", "keys", "played_dbfs", "found_dbfs"),
    [
        (-5.0, [b" ", b" ", b" "], [-30.0, -20.0, -10.0], -5.0),
        (-5.0, [b" ", b"x"], [-30.0, -20.0], -20.0),
        (0.0, [b""], [-30.0], -30.0),
        (-29.5, [b" "], [-30.0], -29.5),
        (-30.0, [], [], -30.0),
        (-50.0, [], [], -50.0),
    ],
)
def test_a_high_limit_is_climbed_to_and_ends_where_nobody_asks_for_more(
    limit_dbfs: float, keys: list[bytes], played_dbfs: list[float], found_dbfs: float
) -> None:
    played: list[tuple[int, float]] = []
    output: Any = SimpleNamespace(play=lambda ear, _hz, level, _times: played.append((ear, level)))
    keyboard: Any = SimpleNamespace(keys=lambda _wait_s: keys.pop(0))
    assert climb(output, keyboard, limit_dbfs, lambda _seconds: None) == found_dbfs
    assert played == [(ear, level) for level in played_dbfs for ear in (0, 1)]


def test_no_card_is_opened_before_loud_was_typed(
    monkeypatch: pytest.MonkeyPatch, refusal_of: Refused
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("builtins.input", lambda _question: "no")
    monkeypatch.setattr(listen, "_open_output", lambda *_: opened.append("it was opened"))
    assert "above -30 dBFS 'loud' has to be typed" in refusal_of("listen", "--limit-dbfs", "-29")
    assert opened == []


def test_the_limit_of_the_board_is_the_one_that_was_climbed_to(
    monkeypatch: pytest.MonkeyPatch, gp_pta: GpPta
) -> None:
    limits_dbfs: list[float] = []
    monkeypatch.setattr("builtins.input", lambda _question: "loud")
    monkeypatch.setattr(listen, "_open_output", lambda *_: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(listen, "Keyboard", nullcontext)
    monkeypatch.setattr(listen, "climb", lambda _output, _keyboard, limit_dbfs: limit_dbfs - 7.0)
    monkeypatch.setattr(
        listen, "LocalBoard", lambda _o, _k, limit, _boot: limits_dbfs.append(limit)
    )
    monkeypatch.setattr(listen, "serve", lambda _board, announce: None)
    assert gp_pta("listen", "--limit-dbfs", "-3")[0] == 0
    assert limits_dbfs == [-10.0]
