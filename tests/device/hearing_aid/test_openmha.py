"""openMHA as a process: told, asked, refused, killed, taken down."""

import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from device.hearing_aid.chain import GAIN_TABLE, configuration
from device.hearing_aid.confined import WORK_PLACE
from device.hearing_aid.openmha import (
    LOOPBACK,
    PORT,
    SOUND_PORT,
    Engine,
    Installation,
    OpenMhaError,
)
from tests.device.hearing_aid.fits import plain_fit
from tests.device.hearing_aid.refused import python_without_networks


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


def test_nobody_else_reaches_it_and_it_reaches_no_file_of_ours(installation: Installation) -> None:
    with Engine(installation) as engine:
        networks = [os.stat(f"/proc/{each}/ns/net").st_ino for each in (engine.process_id, "self")]
        assert len(set(networks)) == 2
        for port in (PORT, SOUND_PORT):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((LOOPBACK, port), timeout=1.0)
        for line in (
            f"?read:{__file__}",
            "?read:/proc/self/status",
            "?save:/usr/x",
            "?save:/tmp/x",
        ):
            with pytest.raises(OpenMhaError, match="not able to open"):
                engine.tell(line)
        engine.tell(f"?save:{WORK_PLACE}/x")
        assert [path.name for path in engine.place.iterdir()] == ["x"]
        mounts = Path(f"/proc/{engine.process_id}/mountinfo").read_text().splitlines()
        (root,) = [
            options for _, _, _, _, place, options, *_ in map(str.split, mounts) if place == "/"
        ]
        assert root.startswith("ro,nosuid,nodev")
        status = Path(f"/proc/{engine.process_id}/status").read_text()
        rights = dict(line.split(":\t", 1) for line in status.splitlines() if "\t" in line)
        assert rights["NoNewPrivs"] == "1"
        assert int(rights["CapEff"], 16) == 0
        assert "0" not in rights["Uid"].split(), "it is not root"
    assert not engine.place.exists()


def test_where_it_cannot_be_kept_from_others_it_is_not_started_and_the_reason_is_named(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", python_without_networks(tmp_path))
    words = "not started, since everybody on this computer could .*: unshare: No space left .*; it"
    with pytest.raises(OpenMhaError, match=words):
        Engine(installation)


def test_it_is_taken_down(installation: Installation) -> None:
    with Engine(installation) as engine:
        process_id = engine.process_id
    assert not Path(f"/proc/{process_id}").exists()
    with pytest.raises(OpenMhaError, match="was taken down"):
        engine.tell("srate?val")
