"""Serial ports over real ptys: what is wrong is named, and nobody is waited for."""

import os
import select
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import serial

from firmware_py.platform.clock import POLL_S, SystemWaiting
from firmware_py.platform.ports import (
    DRAIN_LOOK_S,
    UNSENT_BYTES_MAX,
    WRITE_BYTES_MAX,
    Port,
    PortError,
)

WAIT_S_MAX = 60.0  # for bytes on a very busy machine; usually microseconds


@dataclass
class Pty:
    master: int
    slave: int
    name: str

    def read(self) -> bytes:
        assert select.select([self.master], [], [], WAIT_S_MAX)[0]
        return os.read(self.master, 65536)

    def hang_up(self) -> None:
        for descriptor in (self.master, self.slave):
            os.close(descriptor)
        self.master = self.slave = -1


@pytest.fixture
def pty() -> Iterator[Pty]:
    master, slave = os.openpty()
    tty.setraw(slave)
    pty = Pty(master, slave, os.ttyname(slave))
    yield pty
    if pty.master >= 0:
        pty.hang_up()


@pytest.fixture
def port(pty: Pty) -> Iterator[Port]:
    port = Port(pty.name, "console")
    port.open()
    yield port
    port.close()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("/dev/there-is-none", "No such file or directory"),
        ("", "No such file or directory"),
        ("/etc/hostname", "it is no serial port"),
        ("/dev/null", "it is no serial port"),
        ("/tmp", "Is a directory"),
        ("socket://127.0.0.1:1", "Connection refused"),
        ("socket://127.0.0.1", "socket://127.0.0.1"),
        ("carrier-pigeon://coop", "protocol 'carrier-pigeon' not known"),
    ],
)
def test_a_port_that_cannot_be_opened_is_named_with_the_reason(url: str, why: str) -> None:
    port = Port(url, "tone generator")
    with pytest.raises(PortError) as refusal:
        port.open()
    assert str(refusal.value).startswith(f"tone generator: cannot open {url!r}: ")
    assert why in str(refusal.value)
    assert not port.is_open
    assert port.read() == b""
    port.write(b"nothing happens")


def test_a_port_is_for_one_program(pty: Pty, port: Port) -> None:
    with pytest.raises(PortError, match="another program has it open"):
        Port(pty.name, "tone generator").open()


def test_bytes_go_both_ways(pty: Pty, port: Port) -> None:
    port.write(b"out\n")
    assert pty.read() == b"out\n"
    os.write(pty.master, b"in\n")
    descriptor = port.fileno()
    assert descriptor is not None
    assert select.select([descriptor], [], [], WAIT_S_MAX)[0]
    assert port.read() == b"in\n"
    assert port.read() == b""


def test_what_nobody_reads_is_kept_in_order_and_does_not_make_anybody_wait(
    pty: Pty, port: Port
) -> None:
    lines = [b"line %05d\n" % number for number in range(2000)]
    for line in lines:
        port.write(line)
    assert port.is_full

    got = b""
    while len(got) < sum(map(len, lines)):
        got += pty.read()
        port.write(b"")
    assert got == b"".join(lines)
    assert not port.is_full


def test_what_was_not_taken_can_be_forgotten(pty: Pty, port: Port) -> None:
    while not port.is_full:
        port.write(bytes(WRITE_BYTES_MAX))
    port.forget_unsent()
    assert not port.is_full
    port.forget_unsent()
    port.write(b"next")
    got = b""
    while not got.endswith(b"next"):
        got += pty.read()
        port.write(b"")


def test_what_nobody_ever_reads_is_no_port(pty: Pty, port: Port) -> None:
    port.write(bytes(UNSENT_BYTES_MAX))
    with pytest.raises(PortError, match=r"console: nobody reads at .*; \d+ bytes are lost"):
        port.write(bytes(UNSENT_BYTES_MAX))
    assert not port.is_open
    assert not port.is_full


def test_the_last_words_are_waited_for_as_long_as_said(pty: Pty, port: Port) -> None:
    port.write(bytes(20_000))
    port.drain(0.01)
    assert port.is_full
    port.close()
    port.drain(WAIT_S_MAX)  # nothing is waited for any more


class Passing:
    """A clock that only goes on while somebody sleeps."""

    def __init__(self) -> None:
        self.s = 100.0

    def now_s(self) -> float:
        return self.s

    def sleep(self, seconds: float) -> None:
        self.s += seconds


