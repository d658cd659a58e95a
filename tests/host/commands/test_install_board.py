"""`gp-pta install-board` without a board; with one it is tested in tests/device/emulator."""

import argparse
import ast
import json
import os
import threading
import tty
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from device.simulator.serve import serve_in_thread
from device.tone_generator.settings import DEFAULT_PINS, FILE, Settings
from firmware_py.link.frames import decode, encode
from firmware_py.platform.ports import Port
from host_tools.commands import install_board
from host_tools.devices import raw_repl
from host_tools.devices.board_program import (
    MAIN,
    MODULES,
    _greet,
    install,
    installed_files,
    with_what_stays,
)
from host_tools.devices.device_answers import BOARD_WANTED
from host_tools.devices.raw_repl import deflate
from host_tools.errors import HostError
from tests.console.instrument import Recorder, connect
from tests.firmware.device import Peer
from tests.firmware.rig import Served
from tests.firmware.whole_sessions import a_listener

REPO = Path(__file__).parents[3]
SETTINGS = {"output": "i2s", "limit_dbfs_left": -20.0, "limit_dbfs_right": -25.5, "pins": {}}


def arguments(*words: str) -> argparse.Namespace:
    p = argparse.ArgumentParser()
    install_board.add_arguments(p)
    return p.parse_args(["/dev/none", *words])


