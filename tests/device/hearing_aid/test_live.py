"""Sound through the running aid, and another fit while it plays."""

from pathlib import Path

import numpy as np
import pytest

from device.hearing_aid.chain import BLOCK_FRAMES, SAMPLE_RATE_HZ, configuration
from device.hearing_aid.electroacoustics import tone
from device.hearing_aid.fit_file import write_fit
from device.hearing_aid.live import LiveAid, live_aid, main
from device.hearing_aid.openmha import Engine, Installation, OpenMhaError
from device.hearing_aid.processing import file_aid
from device.hearing_aid.sound import read_wav, write_wav
from device.simulator.talker import synthetic_speech
from device.speech import FloatArray
from tests.device.hearing_aid.fits import plain_fit

ONE_S = SAMPLE_RATE_HZ // BLOCK_FRAMES * BLOCK_FRAMES


def through(aid: LiveAid, sound: FloatArray) -> FloatArray:
    blocks = sound.reshape(-1, BLOCK_FRAMES, 2)
    return np.concatenate([aid.process(block) for block in blocks])


def level_db(sound: FloatArray) -> FloatArray:
    """Return the level of each 10 ms of the left ear."""
    frames = SAMPLE_RATE_HZ // 100
    parts = sound[: len(sound) // frames * frames, 0].reshape(-1, frames)
    found: FloatArray = 10.0 * np.log10(np.mean(parts**2, axis=1) + 1e-12)
    return found


def test_what_comes_out_is_what_comes_out_of_a_file(installation: Installation) -> None:
    sound = tone(1000.0, 65.0, 1.0)[:ONE_S]
    with file_aid(plain_fit(), installation) as aid:
        wanted = aid.process(sound)
    with live_aid(plain_fit(), installation) as live:
        heard = through(live, sound)
    assert np.allclose(heard[:ONE_S], wanted[:ONE_S], atol=1e-6)


@pytest.mark.usefixtures("installation")
def test_the_engine_of_this_machine_is_taken_where_none_is_named_and_no_block_of_another_size() -> (
    None
):
    words = r"the block is \(1, 2\); allowed is \(56, 2\)"
    with live_aid(plain_fit()) as aid:
        assert aid.process(np.zeros((BLOCK_FRAMES, 2))).shape == (BLOCK_FRAMES, 2)
        with pytest.raises(ValueError, match=words):
            aid.process(np.zeros((1, 2)))


def test_another_fit_is_gone_over_to_while_it_plays_and_slowly(installation: Installation) -> None:
    softer, louder = plain_fit(20.0), plain_fit(32.0)
    with live_aid(softer, installation) as aid:
        before = through(aid, tone(1000.0, 40.0, 1.0)[:ONE_S])
        aid.fit(louder)
        during = through(aid, tone(1000.0, 40.0, 1.0)[:ONE_S])
        assert not aid.is_gliding
        after = through(aid, tone(1000.0, 40.0, 1.0)[:ONE_S])
    rise_db = level_db(after)[50] - level_db(before)[50]
    assert rise_db == pytest.approx(12.0, abs=0.5)
    assert level_db(during)[10] < level_db(before)[50] + 4.0, "0.1 s after: of 12 dB, 2"
    steps_db = np.diff(level_db(during)[2:])  # the tone begins anew
    assert steps_db.max() < 0.6, "20 dB a second are 0.2 dB in 10 ms"
    assert steps_db.min() > -0.5


def test_when_the_engine_is_gone_it_is_said(installation: Installation) -> None:
    fit = plain_fit()
    with Engine(installation, configuration(fit)) as engine:
        aid = LiveAid(engine, fit)
        through(aid, np.zeros((BLOCK_FRAMES, 2)))
        engine.close()
        with pytest.raises(OpenMhaError, match="openMHA is gone"):
            through(aid, np.zeros((BLOCK_FRAMES * 9, 2)))
        aid.close()


@pytest.mark.usefixtures("installation")
def test_a_file_is_played_through_two_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [tmp_path / name for name in ("aid.fit", "speech.wav", "out.wav", "tuned.fit")]
    fit, speech, out, then = map(str, names)
    write_fit(names[0], plain_fit(15.0))
    write_fit(names[3], plain_fit(30.0))
    write_wav(names[1], synthetic_speech(2.0, SAMPLE_RATE_HZ, 1))
    assert main([fit, speech, out, "--then", then]) == 0
    heard, _ = read_wav(names[2])
    first, second = np.split(heard[: len(heard) // 2 * 2], 2)
    assert np.mean(second**2) > 4.0 * np.mean(first**2)
    assert main([fit, speech, out]) == 2
    assert "out.wav is there already" in capsys.readouterr().err