def test_a_port_that_takes_nothing_is_waited_for_no_longer_than_said(pty: Pty, port: Port) -> None:
    port.write(bytes(20_000))
    clock = Passing()
    port.drain(0.5, clock.now_s, clock.sleep)
    assert 0.5 <= clock.s - 100.0 <= 0.5 + 2 * DRAIN_LOOK_S
    assert port.is_full


class Line(serial.SerialBase):  # type: ignore[misc]
    """A device that sends slowly, or not at all; the system has the bytes meanwhile."""

    def __init__(self, out_waiting: int) -> None:
        super().__init__()
        self.out_waiting = out_waiting
        self.done: list[str] = []

    def reset_output_buffer(self) -> None:
        self.done.append("reset")

    def open(self) -> None:
        self.is_open = True

    def close(self) -> None:
        self.done.append("close")

    def _reconfigure_port(self) -> None:
        """Take any settings."""


@pytest.mark.parametrize(
    ("out_waiting", "waits", "done"), [(7, True, ["reset", "close"]), (0, False, ["close"])]
)
def test_the_system_does_not_wait_for_a_device_either(
    monkeypatch: pytest.MonkeyPatch, out_waiting: int, waits: bool, done: list[str]
) -> None:
    """Linux waits 15 to 30 s when one is closed that has not sent everything."""
    line, clock = Line(out_waiting), Passing()
    monkeypatch.setattr(serial, "serial_for_url", lambda *_, **__: line)
    port = Port("slow", "console")
    port.open()
    port.drain(0.5, clock.now_s, clock.sleep)
    port.close()

    assert (clock.s > 100.0) == waits
    assert line.done == done


def test_a_port_that_cannot_tell_is_written_to_once_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each write may wait, and sixteen of them are for the next turns of the loop."""
    line, written = Line(0), list[int]()

    def write(data: bytes) -> int:
        written.append(len(data))
        return len(data)

    monkeypatch.setattr(serial, "serial_for_url", lambda *_, **__: line)
    monkeypatch.setattr(line, "write", write)
    port = Port("network", "console")
    port.open()
    port.write(bytes(UNSENT_BYTES_MAX))
    assert written == [WRITE_BYTES_MAX]
    assert port.is_full


@pytest.mark.parametrize("use", [lambda port: port.read(), lambda port: port.write(b"hello\n")])
def test_a_port_that_vanishes_is_named_once(
    pty: Pty, port: Port, use: Callable[[Port], object]
) -> None:
    pty.hang_up()
    with pytest.raises(PortError) as loss:
        use(port)
    assert f"console: {pty.name!r} is gone: " in str(loss.value)
    assert not port.is_open
    assert port.read() == b""


@pytest.mark.parametrize("line", ["dsr", "cd"])
def test_another_end_that_hangs_up_is_noticed_where_its_lines_tell(
    port: Port, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    assert not port.has_hung_up(), "a pty has no such lines"
    seen = []
    for name in ("dsr", "cd"):
        monkeypatch.setattr(serial.Serial, name, False)
    for raised in (False, True, True, False, False, True):
        monkeypatch.setattr(serial.Serial, line, raised)
        seen.append(port.has_hung_up())
    port.close()

    assert seen == [False, False, False, True, False, False]
    assert not port.has_hung_up()


def test_a_port_without_a_descriptor_is_a_port_as_well() -> None:
    port = Port("loop://", "console")
    port.open()
    port.write(b"round and round\n")
    assert not port.is_full
    assert port.read() == b"round and round\n"
    port.close()


def test_a_tap_shows_what_goes_over_the_wire(pty: Pty, capsys: pytest.CaptureFixture[str]) -> None:
    port = Port(f"spy://{pty.name}", "tone generator")
    port.open()
    port.write(b"hello\n")
    assert pty.read() == b"hello\n"
    port.close()
    assert "68 65 6C 6C 6F" in capsys.readouterr().err


def test_a_port_is_opened_with_the_rate_of_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def line(*_: object, baudrate: int, **__: object) -> Line:
        asked.append(baudrate)
        return Line(0)

    monkeypatch.setattr(serial, "serial_for_url", line)
    Port("/dev/ttyAMA0", "console").open()

    assert asked == [115_200]


@pytest.mark.parametrize(("ports", "waited_s"), [(0, 60.0), (1, POLL_S)])
def test_a_port_without_a_descriptor_is_looked_at_again_and_again(
    ports: int, waited_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def look(*about: Any) -> tuple[list[int], list[int], list[int]]:
        asked.append(about[-1])
        return [], [], []

    monkeypatch.setattr(select, "select", look)
    waiting = SystemWaiting()
    waiting.wait([Port("loop://", "")] * ports, 60.0)
    waiting.close()
    assert asked == [waited_s]