def test_everything_the_program_imports_is_installed() -> None:
    wanted = {MAIN, *MODULES}
    for path in wanted:
        for node in ast.walk(ast.parse((REPO / path).read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                ("device.", "firmware_py.")
            ):
                assert node.module is not None
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                paths = {f"{name.replace('.', '/')}.py" for name in (node.module, *names)}
                assert paths & wanted, f"{path} imports {node.module}, which is not installed"


def test_files_are_those_here_and_main_is_the_last() -> None:
    files = installed_files(SETTINGS)
    assert [*files] == [*MODULES, FILE, "main.py"]
    for path in MODULES:
        assert files[path] == (REPO / path).read_bytes()
    assert Settings(json.loads(files[FILE])).limits_dbfs == (-20.0, -25.5)


def test_what_is_sent_is_a_third() -> None:
    content = (REPO / "device/tone_generator/server.py").read_bytes()
    packed = deflate(content)
    assert zlib.decompress(packed, wbits=12) == content
    assert len(packed) < len(content) / 3


def test_options_become_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []
    monkeypatch.setattr(install_board, "install", lambda port, settings: given.append(settings))
    assert install_board.run(arguments("--limit-left", "-30", "--pin", "heard=20")) == 0
    assert given == [{"limit_dbfs_left": -30.0, "pins": {"heard": 20}}]


def test_a_build_has_its_first_limits_and_none_above(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []
    monkeypatch.setattr(install_board, "install", lambda port, settings: given.append(settings))
    new_box = ("--build", "b", "--transducer", "TDH39")
    assert install_board.run(arguments(*new_box, "--limit-right", "-40")) == 0
    assert given == [{"limit_dbfs_left": -21.0, "limit_dbfs_right": -40.0, "pins": {}}]
    with pytest.raises(HostError, match=r"--limit-left is -20\.5 .* -21 dBFS at most"):
        install_board.run(arguments(*new_box, "--limit-left", "-20.5"))


BEFORE = '{"output": "pwm", "limit_dbfs_left": -35, "limit_dbfs_right": -40, "pins": {"unsure": 9}}'

MUTED = '{"output": "i2s", "limit_dbfs_left": -30, "limit_dbfs_right": -30, "pins": {"xsmt": 13}}'


def test_what_is_on_a_board_is_asked_for_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By what MicroPython runs as well."""
    monkeypatch.chdir(tmp_path)
    for content in ("", BEFORE):
        if content:
            (tmp_path / FILE).write_text(content)
        exec(raw_repl.SAY_CONTENT.format(path=FILE))
        assert capsys.readouterr().out.strip() == content


@pytest.mark.parametrize(
    ("on_board", "limits_dbfs", "output"),
    [(BEFORE, (-35.0, -30.0), "pwm"), ("", (-20.0, -30.0), "i2s")],
)
def test_an_update_raises_no_limit_that_it_does_not_name(
    on_board: str, limits_dbfs: tuple[float, float], output: str
) -> None:
    given = {"limit_dbfs_right": -30.0, "pins": {"heard": 20}}
    found = Settings(with_what_stays(given, on_board))
    assert (found.limits_dbfs, found.output, found.pins["heard"]) == (limits_dbfs, output, 20)
    assert found.pins["unsure"] == (9 if on_board == BEFORE else DEFAULT_PINS["unsure"])


@pytest.mark.parametrize(
    "on_board",
    ["no JSON", "[]", '{"output": 3}', MUTED.replace('"xsmt": 13', '"xsmt": 13, "heard": 13')],
)
def test_limits_that_nobody_can_tell_have_to_be_given(on_board: str) -> None:
    with pytest.raises(HostError, match="give --limit-left and --limit-right; nothing was"):
        with_what_stays({"limit_dbfs_right": -30.0}, on_board)
    given = {"limit_dbfs_left": -31.0, "limit_dbfs_right": -30.0}
    assert Settings(with_what_stays(given, on_board)).limits_dbfs == (-31.0, -30.0)


def test_what_does_not_go_with_what_is_on_the_board_is_refused() -> None:
    with pytest.raises(HostError, match=r"with what is on the board pin .* is 13, and so is"):
        with_what_stays({"pins": {"heard": 13}}, MUTED)


@pytest.mark.parametrize("word", ["heard", "heard=", "heard=x", "=-1", "heard=" + "9" * 5000])
def test_a_wrong_pin_is_refused(word: str) -> None:
    with pytest.raises(HostError, match=r"--pin is .*; allowed is NAME=GP"):
        install_board.run(arguments("--pin", word))


def test_wrong_settings_are_refused_before_anything_is_done() -> None:
    with pytest.raises(HostError, match=r"limit_dbfs_left is 3.*; nothing was installed"):
        install("/dev/none", {**SETTINGS, "limit_dbfs_left": 3.0})
    with pytest.raises(HostError, match=r"pin 'led' is not known; nothing was installed"):
        install_board.run(arguments("--pin", "led=25"))
    assert "heard" in DEFAULT_PINS


def test_a_port_that_is_not_there_is_named() -> None:
    with pytest.raises(HostError, match=r"cannot open '/dev/none'"):
        install("/dev/none", SETTINGS)


def a_peer(answer: Callable[[bytes], bytes] = lambda _: b"") -> AbstractContextManager[str]:
    """Something at a port that answers what comes, or nothing."""
    return serve_in_thread(Peer(answer))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_repl, "QUIET_S", 0.0)


def test_what_has_no_repl_is_told_apart() -> None:
    with (
        a_peer() as port,
        pytest.raises(HostError, match=r"no MicroPython REPL at '/dev/pts/"),
    ):
        install(port, SETTINGS, repl_timeout_s=0.1)


def test_at_the_operators_console_it_is_said_which_port_is_wanted() -> None:
    class Instrument(Recorder):
        def take_call(self, name: str, *values: object) -> str:
            return "GP-PTA,fitting device,0,0.1.0"

    _, console = connect(recorder=Instrument())
    with (
        a_peer(
            lambda come: "".join(f"{line}\r\n" for line in console.receive(come)).encode()
        ) as port,
        pytest.raises(HostError) as refusal,
    ):
        install(port, SETTINGS, repl_timeout_s=0.1)
    assert str(refusal.value) == (
        f"a GP-PTA firmware answers at '{port}': this is the operator's console; {BOARD_WANTED}"
    )


def test_a_tone_generator_without_a_repl_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    served = Served(a_listener())
    try:
        with pytest.raises(HostError, match=r"is no board with MicroPython: it answers hello"):
            install(served.port, SETTINGS, repl_timeout_s=0.1)
    finally:
        served.stop()
    assert capsys.readouterr().out == "", "what came in place of a REPL is nobody's business"


def test_a_port_that_another_program_has_is_named_with_the_one_that_is_wanted() -> None:
    with a_peer() as port:
        other = Port(port, "tone generator")
        other.open()
        with pytest.raises(HostError) as refusal:
            install(port, SETTINGS)
        other.close()
    assert str(refusal.value).startswith(f"cannot open '{port}': ")
    assert str(refusal.value).endswith(BOARD_WANTED)


def test_a_board_that_is_unplugged_meanwhile_is_told() -> None:
    master, slave = os.openpty()
    tty.setraw(slave)

    def board() -> None:
        said = b""
        while not said.endswith(b"\x05A\x01"):  # what it is to do begins with this
            said = os.read(master, 4096)
            if said.endswith(b"\r\x01"):
                os.write(master, b"raw REPL; CTRL-B to exit\r\n>")
        os.close(master)

    thread = threading.Thread(target=board)
    thread.start()
    with pytest.raises(HostError, match=r"'/dev/pts/\d+' is gone: .*; install again"):
        install(os.ttyname(slave), SETTINGS)
    thread.join()
    os.close(slave)


def test_a_pico_2_is_refused_by_name() -> None:
    """Its watchdog is elsewhere, and where the program would write is a PLL."""
    kind = b"Raspberry Pi Pico 2 with RP2350"
    said, told = bytearray(), list[str]()

    def board(come: bytes) -> bytes:
        said.extend(come)
        if said.endswith(b"\r\x01"):
            answer = b"raw REPL; CTRL-B to exit\r\n>"
        elif said.endswith(b"\x05A\x01"):
            answer = b"R\0"  # one command after the other
        elif said.endswith(b"\x04"):
            answer = b"OK" + (kind if b"_machine" in said else b"rp2") + b"\r\n\x04\x04>"
        else:
            return b""
        said.clear()
        return answer

    words = f"the board is a '{kind.decode()}', wanted is one with an RP2040; nothing was installed"
    with a_peer(board) as port, pytest.raises(HostError, match=words):
        install(port, SETTINGS, told.append)
    assert told == []


HELLO = encode(1, "ok", (("wire", 1), ("board", "pico"), ("version", "1")))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"garbage\n" + HELLO, ""),
        (encode(1, "error", (("code", "version"), ("wire", 2))), "refused hello: version"),
        (b"", r"did not answer within 0\.2 s of its start"),
    ],
)
def test_a_board_that_has_started_answers_hello_or_not(answer: bytes, words: str) -> None:
    with a_peer(lambda come: answer if b"hello" in come else b"") as port:
        if not words:
            assert _greet(port, 5.0) == decode(HELLO)[2]
            return
        with pytest.raises(HostError, match=f"was installed, but {words}"):
            _greet(port, 0.2 if not answer else 5.0)
