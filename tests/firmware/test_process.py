"""The firmware as its process: ports of the system, start, exit code, signals.

What may befall a whole device is in `test_disturbed.py`, in no time.
"""

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from device.simulator.simulated_board import SimulatedBoard
from firmware_py.inference.library import chosen_library, runs_on
from firmware_py.main import main
from firmware_py.platform.ports import Port
from host_tools.devices.processes import ConsoleLine
from host_tools.recordings.replayed import UNFINISHED, replay_journal
from tests.firmware.crash import assert_like_undisturbed
from tests.firmware.rig import Rig
from tests.firmware.whole_sessions import a_listener, run_session


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with Rig(tmp_path / "data") as rig:
        yield rig


@pytest.fixture
def slow_rig(tmp_path: Path) -> Iterator[Rig]:
    """Give a rig in the time of the world, so that whole tests do not pass meanwhile."""
    with Rig(tmp_path / "data", speed=1.0) as rig:
        yield rig


def hold_time_in_a_tone(board: SimulatedBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a board's first tone end by a command only, however long that takes to come.

    Its time stands still from the onset on, so that the firmware waits for the end of the tone.
    """
    advance, receive = board.advance, board.receive

    def hold(now_us: int) -> int:
        return board.now_us if board.played else now_us

    monkeypatch.setattr(board, "advance", lambda now_us: advance(hold(now_us)))
    monkeypatch.setattr(board, "receive", lambda data, now_us: receive(data, hold(now_us)))


@pytest.fixture
def signals() -> Iterator[None]:
    """Have signals mean afterwards what they mean now: the firmware's program gives them others."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    handlers = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)


def assert_refused(said: str, *words: str) -> str:
    """It is one line with these words; return the line."""
    assert said.startswith("gp-pta-device: ")
    assert len(said.splitlines()) == 1
    for word in words:
        assert word in said
    return said.strip().removeprefix("gp-pta-device: ")


# The program, up to where it cannot go on


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(
    ("port", "why"),
    [
        ("/dev/there-is-none", "No such file or directory"),
        ("/etc/hostname", "it is no serial port"),
    ],
)
def test_a_wrong_port_is_named_at_both_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], port: str, why: str
) -> None:
    with closing(ConsoleLine()) as console:
        ports = ["--tone-generator", port, "--console", console.port]
        assert main([*ports, "--data", str(tmp_path)]) == 2
        (told,) = console.lines(60.0)
    said = assert_refused(capsys.readouterr().err, f"tone generator: cannot open {port!r}", why)
    assert told == f'ERROR -241,"{said}"'


NO_CONSOLE = ["--console", "/dev/there-is-none"]
REFUSED: list[tuple[list[str], list[str]]] = [
    (NO_CONSOLE, ["console: cannot open ", "No such file or directory"]),
    (
        ["--config", "a.toml"],
        ["a.toml: [test] 'tones_mx' is not a known key; did you mean 'tones_"],
    ),
    (["--data", "a.toml"], ["data directory 'a.toml' cannot be written: "]),
    (["--speed", "0.05"], ["--speed is 0.05; allowed is 0.1 to 1000"]),
    (["--speed", "0.1", *NO_CONSOLE], ["console: cannot open "]),
    (["--speed", "1000", *NO_CONSOLE], ["console: cannot open "]),
    (["--speed", "2000"], ["--speed is 2000; allowed is 0.1 to 1000"]),
]


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_what_cannot_start_is_refused_in_one_line_with_code_2(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text("[test]\ntones_mx = 30\n")
    ports = ["--tone-generator", "/dev/null", "--console", "/dev/null"]
    assert main([*ports, "--data", "data", *options]) == 2
    assert_refused(capsys.readouterr().err, *words)
    assert "--config" not in options or not Path("data").exists()


@pytest.mark.usefixtures("signals")
def test_a_port_that_another_program_has_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(ConsoleLine()) as console, closing(ConsoleLine()) as free:
        for taken, ports in (("console", (free, console)), ("tone generator", (console, free))):
            tones, at = (line.port for line in ports)
            port = Port(console.port, "of another program")
            port.open()
            ended = main(["--tone-generator", tones, "--console", at, "--data", str(tmp_path)])
            port.close()
            assert ended == 2
            words = f"{taken}: cannot open ", "another program has it open"
            assert_refused(capsys.readouterr().err, *words)


# The process


def test_a_firmware_says_in_one_line_that_it_is_ready(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    if chosen_library() is None:  # as here; of an image: tests/device/image
        monkeypatch.setenv("GP_PTA_KERNELS", "jit")
    process = rig.start()

    assert process.first_line() == (
        f"gp-pta-device: ready; tone generator sim 1 at {rig._cables['t']}, "
        f"console at {rig._cables['c']}; CALIBRATED (simulated board); {runs_on()}\n"
    )
    rig.operator.greet()
    rig.new_board()
    rig.until("! tone-generator")
    process.terminate()
    assert process.end_of() == (0, ""), "and says no more"
    assert process.rest == ""


def test_a_firmware_whose_output_nobody_reads_goes_on(rig: Rig) -> None:
    process = rig.start(wrapper=["sh", "-c", 'exec "$@" >&-', "sh"])
    assert process.first_line() == ""
    rig.begin()
    rig.until("! session-over")


def test_a_firmware_told_to_end_in_a_tone_is_silent_and_keeps_the_session(
    slow_rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = slow_rig
    hold_time_in_a_tone(rig.served.board, monkeypatch)
    process = rig.start()
    rig.begin()
    rig.wait(lambda: rig.served.board.played != [])
    process.terminate()

    assert process.end_of() == (0, "")
    assert rig.served.board.played[0].cut
    assert len(rig.served.board.played) == 1
    assert replay_journal(rig.journal()).code == UNFINISHED
    rig.start()
    assert "presentation=1 tones=0" in rig.operator.greet()


def test_a_second_firmware_is_refused_and_the_first_goes_on(rig: Rig, tmp_path: Path) -> None:
    undisturbed = run_session(
        tmp_path / "undisturbed", a_listener("S2"), {"ears": "left", "seed": 3}
    )
    rig.begin()
    first, rig.process = rig.process, None
    assert first is not None
    second = rig.start()
    try:
        code, said = second.end_of()
        assert code == 2, said
        assert_refused(said, f"{str(rig.data)!r} is in use by another firmware")
    finally:
        rig.process = first
    rig.until("! session-over")
    assert_like_undisturbed(rig.journal(), undisturbed)
