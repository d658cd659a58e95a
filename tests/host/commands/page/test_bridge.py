"""The bridge: who gets the page and the console, and what becomes of the port."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection
from websockets.sync.server import ServerConnection

from host_tools.commands.page.assemble import page
from host_tools.commands.page.bridge import BUSY, HOST, NO_PORT, UNPLUGGED, Bridge
from tests.firmware.rig import REPO
from tests.host.commands.page.rig import Cable, FarPort, ask, join
from tests.host.journals import Refused

WAIT_S = 120.0  # on a very busy machine
PAGE = "<!doctype html><title>a page</title>"


@pytest.fixture
def cable() -> Cable:
    return Cable(threading.Condition())


@pytest.fixture
def far(cable: Cable, tmp_path: Path) -> Iterator[FarPort]:
    made = FarPort(cable, tmp_path / "console")
    yield made
    made.close()


@pytest.fixture
def messages() -> list[str]:
    return []


@pytest.fixture
def bridge(far: FarPort, messages: list[str]) -> Iterator[Bridge]:
    with Bridge(str(far.name), PAGE, messages.append) as made:
        yield made


def close_code(page: ClientConnection) -> int | None:
    with suppress(ConnectionClosed):
        for _ in page:  # until it is closed
            continue
    return page.close_code


def test_the_page_is_had_with_the_token_alone(bridge: Bridge) -> None:
    assert ask(bridge.address) == (200, PAGE)
    for path in ("/", "/console", "/x/", f"{urlsplit(bridge.address).path}x", "/../"):
        status, content = ask(bridge.address, path)
        assert status == 404, path
        assert PAGE not in content


def test_each_bridge_has_another_token(far: FarPort, bridge: Bridge) -> None:
    with Bridge(str(far.name), PAGE, print) as other:
        assert urlsplit(other.address).path != urlsplit(bridge.address).path
        assert len(urlsplit(other.address).path) > 30


def test_it_listens_on_this_machine_only(bridge: Bridge) -> None:
    place = urlsplit(bridge.address)
    assert place.hostname == HOST == "127.0.0.1"
    with socket.socket() as other:
        other.settimeout(WAIT_S)
        with pytest.raises(OSError, match="refused"):
            other.connect(("127.0.0.2", place.port))


def test_a_name_that_leads_here_gets_nothing(bridge: Bridge) -> None:
    """A page of somebody else's name, which was made to lead to this machine, is another origin."""
    assert ask(bridge.address, Host="evil.example")[0] == 403


@pytest.mark.parametrize(
    ("token", "origin"),
    [("wrong", ""), ("", "http://evil.example"), ("", "null"), ("", "https://127.0.0.1")],
)
def test_a_socket_without_token_or_of_another_origin_is_refused(
    token: str, origin: str, bridge: Bridge, cable: Cable
) -> None:
    with pytest.raises(InvalidStatus, match="404"):
        join(bridge.address, token=token, origin=origin)


def test_what_the_page_types_comes_to_the_firmware(
    bridge: Bridge, far: FarPort, cable: Cable
) -> None:
    every = bytes(range(256)) * 4
    with join(bridge.address) as page:
        assert page.recv(WAIT_S) == str(far.name)
        page.send(every)
        assert firmware_hears(cable, len(every)) == every


def firmware_hears(cable: Cable, count: int) -> bytes:
    come = b""
    with cable.changed:
        while len(come) < count:
            assert cable.changed.wait_for(lambda: cable.has_come, WAIT_S)
            come += cable.read()
    return come


def test_a_second_page_is_refused_and_the_first_goes_on(
    bridge: Bridge, cable: Cable, messages: list[str]
) -> None:
    with join(bridge.address) as first:
        first.recv(WAIT_S)
        with join(bridge.address) as second:
            assert close_code(second) == BUSY
        first.send(b"HELP\r")
        assert firmware_hears(cable, 5) == b"HELP\r"
    assert "a second page was told that another one has the device" in messages


def test_a_port_that_is_not_there_is_said_and_tried_again(bridge: Bridge, far: FarPort) -> None:
    far.pull()
    with join(bridge.address) as page:
        assert close_code(page) == NO_PORT
        assert "console" in str(page.close_reason)
    far.plug()
    with join(bridge.address) as page:
        assert page.recv(WAIT_S) == str(far.name)


def test_whoever_is_told_that_the_port_is_gone_may_ask_again_at_once(
    bridge: Bridge, far: FarPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long its socket takes to be closed."""
    asked_again = threading.Event()
    close = ServerConnection.close

    def closed_late(page: ServerConnection, code: int = 1000, reason: str = "") -> None:
        close(page, code, reason)
        assert asked_again.wait(WAIT_S)

    monkeypatch.setattr(ServerConnection, "close", closed_late)
    with ExitStack() as undo:
        undo.callback(asked_again.set)
        first = undo.enter_context(join(bridge.address))
        first.recv(WAIT_S)
        far.pull()
        assert close_code(first) == UNPLUGGED
        assert close_code(undo.enter_context(join(bridge.address))) == NO_PORT
        far.plug()
        assert undo.enter_context(join(bridge.address)).recv(WAIT_S) == str(far.name)


def test_a_pulled_cable_is_said(bridge: Bridge, far: FarPort, messages: list[str]) -> None:
    with join(bridge.address) as page:
        page.recv(WAIT_S)
        far.pull()
        assert close_code(page) == UNPLUGGED
    assert f"{str(far.name)!r} is gone: " in messages[-1]
    assert messages[-1].endswith("; a test goes on at the device")


def test_nothing_can_listen_where_something_does(bridge: Bridge, refusal_of: Refused) -> None:
    at = urlsplit(bridge.address).port
    assert f"nothing can listen at 127.0.0.1:{at}" in refusal_of(
        "page", "/dev/null", "--listen", at
    )


def test_the_command_serves_the_page_until_it_is_told_to_end(far: FarPort) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "host_tools.main", "page", str(far.name)],
        cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
            assert ask(address) == (200, page())
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=WAIT_S)
        finally:
            process.kill()  # or what failed above waits for its end for ever
    assert process.returncode == 0
    assert told == "open this address in a browser of this computer; end with ^C\n"
