"""The simulated board behind a real pty, opened the way the firmware opens a port."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest
import serial

from device.simulator.serve import serve_in_thread, stop_by_signals
from device.simulator.simulated_board import SimulatedBoard
from firmware_py.link.frames import LineReader, decode, encode
from tests.firmware.whole_sessions import a_listener
from tests.link.example import TONE

SPEED = 50.0  # a tone of 0.8 s is over in 16 ms
WAIT_S_MAX = 60.0  # for a frame on a very busy machine; usually milliseconds
REPO = Path(__file__).parents[3]


def a_board(speed: float) -> SimulatedBoard:
    # A hundred times as patient as a real board: the test machine may be busy.
    return SimulatedBoard(a_listener("N1"), host_silence_us=round(100e6 * speed))


class Port:
    def __init__(self, name: str) -> None:
        self._serial = serial.serial_for_url(name, timeout=0.01)
        self._reader = LineReader()
        self._frames: deque[tuple[int, str, dict[str, str]]] = deque()

    def __enter__(self) -> "Port":
        return self

    def __exit__(self, *_: object) -> None:
        self._serial.close()

    def send(self, sequence: int, verb: str, fields: dict[str, str | int] | None = None) -> None:
        self._serial.write(encode(sequence, verb, fields or {}))

    def wait_for(self, wanted: Callable[[tuple[int, str]], bool]) -> dict[str, str]:
        """Read frames up to one that is wanted; gives its fields."""
        deadline_s = time.monotonic() + WAIT_S_MAX
        while time.monotonic() < deadline_s:
            while self._frames:
                sequence, verb, fields = self._frames.popleft()
                if wanted((sequence, verb)):
                    return fields
            lines = self._reader.feed(self._serial.read(max(1, self._serial.in_waiting)))
            self._frames.extend(decode(line) for line in lines)
        raise AssertionError("the wanted frame did not come")

    def hello(self, nonce: str = "0000000a") -> dict[str, str]:
        self.send(1, "hello", {"wire": 1, "host": nonce})
        return self.wait_for(lambda frame: frame == (1, "ok"))


def test_hello_tone_and_events() -> None:
    board = a_board(SPEED)
    with serve_in_thread(board, SPEED) as name, Port(name) as port:
        fields = port.hello()
        port.send(2, "tone", TONE)
        onset = port.wait_for(lambda frame: frame[1] == "tone-on")
        press = port.wait_for(lambda frame: frame[1] == "button-down")
        port.send(3, "events", {"after": 0})
        port.wait_for(lambda frame: frame == (3, "ok"))
        off = port.wait_for(lambda frame: frame[1] == "tone-off")

    assert fields["board"] == "sim"
    assert onset["id"] == "r1"
    assert 150_000 <= int(press["us"]) - int(onset["us"]) <= 1_200_000
    assert int(off["us"]) - int(onset["us"]) == 800_000
    assert [tone.tone_id for tone in board.played] == ["r1"]


def test_a_program_that_dies_finds_the_same_port_again() -> None:
    board = a_board(SPEED)
    with serve_in_thread(board, SPEED) as name:
        with Port(name) as port:
            port.hello("0000000a")
            port.send(2, "tone", TONE)
            port.wait_for(lambda frame: frame == (2, "ok"))
        with Port(name) as port:
            fields = port.hello("0000000b")

    assert fields["tone"] == "r1"
    assert int(fields["event"]) >= 1


def test_board_time_runs_at_its_speed() -> None:
    with serve_in_thread(a_board(SPEED), SPEED) as name, Port(name) as port:
        port.hello()
        before_s = time.monotonic()
        port.send(2, "ping")
        first = port.wait_for(lambda frame: frame == (2, "ok"))
        between_s = time.monotonic()
        time.sleep(0.05)
        again_s = time.monotonic()
        port.send(3, "ping")
        second = port.wait_for(lambda frame: frame == (3, "ok"))
        after_s = time.monotonic()

    passed_s = (int(second["us"]) - int(first["us"])) * 1e-6 / SPEED
    assert again_s - between_s - 1e-3 <= passed_s <= after_s - before_s + 1e-3


def test_nothing_grows_when_nobody_reads() -> None:
    board = a_board(SPEED)
    with serve_in_thread(board, SPEED) as name, Port(name) as port:
        port.hello()
        for number in range(2, 2000):
            port.send(number, "ping")
        deadline_s = time.monotonic() + WAIT_S_MAX
        while board.server.dropped == 0 and time.monotonic() < deadline_s:
            time.sleep(0.005)
        port.send(2001, "ping")
        port.wait_for(lambda frame: frame[1] == "ok")

    assert board.server.dropped > 0


def test_without_a_pty_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> tuple[int, int]:
        raise OSError("out of pty devices")

    monkeypatch.setattr(os, "openpty", none_left)
    with pytest.raises(OSError, match="out of pty devices"), serve_in_thread(a_board(1.0)):
        pass


PROGRAM = """
from device.simulator.listener import Listener
from device.simulator.serve import serve
from device.simulator.simulated_board import SimulatedBoard

serve(SimulatedBoard(Listener()), announce=lambda name: print(name, flush=True))
print("ended")
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=REPO, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert name.startswith("/dev/"), name
        process.send_signal(number)
        out, errors = process.communicate(timeout=WAIT_S_MAX)

    assert (out, errors, process.returncode) == ("ended\n", "", 0)


def test_a_second_signal_does_not_interrupt_the_first() -> None:
    """It would wait for ever for the lock that the first has."""

    class Stop(threading.Event):
        calls = 0

        def set(self) -> None:
            self.calls += 1
            if self.calls == 1:
                signal.raise_signal(signal.SIGTERM)
            super().set()

    stop, before = Stop(), signal.getsignal(signal.SIGTERM)
    with stop_by_signals(stop):
        signal.raise_signal(signal.SIGTERM)

    assert stop.is_set()
    assert stop.calls == 1
    assert signal.getsignal(signal.SIGTERM) is before
