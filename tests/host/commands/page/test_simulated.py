"""`gp-pta page --simulated`: a whole device behind the page, in one process."""

import argparse
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
import serial
from websockets.sync.client import ClientConnection

from device.simulator.serve import raw_pty
from firmware_py.platform.ports import UNSENT_BYTES_MAX, PortError
from firmware_py.terms.route import Route
from host_tools.commands.page import command
from host_tools.commands.page.assemble import page
from host_tools.devices.in_process import NearEnd, device_in_process
from host_tools.errors import HostError
from host_tools.recordings.recorded_session import replay_session
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.firmware.rig import REPO
from tests.host.commands.page.rig import ask, join

WAIT_S: Final = 120.0  # on a very busy machine
JOURNAL: Final = "session-000001.journal"


class AsThePage:
    """The console of a simulated device, as the page has it."""

    def __init__(self, console: ClientConnection) -> None:
        self._console = console
        self._come = b""

    def type(self, line: str) -> None:
        self._console.send(f"{line}\r".encode())

    def line(self) -> str:
        while b"\n" not in self._come:
            come = self._console.recv(WAIT_S)
            assert isinstance(come, bytes)
            self._come += come
        line, _, self._come = self._come.partition(b"\n")
        return line.decode().rstrip()

    def until(self, begin: str) -> list[str]:
        lines = [self.line()]
        while not lines[-1].startswith(begin):
            lines.append(self.line())
        return lines

    def operate(self) -> list[str]:
        """See a test through, and put the vibrator where it asks for it; return what was told."""
        lines: list[str] = []
        while not (lines and lines[-1].startswith("! session-over")):
            lines.append(self.line())
            if lines[-1].startswith("! placing"):
                self.type("SESS:CONT")
        return lines


@contextmanager
def served(data: Path, *options: str) -> Iterator[str]:
    """Run the command until it is interrupted, and give the address that it prints."""
    words = [sys.executable, "-m", "host_tools.main", "page", "--simulated", "--data", str(data)]
    with subprocess.Popen(
        [*words, *options], cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, told
    assert "Traceback" not in told


def test_a_whole_test_by_air_and_bone_from_one_command(tmp_path: Path) -> None:
    data = tmp_path / "data"
    options = ("--audiogram", "N1", "--routes", "air,bone", "--speed", "40")
    with served(data, *options) as address:
        assert ask(address) == (200, page())
        with join(address) as console:
            assert isinstance(console.recv(WAIT_S), str), "the name of the port"
            operator = AsThePage(console)
            operator.type("SYST:EVEN ON")
            operator.until("OK")
            operator.type("SESS:STAR LEFT")
            told = operator.operate()
    assert any(line.startswith("! tone ") for line in told)
    assert any(line.startswith("! placing ") for line in told)
    assert replay_journal(data / JOURNAL).code == IDENTICAL
    ears = replay_session(data / JOURNAL).result.ears
    assert [ear.route for ear in ears] == [Route("left", "air"), Route("left", "bone")]
    assert {ear.outcome for ear in ears} == {"measured"}


@pytest.fixture
def options(tmp_path: Path) -> argparse.Namespace:
    p = argparse.ArgumentParser()
    command.add_arguments(p)
    return p.parse_args(["--simulated", "--data", str(tmp_path / "data")])


def test_a_firmware_that_the_operator_ends_ends_the_command(options: argparse.Namespace) -> None:
    stop = threading.Event()
    with (
        device_in_process(options, stop, print) as port,
        serial.Serial(port, timeout=WAIT_S) as console,
    ):
        console.write(b"SYST:EXIT\r")
        assert console.read_until(b"\n") == b"OK\r\n"
        assert stop.wait(WAIT_S)


def test_a_data_directory_is_of_one_device_at_a_time(options: argparse.Namespace) -> None:
    with (
        device_in_process(options, threading.Event(), print),
        pytest.raises(HostError, match="is in use by another firmware"),
        device_in_process(options, threading.Event(), print),
    ):
        raise AssertionError("two devices have the same journals")


def test_a_table_is_read_by_its_mapping(options: argparse.Namespace, tmp_path: Path) -> None:
    """What is remarkable of it was looked for without, so that it was refused."""
    table, told = tmp_path / "ears.csv", list[str]()
    table.write_text("who,mine,yours\n1,30,40\n")
    options.audiogram, options.columns = f"{table}:1", "right.1000=mine,left.1000=yours"
    with device_in_process(options, threading.Event(), told.append):
        pass
    assert told == [f"{table}: passed over, as nothing is known of them: columns who"]


# The firmware's end of its console


@pytest.fixture
def near() -> Iterator[NearEnd]:
    with raw_pty() as (master, name):
        end = NearEnd(master, name)
        end.open()
        yield end


def test_every_byte_is_carried_both_ways_for_one_program_after_the_other(near: NearEnd) -> None:
    every = bytes(range(256))
    for _ in range(2):
        with serial.Serial(near.url, timeout=WAIT_S) as far:
            near.write(every)
            assert far.read(256) == every
            far.write(every[::-1])
            far.flush()
            assert near.read() == every[::-1]
            assert near.read() == b""


def test_what_is_too_much_waits_and_is_not_lost(near: NearEnd) -> None:
    much = bytes(range(250)) * 200
    with serial.Serial(near.url, timeout=WAIT_S) as far:
        near.write(much)
        assert near.is_full
        come = b""
        while len(come) < len(much):
            come += far.read(250)
            near.write(b"")
        assert come == much
        assert not near.is_full


def test_where_nobody_reads_the_port_is_given_up_and_opened_again(near: NearEnd) -> None:
    with pytest.raises(PortError, match="nobody reads"):
        near.write(bytes(2 * UNSENT_BYTES_MAX))
    assert (near.is_open, near.is_full, near.fileno()) == (False, False, None)
    near.write(b"lost")
    near.open()
    with serial.Serial(near.url, timeout=WAIT_S) as far:
        near.write(b"heard")
        assert far.read(5) == b"heard"
