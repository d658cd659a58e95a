"""openMHA as a process: told, asked, refused, killed, taken down."""

import os
import signal
from pathlib import Path

import pytest

from device.hearing_aid.chain import GAIN_TABLE, configuration
from device.hearing_aid.openmha import Engine, Installation, OpenMhaError
from tests.device.hearing_aid.fits import plain_fit


def test_where_there_is_none_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(OpenMhaError, match=r"no openMHA in '.*'; in a checkout: make aid"):
        Installation(tmp_path)


def test_it_says_its_version(installation: Installation) -> None:
    assert installation.version()[0].isdigit()


@pytest.mark.thorough
def test_it_takes_the_chain_and_tells_it_again(installation: Installation) -> None:
    with Engine(installation, configuration(plain_fit(30.0))) as engine:
        assert engine.tell("srate?val") == "24000"
        assert engine.tell(f"{GAIN_TABLE}?val").startswith("[[30 30 ")


def test_a_line_that_it_refuses_is_named(installation: Installation) -> None:
    with pytest.raises(OpenMhaError, match="openMHA refused 'nothing = 1'"):
        Engine(installation, "nothing = 1")


def test_when_it_is_killed_the_next_line_says_so(installation: Installation) -> None:
    with Engine(installation) as engine:
        os.kill(engine.process_id, signal.SIGKILL)
        with pytest.raises(OpenMhaError, match=r"openMHA is gone: its process ended with code -9"):
            engine.tell("srate?val")


def test_it_is_taken_down(installation: Installation) -> None:
    with Engine(installation) as engine:
        process_id = engine.process_id
    assert not Path(f"/proc/{process_id}").exists()
    with pytest.raises(OpenMhaError, match="was taken down"):
        engine.tell("srate?val")
